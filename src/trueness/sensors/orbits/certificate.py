"""The certificate: how many of the recorded answers cannot all be right, and which to withhold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proved about the answered slots of one table.

    Only observations are stored; shares are derived.

    Parameters
    ----------
    n_answered : int
        Answered slots, echo and filler included.
    certified_errors : int
        At least so many of them are wrong.
    exact : bool
        No larger number follows from the declaration; otherwise a sound relaxation was used.
    withheld : (n_slots,) bool
        The default set to withhold.
    guaranteed_withheld : int
        At least so many of the withheld slots are wrong.
    share : callable or None
        From a withheld slot to the proved least share of wrong ones in its class or component;
        None where only the whole withheld set has one.
    breakdown : mapping of str to int
        Wrong slots by cause, before slack; they need not add up to the whole.
    break_even_slack : int or None
        The smallest slack with which nothing is proved.
    witness : callable or None
        From an entity code to the answers it has in a truth that attains the bound; empty means
        any answer that nobody gave.
    witness_is_unique : bool or None
        Tested on small tables only.
    single_columns : int
        What the columns prove one by one, added up.
    n_columns : int
        Columns of the table, an inverse direction counted as one.
    simple_floor : int or None
        With candidates: the cheaper certificate.
    curve : tuple of (size, guaranteed) or empty
        For one column: the guaranteed number of wrong ones among the first ``size`` withheld.
    curve_is_optimal : bool
    rank : (n_slots,) int or None
        Order in which to withhold, from 1; 0 for slots that are not answered.
    """

    n_answered: int
    certified_errors: int
    exact: bool
    withheld: NDArray[np.bool_]
    guaranteed_withheld: int
    share: Callable[[int], float] | None = None
    breakdown: Mapping[str, int] = field(default_factory=dict)
    break_even_slack: int | None = None
    witness: Callable[[int], Sequence[str]] | None = None
    witness_is_unique: bool | None = None
    single_columns: int = 0
    n_columns: int = 1
    simple_floor: int | None = None
    curve: tuple[tuple[int, int], ...] = ()
    curve_is_optimal: bool = False
    rank: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()

    @property
    def some_column(self) -> int:
        """Some column has at least so many wrong answers."""
        return -(-self.certified_errors // max(1, self.n_columns))

    @property
    def n_withheld(self) -> int:
        """Slots in the withheld set."""
        return int(np.count_nonzero(self.withheld))

    @property
    def error_floor(self) -> Fraction | None:
        """Proved least share of wrong ones among the answered slots."""
        return Fraction(self.certified_errors, self.n_answered) if self.n_answered else None

    @property
    def precision_floor(self) -> Fraction | None:
        """Proved least share of wrong ones among the withheld; None when nothing is proved."""
        if not self.guaranteed_withheld:
            return None
        return Fraction(self.guaranteed_withheld, self.n_withheld)

    def share_of(self, slot: int) -> float:
        """Proved least share of wrong ones where a withheld slot belongs."""
        if self.share is not None:
            return self.share(slot)
        return float(self.precision_floor or 0)

    @property
    def recall_floor(self) -> Fraction | None:
        """Proved least share of all wrong ones that the withheld set holds."""
        if not self.guaranteed_withheld:
            return None
        rest = self.n_answered - self.n_withheld
        return Fraction(self.guaranteed_withheld, self.guaranteed_withheld + rest)


@dataclass(frozen=True, slots=True)
class Inconsistent:
    """No truth satisfies the declaration: a finding about the declaration, not the answers."""

    reason: str
    violator: tuple[str, ...] = ()
