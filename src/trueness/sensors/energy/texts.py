"""Claims as a page shows them: sentences shaded by energy, and the passages that carry them."""

from collections.abc import Mapping

from trueness.contract import ItemReading, Reading, State
from trueness.contract.blocks import Cell, Fact, MarkedText, MarkedTexts, Stretch, Table
from trueness.contract.serial import Json
from trueness.sensors.claim_reading import worse_first
from trueness.table.evidence import EvidenceTable

MAX_CLAIMS = 24
MAX_UNMEASURED = 6
MAX_PASSAGES = 12
MAX_SENTENCES = 30
TEXT = 500
LITTLE = 0.005
"""A passage without which the energy rises by less carries nothing that can be pointed at."""
FAR = 0.8
"""From so much of chance on nothing is carried, whatever comes nearest."""
STEPS = (
    "below 0.2 of chance",
    "0.2 to 0.4",
    "0.4 to 0.6",
    "0.6 to 0.8",
    "0.8 of chance or more",
)
CHANCE = "chance: a random direction"
_RIVALS = (
    ("best_sin2", "1 − best cosine²", 1.0),
    ("mean_cosine", "1 − mean cosine", -1.0),
    ("centroid", "1 − cosine of the centroid", -1.0),
)


def claim_texts(reading: Reading, table: EvidenceTable) -> MarkedTexts:
    """The claims that lie furthest outside, and a few that could not be measured.

    Every sentence is shaded by its energy over that of a random direction; the passages stand
    beneath, those that carry most first.
    """
    rows = {item: row for row, item in enumerate(table.item.values())}
    ranked = worse_first(reading)
    unmeasured = [i for i in reading.per_item if i.value is None]
    shown = [*ranked[:MAX_CLAIMS], *unmeasured[:MAX_UNMEASURED]]
    return MarkedTexts(
        "Claims, sentence by sentence, with what carries them",
        tuple(_text(i, table, rows[i.item], _level(reading, i.item)) for i in shown),
        reading.n_items,
        STEPS,
        level=CHANCE,
        note=f"Those furthest outside first, {len(shown):,} of {reading.n_items:,} claims; all "
        "are in the JSON. A shade is energy over that of a random direction: how much of the "
        "sentence's embedding no passage accounts for. It is no statement about right and wrong.",
    )


def _level(reading: Reading, item: str) -> Mapping[str, Json]:
    """The empirical chance level of an item, as the reading has it."""
    found: Json = reading.details.get("chance_empirical")
    for name in ("per_item", item):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _text(
    item: ItemReading, table: EvidenceTable, row: int, level: Mapping[str, Json]
) -> MarkedText:
    if item.value is None:
        return MarkedText(
            item.item,
            (Stretch(cut(table.claim[row] or "", TEXT), display="not measured"),),
            display=item.state.value,
            note=f"No number: {item.reason or item.state.value}.",
        )
    relative, chance = item.extra.get("relative"), item.extra.get("chance")
    return MarkedText(
        item.item,
        _stretches(item, table.claim[row] or ""),
        f"energy {item.value:.3f}, {_number(relative):.2f} of chance",
        item.value,
        _number(chance),
        _figures(item, table.claim[row] or "", level),
        _passages(item, table, row),
    )


def _stretches(item: ItemReading, claim: str) -> tuple[Stretch, ...]:
    """The sentences of a claim; the claim itself where it was not split."""
    parts = [p for p in list_of(item.extra.get("sentences")) if isinstance(p, dict)]
    if not parts:
        return (_stretch(cut(claim, TEXT), item.value, item.extra, None),)
    return tuple(
        _stretch(cut(str(p.get("text")), TEXT), _optional(p.get("value")), p, p.get("mark"))
        for p in parts[:MAX_SENTENCES]
    )


def _stretch(text: str, value: float | None, of: Mapping[str, Json], mark: Json) -> Stretch:
    notes = [] if mark is None else [f"a {mark}, left out of the aggregates"]
    if value is None:
        state = str(of.get("state") or State.NOT_APPLICABLE.value)
        return Stretch(text, display=f"{state}, {of.get('reason')}", note="; ".join(notes))
    relative = _number(of.get("relative"))
    notes += [*_carried(of), *_judged(of)]
    return Stretch(
        text,
        min(max(int(5 * relative), 0), 4),
        f"energy {value:.3f}, {relative:.2f} of chance",
        value,
        note="; ".join(notes),
    )


