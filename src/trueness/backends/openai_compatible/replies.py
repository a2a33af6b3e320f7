"""What a reply says: text, why it ended, log-probabilities in either shape, tokens, who spoke."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trueness.backends.openai_compatible.refusals import Malformed
from trueness.backends.protocol import Key, Result, Step

_LENGTH = frozenset({"length", "max_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "safety", "recitation", "prohibited_content"})
_BROKEN = frozenset(
    {"abort", "cancelled", "error", "function_call", "insufficient_system_resource", "tool_calls"}
)
_ABSOLUTE = re.compile(r"(?:/|[A-Za-z]:[\\/]).*[\\/]")


@dataclass(frozen=True, slots=True)
class Said:
    """A reply that was read.

    Parameters
    ----------
    text : str
    finish : {"stop", "length", "refused"}
    error : str or None
        Why the text is no answer: ``content_filter`` of the host, ``finish_…``,
        ``non_finite_logits``.
    steps : tuple of Step
    n_prompt, n_written : int or None
    n_reused : int
    top : tuple of float
        Log-probabilities listed for the first token, descending.
    model, system_fingerprint : str or None
        As the server reports them; of a path only the file's name.
    """

    text: str
    finish: str
    error: str | None
    steps: tuple[Step, ...]
    n_prompt: int | None
    n_written: int | None
    n_reused: int
    top: tuple[float, ...]
    model: str | None
    system_fingerprint: str | None

    def result(self, key: Key, attempts: int) -> Result:
        """The result of a request."""
        failed = self.error is not None
        return Result(
            key=key,
            text="" if failed else self.text,
            finish="error" if failed else self.finish,
            steps=() if failed else self.steps,
            n_prompt=self.n_prompt,
            n_written=self.n_written,
            n_reused=self.n_reused,
            error=self.error,
            attempts=attempts,
            system_fingerprint=self.system_fingerprint,
            top=() if failed else self.top,
        )


def read(reply: Mapping[str, Any]) -> Said:
    """What a reply of chat or of completions says.

    Raises
    ------
    Malformed
        For no choice, no text, or log-probabilities of no known shape.
    """
    choice = first_choice(reply)
    finish = str(choice.get("finish_reason") or "stop").casefold()
    text, refused = _text(choice, finish)
    steps = _steps(choice.get("logprobs"))
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Said(
        text=text,
        finish="refused" if refused else "length" if finish in _LENGTH else "stop",
        error=_error(finish, steps),
        steps=steps or (),
        n_prompt=_count(usage.get("prompt_tokens")),
        n_written=_count(usage.get("completion_tokens")),
        n_reused=_count(cached) or 0,
        top=_top(choice.get("logprobs")),
        model=public_name(reply.get("model")),
        system_fingerprint=public_name(reply.get("system_fingerprint")),
    )


def first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one choice of a reply.

    Raises
    ------
    Malformed
        Where there is none.
    """
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Malformed
    return choices[0]


def public_name(name: object) -> str | None:
    """A name as it is; of an absolute path only the last part, the rest is about the host.

    >>> public_name("org/model"), public_name("/srv/weights/model.gguf")
    ('org/model', 'model.gguf')
    """
    return _ABSOLUTE.sub("", name) or None if isinstance(name, str) else None


def number(value: object) -> float | None:
    """A finite number; None for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and math.isfinite(value) else None  # type: ignore[arg-type]  # known


def _text(choice: Mapping[str, Any], finish: str) -> tuple[str, bool]:
    """The text, and whether it is the model's refusal."""
    message = choice.get("message")
    content = choice.get("text") if message is None else _content(message)
    refusal = message.get("refusal") if isinstance(message, dict) else None
    if isinstance(refusal, str) and refusal:
        return refusal, True
    if isinstance(content, str):
        return content, False
    if content is None and (finish in _LENGTH or finish in _FILTERED or finish in _BROKEN):
        return "", False
    raise Malformed


def _content(message: object) -> object:
    """The content of a message; parts of text are put together."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return content
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _error(finish: str, steps: tuple[Step, ...] | None) -> str | None:
    if finish in _FILTERED:
        return "content_filter"
    if finish in _BROKEN:
        return f"finish_{finish}"
    return "non_finite_logits" if steps is None else None


def _steps(given: object) -> tuple[Step, ...] | None:
    """Written tokens of either shape; None where a number is not finite."""
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise Malformed
    content = given.get("content")
    if isinstance(content, list):
        return _finite(map(_chat_step, content))
    tokens, logprobs = given.get("tokens"), given.get("token_logprobs")
    if isinstance(tokens, list) and isinstance(logprobs, list) and len(tokens) == len(logprobs):
        tops = given.get("top_logprobs")
        tops = tops if isinstance(tops, list) and len(tops) == len(tokens) else [None] * len(tokens)
        return _finite(map(_legacy_step, tokens, logprobs, tops))
    if content is None and tokens is None:
        return ()
    raise Malformed


def _finite(steps: Iterable[Step]) -> tuple[Step, ...] | None:
    found = tuple(steps)
    return None if any(step.logprob is None for step in found) else found


def _chat_step(place: object) -> Step:
    if not isinstance(place, dict) or not isinstance(place.get("token"), str):
        raise Malformed
    tops = place.get("top_logprobs")
    tops = [t.get("logprob") for t in tops if isinstance(t, dict)] if isinstance(tops, list) else ()
    return Step(_count(place.get("id")), number(place.get("logprob")), _gap(tops), place["token"])


def _legacy_step(token: object, logprob: object, tops: object) -> Step:
    values = tops.values() if isinstance(tops, dict) else ()
    return Step(None, number(logprob), _gap(values), str(token))


def _top(given: object) -> tuple[float, ...]:
    """What is listed for the first token, in either shape."""
    lists = given if isinstance(given, dict) else {}
    places = lists.get("content") or lists.get("top_logprobs") or [None]
    first = places[0] if isinstance(places, list) and places else None
    if isinstance(first, dict) and isinstance(first.get("top_logprobs"), list):
        values = [t.get("logprob") for t in first["top_logprobs"] if isinstance(t, dict)]
    else:
        values = list(first.values()) if isinstance(first, dict) else []
    known = [n for n in map(number, values) if n is not None]
    return tuple(sorted(known, reverse=True))


def _gap(logprobs: Iterable[object]) -> float | None:
    """Distance of the two likeliest tokens."""
    known = sorted((n for n in map(number, logprobs) if n is not None), reverse=True)
    return known[0] - known[1] if len(known) > 1 else None


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None
