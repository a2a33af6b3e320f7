"""A result is strict JSON out and in; a declaration is checked before anything runs."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trueness.contract.errors import CannotSerialise, InputError
from trueness.study import carrying_out
from trueness.study.carrying_out import carry_out, decide
from trueness.study.declarations import (
    Declaration,
    declared_studies,
    declared_study,
    parse_declaration,
)
from trueness.study.expressions import Evaluated, evaluate, look_up, paths_of
from trueness.study.found import Found
from trueness.study.levels import BEYOND, OPEN, WITHIN, Claim, Judge
from trueness.study.provenance import Code, code_of, machine
from trueness.study.results import (
    SCHEMA,
    Decisive,
    Outcome,
    Result,
    read_result,
    result_from,
    write_result,
)
from trueness.study.runners import RUNNERS
from trueness.study.task import Task

if TYPE_CHECKING:
    from trueness.contract.serial import Json

RESULT = Result(
    study="a-study",
    declaration_sha256="0" * 64,
    schema=SCHEMA,
    commit="abc",
    dirty=False,
    partial=False,
    versions={"python": "3"},
    utc="2026-01-01T00:00:00+00:00",
    machine={"cores": 2, "device": "cpu"},
    model=None,
    seeds=(0,),
    draws={"repeats": 3},
    rows=({"name": "null_25", "n": 3},),
    contrasts=({"name": "exact", "beyond": 0},),
    published=(),
    reading=Decisive(
        Outcome.SUPPORTED,
        (
            Evaluated("contrasts.exact.beyond == 0", {"contrasts.exact.beyond": 0}, holds=True),
            Evaluated("contrasts.exact.beyond > 0", {"contrasts.exact.beyond": 0}, holds=False),
        ),
    ),
    cost={"seconds": 0.5},
    notes=(),
)
TEXT = """
id = "one"
question = "Is it so?"
revisits = "a claim"
status = "primary"
[simulation]
repeats = 10
[[contrast]]
name = "c"
a = "seen"
b = "promised"
statistic = "rate"
unit = "run"
primary = true
[reading]
supported = "contrasts.c.beyond == 0"
refuted = "contrasts.c.beyond > 0"
[budget]
seconds = 1
requests = 0
"""


def parsed(text: str) -> Declaration:
    return parse_declaration(text.encode())


def test_a_result_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    path = write_result(RESULT, tmp_path / "results" / "a-study.json")
    assert read_result(path) == RESULT
    assert json.loads(path.read_text("utf-8"))["reading"]["outcome"] == "supported"


def test_no_number_that_is_not_finite_leaves_in_a_result() -> None:
    with pytest.raises(CannotSerialise, match="cost"):
        replace(RESULT, cost={"seconds": float("nan")}).to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"schema": SCHEMA + 1},
        {"schema": True},
        {"more": 1},
        {"rows": {}},
        {"dirty": "no"},
        {"reading": {"outcome": "supported"}},
        {"reading": {"outcome": "proved", "expressions": []}},
        {"reading": {"outcome": "refuted", "expressions": [3]}},
    ],
)
def test_a_record_that_is_no_result_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InputError):
        result_from({**RESULT.to_dict(), **change})  # type: ignore[dict-item] # a wrong value on purpose


@pytest.mark.parametrize(
    "change",
    [
        {"notes": [None]},
        {"seeds": ["a"]},
        {"rows": [None]},
        {"data": [None]},
        {"published": [1]},
        {"contrasts": [None]},
        {"contrasts": [{"estimate": 1.0}]},
        {"contrasts": [{"name": "a", "estimate": 10**400}]},
        {"contrasts": [{"name": "a", "low": float("inf")}]},
        {"cost": {"seconds": 10**400}},
        {"contrasts": [{"name": "exact", "beyond": 0, "estimate": "abc"}]},
        {"contrasts": [{"name": "exact", "beyond": 0, "p_holm": [0.1]}]},
        {"contrasts": [{"name": "exact", "beyond": 0, "low": True}]},
        {"contrasts": [{"name": "exact", "beyond": 0, "primary": "yes"}]},
    ],
)
def test_a_record_with_an_entry_that_was_edited_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InputError, match="Run the study again"):
        result_from({**RESULT.to_dict(), **change})  # type: ignore[dict-item] # a wrong value on purpose


def read_as(outcome: str, *edited: tuple[int, str, object]) -> dict[str, object]:
    """The reading of the result above, with fields of its expressions edited."""
    reading: dict[str, Any] = json.loads(json.dumps(RESULT.to_dict()["reading"]))
    for place, name, value in edited:
        reading["expressions"][place][name] = value
    return {"reading": {**reading, "outcome": outcome}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (read_as("refuted"), "the outcome of a result is refuted, and its expressions say supp"),
        (read_as("not_applicable"), "is not_applicable, and its expressions say supported"),
        (read_as("unresolved"), "is unresolved, and its expressions say supported"),
        (read_as("unresolved", (0, "holds", False)), "does not hold .* by its contrasts it holds"),
        (
            read_as("refuted", (0, "holds", False), (1, "holds", True)),
            "does not hold .* by its contrasts it holds",
        ),
        (read_as("supported", (0, "values", {})), "by its contrasts it holds"),
        ({"contrasts": [{"name": "exact", "beyond": 2}]}, "by its contrasts it does not hold"),
        ({"reading": {"outcome": "refuted", "expressions": []}}, "say not_applicable"),
    ],
)
def test_an_outcome_that_does_not_follow_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        result_from({**RESULT.to_dict(), **change})  # type: ignore[dict-item] # edited on purpose


def test_a_record_that_lacks_its_notes_is_refused() -> None:
    record = RESULT.to_dict()
    del record["notes"]
    with pytest.raises(InputError, match="notes"):
        result_from(record)


@pytest.mark.parametrize("text", ['{"a": NaN}', "[]", "{", ""])
def test_a_file_that_is_no_result_is_one_clear_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read_result(path)


def test_only_a_whole_run_of_committed_code_may_be_cited() -> None:
    assert RESULT.citable
    assert not replace(RESULT, dirty=True).citable
    assert not replace(RESULT, partial=True).citable
    assert not replace(RESULT, commit=None, dirty=None).citable


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_code_says_its_commit_and_whether_it_differs(tmp_path: Path) -> None:
    package = tmp_path / "src" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "one.json").write_text("1")
    git(tmp_path, "init", "-q")
    assert code_of(package) == Code(None, None)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    clean = Code(git(tmp_path, "rev-parse", "HEAD"), dirty=False)
    assert code_of(package) == clean
    (tmp_path / "results" / "one.json").write_text("2")
    (tmp_path / "scratch.txt").write_text("not of the package")
    assert code_of(package) == clean
    (package / "new.py").write_text("x = 1")
    assert code_of(package) == replace(clean, dirty=True)
    (package / "new.py").unlink()
    (package / "__init__.py").write_text("x = 1")
    assert code_of(package) == replace(clean, dirty=True)


def test_the_machine_is_not_named() -> None:
    assert set(machine()) == {"cores", "device"}


def test_a_path_finds_by_key_place_and_name() -> None:
    record = RESULT.to_dict()
    assert look_up(record, "rows.null_25.n") == look_up(record, "rows.0.n") == 3
    for path in ("rows.1", "rows.absent.n", "cost.seconds.more", "nowhere", ""):
        with pytest.raises(InputError, match="leads to no field"):
            look_up(record, path)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("a.n == 3", True),
        ("a.n != 3 or a.x < 0.5", True),
        ("a.n > 3 and a.x < 0.5 or a.x >= 0.25", True),
        ("a.n > 2 and a.x <= 0.2", False),
        ("a.x > -1e-3", True),
    ],
)
def test_expressions_compare_fields_with_numbers(expression: str, holds: bool) -> None:  # noqa: FBT001 - a case
    found = evaluate(expression, {"a": {"n": 3, "x": 0.25}})
    assert found.holds is holds
    assert set(found.values) == set(paths_of(expression))


@pytest.mark.parametrize(
    "text", ["", "a", "a.n == b.n", "__import__('os')", "a.n > 1 and", "1 < 2"]
)
def test_what_is_no_comparison_of_a_field_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        evaluate(text, {"a": {"n": 3}})


def test_every_declaration_that_comes_along_is_valid_and_can_be_run() -> None:
    assert set(declared_studies()) == set(RUNNERS)
    for name in declared_studies():
        assert declared_study(name).id == name


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "one"', 'id = "one"\ncolour = "red"', "colour"),
        ("repeats = 10", "repeats = 10\nspeed = 3", "speed"),
        ("repeats = 10", "repeats = 0", "repeats is 0"),
        ("repeats = 10", 'repeats = "ten"', "repeats is 'ten'"),
        ("repeats = 10", "repeats = true", "repeats is True"),
        ('status = "primary"', 'status = "sure"', "sure"),
        ("primary = true", "primary = false", "primary"),
        ('b = "promised"', 'b = "seen"', "itself"),
        ('question = "Is it so?"', "", "question"),
        ("contrasts.c.beyond > 0", "it is so", "it is so"),
        ("contrasts.c.beyond > 0", "contrasts.d.beyond > 0", "declared contrast"),
        ("contrasts.c.beyond > 0", "rows.0.n > 0", "declared contrast"),
        ("[[contrast]]", "[contrast]", "contrast"),
        ("[reading]", "[reading", "TOML"),
    ],
)
def test_a_declaration_that_says_something_else_is_refused(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=said):
        parsed(TEXT.replace(old, new, 1))


def test_the_hash_of_a_declaration_is_that_of_its_text() -> None:
    assert parsed(TEXT).sha256 != parsed(TEXT + "\n").sha256


def test_a_study_that_nobody_declared_is_named_with_those_that_are() -> None:
    with pytest.raises(InputError, match="atlas-intervals"):
        declared_study("no-such-study")


def test_no_outcome_is_given_where_neither_expression_or_both_hold() -> None:
    said = parsed(TEXT)
    assert decide(said, {"contrasts": [{"name": "c", "beyond": 0}]}).outcome is Outcome.SUPPORTED
    assert decide(said, {"contrasts": [{"name": "c", "beyond": 2}]}).outcome is Outcome.REFUTED
    for refuted in ("contrasts.c.beyond > 5", "contrasts.c.beyond >= 1"):
        other = replace(said, supported="contrasts.c.beyond == 1", refuted=refuted)
        seen = 1 if ">=" in refuted else 2
        found = decide(other, {"contrasts": [{"name": "c", "beyond": seen}]})
        assert found.outcome is Outcome.UNRESOLVED
    with pytest.raises(InputError, match="leads to no field"):
        decide(said, {"contrasts": []})


@pytest.mark.parametrize(("count", "finding"), [(50, WITHIN), (90, BEYOND), (0, WITHIN)])
def test_an_error_is_beyond_its_level_only_when_its_interval_is(count: int, finding: str) -> None:
    judge = Judge(0.9973, 0.05)
    record = judge.record(Claim("a", "c", 0.05), count, 1000)
    assert record["finding"] == finding
    mirrored = judge.record(Claim("a", "c", 0.95, error=False), 1000 - count, 1000)
    assert mirrored["finding"] == finding


def test_few_runs_leave_a_rate_open() -> None:
    assert Judge(0.9973, 0.05).record(Claim("a", "c", 0.05), 0, 12)["finding"] == OPEN


def planted(beyond: int, monkeypatch: pytest.MonkeyPatch) -> Result:
    def run(task: Task) -> Found:
        record: dict[str, Json] = {"n": 9, "beyond": beyond, "open": 0, "where": []}
        contrasts = {c.name: record for c in task.declaration.contrasts}
        return Found((), contrasts, {"repeats": 1})

    monkeypatch.setattr(carrying_out, "runner_of", lambda _: run)
    return carry_out("atlas-intervals").result


@pytest.mark.parametrize(("beyond", "outcome"), [(0, "supported"), (1, "refuted")])
def test_the_declared_outcome_comes_out(
    beyond: int, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = planted(beyond, monkeypatch)
    assert result.reading.outcome.value == outcome
    assert result.declaration_sha256 == declared_study("atlas-intervals").sha256


@pytest.mark.parametrize("given", [{"limit": 0}, {"seed": -1}])
def test_a_limit_or_seed_below_its_least_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(InputError, match="wanted"):
        carry_out("atlas-intervals", limit=given.get("limit"), seed=given.get("seed"))
