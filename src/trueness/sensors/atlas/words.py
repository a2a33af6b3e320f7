"""The findings of an atlas in plain words."""

from collections.abc import Mapping, Sequence

from trueness.stats.paired_slice import Comparison
from trueness.stats.verdicts import Entry, Relation, Verdict

MINUS = "\u2212"
_NAMES = {"total": "agreement", "gold": "gold", "wrong": "wrong", "none": "no answer"}
_MEANS = {
    "unchanged": "no part of agreement moved by more than the margin, in the mean",
    "consolidation": "agreement rose, on right answers",
    "harmful_consolidation": "agreement rose, on wrong answers",
    "near_isospectral_inversion": (
        "agreement stayed within the margin while it moved from right to wrong answers"
    ),
    "recovery": "agreement stayed within the margin while it moved from wrong to right answers",
    "no_answer_attractor": "agreement rose because more draws hold no answer",
    "fragmentation": "agreement fell, and no part of it rose beyond the margin",
    "answering_up": "fewer draws hold no answer and answered draws agree more",
    "unresolved": "the data do not decide",
}
_REASONS = {
    "insufficient_evidence": "no part has moved beyond its simultaneous band",
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
        for p in ("gold", "wrong", "none")
        for e in [found.entry(order, p)]
        if e.estimate is not None and (p != "none" or e.estimate != 0)
    ]
    slice_ = f"(r = {order}, {total.n} items × {draws} draws)"
    return f"{', '.join(parts)} {slice_}: {outcome(found.verdict)}."


def outcome(verdict: Verdict) -> str:
    """The verdict with its reason: ``unresolved — equivalence of the total not shown …``."""
    if verdict.reason is None:
        return f"{verdict.name} — {_MEANS[verdict.name]}"
    if verdict.reason == "margin_not_met":
        lacked = "; ".join(dict.fromkeys(map(_lacked, verdict.failed)))
        return f"{verdict.name} — {lacked} at ±{bare(verdict.margin, 2)}"
    return f"{verdict.name} — {_REASONS.get(verdict.reason, verdict.reason)}"


def _lacked(clause: object) -> str:
    part, relation = clause.part, clause.relation  # type: ignore[attr-defined] # a Clause
    name = "the total" if part == "total" else _NAMES.get(part, part)
    if relation is Relation.EQUIVALENT:
        return f"equivalence of {name} not shown"
    if relation is Relation.NOT_EQUIVALENT:
        return f"{name} is equivalent to unchanged"
    return f"{name} not shown below the margin"


def not_said(verdict: Verdict) -> tuple[str, ...]:
    """What a verdict does not say."""
    lines = [
        f"A named verdict is wrong with probability {verdict.error_rate:.3g} at most (nominal).",
        "It is about means over items: opposite movements of single items cancel in it.",
    ]
    if verdict.name == "unchanged":
        lines.append("Unchanged in the mean is not unchanged item by item.")
    if verdict.name == "unresolved":
        lines.append("Unresolved is not unchanged: see ε*, the margin that would have passed.")
    return (*lines, *verdict.notes)


def single(
    total: float | None, parts: Mapping[str, float | None], order: int, n: int, draws: str
) -> str:
    """The first sentence about one arm."""
    split = ", ".join(
        f"{_NAMES[p]} {bare(parts[p])}" for p in ("gold", "wrong", "none") if parts[p] is not None
    )
    tail = f": {split}" if split else ""
    return (
        f"{order} draws of one item agree with probability {bare(total)}{tail} "
        f"(r = {order}, {n} items × {draws} draws). Agreement is not correctness."
    )


def draws_text(ranges: Sequence[tuple[int, int]]) -> str:
    """How many draws an item has: ``8``, ``5–8``, ``8 and 16``.

    >>> draws_text([(8, 8), (8, 8)]), draws_text([(5, 8)])
    ('8', '5–8')
    """
    said = [str(a) if a == b else f"{a}\u2013{b}" for a, b in ranges]
    return " and ".join(dict.fromkeys(said))


def clause_text(part: str, relation: Relation) -> str:
    """A clause in words."""
    name = _NAMES.get(part, "answered agreement")
    return {
        Relation.UP: f"{name} up",
        Relation.DOWN: f"{name} down",
        Relation.EQUIVALENT: f"{name} within the margin at every order",
        Relation.NOT_EQUIVALENT: f"{name} not within the margin at every order",
        Relation.BELOW_MARGIN: f"{name} not up by the margin or more",
        Relation.NOT_ANSWERING_UP: "not (no answer down with answered agreement up)",
        Relation.NO_OTHER_ROW: "none of the rows above holds",
    }[relation]


def entry_text(entry: Entry) -> str:
    """Estimate and band of one entry."""
    band = "no band: the items do not differ" if entry.band is None else interval(entry.band)
    return f"{signed(entry.estimate)} {band}"
