"""Claims against others' evidence: one way to measure a pair, whoever asks for it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bags import bag_of

from trueness.contract.errors import InputError
from trueness.study.crossed import Crossed, units_of
from trueness.study.inputs import Inputs
from trueness.study.slices import Slice, embedded, embedder_of, slices_of
from trueness.table.evidence_reading import read_evidence


def own(rows: list[Any]) -> Slice:
    (made,) = slices_of(("binding",), Inputs(), seed=0, most=1)
    part = replace(made, name="own", table=read_evidence(rows))
    return embedded(part, bag_of(rows))


@pytest.fixture(scope="module")
def world() -> Crossed:
    (part,) = slices_of((), Inputs(world="synthetic"), seed=0, most=50)
    known = embedded(part, embedder_of([part], Inputs()))
    return Crossed.of(known.table, ~known.unsupported)


def test_the_grid_holds_what_pairs_measured_one_by_one_have(world: Crossed) -> None:
    grid = world.grid()
    rng = np.random.default_rng(0)
    claims, evidence = rng.integers(len(world), size=(2, 60))
    alone = world.measures(claims, evidence, ("energy",))["energy"]
    assert np.abs(grid[claims, evidence] - alone).max() <= 1e-6


def test_risks_are_low_where_a_claim_stands_on_its_own_evidence(world: Crossed) -> None:
    every = np.arange(len(world))
    own_risks = world.measures(every, every)
    foreign = world.measures(every, np.roll(every, 7))
    for name in ("energy", "best_sin2", "top1", "mean_cosine", "centroid"):
        assert own_risks[name].mean() < foreign[name].mean(), name


def test_the_pool_keeps_own_sources_and_shared_passages_apart() -> None:
    rows = [
        {"claim": "a", "evidence": ["One  text."], "label": "supported", "group": "g"},
        {"claim": "b", "evidence": ["one text."], "label": "supported", "group": "h"},
        {"claim": "c", "evidence": ["other"], "label": "supported", "group": "g"},
    ]
    crossed = Crossed.of(own(rows).table, np.ones(3, np.bool_))
    pool = crossed.pool()
    assert pool.sources == ["g", "h", "g"]
    assert pool.passages is not None
    assert pool.passages[0] == pool.passages[1]


def test_what_cannot_be_measured_takes_no_part() -> None:
    rows = [
        {"claim": "a b", "evidence": ["a", " "], "label": "supported", "group": "g"},
        {"claim": " ", "evidence": ["a"], "label": "supported", "group": "h"},
        {"claim": "a", "evidence": [], "label": "supported", "group": "i"},
    ]
    crossed = Crossed.of(own(rows).table, np.ones(3, np.bool_))
    assert crossed.rows.tolist() == [0]
    assert crossed.texts(0) == ("a",)
    assert crossed.grid().tolist() == [[0.5]]
    whole = replace(crossed, rows=np.array([1]))
    with pytest.raises(InputError, match="cannot be measured"):
        whole.spans(np.array([0]), np.array([0]))


def test_vectors_without_a_direction_are_left_out() -> None:
    assert units_of(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8]]
