"""The study of answers that are there: planted states, each reading, a model without insides."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from white_box import WIDTH, Planted, Words

from trueness.study import inside_inputs
from trueness.study.carrying_out import Carried, carry_out
from trueness.study.inputs import Inputs
from trueness.study.inside_inputs import Items
from trueness.table import bundled_relation

RELATION = bundled_relation("probe_capital")
GOLDS = [golds[0] for golds in RELATION.golds]
_WRONG = 20
"""Entities that are answered wrongly in every wording."""


def planted(
    own: float, others: float, *, swing: float = 0.0, n_wrong: int = _WRONG
) -> Callable[..., Any]:
    """States whose last entry gives gold and the golds of others so much, and a stranger most."""

    def plant(prompt: str, words: Words) -> NDArray[np.float64]:
        entity = max((e for e in RELATION.entities if e in prompt), key=len)
        place = RELATION.entities.index(entity)
        tokens = {
            i: words.encode(f"{prompt} {gold}")[-len(gold.split())] for i, gold in enumerate(GOLDS)
        }
        rng = np.random.default_rng(place)
        state = rng.normal(size=WIDTH) * 0.1
        for i, token in tokens.items():
            state[token] = others + 0.01 * i
        here = own + (swing if place % 2 else -swing)
        state[tokens[place]] = here if place < n_wrong else 9.0
        state[words.encode("stranger")[0]] = 8.0
        state[WIDTH - 1] = 99.0  # a row without a token
        early = rng.normal(size=WIDTH)
        return np.stack([early, early, state])

    return plant


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Carried]:
    def run(plant: Any, **given: Any) -> Carried:
        model = Planted(plant)
        monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: model)
        found = carry_out("answer-presence", **given)
        assert model.closed
        return found

    return run


@pytest.mark.parametrize(
    ("own", "swing", "outcome"),
    [(5.0, 0.0, "supported"), (2.0, 0.0, "refuted"), (3.15, 1.0, "unresolved")],
)
def test_the_planted_reading_comes_out(
    carried: Callable[..., Carried], own: float, swing: float, outcome: str
) -> None:
    result = carried(planted(own, 3.0, swing=swing)).result
    assert result.reading.outcome.value == outcome
    contrast = result.contrasts[0]
    assert contrast["n"] == 5
    assert result.draws["last_lens_column_is_the_rank"] == 1
    assert result.draws["n_surplus_rows"] == 7


def test_ranks_are_those_that_were_planted(carried: Callable[..., Carried]) -> None:
    found = carried(planted(5.0, 3.0))
    rows = {str(row["name"]): row for row in found.result.rows}
    wrong: Any = rows["all_wrong"]
    assert wrong["n"] == 5 * _WRONG
    assert wrong["rank"]["median"] == 2.0
    assert wrong["rank_in_answers"]["median"] == 1.0
    assert 10 < wrong["rank_of_others"]["median"] < 30
    right: Any = rows["all_right"]
    assert right["rank"]["median"] == 1.0
    lens: Any = rows["lens_wrong"]
    assert lens["emergence"] == 2
    assert lens["median"][0] > 100
    other: Any = rows["lens_other_gold"]
    assert other["median"][2] > 2.0
    assert len(found.table) == 5 * 32
    assert found.table[0]["lens"][-1] == found.table[0]["rank"]  # type: ignore[index] # a list


def test_too_few_wrong_items_are_no_test(carried: Callable[..., Carried]) -> None:
    result = carried(planted(5.0, 3.0, n_wrong=9)).result
    assert result.contrasts[0]["n"] == 0
    assert result.reading.outcome.value == "unresolved"


def test_a_limit_cuts_entities_and_marks_the_result(carried: Callable[..., Carried]) -> None:
    result = carried(planted(5.0, 3.0), limit=4).result
    assert result.partial
    assert result.draws["n_items"] == 20


def test_a_model_without_insides_is_not_applicable_and_names_what_is_missing() -> None:
    result = carry_out("answer-presence", inputs=Inputs(model="openai:some")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "hidden_states" in result.notes[0]


def test_items_whose_prompt_is_no_beginning_of_prompt_and_answer_are_left_out() -> None:
    class Merging(Words):
        def encode(self, text: str) -> tuple[int, ...]:
            found = super().encode(text)
            merges = text.endswith("Paris") and found
            return (
                (*found[:-2], self.seen.setdefault("merged", len(self.seen))) if merges else found
            )

    items = Items.of("probe_capital", Merging(), most=32)
    assert items.dropped == {inside_inputs.NO_PREFIX: 5}
    assert len(items.prompts) == 155
    assert "France" not in {RELATION.entities[e] for e in items.entity}


def test_another_entitys_gold_is_another_token() -> None:
    items = Items.of("probe_capital", Words(), most=32)
    for own, other, i in zip(items.golds, items.others(), range(160), strict=True):
        assert not set(own) & set(other), i
