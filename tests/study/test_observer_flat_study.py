"""The study of cells on which an observer is flat: classes, audits, each reading."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scripted_states import Floats, Scripted, readout

from trueness.backends.local.exact_readout import ExactReadout
from trueness.study import inside_inputs
from trueness.study.carrying_out import carry_out
from trueness.study.inputs import Inputs
from trueness.study.observer_audit import clouds_of, largest_pair
from trueness.study.observer_cells import Change, class_of, missing
from trueness.study.results import Result

if TYPE_CHECKING:
    from trueness.contract.serial import Json

LAST = "resid_out(2)"
WIDTH, N_TOKENS = 24, 60


def state(prompt: str) -> Floats:
    """Powers of two keep twice the state exact; no norm is small."""
    seed = sum(ord(c) * 31**i for i, c in enumerate(prompt)) % 2**32
    return (
        (8 * np.random.default_rng(seed).normal(size=WIDTH)).astype(np.float32).astype(np.float64)
    )


def exactly_scale_free() -> ExactReadout:
    """Without an epsilon, doubling a state doubles every intermediate result exactly."""
    return replace(readout(WIDTH, N_TOKENS, scale=0.6), eps=0.0)


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(model: Any, **given: Any) -> Result:
        monkeypatch.setattr(inside_inputs, "open_white_box", lambda *_, **__: model)
        return carry_out("observer-flat", **given).result

    return run


def named(result: Result) -> dict[str, dict[str, Any]]:
    return {str(c["name"]): dict(c) for c in result.contrasts}


def rows(result: Result) -> dict[str, dict[str, Any]]:
    return {str(r["name"]): dict(r) for r in result.rows}


def test_laws_move_on_fibres_and_nothing_moves_where_nothing_reads(
    carried: Callable[..., Result],
) -> None:
    result = carried(Scripted(exactly_scale_free(), state), limit=3)
    found, by_class = named(result), rows(result)
    assert result.reading.outcome.value == "supported"
    assert found["existence"]["n_permuted"] > 0
    assert found["machinery"]["n_moved"] == 0
    assert found["machinery"]["n_rerun_agrees"] == 3
    assert found["existence"]["error_floor"] == found["existence"]["estimate"] / 2
    inert = by_class["inert"]
    assert inert["n"] == inert["n_raw_equal"] == inert["flat"]["count"] == 6
    assert inert["n_changed_with_shared_seeds"] == 0
    assert by_class["unreached"]["n_raw_equal"] == 6
    assert by_class["permuted"]["flat"]["count"] == 6
    assert by_class["permuted"]["n_raw_equal"] == 0
    kernel = by_class["kernel"]
    assert kernel["n_still_in_double"] == kernel["n"]
    assert found["prevalence"]["n"] == 6
    assert found["prevalence"]["n_flat"] == 0
    assert found["prevalence"]["high"] < 1
    assert any("does not show" in note for note in result.notes)
    fibres = [r for name, r in by_class.items() if name.startswith("fibre_")]
    assert len(fibres) == 3
    assert all(len(r["members"]) == r["n"] for r in fibres)


def test_a_leak_of_a_change_that_nothing_reads_refutes_the_machinery(
    carried: Callable[..., Result],
) -> None:
    result = carried(Scripted(exactly_scale_free(), state, leaks=True), limit=2)
    assert result.reading.outcome.value == "refuted"
    assert named(result)["machinery"]["n_moved"] > 0
    assert "the machinery is wrong" in " ".join(result.notes)


def test_a_baseline_that_does_not_come_out_twice_is_in_no_number(
    carried: Callable[..., Result],
) -> None:
    result = carried(Scripted(exactly_scale_free(), state, restless=1e-2), limit=2)
    found = named(result)
    assert result.reading.outcome.value == "unresolved"
    assert found["existence"]["n"] == found["machinery"]["n"] == found["prevalence"]["n"] == 0
    assert found["machinery"]["n_rerun_agrees"] == 0
    assert {r["n"] for name, r in rows(result).items()} == {0}


def test_logits_that_are_not_finite_leave_cells_incomplete(carried: Callable[..., Result]) -> None:
    model = Scripted(exactly_scale_free(), state)

    class Broken(Scripted):
        def next_logits(self, requests: Any) -> Any:
            found = super().next_logits(requests)
            if self._active:
                found[:, 0] = np.nan
            return found

    result = carried(Broken(model.head, state), limit=1)
    assert result.reading.outcome.value == "unresolved"
    assert sum(r.get("incomplete", 0) for r in rows(result).values()) == 10
    assert named(result)["existence"]["n"] == 0


def test_a_model_that_cannot_be_changed_is_not_applicable() -> None:
    result = carry_out("observer-flat", inputs=Inputs(model="openai:some")).result
    assert result.reading.outcome.value == "not_applicable"
    assert "intervene" in " ".join(result.notes)


@pytest.mark.parametrize(
    ("given", "facts", "name"),
    [
        ({"built": "random"}, {}, "random"),
        ({"built": "inert"}, {}, "other"),
        ({"built": "random"}, {"raw_equal": True}, "inert"),
        ({"built": "kernel"}, {}, "other"),
        ({"built": "kernel", "delta": np.zeros(0)}, {"raw_equal": True}, "kernel"),
        ({"built": "unreached", "steps": "every", "positions": (5, 6)}, {}, "unreached"),
        ({"built": "unreached", "steps": "every", "positions": (4, 6)}, {}, "other"),
        ({"built": "permuted", "site": "unembed_rows"}, {"flat": True}, "permuted"),
        ({"built": "permuted", "site": "unembed_rows"}, {}, "other"),
        ({"built": "inert", "site": "resid_out(1)"}, {"raw_equal": True, "flat": True}, "other"),
    ],
)
def test_a_class_is_computed_and_not_claimed(
    given: Mapping[str, Any], facts: Mapping[str, Any], name: str
) -> None:
    change = replace(Change("random", 1.0, LAST, (-1,), "prefill", np.ones(3)), **given)
    seen = {"n_prompt": 5, "last": LAST, "raw_equal": False, "flat": False, "still": 1e-9, **facts}
    assert class_of(change, **seen) == name


def test_what_an_audit_lacks_is_named() -> None:
    draws: list[Json] = [{"text": "a", "outcome": "answered", "answer": "a"}] * 2
    whole: dict[str, Json] = {
        "model": "m", "weights": "w", "tokens": [1], "site": "s", "delta": "d", "seeds": {"a": [1]},
        "code_path": "c", "dtype": "f", "threads": 1, "extractor": "e", "baseline": "b",
        "completions": {"shared": draws, "independent": draws},
    }  # fmt: skip
    assert missing(whole, k=2) == ()
    for name in whole:
        assert missing({**whole, name: None}, k=2) == (name,)
    failed: list[Json] = [draws[0], {"text": None, "outcome": "error", "answer": None}]
    assert missing({**whole, "completions": {"shared": failed}}, k=2) == ("completions",)
    assert missing(whole, k=8) == ("completions",)


def test_no_answer_is_a_class_of_its_own_and_a_fibre_of_nothing_has_no_distance() -> None:
    draws = [("+a", "-no_answer"), ("+a", "+a")]
    found = clouds_of(draws, [draws])
    assert found.draws.tolist() == [2, 2]
    assert largest_pair([]) is None
