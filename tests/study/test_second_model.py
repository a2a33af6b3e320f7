"""A second model stands beside the first: same questions, own rows, no say in the outcome."""

from pathlib import Path
from typing import Any

import pytest
from planted import run_on

from trueness.backends.protocol import Request
from trueness.contract.errors import InputError
from trueness.study import asked, inside_inputs
from trueness.study.asked import declared_relations
from trueness.study.carrying_out import carry_out
from trueness.study.declarations import declared_study
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.second_model import joined, of_model


def repaired(request: Request, _text: str, right: str | None) -> str:
    return str(right) if request.key[2] == "prose:128@3" else "Paris"


def broken(request: Request, _text: str, right: str | None) -> str:
    return str(right) if request.key[2] == "none" else "Paris"


def test_the_second_model_has_rows_and_contrasts_and_no_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few: dict[str, Any] = {"limit": 10, "cut": {"draws": {"splits": 8}}}
    alone = run_on(monkeypatch, tmp_path / "a", "prefix-repair", repaired, **few).result
    carried = run_on(monkeypatch, tmp_path / "b", "prefix-repair", repaired, second=broken, **few)
    both = carried.result
    assert both.reading == alone.reading
    assert of_model(both.rows, "scripted:garbage") == alone.rows
    ours, theirs = (
        [r for r in both.rows if r["model"] == f"scripted:{n}"] for n in ("garbage", "echo")
    )
    assert [f"second_{r['name']}" for r in ours] == [r["name"] for r in theirs]
    gain = next(c for c in both.contrasts if c["name"] == "gain_capital")
    beside = gain["second_model"]
    assert isinstance(beside, dict)
    assert {k: v for k, v in gain.items() if k != "second_model"} == alone.contrasts[0]
    assert beside["estimate"] == 0.0
    assert beside["p_holm"] == 1.0
    drawn = both.draws["second_model"]
    assert isinstance(drawn, dict)
    assert drawn["reading"] == "unresolved"
    assert any(n.startswith("second model scripted:echo: unresolved") for n in both.notes)
    assert both.cost["requests"] == 2 * int(str(alone.cost["requests"]))
    n_rows = sum(map(len, declared_relations(declared_study("prefix-repair"), 10).values())) * 9
    assert len(carried.table) == 2 * n_rows
    assert len(of_model(carried.table, "scripted:echo")) == n_rows


@pytest.mark.parametrize("name", ["nope", "scripted:nope", "gguf:nope.gguf", "replay:nope"])
@pytest.mark.parametrize("study", ["checkpoint-atlas", "prefix-repair", "width-frame"])
def test_no_model_is_asked_beside_one_that_there_is_not(
    study: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(name: str, *_given: object, **_more: object) -> Any:
        raise AssertionError(name)

    for module in (asked, inside_inputs):
        monkeypatch.setattr(module, "open_model" if module is asked else "open_white_box", opened)
    with pytest.raises(InputError, match="nope"):
        carry_out(study, inputs=Inputs(second_model=name), limit=2)


@pytest.mark.parametrize("first", [None, "scripted:right"])
@pytest.mark.parametrize("study", ["checkpoint-atlas", "prefix-repair", "width-frame"])
def test_one_model_is_not_two(study: str, first: str | None) -> None:
    second = first or str(declared_study(study).table("inputs")["model"])
    inputs = Inputs(model=first, second_model=second)
    with pytest.raises(InputError, match=f"the second model is {second}, as the first is"):
        carry_out(study, inputs=inputs, limit=2)


def test_a_second_model_that_cannot_be_asked_says_so() -> None:
    declaration = declared_study("prefix-repair")
    first = Found(rows=({"name": "a"},), contrasts={}, draws={}, model={"model": "one"})
    empty = {c.name: {"n": 0} for c in declaration.contrasts}
    second = Found(rows=(), contrasts=empty, draws={}, notes=("why",), not_applicable="why")
    found = joined(declaration, first, second, name="two")
    assert found.draws["second_model"] == {"reading": "not_applicable"}
    assert found.notes == (
        "second model two: not_applicable by the same expressions; it decides nothing",
        "second model: why",
    )
    assert found.not_applicable is None
    lost = joined(declaration, Found((), {}, {}, not_applicable="no"), second, name="two")
    assert lost.not_applicable == "no"


def test_what_the_first_model_said_survives_a_second_that_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path))
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    said = list[str]()
    found = carry_out(
        "prefix-repair",
        inputs=Inputs(model="scripted:right", second_model=f"gguf:{broken}"),
        limit=2,
        progress=said.append,
    ).result
    assert found.reading.outcome.value == "unresolved"
    assert found.contrasts[0]["estimate"] == 0.0
    assert any(line.startswith("the second model was not asked: ") for line in said)
    notes = [n for n in found.notes if n.startswith("second model")]
    assert notes[0].startswith("second model gguf:broken.gguf: not_applicable")
    assert "GGUF" in notes[1]


def test_one_file_under_two_names_is_one_model() -> None:
    declaration = declared_study("prefix-repair")
    one, other = (
        Found((), {}, {}, model={"model": m, "backend": "b", "file_hash": "0"})
        for m in ("embedded", "gguf:same.gguf")
    )
    with pytest.raises(InputError, match=r"the second model is gguf:same\.gguf, as the first is"):
        joined(declaration, one, other, name="gguf:same.gguf")


def test_the_record_names_a_models_file_without_its_folder() -> None:
    given = Inputs(model="gguf:/some/where/m.gguf", second_model="openai:a/b").given()
    assert given == {"model": "gguf:m.gguf", "second_model": "openai:a/b"}
