"""The rule that picks one condition of several, with its words: used to decide and to replay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from trueness.contract import ItemVerdict, Verdict
from trueness.contract.serial import Json

NOT_RIGHT = "not_right_floor"
"""Proved wrong answers and no-answers over the slots that were measured."""

_MOST_SLOTS = 10**9
_BY_TOKENS = ("fewest added tokens, then declared order", "added tokens, then order")
_BY_ORDER = (
    "declared order, for added tokens are not known of every candidate",
    "order, for added tokens are not known of each",
)
_UNKNOWN = (
    "at least one candidate does not say how long it is, and lengths count only where all are known"
)
_NOT_NEEDED = "of the baseline, which no tie is about"
_CAVEAT = "This compares what is proved wrong, not what is wrong."


@dataclass(frozen=True, slots=True)
class Contender:
    """One condition as the rule sees it.

    ``score`` is what is minimised, ``added_tokens`` what the condition costs beyond the bare
    question, None where that is not known, ``order`` its place among the conditions as declared.
    """

    name: str
    score: Fraction
    added_tokens: int | None
    order: int


def lowest(contenders: Sequence[Contender], *, baseline: str) -> tuple[Contender, ...]:
    """Candidates with the lowest score, strictly below the baseline's; the one to take first.

    Ties go to the fewest added tokens, where they are known of every candidate, then to the
    declared order. Empty: decline.

    Examples
    --------
    >>> of = lambda name, score, tokens, order: Contender(name, Fraction(score), tokens, order)
    >>> short, long = of("short", "1/2", 10, 2), of("long", "1/2", 50, 1)
    >>> [c.name for c in lowest([of("none", 1, 0, 0), long, short], baseline="none")]
    ['short', 'long']
    """
    limit = next(c.score for c in contenders if c.name == baseline)
    below = [c for c in contenders if c.name != baseline and c.score < limit]
    if not below:
        return ()
    least = min(c.score for c in below)
    tied = [c for c in below if c.score == least]
    known = tokens_known(contenders, baseline=baseline)
    return tuple(sorted(tied, key=lambda c: ((c.added_tokens or 0) if known else 0, c.order)))


def tokens_known(contenders: Sequence[Contender], *, baseline: str) -> bool:
    """Whether the added tokens of every candidate are known."""
    return all(c.added_tokens is not None for c in contenders if c.name != baseline)


@dataclass(frozen=True, slots=True)
class Contest:
    """Conditions that contend for the lowest score, and those that may not be taken.

    Parameters
    ----------
    baseline, minimise : str
        The condition to beat, and the name of the number.
    contenders : sequence of Contender
        In declared order, the baseline among them.
    excluded : mapping of condition to reason
    excluded_scores : mapping of condition to Fraction
        Of the excluded ones, where there is a reading with a score.
    """

    baseline: str
    minimise: str
    contenders: Sequence[Contender]
    excluded: Mapping[str, str]
    excluded_scores: Mapping[str, Fraction]

    @property
    def tied(self) -> tuple[Contender, ...]:
        """See `lowest`."""
        return lowest(self.contenders, baseline=self.baseline)

    @property
    def taken(self) -> str | None:
        """Name of the condition to take; None to decline."""
        return self.tied[0].name if self.tied else None

    @property
    def limit(self) -> Fraction:
        """The baseline's score."""
        return next(c.score for c in self.contenders if c.name == self.baseline)

    @property
    def _decides(self) -> tuple[str, str]:
        """What decides between equal scores: as a rule, and as it was applied."""
        known = tokens_known(self.contenders, baseline=self.baseline)
        return _BY_TOKENS if known else _BY_ORDER

    def _without_tokens(self) -> dict[str, Json]:
        """Why a number of added tokens is missing, in words, where one is."""
        if not tokens_known(self.contenders, baseline=self.baseline):
            return {"added_tokens_unknown": _UNKNOWN}
        missing = any(c.added_tokens is None for c in self.contenders)
        return {"added_tokens_unknown": _NOT_NEEDED} if missing else {}

    def details(self) -> dict[str, Json]:
        """Named figures of the decision; scores as the text of exact fractions."""
        tied = sorted(self.tied, key=lambda c: c.order)
        return {
            "baseline": self.baseline,
            "minimise": self.minimise,
            "winner": self.taken or self.baseline,
            "intervened": bool(tied),
            "scores": {c.name: str(c.score) for c in self.contenders},
            "tied_best": [c.name for c in tied],
            "added_tokens": {c.name: c.added_tokens for c in self.contenders},
            **self._without_tokens(),
            "excluded": dict(self.excluded),
            "excluded_scores": {name: str(s) for name, s in self.excluded_scores.items()},
            "n_compared": len(self.contenders),
        }

    def verdicts(self) -> tuple[ItemVerdict, ...]:
        """One for every condition: contenders in declared order, then the excluded ones."""
        taken = self.taken
        barred = [ItemVerdict(n, Verdict.EXCLUDE, why) for n, why in self.excluded.items()]
        return (*(self._verdict(c, taken) for c in self.contenders), *barred)

    def _verdict(self, contender: Contender, taken: str | None) -> ItemVerdict:
        said = f"{self.minimise} {_shown(contender.score)}"
        if contender.name == taken:
            return ItemVerdict(contender.name, Verdict.TAKE, said)
        if contender.name == self.baseline and taken is None:
            return ItemVerdict(contender.name, Verdict.KEEP, f"{said}; none is strictly below")
        return ItemVerdict(contender.name, Verdict.DECLINE, said)

    def reason(self) -> str:
        """The decision in one sentence, with what it rests on."""
        tied = self.tied
        if not tied:
            return (
                f"declined: none of {len(self.contenders) - 1} candidates has a {self.minimise} "
                f"strictly below {_shown(self.limit)}, that of {self.baseline!r}"
            )
        what = "provably fewest not right" if self.minimise == NOT_RIGHT else "lowest score"
        others = ", ".join(repr(c.name) for c in tied[1:])
        tie = f"; tied with {others}, decided by {self._decides[1]}" if others else ""
        return (
            f"{tied[0].name!r} is taken: {what}, of these ({self.minimise} "
            f"{_shown(tied[0].score)}, against {_shown(self.limit)} of {self.baseline!r}{tie}). "
            f"{_CAVEAT}"
        )

    def step(self) -> dict[str, Json]:
        """The last step of the trace."""
        return {
            "step": "take" if self.tied else "decline",
            "rule": f"strictly below the baseline; ties: {self._decides[0]}",
            "baseline": self.baseline,
            "minimise": self.minimise,
            "condition": self.taken,
        }


def _shown(score: Fraction) -> str:
    """An exact fraction of counts, or the decimal where the score was given as one."""
    return str(score) if score.denominator < _MOST_SLOTS else f"{float(score):.6g}"
