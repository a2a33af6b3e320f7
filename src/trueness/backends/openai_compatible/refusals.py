"""What a reply that holds no answer means: whether to try again, and what to call it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OK = 200
_MANY, _UNAVAILABLE, _OVERLOADED = 429, 503, 529
LOADED = frozenset({_MANY, _UNAVAILABLE, _OVERLOADED})
"""The server has too much to do: fewer requests at once."""
STOPS = frozenset({401, 403})
"""Nothing else could succeed."""
_AGAIN = frozenset({408, 409, 425, _MANY})
_CLIENT, _SERVER = 400, 500
_TOO_LONG = (
    "context_length",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "too large to process",
)
"""Words of several servers, some with status 400 and one with 500."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status that is no answer.

    Parameters
    ----------
    reason : str
        Of the row: ``http_STATUS``, ``context_length`` or ``content_filter``.
    again : bool
        Whether the same request may succeed later.
    stops : bool
        Whether no other request can succeed either.
    said : str
        The server's own words, at most a line.
    """

    reason: str
    again: bool
    stops: bool
    said: str


class Malformed(Exception):  # noqa: N818 - what a reply is, caught where it is read
    """A reply with status 200 that cannot be an answer; the same request may get a better one."""


def refusal(status: int, raw: bytes) -> Refusal:
    """What a status other than 200 means.

    >>> refusal(429, b"").again, refusal(400, b"").again, refusal(401, b"").stops
    (True, False, True)
    """
    error = _error(raw)
    said, code = _words(error, raw), f"{error.get('code')} {error.get('type')}"
    refused = _CLIENT <= status < _SERVER
    if status >= _CLIENT and any(mark in f"{code} {said}" for mark in _TOO_LONG):
        return Refusal("context_length", again=False, stops=False, said=said)
    if refused and ("content_filter" in code or "content_policy" in code):
        return Refusal("content_filter", again=False, stops=False, said=said)
    stops = status in STOPS or "insufficient_quota" in code
    again = not stops and (status in _AGAIN or status >= _SERVER)
    return Refusal(f"http_{status}", again=again, stops=stops, said=said)


def hint(status: int, *, api: str) -> str:
    """What to do about a status that ends the run before it began or in its midst."""
    match status:
        case 401:
            return "Set OPENAI_API_KEY to a key that this server takes."
        case 403:
            return "Ask for a model and a region that the key may use."
        case 404 | 405:
            other = "completions" if api == "chat" else "chat"
            return (
                "Check the model's name and the base URL (it mostly ends in /v1), "
                f"or try -M api={other}."
            )
        case 429:
            return "Wait, pay or ask less: the server's quota is used up."
    return "Check the model's name and the options that are sent."


def _error(raw: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    error = found.get("error", found) if isinstance(found, dict) else {}
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}


def _words(error: Mapping[str, Any], raw: bytes) -> str:
    said = error.get("message", error.get("detail"))
    text = said if isinstance(said, str) else raw.decode("utf-8", "replace")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_SHOWN]
