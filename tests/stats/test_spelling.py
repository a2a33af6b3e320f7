"""Movements of spelling only."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import ShapeError
from trueness.stats.cloud_pairs import CloudPairs, pair_clouds, total_variation
from trueness.stats.clouds import OPEN, Clouds
from trueness.stats.spectrum import spectrum
from trueness.stats.spelling import audit_spelling, merged_spellings

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "atlas_clouds.json").read_text(encoding="utf-8")
)
AUDITS = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == "normalisation_audit"]
CODES = st.lists(st.integers(0, 5), min_size=2, max_size=6)


def clouds(codes: list[int]) -> Clouds:
    return Clouds.of([0] * len(codes), codes, [OPEN] * len(codes), n_items=1)


def pair(before: list[int], after: list[int]) -> CloudPairs:
    return pair_clouds(clouds(before), clouds(after))


@pytest.mark.parametrize("vector", AUDITS)
def test_golden_audits(vector: dict[str, Any]) -> None:
    spelled, expected = vector["input"], vector["expected"]
    codes = {a: i for i, a in enumerate(dict.fromkeys(spelled["before"] + spelled["after"]))}
    before, after = ([codes[a] for a in spelled[side]] for side in ("before", "after"))
    audit = audit_spelling(pair(before, after), pair([0] * 4, [0] * 4))
    found = {
        "tv_raw": audit.raw.tv[0],
        "tv_canonical": audit.canonical.tv[0],
        "u2_raw_before": audit.raw.u2_before[0],
        "u2_canonical_before": audit.canonical.u2_before[0],
    }
    for name, value in found.items():
        above, _, below = expected[name].partition("/")
        assert value == int(above) / int(below or 1)
    assert audit.vanishes[0] == expected["vanishes"]
    merged = merged_spellings([0] * 8, before + after, [0] * 8)
    assert merged.raw.tolist() == sorted(codes.values())
    assert merged.count.sum() == 8


@given(CODES, CODES)
def test_keys_never_move_more_than_spellings(before: list[int], after: list[int]) -> None:
    raw = pair(before, after)
    keyed = pair([a // 2 for a in before], [a // 2 for a in after])
    audit = audit_spelling(raw, keyed)
    assert audit.canonical.tv[0] <= audit.raw.tv[0] + 1e-15
    assert audit.raw.tv[0] == total_variation(raw)[0]
    assert audit.raw.u2_after[0] == spectrum(clouds(after), (2,))["total"][0, 0]
    still = sorted(a // 2 for a in before) == sorted(a // 2 for a in after)
    if len(before) == len(after):
        assert audit.vanishes[0] == (still and sorted(before) != sorted(after))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), max_size=20))
def test_merged_spellings_are_those_that_share_a_key(draws: list[tuple[int, int]]) -> None:
    items, raw = np.array(draws, np.int64).reshape(-1, 2).T
    merged = merged_spellings(items, raw, raw // 2)
    found = set(zip(merged.item.tolist(), merged.raw.tolist(), strict=True))
    assert found == {(i, a) for i, a in draws if (i, a ^ 1) in set(draws)}
    rows = zip(merged.item.tolist(), merged.raw.tolist(), merged.count.tolist(), strict=True)
    assert all(draws.count((i, a)) == n for i, a, n in rows)
    assert merged.canonical.tolist() == [a // 2 for a in merged.raw.tolist()]


def test_other_draws_cannot_be_audited() -> None:
    with pytest.raises(ShapeError, match="code the same draws twice"):
        audit_spelling(pair([0, 1], [0, 1]), pair([0, 1, 1], [0, 1]))
    with pytest.raises(ShapeError, match="one entry a draw"):
        merged_spellings([0], [0, 1], [0, 1])
