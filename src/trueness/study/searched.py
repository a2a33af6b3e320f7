"""The hardest foreign evidence that a search finds: nearest, or safest in a sensor's eyes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.serial import Json
from trueness.stats.rates import Rate, rate
from trueness.study.guards import PAGE, SOURCE, TEXT, Guard, Pool
from trueness.study.negatives import UNMATCHED, Negatives, named_population, relaxations_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Score = Callable[[int, Ints], ArrayLike]
"""Risks of a claim against the evidence of some items, low is safe, nan where not measured."""

BUDGETS = tuple(2**i for i in range(11))


@dataclass(frozen=True, slots=True)
class Shortlist:
    """Admissible items of every claim, nearest evidence first.

    Parameters
    ----------
    pool : Pool
    k : int
        At most so many a claim.
    candidates : (n,) list of int arrays
    admissible : (n,) int
        How many there were before cutting.
    excluded : mapping of str to int
        Pairs that the guard shut out, by kind, over all claims.
    """

    pool: Pool
    k: int
    candidates: tuple[Ints, ...]
    admissible: Ints
    excluded: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SearchCurve:
    """The safest-looking foreign evidence among the first K, for growing K: nested by making.

    Parameters
    ----------
    population : str
    items : sequence of str
    budgets : tuple of int
        The K.
    chosen : (n, n_budgets) int
        Position of the item whose evidence is taken; -1 where nothing was measured.
    value : (n, n_budgets) float
        Its risk; nan where there is none. Never rises along a row.
    exhausted : mapping of int to int
        Claims with fewer than K admissible candidates: all of them were used.
    excluded : mapping of str to int
    relaxations : mapping of int to mapping of str to int
        Pairs that only a relaxation let through, by kind, for every K.
    admissible : (n,) int
        How many candidates each claim had.
    """

    population: str
    items: Sequence[str]
    budgets: tuple[int, ...]
    chosen: Ints
    value: Floats
    exhausted: Mapping[int, int]
    excluded: Mapping[str, int]
    relaxations: Mapping[int, Mapping[str, int]]
    admissible: Ints

    def at(self, rows: Ints) -> "SearchCurve":
        """The curve of some of the claims; what the guard shut out stays that of all."""
        return replace(
            self,
            items=[self.items[row] for row in rows.tolist()],
            chosen=self.chosen[rows],
            value=self.value[rows],
            exhausted=_exhausted(self.admissible[rows], self.budgets),
            admissible=self.admissible[rows],
        )

    def mean(self) -> tuple[float | None, ...]:
        """Mean risk for every K, over the claims measured at the smallest."""
        there = np.isfinite(self.value[:, 0]) if len(self.budgets) else np.zeros(0, dtype=np.bool_)
        if not there.any():
            return (None,) * len(self.budgets)
        return tuple(float(v) for v in self.value[there].mean(axis=0))

    def slope(self) -> float | None:
        """Least-squares slope of the mean risk against log2 K; None below two K."""
        means = self.mean()
        if len(self.budgets) < 2 or None in means:  # noqa: PLR2004 - a line has two points
            return None
        x = np.log2(np.array(self.budgets, dtype=np.float64))
        return float(np.polyfit(x, np.array(means, dtype=np.float64), 1)[0])

    def accepted(self, taus: Mapping[int, float], *, level: float = 0.95) -> dict[int, Rate]:
        """Share of claims accepted at each K's own threshold, strictly below.

        Parameters
        ----------
        taus : mapping of K to float
            All the same for a threshold calibrated without that K.
        level : float
        """
        found = {}
        for place, budget in enumerate(self.budgets):
            values = self.value[:, place]
            there = np.isfinite(values)
            below = int((values[there] < taus[budget]).sum())
            found[budget] = rate(below, int(there.sum()), level=level)
        return found

    def negatives(self, k: int) -> Negatives:
        """The negatives of one K, for calibration and evaluation alike.

        Raises
        ------
        InputError
            For a K that is not on the curve.
        """
        if k not in self.budgets:
            msg = f"K = {k} is not on the curve; there are {', '.join(map(str, self.budgets))}."
            raise InputError(msg)
        taken = self.chosen[:, self.budgets.index(k)]
        gone = int((taken == UNMATCHED).sum())
        return Negatives(
            "value_aware",
            f"{self.population}, K = {k}",
            self.items,
            taken,
            {"no measured candidate": gone} if gone else {},
            self.relaxations[k],
            {"k": k, "exhausted": self.exhausted[k]},
        )

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "population": self.population,
            "budgets": list(self.budgets),
            "mean": list(self.mean()),
            "slope_per_log2_k": self.slope(),
            "exhausted": {str(k): n for k, n in self.exhausted.items()},
            "excluded": dict(self.excluded),
            "relaxations": {str(k): dict(kinds) for k, kinds in self.relaxations.items()},
        }


def evidence_centroids(vectors: ArrayLike, counts: Sequence[int]) -> Floats:
    """(n, d) Mean passage vector of every item; nan where an item has no passage.

    Parameters
    ----------
    vectors : (n_passages, d) float
        The passages of the first item, then of the second …
    counts : (n,) sequence of int
        Passages of each item.

    Examples
    --------
    >>> evidence_centroids([[1.0, 0.0], [0.0, 1.0]], [2]).tolist()
    [[0.5, 0.5]]
    """
    table = np.asarray(vectors, dtype=np.float64)
    sizes = np.asarray(counts, dtype=np.int64)
    if table.ndim != 2 or sizes.sum() != len(table):  # noqa: PLR2004 - passages and dimensions
        msg = f"{table.shape} passage vectors for counts of {int(sizes.sum())}; wanted (n, d)."
        raise ShapeError(msg)
    sums = np.zeros((len(sizes), table.shape[1]))
    np.add.at(sums, np.repeat(np.arange(len(sizes)), sizes), table)
    return np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], np.nan)


def shortlist(pool: Pool, claims: ArrayLike, centroids: ArrayLike, *, k: int) -> Shortlist:
    """The k admissible items whose evidence centroid is nearest to each claim.

    By cosine, ties by item name. The own source is out before counting, so k means k candidates.

    Parameters
    ----------
    pool : Pool
    claims, centroids : (n, d) float
        A zero or non-finite centroid is never a candidate, and such a claim has none.
    k : int

    Raises
    ------
    GuardUnavailable, InputError, ShapeError
    """
    if k < 1:
        msg = f"K is {k}; wanted 1 or more candidates."
        raise InputError(msg)
    one, two = _units(claims, len(pool), "claims"), _units(centroids, len(pool), "centroids")
    if one.shape != two.shape:
        msg = f"claims are {one.shape} and centroids {two.shape}; embed both with the same model."
        raise ShapeError(msg)
    guard = Guard.of(pool)
    named = np.empty(len(pool), dtype=np.int64)
    named[np.argsort(np.asarray(pool.items, dtype=np.str_), kind="stable")] = np.arange(len(pool))
    usable = np.isfinite(two).all(axis=1)
    found, sizes = [], np.zeros(len(pool), dtype=np.int64)
    excluded = dict.fromkeys((SOURCE, PAGE, TEXT, "no centroid"), 0)
    for claim in range(len(pool)):
        kinds, open_to = guard.kinds(claim), guard.admissible(claim)
        excluded[SOURCE] += int(kinds[SOURCE].sum()) - 1  # not the claim itself
        for kind in (PAGE, TEXT):
            excluded[kind] += int((kinds[kind] & ~open_to).sum())
        excluded["no centroid"] += int((open_to & ~usable).sum())
        rows = np.flatnonzero(open_to & usable)
        if not np.isfinite(one[claim]).all():
            rows = rows[:0]
        cosine = two[rows] @ one[claim]
        sizes[claim] = len(rows)
        found.append(rows[np.lexsort((named[rows], -cosine))][:k].astype(np.int64))
    return Shortlist(pool, k, tuple(found), sizes, excluded)


def hard_centroid(pool: Pool, claims: ArrayLike, centroids: ArrayLike, *, k: int = 1) -> Negatives:
    """The nearest foreign evidence of every claim; k is recorded and changes nothing here.

    Parameters, errors as :func:`shortlist`.
    """
    listed = shortlist(pool, claims, centroids, k=k)
    taken = np.array([c[0] if len(c) else UNMATCHED for c in listed.candidates], dtype=np.int64)
    gone = int((taken == UNMATCHED).sum())
    return Negatives(
        "hard_centroid",
        named_population(f"nearest centroid, K = {k}", pool),
        pool.items,
        taken,
        {"no admissible candidate": gone} if gone else {},
        relaxations_of(Guard.of(pool), taken),
        {"k": k, "excluded": dict(listed.excluded), "guard": list(pool.parts)},
    )


def value_aware(
    pool: Pool,
    claims: ArrayLike,
    centroids: ArrayLike,
    *,
    score: Score,
    budgets: Sequence[int] = BUDGETS,
) -> SearchCurve:
    """The safest-looking of the first K candidates for growing K: one list, a running minimum.

    Parameters
    ----------
    pool, claims, centroids :
        As in :func:`shortlist`.
    score : callable
        From a claim's position and candidates' positions to their risks, nan where not measured.
    budgets : sequence of int
        The K, each 1 or more.

    Raises
    ------
    GuardUnavailable, InputError, ShapeError
    """
    ks = tuple(sorted(set(budgets)))
    if not ks or ks[0] < 1:
        msg = f"budgets are {list(budgets)}; wanted one K or more, each at least 1."
        raise InputError(msg)
    listed = shortlist(pool, claims, centroids, k=ks[-1])
    chosen = np.full((len(pool), len(ks)), UNMATCHED, dtype=np.int64)
    value = np.full((len(pool), len(ks)), np.nan)
    for claim, rows in enumerate(listed.candidates):
        chosen[claim], value[claim] = _running(rows, _scores(score, claim, rows), ks)
    guard = Guard.of(pool)
    return SearchCurve(
        named_population("safest of the nearest centroids", pool),
        pool.items,
        ks,
        chosen,
        value,
        _exhausted(listed.admissible, ks),
        listed.excluded,
        {k: relaxations_of(guard, chosen[:, place]) for place, k in enumerate(ks)},
        listed.admissible,
    )


def _exhausted(admissible: Ints, ks: tuple[int, ...]) -> dict[int, int]:
    """Claims with fewer candidates than K, for every K."""
    return {k: int((admissible < k).sum()) for k in ks}


def _running(rows: Ints, risks: Floats, ks: tuple[int, ...]) -> tuple[list[int], list[float]]:
    """The least risk among the first K, and whose; the first of equals."""
    best, at, found = math.inf, UNMATCHED, []
    for row, risk in zip(rows.tolist(), risks.tolist(), strict=True):
        if risk < best:  # false for nan
            best, at = risk, row
        found.append((at, best))
    ends = [found[min(k, len(found)) - 1] if found else (UNMATCHED, math.inf) for k in ks]
    return [e[0] for e in ends], [e[1] if e[0] != UNMATCHED else math.nan for e in ends]


def _scores(score: Score, claim: int, rows: Ints) -> Floats:
    if not len(rows):
        return np.zeros(0)
    risks = np.asarray(score(claim, rows), dtype=np.float64)
    if risks.shape != rows.shape or np.isinf(risks).any():
        msg = (
            f"the score gave {risks.shape} for {len(rows)} candidates of claim {claim}; wanted one "
            "finite risk each, nan where not measured."
        )
        raise ShapeError(msg)
    return risks


def _units(vectors: ArrayLike, n: int, what: str) -> Floats:
    """Unit vectors; nan where there is no direction."""
    table = np.asarray(vectors, dtype=np.float64)
    if table.ndim != 2 or len(table) != n:  # noqa: PLR2004 - items and dimensions
        msg = f"{what} have shape {table.shape}; wanted ({n}, d), one row an item."
        raise ShapeError(msg)
    table = np.where(np.isfinite(table).all(axis=1, keepdims=True), table, np.nan)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    units: Floats = np.divide(table, norms, out=np.full_like(table, np.nan), where=norms > 0)
    return units
