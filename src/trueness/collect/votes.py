"""Several draws of one item become one answer, or none."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from trueness.contract.errors import InputError

TIE_BROKEN = "tie broken by mean log-probability"


@dataclass(frozen=True, slots=True)
class Vote:
    """The outcome of a vote.

    ``winner`` is None where there is no answer, and ``reason`` says why; ``share`` is the votes
    for the most frequent key over all draws, no-answers among them, None where nothing was said.
    """

    winner: str | None
    outcome: str
    reason: str | None
    share: Fraction | None


def vote(draws: Sequence[str | None], logprobs: Sequence[float | None] | None = None) -> Vote:
    """The most frequent key among all draws.

    A tie is broken by the mean log-probability of the tied keys' draws where all are recorded, and
    is no answer otherwise; which was seen first never matters.

    Parameters
    ----------
    draws : sequence of str or None
        Keys; None is a no-answer: in the denominator, never a candidate.
    logprobs : sequence of float or None
        One for each draw.

    Raises
    ------
    InputError
        For no draws at all, or for other than one log-probability a draw.

    Examples
    --------
    >>> vote(["A", None, None]).share
    Fraction(1, 3)
    """
    if not draws:
        msg = "there are no draws to vote; give at least one."
        raise InputError(msg)
    if logprobs is not None and len(logprobs) != len(draws):
        msg = f"{len(logprobs)} log-probabilities for {len(draws)} draws; give one each."
        raise InputError(msg)
    size = Counter(key for key in draws if key is not None)
    if not size:
        return Vote(None, "no_answer", "every draw is a no-answer", None)
    most = max(size.values())
    share = Fraction(most, len(draws))
    tied = sorted(key for key, n in size.items() if n == most)
    if len(tied) == 1:
        return Vote(tied[0], "answered", None, share)
    winner = _likeliest(tied, draws, logprobs)
    if winner is None:
        return Vote(None, "no_answer", "tie", share)
    return Vote(winner, "answered", TIE_BROKEN, share)


def _likeliest(
    tied: Sequence[str], draws: Sequence[str | None], logprobs: Sequence[float | None] | None
) -> str | None:
    """The tied key with the largest mean, exactly; None when one is unknown or two are equal."""
    if logprobs is None:
        return None
    total: dict[str, Fraction] = dict.fromkeys(tied, Fraction(0))
    for key, logprob in zip(draws, logprobs, strict=True):
        if key not in total:
            continue
        if logprob is None or not float("-inf") < logprob < float("inf"):
            return None
        total[key] += Fraction(logprob)  # tied keys have equally many draws: sums order as means
    best = max(total.values())
    winners = [key for key in tied if total[key] == best]
    return winners[0] if len(winners) == 1 else None
