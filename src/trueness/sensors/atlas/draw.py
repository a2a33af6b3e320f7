"""The blocks of a page about repeated answers; bounded whatever the number of items."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueness.contract.blocks import (
    Arrow,
    Bar,
    Bars,
    Block,
    Cell,
    ClauseRow,
    Clauses,
    Curve,
    Dot,
    Fact,
    Facts,
    IntervalDots,
    Notes,
    Part,
    Series,
    SimplexArrows,
    Strip,
    Table,
)
from trueness.sensors.atlas import words
from trueness.sensors.atlas.arms import Arm, Atlas
from trueness.sensors.atlas.figures import Figures, number
from trueness.stats.clouds import NONE, Clouds
from trueness.stats.paired_slice import Comparison
from trueness.stats.verdicts import Clause, Numbers, Relation

Mean = Callable[[Figures, int, str], float | None]
"""Of an arm, at an order, of a part."""
MAX_ROWS = 300
MAX_ARROWS = 300
MAX_STRIP = 6
TEXT = 60
SPLIT = "Agreement says nothing about right and wrong until it is split."
STACK = ("gold", "wrong", "none")
LABELS = {"gold": "gold", "wrong": "wrong", "none": "no answer", "total": "total"}
ROLES = {"gold": "gold", "wrong": "wrong", "none": "none"}
CORNERS = ("gold", "wrong", "no answer")


def stacked(
    figures: Sequence[tuple[str, Figures]], orders: Sequence[int], mean: Mean = Figures.mean
) -> Bars:
    """For each order a bar an arm: gold, wrong and no answer stacked to the total."""
    bars = []
    for order in orders:
        for label, found in figures:
            parts = _stack(partial(mean, found, order))
            total = mean(found, order, "total")
            if parts:
                said = f"total {words.bare(total, 4)}"
                bars.append(Bar(label, parts, group=f"{order} draws agree", display=said))
    top = max((sum(p.value for p in bar.parts) for bar in bars), default=0.0)
    return Bars(
        "Agreement by what is agreed on",
        tuple(bars),
        limit=_round_up(top),
        axis="probability that so many independent draws of one item agree",
        note=" ".join((SPLIT, *_some(figures))),
    )


def _some(figures: Sequence[tuple[str, Figures]]) -> tuple[str, ...]:
    """A sentence where only some items have a known right answer."""
    known = figures[0][1].clouds.gold_known
    n = int(known.sum())
    if n in {0, len(known)}:
        return ()
    said = (
        f"Gold and wrong are means over the {n:,} of {len(known):,} items whose right answer is "
        "known, the rest over all: the segments need not add up to the total."
    )
    return (said,)


def _stack(mean: Callable[[str], float | None]) -> tuple[Part, ...]:
    if mean("gold") is None:
        split: tuple[tuple[str, str], ...] = (("semantic", "neutral"), ("none", "none"))
        names = {"semantic": "answered, right answer unknown", "none": "no answer"}
    else:
        split, names = tuple(ROLES.items()), LABELS
    values = [(names[p], mean(p), role) for p, role in split]
    return tuple(Part(n, v, words.bare(v, 4), role) for n, v, role in values if v is not None)


def _round_up(top: float) -> float:
    steps = (0.05, 0.1, 0.2, 0.25, 0.5, 0.75)
    return next((s for s in steps if top <= s), 1.0)


def deltas(found: Comparison, orders: Sequence[int], margin: float) -> IntervalDots:
    """Changes of every part at every order, with their simultaneous band and the margin."""
    dots = tuple(
        Dot(
            label=LABELS.get(entry.part, "answered"),
            value=entry.estimate,
            low=entry.band[0] if entry.band else None,
            high=entry.band[1] if entry.band else None,
            role=ROLES.get(entry.part, "neutral"),
            display=words.entry_text(entry),
            inner=entry.t90,
            group=f"order {order}",
        )
        for order in orders
        for part in ("total", "gold", "wrong", "none", "semantic")
        for entry in [found.entry(order, part)]
        if entry.estimate is not None
    )
    return IntervalDots(
        "What moved, after minus before",
        dots,
        strip=(-margin, margin),
        axis="change in probability",
        band=f"simultaneous {100 * found.level:g}% band over all of these",
        inner="interval of the equivalence test",
        margin=f"margin ±{words.bare(margin, 2)}",
    )


def triangle(atlas: Atlas, before: Figures, after: Figures) -> SimplexArrows | None:
    """One arrow an item from its shares before to its shares after."""
    one, two = before.shares(), after.shares()
    usable = np.flatnonzero(np.isfinite(one).all(1) & np.isfinite(two).all(1))
    if not len(usable):
        return None
    names = atlas.items
    arrows = tuple(
        Arrow(cut(names[i]), _point(one[i]), _point(two[i]), _towards(two[i] - one[i]))
        for i in usable[:MAX_ARROWS].tolist()
    )
    mean = Arrow("mean of the items", _point(one[usable].mean(0)), _point(two[usable].mean(0)))
    return SimplexArrows(
        "Where each item's draws went",
        CORNERS,
        arrows,
        mean,
        n_arrows=len(usable),
        roles=("gold", "wrong", "none"),
        note="Shares of draws; arrows are moved a little apart so that equal ones can be seen.",
    )


def _towards(move: NDArray[np.float64]) -> str:
    """The role of the share that grew most; neutral where none grew."""
    return STACK[int(np.argmax(move))] if move.max() > 0 else "neutral"


def _point(shares: NDArray[np.float64]) -> tuple[float, float, float]:
    gold, wrong, none = (float(x) for x in shares)
    return gold, wrong, none


def votes(figures: Sequence[tuple[str, Figures]]) -> Curve | None:
    """Who wins a vote of n draws: gold, wrong or nobody."""
    series = []
    for place, (label, found) in enumerate(figures):
        dashed = place == 0 and len(figures) > 1
        for name in ("gold", "wrong", "none"):
            values = found.votes.get(name, ())
            if any(v is not None for v in values):
                points = tuple((float(n + 1), v) for n, v in enumerate(values))
                title = f"{LABELS[name]} {label}".strip()
                series.append(Series(title, points, dashed=dashed, role=ROLES[name]))
    if not series or max(len(s.points) for s in series) < 2:  # noqa: PLR2004 - a curve has two points
        return None
    return Curve(
        "Votes of n draws",
        "draws that vote",
        "share of votes won",
        tuple(series),
        note="Voting on a concentrated wrong answer raises wrong with n.",
    )


def clauses(found: Comparison) -> Clauses:
    """The verdict table: every clause with its numbers and whether it held."""
    return Clauses(
        "Verdict, clause by clause",
        tuple(map(_clause, found.verdict.clauses)),
        given=found.verdict.name,
        note=" ".join(words.not_said(found.verdict)),
    )


def _clause(clause: Clause) -> ClauseRow:
    decided = _deciding(clause)
    shown = "; ".join(_read(at, named=len(decided) > 1) for at in decided)
    rest = [r for r in clause.also_at if r not in {at.order for at in decided}]
    also = f"; also at r = {', '.join(map(str, rest))}" if rest and clause.holds else ""
    text = words.clause_text(clause.part, clause.relation)
    mark = "few movers" if clause.few_movers else ""
    return ClauseRow(clause.verdict, text, shown + also, clause.holds, mark)


def _deciding(clause: Clause) -> tuple[Numbers, ...]:
    """The numbers that a clause rests on: of one about every order, the first that decides."""
    if clause.relation is Relation.NOT_ANSWERING_UP:
        return clause.numbers
    if clause.relation is Relation.EQUIVALENT and not clause.holds:
        return tuple(at for at in clause.numbers if not at.holds)[:1]
    if clause.relation is Relation.NOT_EQUIVALENT and clause.holds:
        return tuple(at for at in clause.numbers if at.holds)[:1]
    return clause.numbers[:1]


def _read(at: Numbers, *, named: bool) -> str:
    name = f"{LABELS.get(at.part, 'answered')}, " if named else ""
    ends = None if at.low is None or at.high is None else (at.low, at.high)
    return f"{name}r = {at.order}: {words.signed(at.estimate)} {words.interval(ends)}".rstrip()


def first(clouds: Clouds) -> Clouds:
    """The items that have a row."""
    return clouds.take(np.arange(min(clouds.n_items, MAX_ROWS)))


def rounded(value: float) -> float | None:
    """A number for a cell; None for nan."""
    found = number(value)
    return None if found is None else round(found, 4) + 0.0


def strip(atlas: Atlas, clouds: Clouds, item: int) -> Strip:
    """The counts of one item's cloud, gold first, then the wrong ones by size, then none."""
    cells = slice(*clouds.starts[item : item + 2].tolist())
    codes, counts, roles = clouds.answer[cells], clouds.count[cells], clouds.role[cells]
    order = sorted(range(len(codes)), key=lambda j: (int(roles[j]) == NONE, roles[j], -counts[j]))
    parts = [
        (_name(atlas, item, int(codes[j])), int(counts[j]), _ROLE_NAMES[int(roles[j])])
        for j in order
    ]
    if atlas.rights.known[item] and not any(p[2] == "gold" for p in parts):
        parts.insert(0, (_name(atlas, item, atlas.words.gold), 0, "gold"))
    if len(parts) > MAX_STRIP:
        middle = [p for p in parts if p[2] not in {"gold", "none"}]
        tail = middle[MAX_STRIP - 2 :]
        if len(tail) > 1:
            rest = (f"{len(tail)} other answers", sum(p[1] for p in tail), tail[0][2])
            gold = [p for p in parts if p[2] == "gold"]
            none = [p for p in parts if p[2] == "none"]
            parts = [*gold, *middle[: MAX_STRIP - 2], rest, *none]
    return Strip(tuple(parts))


