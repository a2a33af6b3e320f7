"""One transport problem: what totals rule out, its components, its slack and its witness."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueness.stats.assignment import Choice, choose_heaviest
from trueness.stats.edges import Build, build, exempt_pairs, joker_weights
from trueness.stats.jokers import Exempting
from trueness.stats.relaxation import relaxed_by_component
from trueness.stats.setvalued import replace_rows, replaced_bound
from trueness.stats.transport_result import TransportResult
from trueness.stats.violators import Violator, find_violator
from trueness.stats.votes import Limits, Votes

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BRANCHED_EDGES = 2_000


@dataclass(frozen=True, slots=True)
class Problem:
    """Edges of the votes under the limits, with what is solved and what is bounded."""

    votes: Votes
    limits: Limits
    built: Build
    solve_parts: Bools
    bound: Ints

    @classmethod
    def of(cls, votes: Votes, limits: Limits, ceiling: int) -> "Problem":
        """The problem with its components; those of more than ``ceiling`` edges are bounded."""
        built = build(votes, limits, max_fill=max(ceiling, 0))
        edges = built.edges
        size = np.bincount(edges.component, minlength=edges.n_components)
        return cls(votes, limits, built, size <= ceiling, relaxed_by_component(edges))

    def solve(self) -> TransportResult:
        """The most right slots with the witness, or the reason why no truth exists."""
        edges = self.built.edges
        plain, by_part = self._without_slack()
        blank = TransportResult(
            right=self.votes.n_slots,
            n_slots=self.votes.n_slots,
            exact=True,
            feasible=False,
            reason=self.dead(),
            violator=None,
            entity=np.zeros(0, dtype=np.int64),
            answer=np.zeros(0, dtype=np.int64),
            exempt=np.zeros(self.votes.n_entities, dtype=bool),
            pair_component=self._pair_component(),
            component_errors=edges.total(edges.weight) - by_part,
        )
        if blank.reason is not None:
            return replace(blank, violator=self._whole_list())
        if self.limits.slack and not self.limits.single:
            return self._set_valued(blank)
        if self.limits.slack:
            return self._exempting(blank, plain.chosen)
        short = self._unfilled(plain.chosen)
        if len(short):
            return self._impossible(blank, plain.chosen, short[:1])
        if not self._required_filled(plain.chosen):
            return replace(blank, reason="the lower limits cannot all be met")
        return self._attained(blank, int(by_part.sum()), plain.chosen, blank.exempt)

    def dead(self) -> str | None:
        """Why no truth exists, where that follows from totals alone."""
        limits, n = self.limits, self.votes.n_declared
        if limits.lower is not None and sum(limits.lower.tolist()) > n:
            return "the lower limits add up to more than the declared entities"
        total = limits.capacity_in_total()
        if limits.closed and limits.single and total is not None and total < n - limits.slack:
            return "the closed list has room for fewer than the declared entities"
        return "an entity has no candidate" if self.dead_whatever_slack() else None

    def dead_whatever_slack(self) -> bool:
        """Whether a declared entity has no candidate at all."""
        limits = self.limits
        if limits.candidates is None or not limits.single:
            return False
        return bool(self._without_candidates().any())

    def _without_candidates(self) -> Bools:
        candidates = self.limits.candidates
        empty = np.zeros(self.votes.n_entities, dtype=bool)
        if candidates is not None:
            empty = candidates.limited & (np.diff(candidates.starts) == 0)
        empty[self.votes.n_declared :] = False
        return empty

    def _whole_list(self) -> Violator | None:
        none = np.zeros(0, dtype=np.int64)
        if self.dead_whatever_slack():
            return Violator(np.flatnonzero(self._without_candidates())[:1], none, 0)
        total = self.limits.capacity_in_total()
        if self.limits.closed and total is not None and total < self.votes.n_declared:
            listed = np.flatnonzero(self.limits.upper > 0)
            return Violator(np.arange(self.votes.n_declared), listed, total)
        return None

    def _without_slack(self) -> tuple[Choice, Ints]:
        """The choice of the solved components, and the right slots of every component."""
        edges = self.built.edges
        bonus = edges.total(edges.weight) + 1
        benefit = edges.weight + np.where(edges.must[edges.row], bonus[edges.component], 0)
        choice = choose_heaviest(edges, benefit, self.solve_parts)
        right = edges.total(np.where(choice.chosen, edges.weight, 0)) + choice.gap
        return choice, np.where(self.solve_parts, np.minimum(right, self.bound), self.bound)

    def _unfilled(self, chosen: Bools) -> Ints:
        """Rows of solved components that must be filled and are not."""
        edges = self.built.edges
        open_ = edges.must.copy()
        open_[edges.row[chosen]] = False
        open_[edges.row[~self.solve_parts[edges.component]]] = False
        return np.flatnonzero(open_)

    def _required_filled(self, chosen: Bools) -> bool:
        lower = self.limits.lower
        if lower is None or not self.built.complete:
            return True
        edges = self.built.edges
        helped = edges.answer[chosen & edges.helps]
        filled = np.bincount(helped, minlength=len(lower) + 1)[: len(lower)] >= lower
        bounded = edges.answer[~self.solve_parts[edges.component]]
        filled[bounded[bounded < len(lower)]] = True
        return bool(filled.all())

    def _exempting(self, blank: TransportResult, chosen: Bools) -> TransportResult:
        best = self.exempting().best(self.limits.slack)
        if best.right is None:
            return self._impossible(blank, chosen, self._unfilled(chosen))
        return self._attained(blank, best.right, best.chosen, best.exempt)

    def exempting(self) -> Exempting:
        """The problem with a price on exemptions."""
        joker = joker_weights(self.votes, self.limits)
        return Exempting(self.built.edges, joker, self.solve_parts, self.bound)

    def _set_valued(self, blank: TransportResult) -> TransportResult:
        edges = self.built.edges
        joker = joker_weights(self.votes, self.limits)
        jokers = int(np.sort(joker)[::-1][: self.limits.slack].sum())
        right = int((edges.total(edges.weight) - blank.component_errors).sum()) + jokers
        right = min(right, replaced_bound(edges, joker, self.limits.slack))
        if len(edges.weight) > BRANCHED_EDGES or not self.solve_parts.all():
            nothing = np.zeros(len(edges.weight), dtype=bool)
            return replace(self._attained(blank, right, nothing, blank.exempt), exact=False)
        best = replace_rows(edges, joker, self.limits.slack)
        return self._attained(blank, min(right, best.bound), best.chosen, best.exempt)

    def _impossible(self, blank: TransportResult, chosen: Bools, short: Ints) -> TransportResult:
        violator = find_violator(self.built.edges, chosen, short)
        return replace(blank, reason="no truth satisfies the declaration", violator=violator)

    def _attained(
        self, blank: TransportResult, right: int, chosen: Bools, exempt: Bools
    ) -> TransportResult:
        """The result with its witness, exact where a recount of the witness gives ``right``."""
        edges, votes = self.built.edges, self.votes
        named = chosen & (edges.answer < votes.n_answers) & ~exempt[edges.row]
        row, answer = exempt_pairs(votes, self.limits, exempt)
        recount = int(edges.weight[named].sum())
        recount += int(joker_weights(votes, self.limits)[exempt].sum())
        right = min(right, votes.n_slots)
        whole = bool(self.solve_parts.all()) and self.built.complete
        return replace(
            blank,
            right=right,
            exact=whole and recount == right,
            feasible=True,
            entity=np.concatenate([edges.row[named], row]),
            answer=np.concatenate([edges.answer[named], answer]),
            exempt=exempt,
        )

    def _pair_component(self) -> Ints:
        votes, edges = self.votes, self.built.edges
        codes = edges.row * votes.n_answers + edges.answer
        codes = np.where(edges.answer < votes.n_answers, codes, -1)
        out = np.full(len(votes.entity), -1, dtype=np.int64)
        if len(codes) == 0:
            return out
        order = np.argsort(codes)
        spot = np.searchsorted(codes, votes.pair_codes, sorter=order)
        at = order[np.minimum(spot, len(codes) - 1)]
        hit = (codes[at] == votes.pair_codes) & (votes.count > 0)
        out[hit] = edges.component[at[hit]]
        return out
