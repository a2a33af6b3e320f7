"""Counts of repeated answers, item by item: the one shape that the estimators read."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError

GOLD, WRONG, NONE, OPEN = 0, 1, 2, 3
"""Roles of a class: right, wrong, no answer, answered where the right answer is unknown."""
PARTS = ("total", "gold", "wrong", "none", "semantic")
ORDERS = (2, 3, 4)

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]

_N_ROLES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Clouds:
    """How often each item received each answer: one row a cell (item, answer).

    Build it with :meth:`of`; the constructor checks nothing.

    Attributes
    ----------
    item : (n_cells,) int64, ascending
        Index of the item.
    answer : (n_cells,) int64, ascending within an item
        Code of the class, in a space shared by everything it is compared with. No answer is a
        class like any other.
    count : (n_cells,) int64, above 0
        Draws that fell into the class.
    role : (n_cells,) int8
        ``GOLD``, ``WRONG``, ``NONE`` or ``OPEN``.
    n_items : int
        Items, those without a draw included.
    declared : (n_items,) bool or None
        Items whose right answer is known. None: all those without an ``OPEN`` class.
    """

    item: Ints
    answer: Ints
    count: Ints
    role: NDArray[np.int8]
    n_items: int
    declared: Bools | None = None

    @staticmethod
    def of(
        item: ArrayLike,
        answer: ArrayLike,
        role: ArrayLike,
        *,
        n_items: int,
        weight: ArrayLike | None = None,
        gold_known: ArrayLike | None = None,
    ) -> "Clouds":
        """Clouds from one entry a draw, in any order.

        Parameters
        ----------
        item : (n_draws,) int in [0, n_items)
        answer : (n_draws,) int
            Code of the class that the draw fell into.
        role : (n_draws,) int
            Role of that class in that item; the same for all its draws.
        n_items : int
        weight : (n_draws,) int, at least 0, optional
            How often the entry was drawn; 1 when left out.
        gold_known : (n_items,) bool, optional
            Items whose right answer is known. When left out: those without an ``OPEN`` class.

        Returns
        -------
        Clouds

        Raises
        ------
        ShapeError
            If the lengths differ.
        InputError
            If an item, a role or a weight lies outside its range, or a class has two roles.

        Examples
        --------
        >>> clouds = Clouds.of([0, 0, 0, 1], [7, 5, 7, 5], [GOLD, WRONG, GOLD, GOLD], n_items=2)
        >>> clouds.answer.tolist(), clouds.count.tolist(), clouds.draws.tolist()
        ([5, 7, 5], [1, 2, 1], [3, 1])
        """
        items, answers, roles = (_whole(n, v) for n, v in _named(item, answer, role))
        weights = None if weight is None else _whole("weight", weight)
        _check_draws(items, answers, roles, weights, n_items)
        declared = None if gold_known is None else _declared(gold_known, n_items)
        cells = _cells(items, answers, roles, weights)
        return Clouds(*cells, n_items=n_items, declared=declared)

    @property
    def starts(self) -> Ints:
        """(n_items + 1,): the cells of item i are ``starts[i]`` to ``starts[i + 1]``."""
        return np.searchsorted(self.item, np.arange(self.n_items + 1)).astype(np.int64)

    @property
    def draws(self) -> Ints:
        """(n_items,): draws of each item; 0 where there was none."""
        return self.summed(self.count)

    @property
    def gold_known(self) -> Bools:
        """(n_items,): declared so, and no class of the item is ``OPEN``."""
        known = np.ones(self.n_items, np.bool_) if self.declared is None else self.declared.copy()
        known[self.item[self.role == OPEN]] = False
        return known

    def drawn(self, role: int) -> Ints:
        """(n_items,): draws of each item that fell into classes of a role."""
        return self.summed(np.where(self.role == role, self.count, 0))

    def summed(self, values: Ints) -> Ints:
        """(n_items,): whole numbers of the cells, summed over each item."""
        before = np.zeros(len(values) + 1, np.int64)
        np.cumsum(values, out=before[1:])
        return np.diff(before[self.starts])

    def by_part(self, values: NDArray[np.float64]) -> dict[str, Floats]:
        """Numbers of the cells summed over the classes of each part: (n_items,) a part.

        nan for ``gold`` and ``wrong`` where the right answer is unknown. Whole numbers whose
        sums stay below 2**53 are summed exactly.
        """
        key = self.item * _N_ROLES + self.role
        sums = np.bincount(key, values, _N_ROLES * self.n_items).reshape(-1, _N_ROLES)
        gold, wrong, none, unknown = sums.T
        semantic = gold + wrong + unknown
        known = self.gold_known
        return {
            "total": semantic + none,
            "gold": np.where(known, gold, np.nan),
            "wrong": np.where(known, wrong, np.nan),
            "none": none,
            "semantic": semantic,
        }

    def take(self, items: ArrayLike) -> "Clouds":
        """The clouds of some items, in the order given; an item may be taken twice.

        Examples
        --------
        >>> clouds = Clouds.of([0, 1, 1], [3, 3, 4], [GOLD, GOLD, WRONG], n_items=2)
        >>> clouds.take([1, 0]).answer.tolist()
        [3, 4, 3]
        """
        wanted = _whole("items", items)
        _check_range("items", wanted, 0, self.n_items)
        starts = self.starts
        lengths = np.diff(starts)[wanted]
        place = np.repeat(starts[wanted] - (np.cumsum(lengths) - lengths), lengths)
        cells = place + np.arange(len(place))
        return Clouds(
            np.repeat(np.arange(len(wanted)), lengths),
            self.answer[cells],
            self.count[cells],
            self.role[cells],
            len(wanted),
            None if self.declared is None else self.declared[wanted],
        )

    def merged(self, *shards: "Clouds") -> "Clouds":
        """Counts added up, from clouds that share items and codes.

        Raises
        ------
        ShapeError
            If the numbers of items differ.
        InputError
            If a class has two roles.
        """
        parts = (self, *shards)
        if any(s.n_items != self.n_items for s in shards):
            sizes = ", ".join(str(s.n_items) for s in parts)
            msg = f"clouds of {sizes} items cannot be added up; build all over the same items."
            raise ShapeError(msg)
        known = None
        if any(p.declared is not None for p in parts):
            known = np.logical_and.reduce([p.gold_known for p in parts])
        return Clouds.of(
            np.concatenate([p.item for p in parts]),
            np.concatenate([p.answer for p in parts]),
            np.concatenate([p.role for p in parts]),
            n_items=self.n_items,
            weight=np.concatenate([p.count for p in parts]),
            gold_known=known,
        )


def _named(item: ArrayLike, answer: ArrayLike, role: ArrayLike) -> list[tuple[str, ArrayLike]]:
    return [("item", item), ("answer", answer), ("role", role)]


def _whole(name: str, values: ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1:
        msg = f"{name} has {array.ndim} dimensions; give one entry a draw, in one dimension."
        raise ShapeError(msg)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        msg = f"{name} holds {array.dtype}; give whole numbers, with codes for classes."
        raise InputError(msg)
    return array.astype(np.int64, copy=False)


def _declared(gold_known: ArrayLike, n_items: int) -> Bools:
    known = np.asarray(gold_known)
    if known.shape != (n_items,):
        msg = f"gold_known has shape {known.shape}; it must be ({n_items},), one entry an item."
        raise ShapeError(msg)
    return known.astype(np.bool_)


def _check_draws(items: Ints, answers: Ints, roles: Ints, weights: Ints | None, n: int) -> None:
    lengths = [len(a) for a in (items, answers, roles, weights) if a is not None]
    if len(set(lengths)) > 1:
        msg = f"item, answer, role and weight have lengths {lengths}; give one entry a draw."
        raise ShapeError(msg)
    _check_range("item", items, 0, n)
    _check_range("role", roles, 0, _N_ROLES)
    if weights is not None:
        _check_range("weight", weights, 0, np.iinfo(np.int64).max)


def _check_range(name: str, values: Ints, low: int, high: int) -> None:
    if len(values) and not (low <= values.min() and values.max() < high):
        found = f"{values.min()} to {values.max()}"
        msg = f"{name} runs from {found}; it must lie in [{low}, {high}). Renumber it."
        raise InputError(msg)


def _cells(
    items: Ints, answers: Ints, roles: Ints, weights: Ints | None
) -> tuple[Ints, Ints, Ints, NDArray[np.int8]]:
    """Distinct (item, answer) in order, with the draws of each."""
    low = int(answers.min()) if len(answers) else 0
    width = int(answers.max()) - low + 1 if len(answers) else 1
    top = int(items.max()) + 1 if len(items) else 0
    if top * width * _N_ROLES > np.iinfo(np.int64).max:
        codes, answers = np.unique(answers, return_inverse=True)
        item, answer, count, role = _cells(items, answers, roles, weights)
        return item, codes[answer], count, role
    key = (items * width + (answers - low)) * _N_ROLES + roles
    if weights is None:
        key.sort(kind="stable")  # draws come item by item: long runs are in order
        first = np.flatnonzero(_differs(key))
        count = np.diff(first, append=len(key))
    else:
        keep = np.flatnonzero(weights)
        order = keep[np.argsort(key[keep], kind="stable")]
        key = key[order]
        first = np.flatnonzero(_differs(key))
        count = np.add.reduceat(weights[order], first) if len(first) else first
    cell, role = np.divmod(key[first], _N_ROLES)
    if len(cell) and not _differs(cell).all():
        twice = int(cell[~_differs(cell)][0])
        msg = (
            f"answer {twice % width + low} of item {twice // width} has two roles; "
            "a class of an item is right, wrong or no answer. Give all its draws one role."
        )
        raise InputError(msg)
    item, answer = np.divmod(cell, width)
    return item, answer + low, count, role.astype(np.int8)


def _differs(ordered: Ints) -> Bools:
    """Whether each entry differs from the one before it."""
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new
