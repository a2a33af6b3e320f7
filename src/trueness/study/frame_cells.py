"""Ratios of lengths in random frames: planted ones, and those of two models' states."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.states import State
from trueness.stats.frames import gaussian_projection, jl_eps, norm_ratios
from trueness.study.embedded_inputs import levels
from trueness.study.results import Record
from trueness.study.task import Task

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two sets of states of the same items, one over the other.

    Parameters
    ----------
    above, below : (n, D) float64
        Widths may differ.
    truth : (n,) float64 or None
        The true ratio of lengths; that of these states when None.
    """

    above: Floats
    below: Floats
    truth: Floats | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One ratio in one frame.

    Parameters
    ----------
    what : str
    k, seed : int
        Of the frame.
    n : int
    plain_mean, projected_mean : float
        Means of the ratios over items.
    plain_error, projected_error : float
        Mean absolute relative error of one item's ratio.
    """

    what: str
    k: int
    seed: int
    n: int
    plain_mean: float
    projected_mean: float
    plain_error: float
    projected_error: float

    @property
    def better(self) -> bool:
        """Whether the projected ratio is the closer one."""
        return self.projected_error < self.plain_error


@dataclass(frozen=True, slots=True)
class Rules:
    """What was declared."""

    ks: tuple[int, ...]
    n_frames: int
    depths: tuple[float, ...]
    growth: tuple[float, float]
    planted: float
    widths: tuple[int, int]
    permutations: int
    seed: int

    @classmethod
    def of(cls, task: Task) -> "Rules":
        """From the declaration of a run."""
        low, high = levels(task.declaration, "growth", float)
        one, two = levels(task.declaration, "planted_widths", int)
        (planted,) = levels(task.declaration, "planted_ratio", float)
        (frames,), (permutations,) = (
            levels(task.declaration, name, int) for name in ("frames", "permutations")
        )
        return cls(
            ks=levels(task.declaration, "frame", int),
            n_frames=frames,
            depths=levels(task.declaration, "depth", float),
            growth=(low, high),
            planted=planted,
            widths=(one, two),
            permutations=permutations,
            seed=task.seed,
        )


def planted_cells(n: int, rules: Rules) -> Iterator[Cell]:
    """Vectors of two widths whose lengths have the planted ratio, item by item.

    Parameters
    ----------
    n : int
        Items.
    rules : Rules
    """
    for seed in range(rules.n_frames):
        rng = np.random.default_rng([rules.seed, seed])
        above, below = (rng.normal(size=(n, width)) for width in rules.widths)
        length = rules.planted * np.linalg.norm(below, axis=1, keepdims=True)
        above = above * length / np.linalg.norm(above, axis=1, keepdims=True)
        pair = Pair(above, below, np.full(n, rules.planted))
        yield from cells_of("planted", [pair], rules.ks, seed)


def measured_cells(first: Floats, second: Floats, rules: Rules) -> Iterator[Cell]:
    """Growth of lengths between two depths in each model, and of one model over the other.

    Parameters
    ----------
    first, second : (n, L + 1, D) float64
    rules : Rules
    """
    pairs = [
        Pair(
            states[:, entry_of(states, rules.growth[1])],
            states[:, entry_of(states, rules.growth[0])],
        )
        for states in (first, second)
    ]
    for seed in range(rules.n_frames):
        yield from cells_of("first", pairs[:1], rules.ks, seed)
        yield from cells_of("second", pairs[1:], rules.ks, seed)
        yield from cells_of("between", pairs[::-1], rules.ks, seed)


def cells_of(what: str, pairs: Sequence[Pair], ks: Sequence[int], seed: int) -> Iterator[Cell]:
    """A ratio, or the ratio of two ratios, in a frame of each dimension that fits.

    Parameters
    ----------
    what : str
    pairs : one or two of Pair
        Of two, the ratio of the first over that of the second.
    ks : sequence of int
    seed : int
        Of the frames: one seed for all widths, which makes them no one frame.
    """
    plain = _quotient([norm_ratios(p.above, p.below) for p in pairs])
    truth = plain if pairs[0].truth is None else pairs[0].truth
    for k in ks:
        widths = [h.shape[1] for p in pairs for h in (p.above, p.below)]
        if k > min(widths):
            continue
        frames = {w: gaussian_projection(w, k, seed=seed) for w in widths}
        seen = _quotient(
            [
                norm_ratios(
                    frames[p.above.shape[1]].apply(p.above), frames[p.below.shape[1]].apply(p.below)
                )
                for p in pairs
            ]
        )
        known = np.isfinite(plain) & np.isfinite(seen)
        if known.any():
            yield Cell(
                what,
                k,
                seed,
                int(known.sum()),
                float(plain[known].mean()),
                float(seen[known].mean()),
                _error(plain[known], truth[known]),
                _error(seen[known], truth[known]),
            )


def contrast_of(cells: Sequence[Cell]) -> Record:
    """In how many cells the projected ratio is the closer one."""
    better = sum(cell.better for cell in cells)
    return {
        "n": len(cells),
        "n_better": better,
        "n_not_better": len(cells) - better,
        "estimate": float(np.mean([c.projected_error for c in cells])) if cells else None,
        "least_loss": min((c.projected_error - c.plain_error for c in cells), default=None),
        "kind": "mean relative error of one item's projected ratio; cells are counted",
    }


def ratio_rows(cells: Sequence[Cell], states: Sequence[Floats], rules: Rules) -> Iterator[Record]:
    """One row a ratio and dimension of its frames."""
    for what in ("planted", "first", "second", "between"):
        for k in rules.ks:
            here = [c for c in cells if (c.what, c.k) == (what, k)]
            bound = jl_eps(max(2, len(states[0])), k)
            fits = State.MEASURED if here else State.NOT_APPLICABLE
            yield {
                "name": f"{what}_{k}",
                "k": k,
                "n": len(here),
                "n_missing": rules.n_frames - len(here),
                "n_items": here[0].n if here else 0,
                "state": fits.value,
                "reason": None if here else "the frame is wider than a state",
                "plain_mean": here[0].plain_mean if here else None,
                "projected_mean": _mean([c.projected_mean for c in here]),
                "projected_low": min((c.projected_mean for c in here), default=None),
                "projected_high": max((c.projected_mean for c in here), default=None),
                "plain_error": _mean([c.plain_error for c in here]),
                "projected_error": _mean([c.projected_error for c in here]),
                "n_better": sum(c.better for c in here),
                # for projections that are independent, as those of two widths are
                "expected_relative_sd": bound.ratio_relative_sd if what == "planted" else None,
                "distance_bound": bound.eps,
                "distance_bound_state": bound.state.value,
            }


def entry_of(states: Floats, depth: float) -> int:
    """Entry of the residual stream (n, L + 1, D) at a share of the depth."""
    return int(round(depth * (states.shape[1] - 1)))  # noqa: RUF046 - a numpy shape is any


def _quotient(ratios: Sequence[Floats]) -> Floats:
    if len(ratios) == 1:
        return ratios[0]
    one, two = ratios
    found: Floats = np.divide(one, two, out=np.full(len(one), np.nan), where=two > 0)
    return found


def _error(seen: Floats, truth: Floats) -> float:
    off = np.abs(seen / truth - 1)
    return float(off.mean())


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
