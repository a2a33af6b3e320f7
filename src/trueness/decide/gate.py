"""A gate in the shape of a scikit-learn estimator, without importing it."""

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Decision, Direction, Reading
from trueness.contract.errors import CannotSerialise, FingerprintMismatch, InputError
from trueness.contract.serial import Json
from trueness.decide.calibrating import Groups, Labels, apply_gate, calibrate, decision_of
from trueness.decide.columns import Columns, columns_of_values
from trueness.decide.deciding import Rulings, decide_columns
from trueness.decide.promise import promise_of
from trueness.decide.scores import SavedScore, Score
from trueness.decide.stored import GateFile, read_gate
from trueness.stats.logistic import ridge_logistic_of


class Gate:
    """Accepts, reviews or rejects items within an error budget.

    Parameters
    ----------
    budget, level : float, Fraction or text
        alpha and 1 - delta; floats are read as the decimals they print as.
    error : ``"false_acceptance"`` or ``"accepted_error"``
    method : ``"exact"`` or ``"conformal"``
    unit : ``"item"``, ``"source_one"``, ``"source_worst"`` or ``"grouped_conformal"``
    population : ``"measured"`` or ``"all"``
    reject_budget : share, optional
        At most so much of the supported may be rejected; without it nothing is.
    budgets_tried : int
        Among how many budgets this one was picked.
    negatives : str
        Where the unsupported items come from.
    policy : mapping, optional
        A policy file without thresholds.
    grid : sequence of float, optional
        For ``accepted_error``.
    direction : ``"higher_is_worse"`` or ``"higher_is_better"``
        Of bare values; a reading says its own.
    positive : ``"supported"`` or ``"unsupported"``, optional
        What the label 1 means.
    combined : Score, optional
        Turns (n, d) rows into values. It must have been fitted on other items.
    seed : int

    Examples
    --------
    >>> gate = Gate(budget=0.5, level=0.9).fit([3, 1, 4, 1, 5, 9, 2, 6, 5, 8], [True] * 10)
    >>> gate.threshold_, gate.predict([1, 2, None]).tolist()
    (2.0, ['accept', 'review', 'review'])
    """

    def __init__(
        self,
        budget: object = 0.05,
        level: object = 0.95,
        *,
        error: str = "false_acceptance",
        method: str = "exact",
        unit: str = "item",
        population: str = "measured",
        reject_budget: object = None,
        budgets_tried: int = 1,
        negatives: str = "as labelled",
        policy: Mapping[str, Json] | None = None,
        grid: Sequence[float] | None = None,
        direction: str = "higher_is_worse",
        positive: str | None = None,
        combined: Score | None = None,
        seed: int = 0,
    ) -> None:
        self.budget = budget
        self.level = level
        self.error = error
        self.method = method
        self.unit = unit
        self.population = population
        self.reject_budget = reject_budget
        self.budgets_tried = budgets_tried
        self.negatives = negatives
        self.policy = policy
        self.grid = grid
        self.direction = direction
        self.positive = positive
        self.combined = combined
        self.seed = seed

    def __repr__(self) -> str:
        """What differs from the defaults, as an estimator says it."""
        given = {
            name: value
            for name, value in self.get_params().items()
            if repr(value) != repr(_PARAMETERS[name].default)
        }
        return f"Gate({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def get_params(self, *, deep: bool = True) -> dict[str, Any]:
        """What the gate was made with, by name.

        Parameters
        ----------
        deep : bool
            Without meaning here.
        """
        del deep
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **given: object) -> Self:
        """The same gate with other parameters; fit it again.

        Raises
        ------
        InputError
            For a name that is no parameter.
        """
        unknown = sorted(set(given) - set(_PARAMETERS))
        if unknown:
            msg = f"a gate has no parameter {unknown[0]!r}; known are {', '.join(_PARAMETERS)}."
            raise InputError(msg)
        for name, value in given.items():
            setattr(self, name, value)
        return self

    def fit(self, values: object, labels: Labels, groups: Groups | None = None) -> Self:
        """The gate with the threshold that keeps its promise on labelled items.

        Parameters
        ----------
        values : Reading, (n,) values, or (n, d) rows for a score
        labels : by item, or one an item
        groups : by item, or one an item, optional
            Sources.

        Raises
        ------
        TooFewCalibrationItems, DependentItems, AmbiguousLabels, PolicyError, InputError
        """
        promise = promise_of(
            budget=self.budget,
            level=self.level,
            error=self.error,
            method=self.method,
            unit=self.unit,
            population=self.population,
            reject_budget=self.reject_budget,
            budgets_tried=self.budgets_tried,
            negatives=self.negatives,
            seed=self.seed,
        )
        self.gate_: GateFile = calibrate(
            self._scored(values),
            labels,
            promise,
            groups=groups,
            positive=self.positive,
            policy=self.policy,
            grid=self.grid,
            direction=self._direction(),
        )
        return self

    @property
    def fitted(self) -> GateFile:
        """What was fitted or loaded.

        Raises
        ------
        InputError
            Before that.
        """
        gate = getattr(self, "gate_", None)
        if not isinstance(gate, GateFile):
            msg = "the gate has no threshold yet; call fit with labelled items, or load a file."
            raise InputError(msg)
        return gate

    @property
    def threshold_(self) -> float:
        """Tau in the value's own units."""
        return self.fitted.calibration.value_threshold

    def decide(self, values: object, *, trace: Path | None = None) -> Decision:
        """Accept, review or reject every item.

        Parameters
        ----------
        values : Reading, (n,) values, or (n, d) rows for a score
        trace : Path, optional
            Where to write the decisions; needs a reading.

        Raises
        ------
        FingerprintMismatch
            For a reading of another fingerprint.
        """
        if isinstance(values, Reading):
            return apply_gate(self.fitted, values, trace=trace)
        if trace is not None:
            msg = "bare values have no items to trace; hand in a reading, or leave trace out."
            raise InputError(msg)
        columns, rulings = self._ruled(values)
        return decision_of(self.fitted, columns, rulings)

    def predict(self, values: object) -> NDArray[np.str_]:
        """(n,) ``accept``, ``review`` or ``reject``."""
        if isinstance(values, Reading):
            columns = self.fitted.columns(values)
            return decide_columns(self.fitted.policy, columns).words()
        return self._ruled(values)[1].words()

    def save(self, path: str | Path) -> None:
        """Write `gate.json`.

        Raises
        ------
        CannotSerialise
            When the score has no ``to_json``.
        """
        gate, saved = self.fitted, None
        if self.combined is not None:
            if not isinstance(self.combined, SavedScore):
                msg = (
                    f"a {type(self.combined).__name__} has no to_json, so the gate cannot be "
                    "saved: nothing is ever stored as code. Give it to_json, or use "
                    "fit_ridge_logistic."
                )
                raise CannotSerialise(msg)
            saved = self.combined.to_json()
        GateFile(gate.calibration, gate.policy, gate.sensor, saved).write(Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The gate that `save` or ``calibrate`` wrote.

        Raises
        ------
        InputError
            When the file is none or contradicts itself.
        """
        stored = read_gate(Path(path))
        promise = stored.calibration.promise
        gate = cls(
            **{name: value for name, value in promise.to_dict().items() if name in _PARAMETERS},  # type: ignore[arg-type] # its own parameters
            direction=stored.calibration.direction.value,
            combined=None if stored.score is None else ridge_logistic_of(stored.score),
        )
        gate.gate_ = stored
        return gate

    def _ruled(self, values: object) -> tuple[Columns, Rulings]:
        scored = self._scored(values)
        if self.fitted.calibration.fingerprint:
            msg = (
                "this threshold was made with a reading and bare values say nothing about how they "
                "were measured; hand in a reading of the same fingerprint, or recalibrate."
            )
            raise FingerprintMismatch(msg)
        direction = self.fitted.calibration.direction
        columns = scored if isinstance(scored, Columns) else columns_of_values(scored, direction)
        return columns, decide_columns(self.fitted.policy, columns)

    def _scored(self, values: object) -> object:
        if self.combined is None or isinstance(values, Reading):
            return values
        if not isinstance(self.combined, Score):
            msg = f"combined is a {type(self.combined).__name__}; wanted what has predict_proba."
            raise InputError(msg)
        proba = np.asarray(self.combined.predict_proba(np.asarray(values, dtype=np.float64)))
        if proba.ndim != 2 or proba.shape[1] != 2:  # noqa: PLR2004 - supported and unsupported
            msg = f"predict_proba gave shape {proba.shape}; wanted (n, 2): supported, unsupported."
            raise InputError(msg)
        return np.ascontiguousarray(proba[:, 1], dtype=np.float64)

    def _direction(self) -> Direction:
        try:
            return Direction(self.direction)
        except ValueError:
            msg = f"direction is {self.direction!r}; choose one of {', '.join(Direction)}."
            raise InputError(msg) from None


_PARAMETERS = {
    name: parameter
    for name, parameter in signature(Gate.__init__).parameters.items()
    if name != "self"
}
