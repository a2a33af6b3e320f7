"""Two clouds of every item: how far apart they lie, and what chance alone would show."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.blocks import Fact, Facts
from trueness.contract.serial import Json
from trueness.sensors.atlas import words
from trueness.sensors.atlas.figures import Figures, number
from trueness.sensors.atlas.params import Params
from trueness.stats.cloud_pairs import (
    MOVEMENTS,
    NOT_COMPARED,
    modes_disjoint,
    morisita,
    movements,
    pair_clouds,
    slice_morisita,
    squared_distance,
    total_variation,
    tv_null_mean,
)
from trueness.stats.multiplicity import benjamini_hochberg
from trueness.stats.permutation import (
    Omnibus,
    PermutationP,
    attainable_floor,
    omnibus,
    permutation_p,
)
from trueness.stats.spectrum import slice_mean

TESTED_ITEMS = 20_000
"""Beyond so many items no p of single items is worked out, and the text says so."""
FLOOR_NOTE = "With so few draws an item's p cannot fall below its floor, whatever its draws say."

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Distances of the two clouds of each item, with their null and their tests.

    Arrays are (n_items,); nan where a cloud has too few draws.
    """

    tv: Floats
    tv_null: Floats
    l2: Floats
    morisita: Floats
    overlap: float | None
    disjoint: Floats
    disjoint_answered: Floats
    movement: NDArray[np.int8]
    p: PermutationP | None
    adjusted: Floats | None
    floor: Floats
    test: Omnibus
    level: float

    @property
    def omnibus_p(self) -> float | None:
        """P-value of "no item's law changed"."""
        return number(self.test.p)

    def of_item(self, item: int) -> dict[str, Json]:
        """Figures of one item."""
        found: dict[str, Json] = {
            "tv": number(self.tv[item]),
            "tv_null_mean": number(self.tv_null[item]),
            "l2": number(self.l2[item]),
            "morisita": number(self.morisita[item]),
            "modes_disjoint": _flag(self.disjoint[item]),
            "modes_disjoint_answered": _flag(self.disjoint_answered[item]),
            "movement": self.moved(item),
            "p_floor": number(self.floor[item]),
        }
        if self.p is not None:
            found |= {"p_tv": number(self.p.tv[item]), "p_l2": number(self.p.l2[item])}
        return found

    def moved(self, item: int) -> str | None:
        """The movement class of one item; None where a cloud is empty."""
        code = int(self.movement[item])
        return None if code == NOT_COMPARED else MOVEMENTS[code]

    @property
    def n_moved(self) -> int | None:
        """Items whose clouds differ beyond chance, false discovery rate controlled."""
        if self.adjusted is None:
            return None
        return int((self.adjusted <= 1 - self.level).sum())

    def details(self) -> dict[str, Json]:
        """Named figures of the slice."""
        return {
            "tv": {
                "mean": _mean(self.tv),
                "null_mean": _mean(self.tv_null),
                "excess": _mean(self.tv - self.tv_null),
                "permutation_p": self.omnibus_p,
                "n": int(np.isfinite(self.tv).sum()),
            },
            "l2": {"mean": _mean(self.l2), "permutation_p": self.omnibus_p, "n": self.test.n_items},
            "morisita": self.overlap,
            "modes_disjoint": _count(self.disjoint),
            "modes_disjoint_answered": _count(self.disjoint_answered),
            "movement": {
                name: int((self.movement == code).sum()) for code, name in enumerate(MOVEMENTS)
            },
            "items_moved": {
                "n": self.n_moved,
                "false_discovery_rate": 1 - self.level,
                "p_floor": _least(self.floor),
                "note": FLOOR_NOTE,
            },
        }

    def facts(self) -> Facts:
        """For the page."""
        tv, null = _mean(self.tv), _mean(self.tv_null)
        disjoint = _count(self.disjoint)
        n = int(np.isfinite(self.tv).sum())
        kinds = [f"{int((self.movement == c).sum())} {m}" for c, m in enumerate(MOVEMENTS)]
        facts = [
            Fact(
                "total variation",
                words.bare(tv),
                f"mean of {n} items; by chance alone {words.bare(null)}",
            ),
            Fact("squared distance", words.signed(_mean(self.l2)), "unbiased; 0 by chance alone"),
            Fact("overlap (Morisita)", words.bare(self.overlap), "1 the same law, 0 disjoint"),
            Fact("modes disjoint", f"{disjoint['n']} of {disjoint['of']}", "ties count as shared"),
            Fact("movement", ", ".join(kinds), "of recorded clouds"),
            Fact("no item's law changed", f"p = {_p(self.omnibus_p)}", "re-splits of all items"),
        ]
        if self.n_moved is not None:
            least = _least(self.floor)
            said = f"items moved, false discovery rate {1 - self.level:.2f}"
            facts.append(
                Fact(said, str(self.n_moved), f"smallest possible p {_p(least)}. {FLOOR_NOTE}")
            )
        return Facts("How far the clouds moved", tuple(facts))


def pairs_of(before: Figures, after: Figures, params: Params, rng: np.random.Generator) -> Pairs:
    """The distances of all items, in one look at their cells."""
    pairs = pair_clouds(before.clouds, after.clouds)
    k, other = before.clouds.draws, after.clouds.draws
    tested = None
    if pairs.n_items <= TESTED_ITEMS:
        tested = permutation_p(pairs, rng=rng, resplits=params.replicates)
    return Pairs(
        tv=total_variation(pairs),
        tv_null=tv_null_mean(pairs),
        l2=squared_distance(pairs),
        morisita=morisita(pairs),
        overlap=number(slice_morisita(pairs).value),
        disjoint=modes_disjoint(pairs),
        disjoint_answered=modes_disjoint(pairs, answered_only=True),
        movement=movements(pairs),
        p=tested,
        adjusted=None if tested is None else _adjusted(tested.tv),
        floor=_floors(k, other),
        test=omnibus(pairs, rng=rng, resplits=params.replicates),
        level=params.level,
    )


def _adjusted(p: Floats) -> Floats:
    measured = np.flatnonzero(np.isfinite(p))
    found = np.full(len(p), np.nan)
    found[measured] = [float(x) for x in benjamini_hochberg(p[measured].tolist())]
    return found


def _floors(k: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
    sizes, where = np.unique(np.stack([k, other], axis=1), axis=0, return_inverse=True)
    least = [
        float(attainable_floor(a, b)) if min(a, b) > 0 else float("nan") for a, b in sizes.tolist()
    ]
    return np.array(least, dtype=np.float64)[where.reshape(-1)]


def _mean(values: Floats) -> float | None:
    return number(slice_mean(values[:, None]).value[0])


def _least(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.min()) if len(known) else None


def _flag(value: float) -> bool | None:
    return None if np.isnan(value) else bool(value)


def _count(values: Floats) -> dict[str, Json]:
    known = np.isfinite(values)
    return {"n": int(values[known].sum()), "of": int(known.sum())}


def _p(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3g}"
