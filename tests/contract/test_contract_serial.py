"""Strict JSON: what goes out comes back, and what has no form is refused by name."""

import json
from dataclasses import dataclass
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract import Rows
from trueness.contract.errors import CannotSerialise
from trueness.contract.serial import canonical, dumps, plain

TEXT = st.text(st.characters(exclude_categories=()))
SCALAR = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
JSON = st.recursive(
    SCALAR | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def refuse(constant: str) -> None:
    pytest.fail(f"{constant} is no strict JSON")


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Pair:
    left: object
    right: object = None


@given(JSON)
def test_plain_values_round_trip(value: object) -> None:
    text = dumps(value)
    assert json.loads(text, parse_constant=refuse) == value
    text.encode("utf-8")


@given(JSON)
def test_canonical_text_does_not_depend_on_the_order_of_keys(value: object) -> None:
    again = json.loads(canonical(value), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert canonical(again) == canonical(value)


@given(st.lists(JSON, max_size=5))
def test_tuples_and_rows_are_written_as_lists(values: list[object]) -> None:
    rows = Rows(len(values), values.__getitem__)
    assert dumps(tuple(values)) == dumps(rows) == dumps(values)


def test_dataclasses_and_enums_become_plain() -> None:
    assert plain(Pair(Colour.RED, (Pair(1),))) == {
        "left": "red",
        "right": [{"left": 1, "right": None}],
    }
    assert type(plain(Colour.RED)) is str


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused_and_its_place_named(number: float) -> None:
    with pytest.raises(CannotSerialise, match=r"value\.right\[1\]\.deep is"):
        dumps(Pair(0, [1, {"deep": number}]))


@pytest.mark.parametrize("value", [b"bytes", bytearray(b"x"), {1, 2}, object(), 1j, Pair])
def test_a_type_without_a_form_is_refused(value: object) -> None:
    with pytest.raises(CannotSerialise, match="JSON has no form for it"):
        dumps([value])


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(CannotSerialise, match="JSON keys are text"):
        dumps({1: "one"})


def test_a_lone_surrogate_can_be_written_to_a_file() -> None:
    assert json.loads(dumps({"a": "\ud800"}).encode("utf-8")) == {"a": "\ud800"}
