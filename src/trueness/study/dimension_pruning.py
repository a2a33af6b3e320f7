"""Dimensions of blocks' token products, and what truncating their matrices costs."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.backends.scoring import Continuation, Scored
from trueness.collect.conditions import passages
from trueness.contract.errors import BackendError
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.low_rank import random_rank, truncated
from trueness.stats.rank_correlation import RankCorrelation, rank_correlation
from trueness.study.asked import not_applicable
from trueness.study.embedded_inputs import levels
from trueness.study.exponents import encoded, spread_blocks
from trueness.study.found import Found
from trueness.study.inside_inputs import opened
from trueness.study.products import Grown, texts_of, token_product
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.spent import Spent
from trueness.study.task import Task

SMALL = 0.5
"""A correlation whose interval lies within it is called small."""
_KEY = ("held_out", "text")
_BLOCKS = (
    "Blocks are one sample of one model: the permutation p says how the order of these blocks came "
    "about, not that of others."
)
_NOT_SHOWN = (
    "It does not show that a dimension is what makes a block compressible: depth goes with both."
)
_SETTLED = "Only blocks whose dimension has settled enter a correlation; the others are shown."
NOTES = (_BLOCKS, _NOT_SHOWN, _SETTLED)

Floats: TypeAlias = NDArray[np.float64]


class Prunable(Protocol):
    """A white box whose feed-forward matrices can be changed while it scores."""

    def changed_mlp(self, layer: int, change: Any) -> AbstractContextManager[int]:
        """Until it ends, each matrix of a block is what ``change`` makes of it."""
        ...

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """Sum of log-probabilities."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One block.

    Parameters
    ----------
    number : int
    grown : Grown
        Its token product.
    rise : mapping of int to float
        By rank: surprise with truncated matrices less that of the model, nats a token.
    control : mapping of int to tuple of float
        The same with directions drawn at random.
    """

    number: int
    grown: Grown
    rise: dict[int, float]
    control: dict[int, tuple[float, ...]]


def run(task: Task) -> Found:
    """Dimensions of blocks, and what truncating each of them costs.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of random subspaces and permutations.
        ``repeats``: at most so many blocks.
    """
    task.only("model")
    (n_blocks,), (n_tokens,), (n_controls,), (n_words,) = (
        levels(task.declaration, name, int) for name in ("blocks", "tokens", "controls", "held_out")
    )
    ranks = levels(task.declaration, "rank", int)
    frames = levels(task.declaration, "frames", int)
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        white: Any = model
        (text, _) = texts_of(
            encoded(white.tokenizer)[:-1], n_texts=1, n_tokens=n_tokens, seed=task.seed
        )
        depth = white.hidden_states([text.ids]).shape[1] - 1
        held_out = passages()[-1].split()
        before, after = (
            " ".join(held_out[a : a + n_words]) for a in (0, n_words)
        )  # the last passage, on which no dimension is taken
        base = surprise(white, before, f" {after}")
        found: list[Block] = []
        for number in spread_blocks(min(n_blocks, task.repeats), depth):
            task.say(f"block {number}: dimension")
            grown = token_product(white, text, number, frames=frames)
            task.say(f"block {number}: truncated")
            rise, control = _costs(
                white, number, ranks, (before, f" {after}"), n_controls=n_controls, seed=task.seed
            )
            found.append(
                Block(
                    number,
                    grown,
                    {r: v - base for r, v in rise.items()},
                    {r: tuple(v - base for v in vs) for r, vs in control.items()},
                )
            )
        identity = dict(model.identity)
    rows = tuple(_row(block, base) for block in found)
    why = unsettled(found)
    return Found(
        rows=rows,
        contrasts=contrasts_of(found, ranks, seed=task.seed),
        draws={
            "repeats": task.repeats,
            "n_blocks": len(found),
            "n_settled": sum(b.grown.settled for b in found),
            "surprise": base,
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=len(found) * len(ranks) * (1 + n_controls) + 2),
        model=identity,
        notes=NOTES if why is None else (why, *NOTES),
        table=tuple(
            {"block": b.number, "exponents": b.grown.growth.exponents.tolist()} for b in found
        ),
        not_applicable=why,
    )


def unsettled(found: Sequence[Block]) -> str | None:
    """Why there is nothing to correlate: no block has settled. None when one has."""
    if any(block.grown.settled for block in found):
        return None
    reasons = dict.fromkeys(
        b.grown.settling.reason or b.grown.growth.dimension.reason or "no dimension" for b in found
    )
    return f"no block's dimension has settled: {'; '.join(reasons)}"


def surprise(model: Prunable, before: str, text: str) -> float:
    """Mean negative log-probability of a text's tokens behind another, in nats.

    Raises
    ------
    BackendError
        When the model does not score it.
    """
    (found,) = model.score([Continuation(_KEY, before, text)])
    if found.logprob is None or not found.n_tokens:
        msg = f"the held-out text has no score: {found.error or 'it has no token'}."
        raise BackendError(msg, hint="Use a model with a longer context, or one that is whole.")
    return -found.logprob / found.n_tokens


def _costs(
    model: Prunable,
    block: int,
    ranks: Sequence[int],
    texts: tuple[str, str],
    *,
    n_controls: int,
    seed: int,
) -> tuple[dict[int, float], dict[int, tuple[float, ...]]]:
    rise: dict[int, float] = {}
    control: dict[int, tuple[float, ...]] = {}
    for rank in ranks:
        with model.changed_mlp(block, nearest(rank)):
            rise[rank] = surprise(model, *texts)
        values = []
        for c in range(n_controls):
            with model.changed_mlp(block, at_random(rank, [seed, block, rank, c])):
                values.append(surprise(model, *texts))
        control[rank] = tuple(values)
    return rise, control


def nearest(rank: int) -> Any:
    """From a matrix to the nearest one of a rank."""

    def change(w: NDArray[np.float32], place: int) -> Floats:
        del place
        return truncated(w, rank)

    return change


def at_random(rank: int, seed: Sequence[int]) -> Any:
    """From a matrix to itself on inputs of a subspace drawn at random."""

    def change(w: NDArray[np.float32], place: int) -> Floats:
        return random_rank(w, rank, rng=np.random.default_rng([*seed, place]))

    return change


def contrasts_of(found: Sequence[Block], ranks: Sequence[int], *, seed: int) -> dict[str, Record]:
    """Correlations over settled blocks at every rank, and truncation against the control."""
    settled = [b for b in found if b.grown.settled]
    dimensions = [b.grown.dimension or 0.0 for b in settled]
    each = {
        rank: rank_correlation(
            dimensions, [b.rise[rank] for b in settled], rng=np.random.default_rng([seed, rank])
        )
        for rank in ranks
    }
    known = [c for c in each.values() if c.state is State.MEASURED]
    pairs = [(b.rise[r], v) for b in found for r in ranks for v in b.control[r]]
    return {
        "dimension_and_loss": {
            "n": len(settled),
            "n_blocks": len(found),
            "n_ranks": len(known),
            "n_open": sum(not _apart(c) for c in each.values()),
            "n_not_small": sum(not _small(c) for c in each.values()),
            "estimate": min((c.rho for c in known if c.rho is not None), key=abs, default=None),
            "kind": "Fisher's interval with Fieller's variance; permutation of blocks",
            "by_rank": {str(rank): _said(c) for rank, c in each.items()},
        },
        "truncated_minus_random": {
            "n": len(pairs),
            "n_smaller": sum(a < b for a, b in pairs),
            "estimate": float(np.mean([a - b for a, b in pairs])) if pairs else None,
        },
    }


def _apart(found: RankCorrelation) -> bool:
    """Whether its interval leaves 0 out."""
    if found.low is None or found.high is None:
        return False
    return found.low > 0 or found.high < 0


def _small(found: RankCorrelation) -> bool:
    if found.low is None or found.high is None:
        return False
    return found.low > -SMALL and found.high < SMALL


def _said(found: RankCorrelation) -> dict[str, Json]:
    return {
        "state": found.state.value,
        "reason": found.reason,
        "n": found.n,
        "rho": found.rho,
        "low": found.low,
        "high": found.high,
        "p": found.p,
    }


def _row(block: Block, base: float) -> Record:
    grown = block.grown
    return {
        "name": f"block_{block.number}",
        "block": block.number,
        "n": grown.growth.n_steps,
        "n_missing": 0,
        "width": grown.settling.width,
        "state": grown.settling.state.value,
        "reason": grown.settling.reason,
        "settled": grown.settled,
        "dimension": {k: d.value for k, d in grown.settling.dimension_by_step.items()},
        "dimension_by_frame": [d.value for d in grown.settling.dimension_by_frame],
        "surprise": base,
        "rise": {str(r): v for r, v in block.rise.items()},
        "rise_random": {str(r): float(np.mean(v)) for r, v in block.control.items() if v},
    }
