"""The wheel stands on its own: built, installed in a new environment, run without test tools."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow

CODE = """
import importlib.metadata, importlib.util, json
from trueness.table import bundled_relation, bundled_relations
from trueness.demo import filled_column
import trueness
tools = ("pytest", "hypothesis", "pandas", "polars", "torch")
here = [m for m in tools if importlib.util.find_spec(m)]
relations = {name: len(bundled_relation(name)) for name in bundled_relations()}
column = filled_column()
page = trueness.page({"column": column})
loaded_by = [
    (e.group, e.name, importlib.util.find_spec(e.value) is not None)
    for e in importlib.metadata.distribution("trueness").entry_points
    if e.group != "console_scripts"
]
print(json.dumps([trueness.__file__, here, relations, column.n_items, page[:15], loaded_by]))
"""


def run(*argv: str | Path, cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    ran = subprocess.run(
        argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "-q")
    run(*pip, "-w", folder, ROOT, cwd=folder)
    return next(folder.glob("trueness-*.whl"))


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "trueness").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {n for n in archive.namelist() if ".dist-info/" not in n}
        names = archive.namelist()
    assert held == wanted
    assert any(n.endswith("licenses/LICENSE") for n in names)
    assert any(n.endswith("licenses/NOTICE") for n in names)


def test_an_installed_wheel_runs_without_the_tools_of_the_tests(
    wheel: Path, tmp_path: Path
) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    binaries = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (binaries / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q")
    run(*pip, wheel, cwd=tmp_path)
    answers = tmp_path / "answers.csv"
    answers.write_text("country,answer\nFrance,Paris\nChad,Paris\nPeru,Lima\n", "utf-8")
    argv = (binaries / "trueness", "certify", answers, "--entity", "country")
    out = run(*argv, "--relation", "injective", "--json", "-o", "page.html", cwd=tmp_path)
    assert json.loads(out)["details"]["certified_errors"] == 1
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    file, tools, relations, n_items, page, loaded_by = json.loads(
        run(binaries / "python", "-c", CODE, cwd=tmp_path)
    )
    assert Path(file).is_relative_to(tmp_path / "env")
    assert tools == []
    assert sorted(loaded_by) == [["inspect_ai", "trueness", True], ["pytest11", "trueness", True]]
    assert len(relations) == len(list((ROOT / "src/trueness/data/relations").glob("*.json")))
    assert (n_items, page) == (2_000, "<!DOCTYPE html>")
    asked = run(
        *(binaries / "trueness", "ask", "--relation-file", "capital", "--model", "scripted:right"),
        *("--conditions", "none,prose:16", "--limit", "2", "--no-cache", "--no-progress"),
        *("-o", "asked.jsonl"),
        cwd=tmp_path,
    )
    assert "20 rows in asked.jsonl" in asked
