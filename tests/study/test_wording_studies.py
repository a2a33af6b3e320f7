"""Wordings, system prompts, observables and lengths on planted models."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import run_on

from trueness.backends.protocol import Request
from trueness.contract.serial import Json
from trueness.extract import extractor_name
from trueness.study.asked import Asked
from trueness.study.partitions import certified_shares, part_of, reading_of
from trueness.study.results import Record, Result
from trueness.study.spent import Spent
from trueness.table import bundled_relation, read_answers


def row(result: Result, name: str) -> Record:
    return next(r for r in result.rows if r["name"] == name)


def contrast(result: Result, name: str) -> Record:
    return next(c for c in result.contrasts if c["name"] == name)


def number(value: Json) -> float:
    assert isinstance(value, int | float)
    return value


def chance(*parts: object) -> float:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4]) / 2**32


def template(request: Request) -> int:
    return int(request.key[0].rsplit("|", 1)[1])


def fused(request: Request, _text: str, right: str | None) -> str:
    """Each wording confuses others; behind the repeated word all say one thing."""
    if request.key[2].startswith("the"):
        return "the"
    return "Paris" if chance(request.key[0]) < 0.25 else str(right)


def test_wordings_that_recover_every_entity_support(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "templates-join", fused).result
    assert found.reading.outcome.value == "supported"
    capital = row(found, "capital_none")
    assert number(capital["m_0"]) < number(capital["m_join"]) == capital["n_join"]
    assert number(capital["a"]) >= number(capital["sum_of_single_columns"])
    assert row(found, "capital_the_128")["m_join"] == 1
    assert row(found, "capital_the_128")["decoded"] == 0.0


def test_one_collapsed_relation_refutes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = run_on(
        monkeypatch, tmp_path, "templates-join", lambda *_: "Paris", relations=["capital"], limit=4
    ).result
    assert found.reading.outcome.value == "refuted"


def sometimes_fails(request: Request, _text: str, right: str | None) -> str | None:
    return None if request.key[0].startswith("capital|") else fused(request, "", right)


def test_a_relation_with_missing_answers_is_left_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "templates-join", sometimes_fails, limit=6).result
    assert found.reading.outcome.value == "unresolved"
    assert contrast(found, "behind_the")["open"] == 1


def abstains(request: Request, _text: str, right: str | None) -> str:
    cautious = "cautious" in request.key[2]
    return "unknown country" if cautious else str(right)


def keeps(_request: Request, _text: str, right: str | None) -> str:
    return str(right)


def test_a_prompt_that_merges_answers_supports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "system-prompts", abstains, limit=10).result
    assert found.reading.outcome.value == "supported"
    assert contrast(found, "accuracy_cautious")["estimate"] == -1.0
    assert contrast(found, "certified_json")["estimate"] == 0.0
    merged = row(found, "capital_system_cautious")
    assert merged["pairs_merged"] == 45
    assert merged["entropy"] == 0.0


def test_a_prompt_that_tells_answers_apart_refutes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def opens_up(request: Request, _text: str, right: str | None) -> str:
        return str(right) if "cautious" in request.key[2] else "Paris"

    found = run_on(monkeypatch, tmp_path, "system-prompts", opens_up, limit=8).result
    assert found.reading.outcome.value == "refuted"


def test_refusals_are_outcomes_and_no_orbit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuses(request: Request, _text: str, right: str | None) -> str:
        refusal = "I'm sorry, but I cannot answer that."
        return refusal if "cautious" in request.key[2] else str(right)

    found = run_on(
        monkeypatch, tmp_path, "system-prompts", refuses, relations=["capital"], limit=5
    ).result
    refused = row(found, "capital_system_cautious")
    assert (refused["refused"], refused["n_orbits"]) == (5, 0)
    assert found.reading.outcome.value == "unresolved"


def test_a_prompt_that_changes_nothing_is_unresolved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = run_on(monkeypatch, tmp_path, "system-prompts", keeps, limit=3).result
    assert found.reading.outcome.value == "unresolved"


def test_first_tokens_of_right_answers_do_not_refute_but_support_where_they_are_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def beginning(_request: Request, _text: str, right: str | None) -> str:
        return str(right)

    found = run_on(monkeypatch, tmp_path / "a", "observable-choice", beginning, limit=6).result
    assert found.reading.outcome.value == "refuted"
    assert {r["observable"] for r in found.rows} == {"first_token", "four_tokens", "extracted"}

    def preamble(request: Request, _text: str, right: str | None) -> str:
        return "the" if request.max_tokens == 1 else str(right)

    found = run_on(monkeypatch, tmp_path / "b", "observable-choice", preamble, limit=6).result
    assert found.reading.outcome.value == "supported"
    assert number(contrast(found, "first_token_above_string")["graded_otherwise"]) > 0


def prose_differs(request: Request, _text: str, right: str | None) -> str:
    return "the" if request.key[2].startswith("shuffled") else str(right)


def length_matters(request: Request, _text: str, right: str | None) -> str:
    tokens = int(request.key[2].partition(":")[2].partition("@")[0] or 0)
    return str(right) if tokens <= 32 else "the"


def _listed(kind: str) -> dict[str, str]:
    words = [f"{kind}:{tokens}@{i}" for tokens in (32, 64, 128) for i in range(1, 9)]
    return {"prefix": ", ".join(words)}


SHORT = {"prose": _listed("prose"), "permuted": _listed("shuffled")}
"""Lengths that every passage has in words too."""


def test_length_and_character_that_move_a_third_of_the_answers_decide_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def blurred(request: Request, _text: str, right: str | None) -> str:
        return str(right) if chance(request.key[0], request.key[2][-1]) < 0.6 else "the"

    found = run_on(monkeypatch, tmp_path, "prefix-length", blurred, cut=SHORT, limit=6).result
    assert found.reading.outcome.value == "unresolved"


def test_character_without_length_supports_and_length_refutes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few: dict[str, Any] = {"cut": SHORT, "limit": 8}
    found = run_on(monkeypatch, tmp_path / "a", "prefix-length", prose_differs, **few).result
    assert found.reading.outcome.value == "supported"
    assert row(found, "capital_shuffled_32_1")["adjusted_rand_is_degenerate"] is True
    found = run_on(monkeypatch, tmp_path / "b", "prefix-length", length_matters, **few).result
    assert found.reading.outcome.value == "refuted"
    assert number(contrast(found, "slope")["estimate"]) < -0.2


def test_shares_of_an_orbit_add_up_to_what_is_certified() -> None:
    relation = bundled_relation("capital").first(6)
    said = ["paris", "paris", "paris", "berlin", "nowhere", None]
    rows: list[dict[str, Any]] = [
        {
            "item": f"capital|{e}|0",
            "entity": e,
            "relation": "capital",
            "template": "t",
            "condition": "none",
            "target": list(g),
        }
        for e, a, g in zip(relation.entities, said, relation.golds, strict=True)
    ]
    answered = [
        {**r, "answer": a, "outcome": "answered" if a else "no_answer"}
        for r, a in zip(rows, said, strict=True)
    ]
    keyed = [{**r, "target": [g.casefold() for g in r["target"]]} for r in answered]
    table = replace(read_answers(keyed), extractor=extractor_name("short_cut"))
    shares = certified_shares(table, relation, relation.entities)
    certified = reading_of(table, relation).details["certified_errors"]
    assert certified == pytest.approx(float(np.nansum(shares)))
    asked = Asked(table, {"capital": relation}, {"none": "none"}, {}, (), Spent(), ())
    assert len(part_of(asked, "capital", "none")) == 6
