"""Other measures of a claim against its evidence: each a sensor with a contract of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from trueness.contract import Contract, Direction, ItemReading, Reading
from trueness.contract.blocks import Block
from trueness.contract.errors import InputError
from trueness.contract.serial import Json, plain
from trueness.sensors.claim_reading import Sight, histogram, no_claims, reading_of
from trueness.sensors.claims import VERSION, embedder_identity, span_item, vectors_of
from trueness.sensors.energy import BLIND, CONTRACT
from trueness.sensors.energy.draw import claims
from trueness.sensors.energy.foreign import foreign_levels, summary
from trueness.sensors.energy.params import Params
from trueness.sensors.instrument import Instrument
from trueness.stats import span_variants
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules
from trueness.stats.span_variants import Variant
from trueness.table.evidence import EvidenceTable
from trueness.table.vectors import Corpus

Look = Callable[[SpanItem, SpanRules], Variant]
Context = tuple[dict[str, Any], dict[str, Json]]
"""What a measure needs of the table besides an item, and what of it is part of its identity."""
_SIGN = BLIND[3]
_AMOUNT = BLIND[7]
_CONTRACTED = (
    "explained", "rank", "n", "chance", "relative", "cutoff_gap", "influence",
)  # fmt: skip
"""Fields that every sensor of claims has, None where a measure does not define them."""
_OF_SPAN = ("explained", "rank", "chance", "relative", "cutoff_gap")


@dataclass(frozen=True, slots=True)
class SigmaParams(Params):
    """Of `energy.sigma`: ``power`` of a direction's strength, from 0."""

    power: float = 1.0


@dataclass(frozen=True, slots=True)
class RidgeParams(Params):
    """Of `energy.ridge`: ``penalty`` on the coefficients, above 0."""

    penalty: float = 0.1


@dataclass(frozen=True, slots=True)
class KernelParams(Params):
    """Of `energy.kernel`: ``rbf`` with a width, or ``poly`` with a degree."""

    kernel: Literal["rbf", "poly"] = "rbf"
    width: float = 1.0
    degree: int = 2


@dataclass(frozen=True, slots=True)
class WhitenedParams(Params):
    """Of `energy.whitened`: ``shrinkage`` towards a multiple of the identity, from 0 to 1."""

    shrinkage: float = 0.0


def _no_context(table: EvidenceTable, row: int) -> Context:
    del table, row
    return {}, {}


def _weights(table: EvidenceTable, row: int) -> Context:
    if table.weights is None:
        msg = (
            "no weights were given, and this measure weighs its passages. Name their column: "
            "--weights COLUMN, or weights= in Python."
        )
        raise InputError(msg)
    return {"weights": table.weights[row]}, {"weights": "one a passage, as given"}


def _mean_of_corpus(table: EvidenceTable, row: int) -> Context:
    del row
    found = _corpus(table)
    return {"mean": found.mean}, {"corpus": found.name, "corpus_size": found.size}


def _moments_of_corpus(table: EvidenceTable, row: int) -> Context:
    del row
    found = _corpus(table)
    moments = {"mean": found.mean, "covariance": found.covariance, "corpus_size": found.size}
    return moments, {"corpus": found.name, "corpus_size": found.size}


def _corpus(table: EvidenceTable) -> Corpus:
    found = vectors_of(table).corpus
    if found is None:
        msg = (
            "no corpus was declared, and this measure is relative to one. Give its texts: "
            "--corpus FILE, or corpus=[...] in Python."
        )
        raise InputError(msg)
    return found


def _contract(
    name: str, proxy: str, unit: str, *, blind: tuple[str, ...], top: float = 1.0
) -> Contract:
    return replace(
        CONTRACT,
        sensor=name,
        proxy=proxy,
        unit=unit,
        range=(0.0, top),
        direction=Direction.HIGHER_IS_WORSE,
        blind_to=blind,
        source="a variant of the linear measure with a fingerprint and thresholds of its own",
    )


def _measure(
    table: EvidenceTable,
    params: Params | None,
    *,
    contract: Contract,
    made: type[Params],
    look: Callable[..., Variant],
    named: tuple[str, ...],
    context: Callable[[EvidenceTable, int], Context],
    empirical: bool,
) -> Reading:
    """The reading of one variant; ``named`` are the parameters that it alone has.

    ``empirical``: its chance level is known from other sources' evidence only.
    """
    if not isinstance(table, EvidenceTable):
        return no_claims(contract)
    params = params or made()
    if type(params) is not made:
        msg = f"{contract.sensor} got {type(params).__name__}; hand in its own {made.__name__}."
        raise InputError(msg)
    own = {name: getattr(params, name) for name in named}
    declared = context(table, 0)[1]
    rules = params.rules(vectors_of(table).noise)
    params.check(table)
    items = [
        _entry(table, row, partial(look, **own, **context(table, row)[0]), rules)
        for row in range(len(table))
    ]
    sight = Sight(
        contract=contract,
        items=items,
        identity={
            "version": VERSION,
            **embedder_identity(table),
            **params.identity(rules.embedding_noise),
            "variant": plain({**own, **declared}),
        },
        details=_empirical(table, items, rules, params, partial(look, **own)) if empirical else {},
        aside=params.aside() if empirical else {},
    )
    name = contract.sensor

    def said(value: float, n: int) -> str:
        return (
            f"{name} is {value:.3f} on average ({n:,} claims): {contract.unit}. "
            "No statement about right and wrong."
        )

    def draw(reading: Reading) -> tuple[Block, ...]:
        found = claims(reading, table)
        if reading.value is None:
            return (found,)
        return (histogram(reading, contract.range, name=name), found)

    return reading_of(table, sight, params, said=said, draw=draw)


