"""From numbers a sentence to numbers a claim: aggregates that never fill a gap."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError

FeatureSet = Literal["geometry", "entailment", "structural", "published", "independent"]
Value = float | int | None

SIMILARITY = ("mean_sim_top1", "min_sim_top1", "mean_sim_margin", "min_sim_margin")
COVERAGE = ("mean_coverage", "min_coverage")
ENERGY = ("max_energy", "mean_energy", "min_energy", "p90_energy", "frac_above")
ENERGY_DERIVED = ("energy_gap", "high_energy_count")
ENTAILMENT = ("max_entailment", "mean_entailment", "min_entailment")
ENTAILMENT_DERIVED = ("entailment_gap",)
ENTAILMENT_ADDED = ("weakest_support", "strongest_contradiction", "mean_support")
STRUCTURAL = ("sentence_count", "paragraph_count")
STRUCTURAL_ADDED = ("char_count",)
ADDED = ("max_relative", "mean_gain", "max_influence", "n_unstable")

DERIVED = frozenset({*ENERGY_DERIVED, *ENTAILMENT_DERIVED})
"""Combinations of other features; never in a linear model beside their parents."""

_GEOMETRY = (*SIMILARITY, *COVERAGE, *ENERGY, *ENERGY_DERIVED)
_ENTAILMENT = (*ENTAILMENT, *ENTAILMENT_DERIVED)
_PUBLISHED = (*_GEOMETRY, *_ENTAILMENT, *STRUCTURAL)
SETS: Mapping[FeatureSet, tuple[str, ...]] = MappingProxyType(
    {
        "geometry": _GEOMETRY,
        "entailment": _ENTAILMENT,
        "structural": STRUCTURAL,
        "published": _PUBLISHED,
        "independent": tuple(name for name in _PUBLISHED if name not in DERIVED),
    }
)
"""Features by set, in a fixed order."""


@dataclass(frozen=True, slots=True)
class SentenceNumbers:
    """What was measured on the sentences of one claim; nan where nothing was.

    Parameters
    ----------
    energy : (n_sentences,) float
    top1, margin, coverage, relative, gain, influence : (n_sentences,) float, optional
        Largest cosine; its distance to the second (nan with one passage); share of passages above
        a cosine; energy relative to chance; gain of the span over the best passage; largest
        influence of a passage. None where the whole claim has none.
    entailment, contradiction : (n_sentences, n_passages) float, optional
        Probabilities by sentence and passage. None without an entailer, or where it does not say.
    n_unstable : int
        Sentences whose energy is unstable.
    """

    energy: NDArray[np.float64]
    top1: NDArray[np.float64] | None = None
    margin: NDArray[np.float64] | None = None
    coverage: NDArray[np.float64] | None = None
    relative: NDArray[np.float64] | None = None
    gain: NDArray[np.float64] | None = None
    influence: NDArray[np.float64] | None = None
    entailment: NDArray[np.float64] | None = None
    contradiction: NDArray[np.float64] | None = None
    n_unstable: int = 0


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """Aggregates of one claim; a feature without numbers is None.

    Parameters
    ----------
    values : mapping of str to number or None
    frac_above_bounds : (low, high) or None
        `frac_above` over all sentences, unmeasured ones counted as below and as above; None
        without sentences.
    n_measured, n_sentences : int
        Sentences with an energy, and all of them.
    """

    values: Mapping[str, Value]
    frac_above_bounds: tuple[float, float] | None
    n_measured: int
    n_sentences: int

    def select(self, chosen: FeatureSet) -> tuple[Value, ...]:
        """The features of a set, in the order of `SETS`."""
        return tuple(self.values[name] for name in SETS[chosen])


def coverage(cosines: NDArray[np.float64], *, cut: float = 0.3) -> NDArray[np.float64]:
    """Share of passages whose cosine to each sentence is above a cut (strictly).

    Parameters
    ----------
    cosines : (n_sentences, n_passages) float
        nan in a row makes its share nan.
    cut : float

    Returns
    -------
    (n_sentences,) float in [0, 1]
        nan without passages.

    Examples
    --------
    >>> coverage(np.array([[0.3, 0.5], [0.4, 0.9]])).tolist()
    [0.5, 1.0]
    """
    if cosines.ndim != 2:  # noqa: PLR2004 - sentences by passages
        msg = f"cosines have shape {cosines.shape}; wanted is (n_sentences, n_passages)."
        raise ShapeError(msg)
    if cosines.shape[1] == 0:
        return np.full(len(cosines), np.nan)
    share: NDArray[np.float64] = (cosines > cut).mean(axis=1)
    return np.where(np.isnan(cosines).any(axis=1), np.nan, share)


def sentence_features(
    numbers: SentenceNumbers,
    *,
    energy_cut: float,
    paragraph_count: int | None = None,
    char_count: int | None = None,
) -> SentenceFeatures:
    """Aggregates over the measured sentences of one claim.

    The 90 % quantile interpolates linearly (type 7). Sentences without a number are left out of an
    aggregate, never filled; margins therefore come from sentences with two passages or more.
    Entailment is aggregated over all sentence-passage pairs; ``weakest_support`` is the least, over
    sentences, of the best passage's entailment.

    Parameters
    ----------
    numbers : SentenceNumbers
    energy_cut : float
        ``frac_above`` counts energies above it, strictly.
    paragraph_count, char_count : int, optional
        Of the claim's text.

    Raises
    ------
    ShapeError
        When the arrays have different numbers of sentences.
    InputError
        When a number is infinite, or the cut is not finite.

    Examples
    --------
    >>> found = sentence_features(SentenceNumbers(np.array([0.2, np.nan, 0.8])), energy_cut=0.5)
    >>> found.values["mean_energy"], found.values["frac_above"], found.values["max_relative"]
    (0.5, 0.5, None)
    >>> found.n_measured, found.n_sentences
    (2, 3)
    """
    _check(numbers, energy_cut)
    n_sentences = len(numbers.energy)
    energy = _known(numbers.energy)
    above = int((energy > energy_cut).sum())
    values: dict[str, Value] = {
        **_similarity(numbers),
        **_energy(energy, above),
        **_entailment(numbers.entailment, numbers.contradiction),
        "sentence_count": n_sentences,
        "paragraph_count": paragraph_count,
        "char_count": char_count,
        "max_relative": _most(numbers.relative),
        "mean_gain": _mean(numbers.gain),
        "max_influence": _most(numbers.influence),
        "n_unstable": numbers.n_unstable,
    }
    missing = n_sentences - energy.size
    bounds = (above / n_sentences, (above + missing) / n_sentences) if n_sentences else None
    return SentenceFeatures(MappingProxyType(values), bounds, int(energy.size), n_sentences)


def _similarity(numbers: SentenceNumbers) -> dict[str, Value]:
    return {
        "mean_sim_top1": _mean(numbers.top1),
        "min_sim_top1": _least(numbers.top1),
        "mean_sim_margin": _mean(numbers.margin),
        "min_sim_margin": _least(numbers.margin),
        "mean_coverage": _mean(numbers.coverage),
        "min_coverage": _least(numbers.coverage),
    }


def _energy(energy: NDArray[np.float64], above: int) -> dict[str, Value]:
    if not energy.size:
        return dict.fromkeys((*ENERGY, *ENERGY_DERIVED))
    return {
        "max_energy": _most(energy),
        "mean_energy": _mean(energy),
        "min_energy": _least(energy),
        "p90_energy": float(np.quantile(energy, 0.9, method="linear")),
        "frac_above": above / energy.size,
        "energy_gap": float(energy.max() - energy.min()),
        "high_energy_count": above,
    }


def _entailment(
    entailment: NDArray[np.float64] | None, contradiction: NDArray[np.float64] | None
) -> dict[str, Value]:
    most, least = _most(entailment), _least(entailment)
    support = None if entailment is None else _best_by_row(entailment)
    return {
        "max_entailment": most,
        "mean_entailment": _mean(entailment),
        "min_entailment": least,
        "entailment_gap": None if most is None or least is None else most - least,
        "weakest_support": _least(support),
        "mean_support": _mean(support),
        "strongest_contradiction": _most(contradiction),
    }


def _best_by_row(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the largest known number of each row that has one."""
    rows = table[~np.isnan(table).all(axis=1)] if table.shape[1] else table[:0]
    best: NDArray[np.float64] = np.nanmax(rows, axis=1) if len(rows) else np.empty(0)
    return best


