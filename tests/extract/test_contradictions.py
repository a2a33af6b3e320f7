"""Minimal contradictions and harmless rewordings of claims."""

import json
from collections import Counter
from importlib import resources
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.extract.contradictions.making import KINDS, contradicted, contradictions_of
from trueness.extract.contradictions.paraphrases import paraphrases_of
from trueness.table.contrasts import Variant

EVIDENCE = ("Ann Lee founded Alpha Bank in 1966.", "Bo Kim founded Beta Farms in 1972.")
CASES = [
    ("role_swap", "Ann Lee hired Bo Kim.", (), "Bo Kim hired Ann Lee."),
    ("role_swap", "The cut caused the failure.", (), "The failure caused the cut."),
    ("role_swap", "The book was written by the nun.", (), "The nun was written by the book."),
    (
        "role_swap",
        "Umber Mills supplies Vantry with oil.",
        (),
        "Vantry supplies Umber Mills with oil.",
    ),
    ("negation", "The bridge passed the test.", (), "The bridge did not pass the test."),
    ("negation", "She did not attend it.", (), "She attended it."),
    ("negation", "The well is dry.", (), "The well is not dry."),
    ("negation", "It can't fly.", (), "It can fly."),
    ("negation", "The mill has a roof.", (), "The mill does not have a roof."),
    ("negation", "The pump failed to start.", (), "The pump managed to start."),
    ("negation", "It had no effect.", (), "It had an effect."),
    ("negation", "The appeal was granted.", (), "The appeal was denied."),
    ("number", "It has 1,450 rooms.", (), "It has 1,540 rooms."),
    ("number", "It has 12.5 mg.", (), "It has 1.25 mg."),
    ("number", "It has 0.75 mg.", (), "It has 7.5 mg."),
    ("number", "It is 38 kilometres long.", (), "It is 38 metres long."),
    ("number", "It has three doors.", (), "It has four doors."),
    ("number", "It has 12 rooms.", ("The other has 15.",), "It has 15 rooms."),
    ("number", "لها ٣٨ غرفة.", (), "لها ٨٣ غرفة."),
    ("date_order", "She joined in 2002.", ("She left in 2013.",), "She joined in 2013."),
    ("date_order", "She joined in 2002.", (), "She joined in 2020."),
    ("date_order", "The mill opened before the mine.", (), "The mine opened before the mill."),
    ("date_order", "It was before the war.", (), "It was after the war."),
    ("date_order", "It closes in April.", (), "It closes in May."),
    ("scope", "Some of the wells were dry.", (), "All of the wells were dry."),
    ("scope", "Only the nun had a key.", (), "Not only the nun had a key."),
    ("comparison", "Ann is taller than Bo.", (), "Bo is taller than Ann."),
    ("comparison", "Sales increased.", (), "Sales decreased."),
    ("modality", "It may close.", (), "It will close."),
    ("modality", "Staff are advised to rest.", (), "Staff are required to rest."),
    ("entity", "Ann Lee founded Alpha Bank.", EVIDENCE, "Ann Lee founded Beta Farms."),
    ("entity", "The barge sank.", ("The tug struck the barge.",), "The tug sank."),
]


@pytest.mark.parametrize(("kind", "claim", "passages", "wanted"), CASES)
def test_a_rule_makes_the_contradiction_of_its_kind(
    kind: str, claim: str, passages: tuple[str, ...], wanted: str
) -> None:
    found = [(v.kind, v.text) for v in contradictions_of(claim, passages)]
    assert (kind, wanted) in found, found


NONE = [
    ("Who won the cup?", "no_statement"),
    ("", "no_statement"),
    ("  \n", "no_statement"),
    ("Hello!", "no_statement"),
    ("Delhi", "no_rule_applies"),
    ("彼は東京に行った。", "no_rule_applies"),
]


@pytest.mark.parametrize(("claim", "reason"), NONE)
def test_what_no_rule_applies_to_has_none_and_says_why(claim: str, reason: str) -> None:
    found = contradicted(claim)
    assert (found.found, found.reason) == ((), reason)


def test_where_the_evidence_says_both_neither_contradicts_the_other() -> None:
    there = ("Ann then hired Bo.", "Bo then hired Ann.")
    assert "Bo then hired Ann." not in [v.text for v in contradictions_of(there[0], there)]
    both = ("It may close.", "It will close.")
    assert contradicted("It may close", both).reason == "stated_in_evidence"


