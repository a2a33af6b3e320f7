"""The study of coupling: planted gradients, each reading, wrong gradients, other models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from white_box import WIDTH, Planted, Words

from trueness.study import inside_inputs
from trueness.study.carrying_out import carry_out
from trueness.study.coupling_items import CHOSEN, GOLD, OTHER, SCORES, look
from trueness.study.inputs import Inputs
from trueness.study.inside_inputs import Items
from trueness.study.results import Result
from trueness.table import bundled_relation

NAMES = ("capital", "language16", "currency", "continent")
GOLDS = {
    entity: golds[0]
    for name in NAMES
    for entity, golds in zip(
        bundled_relation(name).entities, bundled_relation(name).golds, strict=True
    )
}
_DIM = 6


@dataclass
class Coupled(Planted):
    """Logits linear in the embeddings, whose weights on the entity are larger for some tokens."""

    of_gold: float = 4.0
    of_chosen: float = 1.0
    honest: bool = True

    def weights(self, prompt: str, token: int) -> NDArray[np.float64]:
        ids = self.tokenizer.encode(prompt)
        found = np.random.default_rng([token, len(prompt)]).normal(size=(len(ids), _DIM))
        entity = max((e for e in GOLDS if e in prompt), key=len)
        first, stop = self.token_span(prompt, prompt.index(entity), prompt.index(entity) + 1)
        is_stranger = token == self.tokenizer.encode("stranger")[0]
        found[first:stop] *= self.of_chosen if is_stranger else self.of_gold
        return found

    def token_span(self, prompt: str, start: int, stop: int) -> tuple[int, int]:
        del stop
        place = len(self.tokenizer.encode(prompt[:start]))
        return place, place + 1

    def logit_gradients(
        self, prompts: Sequence[str], tokens: Any, *, of: str = "logit"
    ) -> NDArray[np.float32]:
        assert of in SCORES
        found = np.array(
            [[self.weights(p, t) for t in ts] for p, ts in zip(prompts, tokens, strict=True)]
        )
        padded = np.pad(found, ((0, 0), (0, 0), (0, 3), (0, 0)), constant_values=np.nan)
        return (padded if self.honest else 1.5 * padded).astype(np.float32)

    def attentions(self, prompts: Sequence[str], query: int = -1) -> NDArray[np.float32]:
        del query
        n = len(self.tokenizer.encode(prompts[0]))
        return np.full((1, 2, 2, n), 1 / n, np.float32)

    def embeddings(self, prompt: str) -> NDArray[np.float32]:
        self._prompt = prompt
        n = len(self.tokenizer.encode(prompt))
        return np.random.default_rng(n).normal(size=(n, _DIM)).astype(np.float32)

    def logits_of(self, block: NDArray[np.float32]) -> Any:
        out = np.zeros(WIDTH)
        for token in range(min(len(self.tokenizer.seen) + 1, WIDTH)):
            out[token] = (self.weights(self._prompt, token) * block).sum()
        return out  # in double precision: a difference is taken


def states(prompt: str, words: Words) -> NDArray[np.float64]:
    """Half of the items answer a stranger; the logit of gold is near it."""
    entity = max((e for e in GOLDS if e in prompt), key=len)
    state = np.random.default_rng(len(prompt)).normal(size=WIDTH) * 0.01
    gold = words.encode(f"{prompt} {GOLDS[entity]}")[len(words.encode(prompt))]
    state[words.encode("stranger")[0]] = 5.0 if len(entity) % 2 else 3.0
    state[gold] = 4.0 + 0.1 * (len(entity) % 5)
    return np.stack([state, state])


def carried(monkeypatch: pytest.MonkeyPatch, model: Coupled, **given: Any) -> Result:
    monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: model)
    return carry_out("coupling", **given).result


@pytest.mark.parametrize(
    ("gold", "chosen", "outcome"), [(6.0, 1.0, "supported"), (0.2, 6.0, "unresolved")]
)
def test_the_planted_reading_comes_out(
    monkeypatch: pytest.MonkeyPatch, gold: float, chosen: float, outcome: str
) -> None:
    result = carried(monkeypatch, Coupled(states, of_gold=gold, of_chosen=chosen), limit=8)
    assert result.reading.outcome.value == outcome
    over = next(c for c in result.contrasts if c["name"] == "gold_over_chosen")
    assert (over["estimate"] > 0) == (gold > chosen)  # type: ignore[operator] # a number
    assert result.draws["n_unstable"] == 0


def test_logits_that_rank_better_than_coupling_refute(monkeypatch: pytest.MonkeyPatch) -> None:
    def close(prompt: str, words: Words) -> NDArray[np.float64]:
        found = states(prompt, words)
        gold = int(np.argsort(found[-1])[-2])
        found[:, gold] = 4.0 + len(prompt) / 100  # on some items above what others chose
        found[:, words.encode("stranger")[0]] = found[-1, gold] + 0.001
        return found

    model = Coupled(close, of_gold=0.05, of_chosen=9.0)
    result = carried(monkeypatch, model, limit=8)
    assert result.reading.outcome.value == "refuted"


def test_an_item_whose_gradient_is_wrong_is_unstable_and_in_no_ratio(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = carried(monkeypatch, Coupled(states, honest=False), limit=3)
    assert result.draws["n_unstable"] == result.draws["n_items"]
    assert all(c["n"] == 0 for c in result.contrasts)
    assert result.reading.outcome.value == "not_applicable"
    assert result.notes[0].startswith("no contrast could be measured")


def test_candidates_spans_and_controls_are_those_that_are_named() -> None:
    model = Coupled(states)
    items = Items.of("capital", model.tokenizer, most=5, templates=[0])
    for seen in look(model, items, seed=0):
        assert len(set(seen.tokens)) == len(seen.tokens) - (not seen.wrong)
        assert (seen.tokens[CHOSEN] == seen.tokens[GOLD]) == (not seen.wrong)
        assert seen.tokens[OTHER] != seen.tokens[GOLD]
        assert seen.attention[0].entity_per_token == pytest.approx(seen.attention[0].first_token)
        assert set(seen.couplings) == {(s, c) for s in SCORES for c in ("nearest", "first")}


def test_a_model_without_gradients_is_not_applicable_and_names_them() -> None:
    result = carry_out("coupling", inputs=Inputs(model="openai:some")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "logit_gradients" in result.notes[0]
