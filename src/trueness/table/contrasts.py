"""Minimal variants of a claim, and how likely a model finds each with and without the evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trueness.contract.serial import Json
from trueness.table.vectors import FAILED

Passages = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A claim with one thing changed: ``claim[:start] + after + claim[stop:]``.

    Parameters
    ----------
    kind : str
        What was changed: the name of a binding, or ``paraphrase``.
    text : str
        The whole claim, changed.
    start, stop : int
        Where ``before`` stands in the claim.
    before, after : str
        What stood there, and what stands there in the variant.
    """

    kind: str
    text: str
    start: int
    stop: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Contradicted:
    """The contradictions of one claim, or why there are none."""

    found: tuple[Variant, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Likelihoods:
    """Log-probabilities of texts with and without evidence, in nats.

    Parameters
    ----------
    given : mapping of (passages, text) to float or str
        Behind the passages; a text says why there is no number.
    alone : mapping of text to float or str
        Behind the same words without passages.
    identity : mapping
        Of the model and the prompt: what two sets of numbers must share to be compared.
    versions : mapping of str to str
        Recorded, never matched.
    n_scored : int
        Texts that were scored.
    """

    given: Mapping[tuple[Passages, str], float | str]
    alone: Mapping[str, float | str]
    identity: Mapping[str, Json]
    versions: Mapping[str, str] = field(default_factory=dict)
    n_scored: int = 0

    def gain(self, passages: Passages, text: str) -> float | str:
        """What the evidence adds to the log-probability of a text, or why that is not known.

        >>> known = Likelihoods({(("p",), "c"): -2.0}, {"c": -5.0, "d": "timeout"}, {})
        >>> known.gain(("p",), "c"), known.gain(("p",), "d")
        (3.0, 'error: not_scored')
        """
        pair = (self.given.get((passages, text), "not_scored"), self.alone.get(text, "not_scored"))
        for value in pair:
            if isinstance(value, str):
                return FAILED + value
        with_evidence, without = (float(value) for value in pair)
        return with_evidence - without
