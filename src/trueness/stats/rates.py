"""A count out of trials, with its exact interval: the one form in which rates are said."""

from dataclasses import dataclass

from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.fibres import clopper_pearson


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its exact two-sided interval.

    Parameters
    ----------
    count, of : int
        Successes, independent trials.
    state : State
        ``NOT_APPLICABLE`` without a trial.
    share : float or None
    low, high : float
        Clopper-Pearson; 0 and 1, which is all that can be said, without a trial.
    level : float
    """

    count: int
    of: int
    state: State
    share: float | None
    low: float
    high: float
    level: float

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "count": self.count,
            "of": self.of,
            "state": self.state.value,
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "level": self.level,
        }


def rate(count: int, of: int, *, level: float = 0.95) -> Rate:
    """The share of independent trials that succeeded, with its exact interval.

    Parameters
    ----------
    count, of : int
    level : float in (0.5, 1)
        Two-sided.

    Raises
    ------
    InputError
        For impossible counts or another level.

    Examples
    --------
    >>> round(rate(0, 59, level=0.9).high, 4), rate(0, 0).state.value
    (0.0495, 'NOT_APPLICABLE')
    """
    if of == 0 and count == 0:
        return Rate(0, 0, State.NOT_APPLICABLE, None, 0.0, 1.0, level)
    low, high = clopper_pearson(count, of, level=level)
    return Rate(count, of, State.MEASURED, count / of, low, high, level)
