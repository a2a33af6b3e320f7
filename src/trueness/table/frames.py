"""Data frames of any library, lists of rows and mappings of columns."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from trueness.contract import Decision, Reading
from trueness.contract.errors import InputError
from trueness.table.cells import CellSource, from_rows, is_missing

_HINT = "Convert the column to text first, and write None where an answer is missing."
_ARROW_BACKENDS = ("polars", "pyarrow", "pandas")


def read_frame(source: object) -> CellSource:
    """The rows of a data frame, of a list of mappings, or of a mapping of lists.

    Raises
    ------
    InputError
        When the object is none of these, or holds no rows.
    """
    if isinstance(source, Mapping):
        cells = {str(name): _listed(name, column) for name, column in source.items()}
    elif isinstance(source, Sequence) and not isinstance(source, (str, bytes)):
        cells = from_rows([_row(row, i) for i, row in enumerate(source, start=1)])
    else:
        cells = _from_frame(source)
    n_rows = len(next(iter(cells.values()), []))
    if not n_rows:
        msg = "the table is empty; at least one row with an answer is wanted. Check what made it."
        raise InputError(msg)
    if any(len(column) != n_rows for column in cells.values()):
        lengths = {name: len(column) for name, column in cells.items()}
        msg = f"the columns have {lengths} entries; equally many are wanted. Complete them."
        raise InputError(msg)
    return CellSource(cells, range(1, n_rows + 1), hint=_HINT)


def _row(row: object, number: int) -> Mapping[str, object]:
    if isinstance(row, Mapping):
        return {str(name): value for name, value in row.items()}
    msg = (
        f"row {number} of the list is a {type(row).__name__}; a mapping of column names to values "
        "is wanted. Hand in a list of dicts, a data frame or a path."
    )
    raise InputError(msg)


def _listed(name: object, column: object) -> list[object]:
    if isinstance(column, Sequence) and not isinstance(column, (str, bytes)):
        return list(column)
    tolist = getattr(column, "tolist", None)
    values = tolist() if callable(tolist) else None
    if isinstance(values, list):
        return values
    msg = (
        f"column {name!r} is a {type(column).__name__}; a list with one entry a row is wanted. "
        "Hand in lists of equal length."
    )
    raise InputError(msg)


def _from_frame(source: object) -> dict[str, list[object]]:
    import narwhals as nw  # noqa: PLC0415 - only where a data frame is handed in

    try:
        frame: Any = nw.from_native(source)
    except nw.exceptions.DuplicateError as error:
        msg = (
            f"two columns of the data frame have one name ({_one_line(error)}). Rename or drop "
            "one of them."
        )
        raise InputError(msg) from error
    except TypeError:
        frame = _from_arrow(source)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    series = zip(frame.columns, frame.iter_columns(), strict=True)
    return {str(name): _values(column) for name, column in series}


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _from_arrow(source: object) -> Any:
    import narwhals as nw  # noqa: PLC0415 - as above

    if hasattr(source, "__arrow_c_stream__") and not isinstance(source, (Reading, Decision)):
        for backend in _ARROW_BACKENDS:
            if find_spec(backend):
                return nw.from_arrow(source, backend=backend)  # type: ignore[arg-type] # checked
    msg = (
        f"a {type(source).__name__} was handed in; a path, a list of dicts, a mapping of lists or "
        "a data frame (pandas, polars, pyarrow …) is wanted. Hand in one of these."
    )
    raise InputError(msg)


def _values(series: Any) -> list[object]:
    """Values of a narwhals series; in a column that is declared as text, missing is None."""
    values = series.to_list()
    native = getattr(series.to_native(), "dtype", None)
    if str(native) == "object":  # anything may stand there: nan is a value, no missing text
        return [None if type(v).__name__ == "NAType" else v for v in values]
    if type(series.dtype).__name__ in {"String", "Categorical", "Enum"}:
        return [None if is_missing(v) else v for v in values]
    return list(values)
