"""The reading of any source: a file that holds one, or a table that is measured now."""

import json
from pathlib import Path
from typing import Any

from trueness import sensors
from trueness.api.grounding import ground
from trueness.api.measuring import measure
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.decide.stored import SCHEMA
from trueness.report.load import load

SENSOR = "energy"
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


def measured(source: str | Path | Reading, *, sensor: str = SENSOR, **given: Any) -> Reading:
    """The reading of a source: as it was written, or made now by the sensor.

    Parameters
    ----------
    source : path or Reading
    sensor : str
    **given
        As in `trueness.api.ground`, or in `trueness.measure` for sensors of answers.
    """
    if isinstance(source, Reading):
        return source
    path = Path(source)
    if is_reading(path):
        return loaded(path)
    module = sensors.find(sensor)
    given = {k: v for k, v in given.items() if v is not None}
    if getattr(module, "TABLE", "answers") == "evidence":
        return ground(path, sensor=sensor, **given)
    return measure(sensor, path, **{k: v for k, v in given.items() if k not in _EMBEDDING})


def is_reading(path: Path) -> bool:
    """Whether a file begins as a reading that was written."""
    head = head_of(path)
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
