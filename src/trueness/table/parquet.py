"""Parquet through DuckDB, which is loaded only where a Parquet file is written."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trueness.contract.errors import CannotSerialise
from trueness.contract.serial import Json, dumps
from trueness.table.answers import AnswerTable
from trueness.table.native import header_of, names_of, rows_of

if TYPE_CHECKING:
    import duckdb

TYPES: Mapping[str, str] = {
    "epoch": "INTEGER",
    "target": "VARCHAR[]",
    "logprob": "DOUBLE",
    "observer": "DOUBLE[]",
    "weight": "BIGINT",
}
"""Types of columns that are no text."""
METADATA_KEY = "trueness"
"""Under this key the file's metadata hold the header line."""
_BATCH = 20_000


def write_parquet(table: AnswerTable, path: Path) -> None:
    """Write a table as Parquet, its header in the file's metadata.

    Raises
    ------
    CannotSerialise
        For a text that holds a lone surrogate: Parquet is UTF-8.
    OSError
        When the file cannot be written.
    """
    import duckdb  # noqa: PLC0415 - slow to load, needed only here

    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        try:
            _fill(connection, table)
            meta, name = (t.replace("'", "''") for t in (dumps(header_of(table)), str(path)))
            connection.execute(
                f"COPY answers TO '{name}' (FORMAT parquet, "
                f"KV_METADATA {{{METADATA_KEY}: '{meta}'}})"
            )
        except duckdb.IOException as error:
            raise OSError(0, str(error).splitlines()[0]) from error
        except (UnicodeEncodeError, duckdb.InvalidInputException) as error:
            if "surrogate" not in str(error):
                raise
            msg = (
                f"{path} cannot hold a text with half a character (a lone surrogate); Parquet is "
                "UTF-8. Write .jsonl, which keeps it."
            )
            raise CannotSerialise(msg) from error


def _fill(connection: "duckdb.DuckDBPyConnection", table: AnswerTable) -> None:
    names = names_of(table)
    declared = ", ".join(f"{quoted(n)} {TYPES.get(n, 'VARCHAR')}" for n in names)
    connection.execute(f"CREATE TABLE answers ({declared})")
    batch: list[list[Json]] = []
    for row in rows_of(table):
        batch.append([row.get(n) for n in names])
        if len(batch) == _BATCH:
            _insert(connection, names, batch)
            batch = []
    if batch:
        _insert(connection, names, batch)


def _insert(
    connection: "duckdb.DuckDBPyConnection", names: Sequence[str], batch: list[list[Json]]
) -> None:
    marks = ", ".join(f"unnest(?::{TYPES.get(n, 'VARCHAR')}[])" for n in names)
    columns = [list(column) for column in zip(*batch, strict=True)]
    connection.execute(f"INSERT INTO answers SELECT {marks}", columns)


def quoted(name: str) -> str:
    """A column name as SQL reads it literally."""
    return '"' + name.replace('"', '""') + '"'