def _empirical(
    table: EvidenceTable,
    items: Sequence[ItemReading],
    rules: SpanRules,
    params: Params,
    look: Look,
) -> dict[str, Json]:
    """The chance level of a measure that has none of random directions."""
    ready = {
        row: item
        for row, seen in enumerate(items)
        if seen.value is not None and isinstance(item := span_item(table, row), SpanItem)
    }
    levels = foreign_levels(table, ready, rules, params, look=look)
    return {"chance_empirical": summary(table, levels, params)}


def _entry(table: EvidenceTable, row: int, look: Look, rules: SpanRules) -> ItemReading:
    name, item = table.item[row] or "", span_item(table, row)
    extra: dict[str, Json] = dict.fromkeys(_CONTRACTED)
    if table.group is not None:
        extra["group"] = table.group[row]
    if not isinstance(item, SpanItem):
        return ItemReading(name, item.state, item.reason, None, extra)
    found = look(item, rules)
    figures: Mapping[str, Any] = found.figures
    extra |= {key: plain(value) for key, value in figures.items()}
    if found.span is not None:
        extra |= {key: plain(getattr(found.span, key)) for key in _OF_SPAN}
    measured = found.value is not None
    extra["n"] = sum(bool(p.strip()) for p in table.passages(row)) if measured else None
    return ItemReading(name, found.state, found.reason, found.value, extra)


def _instrument(
    contract: Contract,
    look: Callable[..., Variant],
    made: type[Params] = Params,
    named: tuple[str, ...] = (),
    context: Callable[[EvidenceTable, int], Context] = _no_context,
    *,
    empirical: bool = False,
    reads: str | None = None,
) -> Instrument:
    measure = partial(
        _measure,
        contract=contract,
        made=made,
        look=look,
        named=named,
        context=context,
        empirical=empirical,
    )
    return Instrument(contract, made, measure, READS=frozenset({reads} if reads else ()))


_SIGNED = tuple(b for b in BLIND if b != _SIGN)

AFFINE = _instrument(
    _contract(
        "energy.affine",
        "containment of the claim's embedding in the affine span of the evidence embeddings",
        "share of the claim's squared distance from the passages' mean that leaves their span",
        blind=(*BLIND, "claims with one passage, or with passages that are all alike"),
    ),
    span_variants.affine,
)
CORPUS = _instrument(
    _contract(
        "energy.corpus",
        "containment of embeddings from which the mean of a declared corpus is taken off",
        "squared length of the part of the centred unit claim outside the centred span",
        blind=(*BLIND, "what the declared corpus lacks"),
    ),
    span_variants.corpus,
    context=_mean_of_corpus,
    reads="corpus",
)
WHITENED = _instrument(
    _contract(
        "energy.whitened",
        "containment of embeddings whitened by the moments of a declared corpus",
        "squared length of the part of the whitened unit claim outside the whitened span",
        blind=(*BLIND, "what the declared corpus lacks"),
    ),
    span_variants.whitened,
    WhitenedParams,
    ("shrinkage",),
    _moments_of_corpus,
    reads="corpus",
)
WEIGHTED = _instrument(
    _contract(
        "energy.weighted",
        "containment of the claim's embedding in the span of weighted evidence embeddings",
        "squared length of the part of the unit claim outside the span of weighted passages",
        blind=(*BLIND, "the weights, while no direction is cut off: then they change nothing"),
    ),
    span_variants.weighted,
    context=_weights,
    reads="weights",
)
SIGMA = _instrument(
    _contract(
        "energy.sigma",
        "containment of the claim's embedding, each direction counted by its strength",
        "1 minus the mass in the span, weighted by relative singular values",
        blind=(*BLIND, "support in a direction that only one of many passages has"),
    ),
    span_variants.sigma,
    SigmaParams,
    ("power",),
)
RIDGE = _instrument(
    _contract(
        "energy.ridge",
        "penalised reconstruction of the claim's embedding from the evidence embeddings",
        "least squared residual plus penalised squared coefficients",
        blind=(*BLIND, "the difference between copies of a passage and a smaller penalty"),
    ),
    span_variants.ridge,
    RidgeParams,
    ("penalty",),
)
CONE = _instrument(
    _contract(
        "energy.cone",
        "distance of the claim's embedding from the cone of the evidence embeddings",
        "squared length of what no combination with coefficients from 0 reproduces",
        blind=_SIGNED,
    ),
    span_variants.cone,
)
HULL = _instrument(
    _contract(
        "energy.hull",
        "distance of the claim's embedding from the convex hull of the evidence embeddings",
        "squared distance from the hull of the unit passages",
        blind=_SIGNED,
        top=4.0,
    ),
    span_variants.hull,
)
KERNEL = _instrument(
    _contract(
        "energy.kernel",
        "containment of the claim's embedding in the span of the evidence under a kernel",
        "share of the claim's squared length outside the span in the kernel's space",
        blind=(*BLIND, "chance: its level is not that of random directions"),
    ),
    span_variants.kernel,
    KernelParams,
    ("kernel", "width", "degree"),
    empirical=True,
)
