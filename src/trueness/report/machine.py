"""Readings for other programs: strict JSON, JSON lines and JUnit XML."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

from trueness.contract import Decision, Reading, State
from trueness.contract.reading import INLINE_ITEMS
from trueness.contract.serial import Json, dumps, plain
from trueness.report.checks import Check, Outcome
from trueness.report.words import count_of, interval_of, named, prose, value_of, visible

Readings = Mapping[str, Reading] | Sequence[Reading] | Reading


def json(
    readings: Readings,
    *,
    decisions: Sequence[Decision] = (),
    max_items: int | None = INLINE_ITEMS,
    indent: int | None = 2,
) -> str:
    """Strict JSON: one reading as its own object, several as an object by name.

    Parameters
    ----------
    readings : mapping, sequence or Reading
    decisions : sequence of Decision
        With any, the outer object has the keys ``readings`` and ``decisions``.
    max_items : int or None
        Longer lists of items are cut to their first thousand and ``truncated`` is true; None
        writes all.
    indent : int or None
        None for one line.

    Raises
    ------
    InputError
        When there are no readings.
    """
    found = {n: r.to_dict(max_items=max_items) for n, r in named(readings).items()}
    out: Mapping[str, object] = found
    if list(found) == [""]:
        out = found[""]
    if decisions:
        out = {"readings": out, "decisions": [d.to_dict() for d in decisions]}
    return dumps(out, indent=indent)


def json_lines(readings: Readings) -> Iterator[str]:
    """One line for each item of each reading, all of them, after one line for the reading.

    The first line of a reading holds everything but its items (``"line": "reading"``), the others
    one item each (``"line": "item"``). Lines end in a line break.

    Raises
    ------
    InputError
        When there are no readings.
    """
    for name, reading in named(readings).items():
        head = reading.to_dict(max_items=0)
        head.pop("per_item")
        flagged = plain(reading.flagged, "flagged")
        line: dict[str, Json] = {"line": "reading", "name": name, **head, "flagged": flagged}
        yield dumps(line | {"truncated": False}) + "\n"
        for item in reading.per_item:
            yield dumps({"line": "item", "name": name, **_item(item)}) + "\n"


def junit(readings: Readings, *, checks: Iterable[Check] = (), suite: str = "trueness") -> str:
    """JUnit XML: a test case for each reading and one for each check.

    A measured reading passes, whatever its value: only a check can fail. A silent reading and one
    that could not be measured are skipped with their reason, for neither is a pass.

    Parameters
    ----------
    readings : mapping, sequence or Reading
    checks : iterable of Check
        Assertions that were made about the readings.
    suite : str
        Name of the suite.

    Raises
    ------
    InputError
        When there are no readings.
    """
    cases = [_reading_case(n, r) for n, r in named(readings).items()]
    cases += [_check_case(check) for check in checks]
    root = ET.Element("testsuites")
    top = ET.SubElement(
        root,
        "testsuite",
        name=visible(suite),
        tests=str(len(cases)),
        failures=str(sum(c.find("failure") is not None for c in cases)),
        skipped=str(sum(c.find("skipped") is not None for c in cases)),
        errors="0",
    )
    top.extend(cases)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _item(item: object) -> dict[str, Json]:
    out = plain(item, "item")
    return out if isinstance(out, dict) else {}


def _reading_case(name: str, reading: Reading) -> ET.Element:
    case = _case(reading.sensor, name or "reading")
    if reading.state is not State.MEASURED:
        reason = f"{reading.state}: {prose(reading.reason or '')}"
        ET.SubElement(case, "skipped", message=reason)
    value = f"value {value_of(reading)}, {interval_of(reading) or 'no interval'}"
    lines = (prose(reading.statement), value, count_of(reading))
    ET.SubElement(case, "system-out").text = "\n".join(lines)
    return case


def _check_case(check: Check) -> ET.Element:
    case = _case("check", " · ".join(t for t in (check.reading, check.name) if t))
    if check.outcome is Outcome.FAILED:
        ET.SubElement(case, "failure", message=prose(check.message))
    elif check.outcome is Outcome.UNDECIDED:
        ET.SubElement(case, "skipped", message=prose(check.message))
    return case


def _case(classname: str, name: str) -> ET.Element:
    return ET.Element("testcase", classname=visible(classname), name=visible(name), time="0")
