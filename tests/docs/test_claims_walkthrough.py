"""The commands about claims that README and documents show, on the embedder that comes along."""

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRUENESS = Path(sysconfig.get_path("scripts")) / "trueness"
FENCE = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.real


def commands(name: str) -> list[str]:
    text = (ROOT / name).read_text("utf-8")
    lines = [line for body in FENCE.findall(text) for line in body.splitlines()]
    return [line for line in lines if "data/claims/" in line or "decisions.jsonl" in line]


def run(command: str, folder: Path) -> str:
    done = subprocess.run(
        [TRUENESS, *shlex.split(command)[1:]],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return " ".join(done.stdout.split())


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    (folder / "src").symlink_to(ROOT / "src", target_is_directory=True)
    return folder


def test_the_four_commands_of_the_readme_do_what_it_says(desk: Path) -> None:
    ground, calibrate, gate, replay = commands("README.md")
    assert "200 of 200 measured" in run(ground, desk)
    said = run(calibrate, desk)
    assert "With confidence 0.95, from 200 sources, at most 0.05 of the unsupported" in said
    assert "negatives: nearest centroid, K = 1, own source excluded" in said
    assert "of 200 items are accepted" in run(gate, desk)
    assert "200 decisions derived again, 0 problems." in run(replay, desk)
    assert "sentence by sentence" in (desk / "claims.html").read_text("utf-8")
    assert "Accepted share by threshold" in (desk / "gate.html").read_text("utf-8")


def test_the_commands_of_the_page_about_gates_say_what_the_data_say(desk: Path) -> None:
    found = [run(command, desk) for command in commands("docs/gate.md")]
    assert len(found) == 2
    assert all("at most 0.05 of the unsupported are accepted" in said for said in found)
