"""What is known about claims: labels by item, from a table or from a file of their own."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trueness.api.readings import is_reading
from trueness.contract.errors import InputError
from trueness.table.delimited import read_delimited
from trueness.table.evidence_reading import check_names, read_evidence
from trueness.table.frames import read_frame
from trueness.table.jsonlines import read_json
from trueness.table.sniff import FileKind, sniff

CLAIMS = ("claim", "evidence", "item", "group", "label", "limit")
"""What says how a table of claims is read."""


def labels_of(
    source: object,
    *,
    label: str | None,
    labels: object,
    given: Mapping[str, Any],
) -> dict[str, object]:
    """Labels by item: of the table's own column, or of a file keyed on item.

    Parameters
    ----------
    source : path, data frame, list of dicts, table or Reading
    label : str or None
        Name of the column.
    labels : path, data frame, list of dicts, mapping or None
        Where they are not in the source; a mapping holds them by item.
    given : mapping
        How the table is read.

    Raises
    ------
    InputError
        When there are none, or a table's own and others.
    """
    if labels is not None and label is not None and not is_reading(source):
        msg = (
            f"labels are named twice: the column {label!r} of the table and a file or mapping of "
            "their own (label and labels). Give one of these."
        )
        raise InputError(msg)
    if isinstance(labels, Mapping):
        return dict(labels)
    if labels is not None:
        return label_file(labels, item=given.get("item"), label=label)
    if is_reading(source):
        msg = "a reading holds no labels. Name a file with columns item and label: --labels FILE."
        raise InputError(msg)
    names = {k: v for k, v in given.items() if k in CLAIMS and v is not None}
    table = read_evidence(source, label=label, **names)
    if table.label is None:
        msg = f"{_said(source)} has no column with labels. Name it with --label COLUMN."
        raise InputError(msg)
    pairs = zip(table.item.values(), table.label.values(), strict=True)
    return {str(item): said(word) for item, word in pairs}


def label_file(
    given: object, *, item: str | None = None, label: str | None = None
) -> dict[str, object]:
    """Labels by item from a file, JSON lines, JSON or CSV, or from a data frame or list of dicts.

    Raises
    ------
    InputError
        When a column is not there or an item stands twice.
    """
    if isinstance(given, (str, os.PathLike)):
        path = Path(given)
        source = read_json(path) if sniff(path) is FileKind.JSON else read_delimited(path)
    else:
        source = read_frame(given)
    check_names(item=item, label=label)
    columns = (item or "item", label or "label")
    missing = [name for name in columns if name not in source.cells]
    if missing:
        msg = (
            f"{_said(given)} has no column {missing[0]!r}; its columns are "
            f"{', '.join(source.names)}. Labels are keyed on item: name them with --item and "
            "--label."
        )
        raise InputError(msg)
    found: dict[str, object] = {}
    for name, word in zip(*(source.cells[c] for c in columns), strict=True):
        if str(name) in found:
            msg = f"{_said(given)} names the item {name!r} twice; one label an item is wanted."
            raise InputError(msg)
        found[str(name)] = said(word)
    return found


def _said(source: object) -> str:
    return str(source) if isinstance(source, (str, os.PathLike)) else "the table"


def said(word: object) -> object:
    """A label from a file: truth values and the numbers 0 and 1 are what they were written as."""
    known = {"true": True, "false": False, "0": 0, "1": 1, "": None}
    return known.get(word.strip().lower(), word) if isinstance(word, str) else word
