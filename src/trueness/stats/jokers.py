"""Slack: at most d entities are exempt from limits, priced so that components stay apart.

With a price λ for each exemption the problem falls into its components again. The number of
right slots is concave in d, so right(d) = min over whole λ ≥ 0 of λ·d + M(λ).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueness.stats.assignment import choose_heaviest
from trueness.stats.edges import Edges

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Slack:
    """The best use of exemptions; ``right`` is ``None`` where no truth has so few of them."""

    right: int | None
    chosen: Bools
    exempt: Bools


@dataclass(frozen=True, slots=True)
class _Priced:
    value: int
    chosen: Bools
    exempt: Bools
    n_exempt: int


@dataclass(frozen=True, slots=True)
class Exempting:
    """The problem with exemptions.

    Parameters
    ----------
    edges : Edges
    joker : (n_rows,) int
        Right slots of an exempt entity, -1 where it cannot be exempt.
    solve : (n_components,) bool
        Components to solve; the others count with ``bound``.
    bound : (n_components,) int
        Upper bound on the right slots without exemptions.
    """

    edges: Edges
    joker: Ints
    solve: Bools
    bound: Ints

    def best(self, d: int) -> Slack:
        """The most right slots with at most ``d`` exempt entities, and a choice attaining it."""
        price = self._price(d)
        few = self._priced(price, tie=-1)
        if few.n_exempt > d:
            return Slack(None, few.chosen, few.exempt)
        if price == 0 or few.n_exempt == d:
            return Slack(few.value + price * d, few.chosen, few.exempt)
        many = self._priced(price, tie=1)
        chosen, exempt = self._between(few, many, d)
        return Slack(few.value + price * d, chosen, exempt)

    def fewest_for_all(self, n_slots: int) -> int | None:
        """Least number of exemptions that leaves no certified error; ``None`` where none does."""
        free = self._priced(0, tie=-1)
        return free.n_exempt if free.value >= n_slots else None

    def _price(self, d: int) -> int:
        """Least price at which at most ``d`` exemptions are worth it; beyond N it is the needed."""
        top = int(self.edges.weight.sum()) + int(np.maximum(self.joker, 0).sum()) + 1
        low, high = -1, 0
        while high < top and self._priced(high, tie=-1).n_exempt > d:
            low, high = high, min(2 * high + 1, top)
        while high - low > 1:
            middle = (low + high) // 2
            if self._priced(middle, tie=-1).n_exempt > d:
                low = middle
            else:
                high = middle
        return high

    def _priced(self, price: int, *, tie: int) -> _Priced:
        """Best value at a price; ``tie`` -1 takes the fewest exemptions of all best, 1 the most."""
        edges, scale = self.edges, len(self.joker) + 1
        must = edges.must
        can = self.joker >= 0
        worth = (self.joker - price) * scale + tie
        alone = np.where(can & (must | (worth > 0)), worth, 0)  # value of a row without an edge
        benefit = edges.weight * scale - alone[edges.row]
        choice = choose_heaviest(edges, benefit, self.solve)
        placed = np.zeros(len(must), dtype=bool)
        placed[edges.row[choice.chosen]] = True
        unsolved = np.zeros(len(must), dtype=bool)
        unsolved[edges.row[~self.solve[edges.component]]] = True
        exempt = can & ~placed & ((must & ~unsolved) | (worth > 0))
        right = int(edges.weight[choice.chosen].sum()) + int(self.bound[~self.solve].sum())
        right += int(self.joker[exempt].sum())
        if choice.gap.any():  # a bound, no proof: round up
            right += int(choice.gap.sum()) // scale + 2
        n_exempt = int(exempt.sum())
        return _Priced(right - price * n_exempt, choice.chosen, exempt, n_exempt)

    def _between(self, few: _Priced, many: _Priced, d: int) -> tuple[Bools, Bools]:
        """A best choice with exactly ``d`` exemptions: whole components of ``many``, one split."""
        edges = self.edges
        part = np.full(len(self.joker), edges.n_components)  # rows without an edge: one each
        part[edges.row] = edges.component
        free = part == edges.n_components
        part[free] = edges.n_components + np.arange(int(free.sum()))
        size = edges.n_components + len(part)
        more = np.bincount(part[many.exempt], minlength=size)
        more -= np.bincount(part[few.exempt], minlength=size)
        total = few.n_exempt + np.cumsum(np.maximum(more, 0))
        switch = (more > 0) & (total <= d)
        chosen, exempt = few.chosen.copy(), few.exempt.copy()
        by_edge, by_row = switch[edges.component], switch[part]
        chosen[by_edge], exempt[by_row] = many.chosen[by_edge], many.exempt[by_row]
        short = d - int(exempt.sum())
        if short > 0:
            split = int(np.flatnonzero(total > d)[0])
            n = int(few.exempt[part == split].sum()) + short
            self._split(split, n, chosen, exempt)
        return chosen, exempt

    def _split(self, split: int, n: int, chosen: Bools, exempt: Bools) -> None:
        """Solve one component with a column of ``n`` exemptions, shared by its rows."""
        edges = self.edges
        at = np.flatnonzero(edges.component == split)
        rows = np.unique(edges.row[at])
        rows = rows[self.joker[rows] >= 0]
        if split >= edges.n_components or not self.solve[split]:
            return
        row = np.concatenate([edges.row[at], rows])
        weight = np.concatenate([edges.weight[at], self.joker[rows]])
        whole = replace(
            edges,
            row=row,
            col=np.concatenate([edges.col[at], np.full(len(rows), len(edges.cap))]),
            answer=np.concatenate([edges.answer[at], np.full(len(rows), -1)]),
            weight=weight,
            helps=np.ones(len(row), dtype=bool),
            component=np.zeros(len(row), dtype=np.int64),
            n_components=1,
            cap=np.append(edges.cap, n),
            required=np.append(edges.required, 0),
        )
        bonus = int(weight.sum()) + 1
        found = choose_heaviest(whole, weight + bonus * edges.must[row], np.array([True])).chosen
        chosen[at] = found[: len(at)]
        exempt[edges.row[at]] = False
        exempt[rows[found[len(at) :]]] = True
