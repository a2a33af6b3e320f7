"""What missing draws could have changed, counted each way."""

from dataclasses import dataclass

import numpy as np

from trueness.contract.blocks import Dot, IntervalDots
from trueness.contract.serial import Json
from trueness.sensors.atlas import words
from trueness.sensors.atlas.figures import Figures, number
from trueness.stats.clouds import PARTS
from trueness.stats.missing_draws import Bounds, change_bounds, missing_bounds
from trueness.stats.spectrum import slice_mean

_NAMES = {
    "total": "total",
    "gold": "gold",
    "wrong": "wrong",
    "none": "no answer",
    "semantic": "answered",
}


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Bounds of the slice means, or of their change, whatever the missing draws were."""

    bounds: Bounds
    orders: tuple[int, ...]
    n_missing: int
    change: bool

    def of(self, order: int, part: str) -> tuple[float | None, float | None]:
        """Lowest and highest possible mean of one part at one order."""
        at = self.orders.index(order)
        ends = (side[part][:, at] for side in (self.bounds.low, self.bounds.high))
        low, high = (number(slice_mean(v[:, None]).value[0]) for v in ends)
        return low, high

    def details(self) -> dict[str, Json]:
        """Named figures."""
        bounds: dict[str, Json] = {
            str(r): {part: list(self.of(r, part)) for part in PARTS} for r in self.orders
        }
        return {"n_missing": self.n_missing, "of_change": self.change, "bounds": bounds}

    def block(self) -> IntervalDots:
        """The bounds of the primary order, drawn."""
        order = self.orders[0]
        dots = []
        for part in PARTS:
            low, high = self.of(order, part)
            if low is not None and high is not None:
                said = f"{words.bare(low)} to {words.bare(high)}"
                dots.append(Dot(_NAMES[part], None, low, high, display=said))
        what = "change" if self.change else "agreement"
        lost = words.counted(self.n_missing, "draw")
        return IntervalDots(
            f"Where the {what} would lie with all planned draws (order {order})",
            tuple(dots),
            band="every value that the missing draws could have led to",
            note=f"{lost} missing; these bounds are certain, no intervals.",
        )


def gaps_of(*figures: Figures) -> Gaps | None:
    """The bounds of one arm, or of the change between two; None where nothing is missing."""
    missing = int(sum(np.maximum(f.arm.missing, 0).sum() for f in figures))
    if not missing:
        return None
    orders = figures[0].params.orders
    found = [missing_bounds(f.clouds, f.arm.missing, orders) for f in figures]
    change = len(found) > 1
    return Gaps(change_bounds(*found) if change else found[0], orders, missing, change)
