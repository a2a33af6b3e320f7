"""The study of what a Jacobian costs: planted times, each reading, models without insides."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.contract.errors import MissingExtraError
from trueness.study import inside_inputs, jacobian_cost, prices
from trueness.study.carrying_out import carry_out
from trueness.study.inputs import Inputs
from trueness.study.results import Result

Law = Callable[[int], float]
_SIZE = 24
"""Of the planted maps: a width is only said, nothing of it is computed with."""


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Words:
    n_vocabulary: int = 50


@dataclass
class Row:
    """A map with a known spectrum; every product of one direction takes a second."""

    clock: Clock
    width: int
    seconds: float

    @property
    def at(self) -> NDArray[np.float32]:
        return np.zeros(self.width, np.float32)

    @property
    def j(self) -> NDArray[np.float32]:
        return np.diag(np.arange(1, self.width + 1.0) ** -1).astype(np.float32)

    def __call__(self, h: NDArray[np.float32]) -> NDArray[np.float32]:
        self.clock.now += 1.0
        return h

    def jvp(self, v: NDArray[np.float64]) -> NDArray[np.float32]:
        self.clock.now += float(len(v))
        return np.asarray(v @ self.j.T, np.float32)

    def vjp(self, u: NDArray[np.float64]) -> NDArray[np.float32]:
        self.clock.now += float(len(u))
        return np.asarray(u @ self.j, np.float32)

    def jacobian(self) -> NDArray[np.float32]:
        self.clock.now += self.seconds
        return self.j


@dataclass
class Timed:
    clock: Clock
    width: int
    jacobian: float
    identity: dict[str, Any] = field(default_factory=lambda: {"model": "timed"})
    tokenizer: Words = field(default_factory=Words)

    def hidden_states(self, prompts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        return np.zeros((len(prompts), 7, 1, self.width), np.float32)

    def next_logits(self, requests: Sequence[Any]) -> NDArray[np.float32]:
        self.clock.now += 10.0
        return np.zeros((len(requests), 50), np.float32)

    def row_map(self, prompt: Any, layer: int, position: int, *, method: str) -> Row:
        assert (len(prompt), layer, position) == (16, 3, 15)
        return Row(self.clock, _SIZE, self.jacobian * (20 if method == "sequence" else 1))

    def close(self) -> None:
        pass


def carried(monkeypatch: pytest.MonkeyPatch, law: Law, **given: Any) -> Result:
    clock = Clock()

    def drawn(width: int, **_: Any) -> Timed:
        return Timed(clock, width, law(width))

    monkeypatch.setattr(prices, "CLOCK", clock)
    monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: Timed(clock, 96, 30.0))
    monkeypatch.setattr(jacobian_cost, "drawn_llama", drawn)
    return carry_out("jacobian-cost", **given).result


@pytest.mark.parametrize(
    ("law", "outcome", "crossover", "cheaper"),
    [
        (lambda w: w / 5, "supported", 256, 128),  # five passes take 50 seconds
        (lambda w: 49.0 + w / 2000, "refuted", None, 1024),
        (lambda w: 40.0 + 100.0 / (w / 64), "unresolved", None, 1024),  # dear when narrow
        (lambda w: 51.0 + w, "supported", 64, None),
        (lambda _: 50.0, "unresolved", None, None),
    ],
)
def test_the_planted_crossing_comes_out(
    monkeypatch: pytest.MonkeyPatch,
    law: Law,
    outcome: str,
    crossover: int | None,
    cheaper: int | None,
) -> None:
    result = carried(monkeypatch, law)
    found = result.contrasts[0]
    assert result.reading.outcome.value == outcome
    assert found["n"] == 5
    assert found["crossover_width"] == crossover
    assert found["largest_cheaper"] == cheaper


def test_times_ratios_and_errors_are_those_that_were_planted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = carried(monkeypatch, lambda w: w / 5, limit=1)
    rows: dict[str, Any] = {str(row["name"]): row for row in result.rows}
    assert set(rows) == {"model", "llama_64"}
    assert result.partial
    row = rows["model"]
    assert (row["width"], row["blocks"]) == (96, 6)
    assert row["milliseconds"]["forward"] == {
        "n": 20, "median": 10000.0, "quartiles": [10000.0, 10000.0]
    }  # fmt: skip
    assert row["price"] == 0.6
    assert row["sequence_to_row"] == 20.0
    assert row["jacobian_to_block"] == 30.0
    assert row["row_off_sequence"] == 0.0
    for way in ("power", "bidiagonal"):
        assert row[way]["state"] == "MEASURED"
        assert row[way]["error"] < 1e-4
    both = row["bidiagonal"]["steps"]
    assert row["bidiagonal_to_jacobian"] == pytest.approx(2 * both / 30, abs=1e-3)
    assert result.contrasts[1]["estimate"] == 20.0
    assert result.contrasts[1]["beyond"] == 0
    assert {p["comparable"] for p in result.published} == {False}


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = carry_out("jacobian-cost", inputs=Inputs(model="scripted:right")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "row_map" in result.notes[0]

    def none(*_: Any, **__: Any) -> Timed:
        msg = "it needs torch. Run: pip install 'trueness[local]'"
        raise MissingExtraError(msg)

    monkeypatch.setattr(inside_inputs, "open_white_box", none)
    result = carry_out("jacobian-cost").result
    assert result.reading.outcome.value == "not_applicable"
    assert "pip install 'trueness[local]'" in result.notes[0]
