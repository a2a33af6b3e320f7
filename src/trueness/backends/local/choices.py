"""Answers from a list: the likeliest whole text, or the likeliest first token."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trueness.backends.local.batch import Flow
from trueness.backends.local.passes import Engine
from trueness.backends.protocol import Request, Result, Step
from trueness.contract.errors import InputError

Encoded = Mapping[str, tuple[int, ...]]
"""Allowed texts with their ids, each encoded as a text of its own."""


@dataclass(frozen=True, slots=True)
class _Choice:
    text: str
    logprobs: tuple[float, ...]

    @property
    def total(self) -> float:
        return math.fsum(self.logprobs)


def check_first_tokens(encoded: Encoded) -> None:
    """Refuse to choose by first tokens among texts that share one.

    Raises
    ------
    InputError
        Naming the texts; also for a text that has no token.

    Examples
    --------
    >>> check_first_tokens({" Lima": (7, 3), " Paris": (9,)})
    """
    first: dict[int, str] = {}
    for text, ids in encoded.items():
        if not ids:
            msg = f"the allowed answer {text!r} has no token; give texts that are not empty."
            raise InputError(msg)
        other = first.setdefault(ids[0], text)
        if other != text:
            msg = (
                f"the allowed answers {other!r} and {text!r} start with the same token, so their "
                "first token cannot tell them apart. Allow whole texts (max_tokens above 1)."
            )
            raise InputError(msg)


def choose_first(
    engine: Engine, flow: Flow, row: int, request: Request, encoded: Encoded
) -> Result:
    """The allowed answer whose first token is likeliest; a tie is an error, never an answer."""
    z = engine.torch.log_softmax(flow.logits[row].cpu().double(), dim=-1)
    found = [_Choice(text, (float(z[ids[0]]),)) for text, ids in encoded.items()]
    return _result(request, found, {text: ids[:1] for text, ids in encoded.items()})


def choose_text(engine: Engine, flow: Flow, row: int, request: Request, encoded: Encoded) -> Result:
    """The allowed answer with the largest sum of log-probabilities, ends and lengths ignored.

    The sum is raw: a text is never less likely than its own continuation.
    """
    first = engine.torch.log_softmax(flow.logits[row].cpu().double(), dim=-1)
    stems = _stems([ids[:-1] for ids in encoded.values()])
    after: Any = None
    if stems:
        after = engine.torch.log_softmax(engine.branch(flow, row, stems).cpu().double(), dim=-1)
    found = [_Choice(t, _logprobs(ids, first, after, stems)) for t, ids in encoded.items()]
    return _result(request, found, encoded)


def _stems(starts: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The longest starts: every other one lies on the way to one of these.

    >>> _stems([(), (1,), (1, 2), (3,)])
    [(1, 2), (3,)]
    """
    kept: list[tuple[int, ...]] = []
    for start in sorted(set(starts), reverse=True):
        if start and not (kept and kept[-1][: len(start)] == start):
            kept.append(start)
    return sorted(kept)


def _logprobs(
    ids: tuple[int, ...], first: Any, after: Any, stems: Sequence[tuple[int, ...]]
) -> tuple[float, ...]:
    at = next((i for i, s in enumerate(stems) if s[: len(ids) - 1] == ids[:-1]), 0)
    later = [float(after[at, place - 1, ids[place]]) for place in range(1, len(ids))]
    return (float(first[ids[0]]), *later)


def _result(request: Request, found: Sequence[_Choice], encoded: Encoded) -> Result:
    if not all(math.isfinite(choice.total) for choice in found):
        return Result.failed(request.key, "non_finite_logits")
    ranked = sorted(found, key=lambda choice: -choice.total)
    if len(ranked) > 1 and ranked[0].total == ranked[1].total:
        return Result.failed(request.key, "tie")
    best, gap = ranked[0], None
    if len(ranked) > 1:
        gap = ranked[0].total - ranked[1].total
    steps = zip(encoded[best.text], best.logprobs, strict=True)
    return Result(
        request.key,
        best.text,
        steps=tuple(Step(i, logprob, gap) for i, logprob in steps),
        n_written=len(encoded[best.text]),
    )
