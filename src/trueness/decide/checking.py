"""Rows of a trace checked in their order: hash, chain, what every row repeats, value, verdict."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trueness.contract import Direction, Reading, State
from trueness.contract.errors import InvalidReading
from trueness.contract.serial import Json
from trueness.decide.columns import Columns, columns_of_reading
from trueness.decide.deciding import VERDICTS, columns_of_rows, decide_columns
from trueness.decide.lines import GENESIS, HASH, HEAD, MANIFEST, TAIL, Context, encoded, hash_of
from trueness.decide.policy import Policy
from trueness.decide.problems import Found, Problem
from trueness.decide.rereading import QuickCheck, parsed
from trueness.decide.stored import GateFile, reading_hash
from trueness.decide.trace import HMAC, signature

_ROOM = 8192
"""Rows by which the record of what was seen grows."""

Row = Mapping[str, Json]
"""A line of a trace."""


@dataclass(slots=True)
class Check:
    """Reads rows in order and keeps what the next batch needs."""

    found: Found
    policy: Policy
    direction: Direction
    gate: GateFile | None = None
    reading: Reading | None = None
    prev: str = GENESIS
    seq: int = 0
    n_rows: int = 0
    seen: bytearray = field(default_factory=lambda: bytearray(1))
    verdicts: Counter[str] = field(default_factory=Counter)
    fixed: Mapping[str, Json] = field(default_factory=dict)
    read: Columns | None = None
    quick: QuickCheck | None = None
    named: set[tuple[str, str]] = field(default_factory=set)
    n_lines: int = 0

    def __post_init__(self) -> None:
        if self.reading is not None:
            self.read = columns_of_reading(self.reading)
        if self.gate is not None:
            made = None if self.reading is None else reading_hash(self.reading)
            context = Context(self.gate, made)
            self.fixed = context.fields()
            self.quick = QuickCheck.of(context, self.read)

    def lines(self, lines: Sequence[bytes]) -> None:
        """Check some more lines, at a glance where all of them are as they were written."""
        if self.quick is not None:
            clean = self.quick.clean(lines, self.prev, self.seq)
            if clean is not None and not any(self.seen[self.seq + 1 : self.seq + 1 + len(lines)]):
                self.prev = clean.last
                self.seq += len(lines)
                self.seen[self.seq + 1 - len(lines) : self.seq + 1] = b"\x01" * len(lines)
                self.verdicts.update(clean.verdicts)
                self.n_rows += len(lines)
                self.n_lines += len(lines)
                return
        self.rows([row for line in lines if (row := self._parsed(line)) is not None])

    def end(self, line: bytes) -> Row | None:
        """The manifest, if the last line is one; else the line is one more row."""
        row = self._parsed(line)
        if row is None or MANIFEST in row:
            return row
        self.rows([row])
        return None

    def _parsed(self, line: bytes) -> Row | None:
        self.n_lines += 1
        try:
            return parsed(line)
        except ValueError as error:
            why = f"line {self.n_lines} is no row: {error}"
            self._add("hash", None, why, None, None)
            return None

    def rows(self, rows: Sequence[Row]) -> None:
        """Check some more rows."""
        for row in rows:
            self._chain(row)
            self._fixed(row)
            self._whole(row)
            if self.read is not None:
                self._value(row, self.read)
            self.verdicts[str(row.get("verdict"))] += 1
        self._decisions(rows)
        self.n_rows += len(rows)

    def manifest(self, manifest: Row | None, key: bytes | None) -> None:
        """Check the end of the trace."""
        if manifest is None:
            why = "there is no manifest: the run did not end, or its end was cut off"
            self._add("count", None, why, None, self.n_rows)
            self._add("last", None, why, None, self.prev)
            return
        self._same("count", manifest.get("count"), self.n_rows, "count")
        self._same("last", manifest.get("last"), self.prev, "last")
        if "verdicts" in manifest:
            self._same("count", manifest["verdicts"], self._counted(), "verdicts")
        if MANIFEST in manifest:
            self._signed(manifest, key)
        if self.gate is not None:
            if manifest.get(MANIFEST) is not True or set(manifest) - {HMAC} != _MANIFEST_FIELDS:
                why = "the last line has not the fields of a manifest"
                self._add("hash", None, why, _names(manifest), _names(_MANIFEST_FIELDS))
            self._same("last", manifest.get("prev"), self.prev, "the manifest's prev")
            for name, kind in _MANIFEST_KINDS.items():
                if name != "reading_hash" or self.reading is not None:
                    self._same(kind, manifest.get(name), self.fixed[name], name)
        if self.read is not None and len(self.read) != self.n_rows:
            why = "the reading has another number of items"
            self._add("count", None, why, self.n_rows, len(self.read))

    def _signed(self, manifest: Row, key: bytes | None) -> None:
        unsigned = {name: value for name, value in manifest.items() if name != HMAC}
        self._same("hash", manifest.get(HASH), hash_of(unsigned), "the manifest's hash")
        if key is not None:
            made = signature(manifest, key)
            self._same("hash", manifest.get(HMAC), made, "the manifest's HMAC under this key")

    def _counted(self) -> dict[str, Json]:
        names = (*(v.value for v in VERDICTS), *sorted(self.verdicts))
        return {name: self.verdicts[name] for name in names}

    def _chain(self, row: Row) -> None:
        seq = row.get("seq")
        whole = isinstance(seq, int) and not isinstance(seq, bool) and seq > 0
        number = int(str(seq)) if whole else None
        made = hash_of(row)
        if row.get(HASH) != made:
            self._add("hash", number, "the row's hash is not its own", row.get(HASH), made)
        if row.get("prev") != self.prev:
            self._add("chain", number, "prev is no hash before", row.get("prev"), self.prev)
        self.prev = str(row.get(HASH))
        if number is None or number > _MOST_ROWS:
            self._add("order", None, "seq is no number of a row", seq, self.seq + 1)
            return
        self._order(number)

    def _order(self, number: int) -> None:
        if number >= len(self.seen):
            self.seen.extend(bytes(number + _ROOM - len(self.seen)))
        if self.seen[number]:
            self._add("duplicate", number, "the row is there twice", number, self.seq + 1)
        elif number != self.seq + 1:
            self._add("order", number, f"it follows row {self.seq}", number, self.seq + 1)
        self.seen[number] = 1
        self.seq = number

    def _fixed(self, row: Row) -> None:
        """What every row repeats; a value that differs is named where it first stands."""
        for name, wanted in self.fixed.items():
            if name == "reading_hash" and self.reading is None:
                continue
            if name in row and row[name] == wanted:
                continue
            given = (name, encoded(row.get(name)))
            if given not in self.named:
                self.named.add(given)
                kind, why = _FIXED_KINDS[name], f"{name} differs, here and wherever it is so"
                self._add(kind, _seq(row), why, row.get(name), wanted)

    def _whole(self, row: Row) -> None:
        """Whether a row of a gate has its fields and no other; those that repeat are seen to."""
        if self.gate is None:
            return
        wanted = {*HEAD, *TAIL, HASH}
        if differs := sorted((wanted ^ set(row)) - set(self.fixed)):
            why = f"the row has not the fields of a decision: {', '.join(differs)}"
            self._add("value", _seq(row), why, _names(row), _names({*wanted, *self.fixed}))
        given = row.get("diagnostics")
        if isinstance(given, Mapping) and set(given) != set(self.policy.diagnostics):
            why = "the policy looks at other diagnostics"
            wanted_names = _names(self.policy.diagnostics)
            self._add("value", _seq(row), why, _names(given), wanted_names)

    def _value(self, row: Row, read: Columns) -> None:
        seq = _seq(row)
        if seq is None or not 1 <= seq <= len(read):
            self._add("value", seq, "the reading has no such item", row.get("item"), None)
            return
        at = seq - 1
        value = float(read.value[at])
        wanted: dict[str, Json] = {
            "item": read.items[at],
            "state": list(State)[read.state[at]].value,
            "value": None if math.isnan(value) else value,
            "route": [] if read.route is None else list(read.route[at]),
            "group": None if read.group is None else read.group[at],
            "reason": None if read.reason is None else read.reason[at],
            "sub": None if read.sub is None else read.sub[at],
            "diagnostics": {
                name: None if math.isnan(d) else d
                for name in self.policy.diagnostics
                for d in (_diagnostic(read, name, at),)
            },
        }
        for name, made in wanted.items():
            if row.get(name) != made:
                self._add("value", seq, f"the reading has another {name}", row.get(name), made)

    def _decisions(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        try:
            columns = columns_of_rows(rows, self.direction)
        except InvalidReading as error:
            if len(rows) == 1:
                row = rows[0]
                self._add("verdict", _seq(row), str(error), row.get("verdict"), None)
                return
            for row in rows:  # one of them cannot be decided: find it
                self._decisions([row])
            return
        rulings, risk = decide_columns(self.policy, columns), columns.risk
        for place, row in enumerate(rows):
            verdict, rule = rulings.at(place)
            if row.get("verdict") != verdict.value:
                why = "the policy gives another verdict"
                self._add("verdict", _seq(row), why, row.get("verdict"), verdict.value)
            elif row.get("rule") != rule:
                why = "the policy gives it by another rule"
                self._add("rule", _seq(row), why, row.get("rule"), rule)
            made = None if np.isnan(risk[place]) else float(risk[place])
            if "risk" in row and row["risk"] != made:
                self._add("value", _seq(row), "risk is not of this value", row["risk"], made)

    def _same(self, kind: str, recorded: Json, derived: Json, what: str) -> None:
        if recorded != derived:
            self._add(kind, None, f"{what} differs", recorded, derived)

    def _add(self, kind: str, seq: int | None, why: str, recorded: Json, derived: Json) -> None:
        self.found.add(Problem(kind, seq, why, recorded, derived))


_MOST_ROWS = 1 << 40
_FIXED_KINDS = {
    "tau": "threshold",
    "rho": "threshold",
    "policy_hash": "policy",
    "calibration_hash": "calibration",
    "fingerprint_hash": "fingerprint",
    "reading_hash": "value",
    "population": "calibration",
    "error": "calibration",
    "budget": "calibration",
    "level": "calibration",
}
_MANIFEST_KINDS = {
    "policy_hash": "policy",
    "calibration_hash": "calibration",
    "fingerprint_hash": "fingerprint",
    "reading_hash": "value",
}
_MANIFEST_FIELDS = {MANIFEST, "count", "last", "prev", "verdicts", HASH, *_MANIFEST_KINDS}


def _names(given: Iterable[str]) -> Json:
    return [*sorted(given)]


def _seq(row: Row) -> int | None:
    seq = row.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None


def _diagnostic(read: Columns, name: str, at: int) -> float:
    return float(read.diagnostics[name][at]) if name in read.diagnostics else math.nan
