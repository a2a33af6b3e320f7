"""The atlas against the recorded vectors, through the sensor."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from atlas_tables import ERROR, drawn

from trueness import api
from trueness.contract import Reading
from trueness.contract.errors import ProtocolError
from trueness.sensors.atlas import Params, compare, measure
from trueness.sensors.atlas.protocols import compare_protocols
from trueness.table import AnswerTable

TESTS = Path(__file__).parents[1]
GOLDEN = json.loads((TESTS / "golden" / "atlas_protocols.json").read_text())


def vectors(kind: str) -> list[Any]:
    found = [v for v in GOLDEN if v["kind"] == kind]
    assert found
    return [pytest.param(v["input"], v["expected"], id=v["name"]) for v in found]


@cache
def table(name: str, arm: str) -> AnswerTable:
    found = api.read(TESTS / "data" / f"{name}.{arm}.jsonl", answer_kind="auto")
    assert isinstance(found, AnswerTable)
    return found


@cache
def compared(name: str, margin: float | None = None) -> Reading:
    return compare(table(name, "before"), table(name, "after"), Params(margin=margin))


@pytest.mark.parametrize(("given", "expected"), vectors("protocol_compare"))
def test_protocols_are_compared_as_recorded(
    given: dict[str, Any], expected: dict[str, str]
) -> None:
    if expected["result"] == "allowed":
        found = compare_protocols(given["before"], given["after"])
        assert (found.differs, found.unverified) == ((), ())
        return
    field = expected["result"].removeprefix("refused: ")
    with pytest.raises(ProtocolError, match=field) as caught:
        compare_protocols(given["before"], given["after"])
    assert json.dumps(given["before"][field]) in str(caught.value)
    assert json.dumps(given["after"][field]) in str(caught.value)
    assert f"--allow-differ {field}" in str(caught.value)
    allowed = compare_protocols(given["before"], given["after"], allowed=[field])
    assert allowed.differs == (field,)


@pytest.mark.parametrize(("given", "expected"), vectors("slice_comparison"))
def test_slices_come_out_as_recorded(given: dict[str, str], expected: dict[str, Any]) -> None:
    found = compared(given["file"])
    details: Any = found.details
    assert found.n_items == expected["items"]
    for name, figures in expected.items():
        part, _, order = name.partition("_r")
        if not order.isdigit():
            continue
        entry = details["parts"][order][part]
        for field in ("before", "after", "delta"):
            assert entry[field] == pytest.approx(float(Fraction(figures[field])), abs=1e-12)
        for field in ("se", "se_fixed_slice", "epsilon_star"):
            assert entry[field] == pytest.approx(figures[field], abs=1e-12), (name, field)
        assert entry["t90"] == pytest.approx(figures["t90"], abs=1e-12)
    assert details["tv"]["mean"] == pytest.approx(float(Fraction(expected["tv_mean"])))
    assert details["tv"]["null_mean"] == pytest.approx(expected["tv_null_mean"])
    assert details["l2"]["mean"] == pytest.approx(float(Fraction(expected["l2_unbiased_mean"])))
    assert details["morisita"] == pytest.approx(float(Fraction(expected["morisita"])))
    assert details["modes_disjoint"]["n"] == expected["modes_disjoint"]
    none = [sum(details["none_reasons"][arm].values()) for arm in ("before", "after")]
    assert none == expected["none_draws"]
    assert details["critical"] == pytest.approx(expected["sup_t_critical_value_95"], abs=0.06)


@pytest.mark.parametrize(("given", "expected"), vectors("slice_comparison"))
def test_slices_have_the_recorded_verdict_at_every_margin(
    given: dict[str, str], expected: dict[str, Any]
) -> None:
    for margin, name in expected["verdict_by_margin"].items():
        verdict: Any = compared(given["file"], float(margin)).details["verdict"]
        assert verdict["name"] == name.split(" ")[0], margin


@pytest.mark.parametrize(("given", "expected"), vectors("missing_bounds"))
def test_bounds_of_missing_draws_are_those_recorded(
    given: dict[str, Any], expected: dict[str, str]
) -> None:
    cloud = [*given["cloud"], *[ERROR] * given["missing"]]
    details: Any = measure(drawn({"q": cloud}, golds=None), Params(orders=(given["r"],))).details
    ends = [float(Fraction(expected[end])) for end in ("low", "high")]
    assert details["missing"]["bounds"][str(given["r"])]["total"] == pytest.approx(ends)
    measured = float(Fraction(expected["measured"]))
    assert details["parts"][str(given["r"])]["total"] == pytest.approx(measured)


@pytest.mark.parametrize(("given", "expected"), vectors("normalisation_audit"))
def test_the_spelling_audit_comes_out_as_recorded(
    given: dict[str, Any], expected: dict[str, Any]
) -> None:
    one, two = (
        api.read(
            [{"item": "q", "completion": a, "target": given["canonical"]} for a in given[side]],
            answer_kind="number",
        )
        for side in ("before", "after")
    )
    assert set(one.answer.values()) == {given["canonical"]}
    audit: Any = compare(one, two, Params(replicates=200)).details["audit"]
    assert audit["tv_raw"] == pytest.approx(float(Fraction(expected["tv_raw"])))
    assert audit["tv_keyed"] == pytest.approx(float(Fraction(expected["tv_canonical"])))
    assert audit["u2_raw"][0] == pytest.approx(float(Fraction(expected["u2_raw_before"])))
    assert audit["u2_keyed"][0] == pytest.approx(float(Fraction(expected["u2_canonical_before"])))
    assert (audit["n_vanishing"] == 1) is expected["vanishes"]


def test_the_published_witnesses_have_their_entropies_and_distances_beside_their_p() -> None:
    before, after = [*["260"] * 3, None], ["1.2", "260", "3", "35"]
    letters = (["B", "D", "D", None], ["C", "D", "D", None])
    reading = compare(
        drawn({"gsm": before, "gpqa": letters[0]}, golds=None),
        drawn({"gsm": after, "gpqa": letters[1]}, golds=None),
        Params(replicates=200),
    )
    gsm, gpqa = (entry.extra for entry in reading.per_item)
    assert gsm["h2_plugin"] == pytest.approx([0.470, 1.386], abs=5e-4)
    assert (gsm["tv"], gsm["p_tv"]) == pytest.approx((3 / 4, 17 / 35))
    assert gpqa["h2_plugin"] == pytest.approx([0.981, 0.981], abs=5e-4)
    assert (gpqa["tv"], gpqa["p_tv"]) == pytest.approx((1 / 4, 1))
    assert (gsm["l2"], gpqa["l2"]) == pytest.approx((1 / 8, -7 / 24))
