"""The rooms that serve every sensor name none of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import trueness
from trueness import sensors

ROOMS = ("contract", "table", "extract", "stats", "decide", "report", "backends", "collect")
SENSORS = frozenset(sensors.SENSORS) | {"atlas", "energy", "contrast"}
ROOT = Path(trueness.__file__).parent


def strings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("room", ROOMS)
def test_a_generic_room_names_no_sensor(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files
    named = {(p.name, s) for p in files for s in strings(p) if s in SENSORS}
    assert not named


def test_no_template_names_a_sensor() -> None:
    for path in (ROOT / "report" / "templates").iterdir():
        words = set(path.read_text(encoding="utf-8").replace("-", " ").split())
        assert not words & SENSORS, path.name
