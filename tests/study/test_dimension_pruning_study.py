"""The study of truncated blocks: planted dimensions and costs, each reading, none that settles."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scripted_states import Words

from trueness.backends.scoring import Continuation, Scored
from trueness.contract.errors import BackendError
from trueness.study import inside_inputs
from trueness.study.carrying_out import carry_out
from trueness.study.inputs import Inputs
from trueness.study.results import Result

DEPTH = 6
Law = Callable[[int], float]


@dataclass
class Map:
    j: NDArray[np.float32]

    def jacobian(self) -> NDArray[np.float32]:
        return self.j


@dataclass
class Prunable:
    """Blocks with planted growth, and a planted cost of a matrix that is cut down."""

    grows: Law
    costs: Law
    wide: bool = False
    fails: bool = False
    identity: dict[str, Any] = field(default_factory=lambda: {"model": "prunable"})
    tokenizer: Words = field(default_factory=lambda: Words(10**6))
    _cut: tuple[int, int] | None = None

    def hidden_states(self, prompts: Sequence[Any]) -> NDArray[np.float32]:
        return np.zeros((len(prompts), DEPTH + 1, 1, 3), np.float32)

    def row_map(self, ids: Sequence[int], block: int, position: int, *, causal: bool = True) -> Map:
        del ids, position, causal
        n = 45 if self.wide else 3
        return Map(np.diag(np.exp(np.linspace(self.grows(block), -1.5, n))).astype(np.float32))

    @contextmanager
    def changed_mlp(self, layer: int, change: Any) -> Iterator[int]:
        made = change(np.diag(np.arange(200.0, 0.0, -1.0)), 0)
        lost = 1 - np.linalg.norm(made) / np.linalg.norm(np.arange(1, 201))
        self._cut = (layer, round(1000 * float(lost)))
        try:
            yield 1
        finally:
            self._cut = None

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        for one in continuations:
            n = len(one.text.split())
            nats = 2.0
            if self._cut is not None:
                nats += self.costs(self._cut[0]) * self._cut[1] / 1000
            if self.fails:
                yield Scored(one.key, None, n, "context_length")
            else:
                yield Scored(one.key, -nats * n, n)

    def close(self) -> None:
        pass


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(model: Prunable, **given: Any) -> Result:
        monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: model)
        return carry_out("dimension-pruning", **given).result

    return run


def rising(block: int) -> float:
    return 0.3 + 0.1 * block


def mixed(block: int) -> float:
    return (0.4, 0.1, 0.5, 0.2, 0.6, 0.3)[block]


def named(result: Result) -> dict[str, dict[str, Any]]:
    return {str(c["name"]): dict(c) for c in result.contrasts}


@pytest.mark.parametrize(
    ("costs", "outcome"),
    [(rising, "supported"), (lambda b: -rising(b), "supported"), (mixed, "unresolved")],
)
def test_the_planted_reading_comes_out(
    carried: Callable[..., Result], costs: Law, outcome: str
) -> None:
    result = carried(Prunable(rising, costs))
    found = named(result)["dimension_and_loss"]
    assert found["n"] == 6
    assert result.reading.outcome.value == outcome
    if outcome == "supported":
        assert abs(found["estimate"]) == 1.0
        assert found["by_rank"]["8"]["p"] == pytest.approx(2 / math.factorial(6))


def test_costs_are_those_that_were_planted(carried: Callable[..., Result]) -> None:
    rows = {str(r["name"]): dict(r) for r in carried(Prunable(rising, rising)).rows}
    low: Any = rows["block_0"]
    assert low["surprise"] == pytest.approx(2.0)
    assert low["rise"]["8"] > low["rise"]["32"] > low["rise"]["128"] > 0
    assert low["rise_random"]["32"] > low["rise"]["32"]
    high: Any = rows["block_5"]
    assert high["dimension"]["all"] > low["dimension"]["all"]


def test_without_a_block_that_settles_it_is_not_applicable(carried: Callable[..., Result]) -> None:
    result = carried(Prunable(rising, rising, wide=True))
    assert result.reading.outcome.value == "not_applicable"
    assert result.notes[0].startswith("no block's dimension has settled: 40 steps are fewer")
    assert len(result.rows) == 6
    assert result.draws["n_settled"] == 0
    assert named(result)["dimension_and_loss"]["by_rank"]["8"]["reason"] == "0 pairs; 4 are needed"


def test_too_few_blocks_decide_nothing(carried: Callable[..., Result]) -> None:
    result = carried(Prunable(rising, rising), limit=3)
    assert result.reading.outcome.value == "unresolved"
    assert named(result)["dimension_and_loss"]["n_open"] == 3


def test_a_text_without_a_score_stops_in_one_line(carried: Callable[..., Result]) -> None:
    with pytest.raises(BackendError, match="the held-out text has no score: context_length"):
        carried(Prunable(rising, rising, fails=True))


def test_a_model_without_insides_is_not_applicable() -> None:
    result = carry_out("dimension-pruning", inputs=Inputs(model="openai:some")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "row_map" in " ".join(result.notes)
