"""The study of blind directions: each reading, places that are seen, models without insides."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scripted_states import Floats, Scripted, readout

from trueness.contract.errors import InputError, MissingExtraError
from trueness.contract.states import State
from trueness.stats.fibre_walk import Walk
from trueness.stats.lift_rank import lift_rank
from trueness.study import inside_inputs
from trueness.study.carrying_out import carry_out, decide
from trueness.study.declarations import declared_study
from trueness.study.fibre_charts import Walked
from trueness.study.inputs import Inputs
from trueness.study.lift_places import CONTROL, TARGETS, Place, Rules, contrasts_of
from trueness.study.results import Result

N_TOKENS = 60


def anywhere(width: int) -> Callable[[str], Floats]:
    """Another state for every prompt."""

    def state(prompt: str) -> Floats:
        seed = sum(ord(c) * 31**i for i, c in enumerate(prompt)) % 2**32
        return np.random.default_rng(seed).normal(size=width)

    return state


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(model: Any, **given: Any) -> Result:
        monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: model)
        return carry_out("lift-rank", **given).result

    return run


def named(result: Result) -> dict[str, dict[str, Any]]:
    return {str(c["name"]): dict(c) for c in result.contrasts}


def test_a_wide_state_is_lifted_and_a_walk_moves_the_target(carried: Callable[..., Result]) -> None:
    model = Scripted(readout(24, N_TOKENS, scale=0.5), anywhere(24))
    result = carried(model, limit=6)
    found = named(result)
    assert result.reading.outcome.value == "supported"
    assert found["lifted"]["n_prompts_lifted"] > 0
    assert found["walk"]["largest_off"] <= 1e-9
    assert found["walk"]["estimate"] >= 0.05
    assert found["control"]["n_lifted"] == 0
    assert any("does not show" in note for note in result.notes)
    row = next(r for r in result.rows if r["name"] == "answer_mass_3")
    spectra: Any = row["median_spectrum"]
    assert len(spectra["observer"]) == 6
    assert len(spectra["joint"]) == 7


def test_a_state_no_wider_than_the_observer_is_never_lifted(carried: Callable[..., Result]) -> None:
    model = Scripted(readout(4, N_TOKENS, scale=0.5), anywhere(4))
    result = carried(model, limit=4)
    found = named(result)
    assert found["lifted"]["n_lifted"] == 0
    assert found["lifted"]["n"] > 0
    assert found["walk"]["n"] == 0
    assert result.reading.outcome.value == "unresolved"  # single precision leaves places open


def test_no_lift_anywhere_is_refuted_unless_some_place_is_open() -> None:
    still = lift_rank(np.eye(3)[:2], [[1.0, 1.0, 0.0]])
    open_ = replace(still, state=State.UNSTABLE, lift_rank=None)
    for found, outcome in ((still, "refuted"), (open_, "unresolved")):
        places = [Place(i, 3, t, still, seen=False) for i in range(4) for t in (*TARGETS, CONTROL)]
        places.append(Place(0, 2, TARGETS[0], found, seen=False))
        contrasts = contrasts_of(places, Rules((1.0,), 0.05, 1e-9))
        fields = {"contrasts": [{"name": n, **c} for n, c in contrasts.items()], "draws": {}}
        assert decide(declared_study("lift-rank"), fields).outcome.value == outcome


def test_a_lifted_control_supports_nothing() -> None:
    lifted = lift_rank([[1.0, 0.0]], [[0.0, 1.0]])
    walk = Walked(Walk(np.zeros(2), 0.1, 0.0, 1, True, ""), np.zeros(2), 0.0, 0.1, 0.2, True)  # noqa: FBT003 - fields in their order
    for control, outcome in ((0, "supported"), (1, "unresolved")):
        places = [Place(0, 3, TARGETS[1], lifted, seen=False, walk=walk)]
        own = lifted if control else lift_rank([[1.0, 0.0]], [[2.0, 0.0]])
        places.append(Place(0, 3, CONTROL, own, seen=False))
        contrasts = contrasts_of(places, Rules((1.0,), 0.05, 1e-9))
        fields = {"contrasts": [{"name": n, **c} for n, c in contrasts.items()], "draws": {}}
        assert decide(declared_study("lift-rank"), fields).outcome.value == outcome


def test_a_walk_that_leaves_the_fibre_or_the_answer_does_not_count() -> None:
    lifted = lift_rank([[1.0, 0.0]], [[0.0, 1.0]])
    good = Walked(Walk(np.zeros(2), 0.1, 0.0, 1, True, ""), np.zeros(2), 0.0, 0.1, 0.2, True)  # noqa: FBT003 - fields in their order
    for walk, n_moved in (
        (good, 1),
        (replace(good, off=2e-9), 0),
        (replace(good, same_greedy=False), 0),
        (replace(good, moved=-0.04), 0),
        (replace(good, moved=-0.06), 1),
    ):
        place = Place(0, 3, TARGETS[0], lifted, seen=False, walk=walk)
        found = contrasts_of([place], Rules((1.0,), 0.05, 1e-9))
        assert found["walk"]["n_moved"] == n_moved


def test_ties_at_the_top_are_degenerate_and_decide_nothing(carried: Callable[..., Result]) -> None:
    head = readout(24, N_TOKENS)
    head.unembed[:] = 0.0
    result = carried(Scripted(head, anywhere(24)), limit=3)
    found = named(result)
    assert result.reading.outcome.value == "unresolved"
    assert found["lifted"]["n"] == 0
    assert found["lifted"]["n_open"] > 0
    assert found["lifted"]["n_unstable"] == 0


def test_a_state_that_is_not_finite_is_no_number(carried: Callable[..., Result]) -> None:
    head = readout(24, N_TOKENS)
    head.bias[3] = np.nan
    result = carried(Scripted(head, anywhere(24)), limit=2)
    assert named(result)["lifted"]["n"] == 0
    assert {row["n_degenerate"] for row in result.rows} == {2}
    assert result.reading.outcome.value == "unresolved"


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = carry_out("lift-rank", inputs=Inputs(model="openai:some")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "hidden_states" in " ".join(result.notes)

    def none(*_: Any, **__: Any) -> Any:
        msg = "it needs torch. Run: pip install 'trueness[local]'"
        raise MissingExtraError(msg)

    monkeypatch.setattr(inside_inputs, "open_white_box", none)
    result = carry_out("lift-rank").result
    assert "pip install 'trueness[local]'" in " ".join(result.notes)


def test_a_depth_beyond_the_last_block_is_refused() -> None:
    assert Rules((0.0, 0.5, 1.0), 0.05, 1e-9).sites(30) == (0, 15, 30)
    with pytest.raises(InputError, match="shares from 0 to 1"):
        Rules((1.1,), 0.05, 1e-9).sites(30)
