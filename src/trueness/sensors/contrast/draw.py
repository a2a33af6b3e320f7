"""The blocks of a page about claims and their contradictions; bounded for any number of claims."""

from collections.abc import Mapping, Sequence

from trueness.contract import ItemReading, Reading
from trueness.contract.blocks import Block, Cell, Table
from trueness.contract.serial import Json
from trueness.sensors.claim_reading import histogram, worse_first
from trueness.table.evidence import EvidenceTable

MAX_ROWS = 300
MAX_CLAIMS = 12
TEXT = 100
SHORT = 60


def said(value: float, n: int) -> str:
    """The finding in plain words."""
    more = "more" if value >= 0 else "less"
    return (
        f"On average the evidence raises the log-probability of a claim by {abs(value):.2f} nats "
        f"{more} than that of its best contradiction ({n:,} claims). This compares a claim with "
        "edits of itself and is no statement about right and wrong."
    )


def blocks(reading: Reading, table: EvidenceTable) -> tuple[Block, ...]:
    """The pictures and tables of a reading, the claims that lie worst first."""
    if reading.value is None:
        return (claims(reading, table),)
    values = [i.value for i in reading.per_item if i.value is not None]
    top = max(1.0, *(abs(v) for v in values))
    out: list[Block] = [
        histogram(reading, (-top, top), name="contrast, nats"),
        kinds(reading),
        claims(reading, table),
    ]
    out += [variants(i) for i in worse_first(reading)[:MAX_CLAIMS]]
    return tuple(out)


def kinds(reading: Reading) -> Table:
    """Of every kind of binding, how many claims stand above their contradictions, by both arms."""
    found = reading.details.get("by_kind")
    rows = tuple(
        (
            kind,
            _whole(seen.get("n")),
            f"{seen.get('n_above')} of {seen.get('n_scored')}",
            f"{seen.get('n_energy_above')} of {seen.get('n_energy')}",
            _whole(seen.get("n_routed")),
        )
        for kind, seen in (found.items() if isinstance(found, Mapping) else ())
        if isinstance(seen, Mapping)
    )
    return Table(
        "Claims above all of their contradictions of a kind",
        ("binding", "claims", "by gain", "by energy", "flagged"),
        rows,
        n_rows=len(rows),
        note="By energy: the contradiction lies further outside the evidence than the claim does. "
        "Flagged: it does not, and an acceptance by energy says nothing about that binding.",
    )


def claims(reading: Reading, table: EvidenceTable) -> Table:
    """Every claim with its contrast, its likeliest contradiction and its flags."""
    rows = tuple(
        _claim(item, table, row)
        for row, item in zip(range(MAX_ROWS), reading.per_item, strict=False)
    )
    heads = (
        "item", "contrast", "gain", "energy", "contradictions", "claim", "best contradiction",
        "routed", "state",
    )  # fmt: skip
    return Table("Claims", heads, rows, n_rows=reading.n_items, per_item=True)


def variants(item: ItemReading) -> Table:
    """The contradictions of one claim, those that the evidence raises most first."""
    found = [v for v in _list(item.extra.get("variants")) if isinstance(v, Mapping)]
    found.sort(key=lambda v: -_number(v.get("gain")))
    rows = tuple(
        (
            str(v.get("kind")),
            _rounded(v.get("gain")),
            _rounded(v.get("energy")),
            cut(f"{v.get('before')} → {v.get('after')}", TEXT),
        )
        for v in found
    )
    note = f"The claim itself: gain {_shown(item, 'gain')}, energy {_shown(item, 'energy')}."
    heads = ("kind", "gain", "energy", "edit")
    title = f"Contradictions of {cut(item.item, SHORT)}"
    return Table(title, heads, rows, n_rows=len(rows), note=note)


def cut(text: str, most: int) -> str:
    """A text short enough for a cell."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _claim(item: ItemReading, table: EvidenceTable, row: int) -> tuple[Cell, ...]:
    reason = f": {cut(item.reason, SHORT)}" if item.reason else ""
    flags = [str(f).removeprefix("binding:") for f in _list(item.extra.get("route"))]
    n = item.extra.get("n_contrasts")
    return (
        cut(item.item, SHORT),
        _rounded(item.value),
        _rounded(item.extra.get("gain")),
        _rounded(item.extra.get("energy")),
        _whole(n),
        cut(table.claim[row] or "", TEXT),
        _best(item),
        ", ".join(flags) or None,
        "measured" if item.value is not None else f"{item.state.value}{reason}",
    )


def _best(item: ItemReading) -> str | None:
    best = item.extra.get("best_gain")
    for v in _list(item.extra.get("variants")):
        if isinstance(v, Mapping) and best is not None and v.get("gain") == best:
            return cut(f"{v.get('before')} → {v.get('after')}", TEXT)
    return None


def _shown(item: ItemReading, name: str) -> str:
    value = item.extra.get(name)
    return f"{value:.3f}" if isinstance(value, float) else "not measured"


def _rounded(value: Json) -> float | None:
    return round(value, 4) if isinstance(value, float) else None


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else []


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) else None


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
