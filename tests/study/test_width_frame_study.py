"""The study of two widths: planted ratios, equal and unequal models, frames that do not fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scripted_states import Words

from trueness.contract.errors import InputError
from trueness.study import inside_inputs
from trueness.study.carrying_out import carry_out, decide
from trueness.study.declarations import declared_study
from trueness.study.frame_cells import Cell, Pair, cells_of, contrast_of
from trueness.study.inputs import Inputs
from trueness.study.results import Result

N_ENTRIES = 9


@dataclass
class Wide:
    """States that are a turn of a few shared numbers a prompt, or of numbers of their own."""

    width: int
    seed: int = 0
    shared: bool = True
    broken: bool = False
    identity: dict[str, Any] = field(default_factory=lambda: {"model": "wide"})
    tokenizer: Words = field(default_factory=lambda: Words(10**6))

    def hidden_states(self, prompts: Sequence[str], positions: Any = (-1,)) -> NDArray[np.float32]:
        del positions
        turn = np.linalg.qr(np.random.default_rng(self.seed).normal(size=(self.width, 6)))[0]
        rows = []
        for i in range(len(prompts)):
            rng = np.random.default_rng([i, 0 if self.shared else 1 + self.seed])
            own = turn @ rng.normal(size=6)
            rows.append([own * (1 + e) for e in range(N_ENTRIES)])
        found = np.array(rows, np.float32)[:, :, np.newaxis]
        if self.broken:
            found[0] = np.nan
        return found

    def close(self) -> None:
        pass


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(one: Wide, two: Wide, **given: Any) -> Result:
        found = {"embedded": one, "hf:other": two}
        monkeypatch.setattr(inside_inputs, "open_white_box", lambda name, **_: found[name])
        return carry_out("width-frame", inputs=Inputs(second_model="hf:other"), **given).result

    return run


def rows(result: Result) -> dict[str, dict[str, Any]]:
    return {str(r["name"]): dict(r) for r in result.rows}


def test_projecting_adds_noise_to_ratios_that_were_planted(carried: Callable[..., Result]) -> None:
    result = carried(Wide(300), Wide(400, seed=1))
    found = rows(result)
    assert result.reading.outcome.value == "supported"
    planted = found["planted_64"], found["planted_256"]
    assert [row["plain_error"] for row in planted] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert 1.30 < planted[0]["projected_mean"] < 1.37
    # the mean of |x| is .8 standard deviations of a normal x, here 1/sqrt(k)
    assert planted[0]["projected_error"] == pytest.approx(0.8 / 8, rel=0.2)
    assert planted[1]["projected_error"] == pytest.approx(0.8 / 16, rel=0.2)
    assert found["first_64"]["plain_mean"] == pytest.approx(7 / 3, rel=1e-4)
    assert found["between_64"]["plain_mean"] == pytest.approx(1.0, rel=1e-4)
    assert any("does not show" in note for note in result.notes)
    assert result.contrasts[0]["n"] == 4 * 2 * 20


def test_turned_copies_are_alike_and_strangers_are_not(carried: Callable[..., Result]) -> None:
    alike = rows(carried(Wide(300), Wide(400, seed=1)))["alike_50"]
    assert alike["cka"]["value"] == pytest.approx(1.0, abs=1e-5)
    assert alike["distances"]["value"] == pytest.approx(1.0, abs=1e-5)
    assert alike["cka"]["p"] == 0.001
    result = carried(Wide(300, shared=False), Wide(400, seed=1, shared=False))
    strange = rows(result)["alike_50"]
    assert strange["cka"]["p"] > 0.01
    assert strange["cka"]["value"] < 0.6


def test_a_frame_wider_than_a_state_is_not_applicable(carried: Callable[..., Result]) -> None:
    found = rows(carried(Wide(100), Wide(400, seed=1)))
    assert found["first_256"]["state"] == "NOT_APPLICABLE"
    assert found["between_256"]["n"] == 0
    assert found["second_256"]["state"] == "MEASURED"
    assert found["first_64"]["n"] == 20


def test_a_projection_that_helped_would_refute_and_nothing_measured_decides_nothing() -> None:
    worse = Cell("planted", 64, 0, 3, 1.3, 1.3, 0.1, 0.2)
    better = Cell("planted", 64, 1, 3, 1.3, 1.3, 0.1, 0.05)
    none = {"n": 0, "estimate": None}
    for cells, outcome in (
        ([worse], "supported"),
        ([worse, better], "refuted"),
        ([], "unresolved"),
    ):
        contrasts = {"projection": contrast_of(cells), "alike": none, "distances": none}
        fields = {"contrasts": [{"name": n, **c} for n, c in contrasts.items()], "draws": {}}
        assert decide(declared_study("width-frame"), fields).outcome.value == outcome


def test_a_state_without_length_is_in_no_ratio() -> None:
    above, below = np.ones((3, 80)), np.ones((3, 80))
    below[1] = 0.0
    (cell,) = cells_of("first", [Pair(above, below)], [64], 0)
    assert cell.n == 2
    assert not list(cells_of("first", [Pair(above, np.zeros((3, 80)))], [64], 0))


def test_without_a_second_model_or_with_few_items_it_is_not_applicable(
    carried: Callable[..., Result],
) -> None:
    result = carry_out("width-frame").result
    assert result.reading.outcome.value == "not_applicable"
    assert "--second-model" in " ".join(result.notes)
    result = carried(Wide(300), Wide(400), limit=2)
    assert "fewer than three items" in " ".join(result.notes)


def test_a_model_without_states_is_not_applicable() -> None:
    inputs = Inputs(model="openai:some", second_model="embedded")
    result = carry_out("width-frame", inputs=inputs).result
    assert "hidden_states" in " ".join(result.notes)


def test_states_that_are_not_finite_are_refused(carried: Callable[..., Result]) -> None:
    with pytest.raises(InputError, match="nan or infinity"):
        carried(Wide(300, broken=True), Wide(400))
