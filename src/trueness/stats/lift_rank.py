"""Can a target move where an observer, to first order, stands still? Two ranks that must agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats = NDArray[np.float64]

DOUBLE_TOLERANCE = 1e-6
"""Share of the largest singular value below which one counts as 0, in double precision."""
SINGLE_TOLERANCE = 1e-3
"""The same where a Jacobian came in single precision."""

_MATRICES = ("observer", "target", "joint", "restricted")


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Singular values of one matrix.

    Parameters
    ----------
    matrix : {"observer", "target", "joint", "restricted"}
        DS, Df, D(S, f), and Df restricted to the kernel of DS.
    scaled : bool
        Rows were brought to length 1.
    values : tuple of float, descending
    """

    matrix: str
    scaled: bool
    values: tuple[float, ...]

    @property
    def gap_ratios(self) -> tuple[float | None, ...]:
        """Each value over the one before it; near 0 is a clear gap, None follows an exact 0.

        >>> Spectrum("joint", True, (2.0, 1.0, 0.0, 0.0)).gap_ratios
        (0.5, 0.0, None)
        """
        pairs = zip(self.values, self.values[1:], strict=False)
        return tuple(after / before if before else None for before, after in pairs)


@dataclass(frozen=True, slots=True)
class Ranks:
    """The four ranks at one tolerance, with rows scaled or not."""

    tolerance: float
    scaled: bool
    observer: int
    target: int
    joint: int
    restricted: int

    @property
    def values(self) -> tuple[int, int, int, int]:
        """Ranks of observer, target, both together, and target on the kernel of the observer."""
        return self.observer, self.target, self.joint, self.restricted

    @property
    def agree(self) -> bool:
        """The two ways to the lift rank give one number."""
        return self.joint - self.observer == self.restricted


@dataclass(frozen=True, slots=True)
class LiftRank:
    """Dimensions in which a target moves to first order while the observer stands still.

    Parameters
    ----------
    state : State
        ``MEASURED``; ``UNSTABLE`` when a cutoff, the scaling of rows or the way of computing
        decides the number; ``DEGENERATE`` for non-finite input and tied top tokens.
    reason : str or None
        Why it is not measured.
    lift_rank, rank_observer, rank_target, rank_joint : int or None
        None unless measured.
    unavoidable : bool or None
        The target has the larger rank, so *every* observer of this rank is lifted.
    ranks : tuple of Ranks
        At the tolerance, ten times it and a tenth of it, with rows scaled and as they came.
    spectra : tuple of Spectrum
        All singular values.
    dropped : tuple of str
        Rows that are exactly 0: locally constant coordinates.
    """

    state: State
    reason: str | None
    lift_rank: int | None
    rank_observer: int | None
    rank_target: int | None
    rank_joint: int | None
    unavoidable: bool | None
    ranks: tuple[Ranks, ...] = ()
    spectra: tuple[Spectrum, ...] = ()
    dropped: tuple[str, ...] = ()


def lift_rank(
    observer_jacobian: ArrayLike,
    target_jacobian: ArrayLike,
    *,
    tolerance: float | None = None,
    tied: bool = False,
    observer_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
) -> LiftRank:
    r"""The lift rank of a target over an observer at one state.

    :math:`\ell = \mathrm{rank}\,D(S, f) - \mathrm{rank}\,DS`, which is
    :math:`\mathrm{rank}(Df|_{\ker DS})`; both are computed. A rank is the number of singular
    values above ``tolerance`` times the largest; on the kernel, the largest of :math:`Df`. It says
    nothing beyond a neighbourhood, and nothing about size.

    Parameters
    ----------
    observer_jacobian : (n_observer, n_state) float
        DS, one row a coordinate of the observer; leave out ``greedy``, which is locally constant.
    target_jacobian : (n_target, n_state) float
        Df.
    tolerance : float in (0, 0.1), optional
        `SINGLE_TOLERANCE` when a Jacobian is an array of single precision, else
        `DOUBLE_TOLERANCE`.
    tied : bool
        The two most probable tokens are tied: largest probability and margin are not smooth.
    observer_names, target_names : sequence of str, optional
        To name rows that are dropped.

    Returns
    -------
    LiftRank

    Raises
    ------
    ShapeError
        When a Jacobian is no matrix, the two have different states, or names do not fit.
    InputError
        For a tolerance out of range.

    Examples
    --------
    >>> found = lift_rank([[1, 1]], [[1, 0], [0, 1]])
    >>> found.lift_rank, found.unavoidable
    (1, True)
    """
    observer, target = np.asarray(observer_jacobian), np.asarray(target_jacobian)
    if tolerance is None:
        single = np.float32 in (observer.dtype, target.dtype)
        tolerance = SINGLE_TOLERANCE if single else DOUBLE_TOLERANCE
    _check(observer, target, tolerance)
    names = (
        *_names(observer_names, "observer", len(observer)),
        *_names(target_names, "target", len(target)),
    )
    rows = np.vstack([observer, target]).astype(np.float64)
    if not np.isfinite(rows).all():
        return _unmeasured(State.DEGENERATE, "a Jacobian holds nan or infinity")
    if tied:
        reason = "the two most probable tokens are tied: largest probability and margin have kinks"
        return _unmeasured(State.DEGENERATE, reason)
    kept = np.abs(rows).max(axis=1, initial=0.0) > 0
    n_observer = int(kept[: len(observer)].sum())
    dropped = tuple(name for name, keep in zip(names, kept, strict=True) if not keep)
    ranks, spectra = _looks(rows[kept], n_observer, tolerance)
    return _verdict(ranks, spectra, dropped)


