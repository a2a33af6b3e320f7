"""A claim against its own contradictions: values, states, flags, and where the sensor is blind."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from trueness import sensors
from trueness.api.gating import calibrate, gate
from trueness.api.grounding import ground
from trueness.backends.embedder import Role, Vectors
from trueness.backends.protocol import Request, Result
from trueness.backends.scoring import Continuation, Scored
from trueness.backends.scripted import ScriptedModel
from trueness.collect.contrasting import contrast_table, score_table
from trueness.collect.embedding import embed_table
from trueness.contract import Reading, State
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.sensors.contrast import CONTRACT, Params, measure
from trueness.table.column import Column
from trueness.table.contrasts import Contradicted, Variant
from trueness.table.evidence_reading import read_evidence

EVIDENCE = ["Ann Lee hired Bo Kim in May.", "It rained."]
Law = Callable[[str, str], float | str]


@dataclass
class Model:
    """A language model whose score of a text is a function of prompt and text."""

    law: Law
    asked: list[Continuation] = field(default_factory=list)
    name: str = "made"
    capabilities: frozenset[str] = frozenset({"text", "scores"})
    tokenizer: None = None

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"model": "made"}

    def system_ids(self, text: str) -> None:
        del text

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        raise NotImplementedError

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        for c in reversed(continuations):
            self.asked.append(c)
            found = self.law(str(c.prompt), c.text)
            if isinstance(found, str):
                yield Scored(c.key, None, 1, found)
            else:
                yield Scored(c.key, found, 1)

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True)
class Bag:
    """Counts of words: it erases their order."""

    words: str = "ann lee hired bo kim may rained in it hire not did fired"
    exact: bool = True

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"id": "bag", "revision": "1", "dtype": "float64", "dimension": 40}

    @property
    def versions(self) -> Mapping[str, str]:
        return {}

    @property
    def max_tokens(self) -> None:
        return None

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int, ...]:
        del role
        return tuple(len(t.split()) for t in texts)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        del role
        rows = np.zeros((len(texts), 40))
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                known = self.words.split()
                row[known.index(word) if word in known else -1] += 1
        return rows


def unigram(prompt: str, text: str) -> float:
    """A reader that sees which words stand in the prompt, and no order."""
    there = set(re.findall(r"\w+", prompt))
    return sum(-1.0 if w in there else -3.0 for w in re.findall(r"\w+", text))


def seen(rows: Sequence[Mapping[str, object]], law: Law | None = None, **params: Any) -> Reading:
    model = ScriptedModel("empty") if law is None else Model(law)
    return ground(rows, sensor="contrast", embedder=Bag(), model=model, **params)


def one(claim: str, evidence: Sequence[str] = EVIDENCE, **more: Any) -> Any:
    return seen([{"claim": claim, "evidence": list(evidence)}], **more).per_item[0]


def test_the_value_is_the_gain_of_the_claim_over_that_of_its_best_contradiction() -> None:
    item = one("Ann Lee hired Bo Kim.")
    gains = [v["gain"] for v in item.extra["variants"]]
    assert item.value == item.extra["gain"] - max(gains) == 2.0
    assert item.extra["best_gain"] == max(gains)
    assert item.extra["kinds"]["role_swap"]["value"] == 2.0
    texts = [v["text"] for v in item.extra["variants"]]
    assert "Bo Kim hired Ann Lee." in texts


def test_a_swapped_claim_falls_below_the_one_that_the_evidence_states() -> None:
    item = one("Bo Kim hired Ann Lee.")
    assert item.value == -2.0
    assert item.extra["variants"][0]["text"] == "Ann Lee hired Bo Kim."


def test_every_distinct_text_is_scored_once_with_and_once_without_evidence() -> None:
    model = Model(unigram)
    rows = [{"claim": "Ann Lee hired Bo Kim.", "evidence": EVIDENCE} for _ in range(3)]
    reading = ground(rows, sensor="contrast", embedder=Bag(), model=model)
    asked = [(c.prompt, c.text) for c in model.asked]
    assert len(asked) == len(set(asked)) == 2 * (1 + reading.per_item[0].extra["n_contrasts"])  # type: ignore[operator]
    assert {p for p, _ in asked} == {"Statement:", f"{' '.join(EVIDENCE)}\n\nStatement:"}
    assert all(text.startswith(" ") for _, text in asked)


STATES = [
    ("Ann Lee hired Bo Kim.", [], State.NO_EVIDENCE, "no_evidence"),
    ("Ann Lee hired Bo Kim.", [" "], State.NO_EVIDENCE, "no_evidence"),
    (" ", EVIDENCE, State.NOT_APPLICABLE, "no_claim"),
    ("Delhi", ["x"], State.NOT_APPLICABLE, "no_contrast"),
    ("Who hired Bo Kim?", EVIDENCE, State.NOT_APPLICABLE, "no_contrast"),
]


@pytest.mark.parametrize(("claim", "evidence", "state", "reason"), STATES)
def test_what_cannot_be_compared_says_why(
    claim: str, evidence: list[str], state: State, reason: str
) -> None:
    item = one(claim, evidence)
    assert (item.state, item.reason, item.value) == (state, reason, None)
    assert item.extra["route"] == []


def test_claims_without_a_contrast_are_counted_with_their_reasons() -> None:
    claims = ["Ann Lee hired Bo Kim.", "Delhi", "Who won?"]
    reading = seen([{"claim": c, "evidence": EVIDENCE} for c in claims])
    assert reading.details["n_without"] == 2
    assert reading.details["share_without"] == pytest.approx(2 / 3)
    assert reading.details["why_without"] == {"no_rule_applies": 1, "no_statement": 1}
    assert (reading.n_measured, reading.n_items) == (1, 3)


def test_a_failed_score_is_a_reason_and_never_a_number() -> None:
    def fails(prompt: str, text: str) -> float | str:
        return "timeout" if text.endswith("hired Ann Lee.") else unigram(prompt, text)

    item = one("Ann Lee hired Bo Kim.", law=fails)
    assert (item.state, item.reason, item.value) == (State.NOT_APPLICABLE, "error: timeout", None)
    assert item.extra["kinds"]["role_swap"]["value"] is None
    assert item.extra["kinds"]["negation"]["value"] is not None


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_a_score_that_is_no_number_is_a_reason(value: float) -> None:
    item = one("Ann Lee hired Bo Kim.", law=lambda _p, _t: value)
    assert item.reason == "error: not_finite"


def test_a_model_that_skips_a_text_leaves_it_unscored() -> None:
    class Skips(Model):
        def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
            return iter(list(Model.score(self, continuations))[:-1])

    rows = [{"claim": "Ann Lee hired Bo Kim.", "evidence": EVIDENCE}]
    reading = ground(rows, sensor="contrast", embedder=Bag(), model=Skips(unigram))
    assert reading.per_item[0].reason == "error: no_reply"


def test_rewordings_are_listed_and_count_nowhere() -> None:
    table = contrast_table(
        read_evidence([{"claim": "Ann hired Bo.", "evidence": ["Ann hired Bo."]}])
    )
    plain = table.contradicted
    assert plain is not None
    made = plain[0]
    assert made is not None
    text = "Ann took Bo on."
    control = Variant("paraphrase", text, 0, len("Ann hired Bo."), "Ann hired Bo.", text)
    both = [
        Contradicted(made.found),
        Contradicted((*made.found, control)),
        Contradicted((control,), "no_rule_applies"),
    ]
    items = []
    for found in both:
        object.__setattr__(table, "contradicted", Column.of([found]))
        ready = score_table(embed_table(table, Bag()), ScriptedModel("empty"))
        items.append(measure(ready).per_item[0])
    assert items[0].value == items[1].value
    assert items[1].extra["variants"][-1]["kind"] == "paraphrase"  # type: ignore[index,call-overload]
    assert items[2].reason == "no_contrast"


def test_the_order_of_rows_changes_nothing() -> None:
    claims = ["Ann Lee hired Bo Kim.", "Bo Kim hired Ann Lee.", "It may rain.", "Delhi"]
    rows = [{"item": c, "claim": c, "evidence": EVIDENCE} for c in claims]
    one_way, other = seen(rows), seen(rows[::-1])
    assert {i.item: i for i in one_way.per_item} == {i.item: i for i in other.per_item}
    assert one_way.value == other.value
    assert one_way.fingerprint == other.fingerprint


def test_edits_prompt_and_model_are_in_the_fingerprint() -> None:
    rows = [{"claim": "Ann Lee hired Bo Kim.", "evidence": EVIDENCE}]
    base = seen(rows)
    model = base.identity["model"]
    assert isinstance(model, Mapping)
    assert {"prompt", "edits", "model"} <= set(model)
    assert "backend_version" not in model  # recorded, not matched
    assert base.versions["model backend"] == "2"
    assert len({base.fingerprint, seen(rows, unigram).fingerprint}) == 2
    assert seen(rows, per_kind=1).fingerprint != base.fingerprint
    assert seen(rows, accept=0.5).fingerprint != base.fingerprint


@pytest.mark.parametrize(
    "wrong", [{"per_kind": 0}, {"route": "maybe"}, {"accept": 0.0}, {"accept": 1.5}, {"level": 2}]
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Params(**wrong)


def test_a_table_without_scores_is_refused_and_answers_are_not_applicable() -> None:
    table = embed_table(read_evidence([{"claim": "a", "evidence": ["b"]}]), Bag())
    with pytest.raises(InputError, match="no scored contradictions"):
        measure(table)
    assert measure("answers").state is State.NOT_APPLICABLE  # type: ignore[arg-type]


def test_a_model_that_cannot_score_is_refused_by_name() -> None:
    model = Model(unigram, capabilities=frozenset({"text"}))
    rows = [{"claim": "Ann Lee hired Bo Kim.", "evidence": EVIDENCE}]
    with pytest.raises(InputError, match="needs scores"):
        ground(rows, sensor="contrast", embedder=Bag(), model=model)
    with pytest.raises(InputError, match="asks no language model"):
        ground(rows, embedder=Bag(), model=model)


def test_a_reading_is_strict_json_and_draws_its_blocks() -> None:
    reading = seen([{"claim": "Ann Lee hired Bo Kim.", "evidence": EVIDENCE}])
    assert json.loads(reading.to_json())["value"] == reading.value
    titles = [getattr(block, "title", "") for block in reading.blocks]
    assert "Claims above all of their contradictions of a kind" in titles
    assert sensors.find("contrast").CONTRACT is CONTRACT


# flags


def test_a_kind_that_energy_cannot_tell_apart_is_flagged() -> None:
    item = one("Ann Lee hired Bo Kim.")
    assert item.extra["route"] == ["binding:role_swap"]  # the embedder erases the order
    assert item.extra["kinds"]["role_swap"]["energy_margin"] == 0.0
    assert item.extra["kinds"]["negation"]["routed"] is False
    assert one("Ann Lee hired Bo Kim.", route="off").extra["route"] == []


def test_with_a_threshold_a_kind_is_flagged_where_both_would_be_accepted() -> None:
    energies = one("Ann Lee hired Bo Kim.").extra
    own, other = energies["energy"], energies["kinds"]["negation"]["energy_margin"]
    wide = one("Ann Lee hired Bo Kim.", accept=own + other + 1e-6).extra["route"]
    assert wide == ["binding:role_swap", "binding:negation"]
    assert one("Ann Lee hired Bo Kim.", accept=own / 2).extra["route"] == []


def test_a_flag_reaches_review_at_the_gate(tmp_path: Any) -> None:
    rows: list[dict[str, object]] = []
    for i in range(70):
        one, two = ("Kra" + chr(97 + i // 26) + chr(97 + i % 26) + end for end in ("no", "va"))
        right, wrong = f"{one} hired {two}.", f"{two} hired {one}."
        for label, claim in (("supported", right), ("unsupported", wrong)):
            rows.append({
                "item": f"{label}{i}", "claim": claim, "label": label, "source": f"{label}{i}",
                "evidence": [f"{right[:-1]} in May.", "It rained."],
            })  # fmt: skip
    path = tmp_path / "claims.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    given: dict[str, Any] = {
        "group": "source", "embedder": Bag(), "model": ScriptedModel("empty"),
    }  # fmt: skip
    flags = dict(given, sensor="contrast", label="label", budget="0.05")
    made = calibrate(path, **flags)
    decision = gate(path, made, **given)
    verdicts = {v.item: v.verdict for v in decision.verdicts}
    assert set(verdicts.values()) == {"review"}  # the embedder sees no order: all are flagged
    made = calibrate(path, **flags, route="off")
    verdicts = {v.item: v.verdict for v in gate(path, made, **given, route="off").verdicts}
    assert all((v == "accept") == item.startswith("supp") for item, v in verdicts.items())


def test_evidence_is_not_exchanged_under_contradictions_made_for_it(tmp_path: Any) -> None:
    path = tmp_path / "claims.jsonl"
    rows = [{"claim": f"Ann hired {w}.", "evidence": [w], "source": w} for w in ("Bo", "Cy")]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    with pytest.raises(InputError, match="its own contradictions"):
        calibrate(
            path, sensor="contrast", group="source", budget="0.05", unsupported="random",
            embedder=Bag(), model=ScriptedModel("empty"),
        )  # fmt: skip


# where it is blind, sentence by sentence of the contract


def test_blind_to_bindings_that_no_rule_edits() -> None:
    item = one("彼は彼女を雇った。", ["彼女は彼を雇った。"])
    assert (item.state, item.reason) == (State.NOT_APPLICABLE, "no_contrast")


def test_blind_to_whether_a_contradiction_contradicts() -> None:
    both = ["Ann Lee hired Bo Kim in May.", "In June Bo Kim in turn hired Ann Lee."]
    texts = [v["text"] for v in one("Ann Lee hired Bo Kim.", both).extra["variants"]]
    assert "Ann Lee did not hire Bo Kim." in texts
    there = ["It may rain, and it will."]
    assert one("It may rain.", there).extra["variants"][0]["text"] == "It will rain."


def test_blind_to_errors_elsewhere_than_at_the_edit() -> None:
    evidence = ["The mill may close at dawn."]
    right = one("The mill may close at dawn.", evidence)
    wrong = one("The mill may close at dusk.", evidence)
    assert right.value == wrong.value
    assert right.extra["gain"] > wrong.extra["gain"]


def test_blind_to_what_the_model_does_not_read() -> None:
    assert one("Ann Lee hired Bo Kim.", law=lambda _p, _t: -7.0).value == 0.0
    assert one("Bo Kim hired Ann Lee.", law=lambda _p, _t: -7.0).value == 0.0


def test_blind_to_whether_an_edit_is_wrong() -> None:
    said, meant = "Ann Lee hired Bo Kim.", "Ann Lee gave Bo Kim a job."
    gains = [one(text).extra["gain"] for text in (said, meant)]
    wrong = next(
        v["gain"] for v in one(said).extra["variants"] if v["text"] == "Bo Kim hired Ann Lee."
    )
    assert gains[0] > wrong > gains[1]  # the right rewording gains less than the wrong twin


def test_blind_to_who_copied_words_are_said_of() -> None:
    item = one("Bo Kim hired Ann Lee.", law=unigram)
    assert item.extra["kinds"]["role_swap"]["value"] == 0.0


def test_blind_to_false_evidence() -> None:
    false = ["Oslo is the capital of Peru."]
    assert one("Oslo is the capital of Peru.", false).value > 0


def test_blind_to_omissions() -> None:
    evidence = ["Ann Lee hired Bo Kim.", "The day after that she dismissed him again."]
    assert one("Ann Lee hired Bo Kim.", evidence).value > 0


def test_blind_by_energy_to_what_the_embedder_erases() -> None:
    class Erases(Bag):
        def embed(self, texts: Sequence[str], role: Role) -> Vectors:
            del role
            about = np.array(["Ann" in text or "Bo" in text for text in texts])
            return np.where(about[:, None], np.arange(1.0, 41.0), np.arange(41.0, 1.0, -1.0))

    rows = [{"claim": "Ann Lee hired Bo Kim.", "evidence": EVIDENCE}]
    reading = ground(rows, sensor="contrast", embedder=Erases(), model=ScriptedModel("empty"))
    route = reading.per_item[0].extra["route"]
    kinds = reading.per_item[0].extra["kinds"]
    assert isinstance(kinds, Mapping)
    assert route == [f"binding:{kind}" for kind in kinds]


def test_every_blind_spot_of_the_contract_has_its_test() -> None:
    assert len(CONTRACT.blind_to) == 9
