"""Of each class, how many items lie below every threshold: the curve of a calibration."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.decide.columns import Columns
from trueness.decide.promise import Population
from trueness.stats.order_thresholds import next_above

POINTS = 200
"""Thresholds of a curve, at the most."""
MOST = 100_000
"""Items that are counted, at the most: more have no curve."""


def curve_of(
    columns: Columns, unsupported: NDArray[np.int8], population: Population, tau: float
) -> dict[str, Json]:
    """Counts of supported and unsupported items with a risk strictly below each threshold.

    Items are counted, whatever the unit of the promise. They are those that the threshold was
    made from: what happens on others is in the evaluation.

    Parameters
    ----------
    columns : Columns
    unsupported : (n,) int8
        1 unsupported, 0 supported, -1 without a label.
    population : Population
        ``all`` counts items that were not measured among those that no threshold accepts.
    tau : float
        Always one of the thresholds.

    Returns
    -------
    dict
        ``risks`` ascending, ``supported`` and ``unsupported`` counts below each, and
        ``n_supported`` and ``n_unsupported``; empty without a measured label, or with more than
        `MOST` items.
    """
    labelled = (unsupported >= 0) & columns.measured
    if not labelled.any() or len(columns) > MOST:
        return {}
    at = _thresholds(columns.risk[labelled], tau)
    counted = unsupported >= 0 if population is Population.ALL else labelled
    found: dict[str, Json] = {"risks": at.tolist()}
    for name, code in (("supported", 0), ("unsupported", 1)):
        risks = np.sort(columns.risk[labelled & (unsupported == code)])
        found[name] = np.searchsorted(risks, at, side="left").tolist()
        found[f"n_{name}"] = int((counted & (unsupported == code)).sum())
    return found


def doubt_of(curve: Mapping[str, Json], tau: float) -> tuple[str, ...]:
    """Say so when a threshold accepts no more of the supported than of the unsupported.

    Examples
    --------
    >>> upside_down = {"risks": [0.5], "supported": [0], "n_supported": 9}
    >>> doubt_of({**upside_down, "unsupported": [3], "n_unsupported": 9}, 0.5)[0][:40]
    'the threshold accepts no more of the sup'
    """
    risks = curve.get("risks")
    if not isinstance(risks, list) or tau not in risks:
        return ()
    place = risks.index(tau)
    shares = [_share(curve, who, place) for who in ("supported", "unsupported")]
    if None in shares or (shares[0] or 0.0) > (shares[1] or 0.0):
        return ()
    note = (
        "the threshold accepts no more of the supported than of the unsupported: the labels may be "
        "the wrong way round, or the value does not tell the two apart"
    )
    return (note,)


def _share(curve: Mapping[str, Json], who: str, place: int) -> float | None:
    counts, n = curve[who], curve[f"n_{who}"]
    if not isinstance(counts, list) or not isinstance(n, int) or not n:
        return None
    count = counts[place]
    return count / n if isinstance(count, int) else None


def _thresholds(risks: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    """Some of the risks by their rank, tau, and one above them all."""
    distinct = np.unique(risks)
    places = np.linspace(0, len(distinct) - 1, min(POINTS, len(distinct))).round().astype(np.intp)
    top = next_above(float(distinct[-1]))
    found: NDArray[np.float64] = np.unique(np.concatenate([distinct[places], [tau, top]]))
    return found
