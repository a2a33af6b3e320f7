"""What became of changed passes: cells with their class, clouds compared, and what is counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.stats.cloud_pairs import NOT_COMPARED, STILL, movements, pair_clouds
from trueness.stats.cloud_pairs import total_variation as recorded_variation
from trueness.stats.clouds import NONE, OPEN, Clouds
from trueness.stats.fibres import Share, error_floor
from trueness.stats.multiplicity import holm
from trueness.stats.observer_gradients import law_variation
from trueness.stats.permutation import attainable_floor, permutation_p
from trueness.study.observer_cells import Answers, Change, class_of, keyed, missing
from trueness.study.results import Record

ALPHA = 0.05

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counts:
    """What counts as what.

    Parameters
    ----------
    still : float
        Difference of the observer in double precision that counts as none.
    moves : float
        Total variation of two next-token laws that counts as some.
    k : int
        Draws of each arm.
    """

    still: float
    moves: float
    k: int


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One change of one prompt, beside the baseline.

    Parameters
    ----------
    item : int
    built, found : str
        The class it was built as, and the class that it is.
    strength : float
    record : mapping
        Its provenance.
    missing : tuple of str
        Parts of the provenance that are not there: incomplete, and in no rate.
    stable : bool
        The baseline of its item came out the same twice.
    raw_equal, flat : bool
        Logits; canonical numbers and greedy token, to the byte.
    same_greedy : bool
    off : float or None
        Largest difference of the observer, as the model computes; None without an observer.
    exact_off : float or None
        The same in double precision, of a walk.
    law_variation : float
        Total variation of the next-token laws; of a walk in double precision.
    changed_raw, changed : int
        Draws with shared seeds whose raw text, whose canonical answer differs.
    raw, canonical : (tuple of str, tuple of str)
        Baseline's and cell's independent draws: texts, canonical answers.
    numbers : tuple of float
        Canonical numbers and greedy token; empty without an observer.
    """

    item: int
    built: str
    found: str
    strength: float
    record: dict[str, Json]
    missing: tuple[str, ...]
    stable: bool
    raw_equal: bool
    flat: bool
    same_greedy: bool
    off: float | None
    exact_off: float | None
    law_variation: float
    changed_raw: int
    changed: int
    raw: tuple[tuple[str, ...], tuple[str, ...]]
    canonical: tuple[tuple[str, ...], tuple[str, ...]]
    numbers: tuple[float, ...]

    @property
    def auditable(self) -> bool:
        """Everything an audit needs is there, and the baseline stands still."""
        return self.stable and not self.missing


