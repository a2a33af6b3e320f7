import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.recovery import recovery_ceilings

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text())
VECTORS = [v for v in GOLDEN if v["kind"] == "recovery"]


@pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])
def test_golden_recovery(vector: dict[str, dict[str, Any]]) -> None:
    answers, prior = vector["input"]["answers"], vector["input"]["prior"]
    words = {w: i for i, w in enumerate(sorted({a for row in answers for a in row}))}
    codes = np.array([[words[a] for a in row] for row in answers])
    weights = None if prior is None else [Fraction(str(p)) for p in prior]
    found, expected = recovery_ceilings(codes, prior=weights), vector["expected"]
    assert [str(c) for c in found.per_column] == expected["ceiling_per_template"]
    assert str(found.joint) == expected["ceiling_joint"]
    assert [str(c) for c in found.smallest_per_entity] == expected["smallest_per_entity"]


def test_the_best_decoder_attains_the_ceiling() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        codes = rng.integers(-1, 2, (4, 1))
        prior = [int(w) for w in rng.integers(1, 5, 4)]
        symbols = sorted(set(codes[:, 0].tolist()))
        best = max(
            sum(prior[e] for s, e in zip(symbols, decoder, strict=True) if codes[e, 0] == s)
            for decoder in itertools.product(range(4), repeat=len(symbols))
        )
        assert recovery_ceilings(codes, prior=prior).joint == Fraction(best, sum(prior))


def test_no_answer_is_a_symbol_and_missing_rows_are_left_out() -> None:
    found = recovery_ceilings(np.array([[-1, 0], [-1, -2], [3, 1], [-2, -2]]))
    assert [str(c) for c in found.per_column] == ["2/3", "1"]
    assert found.joint == 1
    assert found.smallest_per_entity == (Fraction(1, 2), Fraction(1, 2), Fraction(1), None)


def test_weights_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="positive"):
        recovery_ceilings(np.array([[0]]), prior=[0])
    with pytest.raises(ShapeError, match="one each"):
        recovery_ceilings(np.array([[0]]), prior=[1, 1])
    with pytest.raises(ShapeError, match="one row an entity"):
        recovery_ceilings(np.array([0]))
