"""Exploratory scores beside the certificate: golden vectors, orientation, when nothing is said."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from orbit_tables import answer_table, declared

from trueness.contract import Reading, State
from trueness.sensors.orbits import measure

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))
SYMMETRY = [v for v in VECTORS if v["kind"] == "symmetry"]


def scored(n_wrong: int, n_right: int) -> Reading:
    """Wrong entities say one thing or another; right ones say their own answer twice."""
    n = n_wrong + n_right
    answers = [["t", f"q{i}"] if i < n_wrong else [f"g{i}", f"g{i}"] for i in range(n)]
    golds = [f"g{i}" for i in range(n)]
    return measure(answer_table([f"e{i}" for i in range(n)], answers, golds=golds))


def ranking(reading: Reading, name: str) -> dict[str, Any]:
    found = reading.details["symmetry_ranking"]
    assert isinstance(found, dict)
    inner = found[name]
    assert isinstance(inner, dict)
    return inner


@pytest.mark.parametrize("vector", SYMMETRY, ids=lambda v: v["name"])
def test_golden_scores_stand_with_every_item(vector: dict[str, Any]) -> None:
    given_, want = vector["input"], vector["expected"]
    reading = measure(answer_table(given_["entities"], given_["answers"]))
    for item in reading.per_item:
        for name in ("invariance", "collision"):
            wanted = want[item.extra["entity"]][name]
            assert item.extra[name] == (None if wanted is None else float(Fraction(wanted)))
    for name in ("invariance", "collision", "collision_scored", "combined"):
        known = [float(Fraction(w[name])) for w in want.values() if w[name] is not None]
        assert reading.details[f"mean_{name}"] == pytest.approx(sum(known) / len(known))


def test_one_column_has_no_scores_and_every_figure_is_there() -> None:
    reading = measure(answer_table(["a", "b"], [["x"], ["x"]]), declared(relation="injective"))
    names = [n for n in reading.details if n.startswith(("mean_", "symmetry_"))]
    assert len(names) == 6
    assert all(reading.details[n] is None for n in names)
    assert "invariance" not in reading.per_item[0].extra


def test_unstable_colliding_answers_rank_wrong_above_right() -> None:
    reading = scored(6, 6)
    for name in ("low_invariance", "high_collision"):
        found = ranking(reading, name)
        assert found["state"] == State.MEASURED
        assert found["auroc"] == 1.0
        assert 0 < found["low"] < found["high"] == 1.0
        assert found["p_is_exact"] is True
        assert found["p_holm"] == pytest.approx(2 * found["p_two_sided"])
    assert reading.details["symmetry_graded_column"] == "template 0"


def test_a_class_below_five_is_described_without_an_interval() -> None:
    found = ranking(scored(4, 9), "low_invariance")
    assert found["state"] == State.NO_EVIDENCE
    assert found["auroc"] == 1.0
    assert found["p_two_sided"] is not None
    assert found["low"] is found["high"] is None


def test_an_empty_class_has_no_number() -> None:
    found = ranking(scored(0, 9), "high_collision")
    assert found["state"] == State.NO_EVIDENCE
    assert found["auroc"] is found["p_two_sided"] is found["p_holm"] is None


def test_too_many_choices_are_permuted_with_a_seed_that_is_written() -> None:
    first, again = scored(30, 30), scored(30, 30)
    assert ranking(first, "low_invariance")["p_is_exact"] is False
    assert ranking(first, "low_invariance")["seed"] == 0
    assert first.details == again.details


def test_the_scores_are_labelled_exploratory() -> None:
    titles = [b.title for b in scored(6, 6).blocks if hasattr(b, "title")]
    assert "Symmetry scores (exploratory)" in titles


def test_stable_distinct_garbage_looks_healthy() -> None:
    answers = [[f"q{i}", f"q{i}"] for i in range(12)]
    golds = [f"q{i}" if i < 6 else f"g{i}" for i in range(12)]
    reading = measure(answer_table([f"e{i}" for i in range(12)], answers, golds=golds))
    assert ranking(reading, "low_invariance")["auroc"] == 0.5
    assert ranking(reading, "high_collision")["auroc"] == 0.5


cells = st.sampled_from(["a", "b", "c", None, "!error"])


@given(rows=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=6))
def test_every_reading_is_plain_json_and_figures_have_one_set_of_names(
    rows: list[tuple[str | None, ...]],
) -> None:
    names = [f"e{i}" for i in range(len(rows))]
    golds = ["a"] * len(rows)
    reading = measure(answer_table(names, [list(r) for r in rows], golds=golds))
    assert Reading.from_dict(json.loads(reading.to_json())) == reading
    other = measure(answer_table(["a"], [["x"]]), declared(admissible=[], delta=0.1))
    assert set(other.details) == set(reading.details)
