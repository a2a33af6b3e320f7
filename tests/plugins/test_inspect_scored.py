"""Scores as rows, without inspect_ai: what metrics measure, and what is said when they cannot."""

import logging
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trueness.contract.errors import InputError, MissingExtraError
from trueness.plugins.inspect_ai.scored import MARK, Figures, check_kind, table_of

ROOT = Path(__file__).parents[2]


def score(sample: object, answer: str | None, **metadata: object) -> Any:
    inner = SimpleNamespace(answer=answer, metadata=None, explanation=None)
    return SimpleNamespace(score=inner, sample_id=sample, sample_metadata=metadata or None)


def own(sample: object, text: str, target: list[str], kind: str = "auto") -> Any:
    left = {"answer_kind": kind, "stop_reason": "stop", "target": target}
    inner = SimpleNamespace(answer="ignored", metadata={MARK: left}, explanation=text)
    return SimpleNamespace(score=inner, sample_id=sample, sample_metadata=None)


def test_every_epoch_is_a_row_whatever_the_order() -> None:
    table = table_of(
        [score("a", "x"), score(2, "y"), score("a", "Z."), score(2, "y")], kind="short"
    )
    assert table.item.values() == ["a", "2", "a", "2"]
    assert table.epoch.tolist() == [1, 1, 2, 2]
    assert table.answer.values() == ["x", "y", "z", "y"]


def test_an_answer_that_is_not_there_is_no_answer_and_not_missing() -> None:
    table = table_of([score("a", None), score("a", "x")], kind="short")
    assert table.answer.values() == [None, "x"]
    assert table.reason.values() == ["empty", None]


def test_scores_without_any_answer_are_refused() -> None:
    with pytest.raises(InputError, match="no score holds an answer"):
        table_of([score("a", None), score("b", None)], kind="short")


def test_our_own_scores_are_read_from_the_completion_by_the_rule_they_name() -> None:
    scores = [own("a", "#### 12", ["12.0"]), own("a", "I don't know.", ["12.0"])]
    table = table_of(scores, kind="text")
    assert table.answer.values() == ["12", None]
    assert table.target is not None
    assert table.target[0] == ("12",)


def test_scores_of_two_kinds_are_not_mixed() -> None:
    with pytest.raises(InputError, match="1 of 2 scores come from the scorer trueness/answers"):
        table_of([own("a", "#### 12", []), score("a", "12")], kind="short")


def test_the_entity_is_read_from_metadata_or_is_the_sample() -> None:
    scores = [score("q1", "Paris", country="France"), score("q2", "Paris", country="Chad")]
    named = table_of(scores, kind="short", entity="country")
    assert named.entity is not None
    assert named.entity.values() == ["France", "Chad"]
    plain = table_of(scores, kind="short")
    assert plain.entity is not None
    assert plain.entity.values() == ["q1", "q2"]
    with pytest.raises(InputError, match="no metadata 'city'; it has: country"):
        table_of(scores, kind="short", entity="city")


def test_what_cannot_be_measured_is_said_once_and_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse() -> dict[str, float | None]:
        msg = "nothing is there."
        raise InputError(msg)

    figures = Figures("m", {"n": 0.0})
    with caplog.at_level(logging.WARNING):
        assert figures.of([1], refuse) == figures.of([1, 2], refuse) == {"n": 0.0}
    assert caplog.messages == ["m could not be measured from 1 scores: nothing is there."]
    assert figures.of([], refuse) == {"n": 0.0}
    assert figures.of([1], lambda: {"value": None, "n": 3}) == {"n": 3.0}


def test_an_unknown_kind_of_answer_is_refused() -> None:
    with pytest.raises(InputError, match="'shor'"):
        check_kind("shor")


def test_the_package_loads_nothing_before_a_component_is_named() -> None:
    code = "import sys\nimport trueness.plugins.inspect_ai as p\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"inspect_ai", "numpy", "trueness.api"} & set(done.stdout.split())


def test_without_inspect_ai_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    if find_spec("trueness.plugins.inspect_ai") is None:  # pragma: no cover - it is there
        raise AssertionError
    with pytest.raises(MissingExtraError, match=r"pip install 'trueness\[inspect\]'"):
        from trueness.plugins.inspect_ai import grounding  # noqa: F401, PLC0415 - it fails


def test_an_unknown_component_is_an_attribute_error() -> None:
    from trueness.plugins import inspect_ai as components  # noqa: PLC0415 - only here

    with pytest.raises(AttributeError, match="no attribute 'groundin'"):
        _ = components.groundin


def test_the_entry_point_is_named_as_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (entry,) = project["entry-points"]["inspect_ai"].items()
    assert entry == ("trueness", "trueness.plugins.inspect_ai.registry")
    assert find_spec("trueness.plugins.inspect_ai.registry")
