"""What can be set about an atlas; everything here enters the fingerprint."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

from trueness.contract.errors import InputError
from trueness.contract.serial import Json

MARGIN = 0.10
_LARGEST_ORDER = 64


@dataclass(frozen=True, slots=True)
class Params:
    """How agreement is measured and compared.

    Parameters
    ----------
    orders : tuple of int
        Orders of agreement; kept in order, and the least is the primary one.
    margin : float or None
        Largest change that counts as none, absolute. None takes the default and says so.
    level : float
        Of every interval; 1 - level is the error rate of a verdict's directions.
    strict : bool
        Half the error rate for directions and for equivalences.
    only : str or None
        Whose draws are the clouds, where a table holds several conditions.
    greedy_before, greedy_after : str or None
        Conditions with the greedy answers; found by themselves where None.
    allow_differ : tuple of str
        Protocol fields in which two tables may differ.
    min_overlap : float
        Least share of the larger table's items that both hold.
    first : int or None
        Only the first draws of every item.
    none_classes : {"one", "by_reason"}
        Whether all answers that are none are one class.
    votes : {"votes", "abstains"}
        Whether no answer is a candidate in a vote.
    sequential : {"shuffled", "as_drawn"} or None
        Also watch the change item by item, as one may who stops early: in an order that the seed
        draws, or in the table's own, where that was drawn at random before looking.
    near : float or None
        Of the search of observer fibres: how far numbers may lie apart, in any of them, to count
        as alike; None means equal to the byte.
    seed : int
    replicates : int
        Of the bootstrap and of every sampled test.

    Raises
    ------
    InputError
        When a number lies outside its range.
    """

    orders: tuple[int, ...] = (2, 3, 4)
    margin: float | None = None
    level: float = 0.95
    strict: bool = False
    only: str | None = None
    greedy_before: str | None = None
    greedy_after: str | None = None
    allow_differ: tuple[str, ...] = ()
    min_overlap: float = 0.9
    first: int | None = None
    none_classes: Literal["one", "by_reason"] = "one"
    votes: Literal["votes", "abstains"] = "votes"
    sequential: Literal["shuffled", "as_drawn"] | None = None
    near: float | None = None
    seed: int = 0
    replicates: int = 10_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", _tuple(self.orders))
        object.__setattr__(self, "allow_differ", _tuple(self.allow_differ))
        for wrong in (*_wrong_orders(self.orders), *_wrong_numbers(self), *_wrong_words(self)):
            name, wanted = wrong
            msg = f"{name} is {getattr(self, name)!r}; wanted: {wanted}. Change it."
            raise InputError(msg)
        object.__setattr__(self, "orders", tuple(sorted(self.orders)))

    @property
    def delta(self) -> float:
        """The margin, or its default."""
        return MARGIN if self.margin is None else self.margin

    @property
    def alpha(self) -> float:
        """The error rate of directions and of each equivalence."""
        alpha = 1 - self.level
        return alpha / 2 if self.strict else alpha

    @property
    def primary(self) -> int:
        """The order that verdicts read."""
        return self.orders[0]

    def said(self) -> dict[str, Json]:
        """All of it as plain JSON; ``near`` where it is given."""
        out: dict[str, Json] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "near" and value is None:
                continue
            out[f.name] = list(value) if isinstance(value, tuple) else value
        return out


_FEWEST, _MOST = 100, 1_000_000
_FAR = 1e300


def _tuple(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_order(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 2 <= value <= _LARGEST_ORDER  # noqa: PLR2004 - two draws are the fewest that can agree


def _wrong_orders(orders: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    if not orders or not all(map(_is_order, orders)):
        yield "orders", f"whole numbers from 2 to {_LARGEST_ORDER}"
    elif len(set(orders)) != len(orders):
        yield "orders", "different orders"


def _wrong_numbers(given: Params) -> Iterator[tuple[str, str]]:
    if not (_is_number(given.level) and 0.5 <= given.level < 1):  # noqa: PLR2004 - half is no level
        yield "level", "a number from 0.5 to below 1"
    if not (_is_number(given.min_overlap) and 0 < given.min_overlap <= 1):
        yield "min_overlap", "a number above 0 and at most 1"
    if given.margin is not None and not (_is_number(given.margin) and 0 < given.margin < 1):
        yield "margin", "a number between 0 and 1"
    if given.near is not None and not (_is_number(given.near) and 0 <= given.near < _FAR):
        yield "near", "a number from 0"
    if given.first is not None and not (_is_whole(given.first) and given.first >= 1):
        yield "first", "at least 1 draw"
    if not (_is_whole(given.replicates) and _FEWEST <= given.replicates <= _MOST):
        yield "replicates", f"from {_FEWEST} to {_MOST:,}"
    if not (_is_whole(given.seed) and given.seed >= 0):
        yield "seed", "a whole number from 0"


def _wrong_words(given: Params) -> Iterator[tuple[str, str]]:
    if given.none_classes not in {"one", "by_reason"}:
        yield "none_classes", "'one' or 'by_reason'"
    if given.sequential not in {None, "shuffled", "as_drawn"}:
        yield "sequential", "'shuffled', 'as_drawn' or None"
    if given.votes not in {"votes", "abstains"}:
        yield "votes", "'votes' or 'abstains'"
