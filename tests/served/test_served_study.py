"""Studies run on a model behind a server, or say what they would need of it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from http_server import KEY as FAKE
from http_server import serving
from llama_server import KEY, llama_server


def study(cwd: Path, url: str, key: str, name: str, *more: str) -> tuple[int, str]:
    """Exit code of a study, and what it said."""
    argv = ("study", name, "--model", "openai:tiny", "-o", "r.json", *more)
    known = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": key, "TRUENESS_CACHE_DIR": str(cwd / "c")}
    done = subprocess.run(
        [sys.executable, "-m", "trueness", *argv],
        cwd=cwd,
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert key not in done.stdout + done.stderr
    return done.returncode, done.stdout + done.stderr


def swept(cwd: Path, url: str, key: str) -> dict[str, Any]:
    code, said = study(cwd, url, key, "certificate-sweep", "--limit", "1")
    assert code == 0, said
    text = (cwd / "r.json").read_text("utf-8")
    assert key not in text
    found: dict[str, Any] = json.loads(text)
    assert found["contrasts"][0]["name"] == "violations"
    return found


def test_the_certificate_sweep_completes_on_a_server(tmp_path: Path) -> None:
    with serving() as script:
        found = swept(tmp_path, script.url, FAKE)
        n_asked = len(script.seen)
        swept(tmp_path, script.url, FAKE)
        assert len(script.seen) < n_asked + 5  # answers come from the cache, the probe does not
    assert found["contrasts"][0]["n"] == 36 * 3
    assert found["contrasts"][0]["estimate"] == 0


def test_a_study_that_looks_inside_names_what_a_server_lacks(tmp_path: Path) -> None:
    with serving() as script:
        code, said = study(tmp_path, script.url, FAKE, "coupling", "--limit", "1")
    assert code == 5
    assert "logit_gradients" in said


@pytest.mark.real
@pytest.mark.slow
def test_the_certificate_sweep_completes_on_the_real_server(tmp_path: Path) -> None:
    with llama_server(slots=1) as url:
        found = swept(tmp_path, url, KEY)
    assert found["contrasts"][0]["n"] == 36 * 3
    assert found["contrasts"][0]["estimate"] == 0
