"""The face of the package: its names are pinned, and it costs next to nothing to import."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import trueness

HEAVY = ("numpy", "scipy", "duckdb", "torch", "xllamacpp", "pandas", "jinja2", "rich")


def loaded_after(code: str) -> set[str]:
    tail = "\nimport sys\nprint('\\n@', *sorted({m.partition('.')[0] for m in sys.modules}))"
    ran = subprocess.run(
        [sys.executable, "-c", code + tail], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.rpartition("@")[2].split())


def test_the_names_are_pinned() -> None:
    assert trueness.__all__ == [
        "Decision",
        "Gate",
        "Reading",
        "TruenessError",
        "ask",
        "certify",
        "choose",
        "compare",
        "ground",
        "measure",
        "page",
        "read",
        "withhold",
    ]


@pytest.mark.parametrize("name", trueness.__all__)
def test_every_name_can_be_had_and_is_documented(name: str) -> None:
    assert getattr(trueness, name).__doc__
    assert name in dir(trueness)


def test_a_star_import_gives_exactly_the_pinned_names() -> None:
    names: dict[str, object] = {}
    exec("from trueness import *", names)  # noqa: S102 - a star is not allowed elsewhere
    assert set(names) - {"__builtins__"} == set(trueness.__all__)


def test_an_unknown_attribute_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="module 'trueness' has no attribute 'certifi'"):
        _ = trueness.certifi


def test_importing_loads_nothing_heavy() -> None:
    assert not loaded_after("import trueness") & set(HEAVY)


@pytest.mark.parametrize("argument", ["--help", "--version", "certify --help", "ask --help"])
def test_help_loads_nothing_heavy(argument: str) -> None:
    code = f"from trueness.cli import main\nassert main({argument.split()!r}) == 0"
    assert not loaded_after(code) & set(HEAVY)


def test_certifying_loads_no_model_runtime() -> None:
    code = (
        "import trueness\n"
        "trueness.certify([{'entity': 'Peru', 'answer': 'Lima'}], relation='injective')"
    )
    assert not loaded_after(code) & {"torch", "xllamacpp", "pandas", "transformers"}


def test_the_version_is_that_of_the_distribution() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "trueness", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"trueness {version('trueness')}\n"
