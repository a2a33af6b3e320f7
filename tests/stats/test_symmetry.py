import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.symmetry import symmetry_scores

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "symmetry"]
NAMES = ("invariance", "collision", "collision_scored", "combined")


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_scores(vector: dict[str, dict[str, object]]) -> None:
    given_, expected = vector["input"], vector["expected"]
    answers, entities, scored = given_["answers"], given_["entities"], given_["scored_template"]
    assert isinstance(answers, list)
    assert isinstance(entities, list)
    assert isinstance(scored, int)
    words = {w: i for i, w in enumerate(sorted({a for row in answers for a in row if a}))}
    codes = np.array([[words.get(a, -1) for a in row] for row in answers])
    scores = symmetry_scores(codes, scored=scored)
    for e, entity in enumerate(entities):
        row = expected[entity]
        assert isinstance(row, dict)
        for name in NAMES:
            value = float(getattr(scores, name)[e])
            if row[name] is None:
                assert math.isnan(value)
            else:
                assert value == float(Fraction(row[name]))


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.data(), st.sampled_from([1, 10**12]))
def test_scores_are_what_pairs_give(width: int, n: int, data: st.DataObject, scale: int) -> None:
    row = st.lists(st.integers(-1, 2), min_size=width, max_size=width)
    codes = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    scores = symmetry_scores(np.where(codes > 0, codes * scale, codes), scored=0)
    for e in range(n):
        pairs = [
            codes[e, s] == codes[e, t]
            for s, t in itertools.combinations(range(width), 2)
            if codes[e, s] >= 0 and codes[e, t] >= 0
        ]
        shares = [
            np.mean([codes[o, t] == codes[e, t] for o in range(n) if o != e and codes[o, t] >= 0])
            for t in range(width)
            if codes[e, t] >= 0 and (codes[:, t] >= 0).sum() > 1
        ]
        invariance = np.mean(pairs) if pairs else np.nan
        collision = np.mean(shares) if shares else np.nan
        assert scores.invariance[e] == pytest.approx(invariance, nan_ok=True)
        assert scores.collision[e] == pytest.approx(collision, nan_ok=True)
        assert scores.combined[e] == pytest.approx(invariance - collision, nan_ok=True)


def test_stable_distinct_garbage_looks_perfect() -> None:
    scores = symmetry_scores(np.array([[7, 7], [8, 8], [9, 9]]))
    assert scores.combined.tolist() == [1, 1, 1]
    assert np.isnan(scores.collision_scored).all()


def test_tables_that_are_none_are_refused() -> None:
    with pytest.raises(ShapeError, match="one row an entity"):
        symmetry_scores(np.array([1, 2]))
    with pytest.raises(InputError, match="whole numbers"):
        symmetry_scores(np.array([[1.0]]))
    with pytest.raises(InputError, match="counted from 0"):
        symmetry_scores(np.array([[1]]), scored=1)
