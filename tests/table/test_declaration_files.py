from pathlib import Path

import pytest

from trueness.contract.errors import InputError
from trueness.table import read_declaration_file


@pytest.mark.parametrize(
    ("content", "declared"),
    [
        ('["Paris", "Rome"]', ["Paris", "Rome"]),
        ("Paris\nWashington, D.C.\n\nRome", ["Paris", "Washington, D.C.", "Rome"]),
        ('{"Europe": 2}', {"Europe": 2}),
        ('{"x": ["A", "B"], "y": "C"}', {"x": ["A", "B"], "y": ["C"]}),
        ("Answer,Limit\nEurope,2\nAsia,0\n", {"Europe": 2, "Asia": 0}),
        ('entity,candidate\nx,A\nx,"B, C"\r\ny,A', {"x": ["A", "B, C"], "y": ["A"]}),
    ],
)
def test_every_form_of_a_declaration_is_read(
    tmp_path: Path, content: str, declared: object
) -> None:
    (tmp_path / "d").write_bytes(content.encode())
    assert read_declaration_file(tmp_path / "d") == declared


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("[1]", "has 1 at entry 0"),
        ("{", "is no JSON"),
        ('{"a": 1, "b": "x"}', "has 1 at 'a'"),
        ("answer,limit\na,x\n", "limit 'x' in row 1"),
        ("answer,limit\na,1\na,2\n", "names 'a' again in row 2"),
        ("answer,limit\na\n", "1 cells in row 1"),
        (b"\xff", "no UTF-8"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    (tmp_path / "d").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read_declaration_file(tmp_path / "d")


def test_an_absent_declaration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_declaration_file(tmp_path / "d")