_ROLE_NAMES = ("gold", "wrong", "none", "neutral")


def _name(atlas: Atlas, item: int, code: int) -> str:
    if code == atlas.words.gold:
        golds = atlas.rights.golds[item]
        return cut(golds[0]) if golds else "no answer (right here)"
    text = atlas.words.text(code)
    return "no answer" if text is None else cut(text)


def gold_cell(atlas: Atlas, item: int) -> str | None:
    """The right answer of an item as a cell."""
    golds = atlas.rights.golds[item]
    return cut(" | ".join(golds)) if golds else None


def arm_table(atlas: Atlas, figures: Figures) -> Table:
    """The items of one arm: cloud, agreement and its parts at the primary order."""
    order = figures.params.primary
    at = figures.params.orders.index(order)
    shown = first(figures.clouds)
    rows: list[tuple[Cell, ...]] = []
    for item in range(shown.n_items):
        values = tuple(rounded(figures.parts[p][item, at]) for p in ("total", *STACK))
        cloud = strip(atlas, shown, item)
        rows.append((cut(atlas.items[item]), gold_cell(atlas, item), cloud, *values))
    return Table(
        f"Items (r = {order})",
        ("item", "gold", "draws", "agreement", "gold part", "wrong part", "no answer part"),
        tuple(rows),
        n_rows=atlas.n_items,
        per_item=True,
    )


