"""Fresh logs of the tools as they are released today, written by them and read by us."""

import os
import runpy
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, read_answers
from trueness.table.logs.archive import ZSTD, Archive
from trueness.table.logs.lm_eval import by_document, log_probabilities

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("TRUENESS_TOOLS", ROOT / ".venv" / "tools"))
"""Where each tool has an environment of its own; made when it is not there."""
MAKER = Path(__file__).with_name("make_logs.py")
MADE = runpy.run_path(str(MAKER))
QUESTIONS: dict[str, tuple[str, str]] = MADE["QUESTIONS"]
ANSWERS: dict[str, tuple[str, ...]] = MADE["ANSWERS"]
ITEMS = [(name, epoch) for name in sorted(QUESTIONS) for epoch in range(1, 5)]
PLAIN = [(name, epoch, ANSWERS[name][epoch - 1]) for name, epoch in ITEMS]


def logs_of(tool: str, package: str, folder: Path) -> Path:
    """What the newest release of a tool writes."""
    python = TOOLS / tool / "bin" / "python"
    if not python.exists():
        venv.create(TOOLS / tool, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--upgrade", package]
    subprocess.run(install, check=True)
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), "HOME": str(folder / "home")}
    subprocess.run(
        [str(python), str(MAKER), tool, str(folder / "logs")],
        check=True,
        env={**os.environ, **quiet},
        stdout=subprocess.DEVNULL,
        stderr=sys.stderr,
    )
    return folder / "logs"


