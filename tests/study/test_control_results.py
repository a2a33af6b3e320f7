"""The estimates in the result files of the controls follow from the tables beside them."""

import json
from pathlib import Path

import pytest

from trueness.contract.serial import plain
from trueness.study.controls import FAMILIES, control_of
from trueness.study.declarations import declared_study
from trueness.study.protocol import Protocol, Scored, scored_from
from trueness.study.results import read_result

RESULTS = Path(__file__).parents[2] / "results"
SLOW = {"C6", "C12"}


def parts_of(name: str) -> dict[str, Scored]:
    lines = (RESULTS / f"{name}.table.jsonl").read_text("utf-8").splitlines()
    return {part.name: part for part in (scored_from(json.loads(line)) for line in lines)}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in FAMILIES]
)
def test_estimates_follow_from_the_table(name: str) -> None:
    result = read_result(RESULTS / f"{name}.json")
    few = {**declared_study(name).table("protocol"), "resamples": 5}
    numbers = control_of(name).read(parts_of(name), Protocol.of(few, seed=result.seeds[0]))
    for record in result.contrasts:
        found = numbers.contrasts.get(str(record["name"]))
        if found is None:
            assert record["n"] == 0
            continue
        assert record["estimate"] == pytest.approx(found["estimate"], abs=1e-12)
        assert record["n"] == plain(found["n"])


@pytest.mark.parametrize("name", ["C20"])
def test_intervals_follow_from_the_table(name: str) -> None:
    result = read_result(RESULTS / f"{name}.json")
    whole = Protocol.of(declared_study(name).table("protocol"), seed=result.seeds[0])
    numbers = control_of(name).read(parts_of(name), whole)
    for record in result.contrasts:
        found = numbers.contrasts.get(str(record["name"]))
        if found is not None:
            for end in ("low", "high", "p"):
                assert record[end] == pytest.approx(found[end], abs=1e-9)
