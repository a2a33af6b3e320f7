"""The study of entities on wrong items: planted loss, planted presence, and what cannot be told."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from white_box import WIDTH, Planted, Words

from trueness.study import inside_inputs
from trueness.study.carrying_out import carry_out
from trueness.study.inputs import Inputs
from trueness.study.results import Result
from trueness.table import bundled_relation

CAPITAL, CONTINENT = bundled_relation("probe_capital"), bundled_relation("continent")


def states(kind: str) -> Callable[[str, Words], NDArray[np.float64]]:
    """Three entries: the last word, noise, and the entity as the kind says, with the answer."""

    def plant(prompt: str, words: Words) -> NDArray[np.float64]:
        last = np.random.default_rng(words.encode(prompt)[-1]).normal(size=WIDTH)
        noise = np.random.default_rng([9, *prompt.encode()]).normal(size=WIDTH)
        relation = CONTINENT if "ontinent" in prompt or "Geographically" in prompt else CAPITAL
        entity = max((e for e in relation.entities if e in prompt), key=len)
        place = relation.entities.index(entity)
        code = np.random.default_rng([1, place]).normal(size=WIDTH)
        if relation is CONTINENT:
            golds = list(dict.fromkeys(relation.golds))
            shared = golds.index(relation.golds[place])
            code = np.random.default_rng([2, shared]).normal(size=WIDTH)
            return np.stack([last, noise, noise + code])
        wrong = kind == "all wrong" or (place + len(prompt.split())) % 2 == 0
        written = 0.0 if kind == "lost" and wrong else 2.0
        found = noise + written * code
        gold = words.encode(f"{prompt} {relation.golds[place][0]}")[len(words.encode(prompt))]
        found[[gold, words.encode("stranger")[0]]] = (-20.0, 20.0) if wrong else (20.0, -20.0)
        if kind == "lost" and wrong:
            found[gold] = 0.0  # the answer itself would tell who is meant
        return np.stack([last, noise, found])

    return plant


def carried(monkeypatch: pytest.MonkeyPatch, kind: str, **given: Any) -> Result:
    monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: Planted(states(kind)))
    return carry_out("recoverability", **given).result


@pytest.mark.parametrize(
    ("kind", "outcome"), [("lost", "supported"), ("kept", "refuted"), ("all wrong", "unresolved")]
)
def test_the_planted_reading_comes_out(
    monkeypatch: pytest.MonkeyPatch, kind: str, outcome: str
) -> None:
    result = carried(monkeypatch, kind)
    assert result.reading.outcome.value == outcome
    contrast = next(c for c in result.contrasts if c["name"] == "wrong_minus_right")
    assert contrast["entry"] == 2
    if kind == "all wrong":
        assert contrast["n_templates_of_one_class"] == 5
        assert contrast["estimate"] is None


def test_every_entry_has_its_row_and_an_empty_layer_sits_at_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = carried(monkeypatch, "kept")
    rows: dict[str, Any] = {str(row["name"]): row for row in result.rows}
    assert {f"entity_{i}" for i in range(3)} | {f"shared_{i}" for i in range(3)} == set(rows)
    assert rows["entity_0"]["accuracy"] == pytest.approx(1 / 32)  # one word for all entities
    assert rows["entity_1"]["p"] > 0.05
    assert rows["entity_2"]["accuracy"] > 0.9
    assert set(rows["entity_2"]["accuracy_other_ridges"]) == {"0.01", "1"}
    assert rows["shared_2"]["accuracy"] > 0.8  # on entities that were left out
    shared = next(c for c in result.contrasts if c["name"] == "shared_label")
    assert shared["p_best_entry"] < 0.05  # type: ignore[operator] # a number


def test_one_seed_gives_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (carried(monkeypatch, "kept", limit=6) for _ in range(2))
    assert one.rows == two.rows
    assert one.partial


def test_a_model_without_states_is_not_applicable_and_names_them() -> None:
    result = carry_out("recoverability", inputs=Inputs(model="openai:some")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "hidden_states" in result.notes[0]
