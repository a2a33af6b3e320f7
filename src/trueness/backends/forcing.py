"""Log-probabilities of a given text from llama.cpp's server: every token forced, its own reported.

The server writes and does not read: it has no log-probabilities of a prompt. But a bias decides
which token is written and leaves the log-probability that is reported for it as the model gave it.
So each token costs one request of one token behind a cache that holds everything before it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Any

Ids = tuple[int, ...]
Reply = Mapping[str, Any]
Ask = Callable[[Mapping[str, object]], Reply | str]
"""A body for ``/completion``; the reply, or why there is none."""

_DECIDES = 1e5
"""A bias that no logit outweighs."""
_LIKELIEST = 256
_MISSING = "token_not_reported"
UNDERFLOW = -1e30
"""llama.cpp reports the least float for a probability that is 0 in 32 bits."""


def forced_scores(
    ask: Ask, prompt: Ids, texts: Iterable[Ids], *, plain: int, n_vocabulary: int
) -> dict[Ids, float | str]:
    """Sum of the log-probabilities of each text behind one prompt, or why there is none.

    The prompt but for its last token is read anew in one pass, everything behind it token by token:
    a score depends on prompt and text alone, and what texts begin with in common is read once.

    Parameters
    ----------
    ask : callable
    prompt : tuple of int
        With BOS where the model has one; an empty one leaves the first token without a law.
    texts : iterable of tuple of int
    plain : int
        A token that is whole characters.
    n_vocabulary : int

    Returns
    -------
    dict of ids to float or str
        In nats; 0 for no tokens.
    """
    ordered = sorted(set(texts))
    if not prompt:
        return {ids: "empty_prompt" if ids else 0.0 for ids in ordered}
    if len(prompt) > 1:
        primed = ask({**_greedy(prompt[:-1]), "n_predict": 0, "cache_prompt": False})
        if isinstance(primed, str):
            return dict.fromkeys(ordered, primed)
    found: dict[Ids, float | str] = {}
    before: Ids = ()
    known: list[float] = []
    for ids in ordered:
        known = known[: _shared(before, ids)]
        fault = _grow(known, ids, ask=ask, prompt=prompt, plain=plain, n_vocabulary=n_vocabulary)
        before = ids[: len(known)]
        found[ids] = math.fsum(known) if fault is None else fault
    return found


def _grow(
    known: list[float], ids: Ids, *, ask: Ask, prompt: Ids, plain: int, n_vocabulary: int
) -> str | None:
    """Append the log-probabilities that are missing; why that failed, where it did."""
    while len(known) < len(ids):
        behind, token = (*prompt, *ids[: len(known)]), ids[len(known)]
        reply = ask(_forcing(behind, token))
        value = reply if isinstance(reply, str) else _logprob(reply, token)
        # the first bytes of a character are written without their probability: it stands in the
        # list of the likeliest beside a token that is whole, sooner or later
        for n in (_LIKELIEST, n_vocabulary):
            if value == _MISSING:
                reply = ask({**_forcing(behind, plain), "n_probs": n})
                value = reply if isinstance(reply, str) else _logprob(reply, token)
        if isinstance(value, str):
            return value
        known.append(value)
    return None


def _greedy(ids: Ids) -> dict[str, object]:
    return {
        "prompt": list(ids),
        "temperature": 0.0,
        "samplers": ["temperature"],
        "repeat_penalty": 1.0,
        "post_sampling_probs": False,
        "return_tokens": True,
    }


def _forcing(ids: Ids, token: int) -> dict[str, object]:
    bias = [[token, _DECIDES]]
    return {**_greedy(ids), "n_predict": 1, "n_probs": 1, "cache_prompt": True, "logit_bias": bias}


def _logprob(reply: Reply, token: int) -> float | str:
    """What the model gave to the token at the one place that was written."""
    place: Reply = (reply.get("completion_probabilities") or ({},))[0]
    listed = (place, *place.get("top_logprobs", ()))
    values = [entry.get("logprob") for entry in listed if entry.get("id") == token]
    if not values:
        return _MISSING
    value = values[0]
    if not isinstance(value, float | int) or not math.isfinite(value):
        return "non_finite_logits"
    return "logprob_underflow" if value < UNDERFLOW else float(value)


def _shared(one: Ids, two: Ids) -> int:
    """How many tokens both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
