"""Log-probabilities of a given text: echoed in the answer's place, or listed beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from trueness.backends.openai_compatible.refusals import Malformed
from trueness.backends.openai_compatible.replies import first_choice, number
from trueness.backends.scoring import Continuation, Scored

SEAM = "prompt_and_text_fuse"
"""A token holds the end of the prompt and the beginning of the text: neither has its own sum."""
UNSCORED = "token_without_logprob"
"""The first token of all, where nothing stands in front of the text; or a number not finite."""

Pair = tuple[str, float | None]


def read_scored(reply: Mapping[str, Any], continuation: Continuation) -> Scored:
    """The score of a text behind a prompt.

    Tokens are laid over prompt and text in order; those behind the prompt's end are summed. Where
    a token lies across it there is no score.

    Raises
    ------
    Malformed
        For a reply that does not give every token of prompt and text.
    """
    choice = first_choice(reply)
    listed = choice.get("prompt_logprobs", reply.get("prompt_logprobs"))
    pairs = _listed(listed) if isinstance(listed, list) else _echoed(choice.get("logprobs"))
    prompt, text = str(continuation.prompt), continuation.text
    at, n, total = 0, 0, 0.0
    for token, logprob in _laid(pairs, prompt + text):
        start, at = at, at + len(token)
        if start < len(prompt) < at:
            return Scored(continuation.key, None, 0, SEAM)
        if len(prompt) <= start < len(prompt) + len(text):
            if logprob is None:
                return Scored(continuation.key, None, 0, UNSCORED)
            n, total = n + 1, total + logprob
    return Scored(continuation.key, total, n)


def _echoed(given: object) -> list[Pair]:
    """Tokens and log-probabilities of the older shape; the first token has none."""
    tokens = given.get("tokens") if isinstance(given, dict) else None
    logprobs = given.get("token_logprobs") if isinstance(given, dict) else None
    if not isinstance(tokens, list) or not isinstance(logprobs, list):
        raise Malformed
    if len(tokens) != len(logprobs):
        raise Malformed
    return [(str(token), number(value)) for token, value in zip(tokens, logprobs, strict=True)]


def _listed(given: Sequence[Any]) -> list[Pair]:
    """Tokens of ``prompt_logprobs``: the first entry of each place is the prompt's own token."""
    return [("", None) if place is None else _place(place) for place in given]


def _place(place: object) -> Pair:
    entry = next(iter(place.values()), None) if isinstance(place, dict) else None
    if not isinstance(entry, dict) or not isinstance(entry.get("decoded_token"), str):
        raise Malformed
    return entry["decoded_token"], number(entry.get("logprob"))


def _laid(pairs: Sequence[Pair], whole: str) -> Sequence[Pair]:
    """The tokens that lie over the whole text, from its first character on.

    In front there may be a BOS, which is no part of the text, or a first token whose own text is
    not given: it is what the others do not cover.
    """
    front, rest = "".join(token for token, _ in pairs), "".join(token for token, _ in pairs[1:])
    if front.startswith(whole):
        return pairs
    if rest.startswith(whole):
        return pairs[1:]
    if front == rest and whole.endswith(rest):
        return [(whole[: len(whole) - len(rest)], None), *pairs[1:]]
    raise Malformed
