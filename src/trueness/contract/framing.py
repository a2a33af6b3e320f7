"""Results as data frames: one row an item, in whichever library the caller has."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from trueness.contract.errors import InputError, MissingExtraError
from trueness.contract.serial import Json, dumps

BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Libraries that a frame can be of."""
_PLAIN = (bool, int, float, str)


def frame_of(columns: Mapping[str, Sequence[Json]], backend: str) -> Any:
    """The native data frame with these columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        Of equal length, of plain JSON. A column of whole and broken numbers becomes floats; one
        that mixes other kinds, or holds lists or objects, becomes their JSON text.
    backend : str
        One of `BACKENDS`.

    Raises
    ------
    InputError
        For another backend.
    MissingExtraError
        When it is not installed.
    """
    if backend not in BACKENDS:
        msg = f"no data frame is called {backend!r}; choose one of {', '.join(BACKENDS)}."
        raise InputError(msg)
    # by name: the nouns need the standard library only, and a frame needs its own library anyway
    narwhals = import_module("narwhals")
    try:
        import_module(backend)
    except ModuleNotFoundError as error:
        if error.name != backend:
            raise  # it is there and broken: do not hide that
        msg = f"a frame of {backend} needs {backend}. Run: pip install {backend}"
        raise MissingExtraError(msg) from error
    alike = {name: _alike(values) for name, values in columns.items()}
    return narwhals.from_dict(alike, backend=backend).to_native()


def extra_columns(extras: Sequence[Mapping[str, Json]]) -> dict[str, list[Json]]:
    """What a sensor adds to its items, one column a field, in the order of the first item."""
    names = dict.fromkeys(name for extra in extras for name in extra)
    return {name: [extra.get(name) for extra in extras] for name in names}


def _alike(values: Sequence[Json]) -> list[Json]:
    """The values of a column as one kind."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]  # type: ignore[arg-type] # numbers
    if len(kinds) > 1 or any(not issubclass(kind, _PLAIN) for kind in kinds):
        return [
            value if value is None or isinstance(value, str) else dumps(value) for value in values
        ]
    return list(values)
