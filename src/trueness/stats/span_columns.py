"""The span measure over arrays: many sets of equally many passages, results as columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import ShapeError
from trueness.contract.states import State
from trueness.stats.chance import chance_energy, null_quantile
from trueness.stats.containment import (
    MEASURED,
    VERDICTS,
    WHOLE_SPACE,
    Codes,
    Containment,
    contained,
)
from trueness.stats.duplicates import NEAR_COSINE
from trueness.stats.leave_one_out import leave_one_out
from trueness.stats.passages import canonical_order
from trueness.stats.products import Bools, inner_products
from trueness.stats.span import Span, measure_spans
from trueness.stats.span_axes import AXES, span_axes
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import Floats, Ints, SpanRules

REASONS = (
    *VERDICTS,
    "claim_not_finite",
    "claim_zero",
    "evidence_not_finite",
    "evidence_zero",
)
"""What the codes of :attr:`SpanColumns.code` stand for; the first is no reason."""
NUMBERS = (
    "energies",
    "explained",
    "noise_bound",
    "cutoff_gap",
    "low",
    "high",
    "tol_low",
    "tol_high",
)
_CHUNK_BYTES = 16_000_000
_NEAR_NULL = 2.0 * (1.0 - NEAR_COSINE)
"""Two rows of a cosine c leave a squared singular value of 1 - c or below, and rounding."""
_ARRAYS = 3


@dataclass(frozen=True, slots=True, eq=False)
class SpanColumns:
    """Spans of many claims, one entry a claim: shape (n_sets, n_claims), nan for None.

    Attributes
    ----------
    code : int8
        A place in ``REASONS``; 0 is measured.
    rank, retained : int
        Numerical rank and directions kept; 0 where nothing was computed.
    numbers : dict of float arrays, by ``NUMBERS``
        ``energies`` and ``explained`` are nan unless measured.
    axes : dict of float arrays, by :data:`trueness.stats.span_axes.AXES`
    influence : (n_sets, n_claims, n) float or None
        Of each passage as given; nan where it is not measured or merged into another.
    d : int
    """

    code: Codes
    rank: NDArray[np.int64]
    retained: NDArray[np.int64]
    numbers: dict[str, Floats]
    axes: dict[str, Floats]
    influence: Floats | None
    d: int

    @property
    def energy(self) -> Floats:
        """Squared residuals; nan unless measured."""
        return self.numbers["energies"]

    @property
    def relative(self) -> Floats:
        """Energy over that of a random direction; nan unless measured."""
        chance = chance_energy(self.retained, self.d)
        relative: Floats = self.energy / np.where(chance > 0, chance, np.nan)
        return relative

    @property
    def null_quantile(self) -> Floats:
        """Share of random directions contained at least as well; nan unless measured."""
        return null_quantile(self.energy, np.maximum(self.retained, 1), self.d)

    def states(self) -> list[list[State]]:
        """The state of every claim."""
        return [[_state(REASONS[code]) for code in row] for row in self.code]


def measure_columns(
    claims: ArrayLike,
    evidence: ArrayLike,
    *,
    rules: SpanRules | None = None,
    influence: bool = False,
) -> SpanColumns:
    """The measure of `measure_span` for arrays of equal size, without an object a claim.

    Sets with zero rows, duplicates, extreme or non-finite numbers go through `measure_spans`:
    the results are the same.

    Parameters
    ----------
    claims : (n_sets, n_claims, d) or (n_sets, d) float
        All claims of a set share its passages, which are decomposed once.
    evidence : (n_sets, n, d) float, n at least 1
    rules : SpanRules, optional
    influence : bool
        Whether the passages are left out one by one as well.

    Raises
    ------
    ShapeError
        When the arrays do not fit together.

    Examples
    --------
    >>> columns = measure_columns([[4.0, 3.0]], [[[1.0, 0.0]]])
    >>> columns.energy.round(12).tolist(), columns.states()[0][0].value
    ([[0.36]], 'MEASURED')
    """
    rules = rules or SpanRules()
    c, e = _checked(np.asarray(claims), np.asarray(evidence))
    columns = _empty(c.shape, e.shape[1], influence=influence)
    step = max(1, _CHUNK_BYTES // (8 * e.shape[1] * e.shape[2]))
    for start in range(0, len(e), step):
        part = slice(start, start + step)
        vectors, rows = (
            c[part].astype(np.float64, copy=False),
            e[part].astype(np.float64, copy=False),
        )
        _fill(columns, start, vectors, rows, rules)
    return columns


def _checked(
    claims: NDArray[np.generic], evidence: NDArray[np.generic]
) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    shapes = f"claims of shape {claims.shape} and evidence of shape {evidence.shape}"
    if claims.ndim == _ARRAYS - 1:
        claims = claims[:, None, :]
    fits = claims.ndim == evidence.ndim == _ARRAYS and 0 not in evidence.shape[1:]
    if not fits or (len(claims), claims.shape[2]) != (len(evidence), evidence.shape[2]):
        msg = f"{shapes}; give (n_sets, n_claims, d) and (n_sets, n_passages, d), none of them 0."
        raise ShapeError(msg)
    if claims.dtype.kind not in "fiu" or evidence.dtype.kind not in "fiu":
        msg = f"claims hold {claims.dtype} and evidence {evidence.dtype}; give real numbers."
        raise ShapeError(msg)
    return claims, evidence


def _empty(shape: tuple[int, ...], n: int, *, influence: bool) -> SpanColumns:
    size = shape[:2]
    return SpanColumns(
        np.zeros(size, np.int8),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        {name: np.empty(size) for name in NUMBERS},
        {name: np.empty(size) for name in AXES},
        np.full((*size, n), np.nan) if influence else None,
        shape[2],
    )


def _fill(columns: SpanColumns, first: int, claims: Floats, rows: Floats, rules: SpanRules) -> None:
    """Columns of some sets: the smooth ones at once, the others one by one."""
    rough = np.ones(len(rows), np.bool_)
    if rules.selection == "all" and rows.shape[1] <= rules.max_passages:
        rough = _fill_smooth(columns, first, claims, rows, rules)
    for s in np.flatnonzero(rough):
        items = [SpanItem(claim, rows[s]) for claim in claims[s]]
        asked = columns.influence is not None
        for c, span in enumerate(measure_spans(items, rules=rules, influence=asked)):
            _write(columns, first + int(s), c, span)


def _fill_smooth(
    columns: SpanColumns, first: int, claims: Floats, rows: Floats, rules: SpanRules
) -> Bools:
    """Columns of the sets that arithmetic alone can answer; which ones it cannot."""
    order = canonical_order(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        products = inner_products(rows, claims, order=order)
    rough = ~products.plain
    sets: Ints | slice = slice(first, first + len(rows))
    if rough.any():
        smooth = np.flatnonzero(~rough)
        sets, products, order = first + smooth, products.take(smooth), order[smooth]
    found = contained(products, rules)
    _write_all(columns, sets, found)
    for name, axis in span_axes(found, products.claims, found.cosines).items():
        columns.axes[name][sets] = axis if axis.ndim > 1 else axis[:, None]
    if found.verdict.any():
        columns.axes["gain"][sets] = np.where(
            found.verdict == MEASURED, columns.axes["gain"][sets], np.nan
        )
    if columns.influence is not None and rows.shape[1] > 1:
        influence = leave_one_out(found, products.claims, rules).influence
        influence[found.verdict != MEASURED] = np.nan
        back = np.argsort(order, axis=1)[:, None, :]
        columns.influence[sets] = np.take_along_axis(influence, back, axis=2)
    rough[~rough] = _twins(found, rules)
    return rough


def _twins(found: Containment, rules: SpanRules) -> Bools:
    """Sets with rows that may count as one: the others have no such small singular value."""
    lam, n = found.gram.lam, found.gram.lam.shape[1]
    twins: Bools = lam[:, -1] <= _NEAR_NULL
    if n == 1 or rules.dedup not in ("both", "vector"):
        return np.zeros(len(lam), np.bool_)
    if twins.any():
        twins[twins] = (found.gram.matrix[twins] > NEAR_COSINE).sum(axis=(1, 2)) > n
    return twins


def _write_all(columns: SpanColumns, sets: Ints | slice, found: Containment) -> None:
    columns.code[sets] = found.verdict
    columns.rank[sets] = found.rank[:, None]
    columns.retained[sets] = found.retained[:, None]
    gap = found.cutoff.gap / found.sigma[:, 0]
    values = {
        "energies": found.energy,
        "explained": found.explained,
        "noise_bound": found.cutoff.noise_bound[:, None],
        "cutoff_gap": gap[:, None],
        "low": found.low,
        "high": found.high,
        "tol_low": found.tol_low,
        "tol_high": found.tol_high,
    }
    if found.verdict.any():
        whole = found.verdict == WHOLE_SPACE
        values = {name: np.where(whole, np.nan, value) for name, value in values.items()}
        for name in ("energies", "explained"):
            values[name] = np.where(found.verdict == MEASURED, values[name], np.nan)
    for name, value in values.items():
        columns.numbers[name][sets] = value


def _write(columns: SpanColumns, s: int, c: int, span: Span) -> None:
    """Put one span into its place."""
    columns.code[s, c] = REASONS.index(span.reason) if span.reason else MEASURED
    columns.rank[s, c], columns.retained[s, c] = span.rank or 0, span.r or 0
    low, high = span.bracket or (None, None)
    tol_low, tol_high = span.tol_range or (None, None)
    values = (
        span.energy,
        span.explained,
        span.noise_bound,
        span.cutoff_gap,
        low,
        high,
        tol_low,
        tol_high,
    )
    for name, value in zip(NUMBERS, values, strict=True):
        columns.numbers[name][s, c] = np.nan if value is None else value
    for name in AXES:
        value = span.axes.get(name)
        columns.axes[name][s, c] = np.nan if value is None else value
    if columns.influence is not None:
        columns.influence[s, c] = np.nan
        for members, value in zip(span.clusters, span.influence or (), strict=False):
            columns.influence[s, c, members[0]] = np.nan if value is None else value


def _state(reason: str) -> State:
    if reason == REASONS[MEASURED]:
        return State.MEASURED
    if reason == REASONS[WHOLE_SPACE]:
        return State.NOT_APPLICABLE
    return State.UNSTABLE if reason in VERDICTS else State.DEGENERATE
