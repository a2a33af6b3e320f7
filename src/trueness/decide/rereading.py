"""Lines of a trace read back: strictly, or at a glance when they are as they were written."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from trueness.contract import Direction
from trueness.contract.errors import InputError, InvalidReading
from trueness.contract.serial import Json
from trueness.decide.columns import STATES, Columns
from trueness.decide.deciding import RULES, VERDICTS, decide_columns
from trueness.decide.lines import HASH, HEAD, TAIL, Context, Template, encoded, hash_of
from trueness.decide.policy import Policy

_BYTES = 1 << 22
_STATE = {state.value: code for code, state in enumerate(STATES)}
_GROUPS = (*HEAD, "cut", HASH, *TAIL)
_AT = {name: place for place, name in enumerate(_GROUPS)}


def batches(path: Path) -> Iterator[list[bytes]]:
    """The lines of a file, some megabytes at a time.

    Raises
    ------
    InputError
        When the file cannot be read or holds no line.
    """
    empty = True
    try:
        with path.open("rb") as file:
            while lines := file.readlines(_BYTES):
                full = [line for line in lines if line.strip()]
                empty = empty and not full
                if full:
                    yield full
    except OSError as error:
        msg = f"the trace {path} cannot be read: {error.strerror}. Name a file that gate wrote."
        raise InputError(msg) from error
    if empty:
        msg = f"the trace {path} is empty; wanted one decision a line. Name what gate wrote."
        raise InputError(msg)


def parsed(line: bytes) -> Mapping[str, Json]:
    """The row of a line.

    Raises
    ------
    ValueError
        When it is no strict JSON object, or has a key twice.
    """
    try:
        row = json.loads(line.decode("utf-8"), object_pairs_hook=_once, parse_constant=_constant)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None
    if not isinstance(row, dict):
        msg = f"a {type(row).__name__}, no object"
        raise ValueError(msg)  # noqa: TRY004 - a row that cannot be read is one kind of problem
    hash_of(row)  # refuses numbers that are no numbers
    return row


@dataclass(frozen=True, slots=True)
class Clean:
    """What must be known about lines that are all in order."""

    last: str
    verdicts: Counter[str]


@dataclass(frozen=True, slots=True)
class QuickCheck:
    """Whether lines are to the byte what the writer writes, with the policy's verdicts.

    It only ever says yes: whatever does not look right is read again strictly.
    """

    pattern: re.Pattern[str]
    policy: Policy
    direction: Direction
    read: Columns | None

    @classmethod
    def of(cls, context: Context, read: Columns | None) -> "QuickCheck":
        """The check of one run."""
        gate = context.gate
        pattern = Template.of(context).pattern(any_reading=read is None)
        return cls(pattern, gate.policy, gate.calibration.direction, read)

    def clean(self, lines: Sequence[bytes], prev: str, seq: int) -> Clean | None:
        """Last hash and verdicts if every line is in order; None says: look closely."""
        found = []
        match = self.pattern.fullmatch
        for line in lines:
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                return None
            seen = match(text, 0, len(text) - text.endswith("\n"))
            if seen is None:
                return None
            start, end = seen.span(_AT["cut"] + 1)
            body = text[:start] + text[end : seen.end()]
            parts = seen.groups()
            own = parts[_AT[HASH]]
            seq += 1
            if (
                parts[_AT["prev"]] != prev
                or parts[_AT["seq"]] != str(seq)
                or sha256(body.encode()).hexdigest() != own
            ):
                return None
            prev = own
            found.append(parts)
        return self._decided(found, prev, seq) if found else Clean(prev, Counter())

    def _decided(self, found: list[tuple[str, ...]], last: str, seq: int) -> Clean | None:
        parts = dict(zip(_GROUPS, zip(*found, strict=True), strict=True))
        columns = self._columns(parts)
        if columns is None or not self._as_read(columns, parts, seq - len(found)):
            return None
        rulings = decide_columns(self.policy, columns)
        risks = _texts(columns.risk, columns)
        verdicts = [VERDICTS[v].value for v in rulings.verdict.tolist()]
        rules = [RULES[r] for r in rulings.rule.tolist()]
        same = (
            list(parts["risk"]) == risks
            and list(parts["verdict"]) == verdicts
            and list(parts["rule"]) == rules
        )
        return Clean(last, Counter(verdicts)) if same else None

    def _columns(self, parts: Mapping[str, tuple[str, ...]]) -> Columns | None:
        codes = [_STATE.get(state, -1) for state in parts["state"]]
        if min(codes) < 0:
            return None
        try:
            values = np.array([np.nan if v == "null" else float(v) for v in parts["value"]])
            columns = Columns(
                parts["item"],
                np.array(codes, dtype=np.int8),
                values,
                self.direction,
                _diagnostics(parts["diagnostics"]),
            )
        except (ValueError, InvalidReading):
            return None
        shown = ["null" if np.isnan(v) else repr(v) for v in values.tolist()]
        return columns if list(parts["value"]) == shown else None

    def _as_read(self, columns: Columns, parts: Mapping[str, tuple[str, ...]], start: int) -> bool:
        """Whether these rows are the reading's, from its row ``start``."""
        if self.read is None:
            return True
        rows = slice(start, start + len(columns))
        if rows.stop > len(self.read) or self.read.route is not None or self.policy.diagnostics:
            return False
        places = range(rows.start, rows.stop)
        return (
            np.array_equal(columns.state, self.read.state[rows])
            and np.array_equal(columns.value, self.read.value[rows], equal_nan=True)
            and list(parts["item"]) == [encoded(self.read.items[i]) for i in places]
        )


def _texts(values: np.ndarray[tuple[int], np.dtype[np.float64]], columns: Columns) -> list[str]:
    pairs = zip(values.tolist(), columns.measured.tolist(), strict=True)
    return [repr(v) if known else "null" for v, known in pairs]


def _diagnostics(texts: tuple[str, ...]) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    found: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for row, text in enumerate(texts):
        if text == "{}":
            continue
        named = json.loads(text, object_pairs_hook=_once)
        if not isinstance(named, dict) or encoded(named) != text:
            msg = "not as it was written"
            raise ValueError(msg)
        for name, value in named.items():
            column = found.setdefault(name, np.full(len(texts), np.nan))
            column[row] = np.nan if value is None else value
    return found


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    row = dict(pairs)
    if len(row) < len(pairs):
        msg = "a key stands twice"
        raise ValueError(msg)
    return row


def _constant(name: str) -> float:
    msg = f"{name} is no number"
    raise ValueError(msg)