def _carried(of: Mapping[str, Json]) -> list[str]:
    """Which passage carries most, in words."""
    by = [p + 1 for p in list_of(of.get("carried_by")) if isinstance(p, int)]
    if not by:
        return []
    names = ", ".join(map(str, by[:4]))
    lost = [v for v in list_of(of.get("influence")) if isinstance(v, float)]
    if not lost:
        return [f"passage {names} is all there is"]
    if _number(of.get("relative")) >= FAR:
        return [f"no passage carries it; nearest comes {names}: {max(lost):+.3f} without it"]
    if max(lost) < LITTLE:
        return [f"no single passage carries it: at most {max(lost):+.3f} without one"]
    if len(by) > 1:
        return [f"passages {names} carry most, alike: {max(lost):+.3f} without one"]
    return [f"passage {names} carries most: {max(lost):+.3f} without it"]


def _judged(of: Mapping[str, Json]) -> list[str]:
    """What an entailer said at most, in words."""
    found = []
    for name, words in (("entailment", "entailed"), ("contradiction", "contradicted")):
        values = [v for v in list_of(of.get(name)) if isinstance(v, float)]
        found += [f"{words} at most {max(values):.2f}, by the entailer"] if values else []
    return found


def _figures(item: ItemReading, claim: str, level: Mapping[str, Json]) -> tuple[Fact, ...]:
    """The energy's chance levels, simpler measures and the length, beside it."""
    extra = item.extra
    found = [
        Fact(words, f"{(0.0 if sign > 0 else 1.0) + sign * value:.3f}")
        for name, words, sign in _RIVALS
        if isinstance(value := extra.get(name), float)
    ]
    picked = "; the evidence was picked by similarity" * (extra.get("chance_basis") == "selected")
    at = f"{_number(extra.get('chance')):.3f}"
    found.append(Fact("chance", at, f"a random direction{picked}"))
    foreign = level.get("mean")
    if isinstance(foreign, float):
        found.append(Fact("with foreign evidence", f"{foreign:.3f}", f"{level['m']} other sources"))
    return (*found, Fact("length", f"{len(claim):,}", "characters"))


def _passages(item: ItemReading, table: EvidenceTable, row: int) -> Table:
    """The passages of one claim, those that carry most of it first."""
    texts = table.passages(row)
    clusters = [_whole(m) for m in list_of(item.extra.get("clusters"))]
    influence = list_of(item.extra.get("influence")) or [None] * len(clusters)
    solo, cosines = list_of(item.extra.get("solo")), list_of(item.extra.get("cosines"))
    found = list(zip(clusters, influence, solo, cosines, strict=True))
    found.sort(key=lambda f: (-_order(f[1]), -_order(f[2])))
    carries = _carries(item)
    rows = tuple(
        (
            ", ".join(str(m + 1) for m in members[:4]) + ("…" if len(members) > 4 else ""),  # noqa: PLR2004 - as many as read well
            cut(texts[members[0]], TEXT),
            carries.get(members[0], "–"),
            *(round(v, 4) if isinstance(v, float) else None for v in numbers),
        )
        for members, *numbers in found[:MAX_PASSAGES]
        if members
    )
    heads = ("passage", "text", "carries", "influence", "explains alone", "cosine")
    dropped = len(list_of(item.extra.get("dropped")))
    left = f" {dropped} more were not selected." if dropped else ""
    return Table(
        "Passages, by what the energy would rise without each",
        heads,
        rows,
        n_rows=len(found),
        note=f"Passages that count as one share a line.{left}" if left or _merged(item) else "",
    )


def _carries(item: ItemReading) -> dict[int, Cell]:
    """By passage: the sentences that it carries most of."""
    found: dict[int, list[int]] = {}
    parts = list_of(item.extra.get("sentences")) or [{**item.extra}]
    for number, part in enumerate(parts, start=1):
        if isinstance(part, dict) and _carries_something(part):
            for passage in list_of(part.get("carried_by")):
                if isinstance(passage, int):
                    found.setdefault(passage, []).append(number)
    word = "sentence" if len(parts) > 1 else "the claim"
    return {
        p: word if len(parts) <= 1 else f"{word} {', '.join(map(str, numbers[:8]))}"
        for p, numbers in found.items()
    }


def _carries_something(part: Mapping[str, Json]) -> bool:
    lost = [v for v in list_of(part.get("influence")) if isinstance(v, float)]
    near = _number(part.get("relative")) < FAR
    return near and (not lost or max(lost) >= LITTLE)


def _merged(item: ItemReading) -> bool:
    return bool(item.extra.get("n_merged"))


def cut(text: str, most: int) -> str:
    """A text short enough for its place."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def list_of(value: Json) -> list[Json]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def _whole(value: Json) -> list[int]:
    return [v for v in list_of(value) if isinstance(v, int)]


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _optional(value: Json) -> float | None:
    return value if isinstance(value, float) else None


def _order(value: Json) -> float:
    return value if isinstance(value, float) else -2.0
