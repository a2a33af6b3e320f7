"""What one intervention did to a partition of answers, in one word."""

from collections.abc import Iterable
from enum import StrEnum

from trueness.contract.errors import InputError, ShapeError


class RepairVerdict(StrEnum):
    """What happened between two conditions, on the entities answered in both."""

    SEPARATED = "separated"
    """Pairs with one answer came apart, and none came together. Not the same as better."""
    MERGED = "merged"
    """Pairs came together, and none came apart."""
    MIXED = "mixed"
    RELABELLED = "relabelled"
    """The same entities share answers, and some answer is another one."""
    UNCHANGED = "unchanged"


def repair_verdict(*, pairs_merged: int, pairs_split: int, answers_changed: int) -> RepairVerdict:
    """What the counts of a comparison say; neither a key nor the largest group is looked at.

    Parameters
    ----------
    pairs_merged : int
        Pairs of entities with different answers before and one answer after.
    pairs_split : int
        The reverse.
    answers_changed : int
        Entities whose answer is another one after.

    Raises
    ------
    InputError
        When a count is no whole number of at least 0, or pairs moved and no answer changed.

    Examples
    --------
    >>> repair_verdict(pairs_merged=0, pairs_split=3, answers_changed=4).value
    'separated'
    """
    counts: dict[str, object] = {
        "pairs_merged": pairs_merged,
        "pairs_split": pairs_split,
        "answers_changed": answers_changed,
    }
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            msg = f"{name} is {count!r}; a whole number of at least 0 is wanted."
            raise InputError(msg)
    if answers_changed == 0 and pairs_merged + pairs_split > 0:
        msg = (
            f"{pairs_merged} pairs merged and {pairs_split} split although no answer changed; "
            "count all three on the entities answered on both sides."
        )
        raise InputError(msg)
    if pairs_merged and pairs_split:
        return RepairVerdict.MIXED
    if pairs_merged:
        return RepairVerdict.MERGED
    if pairs_split:
        return RepairVerdict.SEPARATED
    return RepairVerdict.RELABELLED if answers_changed else RepairVerdict.UNCHANGED


def outcome_moves(before: Iterable[str], after: Iterable[str]) -> dict[str, int]:
    """How many entities went from which outcome to which, as ``"answered>no_answer"``.

    Parameters
    ----------
    before, after : iterable of str
        The outcome of each entity, in one order.

    Raises
    ------
    ShapeError
        When the two lengths differ.

    Examples
    --------
    >>> outcome_moves(["answered", "answered"], ["answered", "no_answer"])
    {'answered>answered': 1, 'answered>no_answer': 1}
    """
    one, other = list(before), list(after)
    if len(one) != len(other):
        msg = (
            f"{len(one)} outcomes before and {len(other)} after; pair them by entity and hand in "
            "one of each."
        )
        raise ShapeError(msg)
    moves: dict[str, int] = {}
    for move in (f"{a}>{b}" for a, b in zip(one, other, strict=True)):
        moves[move] = moves.get(move, 0) + 1
    return moves
