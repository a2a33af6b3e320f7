"""The one door for claims with evidence: any file or data frame, any names, one table."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unicodedata import category

import numpy as np

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.aliases import ALIASES
from trueness.table.bulk import BulkSource, read_parquet
from trueness.table.cells import CellSource, Constant, is_missing
from trueness.table.column import Column
from trueness.table.delimited import read_delimited
from trueness.table.evidence import EvidenceTable
from trueness.table.frames import read_frame
from trueness.table.jsonlines import read_json
from trueness.table.sniff import FileKind, sniff

NAMES: Mapping[str, tuple[str, ...]] = {
    "claim": ("claim", "statement", "hypothesis", "answer", "response", "completion", "output"),
    "evidence": (
        "evidence",
        "passages",
        "contexts",
        "context",
        "retrieved_contexts",
        "retrieval_context",
        "documents",
        "knowledge",
        "premise",
    ),
    "item": ALIASES["item"],
    "group": (*ALIASES["group"], "source"),
    "label": ("label",),
}
"""Ours → what is accepted for it, in any case; the first that a source has is taken."""
_REQUIRED = ("claim", "evidence")
_SHOWN = 60
_UNSEEN = frozenset({"Cc", "Cf"})
"""Categories of characters that are never drawn: controls, and marks of direction and width."""


def read_evidence(
    source: object,
    *,
    claim: str | None = None,
    evidence: str | None = None,
    item: str | None = None,
    group: str | None = None,
    label: str | None = None,
    weights: str | None = None,
    limit: int | None = None,
) -> EvidenceTable:
    r"""Claims and their evidence from a file or data frame, one row a claim.

    Evidence is a list of texts, or the JSON of one; any other text is one text that is still to
    be split into passages. Nothing, an empty list and a blank text are no evidence.

    Parameters
    ----------
    source : path, data frame, list of dicts or dict of lists
        JSON lines, JSON, CSV with ``, ; tab |``, Parquet; told apart by content.
    claim, evidence, item, group, label : str, optional
        Names of columns; they win over every recognised name. Without an item column the rows
        are numbered.
    weights : str, optional
        Column with a list of numbers above 0, one a passage; only where it is named.
    limit : int, optional
        Only so many of the first claims.

    Raises
    ------
    InputError
        When the source cannot be read, a column is absent, an item stands twice, or a cell holds
        no text.

    Examples
    --------
    >>> rows = [{"claim": "Oslo is in Norway.", "evidence": ["Norway's capital is Oslo."]}]
    >>> table = read_evidence(rows)
    >>> table.item.values(), table.passages(0)
    (['1'], ("Norway's capital is Oslo.",))
    """
    given = {"claim": claim, "evidence": evidence, "item": item, "group": group, "label": label}
    check_names(**given, weights=weights)
    if isinstance(source, EvidenceTable):
        return _first(source, limit)
    opened = _opened(source)
    roles = _roles(opened.names, given)
    notes = list(opened.notes)
    if "item" in roles:
        items = opened.text(roles["item"]).map(_named)
    else:
        items = Column.of(str(i) for i in opened.row_numbers)
        notes.append("No column names the claims: they are called by their row.")
    cells = [_passages(opened, roles["evidence"], i) for i in range(opened.n_rows)]
    notes += _left_out([texts or () for texts, _ in cells])
    taken = set(roles.values()) | ({weights} if weights is not None else set())
    table = EvidenceTable(
        item=items,
        claim=opened.answers(roles["claim"]).map(_visible),
        evidence=Column.of(texts for texts, _ in cells),
        row_number=np.asarray(opened.row_numbers, np.int64),
        whole=np.array([whole for _, whole in cells], np.bool_),
        group=opened.text(roles["group"]).map(_named) if "group" in roles else None,
        label=opened.evidence(roles["label"]) if "label" in roles else None,
        weights=None if weights is None else _weights(opened, weights, cells),
        extras={name: opened.evidence(name) for name in opened.names if name not in taken},
        notes=tuple(notes),
    )
    return _first(table, limit)


def _first(table: EvidenceTable, limit: int | None) -> EvidenceTable:
    """The first claims of a table, with a note that there are more."""
    if limit is None:
        return table
    given: object = limit
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or limit < 1:
        msg = f"limit is {limit!r}; take at least 1 claim, a whole number."
        raise InputError(msg)
    if limit >= len(table):
        return table
    note = f"Only the first {limit:,} of {len(table):,} claims were taken."
    return replace(table.take(np.arange(limit)), notes=(*table.notes, note))


def check_names(**names: object) -> None:
    """Refuse names of columns that are no texts.

    Raises
    ------
    InputError
    """
    for role, name in names.items():
        if not isinstance(name, str | None):
            msg = f"{role} is {name!r}, a {type(name).__name__}; give the name of one column."
            raise InputError(msg)


def _left_out(evidence: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Say how many passages hold nothing, where others of the same list hold something."""
    n = sum(not text for texts in evidence if any(texts) for text in texts)
    if not n:
        return ()
    return (f"{n:,} of {sum(map(len, evidence)):,} passages are blank or missing: left out.",)


