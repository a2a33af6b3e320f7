"""How much of a claim's embedding lies outside the span of its evidence's embeddings.

0: a linear combination of the passages gives the claim; 1: it is orthogonal to all of them. It
is containment in a space of embeddings, and nothing about whether a claim holds.
"""

from trueness.contract import Contract, Direction, Status
from trueness.sensors.energy.params import Params as Params

BLIND = (
    "relation inversion and role swap inside the span: 'A acquired B' and 'B acquired A'",
    "polarity, time, quantity, scope, modality, comparison, causal direction, legal relation",
    "recombination across passages: what one says of Alice and another of Bob, exchanged",
    "sign: a claim vector that is minus a passage lies in its span",
    "false, stale, circular or made-up evidence: false evidence contains a false claim perfectly",
    "provenance, citation correctness, source quality and policy admissibility",
    "omissions: a claim that leaves out most of the evidence is contained",
    "the amount of evidence: uncut, more passages, relevant or not, can only make it fall",
    "anything the embedder erases; text past its token limit is refused, never measured",
    "claim length and style, which can tell the same claims apart better than it does",
)
"""Of the linear span; variants say where they differ."""

CONTRACT = Contract(
    sensor="energy",
    property="semantic containment of a claim in supplied evidence",
    proxy="containment of the claim's embedding in the linear span of the evidence embeddings: "
    "assumes that the embedder separates what matters, that support is roughly a linear "
    "combination, that what is new points out of the span, that the rank is neither too small "
    "nor too permissive, and that the evidence is the right evidence",
    unit="squared length of the part of the unit claim outside the span",
    range=(0.0, 1.0),
    direction=Direction.HIGHER_IS_WORSE,
    reference_needed="evidence chosen before the measurement, and an embedder with an identity; "
    "no gold, nothing of the generator",
    status=Status.EXPLORATORY,
    blind_to=BLIND,
    source="Hughes, Hallucination Energy / Certum (2026); the geometry is proved, its use to find "
    "hallucinations is exploratory",
)

TABLE = "evidence"
"""It reads claims with their evidence."""
NEEDS_VECTORS = True
READS = frozenset({"entailer"})
"""What it reads beside texts and vectors."""

from trueness.sensors.energy.measure import measure as measure  # noqa: E402 - needs CONTRACT
