"""One request to a server, one attempt at it, and what became of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trueness.backends.openai_compatible.refusals import OK, Malformed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a server.

    Parameters
    ----------
    path : str
        Below the base URL.
    body : mapping
        Sent as JSON.
    seed : int
        Of the waits between attempts.
    first : bool
        Whether nothing was asked before: only a server that says it is busy or loading is waited
        for then, not one that is not there, hangs, or is of another kind.
    retries : int or None
        Tries after the first; None means the endpoint's.
    remarked : bool
        Whether a refusal stands among the remarks; not that of a request that finds out.
    """

    path: str
    body: Mapping[str, object]
    seed: int = 0
    first: bool = False
    retries: int | None = None
    remarked: bool = True


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What became of a call.

    Parameters
    ----------
    value : T or None
        What was read from the reply; None with a reason.
    reason : str or None
        ``timeout``, ``connection_lost``, ``unreachable``, ``malformed_reply``, ``http_STATUS``,
        ``context_length`` or ``content_filter``, of the last attempt.
    attempts : int
    status : int or None
        Of the last attempt; None where none came.
    said : str
        The server's own words about a refusal.
    """

    value: T | None
    reason: str | None = None
    attempts: int = 1
    status: int | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Tried(Generic[T]):
    """One attempt."""

    answer: Answer[T]
    again: bool = False
    loaded: bool = False
    stops: bool = False
    wait: float | None = None


def lost(reason: str, attempt: int, said: str = "") -> Tried[Any]:
    """An attempt that brought no reply."""
    answer: Answer[Any] = Answer(None, reason, attempt, said=said)
    return Tried(answer, again=True, loaded=True)


def read_reply(raw: bytes, read: Callable[[Mapping[str, Any]], T], attempt: int) -> Tried[T]:
    """An attempt that brought a reply with status 200: what is read from it, or malformed."""
    try:
        return Tried(Answer(read(_object(raw)), None, attempt, OK))
    except (Malformed, ValueError, RecursionError):
        answer: Answer[T] = Answer(None, "malformed_reply", attempt, OK)
        return Tried(answer, again=True)


def _object(raw: bytes) -> Mapping[str, Any]:
    found = json.loads(raw)
    if not isinstance(found, dict):
        raise Malformed
    return found
