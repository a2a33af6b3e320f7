"""SIGKILL at any instant: nothing acknowledged is lost, nothing safe is asked twice."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of, parse_conditions

QUIZ = Quiz(
    "number",
    ("The double of {e} is", "Twice {e} makes"),
    tuple(f"n{i}" for i in range(40)),
    tuple(f"m{i}" for i in range(40)),
)
BATCH = 4
CHILD = """
import sys
from pathlib import Path
from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask, facts_of, parse_conditions
sys.path.insert(0, sys.argv[2])
from test_kills import BATCH, QUIZ, run

class Counted(ScriptedModel):
    def complete(self, requests):
        if len(requests) > 1:
            with open(sys.argv[1] + ".asked", "a") as log:
                log.writelines(repr(r.key) + "\\n" for r in requests)
        return ScriptedModel.complete(self, requests)

run(Counted("slow", facts_of(QUIZ), 0.002), Path(sys.argv[1]))
"""


def run(model: ScriptedModel, out: Path) -> None:
    conditions = parse_conditions("none,the:16,prose:16")
    ask(QUIZ, model, conditions, out=out, batch_size=BATCH, resume=True)


def _rows(path: Path) -> list[str]:
    lines = path.read_text("utf-8").splitlines()[1:]
    return sorted(json.dumps(json.loads(line), sort_keys=True) for line in lines)


def _kill_and_resume(folder: Path, n: int, wait: random.Random) -> None:
    whole = folder / "whole.jsonl"
    run(ScriptedModel("slow", facts_of(QUIZ), 0.0), whole)
    wanted, out, kills = _rows(whole), folder / "t.jsonl", 0
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", CHILD, str(out), here]
    while kills < n:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
            deadline = time.monotonic() + 30
            size = out.stat().st_size if out.exists() else 0
            while child.poll() is None and time.monotonic() < deadline:
                if out.exists() and out.stat().st_size > size:
                    break
                time.sleep(0.001)
            time.sleep(wait.random() * 0.02)
            child.send_signal(signal.SIGKILL)
            child.wait()
            kills += 1
            assert child.returncode in {0, -signal.SIGKILL}, child.stderr and child.stderr.read()
        if child.returncode == 0:
            assert _rows(out) == wanted
            _check_asked(out, len(wanted), kills)
            out.unlink()
            Path(f"{out}.asked").unlink()
    run(ScriptedModel("slow", facts_of(QUIZ), 0.0), out)
    assert _rows(out) == wanted


def _check_asked(out: Path, n_rows: int, kills: int) -> None:
    asked = Path(f"{out}.asked").read_text("utf-8").splitlines()
    in_flight = max(BATCH, 7)  # a batch, or the prompts of a self-check not yet acknowledged
    assert len(asked) <= n_rows + in_flight * kills


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_dozen_kills_lose_nothing(tmp_path: Path) -> None:
    _kill_and_resume(tmp_path, 12, random.Random(0))  # noqa: S311 - waiting times


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    _kill_and_resume(tmp_path, 100, random.Random(1))  # noqa: S311 - waiting times
