"""Lines of a trace read back: strictly, or at a glance when they are as they were written."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from trueness.contract import Direction
from trueness.contract.errors import InputError, InvalidReading
from trueness.contract.serial import Json, once
from trueness.decide.columns import STATES, Columns
from trueness.decide.deciding import RULES, VERDICTS, decide_columns
from trueness.decide.lines import HASH, READ, Context, Template, encoded, hash_of
from trueness.decide.policy import Policy

_BYTES = 1 << 20
_VERDICTS = tuple(v.value.encode() for v in VERDICTS)
_RULES = tuple(rule.encode() for rule in RULES)
_STATE = {state.value.encode(): code for code, state in enumerate(STATES)}
_OWN = READ.index(HASH)
_LEAD = len(b',"hash":"')


def batches(path: Path) -> Iterator[list[bytes]]:
    """The lines of a file, some megabytes at a time.

    Raises
    ------
    InputError
        When the file cannot be read or holds no line.
    """
    empty, rest = True, b""
    try:
        with path.open("rb") as file:
            while chunk := file.read(_BYTES):
                *lines, rest = (rest + chunk).split(b"\n")
                if full := [line for line in lines if line]:
                    empty = False
                    yield full
        if rest:
            yield [rest]
    except OSError as error:
        msg = f"the trace {path} cannot be read: {error.strerror}. Name a file that gate wrote."
        raise InputError(msg) from error
    if empty and not rest:
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
        row = json.loads(line.decode("utf-8"), object_pairs_hook=once, parse_constant=_constant)
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

    pattern: re.Pattern[bytes]
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
        try:
            b"".join(lines).decode("utf-8")
        except UnicodeDecodeError:
            return None
        found, made = [], []
        match = self.pattern.fullmatch
        for line in lines:
            seen = match(line)
            if seen is None:
                return None
            start, end = seen.span(_OWN + 1)
            made.append(sha256(line[: start - _LEAD] + line[end + 1 :]).hexdigest())
            found.append(seen.groups())
        if not found:
            return Clean(prev, Counter())
        parts = dict(zip(READ, zip(*found, strict=True), strict=True))
        chained = (
            b" ".join(parts[HASH]) == " ".join(made).encode()
            and b" ".join(parts["prev"]) == " ".join([prev, *made[:-1]]).encode()
            and b" ".join(parts["seq"])
            == b" ".join(b"%d" % (seq + i + 1) for i in range(len(made)))
        )
        return self._decided(parts, made[-1], seq) if chained else None

    def _decided(self, parts: Mapping[str, tuple[bytes, ...]], last: str, seq: int) -> Clean | None:
        columns = self._columns(parts)
        if columns is None or not self._as_read(columns, parts, seq):
            return None
        rulings = decide_columns(self.policy, columns)
        verdicts = [_VERDICTS[v] for v in rulings.verdict.tolist()]
        same = (
            self._risks(columns, parts)
            and list(parts["verdict"]) == verdicts
            and list(parts["rule"]) == [_RULES[r] for r in rulings.rule.tolist()]
        )
        return Clean(last, Counter(v.decode() for v in verdicts)) if same else None

    def _risks(self, columns: Columns, parts: Mapping[str, tuple[bytes, ...]]) -> bool:
        """Whether every risk is the value's, and null where nothing is measured."""
        if self.direction is Direction.HIGHER_IS_WORSE and columns.measured.all():
            return parts["risk"] == parts["value"]
        pairs = zip(columns.risk.tolist(), columns.measured.tolist(), strict=True)
        wanted = [repr(v).encode() if known else b"null" for v, known in pairs]
        return list(parts["risk"]) == wanted

    def _columns(self, parts: Mapping[str, tuple[bytes, ...]]) -> Columns | None:
        codes = [_STATE.get(state, -1) for state in parts["state"]]
        if min(codes) < 0:
            return None
        try:
            values = _floats(parts["value"])
            return Columns(
                [item.decode() for item in parts["item"]],
                np.array(codes, dtype=np.int8),
                np.array(values, dtype=np.float64),
                self.direction,
                _diagnostics(parts["diagnostics"], set(self.policy.diagnostics)),
            )
        except (ValueError, InvalidReading):
            return None

    def _as_read(
        self, columns: Columns, parts: Mapping[str, tuple[bytes, ...]], start: int
    ) -> bool:
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
            and columns.items == [encoded(self.read.items[i]) for i in places]
            and _as_written(parts["group"], self.read.group, places)
            and _as_written(parts["reason"], self.read.reason, places)
            and _as_written(parts["sub"], self.read.sub, places)
        )


def _as_written(texts: tuple[bytes, ...], column: Sequence[Json] | None, places: range) -> bool:
    """Whether texts are those of a column; null where there is none."""
    if column is None:
        return set(texts) <= {b"null"}
    return list(texts) == [encoded(column[i]).encode() for i in places]


def _diagnostics(
    texts: tuple[bytes, ...], wanted: set[str]
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    found: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for row, text in enumerate(texts):
        if text == b"{}" and not wanted:
            continue
        named = json.loads(text, object_pairs_hook=once)
        if set(named) != wanted or encoded(named).encode() != text:
            msg = "not as it was written"
            raise ValueError(msg)
        for name, value in named.items():
            column = found.setdefault(name, np.full(len(texts), np.nan))
            column[row] = math.nan if value is None else _number(value)
    return found


def _floats(texts: tuple[bytes, ...]) -> list[float]:
    """Numbers that are written as we write them; nan for null."""
    if b"null" in texts:
        values = [math.nan if text == b"null" else float(text) for text in texts]
        shown = ["null" if math.isnan(value) else repr(value) for value in values]
    else:
        values = list(map(float, texts))
        shown = list(map(repr, values))
    if b" ".join(texts) != " ".join(shown).encode():
        msg = "not as it was written"
        raise ValueError(msg)
    return values


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"{value!r} is no number"
        raise ValueError(msg)  # noqa: TRY004 - whatever is not as written is read again strictly
    return float(value)


def _constant(name: str) -> float:
    msg = f"{name} is no number"
    raise ValueError(msg)
