"""The rows of a table that no reading withholds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trueness.cli.output import note, ready

if TYPE_CHECKING:
    from trueness.contract import Reading
    from trueness.table import AnswerTable


def write_kept(
    table: "AnswerTable", readings: Mapping[str, "Reading"], paths: Sequence[Path]
) -> None:
    """Write the rows that are not withheld, under every condition that has a reading."""
    from trueness import api
    from trueness.table import write

    kept = api.kept(table, readings)
    for path in paths:
        write(kept, ready(path))
        note(f"wrote {path}: {len(kept):,} of {len(table):,} rows are not withheld")
