"""Relation files of other projects: LRE's sentence templates, ParaRel's facts and patterns."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trueness.contract.errors import InputError
from trueness.contract.serial import RepeatedKeyError, once
from trueness.table.sniff import decoded, unreadable

_NOTE = "Kind and capacities follow from the golds of the file, over the entities it holds."


def parsed(text: str, path: Path) -> dict[str, Any] | list[dict[str, Any]]:
    """The object of a JSON file, or the objects of a JSON lines file.

    Raises
    ------
    InputError
        When it is neither.
    """
    try:
        value = json.loads(text, object_pairs_hook=once)
    except RepeatedKeyError as error:
        raise _repeated(path, error) from error
    except json.JSONDecodeError as error:
        return _lines(text, path, error)
    if isinstance(value, dict):
        return [value] if "sub_label" in value else value
    msg = f"{path} holds a JSON {type(value).__name__}; a relation is an object. Write one."
    raise InputError(msg)


def from_lre(data: Mapping[str, Any], path: Path) -> dict[str, object]:
    """Arguments of a relation: subject and object samples, templates with ``{}``."""
    templates = data.get("prompt_templates_zs") or data.get("prompt_templates") or []
    pairs = [(str(s["subject"]), str(s["object"])) for s in data["samples"]]
    asked = [str(t).replace("{}", "{e}") for t in templates]
    return _of_pairs(str(data.get("name", path.stem)), asked, pairs, "LRE")


def from_pararel(rows: list[dict[str, Any]], path: Path) -> dict[str, object]:
    """Arguments of a relation: facts of one file, patterns that end in ``[Y]`` of the other."""
    if "sub_label" not in rows[0] or "obj_label" not in rows[0]:
        msg = (
            f"{path} is JSON lines without sub_label and obj_label; a file of facts is wanted. "
            "Name the trex_P*.jsonl file, or a relation file."
        )
        raise InputError(msg)
    beside = path.with_name(path.name.replace("trex_", "patterns_"))
    try:
        text, _ = decoded(beside.read_bytes())
    except OSError as error:
        raise unreadable(beside, error) from error
    patterns = parsed(text, beside)
    found = [str(p.get("pattern", "")) for p in patterns if isinstance(p, dict)]
    asked = [q for q in map(_question, found) if q is not None]
    pairs = [(str(r["sub_label"]), str(r["obj_label"])) for r in rows]
    return _of_pairs(path.stem.removeprefix("trex_"), asked, pairs, "ParaRel")


def _question(pattern: str) -> str | None:
    """What stands before the answer, where the answer comes last; None where it does not."""
    before, slot, after = pattern.partition("[Y]")
    if not slot or after.strip(" .") or "[X]" not in before:
        return None
    return before.strip().replace("[X]", "{e}")


def _of_pairs(
    name: str, templates: list[str], pairs: list[tuple[str, str]], source: str
) -> dict[str, object]:
    golds: dict[str, dict[str, None]] = {}
    for entity, gold in pairs:
        golds.setdefault(entity, {})[gold] = None
    owners = Counter(g for gold in golds.values() for g in gold)
    several = any(len(gold) > 1 for gold in golds.values())
    shared = any(n > 1 for n in owners.values())
    return {
        "name": name,
        "kind": "set_valued" if several else "many_to_one" if shared else "injective",
        "templates": tuple(templates),
        "entities": tuple(golds),
        "golds": tuple(tuple(gold) for gold in golds.values()),
        "capacities": dict(owners) if several or shared else None,
        "rows_per_entity": tuple(len(gold) for gold in golds.values()) if several else None,
        "source": source,
        "notes": _NOTE,
    }


def _repeated(path: Path, error: RepeatedKeyError) -> InputError:
    return InputError(f"{path}: {error}; one value is wanted. Remove the other.")


def _lines(text: str, path: Path, error: json.JSONDecodeError) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=once)
        except RepeatedKeyError as again:
            raise _repeated(path, again) from again
        except json.JSONDecodeError:
            break
        if not isinstance(row, dict):
            break
        rows.append(row)
    else:
        if rows:
            return rows
    msg = f"{path} is no JSON ({error}). A relation file is one JSON object; repair it."
    raise InputError(msg) from error
