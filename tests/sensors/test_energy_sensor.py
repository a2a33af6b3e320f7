"""The sensor of claims: states, fields, order, falsification; and its variants and baselines."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness import sensors
from trueness.api.grounding import ground
from trueness.backends.embedder import Role, Vectors
from trueness.backends.entailment import Entailment
from trueness.contract import Reading, State
from trueness.contract.blocks import Bars, Curve, Facts, IntervalDots, MarkedTexts, Notes, Table
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.evidence_reading import read_evidence

BINDING = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "src/trueness/data/claims/binding.jsonl")
    .read_text("utf-8")
    .splitlines()
]
VARIANTS = sorted(name for name in sensors.SENSORS if name.startswith("energy."))
BASELINES = sorted(
    name
    for name in sensors.SENSORS
    if name.startswith("baseline.") and sensors.find(name).TABLE == "evidence"
)
PER_ROW = {"influence", "support", "clusters", "solo", "cosines", "deletion_reasons", "sentences"}
PER_ROW |= {"carried_by"}
CONTRACTED = ("explained", "rank", "n", "chance", "relative", "cutoff_gap", "influence")


@dataclass(frozen=True)
class Words:
    """Counts of lower-case words on axes of their own; what it does not know has the last one."""

    axes: Mapping[str, int]
    exact: bool = True

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"id": "words", "revision": "1", "dtype": "float64", "dimension": len(self.axes) + 1}

    @property
    def versions(self) -> Mapping[str, str]:
        return {}

    @property
    def max_tokens(self) -> int:
        return 40

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int, ...]:
        del role
        return tuple(len(t.split()) for t in texts)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        del role
        rows = np.zeros((len(texts), len(self.axes) + 1))
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                row[self.axes.get(word, len(self.axes))] += 1
        return rows


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def vocabulary(rows: Sequence[Mapping[str, Any]], *, spare: int = 0) -> Words:
    texts = [t for r in rows for t in (r["claim"] or "", *(r["evidence"] or ()))]
    found = sorted({w for t in texts for w in words(t)})
    return Words({w: i for i, w in enumerate([*found, *(f"spare {i}" for i in range(spare))])})


def rows_of(*pairs: tuple[str | None, list[str] | None]) -> list[dict[str, Any]]:
    return [{"item": f"i{n}", "claim": c, "evidence": e} for n, (c, e) in enumerate(pairs)]


def seen(
    *pairs: tuple[str | None, list[str] | None], sensor: str = "energy", **given: Any
) -> Reading:
    rows = rows_of(*pairs)
    return ground(rows, sensor=sensor, embedder=vocabulary(rows, spare=8), **given)


FIVE: tuple[tuple[str | None, list[str] | None], ...] = (
    ("Alice founded Alpha.", ["Alice founded Alpha in May.", "Bob founded Beta."]),
    ("IDK", []),
    ("She won.", ["He died in 1999.", "She won a prize.", "He died in 1999."]),
    (" ", ["A passage."]),
    ("Hello! Carol left. Did she?", ["Carol left early.", " ", "Nobody asked."]),
)


def test_every_claim_has_its_state_and_the_mean_is_over_those_measured() -> None:
    reading = seen(*FIVE)
    states = [(i.state, i.reason) for i in reading.per_item]
    assert states == [
        (State.MEASURED, None),
        (State.NO_EVIDENCE, "no_evidence"),
        (State.MEASURED, None),
        (State.NOT_APPLICABLE, "no_claim"),
        (State.MEASURED, None),
    ]
    values = [i.value for i in reading.per_item if i.value is not None]
    assert (reading.n_measured, reading.n_items) == (3, 5)
    assert reading.value == pytest.approx(sum(values) / 3, abs=1e-15)
    assert reading.details["states"] == {"MEASURED": 3, "NO_EVIDENCE": 1, "NOT_APPLICABLE": 1}
    assert reading.interval_kind == "95% bootstrap over 3 items, 2,000 resamples"


def test_an_item_has_the_fields_of_the_contract_first_and_none_where_nothing_was_measured() -> None:
    reading = seen(*FIVE)
    for item in reading.per_item:
        assert tuple(item.extra)[:7] == CONTRACTED
    absent = reading.per_item[1]
    assert not any(absent.extra.values())
    one = reading.per_item[2].extra
    assert (one["rank"], one["n"], one["n_merged"]) == (2, 2, 1)
    assert one["clusters"] == [[0, 2], [1]]
    assert one["support"] == [1]
    assert isinstance(one["influence"], list)
    assert reading.per_item[4].extra["n_blank"] == 1


def test_a_reading_is_strict_json_and_comes_back() -> None:
    reading = seen(*FIVE)
    text = reading.to_json(max_items=None)
    assert Reading.from_dict(json.loads(text)).to_json(max_items=None) == text
    assert "NaN" not in text


def test_emptied_evidence_changes_no_bit_of_the_others() -> None:
    before = seen(*FIVE)
    emptied = list(FIVE)
    emptied[2] = ("She won.", None)
    rows = rows_of(*emptied)
    after = ground(rows, embedder=vocabulary(rows_of(*FIVE), spare=8))
    assert after.per_item[2].state is State.NO_EVIDENCE
    for i in (0, 1, 3, 4):
        assert after.per_item[i] == before.per_item[i]


def test_permuted_evidence_and_rows_give_the_same_numbers() -> None:
    rows = rows_of(*FIVE)
    turned = [{**r, "evidence": r["evidence"][::-1] if r["evidence"] else None} for r in rows][::-1]
    embedder = vocabulary(rows, spare=8)
    before, after = ground(rows, embedder=embedder), ground(turned, embedder=embedder)
    by_item = {i.item: i for i in after.per_item}
    for item in before.per_item:
        other = by_item[item.item]
        assert (item.state, item.value) == (other.state, other.value)
        for name in set(item.extra) - PER_ROW:
            assert item.extra[name] == other.extra[name], name
    assert (before.value, before.low, before.high) == (after.value, after.low, after.high)
    assert before.identity == after.identity
    assert before.fingerprint == after.fingerprint


def test_groups_are_resampled_whole_and_below_two_there_is_no_interval() -> None:
    rows = [{**r, "group": "one"} for r in rows_of(*FIVE)]
    reading = ground(rows, embedder=vocabulary(rows, spare=8))
    assert (reading.low, reading.high, reading.interval_kind) == (None, None, None)
    assert reading.per_item[0].extra["group"] == "one"
    rows[0]["group"] = "two"
    reading = ground(rows, embedder=vocabulary(rows, spare=8))
    assert reading.interval_kind == "95% bootstrap over 2 groups, 2,000 resamples"


def test_sentences_are_measured_and_marked_ones_left_out_of_the_aggregates() -> None:
    item = seen(*FIVE).per_item[4]
    sentences, features = item.extra["sentences"], item.extra["diagnostics"]
    assert isinstance(sentences, list)
    assert isinstance(features, dict)
    found = [(s["sub"], s["text"], s["mark"], s["counted"]) for s in sentences]  # type: ignore[index, call-overload] # JSON
    assert found == [
        (1, "Hello!", "greeting", False),
        (2, "Carol left.", None, True),
        (3, "Did she?", "question", False),
    ]
    assert features["n_sentences"] == 1
    counted = seen(*FIVE, marked="counted").per_item[4].extra["diagnostics"]
    assert isinstance(counted, dict)
    assert counted["n_sentences"] == 3


def test_a_short_sentence_is_measured() -> None:
    item = seen(("He died in 1999. She won.", ["He died in 1999."])).per_item[0]
    assert isinstance(item.extra["sentences"], list)
    values = [s["value"] for s in item.extra["sentences"]]  # type: ignore[index, call-overload] # JSON
    assert values == pytest.approx([0.0, 1.0], abs=1e-12)


def test_a_text_that_is_too_long_is_refused_and_names_why() -> None:
    reading = seen(("word " * 50, ["a"]), ("a", ["b " * 50, "a"]), ("a", ["a", "b"]))
    assert [i.reason for i in reading.per_item] == ["text_too_long", "text_too_long", None]


def test_nothing_measured_is_said_with_the_reasons() -> None:
    reading = seen(("a", []), ("b", None))
    assert (reading.state, reading.value) == (State.NO_EVIDENCE, None)
    assert reading.reason == "2 no_evidence"
    assert reading.statement == "No claim could be measured: 2 no_evidence."


def test_more_passages_than_are_measured_are_refused_by_item_until_a_selection_is_declared() -> (
    None
):
    many = [f"w{i}" for i in range(65)]
    with pytest.raises(InputError, match="item 'i0' has 65 passages and at most 64"):
        seen(("w1", many))
    reading = seen(("w1", many), selection="top", selected=3)
    extra = reading.per_item[0].extra
    assert (extra["n_available"], extra["n_selected"]) == (65, 3)
    assert extra["chance_basis"] == "selected"
    assert extra["null_quantile"] is None


def test_a_verbatim_passage_carries_its_claim_whatever_else_is_there() -> None:
    for n in (1, 4, 16, 64):
        reading = seen(
            ("Carol left early.", ["Carol left early.", *(f"w{i}" for i in range(n))]),
            max_passages=65,
        )
        assert reading.value == pytest.approx(0.0, abs=1e-12)


def test_the_page_has_its_pictures_and_the_blind_spots() -> None:
    reading = seen(*FIVE)
    kinds = [type(b) for b in reading.blocks]
    for kind in (Bars, IntervalDots, Table, Curve, Facts, Notes):
        assert kind in kinds
    histogram = next(b for b in reading.blocks if isinstance(b, Bars))
    assert sum(p.value for bar in histogram.bars for p in bar.parts) == 3
    assert sum("chance" in bar.display for bar in histogram.bars) == 1
    tables = [b for b in reading.blocks if isinstance(b, Table)]
    assert tables[0].per_item
    assert tables[0].n_rows == 5
    energies = [row[1] for row in tables[0].rows]
    numbers = [e for e in energies if isinstance(e, float)]
    assert energies == [*sorted(numbers, reverse=True), None, None]
    marked = next(b for b in reading.blocks if isinstance(b, MarkedTexts))
    shown = {t.label: t for t in marked.texts}
    assert set(shown) == {"i0", "i1", "i2", "i3", "i4"}
    assert shown["i1"].value is None
    assert "no_evidence" in shown["i1"].note
    won = shown["i2"]
    assert won.rests_on is not None
    assert won.rests_on.rows[0][:3] == ("2", "She won a prize.", "the claim")
    assert won.stretches[0].note.startswith("passage 2 carries most")
    assert [s.text for s in shown["i4"].stretches] == ["Hello!", "Carol left.", "Did she?"]
    assert "left out of the aggregates" in shown["i4"].stretches[0].note


def test_no_word_of_a_contract_calls_the_energy_a_probability() -> None:
    for name in ("energy", *VARIANTS, *BASELINES):
        contract = sensors.find(name).CONTRACT
        said = " ".join((contract.property, contract.proxy, contract.unit, *contract.blind_to))
        assert "probab" not in said


def test_the_identity_says_all_that_a_threshold_depends_on() -> None:
    identity = seen(*FIVE).identity
    assert set(identity) == {
        "version", "embedder", "cuts", "rules", "coverage_cut", "energy_cut", "marked",
        "entailer",
    }  # fmt: skip
    changed = seen(*FIVE, rank="cap", cap=1)
    assert changed.identity["rules"] != identity["rules"]
    assert changed.fingerprint != seen(*FIVE).fingerprint
    assert seen(*FIVE, seed=1).identity == identity


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rank": "cap"}, "rank needs cap"),
        ({"marked": "gone"}, "marked is 'gone'"),
        ({"foreign": -1}, "foreign is -1"),
        ({"level": 1.0}, r"level is 1\.0"),
        ({"replicates": 5}, "replicates is 5"),
        ({"energy_cut": "x"}, "energy_cut is 'x'"),
        ({"coverage_cut": 2.0}, "coverage_cut is 2"),
        ({"slack": 1}, "'slack' is no parameter of 'energy'"),
    ],
)
def test_a_parameter_out_of_range_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        seen(*FIVE, **given)


def test_a_sensor_calls_no_model_and_says_how_a_table_gets_vectors() -> None:
    with pytest.raises(InputError, match="have no vectors"):
        sensors.find("energy").measure(read_evidence(rows_of(*FIVE)))
    with pytest.raises(InputError, match="'orbits' reads no claims"):
        seen(*FIVE, sensor="orbits")


# Falsification: the sensor must be blind where it says.


def claims(kind: str, which: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"item": r["id"], "claim": r[kind], "evidence": r["evidence"]} for r in which]


def test_it_is_blind_to_the_order_of_words_and_to_what_a_pronoun_means() -> None:
    permuted = [r for r in BINDING if r["word_permutation"]]
    assert len(permuted) == 60
    both = [*permuted, *(r for r in BINDING if r["kind"] == "coreference")]
    right, wrong = claims("supported", both), claims("wrong", both)
    embedder = vocabulary([*right, *wrong], spare=4)
    one, two = (ground(rows, embedder=embedder, foreign=0) for rows in (right, wrong))
    for a, b in zip(one.per_item, two.per_item, strict=True):
        assert a.value is not None
        assert b.value is not None
        assert abs(a.value - b.value) < 1e-12, a.item


def test_it_is_blind_to_recombination() -> None:
    claim, passages = "Alice founded Beta", ["Alice founded Alpha", "Bob founded Beta"]
    assert seen((claim, passages)).value == pytest.approx(1 / 3, abs=1e-12)
    assert seen((claim, [*passages, "Bob founded Alpha"])).value == pytest.approx(0, abs=1e-12)


def test_it_is_blind_to_false_evidence_and_to_omissions() -> None:
    assert seen(
        ("Rome is in Peru", ["Rome is in Peru", "Lima is in Italy"])
    ).value == pytest.approx(0)
    assert seen(("Ann won", ["Ann won", "and was stripped of the title"])).value == pytest.approx(0)


def test_it_is_blind_to_sign_and_the_cone_is_not() -> None:
    def signed(texts: list[str]) -> list[list[float]]:
        return [[-1.0 if t == "minus" else 1.0, 0.0, 0.0] for t in texts]

    rows = rows_of(("minus", ["plus"]))
    assert ground(rows, embedder=signed).value == 0.0
    assert ground(rows, embedder=signed, sensor="energy.cone").value == 1.0


def test_it_is_blind_to_the_amount_of_evidence_being_padding() -> None:
    few = seen(("a b c", ["a", "x y"])).value
    more = seen(("a b c", ["a", "x y", "b z", "c q"])).value
    assert few is not None
    assert more is not None
    assert more <= few


# Variants and baselines.


CORPUS = ["Alice founded Alpha.", "Bob won a prize.", "Carol left.", "He died."]
WEIGHED = [[2.0, 1.0], [], [1.0, 2.0, 3.0], [1.0], [1.0, 1.0, 4.0]]
GIVEN: dict[str, dict[str, Any]] = {
    "energy.corpus": {"corpus": CORPUS},
    "energy.whitened": {"corpus": CORPUS, "shrinkage": 0.5},
}


@pytest.mark.parametrize("name", [*VARIANTS, *BASELINES])
def test_each_is_a_sensor_with_states_and_a_fingerprint_of_its_own(name: str) -> None:
    rows = rows_of(*FIVE)
    given = GIVEN.get(name, {})
    if name == "energy.weighted":
        rows = [{**r, "w": w} for r, w in zip(rows, WEIGHED, strict=True)]
        given = {"weights": "w"}
    reading = ground(rows, sensor=name, embedder=vocabulary(rows, spare=8), **given)
    contract = sensors.find(name).CONTRACT
    assert reading.sensor == name == contract.sensor
    assert [i.state for i in reading.per_item][1] is State.NO_EVIDENCE
    assert reading.per_item[3].reason == "no_claim"
    assert reading.n_measured == 3
    low, high = contract.range
    assert all(low <= i.value <= high for i in reading.per_item if i.value is not None)
    assert reading.fingerprint != seen(*FIVE).fingerprint
    text = reading.to_json(max_items=None)
    assert Reading.from_dict(json.loads(text)).to_json(max_items=None) == text


@pytest.mark.parametrize("name", ["energy.cone", "energy.ridge", "energy.sigma"])
def test_some_variants_are_never_below_the_energy(name: str) -> None:
    for one, two in zip(seen(*FIVE, sensor=name).per_item, seen(*FIVE).per_item, strict=True):
        if one.value is not None and two.value is not None:
            assert one.value >= two.value - 1e-12


def test_a_variant_has_parameters_of_its_own_and_they_are_in_its_identity() -> None:
    reading = seen(*FIVE, sensor="energy.ridge", penalty=2.0)
    assert reading.identity["variant"] == {"penalty": 2.0}
    with pytest.raises(InputError, match=r"'penalty' is no parameter of 'energy\.cone'"):
        seen(*FIVE, sensor="energy.cone", penalty=1.0)
    with pytest.raises(InputError, match="penalty is -1"):
        seen(*FIVE, sensor="energy.ridge", penalty=-1)
    wrong = sensors.find("energy").Params()
    with pytest.raises(InputError, match="hand in its own RidgeParams"):
        sensors.find("energy.ridge").measure(read_evidence(rows_of(*FIVE)), wrong)


def test_one_passage_has_no_affine_measure() -> None:
    item = seen(("a b", ["a"]), sensor="energy.affine").per_item[0]
    assert (item.state, item.reason) == (State.NOT_APPLICABLE, "one_passage")


def test_baselines_are_what_they_say() -> None:
    pair = ("a b", ["a", "c"])
    expected = {
        "baseline.top1": 0.5**0.5,
        "baseline.mean_cosine": 0.5**0.5 / 2,
        "baseline.centroid": 0.5,
        "baseline.best_sin2": 0.5,
        "baseline.length": 3.0,
        "baseline.word_overlap": 0.5,
    }
    for name, value in expected.items():
        assert seen(pair, sensor=name).value == pytest.approx(value, abs=1e-12), name


def test_word_overlap_and_length_need_no_embedder_and_are_blind_to_meaning() -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        raise ValueError(texts)

    rows = rows_of(("Bob hit Ann", ["Ann hit Bob"]), ("?!", ["a"]))
    reading = ground(rows, sensor="baseline.word_overlap", embedder=broken)
    assert [i.value for i in reading.per_item] == [1.0, None]
    assert reading.per_item[1].reason == "no_words"
    assert ground(rows, sensor="baseline.length", embedder=broken).value == 6.5


def test_a_measure_relative_to_a_corpus_needs_one_and_says_which_it_was() -> None:
    with pytest.raises(InputError, match="no corpus was declared"):
        seen(*FIVE, sensor="energy.corpus")
    variant = seen(*FIVE, sensor="energy.corpus", corpus=CORPUS).identity["variant"]
    assert isinstance(variant, dict)
    assert variant["corpus_size"] == 4
    small = seen(*FIVE, sensor="energy.whitened", corpus=CORPUS).per_item[0]
    assert (small.state, small.reason) == (State.NOT_APPLICABLE, "corpus_too_small")


def test_the_mean_of_a_corpus_is_taken_off_the_unit_vectors() -> None:
    pair = ("b", ["a"])
    corpus = seen(pair, sensor="energy.corpus", corpus=["a", "b"], foreign=0)
    assert corpus.value == pytest.approx(0.0, abs=1e-12)  # both lie on one line through the mean
    assert seen(pair).value == pytest.approx(1.0, abs=1e-12)


@dataclass(frozen=True)
class Overlap:
    """Judges by shared words, and tells entailment alone."""

    identity: Mapping[str, Json]

    @property
    def versions(self) -> Mapping[str, str]:
        return {}

    def probabilities(self, premise: str, hypothesis: str) -> Entailment:
        shared = set(words(premise)) & set(words(hypothesis))
        return Entailment(len(shared) / len(words(hypothesis)), None, None)


def test_an_entailer_is_asked_about_every_sentence_and_passage_and_named_in_the_identity() -> None:
    reading = seen(*FIVE, entailer=Overlap({"id": "overlap"}))
    item = reading.per_item[4]
    assert isinstance(item.extra["sentences"], list)
    judged = [s["entailment"] for s in item.extra["sentences"]]  # type: ignore[index, call-overload] # JSON
    assert judged == [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]  # greeting, statement, question
    aggregates = item.extra["diagnostics"]
    assert isinstance(aggregates, dict)
    assert aggregates["weakest_support"] == 1.0
    assert aggregates["strongest_contradiction"] is None
    assert reading.identity["entailer"] == {"id": "overlap"}
    assert seen(*FIVE).identity["entailer"] is None


def test_weights_move_a_cut_span_and_no_other() -> None:
    rows = [{"claim": "a b c", "evidence": ["a", "b", "a c"], "w": [1.0, 9.0, 1.0]}]
    embedder = vocabulary(rows)

    def value(sensor: str, **given: Any) -> float | None:
        return ground(rows, sensor=sensor, embedder=embedder, **given).value

    assert value("energy.weighted", weights="w") == pytest.approx(value("energy"), abs=1e-12)
    cut: dict[str, Any] = {"rank": "cap", "cap": 1}
    assert value("energy.weighted", weights="w", **cut) != pytest.approx(value("energy", **cut))
    with pytest.raises(InputError, match="no weights were given"):
        value("energy.weighted")


@pytest.mark.parametrize("noise", ["full", True, [], {}])
def test_a_noise_that_is_no_number_is_one_clear_error(noise: object) -> None:
    with pytest.raises(InputError, match="embedding_noise"):
        ground(
            ["bad"], [["bed"]], embedder=lambda texts: [[1.0]] * len(texts), embedding_noise=noise
        )