@pytest.fixture(scope="module")
def inspect_ai(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logs_of("inspect_ai", "inspect_ai", tmp_path_factory.mktemp("inspect_ai"))


@pytest.fixture(scope="module")
def lm_eval(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logs_of("lm_eval", "lm_eval", tmp_path_factory.mktemp("lm_eval"))


def drawn(table: AnswerTable) -> list[tuple[object, ...]]:
    assert table.completion is not None
    columns = [table.item.values(), table.epoch.tolist(), table.completion.values()]
    return list(zip(*columns, strict=True))


def outcomes(table: AnswerTable) -> dict[tuple[object, int], tuple[str, str | None]]:
    found: dict[tuple[object, int], tuple[str, str | None]] = {}
    for i in range(len(table)):
        key = (table.item[i], int(table.epoch[i]))
        found[key] = (OUTCOMES[table.outcome[i]].value, table.reason[i])
    return found


def facts(table: AnswerTable, condition: str = "none") -> dict[str, object]:
    return dict(table.protocols[condition].fields)


def test_inspect_writes_the_same_draws_in_every_form(inspect_ai: Path) -> None:
    packed = {m.method for m in Archive.open(next((inspect_ai / "plain").glob("*"))).members}
    assert packed == {ZSTD}
    tables = [read_answers(inspect_ai / name) for name in ("plain", "plain_json", "chunked")]
    assert [drawn(t) for t in tables] == [PLAIN] * 3
    assert tables[0].protocols == tables[1].protocols == tables[2].protocols
    hashes = [t.extras["prompt_hash"].values() for t in tables]
    assert hashes[0] == hashes[1]
    assert all(t.completed and t.planned == {"none": 4} and not t.notes for t in tables)
    targets = [t.target.values() for t in tables if t.target is not None]
    assert targets == [[(QUESTIONS[name][1],) for name, _ in ITEMS]] * 3


def test_inspect_tells_its_protocol(inspect_ai: Path) -> None:
    table = read_answers(inspect_ai / "plain")
    found = facts(table)
    assert found["temperature"] == 0.7
    assert (found["model"], found["task"]) == ("mockllm/model", "sums")
    assert table.log is not None
    assert table.log.version
    other = read_answers(inspect_ai / "other_model")
    assert table.protocols["none"].differences(other.protocols["none"]) == ("model",)


def test_inspect_without_sampling_is_one_draw(inspect_ai: Path) -> None:
    for name in ("cold", "cached"):
        table = read_answers(inspect_ai / name)
        assert facts(table)["independent_draws"] is False
        assert "repeats drawn without sampling: one effective draw an item." in table.notes


def test_inspect_errors_stops_and_reasoning_are_told_apart(inspect_ai: Path) -> None:
    table = read_answers(inspect_ai / "traps")
    found = outcomes(table)
    assert found["a", 1][0] == "error"
    assert "the server is down" in str(found["a", 1][1])
    assert found["3", 1] == ("error", "content_filter")
    assert found["b/2", 2] == ("no_answer", "reasoning_only")
    texts = {(i, e): t for i, e, t in drawn(table)}
    assert texts["b/2", 1] == "The answer is -5."
    assert str(texts["3", 2]).endswith("The answer is 4.")
    stops = dict(
        zip([r[:2] for r in drawn(table)], table.extras["stop_reason"].values(), strict=True)
    )
    assert stops["a", 2] == "length"


def test_inspect_scorers_are_kept_by_name(inspect_ai: Path) -> None:
    extras = read_answers(inspect_ai / "scorers").extras
    assert {"tool_score:match", "tool_score:includes"} <= set(extras)


def test_inspect_retries_are_one_run(inspect_ai: Path) -> None:
    assert len(list((inspect_ai / "retried").glob("*.eval"))) > 1
    table = read_answers(inspect_ai / "retried")
    assert drawn(table) == PLAIN
    assert table.completed
    assert table.conditions == ("none",)


def test_an_inspect_run_that_was_killed_is_read_as_far_as_it_got(inspect_ai: Path) -> None:
    table = read_answers(inspect_ai / "killed")
    assert not table.completed
    assert 0 < len(table) < 12
    assert set(drawn(table)) < set(PLAIN)
    assert any("run was started" in note for note in table.notes)


def numbered(rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The same rows with the document's position as item."""
    positions = {name: str(i) for i, name in enumerate(QUESTIONS)}
    return sorted((positions[str(r[0])], *r[1:]) for r in rows)


def test_lm_eval_filters_are_one_set_of_draws(lm_eval: Path) -> None:
    table = read_answers(only(lm_eval / "all", "samples_hot_*.jsonl"))
    assert drawn(table) == numbered(PLAIN)
    assert table.log is not None
    assert table.log.dropped == {"line of another filter": 3}
    assert table.log.version
    assert table.planned == {"none": 4}
    found = facts(table)
    assert (found["temperature"], found["max_tokens"], found["num_fewshot"]) == (0.7, 64, 0)
    assert (found["task"], found["task_version"], found["model"]) == ("hot", 2.0, "mocked")
    assert "independent_draws" not in found
    assert not table.notes


def test_lm_eval_hashes_are_those_that_we_make(lm_eval: Path, tmp_path: Path) -> None:
    path = only(lm_eval / "all", "samples_hot_*.jsonl")
    bare = tmp_path / "bare.jsonl"
    bare.write_text(path.read_text("utf-8").replace('_hash": "', '_was": "'), encoding="utf-8")
    one, two = read_answers(path), read_answers(bare)
    for name in ("doc_hash", "prompt_hash"):
        assert one.extras[name].values() == two.extras[name].values()
    assert by_document(one).item.values() == one.extras["doc_hash"].values()


def test_lm_eval_without_sampling_is_one_draw(lm_eval: Path) -> None:
    cold = read_answers(only(lm_eval / "all", "samples_cold_*.jsonl"))
    assert facts(cold)["independent_draws"] is False
    warm = read_answers(only(lm_eval / "all", "samples_warm_*.jsonl"))
    assert "independent_draws" not in facts(warm)
    for name in ("cached", "cached_again"):
        table = read_answers(lm_eval / name)
        assert facts(table, "warm")["independent_draws"] is False
        assert "independent_draws" not in facts(table, "hot")
    again = read_answers(only(lm_eval / "cached_again", "samples_warm_*.jsonl"))
    assert len(set(drawn(again))) == 12
    assert len({(r[0], r[2]) for r in drawn(again)}) == 3  # each repeat came from the cache
    dummy = read_answers(lm_eval / "dummy")
    assert any("served from a cache?" in note for note in dummy.notes)


def test_lm_eval_lists_of_golds_and_missing_responses(lm_eval: Path) -> None:
    table = read_answers(only(lm_eval / "all", "samples_many_*.jsonl"))
    assert table.target is not None
    assert table.target[0] == ("1,234", "x")
    assert ("2", 3, "None") in drawn(table)
    assert any("are the text 'None'" in note for note in table.notes)


def test_lm_eval_scored_choices_are_no_cloud(lm_eval: Path) -> None:
    path = only(lm_eval / "all", "samples_choice_*.jsonl")
    with pytest.raises(InputError, match="no text was sampled"):
        read_answers(path)
    assert log_probabilities(path) == dict.fromkeys("012", (-3.0, -2.0, -6.0))


def test_lm_eval_tasks_of_one_folder_are_conditions(lm_eval: Path) -> None:
    table = read_answers(lm_eval / "all")
    assert table.conditions == ("cold", "hot", "many", "warm")
    assert any("hold no sampled text and are left out" in note for note in table.notes)


def only(folder: Path, pattern: str) -> Path:
    (path,) = folder.rglob(pattern)
    return path
