"""Results as data frames, as an Arrow stream and as HTML, for whoever the caller hands them to.

What that takes is imported by name where it is used: the nouns need the standard library only.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from trueness.contract.errors import CannotSerialise, InputError, MissingExtraError
from trueness.contract.serial import Json, dumps

BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Libraries that a frame can be of."""
_PLAIN = (bool, int, float, str)
_TYPES: Mapping[type, str] = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
_WIDEST = 2**63


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
    CannotSerialise
        For a text with half a character.
    MissingExtraError
        When it is not installed.
    """
    if backend not in BACKENDS:
        msg = f"no data frame is called {backend!r}; choose one of {', '.join(BACKENDS)}."
        raise InputError(msg)
    narwhals = import_module("narwhals")
    _library(backend, f"a frame of {backend}")
    alike = {name: _alike(values) for name, values in columns.items()}
    _check_text(alike)
    return narwhals.from_dict(alike, backend=backend).to_native()


def stream_of(
    columns: Mapping[str, Sequence[Json]],
    *,
    kinds: Mapping[str, type],
    requested_schema: object = None,
) -> object:
    """Arrow's C stream of these columns, as a capsule that a library takes over; made by DuckDB.

    Parameters
    ----------
    columns : mapping of str to sequence
        As in `frame_of`; whole numbers beyond 64 bits become text.
    kinds : mapping of str to type
        Of columns whose type must not depend on what is in them, such as one of None alone.
    requested_schema : capsule, optional
        Handed on; what cannot be met is left as it is.

    Raises
    ------
    CannotSerialise
        For a text with half a character: Arrow is UTF-8.
    MissingExtraError
        When DuckDB is not installed.
    """
    duckdb = _library("duckdb", "an Arrow stream")
    alike = {name: _narrow(_alike(values)) for name, values in columns.items()}
    _check_text(alike)
    listed = (
        f"unnest(?::{_type(values, kinds.get(name))}[]) AS {_quoted(name)}"
        for name, values in alike.items()
    )
    rows = duckdb.connect().sql(f"SELECT {', '.join(listed)}", params=list(alike.values()))
    stream: object = rows.__arrow_c_stream__(requested_schema)
    return stream


def html_of(result: object) -> str:
    """A reading or a decision as a notebook shows it."""
    shown: str = import_module("trueness.report.notebook").fragment(result)
    return shown


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


def _narrow(values: list[Json]) -> list[Json]:
    """The column as it is, or as text where a whole number has more than 64 bits."""
    if all(not isinstance(v, int) or -_WIDEST <= v < _WIDEST for v in values):
        return values
    return [None if value is None else dumps(value) for value in values]


def _type(values: Sequence[Json], kind: type | None) -> str:
    """Of a column in SQL; text where nothing is in it."""
    return _TYPES[kind or next((type(v) for v in values if v is not None), str)]


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _check_text(columns: Mapping[str, Sequence[Json]]) -> None:
    """Refuse what UTF-8 has no form for: the libraries would stop at it with less to say."""
    for name, values in columns.items():
        try:
            "".join((name, *(v for v in values if isinstance(v, str)))).encode()
        except UnicodeEncodeError as error:
            msg = (
                f"column {name!r} holds a text with half a character (a lone surrogate, "
                f"{error.object[error.start]!r}); a data frame holds UTF-8. Take to_json, which "
                "escapes it."
            )
            raise CannotSerialise(msg) from error


def _library(name: str, what: str) -> Any:
    """A library that is imported where it is used, or how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise  # it is there and broken: do not hide that
        msg = f"{what} needs {name}. Run: pip install {name}"
        raise MissingExtraError(msg) from error
