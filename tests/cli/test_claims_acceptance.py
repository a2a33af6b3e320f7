"""The acceptance lines about claims and gates, one after another, from the shell."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from trueness.api import means
from trueness.backends.embedders import CallableEmbedder
from trueness.cli import main

ROOT = Path(__file__).parents[2]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0, *(float(t.lower().count(c)) for c in LETTERS), float(len(t))] for t in texts]


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    use(monkeypatch, "1")


def use(monkeypatch: pytest.MonkeyPatch, revision: str) -> None:
    made = CallableEmbedder(letters, revision=revision)
    monkeypatch.setattr(means, "open_embedder", lambda *_, **__: made)


def rows(n: int) -> list[dict[str, Any]]:
    """Twins of n sources: a claim that its passages say, and one that they do not."""
    found: list[dict[str, Any]] = []
    for k in range(n):
        said = f"Runner {k} won race {k * 7} in town {k * 3}."
        passages = [said, f"The crowd of {k} cheered.", f"It was day {k % 9}."]
        for right, claim in ((True, said), (False, f"Zzz {k} xq jv{k % 5}")):
            found.append(
                {
                    "item": f"{k}{'+' if right else '-'}",
                    "source": f"s{k}",
                    "claim": claim,
                    "evidence": passages,
                    "label": "supported" if right else "unsupported",
                }
            )
    return found


def written(name: str, found: list[dict[str, Any]]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in found), "utf-8")
    return name


def ran(capsys: pytest.CaptureFixture[str], line: str, code: int = 0) -> str:
    """What a command says, on both channels, on one line."""
    capsys.readouterr()
    assert main(line.split()) == code, capsys.readouterr().err
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return " ".join((out + err).split())


CALIBRATE = "calibrate claims.jsonl --label label --group source --budget 0.05 --level 0.95"


@pytest.fixture
def gate(capsys: pytest.CaptureFixture[str]) -> str:
    written("claims.jsonl", rows(100))
    ran(capsys, f"{CALIBRATE} --unit source_one -o gate.json")
    return "gate.json"


def items(name: str) -> dict[str, Any]:
    found = json.loads(Path(name).read_text("utf-8"))
    return {i["item"]: i for i in found["per_item"]}


def test_ground_writes_a_reading_and_a_page_with_all_that_qualifies_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written("claims.jsonl", rows(12))
    ran(capsys, "ground claims.jsonl --group source --embedder embedded -o r.json -o r.html")
    reading = json.loads(Path("r.json").read_text("utf-8"))
    assert reading["fingerprint"]
    assert reading["details"]["states"] == {"MEASURED": 24}
    assert all(len(i["extra"]["influence"]) == 3 for i in reading["per_item"])
    html = Path("r.html").read_text("utf-8")
    for said in ("chance level", "States", "Blind to", "role swap", "influence", "of chance"):
        assert said in html, said


def test_one_emptied_evidence_changes_no_other_item_to_the_bit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = rows(12)
    written("claims.jsonl", found)
    written("emptied.jsonl", [*found[:5], {**found[5], "evidence": []}, *found[6:]])
    ran(capsys, "ground claims.jsonl --group source -o a.json")
    ran(capsys, "ground emptied.jsonl --group source -o b.json")
    before, after = items("a.json"), items("b.json")
    assert after.pop("2-")["state"] == "NO_EVIDENCE"
    assert before.pop("2-")["state"] == "MEASURED"
    assert before == after


def test_another_variant_has_another_fingerprint_and_no_threshold_of_this_one(
    gate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(capsys, "ground claims.jsonl --group source -o energy.json")
    ran(capsys, "ground claims.jsonl --group source --sensor energy.cone -o cone.json")
    prints = {json.loads(Path(n).read_text())["fingerprint"] for n in ("energy.json", "cone.json")}
    assert len(prints) == 2
    said = ran(capsys, f"gate cone.json --gate {gate}", 2)
    assert "this threshold was made with" in said
    assert "100 of 200 items are accepted" not in said


def test_a_permuted_copy_of_the_evidence_gives_identical_values_and_states(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = rows(12)
    orders = list(permutations(range(3)))
    turned = [
        {**row, "evidence": [row["evidence"][i] for i in orders[k % 6]]}
        for k, row in enumerate(found)
    ]
    written("claims.jsonl", found)
    written("turned.jsonl", turned[::-1])
    for name in ("claims", "turned"):
        ran(capsys, f"ground {name}.jsonl --group source -o {name}.json")
    one, two = items("claims.json"), items("turned.json")
    assert {k: (v["state"], v["value"]) for k, v in one.items()} == {
        k: (v["state"], v["value"]) for k, v in two.items()
    }


def test_calibrate_says_n_rank_threshold_guarantee_population_and_coverage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written("claims.jsonl", rows(100))
    said = ran(capsys, f"{CALIBRATE} --unit source_one -o gate.json")
    for part in (
        "from 100 sources, at most 0.05 of the unsupported are accepted",
        "negatives: as labelled; measured items; unit source_one",
        "accept below 0.",
        "n: 100, k: 2, guarantee: 0.96",
        "supported: accepted 100 of 100 [0.9",
        "unsupported: accepted ",
    ):
        assert part in said, part
    assert "null" not in said


def test_forty_items_are_too_few_and_the_numbers_say_how_many_are_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written("claims.jsonl", rows(40))
    said = ran(capsys, f"{CALIBRATE} --unit source_one -o gate.json", 2)
    assert "59 needed" in said
    assert "the smallest budget that 40 could carry is 0.072" in said
    assert "on average over calibrations, with no confidence" in said
    assert not Path("gate.json").exists()


def test_twins_are_no_independent_items(capsys: pytest.CaptureFixture[str]) -> None:
    written("claims.jsonl", rows(100))
    said = ran(capsys, f"{CALIBRATE} --unit item -o gate.json", 2)
    assert "items of one source are not independent" in said
    assert "source_one" in said


def test_a_trace_replays_and_a_digit_or_a_line_that_is_gone_is_named(
    gate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written("new.jsonl", rows(20))
    ran(capsys, f"gate new.jsonl --group source --gate {gate} -o decisions.jsonl")
    assert "40 decisions derived again, 0 problems" in ran(
        capsys, f"replay decisions.jsonl --gate {gate}"
    )
    lines = Path("decisions.jsonl").read_text("utf-8").splitlines()
    digit = next(i for i, c in enumerate(lines[6]) if c.isdigit() and lines[6][i - 1] == ".")
    changed = lines[6][:digit] + str((int(lines[6][digit]) + 1) % 10) + lines[6][digit + 1 :]
    for name, edited in (("digit", [*lines[:6], changed, *lines[7:]]), ("line", lines[1:])):
        Path(f"{name}.jsonl").write_text("\n".join(edited) + "\n", "utf-8")
        said = ran(capsys, f"replay {name}.jsonl --gate {gate}", 1)
        assert "row " in said
        assert "hash" in said or "chain" in said or "count" in said


def test_a_reading_of_another_embedder_is_refused_by_the_key(
    gate: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, "2")
    ran(capsys, "ground claims.jsonl --group source -o r.json")
    said = ran(capsys, f"gate r.json --gate {gate}", 2)
    assert 'embedder.revision = "1"; this reading has "2"' in said


def test_an_emptied_evidence_set_is_reviewed_by_its_state(
    gate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(20)
    written("new.jsonl", [{**found[0], "evidence": []}, *found[1:]])
    ran(capsys, f"gate new.jsonl --group source --gate {gate} -o d.jsonl")
    first = json.loads(Path("d.jsonl").read_text("utf-8").splitlines()[0])
    assert (first["item"], first["verdict"], first["rule"]) == ("0+", "review", "state")


def test_nothing_is_ever_pickled() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text("utf-8").replace("allow_pickle=False", "")
        assert "pickle" not in text, path
        assert "joblib" not in text, path
