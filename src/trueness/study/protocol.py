"""Protocol P: everything that is fitted is fitted without the sources that it is tried on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.serial import Json
from trueness.stats.logistic import fit_ridge_logistic
from trueness.study.results import Record

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Scorer = Callable[[Bools, Bools], Floats]
"""From the rows that are learnt from and those that are held out to scores of the latter."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How scores are made and their uncertainty found.

    Parameters
    ----------
    folds, repeats : int
        Folds of sources, dealt anew so many times; a row's score is its mean over them.
    resamples : int
        Of the bootstrap over sources. The fitted model stays fixed: a resample weighs its scores
        out of fold and fits nothing again.
    ridge : float
        Penalty of a logistic score.
    level : float
        Of intervals.
    seed : int
    """

    folds: int = 5
    repeats: int = 5
    resamples: int = 2_000
    ridge: float = 1.0
    level: float = 0.95
    seed: int = 0

    @classmethod
    def of(cls, declared: Mapping[str, Any], *, seed: int) -> "Protocol":
        """What the table ``protocol`` of a declaration says; the usual for what it leaves out."""
        names = ("folds", "repeats", "resamples", "ridge", "level")
        return cls(**{name: declared[name] for name in names if name in declared}, seed=seed)

    def text(self) -> str:
        """In one line, for the result."""
        return (
            f"{self.folds} folds of sources, dealt {self.repeats} times; scores out of fold, "
            f"averaged; {self.resamples} resamples of sources, fitted scores fixed, differences "
            "on the same resamples; p from the share of resamples beyond the null, twice the "
            "smaller, counting one more"
        )


@dataclass(frozen=True, slots=True)
class Scored:
    """Risks of one population: every number of a control comes from these.

    Parameters
    ----------
    name : str
        Of the population.
    data : str
        Slice that it was made of.
    items : (n,) tuple of str
    groups : (n,) int
        Source of every row, as a number.
    unsupported : (n,) bool
    columns : mapping of str to (n,) float
        High is meant to point to unsupported; nan where not measured.
    """

    name: str
    data: str
    items: tuple[str, ...]
    groups: Ints
    unsupported: Bools
    columns: Mapping[str, Floats]

    def __post_init__(self) -> None:
        n = len(self.items)
        for name, column in (
            ("groups", self.groups),
            ("unsupported", self.unsupported),
            *self.columns.items(),
        ):
            if column.shape != (n,):
                msg = f"{name} has shape {column.shape} for {n} rows; wanted one number a row."
                raise ShapeError(msg)

    def take(self, rows: Bools) -> "Scored":
        """Some of the rows, in their order."""
        items = tuple(self.items[row] for row in np.flatnonzero(rows).tolist())
        kept = {name: column[rows] for name, column in self.columns.items()}
        groups, unsupported = self.groups[rows], self.unsupported[rows]
        return Scored(self.name, self.data, items, groups, unsupported, kept)

    def to_record(self) -> dict[str, Json]:
        """Plain JSON, a list a column: exact, and read back by `scored_from`."""
        return {
            "population": self.name,
            "data": self.data,
            "item": list(self.items),
            "group": list(self.groups.tolist()),
            "unsupported": list(self.unsupported.astype(int).tolist()),
            **{name: _exact(column) for name, column in self.columns.items()},
        }


_FIXED = ("population", "data", "item", "group", "unsupported")


def scored_from(record: Record) -> Scored:
    """A population from its line of a table.

    Examples
    --------
    >>> made = scored_of("p", ["a", "b"], ["x", "y"], [True, False], {"risk": [0.1, None]})
    >>> scored_from(made.to_record()).columns["risk"].tolist()
    [0.1, nan]
    """
    fixed: dict[str, Any] = {name: record[name] for name in _FIXED}
    columns: dict[str, Any] = {k: v for k, v in record.items() if k not in _FIXED}
    return Scored(
        fixed["population"],
        fixed["data"],
        tuple(fixed["item"]),
        np.array(fixed["group"], np.int64),
        np.array(fixed["unsupported"], np.bool_),
        {name: _floats(column) for name, column in columns.items()},
    )


def scored_of(
    name: str,
    items: Sequence[str],
    groups: Sequence[str],
    unsupported: ArrayLike,
    columns: Mapping[str, Sequence[float | None] | Floats],
    *,
    data: str = "own",
) -> Scored:
    """A population from plain columns; None and nan are what was not measured."""
    return Scored(
        name,
        data,
        tuple(items),
        codes_of(groups),
        np.asarray(unsupported, np.bool_),
        {key: _floats(column) for key, column in columns.items()},
    )


def codes_of(groups: Sequence[str]) -> Ints:
    """(n,) Numbers of sources, from 0 in the order of their first row.

    >>> codes_of(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    place = {name: i for i, name in enumerate(dict.fromkeys(groups))}
    return np.array([place[name] for name in groups], np.int64)


def folds_of(groups: ArrayLike, *, folds: int, seed: Sequence[int] | int = 0) -> Ints:
    """(n,) Fold of every row: sources are shuffled and dealt in turn, each whole.

    Parameters
    ----------
    groups : (n,) int
    folds : int
        Fewer sources than that make as many folds as there are sources.
    seed : int or sequence of int

    Raises
    ------
    InputError
        For fewer than two folds.

    Examples
    --------
    >>> found = folds_of([0, 0, 1, 1], folds=2)
    >>> bool(found[0] == found[1] != found[2])
    True
    """
    if folds < 2:  # noqa: PLR2004 - one to learn from, one to try on
        msg = f"{folds} folds; wanted two or more, such as 5."
        raise InputError(msg)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
    n_groups = int(codes.max(initial=-1)) + 1
    dealt = np.empty(n_groups, np.int64)
    order = np.random.default_rng(seed).permutation(n_groups)
    dealt[order] = np.arange(n_groups) % min(folds, max(n_groups, 1))
    found: Ints = dealt[codes]
    return found


def out_of_fold(score: Scorer, groups: ArrayLike, protocol: Protocol) -> Floats:
    """(n,) Score of every row by models that saw nothing of its source.

    Parameters
    ----------
    score : callable
        Is called once a fold and dealing.
    groups : (n,) int
        One number a row instead of a source makes it a split of rows.
    protocol : Protocol

    Returns
    -------
    (n,) float
        Mean over the dealings; nan where any of them gave none.
    """
    codes = np.asarray(groups)
    total = np.zeros(len(codes))
    for repeat in range(protocol.repeats):
        fold = folds_of(codes, folds=protocol.folds, seed=[protocol.seed, repeat])
        for number in range(int(fold.max(initial=-1)) + 1):
            held = fold == number
            total[held] += score(~held, held)
    mean: Floats = total / protocol.repeats
    return mean


def ridge_scorer(columns: Sequence[Floats], unsupported: Bools, *, ridge: float = 1.0) -> Scorer:
    """A ridge logistic score of several columns; scaled and fitted on the rows learnt from.

    Rows that lack a number take no part and get nan; so do all where the rows learnt from hold
    one class only.
    """
    table = np.column_stack(list(columns))
    whole = np.atleast_1d(np.isfinite(table).all(axis=1))

    def score(learnt: Bools, held: Bools) -> Floats:
        rows = learnt & whole
        found = np.full(int(held.sum()), np.nan)
        there = whole[held]
        if there.any() and 0 < int(unsupported[rows].sum()) < int(rows.sum()):
            fitted = fit_ridge_logistic(table[rows], unsupported[rows], ridge=ridge)
            found[there] = fitted.predict_proba(table[held & whole])[:, 1]
        return found

    return score


def fitted(
    columns: Sequence[Floats],
    unsupported: Bools,
    groups: ArrayLike,
    protocol: Protocol,
) -> Floats:
    """(n,) Ridge logistic scores out of fold, averaged over the dealings.

    Examples
    --------
    >>> x = np.array([0.0, 1.0] * 10)
    >>> found = fitted([x], x > 0, np.arange(20) // 2, Protocol(repeats=1))
    >>> bool(found[1] > 0.5 > found[0])
    True
    """
    return out_of_fold(ridge_scorer(columns, unsupported, ridge=protocol.ridge), groups, protocol)


def _exact(column: Floats) -> list[Json]:
    """Whole numbers without their point: shorter, and read back as the same."""
    return [None if np.isnan(v) else int(v) if v.is_integer() else v for v in column.tolist()]


def _floats(column: Sequence[float | None] | Floats) -> Floats:
    return np.array([np.nan if v is None else v for v in column], np.float64)
