"""What the documents show of pytest and inspect_ai is run in these tools."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANSWER = "The Nile ends in the Mediterranean Sea: Paris."


def blocks(name: str) -> list[str]:
    return FENCE.findall((ROOT / "docs" / name).read_text("utf-8"))


def letters(texts: list[str]) -> list[list[float]]:
    return [[float(t.lower().count(c)) for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts]


def test_the_test_that_is_shown_passes(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    (tmp_path / "test_shown.py").write_text("\n\n".join(blocks("testing.md")), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "trueness.plugins.pytest_plugin"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_tasks_that_are_shown_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")
    from inspect_ai.model import (  # noqa: PLC0415 - may be absent
        ModelOutput,
        ModelUsage,
        get_model,
    )

    from trueness.plugins import inspect_ai as components  # noqa: PLC0415 - may be absent

    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    names: dict[str, Any] = {}
    first, second = blocks("inspect.md")
    exec(first, names)  # noqa: S102 - our own documents
    exec(second, names)  # noqa: S102 - as above
    names["grounding"] = lambda: components.grounding(embedder=letters)  # no weights to fetch

    def said(*_: Any) -> Any:
        output = ModelOutput.from_content("mock", ANSWER)
        output.usage = ModelUsage(input_tokens=9, output_tokens=9, total_tokens=18)
        return output

    model = get_model("mockllm/model", custom_outputs=said, memoize=False)
    how: dict[str, Any] = {"model": model, "log_dir": str(tmp_path / "logs"), "display": "none"}
    logs = inspect_ai.eval([names["capitals"](), names["grounded"]()], **how)
    assert [log.status for log in logs] == ["success"] * 2
    found = {k: m.value for s in logs[0].results.scores for k, m in s.metrics.items()}
    assert (found["agreement_4"], found["agreement_4_items"], found["accuracy"]) == (1, 3, 0)
    assert (found["certified_errors"], found["n_answered"]) == (8, 12)
    assert 0 < logs[1].results.scores[0].metrics["mean"].value < 1
