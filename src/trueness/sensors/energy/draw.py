"""The blocks of a page about claims and their evidence; bounded whatever the number of claims."""

from collections.abc import Mapping, Sequence

from trueness.contract import ItemReading, Reading
from trueness.contract.blocks import (
    Block,
    Cell,
    Curve,
    Dot,
    IntervalDots,
    Series,
    Table,
)
from trueness.contract.serial import Json
from trueness.sensors.claim_reading import histogram, worse_first
from trueness.sensors.energy.params import Params
from trueness.sensors.energy.texts import claim_texts, cut, list_of
from trueness.table.evidence import EvidenceTable

MAX_ROWS = 300
MAX_SENTENCES = 40
MAX_SPECTRA = 4
TEXT = 100
SHORT = 60


def said(value: float, n: int) -> str:
    """The finding in plain words."""
    return (
        f"On average {value:.3f} of a claim's embedding lies outside the span of its evidence "
        f"({n:,} claims; 0 is inside, 1 orthogonal). This is containment of embeddings and no "
        "statement about right and wrong."
    )


def blocks(reading: Reading, table: EvidenceTable, params: Params) -> tuple[Block, ...]:
    """The pictures and tables of a reading, most uncontained claims first."""
    if reading.value is None:
        return (claim_texts(reading, table), claims(reading, table))
    ranked = worse_first(reading)
    chance = reading.details.get("chance")
    level = chance if isinstance(chance, float) else None
    out: list[Block] = [
        histogram(reading, (0.0, 1.0), chance=level, name="energy"),
        rivals(reading, table),
        claim_texts(reading, table),
        claims(reading, table),
    ]
    parts = sentences(ranked)
    out += [parts] if parts is not None else []
    out.append(spectrum(ranked, params))
    return tuple(out)


def rivals(reading: Reading, table: EvidenceTable) -> IntervalDots:
    """The mean energy beside its chance levels and beside what is simpler than it."""
    found = reading.details
    chance = found.get("chance")
    empirical = found.get("chance_empirical")
    foreign = empirical.get("mean") if isinstance(empirical, Mapping) else None
    lines: list[tuple[str, Json, str]] = [
        ("1 − best cosine²", found.get("best_sin2"), "neutral"),
        ("1 − mean cosine", _away(found.get("mean_cosine")), "neutral"),
        ("1 − cosine of the centroid", _away(found.get("centroid")), "neutral"),
        ("chance: a random direction", chance, "none"),
        ("chance: other sources' evidence", foreign, "none"),
    ]
    dots = [Dot("energy", reading.value, reading.low, reading.high, display=_interval(reading))]
    dots += [
        Dot(label, value, role=role, display=f"{value:.3f}")
        for label, value, role in lines
        if isinstance(value, (int, float))
    ]
    lengths = [len(c) for c in table.claim.values() if c is not None]
    return IntervalDots(
        "Energy beside chance and beside simpler measures",
        tuple(dots),
        reference=float(chance) if isinstance(chance, (int, float)) else 1.0,
        limits=(0.0, 1.0),
        axis="mean over the measured claims",
        band=reading.interval_kind or "",
        note="Where a simpler measure tells claims apart as well, the span adds nothing; nor does "
        f"it where length does (claims here have {min(lengths):,} to {max(lengths):,} characters).",
    )


def claims(reading: Reading, table: EvidenceTable) -> Table:
    """Every claim with its energy, over chance too, and the passage that carries most.

    Those that lie furthest outside come first, those without a number last.
    """
    many = len(reading.per_item) > MAX_ROWS
    unmeasured = [] if many else [i for i in reading.per_item if i.value is None]
    shown = [*worse_first(reading)[:MAX_ROWS], *unmeasured]
    place = {item: row for row, item in enumerate(table.item.values())}
    rows = tuple(_claim(item, table, place[item.item]) for item in shown)
    heads = (
        *("item", "energy", "of chance", "characters", "passages", "rank"),
        *("claim", "most support", "state"),
    )
    return Table(
        "Claims",
        heads,
        rows,
        n_rows=reading.n_items,
        note="Those furthest outside come first. Most support: the passage without which the "
        "energy would rise most." + (" All are in the JSON." if many else ""),
        per_item=True,
    )


