"""Everything that the documents show is run, and every name in them exists."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import click
import pytest

import trueness
from trueness.cli.app import verbs
from trueness.sensors.orbits import Declaration
from trueness.table import bundled_relations
from trueness.table.aliases import ALIASES

ROOT = Path(__file__).parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
TEXT = "\n".join(path.read_text("utf-8") for path in DOCUMENTS)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAG = re.compile(r"(?<![\w-])(--?[a-zA-Z][a-z-]*)")
TRUENESS = Path(sysconfig.get_path("scripts")) / "trueness"

documents = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)


def blocks(path: Path, kind: str) -> list[str]:
    return [body for k, body in FENCE.findall(path.read_text("utf-8")) if k == kind]


def steps(block: str) -> list[tuple[str, list[str], int]]:
    """(command, lines it must print, exit code) for every command of a console block."""
    found: list[tuple[str, list[str], int]] = []
    for line in filter(None, map(str.strip, block.splitlines())):
        command = line.removeprefix("$ ")
        if command.startswith(("trueness ", "make ")):
            found.append((command, [], 0))
        elif line.startswith("# exit "):
            found[-1] = (*found[-1][:2], int(line.removeprefix("# exit ")))
        else:
            found[-1][1].append(line)
    return found


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with nothing but the examples and the results."""
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    shutil.copytree(ROOT / "results", tmp_path / "results")
    return tmp_path


@documents
def test_python_in_a_document_runs(path: Path, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk)
    names: dict[str, Any] = {}
    for number, body in enumerate(blocks(path, "python"), start=1):
        code = compile(body, f"{path.name}, python block {number}", "exec")
        exec(code, names)  # noqa: S102 - our own documents


@documents
def test_commands_in_a_document_do_what_it_says(path: Path, desk: Path) -> None:
    for block in blocks(path, "console"):
        for command, lines, code in steps(block):
            if command.startswith("make "):
                continue
            ran = run(command, desk)
            assert ran.returncode == code, f"{command}\n{ran.stdout}{ran.stderr}"
            said = squeezed(ran.stdout + ran.stderr)
            for line in lines:
                assert squeezed(line) in said, f"{command}\ndid not say: {line}"


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    return subprocess.run(
        [TRUENESS, *shlex.split(command)[1:]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def test_make_commands_in_the_documents_are_targets() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in (*DOCUMENTS, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"(?:^|`)make ([a-z]+)", path.read_text("utf-8"), re.MULTILINE):
            assert target in targets, f"{path.name} names make {target}"


def test_the_readme_marks_its_test_command_for_the_build() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "<!-- test-command -->\n```console\nmake test\n```" in readme
    assert "```console\nmake demo\n```" in readme


def test_every_verb_and_option_stands_in_the_documents() -> None:
    words = set(FLAG.findall(TEXT))
    for name, verb in verbs.commands.items():
        assert re.search(rf"`(?:trueness )?{name}\b|trueness {name}\b", TEXT), name
        for option in options(verb):
            assert option & words, f"{name} {' / '.join(sorted(option))} is not documented"


def options(verb: click.Command) -> list[set[str]]:
    return [
        {*parameter.opts, *parameter.secondary_opts}
        for parameter in verb.params
        if isinstance(parameter, click.Option)
    ]


def test_every_flag_in_the_documents_exists() -> None:
    known = {o for verb in verbs.commands.values() for group in options(verb) for o in group}
    known |= {"--version", "--help", "-h"}
    for path in DOCUMENTS:
        code = [*re.findall(r"`([^`\n]+)`", path.read_text("utf-8"))]
        code += [c for b in blocks(path, "console") for c, _, _ in steps(b)]
        for flag in {f for text in code for f in FLAG.findall(text)}:
            assert flag in known, f"{path.name} names {flag}"


def test_every_name_of_the_facade_stands_in_the_documents_and_none_else() -> None:
    named = set(re.findall(r"`trueness\.(\w+)`", TEXT))
    assert set(trueness.__all__) <= named
    assert all(hasattr(trueness, name) for name in named), named - set(trueness.__all__)


def test_every_field_of_a_declaration_is_explained() -> None:
    text = (ROOT / "docs" / "orbits.md").read_text("utf-8")
    for name in Declaration.__dataclass_fields__:
        assert f"`{name}`" in text, name


def test_the_table_of_column_names_is_the_one_that_is_used() -> None:
    text = (ROOT / "docs" / "files.md").read_text("utf-8").partition("<!-- aliases -->")[2]
    rows = re.findall(r"^\| `(\w+)` \| (.*)\|$", text, re.MULTILINE)
    shown = {name: set(re.findall(r"`(\w+)`", others)) for name, others in rows}
    assert shown == {name: set(others) - {name} for name, others in ALIASES.items()}


def test_the_list_of_bundled_relations_is_complete() -> None:
    text = (ROOT / "docs" / "files.md").read_text("utf-8").partition("<!-- relations -->")[2]
    assert tuple(re.findall(r"`(\w+)`", text.partition("```")[0])) == bundled_relations()


def test_links_between_documents_lead_somewhere() -> None:
    for path in (*DOCUMENTS, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            assert target.startswith("http") or (path.parent / target).exists(), (path, target)


def test_references_to_result_files_resolve() -> None:
    for name, pointer in re.findall(r"result:([\w./-]+\.json)#([\w.]+)", TEXT):
        value: Any = json.loads((ROOT / "results" / name).read_text("utf-8"))
        for part in pointer.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]


def test_every_skip_has_its_row() -> None:
    rows = (ROOT / "tests" / "SKIPS.md").read_text("utf-8")
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path == Path(__file__):
            continue
        if re.search(r"pytest\.(skip|importorskip)\(|mark\.skip", path.read_text("utf-8")):
            assert path.relative_to(ROOT).as_posix() in rows, path


def test_the_python_that_runs_this_has_the_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "trueness", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("trueness ")
