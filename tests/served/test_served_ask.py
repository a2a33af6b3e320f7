"""`trueness ask` against a server that does what servers do, as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from http_server import KEY, Act, Script, as_json, chat, good, is_probe, question, serving

from trueness.backends import open_model
from trueness.collect import Quiz
from trueness.collect import ask as run

COMMAND = [sys.executable, "-m", "trueness"]
FAST = ("-M", "backoff=0.01", "--no-progress", "--no-cache")
CHECKED = 5
"""Prompts of one length that are asked again: the first, the last, and three more."""
ENTITIES = [f"place {i:03d}" for i in range(60)]


def start(cwd: Path, url: str, *more: str) -> "subprocess.Popen[str]":
    relation = cwd / "relation.json"
    if not relation.exists():
        known = {
            "schema": 1,
            "name": "made",
            "kind": "injective",
            "templates": ["The mark of {e} is"],
            "identity": {},
            "entities": ENTITIES,
            "golds": [f"mark {i:03d}" for i in range(60)],
        }
        relation.write_text(json.dumps(known))
    argv = ("ask", "--relation-file", "relation.json", "--model", "openai:tiny", "-o", "t.jsonl")
    return subprocess.Popen(
        [*COMMAND, *argv, "--model-base-url", url, *FAST, *more],
        cwd=cwd,
        env={**os.environ, "OPENAI_API_KEY": KEY, "TRUENESS_CACHE_DIR": str(cwd / "cache")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ask(cwd: Path, url: str, *more: str, code: int = 0) -> str:
    with start(cwd, url, *more) as child:
        out, err = child.communicate(timeout=120)
    assert child.returncode == code, (out, err)
    assert "Traceback" not in err
    assert KEY not in out + err
    return out + err


def rows(cwd: Path) -> list[dict[str, Any]]:
    lines = (cwd / "t.jsonl").read_text("utf-8").splitlines()[1:]
    last = {(row["item"], row["epoch"], row["condition"]): row for row in map(json.loads, lines)}
    return list(last.values())


def no_key_in(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        raw = path.read_bytes()
        assert KEY.encode() not in raw, path
        assert b"Bearer" not in raw, path


def marked(script: Script, body: Mapping[str, Any]) -> Act:
    """The mark of a place is the number that it has."""
    del script
    return chat(f"mark {question(body)[-6:-3]}") if "place" in question(body) else chat("x")


def slowly(seconds: float) -> Any:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        return Act(body=marked(script, body).body, delay=0.0 if is_probe(body) else seconds)

    return behave


def everything_wrong(script: Script, body: Mapping[str, Any]) -> Act:
    """Each third question has a fault of its own the first time or two; one never passes."""
    right = marked(script, body)
    if is_probe(body):
        return right
    number = int(question(body)[-6:-3])
    if number == 33:
        return as_json({"error": {"message": f"you sent Bearer {KEY}"}}, 500)
    if number % 3 or script.nth(body) > 2:
        return right
    faults = (
        as_json({}, 429, Retry_After="0.05"),
        as_json({"error": {"message": f"key {KEY} is slow"}}, 503),
        Act(body=right.body, drip=0.05),
        Act(body=b'{"choices": [', length=400),
        Act(body=b"{"),
        Act(hang_up=True),
        as_json({"choices": []}),
        Act(body=right.body, delay=1.2),
    )
    return faults[(number // 3) % len(faults)]


def test_no_row_is_lost_whatever_the_server_does_and_the_key_is_nowhere(tmp_path: Path) -> None:
    with serving(everything_wrong) as script:
        said = ask(tmp_path, script.url, "--timeout", "0.8", "--max-retries", "4", "-j", "16")
    found = {row["entity"]: row for row in rows(tmp_path)}
    assert set(found) == set(ENTITIES)
    failed = found.pop("place 033")
    assert (failed["outcome"], failed["reason"], failed["attempts"]) == ("error", "http_500", 5)
    assert failed["completion"] is None
    assert all(row["answer"] in row["target"] for row in found.values())
    assert max(row["attempts"] for row in found.values()) == 3
    assert "60 rows in t.jsonl: 60 asked" in said
    assert "1 error (1 http_500)" in said
    no_key_in(tmp_path)


def faulty(script: Script, body: Mapping[str, Any]) -> Act:
    """Faults that depend on the question and on how often it was asked, and on nothing else."""
    right = marked(script, body)
    if is_probe(body):
        return right
    number, nth = int(question(body)[-6:-3]), script.nth(body)
    faults = (
        right,
        as_json({}, 429, Retry_After="0"),
        Act(body=b"{"),
        Act(hang_up=True),
        Act(body=right.body, delay=0.01 * (number % 4)),
        as_json({}, 500),
        as_json({}, 404),
    )
    return faults[(3 * number + 5 * nth) % len(faults)]


def test_the_table_is_the_same_whatever_the_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    quiz = Quiz("made", ("The mark of {e} is",), tuple(ENTITIES[:40]))
    tables = []
    for window in ("1", "64"):
        out = tmp_path / f"{window}.jsonl"
        with serving(faulty) as script:
            options = {"base_url": script.url, "max_connections": window, "backoff": "0"}
            model = open_model("openai:tiny", {**options, "max_retries": "2"})
            run(quiz, model, out=out)
            model.close()
        lines = out.read_text("utf-8").splitlines()[1:]
        tables.append({json.dumps(json.loads(line), sort_keys=True) for line in lines})
    assert tables[0] == tables[1]
    outcomes = [json.loads(row)["outcome"] for row in tables[0]]
    assert len(outcomes) == 40
    assert set(outcomes) == {"answered", "error"}


def test_a_server_that_dies_and_comes_back_costs_nothing_but_time(tmp_path: Path) -> None:
    server = ExitStack()
    script = server.enter_context(serving(slowly(0.05)))
    with start(tmp_path, script.url, "--max-retries", "1", "-j", "4") as child:
        _wait_for(script, 30)
        server.close()
        out, err = child.communicate(timeout=60)
    assert child.returncode == 2, (out, err)
    assert "go on with --resume --retry-errors" in err
    held = rows(tmp_path)
    errors = [row for row in held if row["outcome"] == "error"]
    assert 0 < len(errors) < len(held) < 60
    assert {row["reason"] for row in errors} <= {"unreachable", "connection_lost"}
    with serving(marked, port=urlsplit(script.url).port or 0) as again:
        ask(tmp_path, again.url, "--resume", "--retry-errors")
    found = {row["entity"]: row for row in rows(tmp_path)}
    assert set(found) == set(ENTITIES)
    assert all(row["answer"] in row["target"] for row in found.values())


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_run_that_is_killed_asks_again_only_what_was_in_flight(tmp_path: Path) -> None:
    with serving(slowly(0.05)) as script:
        with start(tmp_path, script.url, "-j", "4") as child:
            _wait_for(script, 35)
            child.send_signal(signal.SIGKILL)
            child.wait()
        held = len(rows(tmp_path))
        n_before = len(script.seen)
        ask(tmp_path, script.url, "--resume")
        asked = sum(not is_probe(body) for body in script.seen[n_before:])
    assert 0 < held < 60
    assert asked == 60 - held + CHECKED
    assert (
        n_before - held <= 1 + CHECKED + 2 * 4
    )  # the probe, the self-check alone, what was not safe yet
    assert {row["entity"] for row in rows(tmp_path)} == set(ENTITIES)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send to a child")
def test_an_interrupt_ends_at_once_and_can_be_resumed(tmp_path: Path) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        late = not is_probe(body) and len(script.seen) > 30
        return Act(body=marked(script, body).body, delay=20.0 if late else 0.0)

    with serving(behave) as script:
        with start(tmp_path, script.url, "-j", "4") as child:
            _wait_for(script, 33)
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
            begun = time.monotonic()
            _, err = child.communicate(timeout=30)
        assert time.monotonic() - begun < 10
    assert child.returncode == 130
    assert "Go on with: trueness ask" in err
    assert "--resume" in err
    assert KEY not in err
    assert 0 < len(rows(tmp_path)) < 60
    with serving(marked) as script:
        ask(tmp_path, script.url, "--resume")
    assert len(rows(tmp_path)) == 60


def test_no_proxy_stands_before_a_server_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(marked) as script:
        ask(tmp_path, script.url, "--limit", "3")
    assert len(rows(tmp_path)) == 3


def test_a_key_that_is_refused_in_the_middle_keeps_what_came(tmp_path: Path) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if len(script.seen) > 30:
            return as_json({"error": {"message": f"key {KEY} has expired"}}, 401)
        return marked(script, body)

    with serving(behave) as script:
        said = ask(tmp_path, script.url, code=2)
    assert "status 401: key [key] has expired. Set OPENAI_API_KEY" in said
    held = rows(tmp_path)
    assert 0 < len(held) < 60
    assert all(row["outcome"] == "answered" for row in held)
    no_key_in(tmp_path)
    with serving(marked) as script:
        ask(tmp_path, script.url, "--resume")
    assert len(rows(tmp_path)) == 60


def test_no_answer_at_all_is_exit_five_and_the_servers_words_are_shown(tmp_path: Path) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        if is_probe(body):
            return marked(script, body)
        return as_json({"error": {"message": "temperature 0 is not supported"}}, 400)

    with serving(behave) as script:
        said = ask(tmp_path, script.url, code=5)
    assert "65 requests ended as http_400; the server said: temperature 0 is not supp" in said
    assert {row["reason"] for row in rows(tmp_path)} == {"http_400"}


def test_a_server_that_is_not_there_is_exit_two_with_a_hint(tmp_path: Path) -> None:
    assert "Start the server" in ask(tmp_path, "http://127.0.0.1:9/v1", code=2)
    assert not (tmp_path / "t.jsonl").exists()


def test_answers_that_change_with_the_load_mark_the_rows(tmp_path: Path) -> None:
    def behave(script: Script, body: Mapping[str, Any]) -> Act:
        right = marked(script, body)
        return chat("mark of nobody") if script.nth(body) == 2 else right

    with serving(behave) as script:
        said = ask(tmp_path, script.url)
    assert "NOT deterministic" in said
    assert all(row["nondeterministic"] for row in rows(tmp_path))


def test_a_flag_and_an_option_of_one_name_are_refused(tmp_path: Path) -> None:
    argv = ("-M", "max_retries=1", "--max-retries", "2")
    said = ask(tmp_path, "http://127.0.0.1:9/v1", *argv, code=2)
    assert "max_retries is given by -M and by a flag" in said


def test_draws_of_a_server_that_ignores_seeds_are_doubted(tmp_path: Path) -> None:
    with serving(good) as script:
        argv = ("--epochs", "4", "--temperature", "1", "--limit", "5")
        said = ask(tmp_path, script.url, *argv)
        seeds = {body["seed"] for body in script.seen if not is_probe(body)}
    assert "independence is doubtful" in said
    assert len(seeds) >= 20


def test_a_system_prompt_goes_in_its_role_and_stands_in_the_protocol(tmp_path: Path) -> None:
    with serving(marked) as script:
        ask(tmp_path, script.url, "--conditions", "none,system:helpful", "--limit", "4")
        roles = {tuple(m["role"] for m in body["messages"]) for body in script.seen}
    assert roles == {("user",), ("system", "user")}
    header = json.loads((tmp_path / "t.jsonl").read_text("utf-8").splitlines()[0])
    assert header["protocols"]["system:helpful"]["condition"]["given_as"] == "chat_system_role"


def test_the_address_of_the_server_is_no_part_of_the_protocol(tmp_path: Path) -> None:
    with serving(marked) as script:
        ask(tmp_path, script.url, "--limit", "3")
        assert "127.0.0.1" not in (tmp_path / "t.jsonl").read_text("utf-8")
    with serving(marked) as other:
        said = ask(tmp_path, other.url, "--limit", "3", "--resume", "-j", "1")
    assert "0 asked, 3 kept" in said


def _wait_for(script: Script, n: int) -> None:
    deadline = time.monotonic() + 60
    while len(script.seen) < n and time.monotonic() < deadline:
        time.sleep(0.005)
