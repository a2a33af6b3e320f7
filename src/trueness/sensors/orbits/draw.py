"""The blocks of a page about orbits; bounded whatever the number of entities."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trueness.contract import State
from trueness.contract.blocks import (
    Bar,
    Bars,
    Block,
    Chip,
    Curve,
    Fact,
    Facts,
    Group,
    Groups,
    Notes,
    Part,
    Series,
    Statement,
    Table,
)
from trueness.sensors.orbits import words
from trueness.sensors.orbits.assumptions import Assumption
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots
from trueness.sensors.orbits.tally import TEXT_LIMIT, Tally
from trueness.table import pick

MAX_ORBITS = 50
MAX_CHIPS = 12
MAX_WITNESS = 50
MAX_CURVE = 200


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything the blocks are drawn from."""

    state: State
    reason: str | None
    slots: Slots
    tally: Tally
    params: Params
    certificate: Certificate | None
    assumptions: Sequence[Assumption]
    blind_to: Sequence[str]
    protocol: Sequence[str]
    notes: Sequence[str]
    more: Sequence[Block] = ()
    """What other measures of the same table add, drawn behind the certificate."""


def blocks(d: Drawing) -> tuple[Block, ...]:
    """Statement, orbits, class shares, breakdown, withheld set, witness, sensitivity, notes."""
    out: list[Block] = [_statement(d)]
    if len(d.tally.sizes):
        out.append(_orbits(d))
    out.append(_shares(d.tally))
    if d.certificate is not None:
        out.extend(_of_certificate(d, d.certificate))
    out.extend(d.more)
    if d.assumptions:
        out.append(Notes("Assumptions", tuple(map(str, d.assumptions)), "assumptions"))
    out.append(Notes("Blind to", tuple(d.blind_to), "blind_spots"))
    if d.notes:
        out.append(Notes("Notes", tuple(d.notes), "notes"))
    if d.protocol:
        out.append(Notes("Protocol", tuple(d.protocol), "protocol"))
    return tuple(out)


_TONES = {State.MEASURED: "finding", State.SILENT: "silent"}


def _statement(d: Drawing) -> Statement:
    text = words.statement(d.state, d.reason, d.certificate, d.tally)
    follow = words.follow_ups(d.state, d.certificate, d.tally, d.params.declaration)
    return Statement(text, _TONES.get(d.state, "problem"), follow)


def _orbits(d: Drawing) -> Groups:
    withheld = None if d.certificate is None else d.certificate.withheld
    groups = []
    largest = tuple(d.tally.largest(MAX_ORBITS))
    drawn = np.zeros(len(d.slots.keys) + 1, dtype=np.bool_)
    drawn[[orbit.key for orbit in largest]] = True
    among = np.flatnonzero(drawn[d.slots.key] & d.slots.answered)  # one look at all slots
    key, column_code = d.slots.key[among], d.slots.column[among]
    shown = [
        among[(key == orbit.key) & (column_code == orbit.column)][:MAX_CHIPS] for orbit in largest
    ]
    labels = pick(d.slots.keys, (orbit.key for orbit in largest))
    every = np.concatenate(shown)
    named = iter(pick(d.slots.entities, d.slots.entity[every].tolist()))
    for orbit, slots, label in zip(largest, shown, labels, strict=True):
        flags = [bool(withheld[s]) if withheld is not None else False for s in slots.tolist()]
        names = [cut(next(named)) for _ in flags]
        column = f" · {d.slots.columns[orbit.column]}" if len(d.slots.columns) > 1 else ""
        groups.append(
            Group(
                label=cut(label) + column,
                size=orbit.size,
                chips=tuple(Chip(n, flagged=f) for n, f in zip(names, flags, strict=True)),
                flagged=any(flags),
                note=_limit(d, label),
            )
        )
    return Groups(
        "Entities grouped by the answer they got",
        tuple(groups),
        n_groups=len(d.tally.sizes),
        note="Marked entities are in the set to withhold.",
    )


def _limit(d: Drawing, word: str) -> str:
    if word in d.params.filler:
        return "filler"
    most = d.params.upper.get(word, d.params.declaration.unlisted_capacity)
    if most is None:
        return ""
    return "nobody's right answer" if most == 0 else f"right for at most {most:,}"


