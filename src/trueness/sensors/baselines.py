"""Rivals of the span: simpler measures of a claim against its evidence, with contracts too."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from trueness.contract import Contract, Direction, ItemReading, Reading, State, Status
from trueness.contract.blocks import Block
from trueness.sensors.claim_reading import Sight, histogram, no_claims, reading_of
from trueness.sensors.claims import (
    VERSION,
    check_interval,
    embedder_identity,
    refused_text,
    span_item,
    vectors_of,
)
from trueness.sensors.instrument import Instrument
from trueness.stats.span import measure_span
from trueness.stats.span_item import Refused
from trueness.stats.span_rules import SpanRules
from trueness.table.evidence import EvidenceTable

_WORD = re.compile(r"\w+")
_ALL = 1_000_000
"""Passages that a baseline reads: it has no limit of its own."""
_SEMANTIC = (
    "relation inversion, role swap, polarity, quantity, time, cause: all that keeps the topic",
    "false evidence: it carries a false claim perfectly",
    "omissions: a claim that leaves out most of the evidence is close to it",
    "anything the embedder erases; text past its token limit is refused, never measured",
)


@dataclass(frozen=True, slots=True)
class Params:
    """Of the bootstrap interval, and of the words.

    Parameters
    ----------
    level, replicates, seed :
        Of the bootstrap.

    Raises
    ------
    InputError
        When a field is out of its range.
    """

    level: float = 0.95
    replicates: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_interval(self.level, self.replicates, self.seed)


def word_overlap(claim: str, passages: tuple[str, ...]) -> float | None:
    """Share of the claim's distinct words, in any case, that stand in a passage; None without any.

    >>> word_overlap("She won gold.", ("She ran.", "He won."))
    0.6666666666666666
    """
    words = set(_WORD.findall(claim.casefold()))
    there = {w for p in passages for w in _WORD.findall(p.casefold())}
    return len(words & there) / len(words) if words else None


def _by_axis(axis: str) -> Callable[[EvidenceTable, int], tuple[State, str | None, float | None]]:
    """What an axis of the span says of a claim; the rank of the span decides nothing here."""

    def look(table: EvidenceTable, row: int) -> tuple[State, str | None, float | None]:
        item = span_item(table, row)
        if isinstance(item, Refused):
            return item.state, item.reason, None
        rules = SpanRules(embedding_noise=vectors_of(table).noise, max_passages=_ALL)
        found = measure_span(
            item.claim, item.evidence, rules=rules, texts=item.texts, influence=False
        )
        value = found.axes.get(axis)
        if item.text_too_long:
            return State.NOT_APPLICABLE, "text_too_long", None
        if value is not None:
            return State.MEASURED, None, value
        if found.axes:
            return State.DEGENERATE, f"{axis}_undefined", None
        return found.state, found.reason, None

    return look


def _by_text(
    value: Callable[[str, tuple[str, ...]], float | None],
) -> Callable[[EvidenceTable, int], tuple[State, str | None, float | None]]:
    """What the texts alone say; no vector is read."""

    def look(table: EvidenceTable, row: int) -> tuple[State, str | None, float | None]:
        claim, passages = table.claim[row], table.passages(row)
        refused = refused_text(claim, passages)
        if refused is not None:
            return refused.state, refused.reason, None
        found = value(claim or "", passages)
        if found is None:
            return State.NOT_APPLICABLE, "no_words", None
        return State.MEASURED, None, found

    return look


def _measure(
    table: EvidenceTable,
    params: Params | None,
    *,
    contract: Contract,
    look: Callable[[EvidenceTable, int], tuple[State, str | None, float | None]],
    embedded: bool,
) -> Reading:
    if not isinstance(table, EvidenceTable):
        return no_claims(contract)
    params = params or Params()
    entries = []
    for row in range(len(table)):
        state, reason, value = look(table, row)
        extra = {} if table.group is None else {"group": table.group[row]}
        entries.append(ItemReading(table.item[row] or "", state, reason, value, extra))
    identity = {"version": VERSION, **(embedder_identity(table) if embedded else {})}
    top = max((e.value for e in entries if e.value is not None), default=1.0)
    span = (contract.range[0], min(contract.range[1], max(top, contract.range[0] + 1.0)))

    def said(value: float, n: int) -> str:
        return f"{contract.sensor} is {value:.4g} on average ({n:,} claims): {contract.unit}."

    def draw(reading: Reading) -> tuple[Block, ...]:
        return () if reading.value is None else (histogram(reading, span, name=contract.sensor),)

    sight = Sight(contract, entries, identity, {})
    return reading_of(table, sight, params, said=said, draw=draw)


def _instrument(
    contract: Contract,
    look: Callable[[EvidenceTable, int], tuple[State, str | None, float | None]],
    *,
    embedded: bool = True,
) -> Instrument:
    measure = partial(_measure, contract=contract, look=look, embedded=embedded)
    return Instrument(contract, Params, measure, NEEDS_VECTORS=embedded)


def _contract(
    name: str,
    proxy: str,
    unit: str,
    direction: Direction,
    *,
    low: float = 0.0,
    top: float = 1.0,
    blind: tuple[str, ...] = _SEMANTIC,
) -> Contract:
    return Contract(
        sensor=name,
        property="semantic containment of a claim in supplied evidence",
        proxy=proxy,
        unit=unit,
        range=(low, top),
        direction=direction,
        reference_needed="evidence chosen before the measurement",
        status=Status.EXPLORATORY,
        blind_to=blind,
        source="a baseline: what a better measure has to beat",
    )


_BETTER, _WORSE = Direction.HIGHER_IS_BETTER, Direction.HIGHER_IS_WORSE

TOP1 = _instrument(
    _contract(
        "baseline.top1",
        "cosine of the claim's embedding with the nearest passage's",
        "largest cosine with a passage",
        _BETTER,
        low=-1.0,
    ),
    _by_axis("top1"),
)
MEAN_COSINE = _instrument(
    _contract(
        "baseline.mean_cosine",
        "cosines of the claim's embedding with the passages'",
        "mean cosine with the passages",
        _BETTER,
        low=-1.0,
    ),
    _by_axis("mean_cosine"),
)
CENTROID = _instrument(
    _contract(
        "baseline.centroid",
        "cosine of the claim's embedding with the mean of the unit passages",
        "cosine with the centroid",
        _BETTER,
        low=-1.0,
    ),
    _by_axis("centroid"),
)
BEST_SIN2 = _instrument(
    _contract(
        "baseline.best_sin2",
        "squared sine of the angle between the claim's embedding and the best single passage's",
        "1 minus the largest squared cosine with a passage",
        _WORSE,
        blind=(*_SEMANTIC, "sign: a claim vector that is minus a passage lies on its line"),
    ),
    _by_axis("best_sin2"),
)
LENGTH = _instrument(
    _contract(
        "baseline.length",
        "length of the claim's text",
        "characters of the claim",
        _WORSE,
        top=float(10**9),
        blind=("the evidence, and everything about the claim but its length",),
    ),
    _by_text(lambda claim, _: float(len(claim.strip()))),
    embedded=False,
)
WORD_OVERLAP = _instrument(
    _contract(
        "baseline.word_overlap",
        "words that claim and evidence share",
        "share of the claim's distinct words that stand in a passage",
        _BETTER,
        blind=(
            "the order of words, and so who did what to whom",
            "other words for the same thing",
            "scripts that write no spaces: a whole clause is one word there",
        ),
    ),
    _by_text(word_overlap),
    embedded=False,
)
