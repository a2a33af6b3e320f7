"""What was merged, kept apart or set aside by extraction, so that nothing happens in silence."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from trueness.extract.result import FLAG, UNIT
from trueness.table.answers import AnswerTable
from trueness.table.column import NULL, Column, pick

_NO_UNIT = ""
_HUNDRED = 100


@dataclass(frozen=True, slots=True)
class TwoUnits:
    """One key of one item that was given with several unit classes.

    ``units`` holds ``""`` for draws without a unit.
    """

    item: str
    key: str
    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PercentAndShare:
    """One item with a percentage and the same value as a plain number: 50 % and 1/2."""

    item: str
    percent: str
    share: str


@dataclass(frozen=True, slots=True)
class ExtractionAudit:
    """What a reader of the keys should know about how they were made.

    Parameters
    ----------
    two_units : tuple of TwoUnits
        Keys that unite draws of several unit classes.
    percent_and_share : tuple of PercentAndShare
        Keys that stay apart though they may mean the same.
    infrastructure_texts : int
        Rows whose text was a message of the host: missing data.
    label_text_mismatches : int
        Rows that name one option's label and another option's text; the label counts.
    approximate : int
        Rows whose number was called approximate.
    """

    two_units: tuple[TwoUnits, ...]
    percent_and_share: tuple[PercentAndShare, ...]
    infrastructure_texts: int
    label_text_mismatches: int
    approximate: int


def extraction_audit(table: AnswerTable) -> ExtractionAudit:
    """The audit of a table that `keyed` returned.

    Parameters
    ----------
    table : AnswerTable
        With the extras ``unit`` and ``flag`` where there are any.

    Examples
    --------
    >>> from trueness.extract.keying import keyed
    >>> from trueness.table import read_answers
    >>> rows = [{"item": "a", "completion": f"#### {x}"} for x in ("50%", "50", "1/2")]
    >>> audit = extraction_audit(keyed(read_answers(rows), kind="number"))
    >>> audit.two_units[0].units, audit.percent_and_share[0].share
    (('', '%'), '1/2')
    """
    units = _units(table)
    return ExtractionAudit(
        two_units=tuple(_two_units(units)),
        percent_and_share=tuple(_percent_and_share(units)),
        infrastructure_texts=_count(table.reason, "infrastructure_text"),
        label_text_mismatches=_count(table.extras.get(FLAG), "label_text_mismatch"),
        approximate=_count(table.extras.get(FLAG), "approximate"),
    )


def _units(table: AnswerTable) -> dict[str, dict[str, set[str]]]:
    """For every item that has a unit anywhere: its keys and the units of each."""
    unit = table.extras.get(UNIT)
    if unit is None:
        return {}
    with_unit = np.unique(table.item.codes[unit.codes != NULL])
    rows = np.isin(table.item.codes, with_unit) & (table.answer.codes != NULL)
    columns = (table.item.codes[rows], table.answer.codes[rows], unit.codes[rows])
    cells = np.unique(np.stack(columns, axis=1), axis=0).tolist()
    items = dict(zip(with_unit.tolist(), pick(table.item.words, with_unit.tolist()), strict=True))
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for item, key, code in cells:
        word = _NO_UNIT if code == NULL else unit.words[code]
        found[items[item]][_bare(table.answer.words[key], word)].add(word)
    return found


def _bare(key: str, unit: str) -> str:
    """A key without the unit that was kept in it."""
    return key.removesuffix(f" {unit}") if unit else key


def _two_units(units: dict[str, dict[str, set[str]]]) -> Iterator[TwoUnits]:
    for item, keys in units.items():
        for key, classes in keys.items():
            if len(classes) > 1:
                yield TwoUnits(item, key, tuple(sorted(classes)))


def _percent_and_share(units: dict[str, dict[str, set[str]]]) -> Iterator[PercentAndShare]:
    for item, keys in units.items():
        values = {value: key for key in keys if (value := _value(key)) is not None}
        for value, key in values.items():
            share = values.get(value / _HUNDRED)
            if "%" in keys[key] and share is not None and keys[share] - {"%"}:
                yield PercentAndShare(item, key, share)


def _value(key: str) -> Fraction | None:
    """The value of a rational key, zero left out: 0 % and 0 are no two answers."""
    up, _, low = key.partition("/")
    if not up.lstrip("-").isdecimal() or (low and not low.isdecimal()):
        return None
    return Fraction(int(up), int(low or "1")) or None


def _count(column: Column[str] | None, word: str) -> int:
    """Rows whose word names something."""
    if column is None:
        return 0
    codes = [i for i, found in enumerate(column.words) if word in found.split("; ")]
    return int(np.count_nonzero(np.isin(column.codes, codes)))
