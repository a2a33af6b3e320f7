"""Rates of simulated runs against the level that was promised."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trueness.contract.serial import Json
from trueness.stats.rates import rate

WITHIN, BEYOND, OPEN = "within", "beyond", "open"
"""The level is kept as far as can be seen; it is broken; too few runs to say."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What is promised about a rate.

    Parameters
    ----------
    name : str
    contrast : str
        The declared contrast that it belongs to.
    level : float
    error : bool
        True: the rate is at most the level. False, a coverage: at least.
    """

    name: str
    contrast: str
    level: float
    error: bool = True


@dataclass(frozen=True, slots=True)
class Judge:
    """How a rate is judged.

    Parameters
    ----------
    judged_at : float
        Level of the exact interval that must lie beyond the promised level.
    slack : float
        A rate that may still lie farther than this beyond its level is open.
    """

    judged_at: float
    slack: float

    def record(self, claim: Claim, count: int, of: int) -> dict[str, Json]:
        """Count, denominator, share, exact 95 % interval, level and finding."""
        seen, judged = rate(count, of), rate(count, of, level=self.judged_at)
        if claim.error:
            beyond, far = judged.low > claim.level, judged.high > claim.level + self.slack
        else:
            beyond, far = judged.high < claim.level, judged.low < claim.level - self.slack
        finding = BEYOND if beyond else OPEN if far else WITHIN
        return {
            "contrast": claim.contrast,
            "is": "error" if claim.error else "coverage",
            "level": claim.level,
            "count": count,
            "of": of,
            "share": seen.share,
            "low": seen.low,
            "high": seen.high,
            "kind": "Clopper-Pearson 95%",
            "finding": finding,
        }


class Tally:
    """How often what a claim speaks of happened, and out of how often."""

    def __init__(self) -> None:
        self._counts: dict[Claim, list[int]] = {}

    def add(self, claim: Claim, happened: int, of: int = 1) -> None:
        """So many more times, out of so many more."""
        found = self._counts.setdefault(claim, [0, 0])
        found[0] += int(happened)
        found[1] += of

    def records(self, judge: Judge) -> dict[str, Json]:
        """The judged rates by name."""
        return {c.name: judge.record(c, *counts) for c, counts in self._counts.items()}


def contrast_record(
    name: str, readings: Iterable[tuple[str, Mapping[str, Json]]]
) -> dict[str, Json]:
    """How many rates of a contrast lie beyond their level, and which.

    Parameters
    ----------
    name : str
    readings : iterable of (str, mapping)
        Where each stands, and its record.
    """
    mine = [(where, r) for where, r in readings if r["contrast"] == name]
    beyond = [where for where, r in mine if r["finding"] == BEYOND]
    return {
        "n": len(mine),
        "beyond": len(beyond),
        "open": sum(r["finding"] == OPEN for _, r in mine),
        "where": list[Json](beyond),
    }
