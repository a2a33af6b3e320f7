"""Paths into a result, and the comparisons of its fields that decide a reading."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trueness.contract.errors import InputError
from trueness.contract.serial import Json

BLANK = re.compile(r"\{([\w.-]+)\}")
"""In a sentence: the path of the field that fills it."""
_COMPARISON = re.compile(r"([\w.-]+)\s*(<=|>=|==|!=|<|>)\s*(-?[\d.]+(?:e-?\d+)?)")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An expression, the values of the fields that it read, and whether it holds."""

    expression: str
    values: Mapping[str, float | None]
    holds: bool


def look_up(document: Json, path: str) -> Json:
    """What stands in a document at a path of names with dots between them.

    A name leads into an object by its key, into a list by its place or by the ``name`` of the
    entry.

    Parameters
    ----------
    document : Json
    path : str

    Raises
    ------
    InputError
        If nothing stands there.

    Examples
    --------
    >>> look_up({"rows": [{"name": "null_25", "n": 500}]}, "rows.null_25.n")
    500
    """
    here = document
    for name in path.split("."):
        found = _entries(here)
        if name not in found:
            near = ", ".join(list(found)[:8]) or "nothing"
            msg = f"{path!r} leads to no field: {name!r} is not among {near}. Correct the path."
            raise InputError(msg)
        here = found[name]
    return here


def evaluate(expression: str, document: Json) -> Evaluated:
    """Whether a declared expression holds of a result.

    Comparisons ``path < number`` (also <=, >, >=, ==, !=) joined by ``and`` and ``or``, of which
    ``and`` binds tighter. Nothing else is read, and nothing is executed. A field that is null, as
    where nothing could be measured, makes its comparison fail: the reading stays unresolved.

    Parameters
    ----------
    expression : str
    document : Json

    Raises
    ------
    InputError
        If it is no such expression, or a field is absent or no number.

    Examples
    --------
    >>> evaluate("a.n > 2 and a.bad == 0", {"a": {"n": 3, "bad": 1}}).holds
    False
    """
    values: dict[str, float | None] = {}
    holds = False
    for either in _split(expression, "or"):
        met = [_compared(part, document, values) for part in _split(either, "and")]
        holds = holds or all(met)
    return Evaluated(expression, values, holds)


def paths_of(expression: str) -> tuple[str, ...]:
    """The fields that an expression reads.

    Raises
    ------
    InputError
        If it is no expression.
    """
    return tuple(_parsed(comparison)[0] for comparison in _comparisons(expression))


def blanks_of(text: str) -> tuple[str, ...]:
    """The paths that a sentence has blanks for.

    >>> blanks_of("It is {contrasts.a.estimate}.")
    ('contrasts.a.estimate',)
    """
    return tuple(BLANK.findall(text))


def _comparisons(expression: str) -> list[str]:
    return [part for either in _split(expression, "or") for part in _split(either, "and")]


def _split(text: str, word: str) -> list[str]:
    return re.split(rf"\s{word}\s", text)


def _parsed(comparison: str) -> tuple[str, str, float]:
    found = _COMPARISON.fullmatch(comparison.strip())
    if found is None:
        msg = (
            f"{comparison!r} is no comparison; wanted 'path < number' (or <=, >, >=, ==, !=), "
            "several joined by 'and' and 'or'. Correct the declaration."
        )
        raise InputError(msg)
    return found[1], found[2], float(found[3])


def _compared(comparison: str, document: Json, values: dict[str, float | None]) -> bool:
    path, sign, number = _parsed(comparison)
    value = look_up(document, path)
    if value is None:
        values[path] = None
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"{path!r} holds {value!r}; a reading compares numbers. Name a field with a number."
        raise InputError(msg)
    values[path] = value
    return _COMPARE[sign](value, number)


def _entries(here: Json) -> dict[str, Json]:
    if isinstance(here, dict):
        return here
    found: dict[str, Json] = {}
    if isinstance(here, Sequence) and not isinstance(here, str):
        found = {str(place): entry for place, entry in enumerate(here)}
        for entry in here:
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                found.setdefault(str(entry["name"]), entry)
    return found