def test_what_the_evidence_says_instead_of_the_claim_is_its_contradiction() -> None:
    texts = [v.text for v in contradictions_of("Bo then hired Ann.", ("Ann then hired Bo.",))]
    assert texts[0] == "Ann then hired Bo."


@pytest.mark.parametrize(
    "claim",
    ["Ann and Bo sang.", "Ann met Bo.", "Alpha borders Beta.", "Gold differs from lead."],
)
def test_what_says_the_same_the_other_way_round_is_not_swapped(claim: str) -> None:
    assert not [v for v in contradictions_of(claim) if v.kind == "role_swap"]


def test_what_may_be_is_not_denied_by_a_not() -> None:
    assert [v.kind for v in contradictions_of("It may close.")] == ["modality"]


def test_questions_and_greetings_beside_a_statement_are_left_alone() -> None:
    claim = "Hello! Who may win? It may rain."
    [variant] = contradictions_of(claim)
    assert variant.text == "Hello! Who may win? It will rain."


def test_at_most_so_many_of_each_kind_are_made() -> None:
    claim = "It may rain. It may snow. It may hail. It could freeze."
    for n in (1, 2, 3):
        assert len(contradictions_of(claim, per_kind=n)) == n


def test_a_text_of_many_sentences_is_read_in_time() -> None:
    claim = "Ann Lee hired Bo Kim before the war in 1966. " * 500
    assert contradictions_of(claim, (claim,))


WORDS = (
    "Ann Bo the mill mine may not did pass passed is 12 1,450 2002 before than some of . ? ! "
    "caused more led to was by Alpha Bank ، هو ٣٨ 東京 \ud800 \u200f"
)
texts = st.text(max_size=60) | st.lists(
    st.sampled_from(WORDS.split(" ")),
    max_size=12,
).map(" ".join)


def _holds(claim: str, variant: Variant) -> None:
    assert variant.text == claim[: variant.start] + variant.after + claim[variant.stop :]
    assert claim[variant.start : variant.stop] == variant.before
    assert " ".join(variant.text.split()) != " ".join(claim.split())


@settings(max_examples=300)
@given(texts, st.lists(texts, max_size=3))
def test_a_variant_is_the_claim_with_its_edit_and_nothing_else(
    claim: str, passages: list[str]
) -> None:
    found = contradicted(claim, passages)
    assert bool(found.found) == (found.reason is None)
    for variant in found.found:
        _holds(claim, variant)
        assert variant.kind in KINDS
    assert len({v.text for v in found.found}) == len(found.found)
    assert contradicted(claim, passages) == found
    counts = Counter(v.kind for v in found.found)
    assert max(counts.values(), default=0) <= 2
    assert [v.kind for v in found.found] == sorted((v.kind for v in found.found), key=KINDS.index)
    for variant in paraphrases_of(claim, passages):
        _holds(claim, variant)


def _binding() -> list[dict[str, Any]]:
    there = resources.files("trueness").joinpath("data", "claims", "binding.jsonl")
    return [json.loads(line) for line in there.read_text("utf-8").splitlines()]


def test_most_wrong_claims_of_the_shipped_set_are_made_again() -> None:
    made: Counter[str] = Counter()
    for row in _binding():
        texts = [v.text for v in contradictions_of(row["supported"], row["evidence"])]
        assert texts, row["id"]
        made[row["kind"]] += row["wrong"] in texts
    assert len(made) == 12
    assert all(n == 12 for kind, n in made.items() if kind != "quantity")
    assert made["quantity"] == 8  # other digits, other units than the shipped ones


def test_no_contradiction_of_the_shipped_set_is_one_of_its_paraphrases() -> None:
    for row in _binding():
        texts = {v.text for v in contradictions_of(row["supported"], row["evidence"])}
        assert row["control_paraphrase"] not in texts
        reworded = {v.text for v in paraphrases_of(row["supported"], row["evidence"])}
        assert not texts & reworded, row["id"]
        assert row["wrong"] not in reworded


def test_a_rewording_says_the_same() -> None:
    claim = "The mill opened before the mine."
    assert [v.text for v in paraphrases_of(claim)] == ["The mine opened after the mill."]
    assert paraphrases_of("Delhi") == ()
    texts = [v.text for v in paraphrases_of("Ann acquired Alpha.")]
    assert texts == ["Ann bought Alpha."]
