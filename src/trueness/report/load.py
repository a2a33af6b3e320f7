"""Readings and decisions back from the files that `write` made."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trueness.contract import Decision, ItemVerdict, Reading, State, Verdict
from trueness.contract.errors import InputError, TruenessError
from trueness.contract.serial import once

_WANTED = "Hand in a .json or .jsonl file that trueness wrote with -o or --json."

_TABLES = frozenset({".csv", ".tsv", ".parquet"})
_ANSWERS = "a table of answers, which trueness certify and choose read"
_TRACE = (
    "the trace of a gate, which trueness replay FILE --gate gate.json reads; trueness gate draws "
    "its decisions with -o page.html"
)
_DECISION = "a decision as --json prints it, which the same verb draws with -o page.html"
_CLAIMS = "a table of claims, which trueness ground reads"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file held: readings by name, and the decisions made from them."""

    readings: Mapping[str, Reading]
    decisions: tuple[Decision, ...] = ()


def load(path: str | Path) -> Loaded:
    """The readings and decisions of a ``.json`` or ``.jsonl`` file.

    Raises
    ------
    InputError
        When the file is not JSON or holds no reading; names the file and the place.
    OSError
        When it cannot be read.
    """
    source = Path(path)
    if source.suffix.lower() in _TABLES:
        raise InputError(_refusal(source, _ANSWERS))
    text = _text(source)
    try:
        if source.name.lower().endswith(".jsonl"):
            return Loaded(_from_lines(text))
        return _from_object(json.loads(text, object_pairs_hook=once))
    except TruenessError as error:
        raise InputError(_refusal(source, _known(text)) or f"{source}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"no reading ({type(error).__name__}: {error})"
        raise InputError(_refusal(source, _known(text) or why)) from error


def _refusal(source: Path, what: str) -> str:
    return f"{source} holds {what}; a reading is wanted. {_WANTED}" if what else ""


def _known(text: str) -> str:
    """What the first object of another file says that the file is; empty if nothing."""
    try:
        first, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return ""
    names = set(first) if isinstance(first, Mapping) else set()
    if {"action", "verdicts"} <= names:
        return _DECISION
    if "manifest" in names or {"verdict", "prev", "hash"} <= names:
        return _TRACE
    if "trueness" in names or names & {"answer", "completion"}:
        return _ANSWERS
    return _CLAIMS if {"claim", "evidence"} <= names else ""


def _text(source: Path) -> str:
    try:
        return source.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{source} is not UTF-8 at byte {error.start}. {_WANTED}"
        raise InputError(msg) from error


def _from_object(data: object) -> Loaded:
    if not isinstance(data, Mapping):
        msg = f"an object is wanted, a {type(data).__name__} was given"
        raise TypeError(msg)
    if "sensor" in data:
        return Loaded({"": Reading.from_dict(data)})
    if "decisions" in data:
        inner = _from_object(data["readings"])
        return Loaded(inner.readings, tuple(_decision(d) for d in data["decisions"]))
    found = {str(name): Reading.from_dict(one) for name, one in data.items()}
    if not found:
        msg = "the object is empty"
        raise ValueError(msg)
    return Loaded(found)


def _from_lines(text: str) -> dict[str, Reading]:
    heads: dict[str, dict[str, object]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        entry = json.loads(line, object_pairs_hook=once)
        name = str(entry.pop("name"))
        if entry.pop("line") == "reading":
            heads[name] = entry | {"per_item": []}
        elif name in heads:
            items = heads[name]["per_item"]
            if isinstance(items, list):
                items.append(entry)
        else:
            msg = f"line {number} belongs to {name!r}, which no line before it introduced"
            raise ValueError(msg)
    if not heads:
        msg = "the file is empty"
        raise ValueError(msg)
    return {name: Reading.from_dict(head) for name, head in heads.items()}  # type: ignore[arg-type] # JSON as read


def _decision(data: Mapping[str, object]) -> Decision:
    rest = {k: v for k, v in data.items() if k not in {"state", "verdicts"}}
    verdicts = data["verdicts"]
    if not isinstance(verdicts, list):
        msg = "verdicts must be a list"
        raise TypeError(msg)
    return Decision(
        state=State(str(data["state"])),
        verdicts=tuple(
            ItemVerdict(str(v["item"]), Verdict(v["verdict"]), str(v["reason"])) for v in verdicts
        ),
        **rest,  # type: ignore[arg-type] # named fields as to_dict wrote them
    )
