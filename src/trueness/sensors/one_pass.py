"""What one forward pass says of an answer: rivals that every other sensor has to beat."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Contract, Direction, State, Status
from trueness.sensors.instrument import Instrument
from trueness.sensors.one_pass_reading import Floats, Items, Params, Seen, measure_items
from trueness.stats.observers import NUMBERS
from trueness.stats.state_distances import Fitted, fit_spread, fit_subspace, left_out
from trueness.table import NULL, AnswerTable

STATES = "hidden_states"
"""Name of the sidecar array that the distances read: one state a row, at the last prompt token."""
FOLDS = 10
"""Parts into which sources are put by their names; a part is never fitted on itself."""
_TOLERANCE = 1e-3
"""Of the relations between the six numbers: files round them."""


def _by_number(name: str) -> Callable[[Items], Seen | str]:
    """One of the six numbers of the next-token law, as it was recorded beside the answers."""

    def look(items: Items) -> Seen | str:
        column, names = items.table.observer, _names(items.table)
        if column is None or not (column.codes != NULL).any():
            return (
                f"the table has no column observer; it holds the {len(NUMBERS)} numbers of one "
                f"pass ({', '.join(NUMBERS)})"
            )
        if name not in names:
            return (
                f"of {name} the table has an interval alone ({name}_low, {name}_high): the server "
                "listed only the likeliest tokens"
            )
        return [_number(items, rows, names, name) for rows in items.rows]

    return look


def _names(table: AnswerTable) -> tuple[str, ...]:
    """The numbers of the column observer in their order, as the table's header says."""
    said = table.observed.get("one_pass")
    found = said.get("numbers") if isinstance(said, dict) else None
    return tuple(map(str, found)) if isinstance(found, list) and found else NUMBERS


def _number(
    items: Items, rows: NDArray[np.intp], names: tuple[str, ...], name: str
) -> tuple[State, str | None, float | None]:
    column = items.table.observer
    codes = np.unique(column.codes[rows]) if column is not None else np.zeros(0, np.int32)
    codes = codes[codes != NULL]
    if column is None or not len(codes):
        return State.NO_EVIDENCE, "no numbers were recorded", None
    if len(codes) > 1:
        return State.UNSTABLE, "draws of one prompt carry different numbers", None
    numbers = column.words[int(codes[0])]
    if len(numbers) != len(names):
        return State.NOT_APPLICABLE, f"{len(numbers)} numbers in place of {len(names)}", None
    named = dict(zip(names, numbers, strict=True))
    if not (_is_law(numbers) if names == NUMBERS else _is_top(named)):
        return State.DEGENERATE, "the numbers are those of no law", None
    return State.MEASURED, None, float(named[name])


def _is_top(named: Mapping[str, float]) -> bool:
    """Whether the two largest probabilities can be those of a law."""
    max_p, margin = named.get("max_p", 1.0), named.get("margin", 0.0)
    return 0 <= margin <= max_p <= 1 + _TOLERANCE


def _is_law(numbers: Sequence[float]) -> bool:
    """Whether the six can belong to one law: order of the entropies, range of the rest."""
    shannon, renyi2, one, two, max_p, margin = numbers
    if not all(map(math.isfinite, numbers)):
        return False
    ordered = -_TOLERANCE <= renyi2 <= shannon + _TOLERANCE and min(one, two) >= -_TOLERANCE
    least = -math.log(max_p) if max_p > 0 else math.inf
    return ordered and 0 <= margin <= max_p <= 1 + _TOLERANCE and least <= shannon + _TOLERANCE


def _by_state(fit: Callable[[Floats], Fitted]) -> Callable[[Items], Seen | str]:
    """Squared distance of an item's hidden state from what other sources' states gave."""

    def look(items: Items) -> Seen | str:
        states = items.table.arrays.get(STATES)
        if states is None:
            return (
                f"the table has no array {STATES}: one hidden state a row, which a white-box model "
                "gives (extra local)"
            )
        if states.ndim != 2:  # noqa: PLR2004 - rows by width
            return f"the array {STATES} has shape {states.shape} in place of (n_rows, width)"
        chosen = np.array([states[rows[0]] for rows in items.rows], np.float64)
        there = np.isfinite(chosen).all(axis=1)
        out: Seen = [(State.DEGENERATE, "the hidden state is not finite", None)] * len(chosen)
        known = np.flatnonzero(there)
        parts = np.array([_part(items.source(int(i))) for i in known])
        if not len(known):
            return out
        distances, why = left_out(chosen[known], parts, fit)
        for i, distance, reason in zip(known.tolist(), distances.tolist(), why, strict=True):
            out[i] = (
                (State.MEASURED, None, distance)
                if math.isfinite(distance)
                else (State.DEGENERATE, reason or "the distance is not finite", None)
            )
        return out

    return look


