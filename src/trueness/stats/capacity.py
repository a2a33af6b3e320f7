"""One column of answers: how many cannot be right, in one pass over integer codes.

With c(a) the count of answer a and cap(a) its upper limit, at most min(c, cap) of the entities
that said a can be right, so at least Σ_a max(0, c − cap) are wrong, and some truth attains it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError

UNLIMITED = int(np.iinfo(np.int64).max)
"""The upper limit of an answer that may be right for any number of entities."""

Ints = NDArray[np.int64]
Codes = NDArray[np.integer]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ColumnCertificate:
    """What one column of answers proves.

    ``certified_errors`` is after slack, the four numbers of the breakdown are before.
    ``withheld`` marks the slots in input order; ``break_even_slack`` is the least slack that
    leaves nothing; ``largest_orbit`` is ``None`` where nothing was answered.
    """

    certified_errors: int
    n_answered: int
    n_orbits: int
    largest_orbit: int | None
    echo: int
    filler: int
    inadmissible: int
    over_capacity: int
    break_even_slack: int
    withheld: Bools


@dataclass(frozen=True, slots=True)
class Groups:
    """Equal codes brought together: ``order`` sorts the slots, ``counts`` measures each key."""

    keys: Codes
    counts: Ints
    order: NDArray[np.intp]

    def gather(self, by_key: Bools) -> Bools:
        """One value for each slot, in input order, from one value for each key."""
        out = np.empty(len(self.order), dtype=bool)
        out[self.order] = np.repeat(by_key, self.counts)
        return out


def over_capacity(counts: Ints, upper: Ints) -> int:
    r"""Number of answers that cannot be right: :math:`\sum_a \max(0, c(a) - cap(a))`.

    Parameters
    ----------
    counts, upper : (n_answers,) int
        How often each answer was said and for how many entities it may be right.

    Examples
    --------
    >>> over_capacity(np.array([3, 1]), np.array([1, UNLIMITED]))
    2
    """
    return int(np.maximum(counts - upper, 0).sum())


def certify_column(
    codes: Codes,
    upper: Ints,
    *,
    echo: Bools | None = None,
    filler: Bools | None = None,
    slack: int = 0,
) -> ColumnCertificate:
    r"""The certificate of one column of dense codes.

    :math:`k = \max(0, n_{echo} + n_{filler} + \sum_a \max(0, c(a) - cap(a)) - d)`.
    Exact without candidates and lower limits, except where a closed list holds an entity's own
    key that it may not have: then sound only.

    Parameters
    ----------
    codes : (n_slots,) int
        Answer code of each slot, -1 where nothing was answered. One slot an entity.
    upper : (n_answers,) int
        Upper limit of each answer.
    echo, filler : (n_slots,) bool or None
        Slots that are certainly wrong and take no part in the counts. Echo goes first.
    slack : int
        How many entities may break a limit, d.

    Raises
    ------
    InputError
        For codes outside of -1 to n_answers - 1.

    Examples
    --------
    >>> found = certify_column(np.array([0, 0, 1, -1]), np.array([1, 1]))
    >>> found.certified_errors, found.n_answered, found.withheld.tolist()
    (1, 3, [True, True, False, False])
    """
    counts = _count(codes, len(upper))
    said = counts
    held = _certain(codes, echo, filler)
    if held.mask is not None:
        counts = counts - np.bincount(codes[held.mask], minlength=len(upper))
    full = np.append(counts > upper, False)  # code -1 reads the last entry
    withheld = full[codes]
    if held.mask is not None:
        withheld |= held.mask
    certain = (held.n_echo, held.n_filler)
    return _certificate(counts, upper, said=said, withheld=withheld, certain=certain, slack=slack)


def group_codes(codes: Codes) -> Groups:
    """Distinct codes, how often each stands there and the order that sorts the slots.

    >>> group_codes(np.array([7, -2, 7])).counts.tolist()
    [1, 2]
    """
    order = np.argsort(codes)
    ranked = codes[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])[: len(codes)])
    keys = ranked[starts]
    del ranked
    return Groups(keys, np.diff(starts, append=len(codes)), order)


def certify_keys(
    codes: Codes,
    *,
    default_upper: int,
    listed: Codes | None = None,
    limits: Ints | None = None,
    slack: int = 0,
) -> ColumnCertificate:
    """The certificate of one column of arbitrary 64-bit codes, all of them answers.

    Parameters
    ----------
    codes : (n_slots,) int
        Any codes, hashes for example. Leave out what was not answered.
    default_upper : int
        Upper limit of an answer that is not listed: 0 for a closed list.
    listed, limits : (n_listed,) int or None
        Codes with an upper limit of their own, and that limit.
    slack : int
        How many entities may break a limit.

    Examples
    --------
    >>> codes = np.array([10**12, 5, 10**12])
    >>> certify_keys(codes, default_upper=1).withheld.tolist()
    [True, False, True]
    """
    groups = group_codes(codes)
    upper = np.full(len(groups.keys), default_upper, dtype=np.int64)
    own = np.zeros(0, dtype=np.int64) if listed is None else listed
    theirs = np.zeros(0, dtype=np.int64) if limits is None else limits
    if own.shape != theirs.shape:
        msg = f"{len(own)} listed codes and {len(theirs)} limits; give one limit each."
        raise ShapeError(msg)
    if len(groups.keys):
        spot = np.minimum(np.searchsorted(groups.keys, own), len(groups.keys) - 1)
        hit = groups.keys[spot] == own
        upper[spot[hit]] = theirs[hit]
    withheld = groups.gather(groups.counts > upper)
    return _certificate(
        groups.counts, upper, said=groups.counts, withheld=withheld, certain=(0, 0), slack=slack
    )


def errors_with_lower_limits(
    counts: Ints, upper: Ints, lower: Ints, *, n_barred: int = 0, n_missing: int = 0
) -> int:
    r"""Certified errors of one column with lower limits, one right answer per entity.

    :math:`k = \max(n_{barred} + \sum_a (c - hi)^+, \sum_a (lo - c)^+ - n_{missing})`.
    Exact without echo and filler, sound with them.

    Parameters
    ----------
    counts, upper, lower : (n_answers,) int
        Over all answers, said or not.
    n_barred : int
        Echo and filler slots, which are not in ``counts``.
    n_missing : int
        Declared entities without an answered slot in this column: they might own what is missing.

    Examples
    --------
    >>> errors_with_lower_limits(np.array([3, 0]), np.array([5, 5]), np.array([0, 2]))
    2
    """
    return max(n_barred + over_capacity(counts, upper), under_use(counts, lower, n_missing))


def under_use(counts: Ints, lower: Ints, n_missing: int = 0) -> int:
    r"""Answers that were said too rarely: :math:`(\sum_a (lo - c)^+ - n_{missing})^+`."""
    return max(0, over_capacity(lower, counts) - n_missing)


@dataclass(frozen=True, slots=True)
class _Certain:
    """Slots that are wrong whatever the counts; no mask where there are none."""

    mask: Bools | None
    n_echo: int
    n_filler: int


def _certain(codes: Codes, echo: Bools | None, filler: Bools | None) -> _Certain:
    if echo is None and filler is None:
        return _Certain(None, 0, 0)
    for marks in (echo, filler):
        if marks is not None and marks.shape != codes.shape:
            msg = f"{len(codes)} codes, {len(marks)} marks; echo and filler need one mark for each."
            raise ShapeError(msg)
    answered = codes >= 0
    own = np.zeros(len(codes), bool) if echo is None else echo & answered
    empty = np.zeros(len(codes), bool) if filler is None else filler & answered & ~own
    return _Certain(own | empty, int(own.sum()), int(empty.sum()))


def _count(codes: Codes, n_answers: int) -> Ints:
    if len(codes) == 0:
        return np.zeros(n_answers, dtype=np.int64)
    low, high = int(codes.min()), int(codes.max())
    if low < -1 or high >= n_answers:
        msg = (
            f"codes span {low} to {high}; they must lie in -1 to {n_answers - 1}. "
            "Give one upper limit for each code."
        )
        raise InputError(msg)
    if low == -1:
        return np.bincount(codes + 1, minlength=n_answers + 1)[1:]
    return np.bincount(codes, minlength=n_answers)


def _certificate(
    counts: Ints,
    upper: Ints,
    *,
    said: Ints,
    withheld: Bools,
    certain: tuple[int, int],
    slack: int,
) -> ColumnCertificate:
    if slack < 0 or (upper < 0).any():
        msg = "an upper limit or the slack is negative; give whole numbers from 0."
        raise InputError(msg)
    inadmissible = int(counts[upper == 0].sum())
    over = over_capacity(counts, upper)
    before_slack = sum(certain) + over
    return ColumnCertificate(
        certified_errors=max(0, before_slack - slack),
        n_answered=int(said.sum()),
        n_orbits=int(np.count_nonzero(said)),
        largest_orbit=int(said.max()) if said.any() else None,
        echo=certain[0],
        filler=certain[1],
        inadmissible=inadmissible,
        over_capacity=over - inadmissible,
        break_even_slack=before_slack,
        withheld=withheld,
    )
