"""C13 marks what a gate on foreign evidence cannot see, and finds nothing where nothing is."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bags import bag_of

from trueness.backends.entailment import Entailment
from trueness.study.accepting import threshold
from trueness.study.binding import Settings, made_slice, rows_of
from trueness.study.binding_risks import MEASURES, measured
from trueness.study.carrying_out import Carried, carry_out
from trueness.study.claim_features import ENERGY
from trueness.study.declarations import declared_study
from trueness.study.inputs import Inputs
from trueness.study.protocol import Protocol
from trueness.study.results import Outcome
from trueness.study.slices import embedded, slices_of
from trueness.table.evidence_reading import read_evidence

SETTINGS = Settings.of(declared_study("C13"), 0)
QUICK = replace(SETTINGS, protocol=Protocol(resamples=20))
SWAPPED = ("relation_inversion", "role_swap", "causal", "comparative", "coreference")


@pytest.fixture(scope="module")
def world() -> Carried:
    return carry_out("C13", inputs=Inputs(world="synthetic"))


@pytest.fixture(scope="module")
def bags() -> dict[str, Mapping[str, Any]]:
    """The shipped items by kind, embedded by counting words."""
    (part,) = slices_of(("binding",), Inputs(), seed=0, most=144)
    rows = [
        {"claim": part.table.claim[i], "evidence": list(part.table.passages(i))}
        for i in range(len(part.table))
    ]
    known = embedded(part, bag_of(rows))
    found = rows_of(list(measured(known, 0)), "binding", SETTINGS)
    return {str(row["kind"]): row for row in found if "kind" in row}


def kind(world: Carried, name: str) -> Any:
    return next(row for row in world.result.rows if row["name"] == f"synthetic_{name}")


def test_the_made_world_gives_what_was_put_into_it(world: Carried) -> None:
    assert 0.4 <= kind(world, "binding")[ENERGY]["auroc"] <= 0.6
    assert kind(world, "novel")[ENERGY]["auroc"] > 0.95
    assert kind(world, "neighbour")[ENERGY]["auroc"] > 0.95
    assert kind(world, "novel")[ENERGY]["difference"] > 0.2
    assert kind(world, "neighbour")[ENERGY]["accepted_nearest"]["share"] < 0.1


def test_recombined_claims_pass_the_gate_and_are_routed_to_review(world: Carried) -> None:
    assert world.result.reading.outcome is Outcome.SUPPORTED
    assert kind(world, "binding")["blind"] is True
    assert kind(world, "binding")["route"] == "review"
    (every,) = (c for c in world.result.contrasts if c["name"] == "every_kind")
    assert every["n"] == 200  # other content is no binding error
    assert str(every["where"]).startswith("blind, to review; wrong − right ")


def test_the_rows_follow_from_the_table_as_it_is_written(world: Carried) -> None:
    table = [json.loads(json.dumps(dict(row))) for row in world.table]
    assert list(rows_of(table, "synthetic", SETTINGS)) == list(world.result.rows)


def test_sides_exchanged_at_random_give_no_effect(world: Carried) -> None:
    (record,) = (r for r in world.table if r.get("kind") == "novel")
    found = []
    for seed in range(20):
        swap = np.random.default_rng(seed).integers(2, size=200).astype(bool)
        exchanged: dict[str, Any] = dict(record)
        for measure in MEASURES:
            sides: Any = record[measure]
            pair = [
                (b, a) if s else (a, b)
                for a, b, s in zip(sides["supported"], sides["wrong"], swap, strict=True)
            ]
            exchanged[measure] = {
                **sides,
                "supported": [a for a, _ in pair],
                "wrong": [b for _, b in pair],
            }
        others = [r for r in world.table if "negatives" in r]
        row: Any = next(rows_of([exchanged, *others], "synthetic", QUICK))
        found.append(row[ENERGY]["p"])
    assert sum(p <= 0.05 for p in found) <= 4


def test_words_in_another_order_have_the_same_energy_where_words_are_counted(
    bags: dict[str, Mapping[str, Any]],
) -> None:
    for name in SWAPPED[:-1]:
        assert bags[name][ENERGY]["ties"] == bags[name]["n"] == 12
        assert bags[name][ENERGY]["difference"] == 0.0
        assert bags[name][ENERGY]["p"] == 1.0
    assert bags["coreference"][ENERGY]["difference"] == 0.0
    assert bags["recombination"][ENERGY]["difference"] > 0.1


def test_a_gate_fitted_on_foreign_evidence_accepts_every_kind_of_binding_error(
    bags: dict[str, Mapping[str, Any]],
) -> None:
    assert len(bags) == 12
    for row in bags.values():
        assert row["blind"] is True, row["kind"]


def test_made_items_in_another_order_of_words_are_alike_where_words_are_counted() -> None:
    part = made_slice(1, per_kind=4, most=48)
    rows = [
        {"claim": part.table.claim[i], "evidence": list(part.table.passages(i))}
        for i in range(len(part.table))
    ]
    known = embedded(part, bag_of(rows))
    found: list[Any] = [
        r for r in rows_of(list(measured(known, 0)), part.name, QUICK) if "kind" in r
    ]
    for row in found:
        if row["kind"] in SWAPPED[:-1]:
            assert row[ENERGY]["ties"] == 4
            assert row[ENERGY]["accepted"]["share"] is None  # too few for a threshold


class Careful:
    """Finds a claim entailed exactly where it stands among the supported ones."""

    def __init__(self, right: frozenset[str]) -> None:
        self._right = right
        self.identity: dict[str, Any] = {"id": "careful"}
        self.versions: dict[str, str] = {}

    def probabilities(self, premise: str, hypothesis: str) -> Entailment:
        known = hypothesis in self._right and hypothesis.split(maxsplit=1)[0] in premise
        return Entailment(0.9 if known else 0.1, None, None)


def test_an_entailer_that_sees_relations_catches_what_energy_lets_through() -> None:
    rows = [
        {
            "claim": claim,
            "evidence": [f"n{i} bit m{i}", f"c{i}"],
            "label": label,
            "group": f"g{i:02}",
            "kind": "role_swap",
        }
        for i in range(70)
        for claim, label in (
            (f"n{i} bit m{i}", "supported"),
            (f"m{i} bit n{i}", "unsupported"),
        )
    ]
    part = replace(made_slice(0, per_kind=1, most=1), name="own", table=read_evidence(rows))
    right = frozenset(str(row["claim"]) for row in rows if row["label"] == "supported")
    table = list(measured(embedded(part, bag_of(rows)), 0, entailer=Careful(right)))
    row: Any = next(rows_of(table, "own", QUICK))
    assert row[ENERGY]["accepted"]["share"] == 1.0
    assert row["entailment"]["accepted"]["share"] == 0.0
    assert row["accepted_by_both"]["share"] == 0.0


def test_made_items_are_none_of_the_shipped_and_keep_their_kinds() -> None:
    part = made_slice(0, per_kind=2, most=24)
    assert len(part.table) == 72
    assert len(set(part.groups)) == 24
    shipped = slices_of(("binding",), Inputs(), seed=0, most=144)[0].table.claim.values()
    assert not set(part.table.claim.values()) & set(shipped)


def test_two_seeds_make_two_sets_and_the_limit_takes_the_first_of_every_kind() -> None:
    one, two = (made_slice(seed, per_kind=3, most=12) for seed in (0, 1))
    assert one.sha256 != two.sha256
    assert len(set(one.table.extras["kind"].values())) == 12


def test_too_few_foreign_pairs_are_no_threshold_and_nothing_is_called_blind() -> None:
    carried = carry_out("C13", inputs=Inputs(world="synthetic"), limit=40)
    assert carried.result.reading.outcome is Outcome.NOT_APPLICABLE
    assert carried.result.notes[0].startswith("no contrast could be measured: ")
    row: Any = carried.result.rows[0]
    assert row["blind"] is None
    assert row[ENERGY]["accepted"]["share"] is None


def test_a_threshold_says_why_there_is_none() -> None:
    found = threshold(np.array([0.1, 0.2, np.nan]), budget=0.05, level=0.95, population="two")
    assert found.tau is None
    assert found.n == 2
    assert "59 needed" in str(found.why)
    assert found.share(np.array([0.0])).share is None


def test_a_file_without_kinds_is_one_kind() -> None:
    rows = [
        {"claim": f"a{i} {word}", "evidence": [f"a{i} b"], "label": label, "group": str(i)}
        for i in range(3)
        for word, label in (("b", "supported"), ("c", "unsupported"))
    ]
    part = replace(made_slice(0, per_kind=1, most=1), table=read_evidence(rows))
    table = list(measured(embedded(part, bag_of(rows)), 0))
    assert [r["kind"] for r in table if "kind" in r] == ["every"]
