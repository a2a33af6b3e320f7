"""Strict JSON for everything frozen: no NaN, no infinity, no silent conversion."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import TypeVar

from trueness.contract.errors import CannotSerialise

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
T = TypeVar("T")


class RepeatedKeyError(ValueError):
    """A JSON object says a key twice, so it does not say which is meant.

    Parameters
    ----------
    key : str
    """

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands twice in one object")
        self.key = key


def once(pairs: list[tuple[str, T]]) -> dict[str, T]:
    """The object of its pairs; an ``object_pairs_hook`` for `json`.

    Raises
    ------
    RepeatedKeyError
        When a key stands there twice: `json` alone would take the last.

    Examples
    --------
    >>> json.loads('{"a": 1, "b": 2}', object_pairs_hook=once)
    {'a': 1, 'b': 2}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(next(key for key, n in counts.items() if n > 1))
    return found


def plain(value: object, where: str = "value") -> Json:
    """Plain JSON types for a value made of dataclasses, mappings, sequences and scalars.

    Parameters
    ----------
    value : object
        Dataclasses become objects, sequences lists, string enums their text.
    where : str
        Name of the place, for the error.

    Raises
    ------
    CannotSerialise
        For a non-finite float or a type that JSON has no form for.
    """
    if isinstance(value, StrEnum):
        return value.value
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        msg = (
            f"{where} is {value!r}; strict JSON holds finite numbers only. "
            "Use None and a state that says why there is no number."
        )
        raise CannotSerialise(msg)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), f"{where}.{f.name}") for f in fields(value)}
    if isinstance(value, Mapping):
        return {_key(k, where): plain(v, f"{where}.{k}") for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(v, f"{where}[{i}]") for i, v in enumerate(value)]
    msg = (
        f"{where} is a {type(value).__name__}; JSON has no form for it. "
        "Convert it to text, a number, a list or an object with text keys."
    )
    raise CannotSerialise(msg)


def dumps(value: object, *, indent: int | None = None, compact: bool = False) -> str:
    """Strict JSON text of a value; lone surrogates are escaped so that any file can hold it.

    ``compact`` leaves out the spaces between entries.
    """
    ready, marks = plain(value), (",", ":") if compact else None
    text = json.dumps(ready, ensure_ascii=False, allow_nan=False, indent=indent, separators=marks)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(ready, allow_nan=False, indent=indent, separators=marks)
    return text


def canonical(value: object) -> str:
    """The one JSON text of a value that is hashed: keys sorted, no spaces, text as it is."""
    return json.dumps(
        plain(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def _key(key: object, where: str) -> str:
    if isinstance(key, str):
        return str(key)
    msg = f"{where} has the key {key!r} of type {type(key).__name__}; JSON keys are text."
    raise CannotSerialise(msg)
