"""Metrics of inspect_ai that read every epoch of every sample, not their mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from inspect_ai.scorer import SampleScore, metric

from trueness import api
from trueness.api.asserting import USABLE
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.plugins.inspect_ai.scored import Figures, check_kind, table_of
from trueness.sensors.atlas import Params
from trueness.sensors.orbits import Declaration
from trueness.table import OUTCOMES, AnswerTable, Outcome

Metric = Callable[[list[SampleScore]], dict[str, float]]

_PARTS = {"gold": "gold", "wrong": "wrong", "none": "no_answer", "semantic": "answered"}


@metric(scores="unreduced")
def agreement_spectrum(orders: Sequence[int] = (2, 3, 4), answer_kind: str = "short") -> Metric:
    """How often 2, 3 … epochs of one sample agree, split by what they agree on.

    ``agreement_2`` is the mean over samples of the unbiased estimate, ``agreement_2_items`` how
    many samples it is of, and ``_gold``, ``_wrong``, ``_no_answer`` and ``_answered`` are its
    parts. Gold and wrong need the targets, which the scorer `answers` records. An order that no
    sample has enough epochs for is left out. Whether epochs were sampled at all is not seen here:
    at temperature 0 they are one draw.

    Parameters
    ----------
    orders : sequence of int
        Each at least 2.
    answer_kind : str
        How the answers of another scorer are keyed: ``short``, ``number``, ``option``, ``text`` …

    Raises
    ------
    InputError
        When an order is none.
    """
    wanted = Params(orders=tuple(orders)).orders
    check_kind(answer_kind)
    figures = Figures("agreement_spectrum", {f"agreement_{r}_items": 0.0 for r in wanted})

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return figures.of(scores, lambda: _spectrum(table_of(scores, kind=answer_kind), wanted))

    return compute


@metric(scores="unreduced")
def no_answer_mass(answer_kind: str = "short") -> Metric:
    """The share of draws that hold no answer, with the number of draws.

    A draw is one epoch of one sample. What failed or was stopped by the host's filter is missing,
    and in neither number.

    Parameters
    ----------
    answer_kind : str
        As in `agreement_spectrum`.
    """
    check_kind(answer_kind)
    figures = Figures("no_answer_mass", {"n_draws": 0.0})

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return figures.of(scores, lambda: _no_answer(table_of(scores, kind=answer_kind)))

    return compute


@metric(scores="unreduced")
def certified_floor(
    entity: str | None = None,
    relation: str | None = None,
    *,
    admissible: Sequence[str] | None = None,
    relation_file: str | None = None,
    declared: Mapping[str, Any] | None = None,
    answer_kind: str = "short",
) -> Metric:
    """At least how many answers are wrong, proved from what is declared, without a key.

    ``error_floor`` is ``certified_errors`` over ``n_answered``. A floor of 0 says that nothing is
    proved, and never that the answers are right.

    Parameters
    ----------
    entity : str, optional
        Name in the samples' metadata of what a question is about; the sample's id without it.
    relation : str, optional
        ``injective`` when different entities have different right answers.
    admissible : sequence of str, optional
        The answers that can be right.
    relation_file : str, optional
        A bundled relation, or a file that declares one.
    declared : mapping, optional
        Further fields of a declaration: ``capacities``, ``slack``, ``candidates`` …
    answer_kind : str
        As in `agreement_spectrum`.

    Raises
    ------
    InputError
        When the declaration means nothing.
    """
    said = {"relation": relation, "admissible": admissible, **(declared or {})}
    words = {name: value for name, value in said.items() if value is not None}
    _check_declared(words, relation_file)
    check_kind(answer_kind)
    figures = Figures("certified_floor", {"n_answered": 0.0})

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        def measure() -> Mapping[str, float | None]:
            table = table_of(scores, kind=answer_kind, entity=entity)
            reading = api.certify(table, relation_file=relation_file, **words)
            if reading.state not in USABLE:
                figures.say(f"{reading.state}, {reading.reason}", len(scores))
            return _floor(reading)

        return figures.of(scores, measure)

    return compute


def _check_declared(words: Mapping[str, Any], file: str | None) -> None:
    """Refuse what cannot be declared before anything is asked."""
    known = [f.name for f in fields(Declaration)]
    if unknown := sorted(set(words) - set(known)):
        msg = f"{unknown[0]!r} is no part of a declaration; it has {', '.join(known)}. Name these."
        raise InputError(msg)
    Declaration(**words)
    if file is not None:
        api.find_relation(file)


def _spectrum(table: AnswerTable, orders: Sequence[int]) -> dict[str, float | None]:
    reading = api.measure("atlas", table, orders=tuple(orders))
    parts: Any = reading.details["parts"]
    found: dict[str, float | None] = {}
    for order in orders:
        at, name = parts[str(order)], f"agreement_{order}"
        found[name] = at["total"]
        found |= {f"{name}_{word}": at[part] for part, word in _PARTS.items()}
        found[f"{name}_items"] = at["n"]
    return found


def _no_answer(table: AnswerTable) -> dict[str, float | None]:
    came = table.outcome != OUTCOMES.index(Outcome.ERROR)
    empty = came & (table.outcome != OUTCOMES.index(Outcome.ANSWERED))
    n = int(came.sum())
    return {"no_answer_mass": int(empty.sum()) / n if n else None, "n_draws": n}


def _floor(reading: Reading) -> dict[str, float | None]:
    names = ("error_floor", "certified_errors", "n_answered")
    found: Any = {name: reading.details.get(name) for name in names}
    return dict(found)
