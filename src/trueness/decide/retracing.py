"""Every decision of a trace derived again, by the same function, and what does not fit."""

from collections.abc import Sequence
from pathlib import Path

from trueness.contract import Direction, Reading
from trueness.contract.errors import InputError
from trueness.decide.checking import Check, Row
from trueness.decide.lines import HASH
from trueness.decide.policy import Policy
from trueness.decide.problems import Found, Problem, Replayed
from trueness.decide.rereading import batches, parsed
from trueness.decide.stored import SCHEMA, GateFile
from trueness.decide.trace import HMAC

_HEAD, _SHOWN = 8, 5
"""Lines that say what a file is, and names of fields that are shown."""


def replay(
    trace: Path,
    gate: GateFile,
    *,
    reading: Reading | None = None,
    key: bytes | None = None,
    max_listed: int = 1000,
) -> Replayed:
    """Derive every decision of a trace again and list what does not fit.

    Parameters
    ----------
    trace : Path
    gate : GateFile
        Read with ``checked=False``: what contradicts itself in it is listed.
    reading : Reading, optional
        That was decided about.
    key : bytes, optional
        With which the manifest was signed.
    max_listed : int
        Problems listed; all are counted.

    Raises
    ------
    InputError
        When the file cannot be read, or is no trace.
    """
    found = Found(max_listed)
    for kind, why in gate.faults():
        found.add(Problem(kind, None, why))
    check = Check(found, gate.policy, gate.calibration.direction, gate=gate, reading=reading)
    last = None
    for batch in batches(trace):
        if not check.n_lines and not any(map(_is_of_trace, batch)):
            msg = f"{trace} is no trace but {_what(batch)}. Name what gate wrote with -o."
            raise InputError(msg)
        lines = batch if last is None else [last, *batch]
        last = lines.pop()
        check.lines(lines)
    manifest = None if last is None else check.end(last)
    check.manifest(manifest, key)
    signed = manifest is not None and HMAC in manifest
    return found.replayed(check.n_rows, _limits(reading, key, signed=signed))


def replay_rows(
    rows: Sequence[Row],
    manifest: Row | None,
    policy: Policy,
    *,
    direction: Direction = Direction.HIGHER_IS_WORSE,
) -> Replayed:
    """The same for rows in hand and a policy without a calibration.

    Parameters
    ----------
    rows : sequence of mapping
    manifest : mapping or None
    policy : Policy
    direction : Direction
        Which way the value gets worse.
    """
    found = Found(len(rows) * 4 + 8)
    check = Check(found, policy, direction)
    check.rows(rows)
    check.manifest(manifest, None)
    return found.replayed(check.n_rows, ())


def _is_of_trace(line: bytes) -> bool:
    """Whether a line, changed or not, is a decision or a manifest."""
    row = _row(line)
    return row is not None and (HASH in row or {"prev", "seq"} <= row.keys())


def _row(line: bytes) -> Row | None:
    try:
        return parsed(line)
    except ValueError:
        return None


def _what(lines: Sequence[bytes]) -> str:
    """What a file is that is no trace, from its first lines."""
    if any(SCHEMA.encode() in line for line in lines[:_HEAD]):
        return "a gate file"
    rows = [row for line in lines[:_HEAD] if (row := _row(line)) is not None]
    names = [name for row in rows for name in row]
    if not names:
        return "a file without decisions"
    if "sensor" in names or "readings" in names:
        return "a reading"
    if "item" in names and not {"answer", "answers", "completion"}.isdisjoint(names):
        return "an answer table"
    return f"JSON lines of {', '.join(list(dict.fromkeys(names))[:_SHOWN])}"


def _limits(reading: Reading | None, key: bytes | None, *, signed: bool) -> tuple[str, ...]:
    """What this replay could not see."""
    found = []
    if signed and key is None:
        found.append(
            "the trace is signed and its signature was not checked; name the file with the key: "
            "--key FILE, or key= in Python"
        )
    if reading is None:
        found.append("without the reading, values and states are taken as the trace has them")
    if key is None:
        found.append(
            "without a key, a trace rewritten as a whole with its manifest passes the chain; a "
            "verdict that the policy does not give is found all the same"
        )
    return tuple(found)
