"""What the user declares about right answers, as keywords of the Python functions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FILES = ("admissible", "capacities", "candidates", "filler")
_WORDS = frozenset({"allowed", "never"})


def declared(words: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of ``certify`` from the options that were typed; files are read.

    Raises
    ------
    InputError
        When a file cannot be understood.
    """
    from trueness.table import read_declaration_file

    out = dict(words)
    for name in _FILES:
        if name in out:
            out[name] = read_declaration_file(out[name])
    if "identity" in out and out["identity"] not in _WORDS:
        out["identity"] = _entities(out["identity"])
    return out


def _entities(given: str) -> list[str]:
    from trueness.table import read_declaration_file

    if Path(given).is_file():
        return list(read_declaration_file(Path(given)))
    return [name.strip() for name in given.split(",") if name.strip()]
