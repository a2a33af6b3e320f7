"""Several contrasts at once: Holm's correction over those that were tested."""

from collections.abc import Sequence

import pytest

from trueness import api
from trueness.contract import Direction, Reading, State
from trueness.contract.blocks import Notes, Statement
from trueness.contract.serial import Json
from trueness.stats.multiplicity import holm
from trueness.study.contrasts import corrected


def reading(p: Json, state: State = State.MEASURED) -> Reading:
    return Reading(
        sensor="atlas",
        direction=Direction.NEITHER,
        state=state,
        reason=None if state is State.MEASURED else "because",
        value=0.1 if state is State.MEASURED else None,
        n_measured=1,
        n_items=1,
        per_item=(),
        details={"p_contrast": p},
        blocks=(Statement("Said."),),
    )


def lines(found: Reading) -> Sequence[str]:
    return [line for b in found.blocks if isinstance(b, Notes) for line in b.lines]


def test_each_p_is_holms_over_all_that_were_tested() -> None:
    p = {"a": 0.01, "b": 0.04, "c": 0.03}
    found = corrected({name: reading(value) for name, value in p.items()})
    assert {n: r.details["p_holm"] for n, r in found.items()} == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06}
    )
    assert [float(x) for x in holm(list(p.values()))] == pytest.approx([0.03, 0.06, 0.06])
    assert all(r.details["n_contrasts"] == 3 for r in found.values())
    assert lines(found["a"]) == [
        "One of 3 contrasts: p = 0.03 after Holm's correction; at 0.05 it survives."
    ]
    assert "does not survive: read its verdict as unresolved" in lines(found["b"])[0]


def test_contrasts_that_were_not_measured_do_not_count() -> None:
    found = corrected({"a": reading(0.02), "b": reading(None, State.NO_EVIDENCE)})
    assert found["a"].details["p_holm"] == pytest.approx(0.02)
    assert found["b"].details["p_holm"] is None
    assert not lines(found["a"])
    assert not lines(found["b"])


def test_one_contrast_is_not_corrected() -> None:
    found = corrected({"": reading(0.04)})
    assert found[""].details["p_holm"] == pytest.approx(0.04)
    assert not lines(found[""])
    assert corrected({}) == {}


def test_a_contrast_is_judged_at_the_level_that_is_asked() -> None:
    found = corrected({"a": reading(0.01), "b": reading(0.2)}, alpha=0.01)
    assert "at 0.01 it does not survive" in lines(found["a"])[0]


def test_one_table_against_several_gives_each_its_correction() -> None:
    def rows(answers: list[str]) -> list[dict[str, object]]:
        return [{"item": f"q{i}", "answers": answers, "target": "g"} for i in range(20)]

    before = rows(["g", "a", "b", "c"])
    afters = {"same": before, "sure": rows(["g"] * 4)}
    found = api.compare_each(before, afters, replicates=500)
    assert found["same"].details["p_holm"] == 1
    p = found["sure"].details["p_holm"]
    assert isinstance(p, float)
    assert p < 0.01
    alone = api.compare(before, afters["sure"], replicates=500)
    p_alone = alone.details["p_contrast"]
    assert isinstance(p_alone, float)
    assert p == pytest.approx(2 * p_alone)
