"""What a policy does to labelled items that chose no threshold: shares with exact intervals."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Verdict
from trueness.contract.errors import DependentItems, InputError, TooFewCalibrationItems
from trueness.contract.serial import Json
from trueness.decide.calibration import Codes
from trueness.decide.columns import Columns
from trueness.decide.deciding import VERDICTS, Rulings, decide_columns
from trueness.decide.fitting import source_codes
from trueness.decide.policy import Policy
from trueness.decide.promise import Error, Population, Promise, Unit
from trueness.stats.order_thresholds import one_of_each_source
from trueness.stats.rates import Rate, rate

FOLDS = 5
BROKEN = "the promise is broken here: the data have drifted or come from a different population"

_NAMES = {
    Verdict.ACCEPT: "accepted",
    Verdict.REVIEW: "reviewed",
    Verdict.REJECT: "rejected",
}


def evaluated(
    rulings: Rulings,
    columns: Columns,
    unsupported: Codes,
    promise: Promise,
    *,
    groups: Sequence[str] | None,
    how: str,
) -> dict[str, Json]:
    """Accepted, reviewed and rejected shares of both classes, supported coverage first.

    Where items share sources the trials are sources: one item of each, drawn with the seed; under
    ``source_worst`` a source counts as accepted when any of its unsupported items is, and its
    supported items are drawn all the same: any of them would overstate the coverage.

    Parameters
    ----------
    rulings : Rulings
        By thresholds that these items did not choose.
    columns, unsupported, promise
        As in `trueness.decide.calibration.calibrate_columns`.
    groups : (n,) sequence of str, optional
    how : str
        How the items were kept apart from the calibration.
    """
    sources = None if groups is None else source_codes(groups)[0]
    level = float(promise.level)
    shares: dict[str, dict[str, Rate]] = {}
    for name, label in (("supported", 0), ("unsupported", 1)):
        of_class = _in_population(unsupported == label, columns, promise)
        worst = label == 1 and promise.unit is Unit.SOURCE_WORST
        codes = _verdicts(
            rulings.verdict[of_class], sources, of_class, worst=worst, promise=promise
        )
        counts = np.bincount(codes, minlength=len(VERDICTS)).tolist()
        shares[name] = {
            _NAMES[verdict]: rate(counts[code], len(codes), level=level)
            for code, verdict in enumerate(VERDICTS)
        }
    observed = _observed(rulings, columns, unsupported, sources, promise=promise, shares=shares)
    return {
        "how": how,
        "supported_coverage": shares["supported"]["accepted"].to_dict(),
        **{name: {v: r.to_dict() for v, r in found.items()} for name, found in shares.items()},
        "error": promise.error.value,
        "observed_error": observed.to_dict(),
        "broken": observed.of > 0 and observed.low > float(promise.budget),
        "says": BROKEN if observed.of > 0 and observed.low > float(promise.budget) else "",
        **_prices(rulings, columns, unsupported),
    }


def not_evaluated(why: str) -> dict[str, Json]:
    """The record of an evaluation that could not be made."""
    return {"how": "not evaluated", "why": why}


def held_out(
    policy: Policy,
    columns: Columns,
    unsupported: Codes,
    promise: Promise,
    *,
    groups: Sequence[str] | None,
    calibrated_on: Sequence[str] | None,
) -> dict[str, Json]:
    """Shares on a split that shares no source with the calibration.

    Parameters
    ----------
    policy : Policy
    columns, unsupported, promise, groups
        The split.
    calibrated_on : sequence of str, optional
        Sources of the calibration items.

    Raises
    ------
    DependentItems
        When a source stands in both, or one of the two has no sources.
    """
    if (groups is None) != (calibrated_on is None):
        msg = (
            "one of calibration and evaluation has sources and the other has none, so nothing says "
            "that they are disjoint. Name the sources of both."
        )
        raise DependentItems(msg)
    common = sorted(set(groups or ()) & set(calibrated_on or ()))
    if common:
        msg = (
            f"{len(common)} sources stand in both the calibration and the evaluation items, such "
            f"as {common[0]!r}. Split by source."
        )
        raise DependentItems(msg)
    how = "held out, disjoint by source" if groups is not None else "held out, sources unknown"
    rulings = decide_columns(policy, columns)
    return evaluated(rulings, columns, unsupported, promise, groups=groups, how=how)


def cross_fitted(
    fit: Callable[[NDArray[np.intp]], Policy],
    columns: Columns,
    unsupported: Codes,
    promise: Promise,
    *,
    groups: Sequence[str] | None,
) -> dict[str, Json]:
    """Shares when each fifth of the sources is decided by a threshold from the other four.

    They are about the procedure; the threshold in use rests on all sources.

    Parameters
    ----------
    fit : callable
        From the rows of four folds to their policy.
    columns, unsupported, promise, groups
        All labelled items.
    """
    if groups is None:
        return not_evaluated("there are no sources, so nothing can be split disjoint by source")
    codes, names = source_codes(groups)
    if len(names) < FOLDS:
        return not_evaluated(f"{len(names)} sources are fewer than {FOLDS} folds")
    order = np.random.default_rng(promise.seed).permutation(len(names))
    fold = np.empty(len(names), dtype=np.int64)
    fold[order] = np.arange(len(names)) % FOLDS
    verdict = np.zeros(len(columns), dtype=np.int8)
    rule = verdict.copy()
    for left_out in range(FOLDS):
        test = np.flatnonzero(fold[codes] == left_out)
        try:
            policy = fit(np.flatnonzero(fold[codes] != left_out))
        except (TooFewCalibrationItems, InputError) as error:
            return not_evaluated(f"four fifths of the sources give no threshold: {error}")
        found = decide_columns(policy, columns.at(test))
        verdict[test], rule[test] = found.verdict, found.rule
    rulings = Rulings(verdict, rule)
    how = f"cross-fitted, {FOLDS} folds disjoint by source: about the procedure"
    return evaluated(rulings, columns, unsupported, promise, groups=groups, how=how)


def _verdicts(
    codes: NDArray[np.int8],
    sources: NDArray[np.int64] | None,
    chosen: NDArray[np.bool_],
    *,
    worst: bool,
    promise: Promise,
) -> NDArray[np.int8]:
    """Verdict codes of the independent trials of one class."""
    if sources is None:
        return codes
    dense = np.unique(sources[chosen], return_inverse=True)[1].astype(np.int64)
    if worst:
        least = np.full(int(dense.max(initial=-1)) + 1, len(VERDICTS), dtype=np.int8)
        np.minimum.at(least, dense, codes)  # accept comes first
        return least
    place = np.arange(len(codes), dtype=np.float64)
    rng = np.random.default_rng(promise.seed)
    return codes[one_of_each_source(place, dense, rng=rng)]


def _observed(
    rulings: Rulings,
    columns: Columns,
    unsupported: Codes,
    sources: NDArray[np.int64] | None,
    *,
    promise: Promise,
    shares: Mapping[str, Mapping[str, Rate]],
) -> Rate:
    if promise.error is Error.FALSE_ACCEPTANCE:
        return shares["unsupported"]["accepted"]
    labelled = _in_population(unsupported >= 0, columns, promise)
    rows = np.flatnonzero(labelled)
    if sources is not None:
        dense = np.unique(sources[rows], return_inverse=True)[1].astype(np.int64)
        rng = np.random.default_rng(promise.seed)
        rows = rows[one_of_each_source(np.arange(len(rows), dtype=np.float64), dense, rng=rng)]
    accepted = rows[rulings.verdict[rows] == VERDICTS.index(Verdict.ACCEPT)]
    wrong = int((unsupported[accepted] == 1).sum())
    return rate(wrong, len(accepted), level=float(promise.level))


def _in_population(
    chosen: NDArray[np.bool_], columns: Columns, promise: Promise
) -> NDArray[np.bool_]:
    return chosen & columns.measured if promise.population is Population.MEASURED else chosen


def _prices(rulings: Rulings, columns: Columns, unsupported: Codes) -> dict[str, Json]:
    labelled = unsupported >= 0
    counts = np.bincount(rulings.verdict[labelled], minlength=len(VERDICTS)).tolist()
    accepted, reviewed = counts[0], counts[1]
    return {
        "reviewed_per_accepted": reviewed / accepted if accepted else None,
        "n_items": int(labelled.sum()),
        "n_unmeasured": int((labelled & ~columns.measured).sum()),
    }
