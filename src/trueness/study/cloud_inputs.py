"""Answer clouds that come along, and the questions that new ones are drawn from."""

from importlib.resources import files
from pathlib import Path

from trueness.backends.weights import sha256_of
from trueness.extract import keyed
from trueness.study.results import Record
from trueness.table import AnswerTable, Relation, load_relation, read_answers

SLICES = ("inversion", "consolidation", "attractor")
"""SYNTHETIC slices: each reproduces the aggregates that were printed for one contrast."""
QUESTIONS = "gsm8k_25"
SOLUTIONS, REPEATED = "gsm8k_solutions", "qwen_math_100"
_SIDES = ("before", "after")
_LICENCES = {QUESTIONS: "MIT", SOLUTIONS: "MIT", REPEATED: "MIT"}
_OWN = "that of this package"


def synthetic(name: str) -> tuple[AnswerTable, AnswerTable]:
    """Both arms of a slice of `SLICES`, keyed; their labels are their keys."""
    before, after = (keyed(read_answers(_file(f"synthetic_{name}.{s}.jsonl"))) for s in _SIDES)
    return before, after


def synthetic_records() -> tuple[Record, ...]:
    """What stands in a result about the slices."""
    names = (f"synthetic_{name}.{side}.jsonl" for name in SLICES for side in _SIDES)
    return tuple(_record(name, _OWN, SYNTHETIC=True) for name in names)


def arithmetic(most: int) -> tuple[Relation, Record]:
    """The first items of GSM8K as questions, and what stands in a result about them."""
    path = _file(f"{QUESTIONS}.json")
    whole = load_relation(path)
    used = whole.first(most)
    gone = len(whole) - len(used)
    return used, _record(
        path.name,
        _LICENCES[QUESTIONS],
        n_used=len(used),
        n_dropped={"over the limit": gone} if gone else {},
    )


def shipped_clouds(name: str) -> tuple[AnswerTable, Record]:
    """A table of completions that comes along: `SOLUTIONS` or `REPEATED`, not keyed yet."""
    path = _file(f"{name}.jsonl")
    table = read_answers(path)
    return table, _record(path.name, _LICENCES[name], n_used=len(table), n_dropped={})


def _file(name: str) -> Path:
    return Path(str(files("trueness") / "data" / "clouds" / name))


def _record(name: str, licence: str, **more: object) -> Record:
    found = {"id": f"clouds/{name}", "sha256": sha256_of(_file(name)), "licence": licence}
    return {**found, **more}  # type: ignore[dict-item] # plain JSON
