"""What one pass of a real network shows beside its answers: the same bits in any batch."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from trueness import api
from trueness.collect import Quiz, ask, parse_conditions
from trueness.contract import State
from trueness.stats.observers import observe_logits
from trueness.table import AnswerTable, read_answers

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
NAMES = tuple(f"{word} {n}" for n in range(6) for word in ("far", "Über Fjord", "France", "Chad"))
QUIZ = Quiz("capital", ("The capital of {e} is",), NAMES, tuple("abcdefghijklmnopqrstuvwx"))
BOTH = "one_pass,hidden_states"


def asked(model: "LocalModel", out: Path, **given: Any) -> AnswerTable:
    conditions = parse_conditions("none,random:6")
    rest = {"epochs": 2, "temperature": 1.0, "max_tokens": 2} | given
    ask(QUIZ, model, conditions, out=out, observable=BOTH, **rest)
    return read_answers(out)


def test_numbers_and_states_are_those_of_the_prompt_alone(
    tiny: "LocalModel", tmp_path: Path
) -> None:
    table = asked(tiny, tmp_path / "t.jsonl").only("none")
    assert table.observer is not None
    states = table.arrays["hidden_states"]
    for row in range(0, len(table), 7):
        prompt = QUIZ.templates[0].format(e=table.entity[row] if table.entity else "")
        whole = tiny.hidden_states([prompt])[0, :, 0]
        assert np.array_equal(states[row], whole[-1])
        logits = tiny.readout(whole[-1])
        numbers = np.array(table.observer[row])
        assert np.abs(numbers - observe_logits(logits).numbers).max() < 1e-4


def test_no_batch_moves_a_bit_of_them(tiny: "LocalModel", tmp_path: Path) -> None:
    one = asked(tiny, tmp_path / "a.jsonl", batch_size=1)
    many = asked(tiny, tmp_path / "b.jsonl", batch_size=16)
    place = {key: i for i, key in enumerate(_keys(many))}
    rows = [place[key] for key in _keys(one)]
    assert one.observer is not None
    assert many.observer is not None
    assert one.observer.values() == [many.observer[i] for i in rows]
    assert np.array_equal(one.arrays["hidden_states"], many.arrays["hidden_states"][rows])


def _keys(table: AnswerTable) -> list[tuple[Any, ...]]:
    columns = (table.item.values(), table.epoch.tolist(), table.condition.values())
    return list(zip(*columns, strict=True))


def test_the_baselines_measure_such_a_table(tiny: "LocalModel", tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    asked(tiny, out)
    for name in ("entropy", "margin", "max_p", "renyi2", "varentropy", "varentropy_escort2"):
        found = api.measure(f"baseline.{name}", out, only="none")
        assert (found.state, found.n_measured) == (State.MEASURED, len(NAMES)), name
    for name in ("mahalanobis", "pca_residual"):
        found = api.measure(f"baseline.{name}", out, only="none")
        assert (found.state, found.n_measured) == (State.MEASURED, len(NAMES)), name
    across = api.measure_each("atlas", out, near=1e9)["observer fibres"]
    assert across.details["n_pairs"] == len(NAMES)
    assert across.details["incomplete"] == 0


def test_under_noise_every_draw_has_numbers_of_its_own(tiny: "LocalModel", tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    noisy = parse_conditions("noise:0.4")
    ask(QUIZ, tiny, noisy, out=out, observable="one_pass", epochs=3, max_tokens=1)
    table = read_answers(out).only("noise:0.4")
    assert table.observer is not None
    assert len(set(table.observer.values())) == len(table)
    found = api.measure("baseline.margin", table)
    assert (found.state, found.n_measured) == (State.UNSTABLE, 0)
