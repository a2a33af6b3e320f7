"""What n votes would decide, over all ways of taking n of the draws."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, Clouds, Floats
from trueness.stats.spectrum import falling_ratio

Policy: TypeAlias = Literal["votes", "abstains"]
OUTCOMES = ("gold", "wrong", "none")

_Ways: TypeAlias = NDArray[np.float64] | NDArray[np.object_]
_LARGEST_FLOAT = 1e300


@dataclass(frozen=True, slots=True)
class _Cloud:
    """All that a vote depends on: counts of the gold classes, the others, and no answer."""

    gold: tuple[int, ...]
    other: tuple[int, ...]
    none: tuple[int, ...]

    @property
    def draws(self) -> int:
        return sum(self.gold) + sum(self.other) + sum(self.none)


def pass_at(clouds: Clouds, sizes: Sequence[int]) -> Floats:
    r"""Share of the n-subsets of an item's draws that hold a right answer.

    :math:`1 - \binom{k - n_{gold}}{n} / \binom{k}{n}` (Chen et al. 2021).

    Parameters
    ----------
    clouds : Clouds
    sizes : (n_sizes,) sequence of int, at least 1

    Returns
    -------
    (n_items, n_sizes) float in [0, 1]
        nan where an item has fewer than n draws or its right answer is unknown.

    Raises
    ------
    InputError
        If a size is below 1.

    Examples
    --------
    >>> clouds = Clouds.of([0] * 3, [0, 1, 1], [0, 1, 1], n_items=1)
    >>> pass_at(clouds, (1, 2)).round(3).tolist()
    [[0.333, 0.667]]
    """
    _check_sizes(sizes)
    k = clouds.draws
    misses = k - clouds.drawn(GOLD)
    found = np.empty((clouds.n_items, len(sizes)))
    for place, n in enumerate(sizes):
        found[:, place] = 1.0 - falling_ratio(misses, k, n)
    found[~clouds.gold_known] = np.nan
    return found


def majority(
    clouds: Clouds, sizes: Sequence[int], *, policy: Policy = "votes"
) -> dict[str, Floats]:
    r"""Share of the n-subsets of an item's draws whose vote is won by gold, wrong, no answer.

    A class with j votes wins when no other has more; the win is split evenly among the tied. For
    every class and every j it is counted how many ways the others fill the n - j places with at
    most j each, by how many of them reach j. Nothing is sampled.

    Parameters
    ----------
    clouds : Clouds
    sizes : (n_sizes,) sequence of int, at least 1
        Numbers of votes n.
    policy : "votes" or "abstains"
        Whether no answer is a candidate like any other, or such draws are removed from the
        subset, which counts as no answer when nothing is left.

    Returns
    -------
    dict of str to (n_items, n_sizes) float in [0, 1]
        ``gold``, ``wrong`` and ``none``, which sum to 1. nan where an item has fewer than n draws
        and, for ``gold`` and ``wrong``, where the right answer is unknown.

    Raises
    ------
    InputError
        If a size is below 1 or the policy is unknown.

    Notes
    -----
    Voting on a concentrated wrong answer raises ``wrong`` with n.

    Examples
    --------
    >>> clouds = Clouds.of([0] * 3, [0, 1, 1], [0, 1, 1], n_items=1)
    >>> majority(clouds, (1, 3))["wrong"].round(3).tolist()
    [[0.667, 1.0]]
    """
    _check_sizes(sizes)
    _check_policy(policy)
    known = clouds.gold_known
    found = {x: np.full((clouds.n_items, len(sizes)), np.nan) for x in OUTCOMES}
    items: dict[_Cloud, list[int]] = {}
    for item, cloud in enumerate(_clouds(clouds)):
        items.setdefault(cloud, []).append(item)
    for cloud, same in items.items():
        for place, values in _curve(cloud, sizes, policy).items():
            for outcome, value in zip(OUTCOMES, values, strict=True):
                found[outcome][same, place] = value
    for outcome in ("gold", "wrong"):
        found[outcome][~known] = np.nan
    return found


def exact_majority(
    clouds: Clouds, n: int, *, item: int = 0, policy: Policy = "votes"
) -> Mapping[str, Fraction] | None:
    """The shares of one item as fractions; None with fewer than n draws.

    Where the right answer is unknown all answered classes count as ``wrong``.

    Examples
    --------
    >>> clouds = Clouds.of([0] * 4, [0, 1, 1, 2], [0, 1, 1, 2], n_items=1)
    >>> {x: str(p) for x, p in exact_majority(clouds, 2).items()}
    {'gold': '1/4', 'wrong': '1/2', 'none': '1/4'}
    """
    _check_sizes((n,))
    _check_policy(policy)
    cloud = _clouds(clouds.take([item]))[0]
    if n > cloud.draws:
        return None
    gold, none = _won(cloud, n, policy, np.dtype(object))
    whole = _scale(n) * math.comb(cloud.draws, n)
    wins = (gold[n], whole - gold[n] - none[n], none[n])
    return {x: Fraction(int(w), whole) for x, w in zip(OUTCOMES, wins, strict=True)}


def _clouds(clouds: Clouds) -> list[_Cloud]:
    """Counts of each item, sorted: equal clouds are equal objects."""
    sides = np.where(clouds.role == GOLD, 0, np.where(clouds.role == NONE, 2, 1))
    order = np.lexsort((clouds.count, sides, clouds.item))
    block, count = (clouds.item * 3 + sides)[order], clouds.count[order].tolist()
    ends = np.searchsorted(block, np.arange(3 * clouds.n_items + 1)).tolist()
    blocks = [tuple(count[a:b]) for a, b in pairwise(ends)]
    return [_Cloud(*blocks[i : i + 3]) for i in range(0, len(blocks), 3)]


def _curve(cloud: _Cloud, sizes: Sequence[int], policy: Policy) -> dict[int, list[float]]:
    """Shares of gold, wrong and no answer, by place of the size; too large sizes left out."""
    fitting = {place: n for place, n in enumerate(sizes) if n <= cloud.draws}
    if not fitting:
        return {}
    top = max(fitting.values())
    largest = math.comb(cloud.draws, min(top, cloud.draws // 2)) * _scale(top)
    gold, none = _won(cloud, top, policy, np.dtype(float if largest < _LARGEST_FLOAT else object))
    curve = {}
    for place, n in fitting.items():
        whole = _scale(top) * math.comb(cloud.draws, n)
        wrong = max(whole - gold[n] - none[n], 0)  # below 0 only by rounding, if at all
        curve[place] = [gold[n] / whole, wrong / whole, none[n] / whole]
    return curve


def _won(cloud: _Cloud, top: int, policy: Policy, kind: np.dtype[Any]) -> tuple[_Ways, _Ways]:
    """Subsets won by gold and by no answer, times the scale, by their size up to ``top``."""
    if policy == "votes":
        gold = _wins(cloud.gold, cloud.other + cloud.none, top, kind)
        return gold, _wins(cloud.none, cloud.gold + cloud.other, top, kind)
    silent = np.array([math.comb(sum(cloud.none), v) for v in range(top + 1)], kind)
    gold = np.convolve(_wins(cloud.gold, cloud.other, top, kind), silent)[: top + 1]
    return gold, silent * _scale(top)


def _wins(mine: tuple[int, ...], others: tuple[int, ...], top: int, kind: np.dtype[Any]) -> _Ways:
    """Subsets won by the classes of one side, times the scale, by their size."""
    won = np.zeros(top + 1, kind)
    for place, count in enumerate(mine):
        rest = mine[:place] + mine[place + 1 :] + others
        for votes in range(1, min(count, top) + 1):
            ways = _ways(rest, votes, top - votes, kind)
            splits = np.array([_scale(top) // (tied + 1) for tied in range(len(ways))], kind)
            won[votes:] += math.comb(count, votes) * splits.dot(ways)
    return won


def _ways(rest: tuple[int, ...], votes: int, room: int, kind: np.dtype[Any]) -> _Ways:
    """Ways to fill places with at most ``votes`` a class: [classes that reach it][places]."""
    capped = [c for c in rest if c >= votes] if votes <= room else []
    free = sum(rest) - sum(capped)
    ways = np.array([[math.comb(free, m) for m in range(room + 1)]], kind)
    for count in capped:
        rows = min(len(ways), room // votes)
        grown = np.zeros((rows + 1, room + 1), kind)
        for v in range(votes):
            grown[: len(ways), v:] += math.comb(count, v) * ways[:, : room + 1 - v]
        grown[1:, votes:] += math.comb(count, votes) * ways[:rows, : room + 1 - votes]
        ways = grown
    return ways


def _scale(top: int) -> int:
    """Wins of ties up to ``top`` classes are whole numbers in its units."""
    return math.lcm(*range(1, top + 1))


def _check_sizes(sizes: Sequence[int]) -> None:
    for n in sizes:
        if n != int(n) or n < 1:
            msg = f"{n!r} votes cannot be cast; give whole numbers of at least 1."
            raise InputError(msg)


def _check_policy(policy: str) -> None:
    if policy not in {"votes", "abstains"}:
        msg = f"policy is {policy!r}; it is 'votes' or 'abstains'."
        raise InputError(msg)
