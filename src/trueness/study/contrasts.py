"""Several declared contrasts at once: each p corrected for their number."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from trueness.contract import Reading
from trueness.contract.blocks import Notes
from trueness.stats.multiplicity import holm

if TYPE_CHECKING:
    from trueness.contract.serial import Json

P_CONTRAST = "p_contrast"
"""Detail in which a sensor says the p of "nothing moved" of its whole comparison."""
P_HOLM = "p_holm"


def corrected(readings: Mapping[str, Reading], *, alpha: float = 0.05) -> dict[str, Reading]:
    """The readings with Holm's p over all of them, and a sentence where a contrast falls.

    Parameters
    ----------
    readings : mapping of name to Reading
        Each with ``details["p_contrast"]``; those without one count as not tested.
    alpha : float
        Of all contrasts together.
    """
    p = {name: r.details.get(P_CONTRAST) for name, r in readings.items()}
    tested = {name: float(v) for name, v in p.items() if isinstance(v, (int, float))}
    adjusted = dict(zip(tested, map(float, holm(list(tested.values()))), strict=True))
    return {
        name: _with(reading, adjusted.get(name), n=len(tested), alpha=alpha)
        for name, reading in readings.items()
    }


def _with(reading: Reading, p: float | None, *, n: int, alpha: float) -> Reading:
    details: dict[str, Json] = {**reading.details, P_HOLM: p, "n_contrasts": n}
    if p is None or n < 2:  # noqa: PLR2004 - one contrast needs no correction
        return replace(reading, details=details)
    held = "survives" if p <= alpha else "does not survive: read its verdict as unresolved"
    line = f"One of {n} contrasts: p = {p:.3g} after Holm's correction; at {alpha:g} it {held}."
    block = Notes("Several contrasts", (line,))
    return replace(reading, details=details, blocks=(*reading.blocks, block))
