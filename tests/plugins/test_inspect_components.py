"""Our components in evaluations that inspect_ai really runs, on its own mock model."""

import math
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import trueness as tr
from trueness.api.gating import calibrate
from trueness.contract.errors import InputError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
DRAWS = {
    "France": ("Paris", ("#### Paris", "#### Paris", "#### Lyon", "#### paris.")),
    "Chad": ("N'Djamena", ("#### Paris", "#### Paris", "#### Paris", "I don't know.")),
    "Peru": ("Lima", ("#### Lima", "", "#### Lima", "#### Cusco")),
    "Fiji": ("Suva", ("#### Lima", "#### Suva", "#### Apia", "#### Nadi")),
}
PASSAGES = {
    "nile": ["The Nile flows through Egypt.", "It ends in the Mediterranean Sea."],
    "bees": ["Bees dance to tell where flowers are."],
    "none": [],
}
CLAIMS = {
    "nile": ("The Nile ends in the sea.", "Reefs lie off Queensland."),
    "bees": ("Bees dance.", "Bees dance to tell where flowers are."),
    "none": ("Anything.", "Anything else."),
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """inspect_ai keeps traces and caches in the user's folders."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


def letters(texts: list[str]) -> list[list[float]]:
    return [[float(t.lower().count(c)) for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts]


def mocked(said: Mapping[str, tuple[str, ...]]) -> Any:
    """inspect_ai's model that answers by name and turn, without a network."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: PLC0415 - may be absent

    turns = dict.fromkeys(said, 0)

    def answer(messages: Any, *_: Any) -> Any:
        name = next(n for n in said if n in messages[-1].text)
        turns[name] += 1
        output = ModelOutput.from_content("mock", said[name][turns[name] - 1])
        output.usage = ModelUsage(input_tokens=9, output_tokens=9, total_tokens=18)
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def evaluated(
    samples: list[Any], said: Mapping[str, tuple[str, ...]], folder: Path, **task: Any
) -> Any:
    from inspect_ai import Task  # noqa: PLC0415 - may be absent

    (log,) = inspect_ai.eval(
        Task(name="ours", dataset=samples, **task),
        model=mocked(said),
        log_dir=str(folder),
        display="none",
        temperature=0.7,
    )
    return log


def capitals(folder: Path, *, epochs: int = 4, **task: Any) -> Any:
    from inspect_ai.dataset import Sample  # noqa: PLC0415 - may be absent

    samples = [
        Sample(id=f"q-{c}", input=f"Capital of {c}?", target=t, metadata={"country": c})
        for c, (t, _) in DRAWS.items()
    ]
    said = {c: answers for c, (_, answers) in DRAWS.items()}
    return evaluated(samples, said, folder, epochs=epochs, **task)


def claims(folder: Path, *scorers: Any) -> Any:
    from inspect_ai.dataset import Sample  # noqa: PLC0415 - may be absent

    samples = [Sample(id=n, input=n, metadata={"evidence": e}) for n, e in PASSAGES.items()]
    return evaluated(samples, CLAIMS, folder, epochs=2, scorer=list(scorers))


def figures(log: Any, scorer: str) -> dict[str, float]:
    assert log.status == "success", log.error
    return {
        k: m.value for s in log.results.scores if s.name == scorer for k, m in s.metrics.items()
    }


def test_the_spectrum_is_that_of_the_log_read_by_ourselves(tmp_path: Path) -> None:
    from trueness.plugins.inspect_ai import answers  # noqa: PLC0415 - may be absent

    found = figures(capitals(tmp_path / "logs", scorer=answers()), "answers")
    atlas = tr.measure("atlas", tmp_path / "logs", answer_kind="auto")
    parts: Any = atlas.details["parts"]
    for r in (2, 3, 4):
        at = parts[str(r)]
        name = f"agreement_{r}"
        assert (found[name], found[f"{name}_items"]) == (at["total"], at["n"])
        for part, word in (("gold", "gold"), ("wrong", "wrong"), ("none", "no_answer")):
            assert found[f"{name}_{word}"] == at[part]
    assert found["agreement_2"] == pytest.approx((3 / 6 + 3 / 6 + 1 / 6 + 0) / 4)
    assert found["agreement_2_gold"] == pytest.approx((3 / 6 + 1 / 6) / 4)
    assert (found["no_answer_mass"], found["n_draws"]) == (2 / 16, 16)


def test_metrics_stand_beside_any_scorer_and_read_epochs_not_means(tmp_path: Path) -> None:
    from inspect_ai.scorer import accuracy, match  # noqa: PLC0415 - may be absent

    from trueness.plugins.inspect_ai import (  # noqa: PLC0415 - may be absent
        agreement_spectrum,
        answers,
        certified_floor,
        no_answer_mass,
    )

    given = [
        accuracy(),
        agreement_spectrum(orders=[2, 5]),
        no_answer_mass(),
        certified_floor(entity="country", relation="injective"),
    ]
    log = capitals(tmp_path / "logs", scorer=[match(location="end"), answers()], metrics=given)
    beside, ours = figures(log, "match"), figures(log, "answers")
    assert beside["agreement_2"] == ours["agreement_2"]
    assert "agreement_2_gold" not in beside
    assert "agreement_5" not in ours
    assert ours["agreement_5_items"] == 0
    assert ours["accuracy"] == 6 / 16
    rows = [
        {"entity": c, "epoch": e, "completion": text}
        for c, (_, texts) in DRAWS.items()
        for e, text in enumerate(texts, start=1)
    ]
    proved = tr.certify(rows, relation="injective", answer_kind="auto").details
    for name in ("certified_errors", "error_floor", "n_answered"):
        assert ours[name] == proved[name]
    names = {m.name for m in log.eval.scorers[1].metrics}
    assert {n.partition("/")[2] for n in names} >= {"agreement_spectrum", "certified_floor"}


def test_metrics_are_made_again_from_a_log(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log, recompute_metrics  # noqa: PLC0415 - may be absent

    from trueness.plugins.inspect_ai import (  # noqa: PLC0415 - may be absent
        agreement_spectrum,
        answers,
        certified_floor,
    )

    floor = certified_floor(
        entity="country",
        admissible=["Paris", "Lima", "Suva", "Lyon"],
        declared={"slack": 1, "relation": "injective"},
    )
    made = capitals(
        tmp_path / "logs", scorer=answers(), metrics=[agreement_spectrum(orders=[3]), floor]
    )
    log = read_eval_log(made.location)
    recompute_metrics(log)
    assert figures(log, "answers") == figures(made, "answers")
    assert figures(log, "answers")["certified_errors"] > 0


def test_a_declaration_that_cannot_hold_is_said_and_no_number(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from trueness.plugins.inspect_ai import answers, certified_floor  # noqa: PLC0415 - may be absent

    floor = certified_floor(entity="country", relation="injective", admissible=["Paris", "Lima"])
    log = capitals(tmp_path / "logs", scorer=answers(), metrics=[floor])
    assert figures(log, "answers") == {"n_answered": 14}
    said = [m for m in caplog.messages if m.startswith("certified_floor could not be measured")]
    assert any("NOT_APPLICABLE, the listed answers are right for at most 2" in m for m in said)


def test_one_epoch_is_no_agreement_and_no_number(tmp_path: Path) -> None:
    from trueness.plugins.inspect_ai import answers  # noqa: PLC0415 - may be absent

    found = figures(capitals(tmp_path / "logs", epochs=1, scorer=answers("auto")), "answers")
    assert found == {
        **{f"agreement_{r}_items": 0 for r in (2, 3, 4)},
        "no_answer_mass": 0,
        "n_draws": 4,
    }


def test_a_completion_holds_a_right_a_wrong_or_no_answer_and_the_score_says_why(
    tmp_path: Path,
) -> None:
    from trueness.plugins.inspect_ai import answers  # noqa: PLC0415 - may be absent

    log = capitals(tmp_path / "logs", scorer=answers())
    found = {(s.id, s.epoch): s.scores["answers"] for s in log.samples}
    texts = {(s.id, s.epoch): s.output.completion for s in log.samples}
    by_text = {(k[0], texts[k]): v for k, v in found.items()}
    right, wrong = by_text["q-France", "#### paris."], by_text["q-France", "#### Lyon"]
    assert (right.value, right.answer, wrong.value) == ("C", "paris", "I")
    declined, empty = by_text["q-Chad", "I don't know."], by_text["q-Peru", ""]
    assert (declined.value, declined.reason, empty.value, empty.reason) == (
        *("N", "declined"),
        *("N", "empty"),
    )


def test_grounding_is_our_reading_and_no_evidence_is_unscored(tmp_path: Path) -> None:
    from trueness.plugins.inspect_ai import grounding  # noqa: PLC0415 - may be absent

    log = claims(tmp_path / "logs", grounding(embedder=letters, revision="1"))
    assert log.status == "success", log.error
    (result,) = log.results.scores
    assert (result.scored_samples, result.unscored_samples) == (2, 1)
    values = []
    for sample in log.samples:
        one = sample.scores["grounding"]
        evidence = [list(PASSAGES[sample.id])]
        reading = tr.ground([sample.output.completion], evidence, embedder=letters)
        if sample.id == "none":
            assert one.reason == "NO_EVIDENCE"
            assert "could not be measured" in one.explanation
            assert math.isnan(one.value)  # inspect_ai's word for unscored
            continue
        assert one.value == reading.value
        assert one.explanation == reading.statement
        values.append(one.value)
    assert result.metrics["mean"].value == pytest.approx(sum(values) / len(values))


def test_a_gate_rules_on_every_epoch(tmp_path: Path) -> None:
    from trueness.plugins.inspect_ai import gated  # noqa: PLC0415 - may be absent

    path = tmp_path / "gate.json"
    calibrate(
        EXAMPLES / "labelled.jsonl",
        label="label",
        group="source",
        sensor="baseline.word_overlap",
        budget=0.05,
    ).write(path)
    log = claims(tmp_path / "logs", gated(str(path)))
    assert figures(log, "gated") == {"accept": 3 / 4, "review": 1 / 4, "reject": 0}
    (foreign,) = (s.scores["gated"] for s in log.samples if s.output.completion.startswith("Reefs"))
    assert foreign.value == "review"
    assert foreign.explanation.startswith("reviewed: ")


def test_a_sample_without_the_metadata_fails_with_a_sentence(tmp_path: Path) -> None:
    from trueness.plugins.inspect_ai import grounding  # noqa: PLC0415 - may be absent

    log = claims(tmp_path / "logs", grounding(evidence="passages", embedder=letters))
    assert log.status == "error"
    assert "has no metadata 'passages'; it has: evidence" in log.error.message


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda c: c.agreement_spectrum(orders=[1]), "orders is"),
        (lambda c: c.no_answer_mass(answer_kind="shor"), "'shor'"),
        (lambda c: c.answers("shor"), "'shor'"),
        (lambda c: c.certified_floor(relation="injectiv"), "injectiv"),
        (lambda c: c.certified_floor(declared={"slak": 1}), "'slak' is no part of a declaration"),
        (lambda c: c.certified_floor(relation_file="nowhere"), "nowhere"),
        (lambda c: c.grounding(sensor="energi"), "energi"),
        (lambda c: c.grounding(measured_by={"windo": 3}), "'windo' is no parameter"),
        (lambda c: c.gated("nowhere.json"), "nowhere"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(
    make: Callable[[Any], object], said: str
) -> None:
    from trueness.plugins import inspect_ai as components  # noqa: PLC0415 - may be absent

    with pytest.raises(InputError, match=said):
        make(components)


def test_the_command_of_inspect_ai_finds_our_scorer_by_name(tmp_path: Path) -> None:
    from trueness.plugins.inspect_ai import answers  # noqa: PLC0415 - may be absent

    log = capitals(tmp_path / "logs", scorer=answers())
    argv = ("score", log.location, "--scorer", "trueness/answers", "--action", "append")
    command = Path(sys.executable).with_name("inspect")
    done = subprocess.run(
        [command, *argv, "--output-file", str(tmp_path / "again.eval")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "again.eval").exists()
