"""Prefixes on planted models: what helps is found, what harms refutes, noise decides nothing."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import TextOnly, run_on
from scipy.special import ndtri

from trueness.backends.protocol import Request
from trueness.collect import ask
from trueness.stats.multiplicity import holm
from trueness.study import asked as asking
from trueness.study.declarations import declared_study
from trueness.study.partitions import mean_record
from trueness.table import bundled_relation


def chance(*parts: object) -> float:
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:4]) / 2**32


def prose_helps(request: Request, _text: str, right: str | None) -> str:
    helped = request.key[2].startswith("prose")
    return str(right) if helped or chance(request.key[0]) < 0.2 else "the"


def prose_harms(request: Request, _text: str, right: str | None) -> str:
    return "the" if request.key[2].startswith("prose") else str(right)


def nothing_matters(request: Request, _text: str, right: str | None) -> str:
    return str(right) if chance(request.key) < 0.5 else "the"


def test_prose_that_helps_everywhere_supports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "prefix-character", prose_helps, limit=10).result
    assert found.reading.outcome.value == "supported"
    by = {row["name"]: row for row in found.rows}
    assert by["capital_class_prose"]["accuracy"] == 1.0
    assert by["capital_class_prose"]["members"] == 8
    assert by["capital_class_none"]["members"] == "single"
    spread = by["capital_spread"]["between_classes_of_prefixes"]
    assert isinstance(spread, float)
    assert spread > 0.9
    assert all(c["p_holm"] <= 0.05 for c in found.contrasts if c["primary"])  # type: ignore[operator] # numbers


def test_prose_that_harms_one_relation_refutes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "prefix-character", prose_harms, limit=8).result
    assert found.reading.outcome.value == "refuted"


def test_without_an_effect_nothing_is_decided(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "prefix-character", nothing_matters, limit=6).result
    assert found.reading.outcome.value == "unresolved"


def test_a_second_run_answers_from_the_cache_and_finds_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, two = (
        run_on(monkeypatch, tmp_path, "prefix-character", nothing_matters, limit=2).result
        for _ in range(2)
    )
    assert (one.rows, one.contrasts) == (two.rows, two.contrasts)
    assert (two.cost["cache_hits"], two.cost["requests"]) == (7 * 2 * 9, 0)


FEW = {"draws": {"splits": 8}}


def collapses(request: Request, _text: str, right: str | None) -> str:
    """Without a prefix all fall together; behind the third passage each is right."""
    return str(right) if request.key[2] == "prose:128@3" else "Paris"


def test_a_repair_is_found_on_entities_that_it_was_not_chosen_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "prefix-repair", collapses, limit=10, cut=FEW).result
    assert found.reading.outcome.value == "supported"
    halves = next(row for row in found.rows if row["name"] == "capital_halves")
    assert halves["chosen"] == {"prose:128@3": 8}
    assert halves["declined_share"] == 0.0


def test_a_loss_on_held_out_entities_refutes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Right answers in the wrong places are told apart: no certificate sees that."""
    capitals = [golds[0] for golds in bundled_relation("capital").first(12).golds]
    following = dict(zip(capitals, [*capitals[1:], capitals[0]], strict=True))

    def told_apart(request: Request, _text: str, right: str | None) -> str:
        if request.key[2] == "prose:128@3":
            return following.get(str(right), str(right))
        lost = request.key[0].startswith("capital|") and request.key[2] != "none"
        return "Paris" if lost or chance(request.key[0]) < 0.3 else str(right)

    found = run_on(monkeypatch, tmp_path, "prefix-repair", told_apart, limit=12, cut=FEW).result
    assert found.reading.outcome.value == "refuted"
    gain = next(c for c in found.contrasts if c["name"] == "gain_capital")
    assert float(str(gain["high"])) < 0


