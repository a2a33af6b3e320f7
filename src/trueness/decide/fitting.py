"""A calibration made from labelled items: what is independent, and which risks count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import DependentItems, InputError, TooFewCalibrationItems
from trueness.contract.serial import Json
from trueness.decide.calibration import Calibration, Codes, Ints, Side, rho_of
from trueness.decide.columns import Columns
from trueness.decide.grids import Sequenced, check_grid, sequenced
from trueness.decide.promise import Error, Population, Promise, Unit, share_json
from trueness.decide.ranks import threshold_of
from trueness.stats.order_thresholds import least_of_sources, one_of_each_source

_NONE_SUPPORTED = (
    "no item is labelled supported: which share of the supported is accepted is not known"
)


def calibrate_columns(
    columns: Columns,
    unsupported: Codes,
    promise: Promise,
    *,
    groups: Sequence[str] | None = None,
    grid: Sequence[float] | None = None,
    fingerprint: Mapping[str, Json] | None = None,
    versions: Mapping[str, str] | None = None,
) -> Calibration:
    """The threshold that keeps the promise, from labelled items.

    Parameters
    ----------
    columns : Columns
    unsupported : (n,) int8
        1 unsupported, 0 supported, -1 without a label and left out.
    promise : Promise
    groups : (n,) sequence of str, optional
        Source of every item.
    grid : sequence of float, optional
        Thresholds in the value's units, fixed beforehand; needed for ``accepted_error``.
    fingerprint, versions : mapping, optional
        Of the reading.

    Raises
    ------
    TooFewCalibrationItems
        When the promise needs more, with every number.
    DependentItems
        When items share sources and the unit is ``item``, or a source unit has no sources.
    InputError
        When lengths differ, or no threshold of a grid keeps the budget.
    """
    check_grid(grid, promise)
    sources = _sources(columns, unsupported, groups)
    _check_independent(sources, unsupported >= 0, promise)
    draws = np.random.default_rng(promise.seed)
    counts = _counts(columns, unsupported, sources)
    notes = [] if counts["n_supported"] else [_NONE_SUPPORTED]
    threshold, side, tested = None, None, None
    if promise.error is Error.ACCEPTED_ERROR:
        tested = _grid(columns, unsupported, sources, promise, grid=grid, rng=draws)
        tau = tested.rederived(promise)
    else:
        side = _side(columns, unsupported == 1, sources, promise, rng=draws, sign=1)
        threshold = threshold_of(side.risks, side.sources, budget=promise.budget, promise=promise)
        tau = threshold.tau
    rho, reject, supported = None, None, None
    if promise.reject_budget is not None:
        supported = _side(columns, unsupported == 0, sources, promise, rng=draws, sign=-1)
        reject, rho = rho_of(supported, promise.reject_budget, promise)
        notes += _reject_notes(promise, rho, tau)
        rho = max(rho, tau)
    return Calibration(
        promise,
        columns.direction,
        tau,
        threshold,
        side,
        tested,
        rho,
        reject,
        supported,
        counts,
        "assumed" if sources is None else f"unit {promise.unit}, sources given",
        tuple(notes),
        dict(fingerprint or {}),
        dict(versions or {}),
    )


def source_codes(groups: Sequence[str]) -> tuple[Ints, list[str]]:
    """Sources as whole numbers in the order of their names, and the names."""
    names, codes = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
    return codes.astype(np.int64), [str(name) for name in names]


def _sources(
    columns: Columns, unsupported: Codes, groups: Sequence[str] | None
) -> "_Sources | None":
    if len(unsupported) != len(columns) or (groups is not None and len(groups) != len(columns)):
        given = "" if groups is None else f" and {len(groups)} sources"
        msg = f"{len(unsupported)} labels{given} for {len(columns)} items; wanted one an item."
        raise InputError(msg)
    if groups is None:
        return None
    missing = [i for i, g in enumerate(groups) if not g]
    if missing:
        msg = (
            f"{len(missing)} of {len(groups)} items have no source, first "
            f"{columns.items[missing[0]]!r}. Name the source of every item, or pass no sources."
        )
        raise InputError(msg)
    return _Sources(*source_codes(groups))


@dataclass(frozen=True, slots=True)
class _Sources:
    codes: Ints
    names: list[str]


def _side(
    columns: Columns,
    of_class: NDArray[np.bool_],
    sources: _Sources | None,
    promise: Promise,
    *,
    rng: np.random.Generator,
    sign: int,
) -> Side:
    """The risks of one class, in the promise's unit; negated for the mirrored rule."""
    measured = columns.measured
    chosen = of_class & measured if promise.population is Population.MEASURED else of_class
    risks = columns.risk[chosen]
    if sign < 0:
        risks = -risks
    if promise.population is Population.ALL:
        risks = np.where(measured[chosen], risks, np.inf)
    codes = _unit_codes(sources, chosen, promise)
    match promise.unit:
        case Unit.ITEM:
            return Side(np.sort(risks))
        case Unit.SOURCE_ONE:
            return Side(np.sort(risks[one_of_each_source(risks, codes, rng=rng)]))
        case Unit.SOURCE_WORST:
            return Side(np.sort(least_of_sources(risks, codes)))
        case Unit.GROUPED_CONFORMAL:
            order = np.lexsort((codes, risks))
            return Side(risks[order], codes[order])


