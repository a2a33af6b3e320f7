"""The grid of thresholds that is fixed before it is tested: numbers, or an unlabelled split."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from trueness.contract import Direction, Reading
from trueness.contract.errors import DependentItems, InputError
from trueness.decide.grids import check_grid, quantile_grid
from trueness.decide.promise import Promise
from trueness.stats.acceptance import needed

_SPARE = 1.5
"""The strictest threshold is to accept so many times as many items as could show anything."""

Grid = str | Path | Sequence[float]


def grid_of(
    grid: Grid | None, reading: Reading, promise: Promise, measured: Callable[[Path], Reading]
) -> list[float] | None:
    """Thresholds in the value's units, from strict to lax or not.

    Parameters
    ----------
    grid : sequence of float, text with commas, or path
        A path names an unlabelled table whose items and sources are none of the reading's: the
        thresholds are quantiles of its values. They begin where enough items are accepted to show
        anything, by the number of items alone.
    reading : Reading
        That the grid will be tested on.
    promise : Promise
    measured : callable
        From a path to its reading.

    Raises
    ------
    InputError
        When the grid can be read neither way, or nothing tests it.
    DependentItems
        When the split shares an item or a source with the reading.
    """
    check_grid(grid, promise)
    if grid is None:
        return None
    if not isinstance(grid, (str, Path)):
        return _listed(grid)
    numbers = _numbers(str(grid))
    if numbers is not None:
        return numbers
    if not Path(grid).is_file():
        msg = (
            f"the grid {str(grid)!r} is neither numbers with commas nor a file. Give one of these."
        )
        raise InputError(msg)
    split = measured(Path(grid))
    _check_apart(reading, split)
    sign = -1.0 if reading.direction is Direction.HIGHER_IS_BETTER else 1.0
    risks = np.sort([sign * i.value for i in split.per_item if i.value is not None])
    share = _SPARE * needed(promise.budget, promise.delta) / max(1, reading.n_measured)
    begin = min(math.ceil(share * len(risks)), max(0, len(risks) - 1))
    return [sign * t for t in quantile_grid(risks[begin:])]


def _listed(grid: Sequence[float]) -> list[float]:
    try:
        return list(grid)
    except TypeError:
        msg = f"the grid is a {type(grid).__name__}; give a list of thresholds, or a path."
        raise InputError(msg) from None


def _numbers(text: str) -> list[float] | None:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return None


def _check_apart(reading: Reading, split: Reading) -> None:
    for what in ("item", "group"):
        one, two = (_names(r, what) for r in (reading, split))
        common = sorted(one & two)
        if common:
            msg = (
                f"{len(common)} of the {what}s that choose the grid test it too, such as "
                f"{common[0]!r}; the same claims may not do both. Hand in other claims."
            )
            raise DependentItems(msg)


def _names(reading: Reading, what: str) -> set[str]:
    if what == "item":
        return {i.item for i in reading.per_item}
    return {str(i.extra["group"]) for i in reading.per_item if i.extra.get("group") is not None}
