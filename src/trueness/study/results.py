"""What a study leaves: one strict JSON file that says how every number in it came about."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from trueness.contract.errors import InputError
from trueness.contract.files import naming
from trueness.contract.serial import Json, dumps, plain
from trueness.study.expressions import Evaluated, evaluate

SCHEMA = 1
_HEAD = 1_000
Record = Mapping[str, Json]


class Outcome(StrEnum):
    """What the declared expressions amount to."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    UNRESOLVED = "unresolved"
    NOT_APPLICABLE = "not_applicable"


def outcome_of(expressions: Sequence[Evaluated]) -> Outcome:
    """What evaluated expressions amount to: the first two decide, ``supported`` and ``refuted``.

    Any after these, of lesser findings, decide nothing. Without expressions the study did not
    apply.
    """
    if not expressions:
        return Outcome.NOT_APPLICABLE
    supported, refuted = (each.holds for each in expressions[:2])
    if supported == refuted:
        return Outcome.UNRESOLVED
    return Outcome.SUPPORTED if supported else Outcome.REFUTED


@dataclass(frozen=True, slots=True)
class Decisive:
    """The outcome of a study, with the expressions that gave it."""

    outcome: Outcome
    expressions: tuple[Evaluated, ...]
    """``supported`` and ``refuted`` as declared; empty where the study did not apply."""


@dataclass(frozen=True, slots=True)
class Result:
    """The record of one run of one study.

    Parameters
    ----------
    study, declaration_sha256 : str
        Which declaration, and exactly which text of it.
    schema : int
    commit : str or None
        Of the code; None where it is no checkout.
    dirty : bool or None
        Whether the code differed from that commit; such a result may not be cited.
    partial : bool
        Whether it was cut short; such a result may not be cited either.
    versions : mapping of str to str
    utc : str
    machine : mapping
        Cores and device; neither host name nor path.
    model : mapping or None
        None where no model was asked; an embedder counts as one.
    seeds : tuple of int
    draws : mapping
    rows, contrasts, published : tuple of mapping
        A row or contrast has a ``name``, by which a path finds it.
    reading : Decisive
    cost : mapping
    notes : tuple of str
        Deviations from the declaration; may be empty.
    data : tuple of mapping
        What it ran on: id, sha256, licence, n used, n dropped with reasons.
    protocols : tuple of mapping
        How answers were obtained: fingerprint and text.
    """

    study: str
    declaration_sha256: str
    schema: int
    commit: str | None
    dirty: bool | None
    partial: bool
    versions: Mapping[str, str]
    utc: str
    machine: Record
    model: Record | None
    seeds: tuple[int, ...]
    draws: Record
    rows: tuple[Record, ...]
    contrasts: tuple[Record, ...]
    published: tuple[Record, ...]
    reading: Decisive
    cost: Record
    notes: tuple[str, ...]
    data: tuple[Record, ...] = ()
    protocols: tuple[Record, ...] = ()

    @property
    def citable(self) -> bool:
        """Whether its numbers may be quoted: a whole run of committed code."""
        return self.commit is not None and self.dirty is False and not self.partial

    @property
    def mark(self) -> str:
        """What begins every heading about it, such as ``demonstration: ``; mostly nothing."""
        said = self.draws.get("marked")
        return f"{said}: " if isinstance(said, str) else ""

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON.

        Raises
        ------
        CannotSerialise
            For a number that is not finite, or a value that JSON has no form for.
        """
        return {f.name: plain(getattr(self, f.name), f.name) for f in fields(self)}


def result_from(record: Record) -> Result:
    """A result from its plain JSON.

    Raises
    ------
    InputError
        If a field is missing, unknown or of another kind, the schema is another one, or the
        outcome does not follow from the contrasts.
    """
    wanted = [f.name for f in fields(Result)]
    record = {**{name: list[Json]() for name in _LATER}, **record}
    missing, unknown = set(wanted) - set(record), set(record) - set(wanted)
    if missing or unknown or record["schema"] != SCHEMA:
        msg = (
            f"a result has schema {record.get('schema')!r}, without {sorted(missing)} and with "
            f"{sorted(unknown)}; wanted schema {SCHEMA} and its {len(wanted)} fields. Run the "
            "study again."
        )
        raise InputError(msg)
    values: dict[str, Any] = {}
    for name in wanted:
        value = record[name]
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and name == "schema"):
            msg = (
                f"the field {name} of a result holds {type(value).__name__}; a result file is "
                "never edited by hand. Run the study again."
            )
            raise InputError(msg)
        _check_entries(name, value)
        values[name] = tuple(value) if isinstance(value, list) else value
    values["reading"] = _decisive(record["reading"])
    _check_reading(values["reading"], {name: record[name] for name in _READ})
    return Result(**values)


def is_result(path: Path) -> bool:
    """Whether a file looks like one that a study wrote."""
    if path.suffix.lower() != ".json":
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"declaration_sha256"' in file.read(_HEAD)


def read_result(path: Path) -> Result:
    """The result in a file.

    Raises
    ------
    InputError
        If it is no strict JSON, or no result.
    """
    try:
        found = json.loads(path.read_text("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        msg = f"{path.name} is no strict JSON ({error}). Run the study again."
        raise InputError(msg) from error
    if not isinstance(found, dict):
        msg = f"{path.name} holds {type(found).__name__}; wanted the object that a study writes."
        raise InputError(msg)
    return result_from(found)


def write_result(result: Result, path: Path, *, table: Sequence[Record] = ()) -> Path:
    """Write a result as strict JSON, its folder made if it was not there; the path again.

    The rows that it was computed from, where there are any, stand beside it: ``ID.table.jsonl``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, dumps(result.to_dict(), indent=1) + "\n")
    if table:
        lines = "".join(dumps(row, compact=True) + "\n" for row in table)
        _write(path.with_suffix(".table.jsonl"), lines)
    return path


