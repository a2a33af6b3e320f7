"""The study of claims against variants of themselves."""

from typing import Any

import pytest

from trueness.contract.errors import InputError
from trueness.study.bindings_changed import contrasts_of
from trueness.study.carrying_out import carry_out
from trueness.study.declarations import declared_study
from trueness.study.inputs import Inputs
from trueness.study.protocol import Protocol
from trueness.study.results import Outcome
from trueness.study.variant_pairs import (
    CLAIM,
    MADE,
    REWORDED,
    WRONG,
    blind_kinds,
    difference,
    pairs_of,
    pooled,
    rows_of,
    shares,
)


def record(source: str, role: str, kind: str | None, *values: float | None) -> dict[str, Any]:
    gain, energy = values
    return {
        "data": "made", "item": source, "source": source, "role": role, "kind": kind,
        "why_none": None, "gain": gain, "likelihood": gain, "energy": energy, "length": 9.0,
    }  # fmt: skip


def planted(n: int, *, better: int, energy: float = 0.5) -> list[dict[str, Any]]:
    """Sources of which the claim gains more than its contradiction in so many."""
    table = []
    for i in range(n):
        table.append(record(f"s{i}", CLAIM, None, 2.0, 0.5))
        table.append(record(f"s{i}", MADE, "number", 1.0 if i < better else 3.0, energy))
        table.append(record(f"s{i}", WRONG, "quantity", 1.0 if i < better else 3.0, energy))
        table.append(record(f"s{i}", REWORDED, REWORDED, 2.0, 0.5))
    return table


def test_a_share_counts_ties_one_half_and_tests_without_them() -> None:
    table = planted(10, better=9)
    found = shares(pairs_of(table, MADE), "gain")
    assert (found["estimate"], found["wins"], found["losses"], found["n"]) == (0.9, 9, 1, 10)
    assert found["p"] == pytest.approx(22 / 1024)
    assert found["blind"] is False
    tied = shares(pairs_of(table, MADE), "energy")
    assert (tied["estimate"], tied["ties"], tied["p"], tied["blind"]) == (0.5, 10, None, True)


def test_energy_and_length_are_right_where_the_claim_has_less() -> None:
    table = planted(4, better=4, energy=0.7)
    assert shares(pairs_of(table, MADE), "energy")["estimate"] == 1.0
    table[1]["length"] = 5.0
    assert shares(pairs_of(table, MADE), "length")["losses"] == 1


def test_what_has_no_number_is_counted_and_bounded() -> None:
    table = planted(10, better=10)
    table[1]["gain"] = None
    found = shares(pairs_of(table, MADE), "gain")
    assert (found["n"], found["n_missing"], found["bounds"]) == (9, 1, [0.9, 1.0])
    for row in table:
        row["gain"] = None
    assert shares(pairs_of(table, MADE), "gain")["state"] == "NOT_APPLICABLE"
    assert pooled(pairs_of(table, MADE), "gain", Protocol())["estimate"] is None


def test_pairs_of_one_source_are_resampled_together() -> None:
    table = planted(6, better=3)
    twins = [*table, *({**r, "kind": "scope"} for r in table if r["role"] == MADE)]
    one = pooled(pairs_of(table, MADE), "gain", Protocol())
    two = pooled(pairs_of(twins, MADE), "gain", Protocol())
    assert (one["estimate"], one["low"], one["high"]) == (two["estimate"], two["low"], two["high"])
    assert (two["n"], two["n_pairs"]) == (6, 12)


def test_a_difference_is_taken_on_the_same_pairs() -> None:
    table = planted(20, better=20)
    found = difference(pairs_of(table, MADE), "gain", "energy", Protocol())
    assert (found["estimate"], found["low"], found["high"]) == (0.5, 0.5, 0.5)
    assert difference(pairs_of(table, MADE), "gain", "gain", Protocol())["estimate"] == 0.0


def test_kinds_whose_interval_covers_one_half_are_listed() -> None:
    rows = list(rows_of(planted(10, better=9)))
    assert blind_kinds(rows, MADE) == []
    assert blind_kinds(rows, MADE, "energy") == ["number"]
    names = [row["name"] for row in rows]
    assert names == [
        "made_wrong_quantity", "made_wrong_all", "made_made_number", "made_made_all",
        "made_paraphrase_all", "made_without",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("better", "outcome"),
    [(40, Outcome.SUPPORTED), (0, Outcome.REFUTED), (20, Outcome.UNRESOLVED)],
)
def test_planted_pairs_give_the_planted_reading(better: int, outcome: Outcome) -> None:
    from trueness.study.carrying_out import decide  # noqa: PLC0415 - for this test alone

    declaration = declared_study("contrast")
    table = planted(40, better=better)
    made = contrasts_of(table, list(rows_of(table)), Protocol(), declaration)
    contrasts = [{"name": name, **found} for name, found in made.items()]
    assert decide(declaration, {"contrasts": contrasts, "draws": {}}).outcome is outcome


@pytest.fixture(scope="module")
def carried() -> Any:
    return carry_out("contrast", inputs=Inputs(model="scripted:empty"), limit=14)


def test_the_study_runs_on_a_scripted_model_and_is_partial(carried: Any) -> None:
    result = carried.result
    assert result.partial
    assert not result.citable
    assert {row["data"] for row in result.rows} == {
        "binding", "halueval_qa", "pubmedqa", "every_slice",
    }  # fmt: skip
    by_name = {row["name"]: row for row in result.rows}
    assert by_name["binding_wrong_all"]["gain"]["estimate"] > 0.9  # it reads neighbours
    assert by_name["pubmedqa_without"]["n"] == 10
    assert result.model["model"] == "scripted:empty"
    assert all("reworded" not in str(row["role"]) for row in carried.table)
    assert any("made by rule" in note for note in result.notes)


def test_everything_is_computed_again_from_the_table_alone(carried: Any) -> None:
    assert tuple(rows_of(carried.table)) == carried.result.rows
    declaration = declared_study("contrast")
    made = contrasts_of(carried.table, carried.result.rows, Protocol(), declaration)
    for contrast in carried.result.contrasts:
        assert contrast["estimate"] == made[contrast["name"]]["estimate"]


def test_a_world_of_vectors_has_no_texts_to_score() -> None:
    with pytest.raises(InputError, match="no use for --world"):
        carry_out("contrast", inputs=Inputs(world="synthetic"))