def _known(numbers: NDArray[np.float64] | None) -> NDArray[np.float64]:
    return np.empty(0) if numbers is None else numbers[~np.isnan(numbers)]


def _mean(numbers: NDArray[np.float64] | None) -> float | None:
    known = _known(numbers)
    return float(known.mean()) if known.size else None


def _least(numbers: NDArray[np.float64] | None) -> float | None:
    known = _known(numbers)
    return float(known.min()) if known.size else None


def _most(numbers: NDArray[np.float64] | None) -> float | None:
    known = _known(numbers)
    return float(known.max()) if known.size else None


def _check(numbers: SentenceNumbers, energy_cut: float) -> None:
    if not np.isfinite(energy_cut):
        msg = f"energy_cut is {energy_cut}; wanted is a finite number. Declare one."
        raise InputError(msg)
    n_sentences = len(numbers.energy)
    for name in SentenceNumbers.__slots__:
        found = getattr(numbers, name)
        if not isinstance(found, np.ndarray):
            continue
        axes = 2 if name in {"entailment", "contradiction"} else 1
        if found.ndim != axes or len(found) != n_sentences:
            msg = (
                f"{name} has shape {found.shape} and energy {numbers.energy.shape}; wanted is one "
                f"{'row' if axes > 1 else 'number'} a sentence. Use nan for a sentence without."
            )
            raise ShapeError(msg)
        if np.isinf(found).any():
            msg = f"{name} holds an infinite number. Use nan for a sentence that is not measured."
            raise InputError(msg)
