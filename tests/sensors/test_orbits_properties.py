"""Properties of the certified errors, against every truth of small drawn declarations."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from orbit_truths import (
    Case,
    Truth,
    involutions,
    is_refused,
    numeric_errors,
    ordered_truths,
    right_slots,
    spaced_truths,
    truths,
)

from trueness.api import certify as certify_rows
from trueness.contract import Reading, State
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.slots import slots_of

pytestmark = pytest.mark.slow

EXAMPLES = settings(max_examples=200, deadline=None)
NAMES = ("p", "q", "r", "s")
KEYS = ("a", "b", "c")
FILLER = "the"
SAID = st.sampled_from(("a", "a", "b", "b", "c", FILLER, "p", "q", None, "!error"))
LISTED = ("a", "b", "c", "p")
LIMIT = st.integers(0, 2)


@st.composite
def lists_of_answers(draw: st.DrawFn) -> dict[str, Any]:
    """Which answers may be right, and for how many."""
    capacities = st.dictionaries(st.sampled_from(LISTED), LIMIT, max_size=3)
    which = draw(
        st.sampled_from(("open", "open", "limits", "closed", "admissible", "golds", "lower"))
    )
    if which == "open":
        return {"default_capacity": draw(st.sampled_from((1, 2, None)))}
    if which == "limits":
        return {
            "capacities": draw(capacities),
            "default_capacity": draw(st.sampled_from((1, None))),
        }
    if which == "closed":
        return {"capacities": draw(capacities), "closed": True}
    if which == "lower":
        lower = draw(st.dictionaries(st.sampled_from(LISTED), st.integers(0, 2), max_size=2))
        return {"lower": lower, "default_capacity": draw(st.sampled_from((2, None)))}
    listed = draw(st.lists(st.sampled_from((*LISTED, "d", "e")), min_size=1, max_size=5))
    return {which: list(dict.fromkeys(listed)) if which == "admissible" else listed}


@st.composite
def counted_cases(draw: st.DrawFn) -> Case:
    """One to four entities, one or two columns, every word of a counted declaration."""
    declare = {"relation": "capacity", **draw(lists_of_answers())}
    lists_limits = "lower" in declare
    if draw(st.booleans()) and not lists_limits:
        declare["slack"] = draw(st.integers(0, 2))
    if draw(st.integers(0, 3)) == 0 and not lists_limits:
        each = st.dictionaries(st.sampled_from(NAMES[:3]), st.integers(1, 2), max_size=3)
        declare["rows_per_entity"] = draw(st.one_of(st.just(2), each))
    small = "rows_per_entity" in declare or declare.get("slack", 0) > 0
    n = draw(st.integers(1, 3 if small else 4))
    if draw(st.integers(0, 2)) == 0:
        some = st.sets(st.sampled_from((*KEYS, "p")), min_size=1, max_size=3).map(sorted)
        declare["candidates"] = draw(st.dictionaries(st.sampled_from(NAMES[:n]), some))
    identity = draw(st.sampled_from((None, None, "allowed", "never", ["p"])))
    if identity is not None:
        declare["identity"] = identity
    if draw(st.booleans()):
        declare["filler"] = [FILLER]
    if draw(st.integers(0, 3)) == 0 and n < 4:
        declare["entities"] = [*NAMES[:n], "z"]
    width = draw(st.integers(1, 2))
    row = st.tuples(*[SAID] * width)
    case = Case(NAMES[:n], tuple(draw(row) for _ in range(n)), declare)
    assume(not is_refused(case))
    return case


@st.composite
def inverse_cases(draw: st.DrawFn) -> Case:
    """Questions both ways, about answers whose owner may be outside of the table."""
    n = draw(st.integers(1, 3))
    width = draw(st.integers(1, 2))
    said = st.sampled_from(("a", "b", "c", None, "!error"))
    owner = st.sampled_from((*NAMES[:n], "out", None, "!error"))
    asked = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    declare: dict[str, Any] = {"relation": "injective", "answers_asked_back": asked}
    if draw(st.booleans()):
        declare |= {"capacities": dict.fromkeys(asked, 1), "closed": True}
    elif draw(st.booleans()):
        declare |= {"relation": "capacity", "default_capacity": 2}
    answers = tuple(draw(st.tuples(*[said] * width)) for _ in range(n))
    return Case(NAMES[:n], answers, declare, {a: draw(owner) for a in asked})


def errors(case: Case, truth: Truth) -> int:
    return right_slots(case, truth).count(False)


def k_of(reading: Reading) -> int | None:
    k = reading.details["certified_errors"]
    assert k is None or isinstance(k, int)
    return k


def withheld(case: Case, reading: Reading) -> list[bool]:
    """Per answered slot, forward first, whether it is withheld; never one that was asked back."""
    held = [i.state is State.MEASURED for i in reading.per_item if i.extra["outcome"] == "answered"]
    assert not any(held[len(held) - len(case.slots_back) :] if case.slots_back else ())
    return held


def check_floors(case: Case, reading: Reading, truth: Truth) -> None:
    """Realised precision and recall of the withheld set are not below the floors."""
    wrong = [not r for r in right_slots(case, truth)]
    held = withheld(case, reading)
    if reading.state is not State.MEASURED or not any(wrong):
        return
    caught = sum(w and h for w, h in zip(wrong, held, strict=True))
    precision, recall = reading.details["precision_floor"], reading.details["recall_floor"]
    if precision is not None:
        assert isinstance(precision, float)
        assert Fraction(caught, sum(held)) >= Fraction(precision).limit_denominator(1000)
    if recall is not None:
        assert isinstance(recall, float)
        assert Fraction(caught, sum(wrong)) >= Fraction(recall).limit_denominator(1000)


def check_shares(case: Case, reading: Reading, truth: Truth) -> None:
    """Of the items with one proved share, at least that share is wrong."""
    wrong = [not r for r in right_slots(case, truth)]
    answered = [i for i in reading.per_item if i.extra["outcome"] == "answered"]
    items = [i for i in answered if "entity" in i.extra]
    assert len(answered) - len(items) == len(case.slots_back)
    least = sum(i.value or 0.0 for i in items)
    assert sum(wrong[: len(items)]) >= least - 1e-9


def check_curve(case: Case, reading: Reading, truth: Truth) -> None:
    """Among the first so many to withhold there are at least so many wrong ones."""
    order: list[Any] = [i.extra.get("withhold_rank") for i in reading.per_item]
    ranks = [r for r in order if r]
    curve: Any = reading.details["guaranteed_wrong"]
    if not curve or reading.state is not State.MEASURED:
        return
    wrong = [not r for r in right_slots(case, truth)]
    assert len(ranks) == len(wrong)
    for size, least in curve:
        assert sum(w for w, r in zip(wrong, ranks, strict=True) if r <= size) >= least


def check_against_every_truth(case: Case) -> None:
    reading = case.reading()
    allowed = list(truths(case))
    k = k_of(reading)
    if k is None:
        assert reading.state is State.NOT_APPLICABLE
        assert not allowed, (reading.reason, allowed[:3])
        return
    for name in ("error_floor", "not_right_floor", "precision_floor", "recall_floor"):
        share = reading.details[name]
        assert share is None or 0 <= float(str(share)) <= 1
    for truth in allowed:
        assert k <= errors(case, truth), truth
        check_floors(case, reading, truth)
        check_curve(case, reading, truth)
        check_shares(case, reading, truth)
    if allowed and reading.details["certificate_kind"] == "exact":
        assert k == min(errors(case, truth) for truth in allowed)


@given(counted_cases())
@EXAMPLES
def test_no_allowed_truth_has_fewer_errors_than_certified(case: Case) -> None:
    check_against_every_truth(case)


@given(inverse_cases())
@EXAMPLES
def test_no_allowed_truth_of_both_directions_has_fewer_errors(case: Case) -> None:
    check_against_every_truth(case)


@given(counted_cases())
@EXAMPLES
def test_a_sceptic_recounts_the_witness_and_finds_the_certified_errors(case: Case) -> None:
    found = certify(slots_of(case.table(), case.params()), case.params())
    assume(isinstance(found, Certificate))
    assert isinstance(found, Certificate)
    if found.witness is None or not found.exact:
        return
    at = {name: e for e, name in enumerate(slots_of(case.table(), case.params()).entities)}
    said = tuple(frozenset(found.witness(at[name])) for name in case.everyone)
    assert errors(case, said) == found.certified_errors
    allowed = list(truths(case))
    extends = (all(w <= t for w, t in zip(said, truth, strict=True)) for truth in allowed)
    assert any(extends) or not allowed


@given(counted_cases())
@EXAMPLES
def test_the_relaxation_never_proves_more_than_the_exact_certificate(case: Case) -> None:
    exact, relaxed = k_of(case.reading()), k_of(case.declaring(kind="relaxation").reading())
    if exact is not None and relaxed is not None:
        assert relaxed <= exact


NUMBERS = st.sampled_from(("1", "2", "3", "4", "2.5", "nan", "many", None, "!error"))


@st.composite
def ordered_cases(draw: st.DrawFn) -> Case:
    """Up to three entities whose right answers rise or fall."""
    n, width = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    declare: dict[str, Any] = {
        "relation": draw(st.sampled_from(("increasing", "decreasing"))),
        "values": draw(st.sampled_from(("real", "integer"))),
        "strict": draw(st.booleans()),
    }
    declare |= draw(st.sampled_from(({}, {"low": 1}, {"high": 4}, {"low": 1, "high": 3})))
    row = st.tuples(*[NUMBERS] * width)
    return Case(NAMES[:n], tuple(draw(row) for _ in range(n)), declare)


def check_least(k: int | None, found: list[int], reading: Reading) -> None:
    """The certified errors are the least of all; nothing is said where no truth is allowed."""
    if k is None:
        assert reading.state is State.NOT_APPLICABLE
        assert not found
    elif found:
        exact = reading.details["certificate_kind"] == "exact"
        assert k == min(found) if exact else k <= min(found)


@given(ordered_cases())
@EXAMPLES
def test_ordered_right_answers_have_at_least_the_certified_errors(case: Case) -> None:
    reading = case.reading()
    found = [numeric_errors(case, truth, Fraction(0)) for truth in ordered_truths(case)]
    check_least(k_of(reading), found, reading)


@st.composite
def spaced_cases(draw: st.DrawFn) -> Case:
    """Up to three entities whose true values lie apart."""
    n, width = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    declare = {
        "relation": "metric",
        "separation": draw(st.sampled_from((0, 1, 2))),
        "tolerance_radius": draw(st.sampled_from((0, 0.5, 1))),
    }
    row = st.tuples(*[NUMBERS] * width)
    return Case(NAMES[:n], tuple(draw(row) for _ in range(n)), declare)


@given(spaced_cases())
@EXAMPLES
def test_spaced_right_answers_have_at_least_the_certified_errors(case: Case) -> None:
    k, radius = k_of(case.reading()), Fraction(case.declare["tolerance_radius"])
    assert k is not None
    assert all(k <= numeric_errors(case, truth, radius) for truth in spaced_truths(case))


@st.composite
def partner_cases(draw: st.DrawFn) -> Case:
    """Up to four entities that are one another's answers, or some outsider's."""
    n, width = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    declare = {
        "relation": "involution",
        "closed": draw(st.booleans()),
        "fixed_points": draw(st.booleans()),
    }
    row = st.tuples(*[st.sampled_from((*NAMES[:n], "a", "b", None, "!error"))] * width)
    return Case(NAMES[:n], tuple(draw(row) for _ in range(n)), declare)


@given(partner_cases())
@EXAMPLES
def test_partners_have_at_least_the_certified_errors(case: Case) -> None:
    reading = case.reading()
    check_least(k_of(reading), [errors(case, t) for t in involutions(case)], reading)


ANY_CASE = st.one_of(counted_cases(), partner_cases())


BY_COLUMN = {
    "recovery_ceiling_per_column",
    "symmetry_graded_column",
    "mean_collision_scored",
    "symmetry_ranking",
}
"""Details that speak of a named column, or of the first one."""


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def comparable(reading: Reading) -> dict[str, Any]:
    """What must not depend on the order of rows and columns, nor on names of answers."""
    held = sorted(
        (i.item.split("|")[1], str(i.extra["answer"]), i.state)
        for i in reading.per_item
        if i.extra["outcome"] == "answered"
    )
    details = {k: v for k, v in reading.details.items() if k not in BY_COLUMN}
    return {
        "state": reading.state,
        "value": reading.value,
        "details": details,
        "ceilings": sorted(map(str, _listed(reading.details["recovery_ceiling_per_column"]))),
        "held": [(name, state) for name, _, state in held],
    }


@given(ANY_CASE, st.randoms(use_true_random=False))
@EXAMPLES
def test_the_order_of_entities_means_nothing(case: Case, random: Any) -> None:
    rows = list(zip(case.names, case.answers, strict=True))
    random.shuffle(rows)
    other = replace(case, names=tuple(r[0] for r in rows), answers=tuple(r[1] for r in rows))
    assert comparable(other.reading()) == comparable(case.reading())


@given(st.one_of(ANY_CASE, ordered_cases(), spaced_cases()))
@EXAMPLES
def test_the_order_of_columns_means_nothing(case: Case) -> None:
    other = replace(case, answers=tuple(row[::-1] for row in case.answers))
    assert comparable(other.reading()) == comparable(case.reading())


RENAMED = {"a": "zebra", "b": "yak", "c": "xerus", "d": "wolf", "e": "vole", FILLER: "um"}


def renamed(thing: Any) -> Any:
    """The same with every answer renamed one-to-one; names of entities stay."""
    if isinstance(thing, Mapping):
        return {renamed(k): renamed(v) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return type(thing)(renamed(entry) for entry in thing)
    return RENAMED.get(thing, thing) if isinstance(thing, str) else thing


@given(ANY_CASE)
@EXAMPLES
def test_the_spelling_of_answers_means_nothing(case: Case) -> None:
    other = replace(case, answers=renamed(case.answers), declare=renamed(dict(case.declare)))
    wanted, found = comparable(case.reading()), comparable(other.reading())
    assert {**found, "held": None} == {**wanted, "held": None}
    assert Counter(found["held"]) == Counter(wanted["held"])


def check_not_above(weaker: Case, k: int | None) -> None:
    """A declaration that allows more truths proves no more."""
    if is_refused(weaker) or k is None:
        return
    lower = k_of(weaker.reading())
    assert lower is not None
    assert lower <= k


@given(counted_cases())
@EXAMPLES
def test_weaker_declarations_prove_no_more(case: Case) -> None:
    assume(any(True for _ in truths(case)))
    k, d = k_of(case.reading()), case.declare
    for answer, limit in d.get("capacities", {}).items():
        check_not_above(case.declaring(capacities={**d["capacities"], answer: limit + 1}), k)
    check_not_above(case.declaring(slack=d.get("slack", 0) + 1), k)
    check_not_above(case.declaring(identity="allowed"), k)
    check_not_above(case.declaring(filler=[]), k)
    for entity, listed in d.get("candidates", {}).items():
        more = {**d["candidates"], entity: [*listed, "f"]}
        check_not_above(case.declaring(candidates=more), k)
    if "admissible" in d:
        check_not_above(case.declaring(admissible=[*d["admissible"], "f"]), k)


@given(counted_cases(), st.integers(0, 3), st.integers(0, 1))
@EXAMPLES
def test_a_removed_answer_lowers_the_certificate_by_at_most_one(
    case: Case, row: int, column: int
) -> None:
    row, column = row % len(case.names), column % len(case.answers[0])
    assume(case.answers[row][column] not in {None, "!error"})
    rows = [list(r) for r in case.answers]
    rows[row][column] = "!error"
    whole = case.reading()
    part = replace(case, answers=tuple(map(tuple, rows))).reading()
    before, after = k_of(whole), k_of(part)
    assert (before is None) == (after is None)
    if before is None or after is None:
        return
    exact = {whole.details["certificate_kind"], part.details["certificate_kind"]} == {"exact"}
    assert after <= before or not exact
    assert after >= before - 1 or not exact


@given(st.one_of(ANY_CASE, inverse_cases(), ordered_cases(), spaced_cases()))
@EXAMPLES
def test_a_reading_comes_back_from_json_as_it_was(case: Case) -> None:
    reading = case.reading()
    text = reading.to_json()
    assert Reading.from_dict(json.loads(text)) == reading
    assert "NaN" not in text
    assert "Infinity" not in text


TEXTS = st.sampled_from(
    (
        "Paris",
        "paris.",
        " Lima ",
        "Côte",
        "N\u2019Djamena",
        "",
        "the",
        "1",
        "True",
        "a,b",
        'say "no"',
    )
)


@given(st.lists(TEXTS, min_size=1, max_size=6), st.sampled_from(("injective", "single_valued")))
@settings(max_examples=60, deadline=None)
def test_every_form_of_one_table_gives_one_reading(texts: list[str], relation: str) -> None:
    rows = [{"country": f"C{i}", "answer": text} for i, text in enumerate(texts)]
    given: dict[str, Any] = {"entity": "country", "relation": relation}
    wanted = certify_rows(rows, **given).to_dict()
    frame = pd.DataFrame(rows, dtype=str)
    with TemporaryDirectory() as folder:
        here = Path(folder)
        frame.to_csv(here / "t.csv", index=False)
        pl.DataFrame(rows).write_parquet(here / "t.parquet")
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (here / "t.jsonl").write_text(lines, "utf-8")
        files = [here / f"t.{suffix}" for suffix in ("csv", "parquet", "jsonl")]
        for source in (*files, frame, pl.DataFrame(rows), pa.Table.from_pylist(rows)):
            assert certify_rows(source, **given).to_dict() == wanted, source