def _part(source: str) -> int:
    """The part of a source: by its name, so that no order of rows moves it."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % FOLDS


_BETTER, _WORSE = Direction.HIGHER_IS_BETTER, Direction.HIGHER_IS_WORSE
_LAW = (
    "which token stands where: exchanging tokens that are not greedy changes no bit of it",
    "right and wrong: a bijection onto the answers and its derangement look the same",
    "everything that is written after the first token",
)
_STATE = (
    "right and wrong: it says how unusual a prompt's state is among those of other prompts",
    "what the read-out makes of the state: equal distances may give any answers",
    "two entities whose states are alike and whose answers differ",
)


def _contract(
    name: str, proxy: str, unit: str, direction: Direction, *, top: float, blind: tuple[str, ...]
) -> Contract:
    return Contract(
        sensor=name,
        property="whether an answer is right",
        proxy=proxy,
        unit=unit,
        range=(0.0, top),
        direction=direction,
        reference_needed="none",
        status=Status.EXPLORATORY,
        blind_to=blind,
        source="a baseline: what a better measure has to beat",
    )


def _law(
    name: str, number: str, proxy: str, *, unit: str, direction: Direction, top: float = 1e9
) -> Instrument:
    contract = _contract(name, proxy, unit, direction, top=top, blind=_LAW)
    measure = partial(measure_items, contract=contract, look=_by_number(number))
    return Instrument(contract, Params, measure, TABLE="answers", NEEDS_VECTORS=False)


def _distance(name: str, proxy: str, unit: str, fit: Callable[[Floats], Fitted]) -> Instrument:
    contract = _contract(name, proxy, unit, _WORSE, top=1e300, blind=_STATE)
    says = "how unusual a prompt's state is among those of others, not whether the answer is right"
    measure = partial(measure_items, contract=contract, look=_by_state(fit), says=says)
    return Instrument(contract, Params, measure, TABLE="answers", NEEDS_VECTORS=False)


MAX_P = _law(
    "baseline.max_p",
    "max_p",
    "largest probability of the first answer token",
    unit="probability of the greedy token",
    direction=_BETTER,
    top=1.0,
)
MARGIN = _law(
    "baseline.margin",
    "margin",
    "distance of the two largest probabilities of the first answer token",
    unit="difference of two probabilities",
    direction=_BETTER,
    top=1.0,
)
ENTROPY = _law(
    "baseline.entropy",
    "shannon",
    "Shannon entropy of the first answer token",
    unit="nats",
    direction=_WORSE,
)
RENYI2 = _law(
    "baseline.renyi2",
    "renyi2",
    "collision entropy of the first answer token",
    unit="nats",
    direction=_WORSE,
)
VARENTROPY = _law(
    "baseline.varentropy",
    "varentropy",
    "variance of the surprise of the first answer token",
    unit="squared nats",
    direction=_WORSE,
)
VARENTROPY_ESCORT2 = _law(
    "baseline.varentropy_escort2",
    "varentropy_escort2",
    "variance of the surprise of the first answer token under squared probabilities",
    unit="squared nats",
    direction=_WORSE,
)
MAHALANOBIS = _distance(
    "baseline.mahalanobis",
    "distance of the last prompt token's hidden state from those of other sources, without labels",
    "squared Mahalanobis distance, covariance shrunk by Ledoit and Wolf",
    fit_spread,
)
PCA_RESIDUAL = _distance(
    "baseline.pca_residual",
    "what of the last prompt token's hidden state lies off the main directions of other sources'",
    "squared distance to the subspace that holds nine tenths of their variance",
    fit_subspace,
)
