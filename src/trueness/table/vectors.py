"""Vectors beside a table: one for every distinct text, with the identity of what made them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import ShapeError
from trueness.contract.serial import Json

Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

TOO_LONG = "text_too_long"
"""Why a text has no vector: more tokens than are read. Other reasons begin with `FAILED`."""
FAILED = "error: "


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """Distinct texts of one role, each with a row or with the reason why it has none.

    Parameters
    ----------
    place : mapping of str to int
        Row of each text in ``values``.
    values : (n_texts, d) float
    failed : mapping of str to str
        `TOO_LONG`, or `FAILED` and what went wrong.

    Raises
    ------
    ShapeError
        When there is not one row a text.
    """

    place: Mapping[str, int]
    values: Floats
    failed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.values) != len(self.place):  # noqa: PLR2004 - (n, d)
            msg = (
                f"{len(self.place)} texts and vectors of shape {self.values.shape}; wanted is one "
                "row a text: (n_texts, d). Embed every distinct text once."
            )
            raise ShapeError(msg)

    def rows(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Vectors of texts, in float64 and in their order; a row of ones where there is none.

        >>> known = TextVectors({"a": 0}, np.array([[3.0, 4.0]]))
        >>> known.rows(["a", "b"]).tolist()
        [[3.0, 4.0], [1.0, 1.0]]
        """
        found = np.ones((len(texts), self.values.shape[1]), np.float64)
        for i, text in enumerate(texts):
            row = self.place.get(text)
            if row is not None:
                found[i] = self.values[row]
        return found

    def faults(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Reasons why some of the texts have no vector, each once."""
        return tuple(dict.fromkeys(self.failed[t] for t in texts if t in self.failed))


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Moments of the unit vectors of a declared corpus.

    Parameters
    ----------
    name : str
        SHA-256 of its distinct texts, sorted.
    size : int
        Distinct texts.
    mean : (d,) float
    covariance : (d, d) float
        Around the mean, divided by the size.
    """

    name: str
    size: int
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Vectors of a table's claims and passages.

    Parameters
    ----------
    claim, evidence : TextVectors
        Of equal width.
    identity : mapping
        Of the embedder: what two sets of vectors must share to be compared.
    noise : float
        Length of the noise of one unit row.
    rules : mapping
        How texts were cut before they were embedded: splitter, windows.
    versions : mapping of str to str
        Of what made them; recorded, never matched.
    notes : tuple of str
        What has to be said about them.
    corpus : Corpus or None
        Where one was declared.

    Raises
    ------
    ShapeError
        When claims and passages have different widths.
    """

    claim: TextVectors
    evidence: TextVectors
    identity: Mapping[str, Json]
    noise: float
    rules: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    corpus: Corpus | None = None

    def __post_init__(self) -> None:
        one, two = self.claim.values.shape[1], self.evidence.values.shape[1]
        if one != two:
            msg = (
                f"vectors of claims have dimension {one} and those of passages {two}. "
                "Embed both with the same model."
            )
            raise ShapeError(msg)

    @property
    def dimension(self) -> int:
        """Numbers a vector holds."""
        return int(self.claim.values.shape[1])


Judgement: TypeAlias = tuple[float, float | None, float | None]
"""Entailment, neutral, contradiction; None for what the judge does not tell."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What an entailer says of passages and sentences.

    Parameters
    ----------
    pairs : mapping of (passage, sentence) to Judgement
        A pair that is missing was not judged.
    identity : mapping
        Of the entailer.
    versions : mapping of str to str
        Recorded, never matched.
    """

    pairs: Mapping[tuple[str, str], Judgement]
    identity: Mapping[str, Json]
    versions: Mapping[str, str] = field(default_factory=dict)

    def columns(
        self, passages: Sequence[str], sentences: Sequence[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Entailment and contradiction, (n_sentences, n_passages) each; nan where not judged.

        >>> judged = Judged({("p", "s"): (0.9, 0.1, None)}, {})
        >>> judged.columns(["p"], ["s"])
        (array([[0.9]]), array([[nan]]))
        """
        found = np.full((2, len(sentences), len(passages)), np.nan)
        for i, sentence in enumerate(sentences):
            for j, passage in enumerate(passages):
                pair = self.pairs.get((passage, sentence))
                if pair is not None:
                    found[0, i, j] = pair[0]
                    found[1, i, j] = np.nan if pair[2] is None else pair[2]
        return found[0], found[1]
