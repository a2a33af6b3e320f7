"""The reading of any source: a file that holds one, or a table that is measured now."""

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from trueness import sensors
from trueness.api.grounding import ground
from trueness.api.means import SENSOR
from trueness.api.measuring import measure
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.decide.stored import SCHEMA
from trueness.report.load import load

_EMBEDDING = frozenset(
    (
        *("claim", "evidence", "label", "weights", "embedder", "revision", "split", "window"),
        *(
            "overlap",
            "limit",
            "select",
            "corpus",
            "entailer",
            "entailer_labels",
            "model",
            "cache",
            "advance",
        ),
    )
)
"""What only sensors of claims take."""
_OF_EVERY_CALL = frozenset(("label", "cache", "advance"))
"""Of these, what says nothing about how a value is made."""
_OF_READINGS = _OF_EVERY_CALL | {"group", "item"}
"""What may stand beside a reading that was made before."""


def measured(source: object, *, sensor: str = SENSOR, **given: Any) -> Reading:
    """The reading of a source: as it was written, or made now by the sensor.

    Parameters
    ----------
    source : path, data frame, list of dicts, table or Reading
    sensor : str
    **given
        As in `trueness.api.ground`, or in `trueness.measure` for sensors of answers.

    Raises
    ------
    InputError
        When something is given that a written reading, or a sensor of answers, has no use for.
    """
    given = {k: v for k, v in given.items() if v is not None}
    if isinstance(source, Reading) or is_reading(source):
        _refuse(given.keys() - _OF_READINGS, "the reading was made before")
        reading = source if isinstance(source, Reading) else loaded(Path(str(source)))
        _check_sources(reading, given.get("group"))
        return reading
    module = sensors.find(sensor)
    if getattr(module, "TABLE", "answers") == "evidence":
        return ground(source, sensor=sensor, **given)
    idle = (_EMBEDDING - _OF_EVERY_CALL) & given.keys()
    _refuse(idle, f"the sensor {sensor!r} reads answers and no evidence")
    return measure(sensor, source, **{k: v for k, v in given.items() if k not in _EMBEDDING})


def _check_sources(reading: Reading, group: object) -> None:
    """Refuse a column of sources that a reading was made without: none of its items has one."""
    if group is None or any(item.extra.get("group") is not None for item in reading.per_item):
        return
    msg = (
        f"group is {group!r}, and no item of the reading has a source: it was made without that "
        "column. Measure the table with it, or hand the table in."
    )
    raise InputError(msg)


def _refuse(idle: Collection[str], why: str) -> None:
    if idle:
        msg = f"{min(idle)} is given, and {why}: it would change nothing. Leave it out."
        raise InputError(msg)


def is_reading(source: object) -> bool:
    """Whether a source is a reading, or a file that begins as one that was written."""
    if not isinstance(source, (str, os.PathLike)):
        return isinstance(source, Reading)
    head = head_of(Path(source))
    if head is None or head.get("schema") == SCHEMA:
        return False
    return head.get("line") == "reading" or bool({"sensor", "readings"} & set(head))


def head_of(path: Path) -> dict[str, Any] | None:
    """The object of a JSON file, or of the first line of JSON lines; None for any other."""
    kind = path.suffix.lower()
    if kind not in {".json", ".jsonl"} or not path.is_file():
        return None
    try:
        with path.open(encoding="utf-8-sig") as file:
            found = json.loads(file.read() if kind == ".json" else file.readline())
    except (ValueError, OSError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def loaded(path: Path) -> Reading:
    """The one reading of a file, with all of its items.

    Raises
    ------
    InputError
        When it holds several, or was cut.
    """
    readings = load(path).readings
    if len(readings) != 1:
        msg = (
            f"{path} holds {len(readings)} readings ({', '.join(list(readings)[:5])}); one is "
            "wanted. Write the one that is decided about to a file of its own."
        )
        raise InputError(msg)
    reading = next(iter(readings.values()))
    if len(reading.per_item) < reading.n_items:
        msg = (
            f"{path} holds {len(reading.per_item)} of the reading's {reading.n_items} items. "
            "Write it with -o file.jsonl, or hand in the table."
        )
        raise InputError(msg)
    return reading
