"""pytest with the plugin: nothing happens before a fixture is used, and words for every end."""

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = "trueness.plugins.pytest_plugin"
HEAVY = (
    *("numpy", "scipy", "duckdb", "narwhals", "click", "rich", "jinja2", "xllamacpp"),
    *("trueness.api", "trueness.contract", "trueness.report", "trueness.testing"),
)

UNUSED = f"""
import socket, sys

def refuse(*given, **named):
    raise AssertionError("a socket was opened")

socket.socket.connect = refuse

def test_that_uses_nothing():
    assert not set({HEAVY!r}) & set(sys.modules)
"""
ENDS = """
import pytest

ROWS = [{"country": c, "answer": "Paris"} for c in ("France", "Peru", "Chad")]
BLANK = [{"country": c, "answer": ""} for c in ("France", "Peru", "Chad")]
KNOWN = {"entity": "country", "relation": "injective"}


def test_holds(assert_error_floor):
    assert assert_error_floor(ROWS, at_most=0.7, **KNOWN).value > 0.6


def test_fails(assert_error_floor):
    assert_error_floor(ROWS, at_most=0.1, **KNOWN)


def test_unmeasured(assert_error_floor):
    assert_error_floor(BLANK, at_most=0.1, **KNOWN)


def test_skipped(assert_error_floor):
    assert_error_floor(BLANK, at_most=0.1, unmeasured="skip", **KNOWN)


@pytest.mark.xfail(strict=True)
def test_expected(assert_error_floor):
    assert_error_floor(ROWS, at_most=0.1, **KNOWN)


def test_others_are_there(assert_grounded, assert_no_regression):
    assert assert_grounded.__name__ == "assert_grounded"
    assert assert_no_regression.__name__ == "assert_no_regression"
"""


def ran(folder: Path, body: str, *argv: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_user.py").write_text(body, "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", PLUGIN, "-ra", "-W", "error", *argv],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "160"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ET.Element]:
    folder = tmp_path_factory.mktemp("ends")
    done = ran(folder, ENDS, "--junit-xml", "junit.xml")
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout, ET.parse(folder / "junit.xml").getroot()  # noqa: S314 - our own file


def test_importing_the_plugin_loads_nothing_of_ours_but_names() -> None:
    code = f"import sys\nimport {PLUGIN}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & set(HEAVY)
    assert {m for m in loaded if m.startswith("trueness")} == {
        *("trueness", "trueness.plugins", PLUGIN)
    }


def test_a_run_that_uses_no_fixture_loads_nothing_and_opens_nothing(tmp_path: Path) -> None:
    done = ran(tmp_path, UNUSED)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_could_not_be_measured_is_an_error_and_no_failure(
    ends: tuple[str, ET.Element],
) -> None:
    out, _ = ends
    assert "1 failed, 2 passed, 1 skipped, 1 xfailed, 1 error" in out
    assert "FAILED test_user.py::test_fails - AssertionError: max error floor 0.1" in out
    assert "ERROR test_user.py::test_unmeasured - trueness.testing.settling.Unmeasured" in out
    assert "could not be measured (" in out


def test_a_failure_shows_the_users_line_and_none_of_ours(ends: tuple[str, ET.Element]) -> None:
    out, _ = ends
    assert "At least 2 of these 3 answers are wrong. No key was consulted." in out
    assert ">       assert_error_floor(ROWS, at_most=0.1, **KNOWN)" in out
    assert "settle(" not in out


def test_a_skip_says_its_reason(ends: tuple[str, ET.Element]) -> None:
    out, tree = ends
    assert "SKIPPED [1]" in out
    (skipped,) = tree.findall(".//testcase[@name='test_skipped']/skipped")
    assert "could not be measured" in str(skipped.get("message"))


def test_the_entry_point_leads_to_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"trueness": PLUGIN}
    assert import_module(PLUGIN).pytest_report_teststatus
