"""What a written file holds of a table: the rows that are not withheld, and what CSV loses."""

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
    looked_at = sum(len(table.only(n)) if n in table.conditions else len(table) for n in readings)
    for path in paths:
        write(kept, ready(path))
        note(f"wrote {path}: {len(kept):,} of {looked_at:,} rows are not withheld")


def lost(table: "AnswerTable", path: Path) -> str:
    """What a CSV does not hold: how the answers were obtained, such as without sampling."""
    if path.suffix.lower() != ".csv":
        return ""
    facts = sorted({name for p in table.protocols.values() for name in p.fields})
    if not facts:
        return ""
    return (
        f", without their protocol ({', '.join(facts)}): two CSV files cannot be checked against "
        "it, and repeats without sampling look like draws; .jsonl and .parquet hold it"
    )
