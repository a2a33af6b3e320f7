"""What compares across widths: ratios of lengths, plain and projected; arrangements of items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.frames import (
    Similarity,
    distance_matrix_correlation,
    gaussian_projection,
    jl_eps,
    linear_cka,
    norm_ratios,
    permuted_similarities,
)
from trueness.study.asked import not_applicable
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.inside_inputs import Items, opened
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.task import Task

LEAST = 3
"""Items without which distances of pairs do not correlate."""
NO_SECOND = "two models are compared: name the other one with --second-model"
FEW = "arrangements of fewer than three items say nothing; raise --limit"
_RATIO = (
    "A plain ratio of lengths has no unit and is the quantity itself, so its error is rounding. "
    "What is measured is how much projecting takes from it."
)
_FRAME = (
    "One seed does not give one frame for two widths: coordinates, lengths with a unit, exponents "
    "a layer and Kaplan-Yorke dimensions do not compare across widths, projected or not."
)
_NOT_SHOWN = (
    "It does not show that the two models compute alike: CKA and distances say how alike they "
    "arrange these items, and items of one wording are alike in much."
)
NOTES = (_RATIO, _FRAME, _NOT_SHOWN)

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


def run(task: Task) -> Found:
    """Planted and measured ratios in every frame, and how alike two models arrange items.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``, ``second_model``.
        ``seed``: of planted vectors and permutations.
        ``repeats``: at most so many entities.
    """
    task.only("model", "second_model")
    declared = task.declaration.table("inputs")
    name, templates = str(declared["relations"][0]), [int(t) for t in declared["templates"]]
    if task.inputs.second_model is None:
        return not_applicable(task, NO_SECOND)
    states: list[Floats] = []
    identities: list[Any] = []
    prompts: tuple[str, ...] = ()
    relation = None
    for given in (None, task.inputs.second_model):
        task.say(given or "the first model")
        with opened(task, given) as model:
            if isinstance(model, str):
                return not_applicable(task, model)
            if relation is None:
                items = Items.of(name, model.tokenizer, most=task.repeats, templates=templates)
                prompts, relation = items.prompts, items.relation
            if len(prompts) < LEAST:
                return not_applicable(task, FEW)
            states.append(model.hidden_states(prompts)[:, :, 0].astype(np.float64))
            identities.append(dict(model.identity))
    rules = Rules.of(task)
    cells = [*planted_cells(len(prompts), rules), *measured_cells(states[0], states[1], rules)]
    alike = [likeness(states[0], states[1], depth, rules) for depth in rules.depths]
    rows = (*_ratio_rows(cells, states, rules), *alike)
    return Found(
        rows=rows,
        contrasts={
            "projection": contrast_of(cells),
            "alike": _likeness(alike, "cka"),
            "distances": _likeness(alike, "distances"),
        },
        draws={
            "repeats": task.repeats,
            "n_items": len(prompts),
            "frames": rules.n_frames,
            "permutations": rules.permutations,
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        forwards=2 * len(prompts),
        data=() if relation is None else (relation_record(name, relation),),
        model={**identities[0], "second": identities[1]},
        notes=NOTES,
        table=tuple(_table(cells)),
    )


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
        Pair(states[:, _entry(states, rules.growth[1])], states[:, _entry(states, rules.growth[0])])
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


def likeness(first: Floats, second: Floats, depth: float, rules: Rules) -> Record:
    """How alike two models arrange the same items at one share of their depths.

    Parameters
    ----------
    first, second : (n, L + 1, D) float64
    depth : float from 0 to 1
    rules : Rules
    """
    x, y = (states[:, _entry(states, depth)] for states in (first, second))
    rng = np.random.default_rng([rules.seed, 1])
    null = permuted_similarities(x, y, rng=rng, n_permutations=rules.permutations)
    return {
        "name": f"alike_{round(100 * depth)}",
        "depth": depth,
        "n": len(x),
        "n_missing": 0,
        "cka": _tested(linear_cka(x, y), null.cka),
        "distances": _tested(distance_matrix_correlation(x, y), null.distances),
    }


def _tested(found: Similarity, null: Floats) -> dict[str, Json]:
    """A similarity beside those of permuted items."""
    known = found.value is not None
    beyond = int((null >= found.value).sum()) if found.value is not None else 0
    return {
        "state": found.state.value,
        "reason": found.reason,
        "value": found.value,
        "p": (beyond + 1) / (len(null) + 1) if known else None,
        "null_mean": float(null.mean()) if known else None,
    }


def _likeness(rows: Sequence[Record], what: str) -> Record:
    """The row half way up."""
    middle: Any = min(rows, key=lambda row: abs(float(str(row["depth"])) - 0.5))
    found = middle[what]
    return {
        "n": middle["n"],
        "state": found["state"],
        "estimate": found["value"],
        "null_mean": found["null_mean"],
        "p": found["p"],
        "kind": "permuted items",
    }


def _ratio_rows(cells: Sequence[Cell], states: Sequence[Floats], rules: Rules) -> Iterator[Record]:
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
                "expected_relative_sd": bound.ratio_relative_sd,
                "distance_bound": bound.eps,
                "distance_bound_state": bound.state.value,
            }


def _table(cells: Sequence[Cell]) -> Iterator[Record]:
    for c in cells:
        yield {
            "what": c.what,
            "k": c.k,
            "seed": c.seed,
            "n": c.n,
            "plain_mean": c.plain_mean,
            "projected_mean": c.projected_mean,
            "plain_error": c.plain_error,
            "projected_error": c.projected_error,
        }


def _entry(states: Floats, depth: float) -> int:
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
