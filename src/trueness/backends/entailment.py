"""What judges whether a premise entails a hypothesis: labels by name, never by a fixed place."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from trueness.backends.vectors import VectorCache
from trueness.backends.weights import text_sha256
from trueness.contract.errors import AmbiguousLabels, BackendError
from trueness.contract.serial import Json, canonical

THREE_WAY = ("entailment", "neutral", "contradiction")
_TWO_WAY = {"entailment", "not_entailment"}
_NONE = -1.0
"""Stands for a probability that the model does not have, in the cache only."""


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """Places of the labels in a model's output; None for a label that it does not have."""

    entailment: int
    neutral: int | None
    contradiction: int | None

    def to_dict(self) -> dict[str, int | None]:
        """Plain values by label."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Entailment:
    """Probabilities of one pair; None for a label that the model does not have.

    ``n_windows`` parts of the premise were read; above one, each probability is the largest of
    them, so they need not add up to 1.
    """

    entailment: float
    neutral: float | None
    contradiction: float | None
    n_windows: int = 1


@runtime_checkable
class Entailer(Protocol):
    """Something that judges pairs and says what it is."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two judgements must share: id, revision, label order, dtype, max_tokens."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed it: recorded, never matched."""
        ...

    def probabilities(self, premise: str, hypothesis: str) -> Entailment:
        """How likely a premise (a passage) entails a hypothesis (a claim).

        Raises
        ------
        InputError
            When the hypothesis alone is longer than the model reads.
        BackendError
            When the model fails.
        """
        ...


def label_order(
    id2label: Mapping[int, str] | Mapping[str, str], labels: Mapping[str, int] | None = None
) -> LabelOrder:
    """Places of entailment, neutral and contradiction, by the model's own names for them.

    Parameters
    ----------
    id2label : mapping of int to str
        Of the model's configuration; keys may be text.
    labels : mapping of str to int, optional
        Given by the user, and then believed: at least ``entailment``.

    Raises
    ------
    AmbiguousLabels
        When the names do not say which is which, or the given places cannot be.

    Examples
    --------
    >>> label_order({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}).entailment
    2
    >>> label_order({0: "not_entailment", 1: "entailment"}).contradiction is None
    True
    """
    names = {int(place): str(name) for place, name in id2label.items()}
    if labels is not None:
        return _given(labels, names)
    places: dict[str, list[int]] = {}
    for place, name in names.items():
        places.setdefault(_plain(name), []).append(place)
    unique = {name: found[0] for name, found in places.items() if len(found) == 1}
    if len(names) == len(unique) and set(unique) in (set(THREE_WAY), _TWO_WAY):
        return LabelOrder(unique["entailment"], unique.get("neutral"), unique.get("contradiction"))
    listed = ", ".join(f"{place}: {name!r}" for place, name in sorted(names.items()))
    msg = (
        f"the model's labels are {{{listed}}}; wanted is exactly one each of entailment, neutral "
        "and contradiction (or entailment and not_entailment). Say which is which: "
        'labels={"entailment": 0, "neutral": 1, "contradiction": 2}.'
    )
    raise AmbiguousLabels(msg)


def judge_pairs(
    entailer: Entailer, pairs: Sequence[tuple[str, str]], *, cache: VectorCache | None = None
) -> tuple[Entailment, ...]:
    """Judgements of (premise, hypothesis) pairs, in order; equal pairs are judged once.

    Raises
    ------
    InputError, BackendError
        As the entailer does.
    """
    keys = {pair: _key(entailer.identity, *pair) for pair in dict.fromkeys(pairs)}
    stored = cache.get(list(keys.values())) if cache else {}
    known = {p: _loaded(stored[k].tolist()) for p, k in keys.items() if k in stored}
    fresh = {p: _checked(entailer.probabilities(*p), p) for p in keys if p not in known}
    if cache and fresh:
        cache.put({keys[p]: np.array(_stored(found)) for p, found in fresh.items()})
    every = known | fresh
    return tuple(every[pair] for pair in pairs)


def _given(labels: Mapping[str, int], names: Mapping[int, str]) -> LabelOrder:
    places = list(labels.values())
    usable = (
        "entailment" in labels
        and set(labels) <= set(THREE_WAY)
        and len(set(places)) == len(places)
        and set(places) <= set(names)
    )
    if not usable:
        msg = (
            f"labels={dict(labels)!r} for a model with the places {sorted(names)}; wanted is a "
            "place of its own for entailment, and for neutral and contradiction where it has them."
        )
        raise AmbiguousLabels(msg)
    return LabelOrder(labels["entailment"], labels.get("neutral"), labels.get("contradiction"))


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _key(identity: Mapping[str, Json], premise: str, hypothesis: str) -> str:
    texts: list[Json] = [text_sha256(premise), text_sha256(hypothesis)]
    return text_sha256(canonical([dict(identity), "entailment", texts]))


def _checked(found: Entailment, pair: tuple[str, str]) -> Entailment:
    known = [p for p in (found.entailment, found.neutral, found.contradiction) if p is not None]
    if all(0 <= p <= 1 for p in known):
        return found
    msg = f"the entailer gave {found} for the hypothesis {pair[1][:60]!r}; wanted is within [0, 1]."
    raise BackendError(msg)


def _stored(found: Entailment) -> list[float]:
    numbers = (found.entailment, found.neutral, found.contradiction, float(found.n_windows))
    return [_NONE if number is None else number for number in numbers]


def _loaded(numbers: list[float]) -> Entailment:
    entailment, neutral, contradiction, n_windows = numbers
    return Entailment(
        entailment,
        None if neutral == _NONE else neutral,
        None if contradiction == _NONE else contradiction,
        int(n_windows),
    )
