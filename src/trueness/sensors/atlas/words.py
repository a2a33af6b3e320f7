"""The findings of an atlas in plain words."""

from collections.abc import Mapping, Sequence

from trueness.stats.paired_slice import Comparison
from trueness.stats.verdicts import FEW_MOVERS, Clause, Entry, Relation, Verdict

MINUS = "\u2212"
_NAMES = {
    "total": "agreement",
    "gold": "gold",
    "wrong": "wrong",
    "none": "no answer",
    "semantic": "answered agreement",
}
_MEANS = {
    "unchanged": "every part of agreement stayed within the margin, in the mean",
    "consolidation": "agreement rose, on right answers",
    "harmful_consolidation": "agreement rose, on wrong answers",
    "near_isospectral_inversion": (
        "agreement stayed within the margin while it moved from right to wrong answers"
    ),
    "recovery": "agreement stayed within the margin while it moved from wrong to right answers",
    "no_answer_attractor": "agreement rose on no answer, and fell among answers",
    "fragmentation": "agreement fell, and no part of it rose by the margin or more",
    "answering_up": "agreement on no answer fell, and agreement among answers rose",
    "unresolved": "the data do not decide",
}
_SPLIT, _UNSPLIT = ("gold", "wrong", "none"), ("semantic", "none")
_NOMINAL = "nominally, for its intervals are approximations."
_OF_MEANS = "It is about means over items: opposite movements of single items cancel in it."
_NOT_UNCHANGED = "Unresolved is not unchanged: ε* is the smallest margin that would have passed."
_FEW = f"Few movers: fewer than {FEW_MOVERS} items changed there, so intervals are too short."
_REASONS = {
    "insufficient_evidence": "no part is shown to have moved",
    "mixed": "the directions fit no single row of the verdict table",
    "gold_unknown": "no item has a known right answer",
}


def signed(value: float | None) -> str:
    """A change with its sign and without a leading zero: +.027.

    >>> signed(0.0271), signed(-0.5), signed(None)
    ('+.027', '−.500', 'not measured')
    """
    if value is None:
        return "not measured"
    text = bare(abs(value))
    if float(text) == 0:
        return text
    return f"+{text}" if value > 0 else f"{MINUS}{text}"


def bare(value: float | None, digits: int = 3) -> str:
    """A share without a leading zero: .027."""
    if value is None:
        return "not measured"
    text = f"{abs(value):.{digits}f}"
    text = text.removeprefix("0") if text.startswith("0.") else text
    return f"{MINUS}{text}" if value < 0 and float(text) != 0 else text


def interval(ends: tuple[float, float] | None) -> str:
    """``[.149, .420]``; nothing where there is none."""
    return "" if ends is None else f"[{bare(ends[0])}, {bare(ends[1])}]"


def change(found: Comparison, order: int, draws: str) -> str:
    """The first sentence: what moved by how much, and what that amounts to."""
    total = found.entry(order, "total")
    star = "" if total.epsilon_star is None else f" (ε* {bare(total.epsilon_star)})"
    parts = [f"Agreement moved by {signed(total.estimate)}{star}"]
    parts += [
        f"{_NAMES[p]} by {signed(e.estimate)} {interval(e.band)}".rstrip()
        for p in (_UNSPLIT if found.entry(order, "gold").estimate is None else _SPLIT)
        for e in [found.entry(order, p)]
        if e.estimate is not None and (p != "none" or e.estimate != 0)
    ]
    known = found.entry(order, "gold").n
    slice_ = f"(r = {order}, {counted(total.n, 'item')} × {draws} draws{_known(known, total.n)})"
    return f"{', '.join(parts)} {slice_}: {outcome(found.verdict)}."


def _known(n: int, of: int) -> str:
    """What gold and wrong are means over, where that is not every item."""
    return f", gold and wrong over the {n:,} with a known right answer" if 0 < n < of else ""


def outcome(verdict: Verdict) -> str:
    """The verdict with its reason: ``unresolved — equivalence of the total not shown …``."""
    if verdict.reason is None:
        return f"{verdict.name} — {_MEANS[verdict.name]}"
    if verdict.reason == "margin_not_met":
        lacked = "; ".join(dict.fromkeys(map(_lacked, verdict.failed)))
        return f"{verdict.name} — {lacked} at ±{bare(verdict.margin, 2)}"
    return f"{verdict.name} — {_REASONS.get(verdict.reason, verdict.reason)}"


def _lacked(clause: Clause) -> str:
    part, relation = clause.part, clause.relation
    name = "the total" if part == "total" else _NAMES.get(part, part)
    if relation is Relation.EQUIVALENT:
        return f"equivalence of {name} not shown"
    return f"a rise of {name} by the margin not ruled out"


def not_said(verdict: Verdict) -> tuple[str, ...]:
    """What a verdict does not say."""
    rate = f"{verdict.error_rate:.3g}"
    lines = [f"A named verdict is wrong with probability {rate} at most; {_NOMINAL}", _OF_MEANS]
    if verdict.name == "unchanged":
        lines.append("Unchanged in the mean is not unchanged item by item.")
    if verdict.name == "unresolved":
        lines.append(_NOT_UNCHANGED)
    if any(clause.few_movers for clause in verdict.clauses):
        lines.append(_FEW)
    return (*lines, *verdict.notes)


def single(parts: Mapping[str, float | None], order: int, n: int, n_known: int, draws: str) -> str:
    """The first sentence about one arm of n items, of which so many have a known right answer."""
    shown = _SPLIT if parts["gold"] is not None else _UNSPLIT
    split = ", ".join(f"{_NAMES[p]} {bare(parts[p])}" for p in shown if parts[p] is not None)
    tail = f": {split}" if split else ""
    return (
        f"{order} draws of one item agree with probability {bare(parts['total'])}{tail} "
        f"(r = {order}, {counted(n, 'item')} × {draws} draws{_known(n_known, n)}). "
        "Agreement is not correctness."
    )


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "item"), counted(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def draws_text(ranges: Sequence[tuple[int, int]]) -> str:
    """How many draws an item has: ``8``, ``5–8``, ``8 and 16``.

    >>> draws_text([(8, 8), (8, 8)]), draws_text([(5, 8)])
    ('8', '5–8')
    """
    said = [str(a) if a == b else f"{a}\u2013{b}" for a, b in ranges]
    return " and ".join(dict.fromkeys(said))


def clause_text(part: str, relation: Relation) -> str:
    """A clause in words."""
    name = _NAMES.get(part, part)
    return {
        Relation.UP: f"{name} up",
        Relation.DOWN: f"{name} down",
        Relation.EQUIVALENT: f"{name} within the margin at every order",
        Relation.NOT_EQUIVALENT: f"{name} not shown within the margin at some order",
        Relation.BELOW_MARGIN: f"{name} not up by the margin or more",
        Relation.NOT_ANSWERING_UP: "not (no answer down with answered agreement up)",
        Relation.NO_OTHER_ROW: "none of the rows above holds",
    }[relation]


def entry_text(entry: Entry) -> str:
    """Estimate and band of one entry."""
    band = "no band: the items do not differ" if entry.band is None else interval(entry.band)
    return f"{signed(entry.estimate)} {band}"
