"""Entities: the names that were asked about, each of them once.

Two rows for one entity under two spellings would collide with themselves, so the spellings are
normalised and twins are refused, with the characters in which they differ.
"""

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.extract.short import SQL_CORE, SQL_PLAIN, short_key
from trueness.table.column import NULL, Column, TextRule


def normalise_entity(text: str) -> str | None:
    """An entity's name as it is compared: the short key with its case kept; None when blank.

    A name made of nothing but punctuation stays what it is.

    >>> normalise_entity(" France\u200b "), normalise_entity("?"), normalise_entity(" ")
    ('France', '?', None)
    """
    name = short_key(text, fold_case=False)
    if name is not None:
        return name
    visible = "".join(c for c in text if not c.isspace() and ord(c) not in _UNSEEN)
    return visible or None


_SHOWN = 12
_UNSEEN = frozenset({0x200B, 0x2060, 0xFEFF, 0x00AD, 0x200C, 0x200D})
ENTITY_RULE = TextRule(normalise_entity, SQL_PLAIN, SQL_CORE)


def normalise_entities(column: Column[str], rows: NDArray[np.int64] | None = None) -> Column[str]:
    """The column with every entity normalised, once it is sure that all are different.

    Parameters
    ----------
    column : Column[str]
        Names as they were written.
    rows : (n_rows,) int64 or None
        Row numbers of the source, named in the error beside the positions of the entities.

    Raises
    ------
    InputError
        When a name is blank or two spellings are one entity: names both, their positions among
        the entities (from 0, in order of first appearance) and the differing code points.
    """
    new = column.map(ENTITY_RULE)
    used_before, used_after = _n_used(column), _n_used(new)
    blank = (new.codes == NULL) & (column.codes != NULL)
    if not blank.any() and used_before == used_after:
        return new
    codes, first = np.unique(column.codes, return_index=True)
    first = np.sort(first[codes != NULL])
    seen: dict[int, int] = {}
    for position, row in enumerate(first.tolist()):
        code = int(new.codes[row])
        if code == NULL:
            _refuse_blank(column, row, position, rows)
        if code in seen:
            other = seen[code]
            _refuse_twins(column, (int(first[other]), row), (other, position), rows)
        seen[code] = position
    return new


def _n_used(column: Column[str]) -> int:
    counts = np.bincount(column.codes[column.codes != NULL], minlength=1)
    return int(np.count_nonzero(counts))


def _refuse_blank(
    column: Column[str], row: int, position: int, rows: NDArray[np.int64] | None
) -> None:
    msg = (
        f"entity {position}{_where(rows, row)} is blank after normalisation: {column[row]!r} "
        f"({_code_points(column[row] or '')}). An entity needs a name: name it or remove its rows."
    )
    raise InputError(msg)


def _refuse_twins(
    column: Column[str],
    at: tuple[int, int],
    positions: tuple[int, int],
    rows: NDArray[np.int64] | None,
) -> None:
    one, two = (column[row] or "" for row in at)
    parts = _differing(one, two)
    where = "" if rows is None else f" (rows {rows[at[0]]} and {rows[at[1]]})"
    msg = (
        f"entities {positions[0]} and {positions[1]}{where} are one entity after normalisation: "
        f"{one!r} ({_code_points(parts[0])}) and {two!r} ({_code_points(parts[1])}); "
        "remove one or merge their rows."
    )
    raise InputError(msg)


def _where(rows: NDArray[np.int64] | None, row: int) -> str:
    return "" if rows is None else f" (row {rows[row]})"


def _differing(one: str, two: str) -> tuple[str, str]:
    """What is left of two texts without their common beginning and end."""
    start = 0
    while start < min(len(one), len(two)) and one[start] == two[start]:
        start += 1
    one, two = one[start:], two[start:]
    end = 0
    while end < min(len(one), len(two)) and one[-1 - end] == two[-1 - end]:
        end += 1
    return one[: len(one) - end], two[: len(two) - end]


def _code_points(text: str) -> str:
    shown = " ".join(f"U+{ord(c):04X}" for c in text[:_SHOWN])
    return (shown + " …" if len(text) > _SHOWN else shown) or "nothing"
