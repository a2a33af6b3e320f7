"""A ridge logistic score of several columns, saved as JSON and as nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.serial import Json

SCHEMA = "trueness.ridge_logistic/1"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RidgeLogistic:
    """A fitted score; make one with `fit_ridge_logistic`.

    Parameters
    ----------
    names : tuple of str
        Of the columns.
    means, scales, coefficients : (d,) float
    intercept : float
    ridge : float
    """

    names: tuple[str, ...]
    means: Floats
    scales: Floats
    coefficients: Floats
    intercept: float
    ridge: float

    def predict_proba(self, rows: ArrayLike) -> Floats:
        """(n, 2) Scores of supported and unsupported, adding up to 1.

        The second column is a score in [0, 1] to be calibrated, and a probability of nothing.

        Parameters
        ----------
        rows : (n, d) float

        Raises
        ------
        ShapeError
            For another number of columns.
        InputError
            For a value that is not finite.
        """
        x = _table(rows)
        if x.shape[1] != len(self.names):
            msg = f"rows have {x.shape[1]} columns; wanted {len(self.names)}: {self.names}."
            raise ShapeError(msg)
        score = expit((x - self.means) / self.scales @ self.coefficients + self.intercept)
        return np.column_stack([1 - score, score])

    def to_json(self) -> dict[str, Json]:
        """Plain JSON, as `ridge_logistic_of` reads it."""
        return {
            "schema": SCHEMA,
            "names": list(self.names),
            "means": list(self.means.tolist()),
            "scales": list(self.scales.tolist()),
            "coefficients": list(self.coefficients.tolist()),
            "intercept": self.intercept,
            "ridge": self.ridge,
        }


def fit_ridge_logistic(
    rows: ArrayLike,
    unsupported: ArrayLike,
    *,
    ridge: float = 1.0,
    names: Sequence[str] | None = None,
) -> RidgeLogistic:
    r"""The score that minimises :math:`\sum \log(1 + e^{-y z}) + \frac{\lambda}{2}|w|^2`.

    Columns are centred and scaled by their population standard deviation on these rows only, so a
    fold that is left out takes no part. The intercept is not shrunk.

    Parameters
    ----------
    rows : (n, d) float
    unsupported : (n,) bool
    ridge : float, above 0
    names : sequence of str, optional
        Of the columns; x0, x1 … without.

    Raises
    ------
    ShapeError, InputError
        When lengths differ, a value is not finite, or a class is missing.

    Examples
    --------
    >>> score = fit_ridge_logistic([[0.0], [1.0], [2.0], [3.0]], [False, False, True, True])
    >>> bool(score.coefficients[0] > 0)
    True
    """
    x = _table(rows)
    y = np.asarray(unsupported)
    if y.dtype != np.bool_ or y.shape != (len(x),):
        msg = f"unsupported has type {y.dtype} and shape {y.shape}; wanted ({len(x)},) bool."
        raise ShapeError(msg)
    if not y.any() or y.all() or not ridge > 0:
        msg = (
            f"{int(y.sum())} of {len(y)} rows are unsupported and ridge is {ridge}; wanted both "
            "classes and a ridge above 0."
        )
        raise InputError(msg)
    columns = tuple(names) if names is not None else tuple(f"x{i}" for i in range(x.shape[1]))
    if len(columns) != x.shape[1]:
        msg = f"{len(columns)} names for {x.shape[1]} columns; wanted one a column."
        raise ShapeError(msg)
    means, spread = x.mean(axis=0), x.std(axis=0)
    scales = np.where(spread > 0, spread, 1.0)
    weights = _minimum((x - means) / scales, np.where(y, 1.0, -1.0), ridge)
    return RidgeLogistic(columns, means, scales, weights[1:], float(weights[0]), ridge)


def ridge_logistic_of(data: Mapping[str, Json]) -> RidgeLogistic:
    """The score that `RidgeLogistic.to_json` wrote.

    Raises
    ------
    InputError
        When it is none.
    """
    if data.get("schema") != SCHEMA:
        msg = f"the score has schema {data.get('schema')!r}; wanted {SCHEMA!r}. Fit it again."
        raise InputError(msg)
    try:
        parts = {n: _numbers(data[n]) for n in ("means", "scales", "coefficients")}
        names, ends = data["names"], _numbers([data["intercept"], data["ridge"]])
    except (KeyError, TypeError, ValueError) as error:
        msg = f"the score cannot be read: {type(error).__name__} at {error}. Fit it again."
        raise InputError(msg) from error
    found = tuple(map(str, names)) if isinstance(names, list) else ()
    if {len(p) for p in parts.values()} != {len(found)} or not (parts["scales"] > 0).all():
        msg = "the score's names, means, scales and coefficients do not fit. Fit it again."
        raise InputError(msg)
    return RidgeLogistic(found, intercept=float(ends[0]), ridge=float(ends[1]), **parts)


def _minimum(x: Floats, sign: Floats, ridge: float) -> Floats:
    def loss(weights: Floats) -> tuple[float, Floats]:
        z = sign * (x @ weights[1:] + weights[0])
        pull = -sign * expit(-z)
        slopes = np.concatenate([[pull.sum()], x.T @ pull + ridge * weights[1:]])
        value = np.logaddexp(0, -z).sum() + ridge / 2 * weights[1:] @ weights[1:]
        return float(value), slopes

    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", tol=1e-12)
    weights: Floats = np.asarray(found.x, dtype=np.float64)
    return weights


def _table(rows: ArrayLike) -> Floats:
    x = np.asarray(rows, dtype=np.float64)
    if x.ndim != 2 or not np.isfinite(x).all():  # noqa: PLR2004 - rows and columns
        msg = (
            f"rows have shape {x.shape}, {int((~np.isfinite(x)).sum())} not finite; wanted (n, d) "
            "finite numbers. Leave out what was not measured."
        )
        raise InputError(msg)
    return x


def _numbers(value: Json) -> Floats:
    numbers = np.array(value, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        msg = "a list of finite numbers is wanted"
        raise ValueError(msg)
    return numbers
