"""What was said and what may be right: the two inputs of the transport problem."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.capacity import UNLIMITED

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Votes:
    """How often each entity was given each answer, as distinct pairs.

    Parameters
    ----------
    n_entities : int
        All rows: the declared entities, asked or not, and behind them the outside owners.
    n_answers : int
        All answers with a code: said, listed or both.
    entity, answer : (n_pairs,) int
        Codes of the pair. No pair stands twice.
    count : (n_pairs,) int
        Answered slots of the pair that may be right (W).
    barred : (n_pairs,) int
        Answered slots of the pair that are echo or filler: right only for an exempt entity.
    n_outside : int, default 0
        How many of the last rows are owners outside the declared entities, met as answers to
        an inverse question. They use capacity, need no right answer and fill no lower limit.

    Raises
    ------
    InputError
        For unequal lengths, codes out of range, negative counts or a repeated pair.

    Examples
    --------
    >>> votes = Votes.of(2, 2, [0, 0, 1], [0, 0, 1])
    >>> votes.count.tolist(), votes.n_slots
    ([2, 1], 3)
    """

    n_entities: int
    n_answers: int
    entity: Ints
    answer: Ints
    count: Ints
    barred: Ints
    n_outside: int = 0

    def __post_init__(self) -> None:
        for name in ("entity", "answer", "count", "barred"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))
        lengths = {len(self.entity), len(self.answer), len(self.count), len(self.barred)}
        if len(lengths) > 1:
            msg = f"entity, answer, count and barred have lengths {sorted(lengths)}; give one each."
            raise ShapeError(msg)
        _check_codes(self.entity, self.n_entities, "entity")
        _check_codes(self.answer, self.n_answers, "answer")
        if len(self.entity) and min(self.count.min(), self.barred.min()) < 0:
            msg = "a pair has a negative number of slots; count slots with whole numbers from 0."
            raise InputError(msg)
        if len(np.unique(self.pair_codes)) < len(self.entity):
            msg = "a pair of entity and answer stands twice; add its slots up (Votes.of does)."
            raise InputError(msg)
        if not 0 <= self.n_outside <= self.n_entities:
            msg = f"n_outside is {self.n_outside}; it must lie between 0 and {self.n_entities}."
            raise InputError(msg)

    @classmethod
    def of(  # noqa: PLR0917 - two sizes, two columns of codes, one mask: the table's order
        cls,
        n_entities: int,
        n_answers: int,
        entity: "Ints | list[int]",
        answer: "Ints | list[int]",
        barred: "Bools | list[bool] | None" = None,
        n_outside: int = 0,
    ) -> "Votes":
        """Votes counted from one entry a slot; ``barred`` marks the echo and filler slots."""
        rows, cols = _whole(entity, "entity"), _whole(answer, "answer")
        mark = np.zeros(len(rows), bool) if barred is None else np.asarray(barred, bool)
        if not len(rows) == len(cols) == len(mark):
            msg = f"{len(rows)} entities, {len(cols)} answers, {len(mark)} marks; one each a slot."
            raise ShapeError(msg)
        _check_codes(cols, n_answers, "answer")
        pairs, slot_pair = np.unique(rows * max(n_answers, 1) + cols, return_inverse=True)
        count = np.bincount(slot_pair[~mark], minlength=len(pairs))
        held = np.bincount(slot_pair[mark], minlength=len(pairs))
        first = np.divmod(pairs, max(n_answers, 1))
        return cls(n_entities, n_answers, *first, count, held, n_outside)

    @property
    def n_slots(self) -> int:
        """All answered slots, N."""
        return int(self.count.sum()) + int(self.barred.sum())

    @property
    def n_declared(self) -> int:
        """Entities of the declaration: all rows but the outside owners."""
        return self.n_entities - self.n_outside

    @property
    def pair_codes(self) -> Ints:
        """One whole number for each pair: entity · n_answers + answer."""
        return self.entity * self.n_answers + self.answer

    def keep(self, count: Ints, barred: Ints) -> "Votes":
        """The same entities with fewer slots: the table restricted to a set of slots."""
        return Votes(
            self.n_entities,
            self.n_answers,
            self.entity,
            self.answer,
            count,
            barred,
            self.n_outside,
        )


@dataclass(frozen=True, slots=True)
class Candidates:
    """The only answers that can be right for some entities, as compressed rows.

    ``answers[starts[e]:starts[e + 1]]`` are those of entity ``e`` where ``limited[e]``.

    >>> Candidates.of(3, {1: [0, 2]}).limited.tolist()
    [False, True, False]
    """

    starts: Ints
    answers: Ints
    limited: Bools

    @classmethod
    def of(cls, n_entities: int, by_entity: "dict[int, list[int]]") -> "Candidates":
        """Candidates from entity code to its answer codes; the others are not limited."""
        rows = [sorted(set(by_entity.get(e, ()))) for e in range(n_entities)]
        starts = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
        answers = np.array([a for row in rows for a in row], dtype=np.int64)
        limited = np.array([e in by_entity for e in range(n_entities)], dtype=bool)
        return cls(starts.astype(np.int64), answers, limited)

    def pairs(self) -> tuple[Ints, Ints]:
        """Entity and answer of every allowed pair of the limited entities."""
        entity = np.repeat(np.arange(len(self.limited)), np.diff(self.starts))
        held = self.limited[entity]
        return entity[held], self.answers[held]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the declaration allows, by code.

    Parameters
    ----------
    upper : (n_answers,) int
        For how many entities an answer may be right; ``UNLIMITED`` for any number. Filler and,
        under a closed list, unlisted answers have 0.
    lower : (n_answers,) int or None
        For how many declared entities an answer is right at least.
    rows_per_entity : (n_entities,) int or None
        How many right answers an entity may have at most; ``None`` means one each. Where all
        have one, every declared entity has exactly one; otherwise an entity may have none.
    candidates : Candidates or None
    closed : bool
        A declared entity has no right answer outside of those with ``upper`` > 0.
    barred_pairs : (n, 2) int or None
        Pairs that cannot be right even where nobody said them: entity and its own key. Needed
        under closed lists, candidates and lower limits; harmless elsewhere.
    slack : int, default 0
        How many rows, outside owners included, may break upper limits and barred pairs, never
        their candidates.

    Raises
    ------
    InputError
        For negative limits, lower above upper, lower with slack or several rows.
    """

    upper: Ints
    lower: Ints | None = None
    rows_per_entity: Ints | None = None
    candidates: Candidates | None = None
    closed: bool = False
    barred_pairs: Ints | None = None
    slack: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "upper", _whole(self.upper, "upper"))
        if self.slack < 0 or (self.upper < 0).any():
            msg = "a limit or the slack is negative; give whole numbers from 0."
            raise InputError(msg)
        if self.rows_per_entity is not None:
            rows = _whole(self.rows_per_entity, "rows_per_entity")
            object.__setattr__(self, "rows_per_entity", rows)
            if (rows < 0).any():
                msg = "rows_per_entity has a negative number; give whole numbers from 0."
                raise InputError(msg)
        if self.lower is not None:
            object.__setattr__(self, "lower", _whole(self.lower, "lower"))
            self._check_lower()

    def _check_lower(self) -> None:
        if self.lower is None or not self.lower.any():
            object.__setattr__(self, "lower", None)
        elif self.lower.shape != self.upper.shape or (self.lower < 0).any():
            msg = "lower needs one whole number from 0 for each answer, as upper has."
            raise InputError(msg)
        elif (self.lower > self.upper).any():
            where = int(np.flatnonzero(self.lower > self.upper)[0])
            low, high = int(self.lower[where]), int(self.upper[where])
            msg = f"answer {where} has lower {low} above upper {high}; lower must not exceed upper."
            raise InputError(msg)
        elif self.slack or not self.single:
            msg = "lower limits go with slack 0 and one right answer per entity; drop one of them."
            raise InputError(msg)

    @property
    def single(self) -> bool:
        """Whether every entity has exactly one right answer."""
        return self.rows_per_entity is None or bool((self.rows_per_entity == 1).all())

    def rows(self, n_entities: int) -> Ints:
        """How many right answers each entity may have."""
        if self.rows_per_entity is None:
            return np.ones(n_entities, dtype=np.int64)
        return self.rows_per_entity

    def check(self, votes: Votes) -> None:
        """Refuse limits whose sizes do not fit the votes."""
        given = (len(self.upper), len(self.rows(votes.n_entities)))
        if given != (votes.n_answers, votes.n_entities):
            msg = (
                f"limits are for (answers, entities) = {given}; the votes have "
                f"{(votes.n_answers, votes.n_entities)}. Code both with the same lists."
            )
            raise ShapeError(msg)
        if self.candidates is not None and len(self.candidates.limited) != votes.n_entities:
            msg = (
                f"candidates are for {len(self.candidates.limited)} entities; the votes have "
                f"{votes.n_entities}. Give one row for each entity, outside owners included."
            )
            raise ShapeError(msg)

        if self.candidates is not None:
            _check_codes(self.candidates.answers, votes.n_answers, "candidate")
        if self.barred_pairs is not None and len(self.barred_pairs):
            pairs = _whole(self.barred_pairs, "barred_pairs")
            _check_codes(pairs[:, 0], votes.n_entities, "barred entity")
            _check_codes(pairs[:, 1], votes.n_answers, "barred answer")

    def without_lower(self) -> "Limits":
        """The same limits with no lower ones: what survives restriction to fewer slots."""
        return Limits(
            self.upper,
            None,
            self.rows_per_entity,
            self.candidates,
            self.closed,
            self.barred_pairs,
            self.slack,
        )

    def capacity_in_total(self) -> int | None:
        """Sum of the upper limits; ``None`` where one is unlimited."""
        if (self.upper == UNLIMITED).any():
            return None
        return sum(int(limit) for limit in self.upper)


def _whole(values: object, name: str) -> Ints:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        msg = f"{name} has type {array.dtype}; whole numbers are wanted."
        raise InputError(msg)
    return array.astype(np.int64, copy=False)


def _check_codes(codes: Ints, n: int, name: str) -> None:
    if len(codes) and not 0 <= codes.min() <= codes.max() < n:
        msg = f"{name} codes span {codes.min()} to {codes.max()}; they must lie in 0 to {n - 1}."
        raise InputError(msg)
