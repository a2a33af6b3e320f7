"""Some prompts of every batch plan are asked again alone: a batch must not change an answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from trueness.backends.protocol import Key, Model, Request, Result, Step
from trueness.collect.prefixes import hash_first
from trueness.contract.errors import ProtocolError

NEAR_TIE = 0.001
NEAR_TIE_QUANTISED = 0.05
"""Distances of the two likeliest tokens, in logits, below which a batch may decide either way."""
N_RANDOM = 3
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """What asking again alone showed.

    Parameters
    ----------
    n_asked : int
        Prompts asked again; an error on any other prompt is not seen.
    n_near_tie : int
        Answers that differ where the two likeliest tokens are about equally likely.
    largest_difference : float or None
        Of the first token's log-probability between batch and alone; None where none is reported.
    deterministic : bool
        Whether the same prompts, twice alone, were answered the same.
    """

    n_asked: int
    n_near_tie: int = 0
    largest_difference: float | None = None
    deterministic: bool = True

    def line(self) -> str:
        """One line for a person."""
        if not self.n_asked:
            return "self-check: nothing was asked in a batch"
        parts = [f"self-check: {self.n_asked} prompts asked again alone"]
        if self.n_near_tie or self.deterministic:
            parts.append(f"{self.n_near_tie} near ties" if self.n_near_tie else "same answers")
        if self.largest_difference is not None:
            parts.append(f"largest log-probability difference {self.largest_difference:.2g}")
        if not self.deterministic:
            parts.append("NOT deterministic: certificates about these answers read UNSTABLE")
        return ", ".join(parts)


def positions(
    token_lengths: Iterable[int], *, random: int = N_RANDOM, seed: int = 0
) -> tuple[int, ...]:
    """Which prompts of a plan are asked again: first, last, shortest, longest and some more.

    Shortest and longest are in tokens, the earliest such; the others come in the order of SHA-256
    of ``{seed}:{i}``. The lengths are read once and not held.

    >>> positions([7, 7, 3, 7, 7], random=0)
    (0, 2, 4)
    """
    last, shortest, longest = -1, (0, 0), (0, 0)
    for last, length in enumerate(token_lengths):
        if last == 0 or length < shortest[0]:
            shortest = length, last
        if last == 0 or length > longest[0]:
            longest = length, last
    if last < 0:
        return ()
    chosen = {0, last, shortest[1], longest[1]}
    others = hash_first(last + 1, seed, random + len(chosen))
    return tuple(sorted(chosen.union([i for i in others if i not in chosen][:random])))


def ask_alone(model: Model, requests: Sequence[Request]) -> dict[Key, Result]:
    """Every request in a batch of its own, without a shared prefix."""
    alone = (replace(request, shared=0) for request in requests)
    return {result.key: result for request in alone for result in model.complete([request])}


def steady(
    batched: Mapping[Key, Result],
    alone: Mapping[Key, Result],
    requests: Sequence[Request],
    *,
    observe: Callable[[Result], object],
    near_tie: float,
) -> list[Request]:
    """The requests without two answers that differ beyond a near tie; a failure is no answer."""
    return [
        request
        for request in requests
        if not _differ(batched.get(request.key), alone.get(request.key), observe, near_tie)
    ]


def _differ(
    batched: Result | None,
    alone: Result | None,
    observe: Callable[[Result], object],
    near_tie: float,
) -> bool:
    if batched is None or alone is None or batched.error is not None or alone.error is not None:
        return False
    return observe(batched) != observe(alone) and _gap(batched, alone) > near_tie


def compare(
    batched: Mapping[Key, Result],
    alone: Mapping[Key, Result],
    requests: Sequence[Request],
    *,
    observe: Callable[[Result], object],
    near_tie: float,
) -> SelfCheck:
    """What the batch did to the answers; an answer that it changed is an error.

    ``observe`` is the observable: what of a result two answers are compared by. Requests that
    failed on either side are left out: a failure is a row, not an answer.

    Raises
    ------
    ProtocolError
        When an answer differs that is no near tie; names prompts, both answers and the suspects.
    """
    pairs = [(r, batched.get(r.key), alone.get(r.key)) for r in requests]
    both = [
        (r, b, a)
        for r, b, a in pairs
        if b is not None and a is not None and b.error is None and a.error is None
    ]
    changed = [(r, b, a) for r, b, a in both if observe(b) != observe(a)]
    ties = [_gap(b, a) <= near_tie for _, b, a in changed]
    wrong = [one for one, tie in zip(changed, ties, strict=True) if not tie]
    if wrong:
        raise ProtocolError(_message(wrong, len(both)))
    return SelfCheck(len(both), sum(ties), _largest([(b, a) for _, b, a in both]))


def _gap(batched: Result, alone: Result) -> float:
    """Distance of the two likeliest tokens where the two answers part; infinite if unknown."""
    for b, a in zip(batched.steps, alone.steps, strict=False):
        if not _same_token(b, a):
            gaps = [s.gap for s in (b, a) if s.gap is not None]
            return min(gaps, default=float("inf"))
    return float("inf")


def _same_token(one: Step, other: Step) -> bool:
    return (one.id, one.token) == (other.id, other.token)


def _largest(pairs: Sequence[tuple[Result, Result]]) -> float | None:
    found = [
        abs(b.steps[0].logprob - a.steps[0].logprob)
        for b, a in pairs
        if b.steps and a.steps and _same_token(b.steps[0], a.steps[0])
        if b.steps[0].logprob is not None and a.steps[0].logprob is not None
    ]
    return max(found, default=None)


def _message(wrong: Sequence[tuple[Request, Result, Result]], n: int) -> str:
    shown = "; ".join(
        f"{r.key[0]!r}: {b.text!r} in the batch, {a.text!r} alone" for r, b, a in wrong[:_SHOWN]
    )
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return (
        f"a batch changes answers: {len(wrong)} of {n} prompts asked again alone differ ({shown}"
        f"{more}). Suspects: padding side, order of the batch, position ids. "
        "Ask with batch size 1 or repair the backend."
    )
