"""What one arm's clouds say: spectrum, votes, entropies, as slice means with their items."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json, plain
from trueness.sensors.atlas.arms import Arm, failures
from trueness.sensors.atlas.params import Params
from trueness.stats.clouds import GOLD, NONE, PARTS, Clouds
from trueness.stats.majority import majority, pass_at
from trueness.stats.spectrum import (
    SliceMean,
    h2_from_u2,
    h2_plugin,
    slice_mean,
    spectrum,
)

COLLISION = 2
"""The order that an entropy of collisions is made of."""
MOST_VOTES = 16
"""Votes are drawn up to so many draws."""
VOTED_ITEMS = 20_000
"""Beyond so many items votes are counted on the first of them, and the text says so."""


@dataclass(frozen=True, eq=False)
class Figures:
    """One arm over the items of a stratum.

    Parameters
    ----------
    arm : Arm
    params : Params
    """

    arm: Arm
    params: Params

    @property
    def clouds(self) -> Clouds:
        """The arm's."""
        return self.arm.clouds

    @cached_property
    def parts(self) -> dict[str, NDArray[np.float64]]:
        """(n_items, n_orders) for each part; nan where not measured."""
        return spectrum(self.clouds, self.params.orders)

    @cached_property
    def means(self) -> dict[str, SliceMean]:
        """The slice mean of each part, with its number of items."""
        return {part: slice_mean(values) for part, values in self.parts.items()}

    def mean(self, order: int, part: str) -> float | None:
        """The slice mean of one part at one order; None when no item is measured."""
        return number(self.means[part].value[self.params.orders.index(order)])

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """(n_items, 5 n_orders): order by order the five parts."""
        return as_matrix(self.parts)

    @property
    def draws(self) -> tuple[int, int]:
        """Fewest and most draws of an item that has any; (0, 0) where none has."""
        k = self.clouds.draws
        k = k[k > 0]
        return (int(k.min()), int(k.max())) if len(k) else (0, 0)

    def shares(self) -> NDArray[np.float64]:
        """(n_items, 3): share of draws that are gold, wrong, no answer; nan without draws."""
        k = self.clouds.draws.astype(np.float64)
        gold = self.clouds.drawn(GOLD).astype(np.float64)
        none = self.clouds.drawn(NONE).astype(np.float64)
        out = np.stack([gold, k - gold - none, none], axis=1)
        out[~self.clouds.gold_known, :2] = np.nan
        found: NDArray[np.float64] = np.divide(
            out, k[:, None], out=np.full_like(out, np.nan), where=k[:, None] > 0
        )
        return found

    @cached_property
    def votes(self) -> dict[str, tuple[float | None, ...]]:
        """Slice means of ``majority`` and ``pass_at`` for 1 to n votes."""
        most = min(self.draws[0], MOST_VOTES)
        if most < 1:
            return {}
        sizes = range(1, most + 1)
        few = self.clouds
        if few.n_items > VOTED_ITEMS:
            few = few.take(np.arange(VOTED_ITEMS))
        won = majority(few, sizes, policy=self.params.votes)
        won["pass"] = pass_at(few, sizes)
        return {name: tuple(map(number, slice_mean(v).value)) for name, v in won.items()}

    @cached_property
    def entropies(self) -> dict[str, NDArray[np.float64]]:
        """Collision entropy of every item, plug-in and by way of U_2; nan where there is none."""
        u2 = spectrum(self.clouds, (COLLISION,))["total"][:, 0]
        return {"h2_plugin": h2_plugin(self.clouds), "h2_from_u2": h2_from_u2(u2)}

    def _entropy(self) -> float | None:
        """Of the mean collision; None where order 2 is not measured or no two draws agreed."""
        if COLLISION not in self.params.orders:
            return None
        u2 = self.means["total"].value[self.params.orders.index(COLLISION)]
        return number(h2_from_u2(np.array([u2]))[0])

    def details(self) -> dict[str, Json]:
        """Named figures of the arm alone."""
        low, high = self.draws
        plugin = slice_mean(self.entropies["h2_plugin"][:, None]).value[0]
        return {
            "condition": self.arm.condition,
            "n_draws": int(self.clouds.draws.sum()),
            "draws_per_item": [low, high],
            "h2_plugin": number(plugin),
            "h2_of_mean_u2": self._entropy(),
            "none_reasons": plain(self.arm.reasons),
            "missing_reasons": plain(failures(self.arm.table)),
            "n_missing": int(self.arm.missing.sum()),
            "n_incomplete": int((self.arm.missing > 0).sum()),
        }


def as_matrix(parts: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """(n_items, 5 n_orders) of five (n_items, n_orders) arrays."""
    stacked = np.stack([parts[p] for p in PARTS], axis=2)
    return stacked.reshape(len(stacked), -1)


def number(value: float) -> float | None:
    """A float for JSON; None for nan."""
    return float(value) if np.isfinite(value) else None
