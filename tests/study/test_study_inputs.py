"""What a study runs on: shipped slices, a file, or a made world."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.sensors import energy
from trueness.stats.auroc import rank_wrong_above_right
from trueness.study.carrying_out import carry_out
from trueness.study.declarations import parse_declaration
from trueness.study.expressions import evaluate
from trueness.study.inputs import Inputs
from trueness.study.slices import (
    SHIPPED,
    Slice,
    binding_items,
    embedded,
    embedder_of,
    slices_of,
)
from trueness.study.worlds import KINDS, synthetic_world


def shipped(name: str, most: int = 10_000) -> Slice:
    (found,) = slices_of((name,), Inputs(), seed=0, most=most)
    return found


@pytest.mark.parametrize(
    ("name", "n", "unsupported", "groups"),
    [
        ("halueval_qa", 1000, 500, 500),
        ("halueval_answers", 1000, 500, 500),
        ("pubmedqa", 1000, 0, 1000),
        ("binding", 432, 144, 144),
    ],
)
def test_a_shipped_slice_holds_what_its_source_says(
    name: str, n: int, unsupported: int, groups: int
) -> None:
    part = shipped(name)
    assert (len(part.table), int(part.unsupported.sum()), len(set(part.groups))) == (
        n,
        unsupported,
        groups,
    )
    assert part.record()["n_groups"] == groups
    assert part.licence == SHIPPED[name]


def test_a_limit_keeps_twins_together_and_counts_what_it_left_out() -> None:
    part = shipped("halueval_qa", most=3)
    assert [g[:4] for g in part.groups] == ["h001", "h001", "h002", "h002", "h003", "h003"]
    assert part.n_dropped == {"over the limit": 994}


def test_every_wrong_binding_differs_from_the_supported_claim_by_its_edit() -> None:
    items = binding_items()
    assert len(items) == 144
    for item in items:
        edit = item["edit"]
        assert isinstance(edit, dict)
        start, stop = edit["span_supported"]  # type: ignore[misc, str-unpack] # a pair
        said = str(item["supported"])
        assert said[: int(start)] + str(edit["after"]) + said[int(stop) :] == item["wrong"]  # type: ignore[arg-type]


def by_kind(seed: int) -> Iterator[tuple[str, float]]:
    (world,) = slices_of((), Inputs(world="synthetic"), seed=seed, most=10_000)
    part = embedded(world, embedder_of([world], Inputs()))
    values = np.array([entry.value for entry in energy.measure(part.table).per_item])
    kinds = np.array(part.table.extras["kind"].values())
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        ranked = rank_wrong_above_right(
            values[kinds == kind], values[kinds == "supported"], rng=rng, n_permutations=50
        )
        assert ranked.auroc is not None
        yield kind, float(ranked.auroc)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_energy_sees_what_is_new_in_the_made_world_and_is_blind_to_what_is_recombined(
    seed: int,
) -> None:
    found = dict(by_kind(seed))
    assert found["novel"] > 0.95
    assert found["neighbour"] > 0.95
    assert 0.4 <= found["binding"] <= 0.6


def test_the_made_world_is_the_same_for_one_seed_and_another_for_another() -> None:
    one, two, other = (
        synthetic_world(s).embedder.embed(["source 3 claim"], "claim") for s in (0, 0, 1)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_a_world_with_too_few_sources_for_neighbours_is_refused() -> None:
    with pytest.raises(InputError, match="at least 40"):
        synthetic_world(sources=39)


def test_a_file_of_the_users_needs_labels_in_words_and_groups(tmp_path: Path) -> None:
    row = {"claim": "a", "evidence": ["b"], "label": "supported", "group": "g"}
    path = tmp_path / "own.jsonl"
    for broken, words in (
        ({**row, "label": "1"}, "wanted 'supported' or 'unsupported'"),
        ({k: v for k, v in row.items() if k != "group"}, "no column group"),
        ({k: v for k, v in row.items() if k != "label"}, "no column label"),
    ):
        path.write_text(json.dumps(broken) + "\n", "utf-8")
        with pytest.raises(InputError, match=words):
            slices_of((), Inputs(data=path), seed=0, most=9)


def test_inputs_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="known is synthetic"):
        Inputs(world="real")
    with pytest.raises(InputError, match="leave data and embedder out"):
        Inputs(world="synthetic", embedder="embedded")
    with pytest.raises(InputError, match="no use for --embedder"):
        carry_out("calibration-proof", inputs=Inputs(embedder="embedded"), limit=1)


@pytest.mark.parametrize("extra", ["", "[inputs]\nmost = 3\n[simulation]\nrepeats = 2\n"])
def test_a_declaration_says_either_how_often_or_of_how_much(extra: str) -> None:
    head = 'id = "x"\nquestion = "?"\nrevisits = ""\nstatus = "exploratory"\n' + extra
    tail = (
        '[[contrast]]\nname = "c"\na = "1"\nb = "2"\nstatistic = "s"\nunit = "u"\nprimary = true\n'
        '[reading]\nsupported = "contrasts.c.n > 0"\nrefuted = "contrasts.c.n < 0"\n'
        "[budget]\nseconds = 1\nrequests = 0\n"
    )
    with pytest.raises(InputError, match="either repeats"):
        parse_declaration((head + tail).encode())


def test_a_field_that_is_null_decides_nothing() -> None:
    for sign in ("<", ">=", "=="):
        found = evaluate(f"contrasts.c.low {sign} 0", {"contrasts": {"c": {"low": None}}})
        assert not found.holds
        assert dict(found.values) == {"contrasts.c.low": None}
