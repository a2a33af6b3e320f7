"""Unsupported items made by giving a claim another item's evidence.

A foreign document may truly support a claim: what is made here is foreign evidence, and the share
of it that is accepted is called a false acceptance only after a person has read some of it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from trueness.contract.errors import InputError, NoNegativePossible
from trueness.contract.serial import Json
from trueness.study.guards import Guard, Pool

UNMATCHED = -1
UNREAD = "unread"
_TRIES = 2000

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Negatives:
    """Whose evidence every claim is put against.

    Parameters
    ----------
    mode : str
    population : str
        As it is printed beside every budget.
    items : sequence of str
    evidence_from : (n,) int
        Position of the item whose evidence is taken; -1 where there is none.
    unmatched : mapping of str to int
        Claims without foreign evidence, by reason.
    relaxations : mapping of str to int
        Pairs that only a relaxation let through, by kind.
    details : mapping
        What the mode adds: shift, K, seed.
    """

    mode: str
    population: str
    items: Sequence[str]
    evidence_from: Ints
    unmatched: Mapping[str, int]
    relaxations: Mapping[str, int]
    details: Mapping[str, Json]

    @property
    def matched(self) -> Ints:
        """Positions of the claims that have foreign evidence."""
        return np.flatnonzero(self.evidence_from != UNMATCHED).astype(np.int64)

    def names(self) -> list[str | None]:
        """Names of the items whose evidence is taken, None where there is none."""
        return [None if i == UNMATCHED else self.items[i] for i in self.evidence_from.tolist()]

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "mode": self.mode,
            "population": self.population,
            "n_items": len(self.items),
            "n_matched": len(self.matched),
            "evidence_from": list(self.names()),
            "unmatched": dict(self.unmatched),
            "relaxations": dict(self.relaxations),
            **self.details,
        }


def deranged(pool: Pool, *, seed: int = 0) -> Negatives:
    """Evidence exchanged by a uniform assignment in which nobody keeps what is not foreign.

    By rejection; where that does not end, by a matching of a randomly ordered pool, which is not
    uniform and says so.

    Parameters
    ----------
    pool : Pool
    seed : int

    Raises
    ------
    NoNegativePossible
        When there is no such assignment.

    Examples
    --------
    >>> made = deranged(Pool(["a", "b", "c"], ["x", "y", "z"]))
    >>> sorted(made.evidence_from.tolist()), bool((made.evidence_from == [0, 1, 2]).any())
    ([0, 1, 2], False)
    """
    _check_halves(pool, "deranged")
    guard, rng = Guard.of(pool), np.random.default_rng(seed)
    for _ in range(_TRIES):
        order = rng.permutation(len(pool)).astype(np.int64)
        if (guard.source[order] != guard.source).all() and not _faults(guard, order).any():
            return _made(
                "deranged", "random foreign evidence", guard, order, seed=seed, uniform=True
            )
    order = _matching(guard, rng)
    return _made("deranged", "random foreign evidence", guard, order, seed=seed, uniform=False)


def cyclic(pool: Pool) -> Negatives:
    """Evidence shifted by the size of the largest source, in the order of source and item.

    Raises
    ------
    NoNegativePossible
        When the largest source holds more than half of the items.

    Examples
    --------
    >>> cyclic(Pool(["a1", "a2", "b1", "b2"], ["a", "a", "b", "b"])).names()
    ['b1', 'b2', 'a1', 'a2']
    """
    _check_halves(pool, "cyclic")
    names = pool.items if pool.sources is None else pool.sources
    order = np.array(sorted(range(len(pool)), key=lambda i: (names[i], pool.items[i])))
    shift = pool.largest_source()[1]
    taken = np.empty(len(pool), dtype=np.int64)
    taken[order] = np.roll(order, -shift)
    return _made("cyclic", "foreign evidence by a shift", Guard.of(pool), taken, shift=shift)


def offset(pool: Pool, by: int) -> Negatives:
    """Evidence shifted by a number of rows; pairs that are not foreign are left unmatched.

    Parameters
    ----------
    pool : Pool
        In the order that is shifted.
    by : int
        Modulo n; 0 is refused.

    Raises
    ------
    NoNegativePossible
        When the shift gives every claim its own evidence.
    """
    n = len(pool)
    if not n or by % n == 0:
        name, size = pool.largest_source()
        msg = f"a shift by {by} of {n} items gives every claim its own evidence. Shift by another."
        raise NoNegativePossible(msg, largest_source=name, size=size, n=n)
    taken = (np.arange(n, dtype=np.int64) + by) % n
    return _made("offset", "foreign evidence by a shift", Guard.of(pool), taken, shift=by % n)


def permute(pool: Pool, *, seed: int = 0) -> Negatives:
    """Evidence exchanged by a uniform permutation; pairs that are not foreign are left unmatched.

    Parameters
    ----------
    pool : Pool
    seed : int
    """
    order = np.random.default_rng(seed).permutation(len(pool)).astype(np.int64)
    return _made("permute", "random foreign evidence", Guard.of(pool), order, seed=seed)


def sample_to_read(
    negatives: Negatives, accepted: NDArray[np.bool_], *, seed: int = 0, size: int = 50
) -> list[dict[str, Json]]:
    """Accepted negatives for a person to read, each marked unread.

    Parameters
    ----------
    negatives : Negatives
    accepted : (n,) bool
        Of the claims against their foreign evidence.
    seed : int
    size : int
        At most so many, drawn uniformly.
    """
    if accepted.shape != negatives.evidence_from.shape:
        msg = f"{accepted.shape} verdicts for {len(negatives.items)} claims; wanted one each."
        raise InputError(msg)
    there = np.flatnonzero(accepted & (negatives.evidence_from != UNMATCHED))
    drawn = np.random.default_rng(seed).permutation(there)[:size]
    names = negatives.names()
    return [
        {"claim": negatives.items[i], "evidence_from": names[i], "verdict": UNREAD}
        for i in sorted(drawn.tolist())
    ]


def rate_name(read: Sequence[Mapping[str, Json]]) -> str:
    """What the accepted share of foreign evidence may be called, from the file that was read.

    Examples
    --------
    >>> rate_name([{"claim": "a", "verdict": "unread"}])
    'accepted share of foreign evidence (unread)'
    """
    if not read or any(row.get("verdict") in {None, "", UNREAD} for row in read):
        return f"accepted share of foreign evidence ({UNREAD})"
    return "false acceptance"


def named_population(lead: str, pool: Pool) -> str:
    """A population with what its guard looks at and what was relaxed."""
    guard = "own source excluded" if pool.sources is not None else "own evidence excluded"
    relaxed = f", allowed: {', '.join(sorted(pool.allow))}" if pool.allow else ""
    return f"{lead}, {guard}{relaxed}"


def relaxations_of(guard: Guard, taken: Ints) -> dict[str, int]:
    """Pairs that only a relaxation let through, by kind."""
    found: Counter[str] = Counter()
    for claim, other in enumerate(taken.tolist()):
        if other != UNMATCHED:
            found.update(guard.relaxed(claim, other))
    return dict(found)


def _made(mode: str, lead: str, guard: Guard, taken: Ints, **details: Json) -> Negatives:
    """The pairs that are foreign; the others are unmatched and counted."""
    kept, unmatched = taken.copy(), Counter[str]()
    for claim, other in enumerate(taken.tolist()):
        why = guard.why_not(claim, other)
        if why is not None:
            kept[claim] = UNMATCHED
            unmatched[f"same {why}"] += 1
    return Negatives(
        mode,
        named_population(lead, guard.pool),
        guard.pool.items,
        kept,
        dict(unmatched),
        relaxations_of(guard, kept),
        {"guard": list(guard.pool.parts), **details},
    )


def _faults(guard: Guard, taken: Ints) -> NDArray[np.bool_]:
    pairs = enumerate(taken.tolist())
    return np.fromiter((guard.why_not(c, o) is not None for c, o in pairs), np.bool_, len(taken))


def _matching(guard: Guard, rng: np.random.Generator) -> Ints:
    n = len(guard.pool)
    order = rng.permutation(n)
    rows = [np.flatnonzero(guard.admissible(claim)[order]) for claim in range(n)]
    starts = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    graph = csr_array((np.ones(len(columns), dtype=np.int8), columns, starts), shape=(n, n))
    found = maximum_bipartite_matching(graph, perm_type="column")
    if (found < 0).any():
        raise _unassigned(guard.pool, [len(row) for row in rows])
    taken: Ints = order[found].astype(np.int64)
    return taken


def _check_halves(pool: Pool, mode: str) -> None:
    if not len(pool) or 2 * pool.largest_source()[1] > len(pool):
        raise _impossible(pool, f"{mode} needs every source to hold at most half of the items")


def _unassigned(pool: Pool, choices: Sequence[int]) -> NoNegativePossible:
    """Why no assignment is there: mostly claims whose evidence every other source shares."""
    alone = sum(n == 0 for n in choices)
    if not alone:
        return _impossible(pool, "no assignment gives every claim foreign evidence")
    name, size = pool.largest_source()
    msg = (
        f"no assignment gives every claim foreign evidence: for {alone} of {len(pool)} all other "
        "evidence is of their own source or shares a passage with their own. Take passages that "
        "stand everywhere out, add items of other sources, or use a mode that leaves claims "
        "unmatched."
    )
    return NoNegativePossible(msg, largest_source=name, size=size, n=len(pool))


def _impossible(pool: Pool, why: str) -> NoNegativePossible:
    name, size = pool.largest_source()
    msg = (
        f"{why}; the largest source {name!r} holds {size} of {len(pool)}. Add items of other "
        "sources, or use a mode that leaves claims unmatched."
    )
    return NoNegativePossible(msg, largest_source=name, size=size, n=len(pool))