def _write(path: Path, text: str) -> None:
    with naming(path):
        path.write_text(text, encoding="utf-8")


_LATER = ("data", "protocols")
"""Fields that results of studies without data were once written without."""
_KINDS: dict[str, type | tuple[type, ...]] = {
    "study": str,
    "declaration_sha256": str,
    "schema": int,
    "commit": (str, type(None)),
    "dirty": (bool, type(None)),
    "partial": bool,
    "versions": dict,
    "utc": str,
    "machine": dict,
    "model": (dict, type(None)),
    "seeds": list,
    "draws": dict,
    "rows": list,
    "contrasts": list,
    "published": list,
    "reading": dict,
    "cost": dict,
    "notes": list,
    "data": list,
    "protocols": list,
}


def _check_entries(name: str, value: Json) -> None:
    """Refuse a list with an entry of another kind, an unnamed contrast, a number no float holds."""
    kind = _ENTRIES.get(name, dict)
    entries = value if isinstance(value, list) else [value]
    for place, entry in enumerate(entries):
        fits = not isinstance(value, list) or isinstance(entry, kind)
        sound = name != "contrasts" or (isinstance(entry, dict) and _is_contrast(entry))
        if not fits or not sound or not _is_held(entry):
            msg = (
                f"entry {place} of {name} in a result cannot be read; a result file is never "
                "edited by hand. Run the study again."
            )
            raise InputError(msg)


_ENTRIES: dict[str, type] = {"seeds": int, "notes": str}
"""What a list of a result holds; objects, where nothing else is said."""


_NUMBERS = ("estimate", "low", "high", "p", "p_holm", "n", "beyond", "open")
"""Fields of a contrast that hold a number or null, where it has them."""
_READ = ("contrasts", "draws")
"""Fields of a result that the declared expressions read."""


def _is_contrast(entry: Record) -> bool:
    numbers = [entry[name] for name in _NUMBERS if entry.get(name) is not None]
    return (
        isinstance(entry.get("name"), str)
        and isinstance(entry.get("primary", False), bool)
        and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers)
    )


def _is_held(entry: Json) -> bool:
    """Whether a float holds every number of an entry."""
    numbers = [*entry.values()] if isinstance(entry, dict) else [entry]
    try:
        return all(math.isfinite(n) for n in numbers if isinstance(n, int | float))
    except OverflowError:
        return False


def _decisive(record: Json) -> Decisive:
    if not isinstance(record, dict) or set(record) != {"outcome", "expressions"}:
        msg = "the reading of a result is no object with outcome and expressions. Run it again."
        raise InputError(msg)
    entries = record["expressions"]
    made = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict) or set(entry) != {"expression", "values", "holds"}:
            msg = f"{entry!r} is no evaluated expression of a reading. Run the study again."
            raise InputError(msg)
        values = entry["values"] if isinstance(entry["values"], dict) else {}
        numbers = {k: v for k, v in values.items() if v is None or isinstance(v, int | float)}
        if not _is_held(dict(numbers)):
            msg = f"{entry['expression']!r} has a number that no float holds. Run the study again."
            raise InputError(msg)
        made.append(Evaluated(str(entry["expression"]), numbers, bool(entry["holds"])))
    try:
        outcome = Outcome(str(record["outcome"]))
    except ValueError as error:
        msg = f"the outcome is {record['outcome']!r}; known are {', '.join(Outcome)}."
        raise InputError(msg) from error
    if len(made) == 1:
        msg = "the reading of a result holds one expression of two. Run the study again."
        raise InputError(msg)
    return Decisive(outcome, tuple(made))


def _check_reading(reading: Decisive, read: Record) -> None:
    """Refuse an outcome that the expressions, or expressions that the contrasts, do not give."""
    for stored in reading.expressions:
        found = evaluate(stored.expression, dict(read))
        if found != stored:
            msg = (
                f"{stored.expression!r} {_says(stored)} in the reading of a result, and by its "
                f"contrasts it {_says(found)}; a result file is never edited by hand. Run the "
                "study again."
            )
            raise InputError(msg)
    follows = outcome_of(reading.expressions)
    if reading.outcome is not follows:
        msg = (
            f"the outcome of a result is {reading.outcome.value}, and its expressions say "
            f"{follows.value}; a result file is never edited by hand. Run the study again."
        )
        raise InputError(msg)


def _says(found: Evaluated) -> str:
    values = ", ".join(f"{path} = {value}" for path, value in found.values.items())
    return f"{'holds' if found.holds else 'does not hold'} ({values})"


def _no_constant(name: str) -> float:
    msg = f"{name} is no number"
    raise ValueError(msg)
