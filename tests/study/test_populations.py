"""Foreign evidence is never a claim's own; what cannot be made is said; sentences have blanks."""

import json
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.study.claim_features import BUNDLE, ENERGY, LENGTH, RIVALS, claim_features
from trueness.study.declarations import declared_study, parse_declaration
from trueness.study.embedded_inputs import vectors_of
from trueness.study.inputs import Inputs
from trueness.study.populations import (
    NEAREST,
    RANDOM,
    against,
    foreign_evidence,
    populations_of,
    supported,
)
from trueness.study.published import published_of
from trueness.study.results import Decisive, Outcome
from trueness.study.saying import said
from trueness.study.segments import SIZES, blocks, segmented
from trueness.study.slices import HALUEVAL, Slice, slices_of


def world(sources: int = 40) -> Slice:
    (made,) = slices_of((), Inputs(world="synthetic"), seed=0, most=sources)
    assert made.embedder is not None
    return vectors_of(made, made.embedder, None)


@pytest.mark.parametrize("nearest", [True, False])
def test_foreign_evidence_is_of_another_source_and_shares_no_passage(nearest: bool) -> None:  # noqa: FBT001 - a case
    own = supported(world())
    made = foreign_evidence(own, nearest=nearest, seed=0)
    population = against(own, made, NEAREST if nearest else RANDOM, "synthetic")
    n = len(own.table)
    assert population.unsupported.tolist() == [False] * n + [True] * n
    for row in range(n):
        assert population.groups[row] == population.groups[n + row]
        assert population.table.claim[row] == population.table.claim[n + row]
        kept = set(population.table.passages(row))
        assert kept.isdisjoint(population.table.passages(n + row))


def test_one_source_alone_gives_no_foreign_evidence_and_says_so() -> None:
    absent: dict[str, str] = {}
    made = populations_of(replace(world(1), name="own"), seed=0, absent=absent)
    assert [p.name for p in made] == ["labelled"]
    assert set(absent) == {NEAREST, RANDOM}
    assert all("largest source" in why for why in absent.values())


def test_a_claim_without_a_vector_picks_no_evidence() -> None:
    own = supported(world())
    vectors = own.table.vectors
    assert vectors is not None
    lost = str(own.table.claim[0])
    known = vectors.claim
    names = [t for t in known.place if t != lost]
    rows = [known.place[t] for t in names]
    fewer = replace(
        known, place={t: i for i, t in enumerate(names)}, values=known.values[rows], failed={}
    )
    table = replace(own.table, vectors=replace(vectors, claim=fewer))
    made = foreign_evidence(replace(own, table=table), nearest=True, seed=0)
    assert made.evidence_from[0] == -1
    assert dict(made.unmatched) == {"no admissible candidate": 1}


def test_features_come_by_name_and_without_a_gap_filled() -> None:
    part = world()
    found = claim_features(part.table)
    for name in (ENERGY, *BUNDLE, *LENGTH, *RIVALS, "influence", "cutoff_gap"):
        assert found.columns[name].shape == (len(part.table),)
    assert found.counts() == {"MEASURED": len(part.table)}
    assert np.array_equal(found.risk("top1"), -found.columns["top1"])
    assert np.isnan(claim_features(part.table, influence=False).columns["influence"]).all()


def test_evidence_is_cut_into_blocks_of_sentences_without_losing_a_word() -> None:
    (part,) = slices_of([HALUEVAL], Inputs(), seed=0, most=30)
    for size in SIZES.values():
        cut = segmented(part, size).table
        for row in range(len(cut)):
            joined = "".join("".join(cut.passages(row)).split())
            assert joined == "".join("".join(part.table.passages(row)).split())
    assert len(blocks("One. Two. Three. Four.", 3)) == 2


def test_the_sentence_of_an_outcome_is_filled_from_the_result() -> None:
    declaration = declared_study("C1")
    record = {"estimate": 0.5771, "low": None, "high": 0.6}
    fields = {"contrasts": [{"name": c.name, **record} for c in declaration.contrasts]}
    (sentence,) = said(declaration, Decisive(Outcome.SUPPORTED, ()), fields)
    assert "0.577 [(not measured), 0.600]" in sentence
    with pytest.raises(InputError, match="leads to no field"):
        said(declaration, Decisive(Outcome.REFUTED, ()), {"contrasts": []})


def test_a_sentence_with_a_blank_that_leads_nowhere_is_refused() -> None:
    source = resources.files("trueness").joinpath("data", "studies", "C1.toml").read_bytes()
    with pytest.raises(InputError, match=r"contrasts\.elsewhere\.n"):
        parse_declaration(
            source.replace(b"{contrasts.labelled.estimate}", b"{contrasts.elsewhere.n}")
        )


def test_a_published_figure_says_why_it_cannot_be_compared() -> None:
    figures = published_of(declared_study("C1"), {"rows": [], "contrasts": []})
    assert all(f["comparable"] is False and f["agrees"] is None for f in figures)
    assert "not run" in json.dumps([f["why"] for f in figures])


def test_a_declaration_may_say_how_folds_and_resamples_are_made() -> None:
    text = declared_study("C1")
    assert text.table("protocol")["resamples"] == 2000
    with pytest.raises(InputError, match="known are"):
        parse_declaration(b'id = "x"\nquestion = "q"\nfolded = 3\n')
