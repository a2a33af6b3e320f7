"""Evidence item by item, valid whenever one stops."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trueness.contract.blocks import Fact, Facts
from trueness.contract.serial import Json
from trueness.sensors.atlas import words
from trueness.sensors.atlas.figures import Figures
from trueness.stats.betting import Betting, bet

if TYPE_CHECKING:
    from numpy.typing import NDArray

WATCHED = ("total", "gold", "wrong", "none")
_NAMES = {"total": "agreement", "gold": "gold", "wrong": "wrong", "none": "no answer"}
ORDER_NOTE = (
    "Valid under optional stopping only if the items come in a random order that was drawn before "
    "looking. Each part is watched at its own level."
)


@dataclass(frozen=True, slots=True)
class Watched:
    """One part at the primary order, watched item by item."""

    n: int
    found: Betting

    def details(self) -> dict[str, Json]:
        """Named figures."""
        return {
            "n": self.n,
            "low": self.found.low,
            "high": self.found.high,
            "e_value": float(self.found.e_values[-1]),
            "stopped_after": self.found.stopped_after,
            "equivalent_after": self.found.equivalent_after,
        }


def watch(before: Figures, after: Figures, rng: np.random.Generator) -> dict[str, Watched] | None:
    """Every part as a sequence of items; None unless it was asked for."""
    params = before.params
    if params.sequential is None:
        return None
    n = before.clouds.n_items
    order = rng.permutation(n) if params.sequential == "shuffled" else np.arange(n)
    at = params.orders.index(params.primary)
    out = {}
    for part in WATCHED:
        delta: NDArray[np.float64] = (after.parts[part][:, at] - before.parts[part][:, at])[order]
        delta = delta[np.isfinite(delta)]
        if len(delta):
            found = bet(delta, margin=params.delta, alpha=params.alpha)
            out[part] = Watched(len(delta), found)
    return out


def facts(watched: dict[str, Watched]) -> Facts:
    """For the page."""
    return Facts(
        "Watched item by item",
        tuple(
            Fact(_NAMES[part], words.interval((w.found.low, w.found.high)), _when(w))
            for part, w in watched.items()
        ),
    )


def _when(watched: Watched) -> str:
    found = watched.found
    said = [f"anytime interval after {watched.n} items"]
    if found.stopped_after is not None:
        said.append(f"moved: decided after {found.stopped_after}")
    if found.equivalent_after is not None:
        said.append(f"within the margin: decided after {found.equivalent_after}")
    return "; ".join(said)