def _looks(
    rows: Floats, n_observer: int, tolerance: float
) -> tuple[tuple[Ranks, ...], tuple[Spectrum, ...]]:
    """Ranks at every tolerance and scaling, the declared ones first."""
    ranks: list[Ranks] = []
    spectra: list[Spectrum] = []
    for scaled in (True, False):
        matrix = _unit(rows) if scaled else rows
        observer, target = matrix[:n_observer], matrix[n_observer:]
        basis = _right(observer)
        whole = [_singular(m) for m in (observer, target, matrix)]
        for cut in (tolerance, 10 * tolerance, tolerance / 10):
            seen, moved, joint = (_rank(values, cut, values) for values in whole)
            on_kernel = _singular(_off(target, basis[:seen]))
            ranks.append(Ranks(cut, scaled, seen, moved, joint, _rank(on_kernel, cut, whole[1])))
            if cut == tolerance:
                shown = zip(_MATRICES, (*whole, on_kernel), strict=True)
                spectra += [Spectrum(name, scaled, tuple(v.tolist())) for name, v in shown]
    return tuple(ranks), tuple(spectra)


def _unit(rows: Floats) -> Floats:
    """Rows of length 1, however short or long they were."""
    rows = rows / np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def _right(matrix: Floats) -> Floats:
    """Orthonormal directions of the state, by how strongly the rows see them."""
    if not len(matrix):
        return matrix
    directions: Floats = np.linalg.svd(matrix, full_matrices=False)[2]
    return directions


def _singular(matrix: Floats) -> Floats:
    if not len(matrix):
        return np.zeros(0)
    return np.linalg.svd(matrix, compute_uv=False).astype(np.float64)


def _off(rows: Floats, basis: Floats) -> Floats:
    """Rows without their part in the span of orthonormal directions."""
    return rows - (rows @ basis.T) @ basis


def _rank(values: Floats, tolerance: float, of: Floats) -> int:
    return int(np.count_nonzero(values > tolerance * of.max(initial=0.0)))


def _verdict(
    ranks: tuple[Ranks, ...], spectra: tuple[Spectrum, ...], dropped: tuple[str, ...]
) -> LiftRank:
    first = ranks[0]
    reason = _disagreement(ranks)
    if reason is not None:
        return _unmeasured(State.UNSTABLE, reason, ranks, spectra, dropped)
    return LiftRank(
        State.MEASURED,
        None,
        first.restricted,
        first.observer,
        first.target,
        first.joint,
        first.target > first.observer,
        ranks,
        spectra,
        dropped,
    )


def _disagreement(ranks: tuple[Ranks, ...]) -> str | None:
    for look in ranks:
        where = f"at tolerance {look.tolerance:.0e} with rows {'' if look.scaled else 'not '}scaled"
        if not look.agree:
            ways = (
                f"{look.joint - look.observer} by the joint rank, {look.restricted} on the kernel"
            )
            return f"the lift rank is {ways}, {where}"
        if look.values != ranks[0].values:
            return f"the ranks are {ranks[0].values}, but {look.values} {where}"
    return None


def _unmeasured(
    state: State,
    reason: str,
    ranks: tuple[Ranks, ...] = (),
    spectra: tuple[Spectrum, ...] = (),
    dropped: tuple[str, ...] = (),
) -> LiftRank:
    return LiftRank(state, reason, None, None, None, None, None, ranks, spectra, dropped)


def _check(observer: NDArray[np.generic], target: NDArray[np.generic], tolerance: float) -> None:
    shapes = observer.shape, target.shape
    if any(len(s) != 2 or s[1] == 0 for s in shapes) or shapes[0][1] != shapes[1][1]:  # noqa: PLR2004 - matrices
        msg = (
            f"the Jacobians have shapes {shapes[0]} and {shapes[1]}; wanted (n_observer, n_state) "
            "and (n_target, n_state). Differentiate both by the same state."
        )
        raise ShapeError(msg)
    if not 0 < tolerance < 0.1:  # noqa: PLR2004 - ten times it is a share too
        msg = f"tolerance is {tolerance}; wanted a number above 0 and below 0.1. Leave it out."
        raise InputError(msg)


def _names(names: Sequence[str] | None, what: str, n_rows: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{what}[{i}]" for i in range(n_rows))
    if len(names) != n_rows:
        msg = f"there are {len(names)} {what}_names for {n_rows} rows; give one a row, or none."
        raise ShapeError(msg)
    return tuple(names)
