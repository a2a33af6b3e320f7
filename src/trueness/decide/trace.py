"""The trace of a gate: one hashed line a decision, each holding the hash of the line before."""

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import repeat
from json.encoder import encode_basestring
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Direction
from trueness.contract.errors import CannotSerialise, InputError
from trueness.contract.serial import Json
from trueness.decide.columns import STATES, Columns
from trueness.decide.deciding import RULES, VERDICTS, Rulings
from trueness.decide.lines import (
    GENESIS,
    HASH,
    MANIFEST,
    Context,
    Template,
    encoded,
    hash_of,
    number_text,
)

HMAC = "hmac"
_BATCH = 8192


@dataclass(frozen=True, slots=True)
class Manifest:
    """The last line of a trace.

    Parameters
    ----------
    count : int
    last : str
        Hash of the last decision.
    verdicts : mapping of str to int
    hashes : mapping of str to str or None
        Of policy, calibration, fingerprint and reading.
    """

    count: int
    last: str
    verdicts: Mapping[str, int]
    hashes: Mapping[str, Json]

    def to_dict(self, key: bytes | None = None) -> dict[str, Json]:
        """Plain JSON with its own hash and, with a key, its HMAC."""
        row: dict[str, Json] = {
            MANIFEST: True,
            "count": self.count,
            "last": self.last,
            "prev": self.last,
            "verdicts": dict(self.verdicts),
            **self.hashes,
        }
        row[HASH] = hash_of(row)
        if key is not None:
            row[HMAC] = signature(row, key)
        return row


def signature(manifest: Mapping[str, Json], key: bytes) -> str:
    """HMAC-SHA256 of the canonical JSON of a manifest without its HMAC."""
    text = encoded({name: value for name, value in manifest.items() if name != HMAC})
    return hmac.new(key, text.encode("utf-8"), sha256).hexdigest()


def read_key(path: Path) -> bytes:
    """The key in a file, without the white space around it.

    Raises
    ------
    InputError
        When the file cannot be read or is empty.
    """
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        msg = f"the key {path} cannot be read: {error.strerror}. Name a file with a secret in it."
        raise InputError(msg) from error
    if not key:
        msg = f"the key {path} is empty; wanted a secret. Write one into it."
        raise InputError(msg)
    return key


def write_trace(
    path: Path,
    context: Context,
    columns: Columns,
    rulings: Rulings,
    *,
    key: bytes | None = None,
) -> Manifest:
    """Write a trace and return its manifest; every line is in the file when it is written.

    Parameters
    ----------
    path : Path
        Overwritten.
    context : Context
    columns : Columns
    rulings : Rulings
        Of these columns.
    key : bytes, optional
        Signs the manifest.

    Raises
    ------
    CannotSerialise
        When a text of an item has no strict JSON.
    InputError
        When the file cannot be written.
    """
    try:
        with path.open("wb", buffering=0) as file:  # each write reaches the file
            last = _write_rows(file, context, columns, rulings)
            manifest = Manifest(len(columns), last, rulings.counts(), _hashes(context))
            file.write((encoded(manifest.to_dict(key)) + "\n").encode("utf-8"))
    except OSError as error:
        msg = f"the trace {path} cannot be written: {error.strerror}. Name a file in a folder."
        raise InputError(msg) from error
    except UnicodeEncodeError as error:
        msg = f"an item's text holds half a character ({error.reason}); write whole characters."
        raise CannotSerialise(msg) from error
    return manifest


def _hashes(context: Context) -> dict[str, Json]:
    fields = context.fields()
    names = ("policy_hash", "calibration_hash", "fingerprint_hash", "reading_hash")
    return {name: fields[name] for name in names}


def _write_rows(file: BinaryIO, context: Context, columns: Columns, rulings: Rulings) -> str:
    """Write all rows; the last hash comes back."""
    template = Template.of(context)
    prev, write = GENESIS, file.write
    for diagnostics, group, item, *rest in _texts(context, columns, rulings):
        head = (template.head % (diagnostics, group)).encode()
        tail = (template.tail % (item, f'"{prev}"', *rest)).encode()
        prev = sha256(head + tail).hexdigest()
        write(b'%b,"hash":"%b"%b\n' % (head, prev.encode(), tail))
    return prev


def _texts(
    context: Context, columns: Columns, rulings: Rulings
) -> Iterator[tuple[str, str, str, str, str, str, str, str, str, str, str, str]]:
    """The varying fields of every row as JSON, in order and without prev, a batch at a time."""
    risk = columns.risk
    for start in range(0, len(columns), _BATCH):
        rows = range(start, min(start + _BATCH, len(columns)))
        part = slice(rows.start, rows.stop)
        measured = columns.measured[part]
        values = _numbers(columns.value[part], measured)
        turned = columns.direction is not Direction.HIGHER_IS_WORSE
        yield from zip(
            _diagnostics(context, columns, part),
            _optional(columns.group, rows),
            map(encode_basestring, columns.items[part]),
            _optional(columns.reason, rows),
            _numbers(risk[part], measured) if turned else values,
            _routes(columns, rows),
            (_RULE_TEXTS[r] for r in rulings.rule[part].tolist()),
            (str(i + 1) for i in rows),
            (_STATE_TEXTS[s] for s in columns.state[part].tolist()),
            _optional(columns.sub, rows),
            values,
            (_VERDICT_TEXTS[v] for v in rulings.verdict[part].tolist()),
            strict=True,
        )


_STATE_TEXTS = tuple(f'"{state.value}"' for state in STATES)
_RULE_TEXTS = tuple(f'"{rule}"' for rule in RULES)
_VERDICT_TEXTS = tuple(f'"{verdict.value}"' for verdict in VERDICTS)


def _optional(column: Sequence[Json] | None, rows: range) -> Iterable[str]:
    if column is None:
        return repeat("null", len(rows))
    return (
        encode_basestring(v) if isinstance(v, str) else encoded(v)
        for v in (column[i] for i in rows)
    )


def _numbers(values: NDArray[np.float64], measured: NDArray[np.bool_]) -> list[str]:
    listed = values.tolist()
    if measured.all():
        return list(map(float.__repr__, listed))
    pairs = zip(listed, measured.tolist(), strict=True)
    return [float.__repr__(v) if known else "null" for v, known in pairs]


def _routes(columns: Columns, rows: range) -> Iterable[str]:
    if columns.route is None:
        return repeat("[]", len(rows))
    return (encoded(list(columns.route[i])) for i in rows)


def _diagnostics(context: Context, columns: Columns, part: slice) -> Iterable[str]:
    """Those that the policy looks at; null where an item lacks one."""
    names = sorted(context.gate.policy.diagnostics)
    n = len(range(len(columns))[part])
    if not names:
        return repeat("{}", n)
    missing = np.full(len(columns), np.nan)
    texts = []
    for name in names:
        values = columns.diagnostics.get(name, missing)[part].tolist()
        lead = f"{encode_basestring(name)}:"
        texts.append([f"{lead}{number_text(v)}" for v in values])
    return ("{" + ",".join(row) + "}" for row in zip(*texts, strict=True))