def cell_of(
    item: int,
    change: Change,
    both: tuple[Answers, Answers],
    record: dict[str, Json],
    counts: Counts,
    *,
    last: str,
    stable: bool,
) -> Cell:
    """A cell from what stood before and after a change.

    Parameters
    ----------
    item : int
    change : Change
    both : (Answers, Answers)
        Of the baseline, and under the change.
    record : dict
        Provenance.
    counts : Counts
    last : str
        Site behind the last block.
    stable : bool
        The baseline came out the same twice.
    """
    base, after = both
    raw_equal = base.logits.tobytes() == after.logits.tobytes()
    one, two = base.observed, after.observed
    numbers: tuple[float, ...] = ()
    flat, same_greedy, off, variation = False, False, None, 0.0
    gone = list(missing(record, k=counts.k))
    if one is None or two is None:
        gone.append("observer")
    else:
        same_greedy = int(one.greedy) == int(two.greedy)
        flat = one.numbers.tobytes() == two.numbers.tobytes() and same_greedy
        off = float(np.abs(one.numbers - two.numbers).max())
        variation = law_variation(base.logits, after.logits)
        numbers = (*two.numbers.tolist(), float(two.greedy))
    walk = change.walk
    tokens = record["tokens"]
    return Cell(
        item=item,
        built=change.built,
        found=class_of(
            change,
            n_prompt=len(tokens) if isinstance(tokens, list) else 0,
            last=last,
            raw_equal=raw_equal,
            flat=flat,
            still=counts.still,
        ),
        strength=change.strength,
        record=record,
        missing=tuple(dict.fromkeys(gone)),
        stable=stable,
        raw_equal=raw_equal,
        flat=flat,
        same_greedy=same_greedy,
        off=off,
        exact_off=None if walk is None else walk.off,
        law_variation=variation if walk is None else walk.variation,
        changed_raw=_changed([r.text for r in base.shared], [r.text for r in after.shared]),
        changed=_changed(_keys(base.shared), _keys(after.shared)),
        raw=(_texts(base.independent), _texts(after.independent)),
        canonical=(_keys(base.independent), _keys(after.independent)),
        numbers=numbers,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """Independent draws of every cell against its baseline.

    Parameters
    ----------
    raw_movement, movement : (n,) int8
        Of raw texts, of canonical answers; ``NOT_COMPARED`` for incomplete cells.
    variation : (n,) float64
        Recorded, of canonical answers.
    p, p_holm : (n,) float64
        Exact permutation p by total variation; Holm over auditable cells; nan for the others.
    """

    raw_movement: NDArray[np.int8]
    movement: NDArray[np.int8]
    variation: Floats
    p: Floats
    p_holm: Floats


def tests_of(cells: Sequence[Cell], *, seed: int) -> Tests:
    """Clouds of independent draws against those of the baseline, cell by cell.

    Parameters
    ----------
    cells : sequence of Cell
    seed : int
        Used only where splits are too many to count.
    """
    whole = np.array([c.auditable for c in cells], np.bool_)
    moved = []
    for draws in ([c.raw for c in cells], [c.canonical for c in cells]):
        pairs = pair_clouds(
            clouds_of([d[0] for d in draws], draws), clouds_of([d[1] for d in draws], draws)
        )
        moved.append(np.where(whole, movements(pairs), NOT_COMPARED).astype(np.int8))
    canonical = pairs
    variation = np.where(whole, recorded_variation(canonical), np.nan)
    p = np.where(whole, permutation_p(canonical, rng=np.random.default_rng(seed)).tv, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    adjusted = np.full(len(cells), np.nan)
    adjusted[tested] = [float(a) for a in holm(p[tested].tolist())]
    return Tests(moved[0], moved[1], variation, p, adjusted)


def contrasts_of(cells: Sequence[Cell], tests: Tests, counts: Counts) -> dict[str, Record]:
    """Existence, our own machinery, prevalence over random changes, clouds and spelling."""
    whole = [c for c in cells if c.auditable]
    built = [c for c in whole if c.found in {"permuted", "kernel"}]
    moved = [c for c in built if c.law_variation >= counts.moves]
    most = max((c.law_variation for c in moved), default=None)
    nothing = [c for c in whole if c.found in {"inert", "unreached"}]
    wrong = [c for c in nothing if _impossible(c)]
    draws = sum(counts.k for c in nothing if c.found == "inert")
    random = [c for c in whole if c.found == "random"]
    share = Share.among(
        np.array([c.flat for c in random], np.bool_), np.ones(len(random), np.bool_), level=0.95
    )
    flat = np.array([c.auditable and c.flat for c in cells], np.bool_)
    shown = flat & (tests.p_holm <= ALPHA)
    raw = flat & (tests.raw_movement > STILL)
    spelled = raw & (tests.movement == STILL)
    least = float(attainable_floor(counts.k, counts.k))
    return {
        "existence": {
            "n": len(built),
            "n_moved": len(moved),
            "n_permuted": sum(c.found == "permuted" for c in moved),
            "n_kernel": sum(c.found == "kernel" for c in moved),
            "estimate": most,
            "error_floor": None if most is None else error_floor(most),
            "kind": "total variation of next-token laws; exact, no interval",
        },
        "machinery": {
            "n": len(nothing),
            "n_moved": len(wrong),
            "n_draws": draws,
            "estimate": len(wrong) / len(nothing) if nothing else None,
            "n_rerun": len({c.item for c in cells}),
            "n_rerun_agrees": len({c.item for c in cells if c.stable}),
        },
        "prevalence": {
            "n": share.of,
            "n_flat": share.count,
            "n_greedy_changed": sum(not c.same_greedy for c in random),
            "estimate": share.count / share.of if share.of else None,
            "low": share.low,
            "high": share.high,
            "kind": "Clopper-Pearson 95% over random cells",
        },
        "clouds": {
            "n": int(flat.sum()),
            "n_shown": int(shown.sum()),
            "estimate": most_of(tests.variation[flat]),
            "least_p": least,
            "can_resolve": int(least * max(1, int((~np.isnan(tests.p)).sum())) <= ALPHA),
            "kind": "largest recorded total variation; exact permutation, Holm over cells",
        },
        "spelling": {
            "n": int(raw.sum()),
            "n_spelling": int(spelled.sum()),
            "estimate": float(spelled.sum() / raw.sum()) if raw.any() else None,
        },
    }


def _impossible(cell: Cell) -> bool:
    """What a cell of a class that nothing reads cannot show."""
    if cell.found == "inert":
        return cell.changed_raw > 0
    return not cell.raw_equal


def largest_pair(cells: Sequence[Cell]) -> float | None:
    """The largest recorded total variation of any two clouds of one fibre, baseline among them.

    None without a cell.
    """
    if not cells:
        return None
    clouds = [cells[0].canonical[0], *(c.canonical[1] for c in cells)]
    pairs = [(a, b) for i, a in enumerate(clouds) for b in clouds[i + 1 :]]
    both = pair_clouds(
        clouds_of([a for a, _ in pairs], pairs), clouds_of([b for _, b in pairs], pairs)
    )
    return float(np.nanmax(recorded_variation(both)))


def clouds_of(
    draws: Sequence[tuple[str, ...]], every: Sequence[Sequence[tuple[str, ...]]]
) -> Clouds:
    """Draws of several items as clouds, in codes that all of them share."""
    words = sorted({word for row in every for part in row for word in part})
    codes = {word: i for i, word in enumerate(words)}
    item = [i for i, row in enumerate(draws) for _ in row]
    flat = [word for row in draws for word in row]
    return Clouds.of(
        item,
        [codes[word] for word in flat],
        [NONE if word.startswith("-") else OPEN for word in flat],
        n_items=len(draws),
    )


def _texts(results: Sequence[Any]) -> tuple[str, ...]:
    """Raw texts; a failed draw leaves its place empty, and its cell incomplete."""
    return tuple(f"+{r.text}" for r in results)


def _keys(results: Sequence[Any]) -> tuple[str, ...]:
    """Canonical answers behind a plus, outcomes without one behind a minus."""
    pairs = (keyed(r) for r in results)
    return tuple(f"-{outcome}" if key is None else f"+{key}" for outcome, key in pairs)


def _changed(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def most_of(values: Any) -> float | None:
    """The largest number that is there; None where none is."""
    known = [float(v) for v in values if not np.isnan(v)]
    return max(known, default=None)
