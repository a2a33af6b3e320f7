"""Greedy answers before and after: which items got better, which worse."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.blocks import Fact, Facts
from trueness.contract.serial import Json
from trueness.sensors.atlas.arms import Atlas
from trueness.stats.clouds import GOLD, NONE
from trueness.stats.mcnemar import McNemar, mcnemar


@dataclass(frozen=True, slots=True)
class Greedy:
    """Correctness of greedy answers on the items that have one in both arms and a right answer."""

    test: McNemar
    n: int
    right: tuple[int, int]
    none: tuple[int, int]
    dropped: int

    def details(self) -> dict[str, Json]:
        """Named figures."""
        return {
            "b": self.test.regressed,
            "c": self.test.improved,
            "p_exact": float(self.test.p_exact),
            "p_mid": float(self.test.p_mid),
            "n": self.n,
            "right": list(self.right),
            "none": list(self.none),
            "dropped": self.dropped,
        }

    @property
    def sentence(self) -> str:
        """What moved, in one sentence."""
        b, c = self.test.regressed, self.test.improved
        p = float(self.test.p_exact)
        return (
            f"Of {self.n:,} greedy answers {b:,} regressed, {c:,} improved (McNemar p = {p:.3g})."
        )

    def facts(self) -> Facts:
        """For the page."""
        one, two = self.right
        return Facts(
            "Greedy answers",
            (
                Fact("right", f"{one} → {two}", f"of {self.n} items"),
                Fact("no answer", f"{self.none[0]} → {self.none[1]}", f"of {self.n} items"),
                Fact("regressed", str(self.test.regressed), "right before, not after"),
                Fact("improved", str(self.test.improved), "right after, not before"),
                Fact("p", f"{float(self.test.p_exact):.3g}", "McNemar, exact, two-sided"),
                Fact("mid-p", f"{float(self.test.p_mid):.3g}", "McNemar; its level is nominal"),
                Fact("dropped", str(self.dropped), "no greedy answer or no known right one"),
            ),
        )


def greedy_of(found: Atlas) -> Greedy | None:
    """The greedy comparison; None where an arm has no greedy answers."""
    before, after = (arm.greedy for arm in found.arms)
    if before is None or after is None:
        return None
    usable = (before >= 0) & (after >= 0) & found.rights.known
    if not usable.any():
        return None
    one, two = before[usable] == GOLD, after[usable] == GOLD
    return Greedy(
        mcnemar(int((one & ~two).sum()), int((two & ~one).sum())),
        n=int(usable.sum()),
        right=(int(one.sum()), int(two.sum())),
        none=(_none(before[usable]), _none(after[usable])),
        dropped=int((~usable).sum()),
    )


def _none(role: NDArray[np.int8]) -> int:
    return int((role == NONE).sum())