def has_claims(source: object) -> bool:
    """Whether a source is claims with evidence, by the names of its columns.

    >>> has_claims([{"claim": "a", "evidence": []}]), has_claims([{"answer": "a"}])
    (True, False)
    """
    if isinstance(source, EvidenceTable):
        return True
    if isinstance(source, (str, os.PathLike)) and Path(source).is_dir():
        return False
    try:
        names = {str(name).casefold() for name in _opened(source).names}
    except InputError:
        return False
    return "claim" in names and bool(names & {*NAMES["evidence"]})


def _opened(source: object) -> CellSource:
    if not isinstance(source, (str, os.PathLike)):
        return read_frame(source)
    path = Path(source)
    kind = sniff(path)
    if kind is FileKind.JSON:
        return read_json(path)
    if kind is FileKind.DELIMITED:
        return read_delimited(path)
    found = read_parquet(path)
    if isinstance(found, BulkSource):
        found.load(found.names)
        found = found.cells()
    return found


def _roles(names: Sequence[str], given: Mapping[str, str | None]) -> dict[str, str]:
    """Which column plays which role."""
    roles: dict[str, str] = {}
    for role, name in given.items():
        if name is not None and name not in names:
            msg = f"there is no column {name!r}; the table has {_listed(names)}. Name one of these."
            raise InputError(msg)
        found = name or _recognised(names, role, {*roles.values(), *filter(None, given.values())})
        if found is not None:
            roles[role] = found
        elif role in _REQUIRED:
            msg = (
                f"no column is recognised as the {role}; the table has {_listed(names)}, known "
                f"names are {', '.join(NAMES[role])}. Name it with --{role}."
            )
            raise InputError(msg)
    twice = [n for n in roles.values() if list(roles.values()).count(n) > 1]
    if twice:
        msg = f"column {twice[0]!r} was named for two things. Name different columns."
        raise InputError(msg)
    return roles


def _recognised(names: Sequence[str], role: str, taken: set[str]) -> str | None:
    folded = {name.casefold(): name for name in reversed(names) if name not in taken}
    return next((folded[alias] for alias in NAMES[role] if alias in folded), None)


def _named(text: str) -> str | None:
    """A name as it stands; None for a blank one."""
    return text if text.strip() else None


def _visible(text: str) -> str:
    """A text as it stands; empty where it holds nothing but spaces and marks that nobody sees."""
    seen = any(c > " " and category(c) not in _UNSEEN and not c.isspace() for c in text)
    return str(text) if seen else ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "no columns"


def _passages(source: CellSource, name: str, row: int) -> tuple[tuple[str, ...] | None, bool]:
    """The passages of a cell, and whether it was one text that is still to be split."""
    value = source.cells[name][row]
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        value = tolist()
    where = f"row {source.row_numbers[row]}, column {name!r}"
    if _is_nothing(value) or (isinstance(value, str) and not _visible(value)):
        return None, False
    if isinstance(value, str) and not isinstance(value, Constant):
        listed = _listed_in(str(value), where)
        if listed is None:
            return (str(value),), True
        value = listed
    if not isinstance(value, (list, tuple)):
        raise _no_text(where, value)
    return tuple(_text(where, v) for v in value) or None, False


def _listed_in(text: str, where: str) -> list[Json] | None:
    """The list that a text is the JSON of; None when it is plain text."""
    if not text.lstrip().startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip()[1:].lstrip()[:1] in {'"', "'", "]"}:
            msg = (
                f"{where}: a list that is no JSON ({error}). Write it with json.dumps, or write "
                "one text."
            )
            raise InputError(msg) from error
        return None  # a text that begins with a bracket, as a reference mark does
    return found if isinstance(found, list) else None


def _weights(
    source: CellSource, name: str, cells: Sequence[tuple[tuple[str, ...] | None, bool]]
) -> Column[tuple[float, ...]]:
    """Weights of the passages, one each."""
    if name not in source.names:
        msg = f"there is no column {name!r}; the table has {_listed(source.names)}. Name one."
        raise InputError(msg)
    needed = [
        value if texts else None  # without evidence there is nothing to weigh
        for value, (texts, _) in zip(source.cells[name], cells, strict=True)
    ]
    found = replace(source, cells={name: needed}).vectors(name)
    for row, (texts, whole) in enumerate(cells):
        given = found[row] or ()
        if whole or len(given) != len(texts or ()) or not all(w > 0 for w in given):
            msg = (
                f"row {source.row_numbers[row]} has the weights {list(given)} for "
                f"{'one text' if whole else len(texts or ())} of evidence; wanted is a list of "
                "passages and one finite number above 0 for each."
            )
            raise InputError(msg)
    return found


def _is_nothing(value: object) -> bool:
    """Whether a value is a mark for nothing, as JSON's NaN is."""
    return is_missing(value) or (isinstance(value, Constant) and value == "NaN")


def _text(where: str, value: object) -> str:
    if _is_nothing(value):
        return ""
    if isinstance(value, str) and not isinstance(value, Constant):
        return _visible(value)
    raise _no_text(where, value)


def _no_text(where: str, value: object) -> InputError:
    shown = repr(value)[:_SHOWN]
    msg = (
        f"{where} holds {shown} of type {type(value).__name__}; passages are texts: wanted is a "
        "list of texts, or one text. Write them so."
    )
    return InputError(msg)
