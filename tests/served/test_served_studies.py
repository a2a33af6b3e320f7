"""Studies of a model behind a server: what looks inside is refused, what needs text alone runs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from http_server import KEY, good, serving


def study(cwd: Path, url: str, *words: str) -> "subprocess.CompletedProcess[str]":
    known = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": url,
        "TRUENESS_CACHE_DIR": str(cwd / "cache"),
    }
    return subprocess.run(
        [sys.executable, "-m", "trueness", "study", *words, "--model", "openai:tiny"],
        cwd=cwd,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_sweep_of_a_served_model_completes_and_no_bound_is_broken(tmp_path: Path) -> None:
    with serving(good) as server:
        ran = study(tmp_path, server.url, "certificate-sweep", "--limit", "1", "-o", "r.json")
    assert ran.returncode == 0, ran.stderr
    result: dict[str, Any] = json.loads((tmp_path / "r.json").read_text("utf-8"))
    violations = next(c for c in result["contrasts"] if c["name"] == "violations")
    assert (violations["n"], violations["estimate"]) == (36 * 3, 0)
    assert result["partial"]
    assert any(note.startswith("no token ids here") for note in result["notes"])


def test_a_study_that_looks_inside_names_what_a_server_does_not_offer(tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:1/v1"
    ran = study(tmp_path, nobody, "coupling", "--limit", "2", "-o", "c.json")
    assert ran.returncode == 5
    assert "logit_gradients" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