def _shares(t: Tally) -> Bars:
    named = [
        ("the entity's own name", t.n_echo or 0, "warning"),
        ("filler", t.n_filler, "warning"),
        ("another entity's name", t.n_other or 0, "notice"),
    ]
    rest = t.n_answered - sum(count for _, count, _ in named)
    parts = [("other answers", max(0, rest), "neutral"), *named]
    parts += [("no answer", t.n_no_answer, "absent"), ("missing", t.n_error, "missing")]
    bar = Bar(
        f"{t.n_slots:,} asked",
        tuple(Part(name, float(n), f"{n:,}", role) for name, n, role in parts if n),
    )
    note = "" if t.n_echo is not None else "Own names were not looked for: names have no keys here."
    return Bars("What came back", (bar,), float(max(1, t.n_slots)), note)


def _of_certificate(d: Drawing, c: Certificate) -> Iterator[Block]:
    yield _facts(d.tally, c)
    if c.n_withheld:
        yield _withheld(c)
    if len(c.curve) > 1:
        yield _curve(d.tally, c)
    if c.witness is not None:
        yield _witness(d, c)


def _facts(t: Tally, c: Certificate) -> Facts:
    causes = [
        Fact(name.replace("_", " "), f"{count:,}", "before slack")
        for name, count in c.breakdown.items()
        if count
    ]
    k = c.certified_errors
    total = t.n_answered + t.n_no_answer
    facts = [
        Fact("certainly wrong", f"{k:,} of {t.n_answered:,}", f"proved, {_kind(c)}"),
        Fact("certainly not right", f"{k + t.n_no_answer:,} of {total:,}", "proved"),
        Fact("orbits", f"{len(t.sizes):,}", f"largest {t.largest_orbit or 0:,}"),
        *causes,
    ]
    if t.true_errors is not None:
        wrong = f"{t.true_errors:,} of {t.n_answered:,}"
        facts.append(Fact("wrong by the targets", wrong, "for comparison; no bound reads them"))
    if c.break_even_slack is not None and k:
        facts.append(
            Fact("nothing is left when", f"{c.break_even_slack:,}", "entities break the limits")
        )
    return Facts("What is proved", tuple(facts))


def _kind(c: Certificate) -> str:
    return "no larger number follows" if c.exact else "by a sound relaxation"


def _withheld(c: Certificate) -> Facts:
    facts = [Fact("withheld", f"{c.n_withheld:,} of {c.n_answered:,} answers")]
    if c.precision_floor is not None and c.recall_floor is not None:
        facts += [
            Fact(
                "wrong among them, at least",
                f"{c.guaranteed_withheld:,} ({float(c.precision_floor):.1%})",
                "proved precision",
            ),
            Fact(
                "share of all wrong ones held, at least",
                f"{float(c.recall_floor):.1%}",
                "proved recall",
            ),
        ]
    return Facts("What to withhold", tuple(facts))


def _curve(t: Tally, c: Certificate) -> Curve:
    step = max(1, len(c.curve) // MAX_CURVE)
    kept = [*c.curve[:-1:step], c.curve[-1]]
    precision = tuple((float(n), g / n if n else None) for n, g in kept)
    recall = tuple(
        (float(n), g / (g + t.n_answered - n) if g + t.n_answered - n else None) for n, g in kept
    )
    return Curve(
        "Guaranteed risk against coverage",
        "answers withheld",
        "proved share",
        (Series("precision at least", precision), Series("recall at least", recall)),
        note="" if c.curve_is_optimal else "Sound, not optimal: a better order may exist.",
    )


def _witness(d: Drawing, c: Certificate) -> Table:
    if c.witness is None:  # pragma: no cover - the caller looked
        raise ValueError
    n = min(MAX_WITNESS, len(d.slots.entities))
    said: dict[int, list[str]] = {}
    for s in np.flatnonzero((d.slots.entity < n) & d.slots.answered).tolist():
        said.setdefault(int(d.slots.entity[s]), []).append(d.slots.keys[int(d.slots.key[s])])
    closed = d.params.declaration.is_closed
    free = "any listed answer with room left" if closed else "any answer nobody gave"
    rows = tuple(
        (
            cut(d.slots.entities[e]),
            ", ".join(cut(a) for a in said.get(e, [])[:5]) or "no answer",
            ", ".join(map(cut, c.witness(e))) or free,
        )
        for e in range(n)
    )
    unique = ""
    if c.witness_is_unique is not None:
        unique = " It is the only one." if c.witness_is_unique else " Others exist."
    return Table(
        "A truth with exactly this many errors" if c.exact else "A truth with few errors",
        ("entity", "answered", "right in this truth"),
        rows,
        n_rows=len(d.slots.entities),
        note="It shows that no larger number follows; it is not claimed to be true."[
            : None if c.exact else 0
        ]
        + unique,
    )


def cut(text: str) -> str:
    """Text short enough for a page."""
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
