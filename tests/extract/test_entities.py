import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.extract import normalise_entities, normalise_entity
from trueness.table import Column

VECTORS = [
    v
    for v in json.loads((Path(__file__).parents[1] / "golden" / "orbits.json").read_text("utf-8"))
    if v["kind"] == "entities"
]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_entities(vector: dict[str, Any]) -> None:
    names, expected = vector["input"]["entities"], vector["expected"]
    column = Column.of(names)
    if expected["accepted"]:
        assert normalise_entities(column).values() == names
        return
    with pytest.raises(InputError) as caught:
        normalise_entities(column)
    for pair in expected["duplicate_pairs"]:
        assert f"entities {pair[0]} and {pair[1]} are one entity" in str(caught.value)
    for position in expected["blank"]:
        assert f"entity {position} is blank" in str(caught.value)


def test_twins_are_named_with_the_code_points_in_which_they_differ() -> None:
    column = Column.of(["C\u00f4te d'Ivoire", "Co\u0302te d'Ivoire", "Mali"])
    message = (
        'entities 0 and 1 are one entity after normalisation: "C\u00f4te d\'Ivoire" (U+00F4) and '
        '"Co\u0302te d\'Ivoire" (U+006F U+0302); remove one or merge their rows.'
    )
    with pytest.raises(InputError) as caught:
        normalise_entities(column)
    assert str(caught.value) == message


def test_rows_are_named_when_they_are_known() -> None:
    column = Column.of(["Chad", "Mali", "Chad", "Mali\u200b"])
    with pytest.raises(InputError, match=r"entities 1 and 2 \(rows 20 and 40\).*U\+200B"):
        normalise_entities(column, np.array([10, 20, 30, 40]))


def test_one_spelling_on_many_rows_is_one_entity() -> None:
    assert normalise_entities(Column.of([" Chad", "Mali", " Chad"])).values() == [
        "Chad",
        "Mali",
        "Chad",
    ]


def test_names_made_of_punctuation_stay() -> None:
    assert normalise_entities(Column.of(["!", "?", "Yahoo!"])).values() == ["!", "?", "Yahoo"]


@given(st.text())
def test_a_normalised_name_is_its_own_normal_form(text: str) -> None:
    name = normalise_entity(text)
    assert name is None or normalise_entity(name) == name


@given(st.lists(st.text(max_size=4), min_size=1, max_size=6))
def test_either_all_names_differ_or_it_is_refused(names: list[str]) -> None:
    expected = [normalise_entity(n) for n in dict.fromkeys(names)]
    if None in expected or len(set(expected)) < len(expected):
        with pytest.raises(InputError):
            normalise_entities(Column.of(names))
    else:
        assert normalise_entities(Column.of(names)).values() == [normalise_entity(n) for n in names]
