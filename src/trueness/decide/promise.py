"""What a calibration is asked to promise."""

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.decide.shares import exact_share

T = TypeVar("T", bound=StrEnum)
_LEAST = Fraction(1, 10**9)
"""The least budget that is looked at: it needs billions of items."""


class Error(StrEnum):
    """Which of two different errors is kept within a budget."""

    FALSE_ACCEPTANCE = "false_acceptance"
    """P(accepted | unsupported)."""
    ACCEPTED_ERROR = "accepted_error"
    """P(unsupported | accepted)."""


class Method(StrEnum):
    """How the promise is meant."""

    EXACT = "exact"
    """With confidence, over the draw of the calibration items."""
    CONFORMAL = "conformal"
    """On average over calibrations."""


class Unit(StrEnum):
    """What the n independent things are."""

    ITEM = "item"
    SOURCE_ONE = "source_one"
    SOURCE_WORST = "source_worst"
    GROUPED_CONFORMAL = "grouped_conformal"


class Population(StrEnum):
    """Which items a promise is about."""

    MEASURED = "measured"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Promise:
    """What is asked for. Made by `promise_of`.

    Parameters
    ----------
    budget, level : Fraction
        alpha and 1 - delta, as the decimals they print as.
    error : Error
    method : Method
    unit : Unit
    population : Population
    reject_budget : Fraction or None
        beta: at most so much of the supported may be rejected.
    budgets_tried : int
        By which delta is divided, because one of several budgets was picked afterwards.
    negatives : str
        Where the unsupported items come from; printed beside the budget.
    seed : int
        Of the draw of one item a source, and of the folds.
    """

    budget: Fraction
    level: Fraction
    error: Error = Error.FALSE_ACCEPTANCE
    method: Method = Method.EXACT
    unit: Unit = Unit.ITEM
    population: Population = Population.MEASURED
    reject_budget: Fraction | None = None
    budgets_tried: int = 1
    negatives: str = "as labelled"
    seed: int = 0

    @property
    def delta(self) -> Fraction:
        """Probability of failing that one threshold may have."""
        return (1 - self.level) / self.budgets_tried

    @property
    def in_expectation(self) -> bool:
        """Whether the promise holds on average only, and may not be shown with a level."""
        return self.method is Method.CONFORMAL

    @property
    def who(self) -> str:
        """The population in words, as it stands beside the budget everywhere."""
        which = "measured items" if self.population is Population.MEASURED else "all items"
        return f"negatives: {self.negatives}; {which}; unit {self.unit}"

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON, as `promise_of` reads it."""
        return {
            "budget": share_json(self.budget),
            "level": share_json(self.level),
            "error": self.error.value,
            "method": self.method.value,
            "unit": self.unit.value,
            "population": self.population.value,
            "reject_budget": None if self.reject_budget is None else share_json(self.reject_budget),
            "budgets_tried": self.budgets_tried,
            "negatives": self.negatives,
            "seed": self.seed,
        }


def promise_of(
    *,
    budget: object = 0.05,
    level: object = 0.95,
    error: str = Error.FALSE_ACCEPTANCE,
    method: str = Method.EXACT,
    unit: str = Unit.ITEM,
    population: str = Population.MEASURED,
    reject_budget: object = None,
    budgets_tried: int = 1,
    negatives: str = "as labelled",
    seed: int = 0,
) -> Promise:
    """A checked promise; numbers may be floats, fractions or text and are read exactly.

    Raises
    ------
    InputError
        When a share is not strictly between 0 and 1, the level not above one half, or the parts
        do not go together.

    Examples
    --------
    >>> promise_of(level=0.9).delta
    Fraction(1, 10)
    """
    found = Promise(
        _open_share("budget", budget),
        _open_share("level", level),
        _one_of("error", error, Error),
        _one_of("method", method, Method),
        _one_of("unit", unit, Unit),
        _one_of("population", population, Population),
        None if reject_budget is None else _open_share("reject_budget", reject_budget),
        budgets_tried,
        negatives,
        seed,
    )
    _from("budgets_tried", budgets_tried, 1)
    _from("seed", seed, 0)
    _words("negatives", negatives)
    return _joined(found)


def share_json(share: Fraction) -> Json:
    """A share as the shortest number that reads back as it, else as the text of its fraction.

    Examples
    --------
    >>> share_json(Fraction(1, 20)), share_json(Fraction(1, 3))
    (0.05, '1/3')
    """
    near = float(share)
    return near if exact_share("share", near) == share else str(share)


def _joined(promise: Promise) -> Promise:
    if promise.level <= Fraction(1, 2):
        msg = (
            f"level is {share_json(promise.level)}; wanted above one half: below, a coin would "
            "promise as much. Use 0.95."
        )
        raise InputError(msg)
    if promise.error is Error.ACCEPTED_ERROR:
        if promise.unit not in {Unit.ITEM, Unit.SOURCE_ONE}:
            msg = (
                f"error accepted_error with unit {promise.unit}: a source as a whole has no label. "
                "Use unit 'item' or 'source_one'."
            )
            raise InputError(msg)
        if promise.in_expectation:
            msg = "error accepted_error is tested with confidence. Use method 'exact'."
            raise InputError(msg)
    if promise.unit is Unit.GROUPED_CONFORMAL:
        return replace(promise, method=Method.CONFORMAL)
    return promise


def _from(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        msg = f"{name} is {value!r}; wanted a whole number from {least}, such as {least}."
        raise InputError(msg)


def _words(name: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        msg = f"{name} is {value!r}; wanted words for where the unsupported items come from."
        raise InputError(msg)


def _open_share(name: str, value: object) -> Fraction:
    share = exact_share(name, value)
    if not 0 < share < 1:
        msg = f"{name} is {value!r}; wanted a share above 0 and below 1, such as 0.05."
        raise InputError(msg)
    if share < _LEAST and name != "level":
        msg = f"{name} is {value!r}; nobody labels enough items for it. Ask for 0.001 or more."
        raise InputError(msg)
    return share


def _one_of(name: str, value: str, kinds: type[T]) -> T:
    try:
        return kinds(value)
    except ValueError:
        msg = f"{name} is {value!r}; choose one of {', '.join(kinds)}."
        raise InputError(msg) from None
