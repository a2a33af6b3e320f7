"""The study of growth rates: planted products, each reading, products that do not settle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scripted_states import Words

from trueness.contract.errors import InputError
from trueness.study import inside_inputs
from trueness.study.carrying_out import carry_out
from trueness.study.declarations import declared_study
from trueness.study.embedded_inputs import levels
from trueness.study.inputs import Inputs
from trueness.study.products import texts_of
from trueness.study.results import Result

DEPTH = 4


class Rising(Words):
    """Every word a new token: prose goes up by one."""

    def __init__(self) -> None:
        super().__init__(10**6)

    def encode(self, text: str) -> tuple[int, ...]:
        n = len(text.split())
        return tuple(range(n, 2 * n))


Law = Callable[[bool, int, int], Sequence[float]]
"""From (prose, block, step) to growth rates."""


@dataclass
class Map:
    j: NDArray[np.float32]

    def jacobian(self) -> NDArray[np.float32]:
        return self.j


@dataclass
class Growing:
    """Blocks with planted growth; prose is what goes up by one from word to word."""

    law: Law
    identity: dict[str, Any] = field(default_factory=lambda: {"model": "growing"})
    tokenizer: Words = field(default_factory=Rising)
    causal: list[bool] = field(default_factory=list)

    def hidden_states(self, prompts: Sequence[Any]) -> NDArray[np.float32]:
        return np.zeros((len(prompts), DEPTH + 1, 1, 3), np.float32)

    def row_map(self, ids: Sequence[int], block: int, position: int, *, causal: bool = True) -> Map:
        self.causal.append(causal)
        prose = ids[:2] == (min(ids), min(ids) + 1)
        rates = np.array(self.law(prose, block, position), np.float64)
        rates[0] += 0.02 * np.sin(min(ids)) * prose  # texts are not all alike
        return Map(np.diag(np.exp(rates)).astype(np.float32))

    def close(self) -> None:
        pass


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(law: Law, **given: Any) -> Result:
        model = Growing(law)
        monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: model)
        result = carry_out("exponents", **given).result
        assert model.causal.count(False) > 0
        return result

    return run


def higher(prose: bool, block: int, step: int) -> Sequence[float]:  # noqa: FBT001 - one of two
    del block, step
    return (0.8, -0.1, -1.2) if prose else (0.8, -0.6, -1.2)


def alike(prose: bool, block: int, step: int) -> Sequence[float]:  # noqa: FBT001 - one of two
    del prose, block, step
    return (0.4, -0.1, -0.6)


def restless(prose: bool, block: int, step: int) -> Sequence[float]:  # noqa: FBT001 - one of two
    del prose, block
    return (0.4, -0.1, -0.6) if step < 20 else (-0.4, -0.5, -0.6)


def named(result: Result) -> dict[str, dict[str, Any]]:
    return {str(c["name"]): dict(c) for c in result.contrasts}


@pytest.mark.parametrize(
    ("law", "outcome"), [(higher, "supported"), (alike, "refuted"), (restless, "unresolved")]
)
def test_the_planted_reading_comes_out(
    carried: Callable[..., Result], law: Law, outcome: str
) -> None:
    result = carried(law)
    found = named(result)
    assert result.reading.outcome.value == outcome
    if law is restless:
        assert found["prose_minus_permuted"]["n"] == 0
    else:
        assert found["prose_minus_permuted"]["n"] == 3
        assert found["settled"]["by_kind"]["token"] == {"n": 24, "n_settled": 24}


def test_rates_and_dimensions_are_those_that_were_planted(carried: Callable[..., Result]) -> None:
    rows = {str(r["name"]): dict(r) for r in carried(higher).rows}
    prose: Any = rows["token_1_prose_0"]
    assert prose["n"] == 40
    assert prose["largest_rate"] == pytest.approx(0.8, abs=0.1)
    assert prose["sum"] == pytest.approx(-0.5, abs=0.05)
    assert prose["n_expanding"] == 1
    # 2 whole directions hold .8 - .1 = .7, the third costs 1.2
    assert prose["dimension"]["all"] == pytest.approx(2 + 0.7 / 1.2, abs=0.1)
    assert prose["spectrum"] == pytest.approx([0.8, -0.1, -1.2], abs=0.1)
    assert prose["ranks"] == [1, 2, 3]
    assert len(prose["filtration"]) == 13
    assert prose["frame_spread"] < 0.1
    assert rows["unmasked_1_prose_0"]["causal"] is False
    (long,) = levels(declared_study("exponents"), "long", int)
    assert rows["long_2_prose_0"]["n"] == long - 1
    assert rows["block_prose_0"]["n"] == DEPTH
    assert rows["block_prose_0"]["product"] == "block_product"


def test_fewer_steps_than_directions_never_settle(carried: Callable[..., Result]) -> None:
    def wide(prose: bool, block: int, step: int) -> Sequence[float]:  # noqa: FBT001 - one of two
        del prose, block, step
        return list(np.linspace(0.5, -0.7, 45))

    result = carried(wide)
    found = named(result)
    assert found["settled"]["by_kind"]["token"]["n_settled"] == 0
    assert found["settled"]["by_kind"]["long"]["n_settled"] == 1
    assert found["prose_minus_permuted"]["n"] == 0
    assert result.reading.outcome.value == "unresolved"
    row: Any = next(r for r in result.rows if r["name"] == "token_0_prose_0")
    assert row["state"] == "UNSTABLE"
    assert row["reason"] == "40 steps are fewer than the 45 directions"


def test_a_limit_takes_fewer_blocks_and_no_long_text(carried: Callable[..., Result]) -> None:
    result = carried(higher, limit=1)
    assert result.partial
    assert {r["block"] for r in result.rows} == {None, 2}
    assert "long" not in {r["kind"] for r in result.rows}


def test_a_jacobian_that_is_not_finite_is_refused(carried: Callable[..., Result]) -> None:
    def broken(prose: bool, block: int, step: int) -> Sequence[float]:  # noqa: FBT001 - one of two
        del prose, block
        return (float("nan"), 0.0, 0.0) if step == 3 else (0.1, 0.0, -0.2)

    with pytest.raises(InputError, match="holds nan or infinity"):
        carried(broken)


def test_too_few_tokens_for_the_declared_texts_are_refused() -> None:
    with pytest.raises(InputError, match="hold fewer than 2 texts of 4 tokens"):
        texts_of([(1, 2, 3), (4, 5)], n_texts=2, n_tokens=4, seed=0)
    found = texts_of([(1, 2, 3, 9), (4, 5, 6, 7)], n_texts=2, n_tokens=4, seed=0)
    assert [t.order for t in found] == ["prose", "permuted"] * 2
    assert sorted(found[1].ids) == [1, 2, 3, 9]


def test_a_model_without_row_maps_is_not_applicable() -> None:
    result = carry_out("exponents", inputs=Inputs(model="openai:some")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "row_map" in " ".join(result.notes)
