"""Flags that send items to a person, put beside a reading that does not have them itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trueness.contract import ItemReading, Reading
from trueness.contract.errors import InputError
from trueness.decide.columns import ROUTE


def routed(reading: Reading, flags: Mapping[str, Sequence[str]]) -> Reading:
    """The reading with flags beside those that its items have; a flagged item is reviewed.

    Parameters
    ----------
    reading : Reading
    flags : mapping of str to sequence of str
        By item: why it goes to a person. Items without a flag are left as they are.

    Raises
    ------
    InputError
        When an item of the flags is not in the reading.
    """
    if not flags:
        return reading
    known = {entry.item for entry in reading.per_item}
    strange = [item for item in flags if item not in known]
    if strange:
        msg = (
            f"{len(strange)} flagged items are not in the reading, such as {strange[0]!r}. Name "
            "items as the reading does."
        )
        raise InputError(msg)
    return replace(
        reading,
        per_item=tuple(_flagged(entry, flags.get(entry.item, ())) for entry in reading.per_item),
    )


def _flagged(entry: ItemReading, flags: Sequence[str]) -> ItemReading:
    if not flags:
        return entry
    had = entry.extra.get(ROUTE)
    before = list(had) if isinstance(had, (list, tuple)) else []
    more = [flag for flag in flags if flag not in before]
    return replace(entry, extra={**entry.extra, ROUTE: [*before, *more]})