def premise(
    n: int, figures: Sequence[Figures], mean: Mean = Figures.mean, said: str | None = None
) -> Facts:
    """Items whose right outcome is no answer: how often draws agree on it, and on an answer."""
    order = figures[0].params.primary

    def shown(part: str) -> str:
        return " → ".join(words.bare(mean(f, order, part), 4) for f in figures)

    facts = [
        Fact("items", f"{n:,}", "in no other figure"),
        Fact("agreement on no answer", shown("gold"), f"right here; r = {order}"),
        Fact("agreement on an answer", shown("wrong"), f"wrong here; r = {order}"),
    ]
    facts += [Fact("verdict", said, "of these items alone")] if said else []
    return Facts("Items whose right outcome is no answer", tuple(facts))


def absent(arms: Sequence[tuple[str, Arm]]) -> Facts:
    """What is missing, and why there was no answer."""
    facts = []
    for label, arm in arms:
        n = int(arm.missing.sum())
        said = f" ({label})" if label else ""
        k = int(arm.clouds.draws.sum())
        items = int((arm.missing > 0).sum())
        facts.append(Fact(f"missing draws{said}", f"{n:,}", f"{items:,} items; {k:,} draws came"))
        facts += [
            Fact(f"{reason}{said}", f"{count:,}", f"of {k:,} draws")
            for reason, count in list(arm.reasons.items())[:12]
        ]
    return Facts("Missing draws, and why there was no answer", tuple(facts))


def closing(
    protocol: Sequence[str], blind_to: Sequence[str], notes: Sequence[str]
) -> tuple[Block, ...]:
    """Notes, blind spots and the protocol, last on every page."""
    out: list[Block] = [Notes("Blind to", tuple(blind_to), "blind_spots")]
    if notes:
        out.append(Notes("Notes", tuple(notes), "notes"))
    if protocol:
        out.append(Notes("Protocol", tuple(protocol), "protocol"))
    return tuple(out)


def cut(text: str) -> str:
    """A text short enough for a cell."""
    return text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"