def _claim(item: ItemReading, table: EvidenceTable, row: int) -> tuple[Cell, ...]:
    reason = f": {cut(item.reason, SHORT)}" if item.reason else ""
    numbers = (item.value, item.extra.get("relative"))
    return (
        cut(item.item, SHORT),
        *(round(v, 4) if isinstance(v, float) else None for v in numbers),
        len(table.claim[row] or ""),
        len(table.passages(row)),
        _whole(item.extra.get("rank")),
        cut(table.claim[row] or "", TEXT),
        _support(item, table, row),
        "measured" if item.value is not None else f"{item.state.value}{reason}",
    )


def _support(item: ItemReading, table: EvidenceTable, row: int) -> str | None:
    found, clusters = item.extra.get("support"), item.extra.get("clusters")
    if not isinstance(clusters, list) or not clusters:
        return None
    at = found[0] if isinstance(found, list) and found else 0
    if not isinstance(found, list) and len(clusters) > 1:
        return None
    return _text(clusters[at] if isinstance(at, int) else None, table, row)


def sentences(ranked: Sequence[ItemReading]) -> Table | None:
    """Sentences of claims that have several, those that lie furthest outside first."""
    found = [
        (item.item, part)
        for item in ranked
        for parts in (list_of(item.extra.get("sentences")),)
        if len(parts) > 1
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("value"), float)
    ]
    if not found:
        return None
    found.sort(key=lambda pair: -_number(pair[1].get("value")))
    rows = tuple(
        (
            cut(name, SHORT),
            _whole(part.get("sub")),
            cut(str(part.get("text")), TEXT),
            round(_number(part.get("value")), 4),
            round(_number(part.get("relative")), 4),
            _word(part.get("mark")),
        )
        for name, part in found[:MAX_SENTENCES]
    )
    heads = ("item", "sentence", "text", "energy", "of chance", "is a")
    return Table("Sentences, furthest outside first", heads, rows, n_rows=len(found))


def spectrum(ranked: Sequence[ItemReading], params: Params) -> Curve:
    """Singular values of the evidence of a few claims, with those that are cut off dashed."""
    series: list[Series] = []
    for item in ranked[:MAX_SPECTRA]:
        sigma = [_number(v) for v in list_of(item.extra.get("sigma"))]
        kept = item.extra.get("r")
        r = kept if isinstance(kept, int) else len(sigma)
        points = [(float(i), s / sigma[0]) for i, s in enumerate(sigma, start=1)]
        series.append(Series(cut(item.item, SHORT), tuple(points[:r])))
        if r < len(points):
            name = f"{cut(item.item, SHORT)}, cut off"
            series.append(Series(name, tuple(points[r:]), dashed=True))
    rule = {"full": "all numerical directions", "cap": f"at most {params.cap} directions"}
    kept_by = rule.get(params.rank, f"directions that hold {params.q} of the spectral mass")
    return Curve(
        "Spectrum of the evidence",
        "direction",
        "strength, of the first",
        tuple(series),
        note=f"Kept: {kept_by}; below {params.rank_tol:g} of the first a direction is null. "
        "Dashed: cut off.",
    )


def _text(members: Json, table: EvidenceTable, row: int) -> str | None:
    if not isinstance(members, list) or not members or not isinstance(members[0], int):
        return None
    more = f" (and {len(members) - 1} like it)" if len(members) > 1 else ""
    return cut(table.passages(row)[members[0]], TEXT) + more


def _interval(reading: Reading) -> str:
    shown = f"{reading.value:.3f}"
    if reading.low is None or reading.high is None:
        return shown
    return f"{shown} [{reading.low:.3f}, {reading.high:.3f}]"


def _away(value: Json) -> Json:
    return 1.0 - value if isinstance(value, float) else None


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) else None


def _word(value: Json) -> str | None:
    return value if isinstance(value, str) else None
