"""Whether a measurement of a claim moves when one binding of the claim is changed.

The claim is compared with its own minimal contradictions: by how much the evidence raises the
likelihood that a language model gives to each, and by the energy of each. They share their words
but for the edit, so length and style cancel.
"""

from trueness.contract import Contract, Direction, Status
from trueness.sensors.contrast.params import Params as Params

BLIND = (
    "bindings that no rule edits: the rules are English, and a kind not listed was not looked at",
    "contradictions that are none: an edit is made by rule, and can be nonsense, or hold too",
    "claims that are wrong elsewhere than at the places that are edited",
    "what the language model does not read off the evidence: equal gains give 0",
    "whether an edit is wrong: harmless rewordings of a claim can gain less than it as well",
    "copying: a model favours words that stand in the evidence, whoever they are said of",
    "false, stale, circular or made-up evidence: it raises a false claim above its contradictions",
    "omissions, and what of several sentences is left unedited",
    "anything the embedder erases: both energies are equal then, and the item is flagged",
)

CONTRACT = Contract(
    sensor="contrast",
    property="that the evidence carries this claim rather than one with a binding changed",
    proxy="gain in log-probability from the evidence, of the claim over the best of its generated "
    "contradictions: assumes that the model reads the evidence, that an edit changes what is said, "
    "and that text and edit are as likely as each other without the evidence or that the "
    "difference cancels",
    unit="nats: gain of the claim minus the largest gain of its contradictions",
    range=(-1e6, 1e6),
    direction=Direction.HIGHER_IS_BETTER,
    reference_needed="evidence chosen before the measurement, a language model that scores a given "
    "text, and an embedder with an identity; no gold",
    status=Status.EXPLORATORY,
    blind_to=BLIND,
    source="minimal pairs within one claim; whether it works is what the study `contrast` asks",
)

TABLE = "evidence"
"""It reads claims with their evidence."""
NEEDS_VECTORS = True
NEEDS_SCORES = True
"""The claims' contradictions must have been made, and scored by a language model."""

from trueness.sensors.contrast.measure import measure as measure  # noqa: E402 - needs CONTRACT