def _unit_codes(sources: _Sources | None, chosen: NDArray[np.bool_], promise: Promise) -> Ints:
    """Codes from 0 of the sources that occur; refused where a source unit has none."""
    if sources is None:
        if promise.unit is not Unit.ITEM:
            msg = (
                f"unit {promise.unit} needs the source of every item and none was given. Name the "
                "column of sources, or use unit 'item', which assumes independent items."
            )
            raise DependentItems(msg)
        return np.zeros(0, dtype=np.int64)
    dense: Ints = np.unique(sources.codes[chosen], return_inverse=True)[1].astype(np.int64)
    return dense


def _check_independent(
    sources: _Sources | None, labelled: NDArray[np.bool_], promise: Promise
) -> None:
    """Twins count: a supported and an unsupported item of one source depend on one another."""
    if sources is None or promise.unit is not Unit.ITEM:
        return
    sizes = np.bincount(sources.codes[labelled], minlength=len(sources.names))
    if sizes.max(initial=0) > 1:
        worst = int(sizes.argmax())
        msg = (
            f"{int((sizes > 1).sum())} sources have two or more of the {int(labelled.sum())} "
            f"labelled items, most {sources.names[worst]!r} with {int(sizes[worst])}; items of one "
            "source are not independent. Use unit 'source_one' (for twins the same threshold), "
            "'source_worst' or 'grouped_conformal'."
        )
        raise DependentItems(msg)


def _reject_notes(promise: Promise, rho: float, tau: float) -> list[str]:
    notes = []
    if rho < tau:
        notes.append(
            f"the supported items would be rejected from {rho!r}, below tau; nothing below tau is "
            "rejected, which rejects less and accepts the same"
        )
    if not promise.in_expectation:
        both = 1 - 2 * promise.delta
        notes.append(
            f"each of the two promises holds at level {share_json(1 - promise.delta)}, both "
            f"together at {share_json(both)}"
        )
    return notes


def _grid(
    columns: Columns,
    unsupported: Codes,
    sources: _Sources | None,
    promise: Promise,
    *,
    grid: Sequence[float] | None,
    rng: np.random.Generator,
) -> Sequenced:
    labelled = unsupported >= 0
    if promise.population is Population.MEASURED:
        labelled &= columns.measured
    risks = np.where(columns.measured, columns.risk, np.inf)[labelled]
    wrong = (unsupported == 1)[labelled]
    codes = _unit_codes(sources, labelled, promise)
    if promise.unit is Unit.SOURCE_ONE:
        order = np.lexsort((wrong, risks))
        place = np.empty(len(order), dtype=np.float64)
        place[order] = np.arange(len(order))  # by risk, then label: ties are drawn alike
        drawn = one_of_each_source(place, codes, rng=rng)
        risks, wrong = risks[drawn], wrong[drawn]
    if not np.isfinite(risks).any():
        msg = "no labelled item is measured; wanted labelled items with values. Measure them."
        raise TooFewCalibrationItems(msg, n=0)
    return sequenced(risks, wrong, grid, columns.direction)


def _counts(columns: Columns, unsupported: Codes, sources: _Sources | None) -> dict[str, int]:
    measured = columns.measured
    wrong, right = unsupported == 1, unsupported == 0
    counts = {
        "n_items": len(columns),
        "n_labelled": int((wrong | right).sum()),
        "n_unsupported": int(wrong.sum()),
        "n_supported": int(right.sum()),
        "n_unsupported_unmeasured": int((wrong & ~measured).sum()),
        "n_supported_unmeasured": int((right & ~measured).sum()),
    }
    if sources is not None:
        counts["n_sources"] = len(sources.names)
    return counts