def test_where_no_prefix_is_better_all_is_declined(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(
        monkeypatch, tmp_path, "prefix-repair", lambda _r, _t, right: str(right), limit=6, cut=FEW
    ).result
    assert found.reading.outcome.value == "unresolved"
    halves = [row for row in found.rows if "declined_share" in row]
    assert {row["declined_share"] for row in halves} == {1.0}


def test_a_null_effect_is_supported_no_more_often_than_its_level() -> None:
    rng = np.random.default_rng(11)
    n_runs, n_supported = 200, 0
    for _ in range(n_runs):
        passages, entities = rng.normal(size=(8, 1)), rng.normal(size=(2, 1, 10))
        right = rng.random((2, 2, 8, 10)) < 1 / (1 + np.exp(-(passages + entities)))
        found = [mean_record(d, rng, "x") for d in right[0].astype(float) - right[1]]
        adjusted = holm([float(str(c["p"])) for c in found])
        lows = [float(str(c["low"])) for c in found]
        n_supported += all(p <= 0.05 and low > 0 for p, low in zip(adjusted, lows, strict=True))
    assert n_supported <= n_runs * 0.05 + 3 * (n_runs * 0.05 * 0.95) ** 0.5


@pytest.mark.slow
def test_two_hundred_scripted_runs_without_an_effect_keep_the_level(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every prefix and every entity is harder or easier by itself; prose is no class apart."""
    names = [f"prose_permuted_{relation}" for relation in ("capital", "language12")]
    kept = tuple(c for c in declared_study("prefix-character").contrasts if c.name in names)
    lows = [f"contrasts.{name}.low > 0 and contrasts.{name}.p_holm <= 0.05" for name in names]
    whole: dict[str, Any] = {"contrasts": kept, "supported": " and ".join(lows)}
    listed = ", ".join(f"shuffled:128@{i}" for i in range(1, 9))
    cut = {
        "": {**whole, "refuted": "draws.repeats < 0"},
        "inputs": {"relations": ["capital", "language12"]},
        "protocol": {"batch": 256},
        "permuted": {"prefix": listed},
        "repeated": {"prefix": ""},
        "random": {"prefix": ""},
    }
    quick = {"cache": None, "beside": False}
    monkeypatch.setattr(asking, "ask", lambda *given, **named: ask(*given, **{**named, **quick}))
    n_runs, n_supported = 200, 0
    for number in range(n_runs):

        def uneven(request: Request, _text: str, right: str | None, number: int = number) -> str:
            item, _, condition = request.key
            at = ndtri([chance(number, condition), chance(number, item)]).sum()
            return str(right) if chance(number, request.key) < 1 / (1 + np.exp(-at)) else "the"

        found = run_on(monkeypatch, tmp_path, "prefix-character", uneven, limit=8, cut=cut)
        n_supported += found.result.reading.outcome.value == "supported"
    assert n_supported <= n_runs * 0.05 + 3 * (n_runs * 0.05 * 0.95) ** 0.5


def test_a_study_that_was_interrupted_goes_on_and_finds_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = 0

    def tires(request: Request, text: str, right: str | None) -> str:
        nonlocal asked
        asked += 1
        if asked == 30:
            raise KeyboardInterrupt
        return nothing_matters(request, text, right)

    given: dict[str, Any] = {"limit": 2, "cut": FEW}
    with pytest.raises(KeyboardInterrupt):
        run_on(monkeypatch, tmp_path / "a", "prefix-repair", tires, **given)
    resumed = run_on(monkeypatch, tmp_path / "a", "prefix-repair", nothing_matters, **given)
    whole = run_on(monkeypatch, tmp_path / "b", "prefix-repair", nothing_matters, **given)
    assert (resumed.result.rows, resumed.result.contrasts) == (
        whole.result.rows,
        whole.result.contrasts,
    )
    assert int(str(resumed.result.cost["cache_hits"])) > 0


def test_random_ids_are_left_out_behind_text_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(
        monkeypatch, tmp_path, "prefix-character", prose_helps, limit=2, kind=TextOnly
    ).result
    assert "not asked without token ids: random:128#1, random:128#2" in found.notes
    assert {row.get("class") for row in found.rows} >= {"prose", "permuted", "repeated", "none"}
