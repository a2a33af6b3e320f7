"""Do the certificates hold, and how loose are they? Every relation under three conditions."""

from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np

from trueness.contract import Reading
from trueness.contract.serial import Json
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.found import Found
from trueness.study.partitions import Measured, measured, part_of, right
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task

_WHERE = 12


@with_second_model
def run(task: Task) -> Found:
    """Certified against true errors, and proved against realised floors.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task, beside=False)
    if isinstance(asked, Found):
        return asked
    rows = tuple(rows_of_sweep(asked))
    contrasts = {
        "violations": _violations(rows),
        "slack": _slack(rows),
        "precision": _precision(rows),
    }
    return found_of(task, asked, rows, contrasts)


def rows_of_sweep(asked: Asked) -> Iterator[Record]:
    """A row for every relation under every condition, with what is proved and what is so."""
    for relation in asked.relations:
        for condition in asked.table.conditions:
            found = measured(asked, relation, condition)
            yield {**found.row, **_checked(asked, relation, condition, found)}


def _checked(asked: Asked, relation: str, condition: str, found: Measured) -> dict[str, Json]:
    """What was proved of the withheld set, and what is so."""
    part = part_of(asked, relation, condition)
    wrong = 1.0 - right(part)
    names = set(found.reading.flagged.items)
    flagged = np.array([str(item) in names for item in part.item.values()], dtype=np.bool_)
    answered = np.array([answer is not None for answer in part.answer.values()], dtype=np.bool_)
    n_wrong, caught = int(np.nansum(wrong[answered])), int(np.nansum(wrong[answered & flagged]))
    d = found.reading.details
    precision = caught / int(flagged.sum()) if flagged.any() else None
    recall = caught / n_wrong if n_wrong and flagged.any() else None
    certified, n_answered = d["certified_errors"], d["n_answered"]
    broken = _broken(found, precision, recall)
    return {
        "kind": asked.relations[relation].kind,
        "n_templates": d["n_columns"],
        "n_answered": n_answered,
        "sum_of_single_columns": d["sum_of_single_column_floors"],
        "n_withheld": int(flagged.sum()),
        "precision_floor": found.reading.flagged.precision_floor,
        "recall_floor": found.reading.flagged.recall_floor,
        "precision": precision,
        "recall": recall,
        "slack": None if not isinstance(certified, int) else n_wrong - certified,
        "by_construction": certified == n_answered,
        "violations": list[Json](broken),
    }


def _broken(found: Measured, precision: float | None, recall: float | None) -> list[str]:
    flagged = found.reading.flagged
    said = [
        ("certified errors", found.violated),
        ("precision floor", _above(flagged.precision_floor, precision)),
        ("recall floor", _above(flagged.recall_floor, recall)),
        ("contradicted declaration", _contradicted(found.reading)),
    ]
    return [name for name, broken in said if broken]


def _contradicted(reading: Reading) -> bool:
    return "a declared assumption is false" in (reading.reason or "")


def _above(floor: float | None, realised: float | None) -> bool:
    return floor is not None and realised is not None and floor > realised + 1e-12


def _violations(rows: Sequence[Record]) -> dict[str, Json]:
    broken = [str(row["name"]) for row in rows if row["violations"]]
    return {
        "n": len(rows),
        "estimate": len(broken),
        "low": len(broken),
        "high": len(broken),
        "kind": "exact count",
        "where": list[Json](broken[:_WHERE]),
    }


def _slack(rows: Sequence[Record]) -> dict[str, Json]:
    """How many true errors stay unproved, where it is not exact by construction."""
    tested = [row for row in rows if not row["by_construction"] and row["slack"] is not None]
    kinds = sorted({str(row["kind"]) for row in rows})
    built = sum(bool(row["by_construction"]) for row in rows)
    return {
        **_unproved(tested),
        "n_by_construction": built,
        "share_by_construction": built / len(rows) if rows else None,
        "by_kind": {
            kind: {
                **_unproved([row for row in tested if row["kind"] == kind]),
                "n_by_construction": sum(
                    bool(row["by_construction"]) for row in rows if row["kind"] == kind
                ),
            }
            for kind in kinds
        },
        "kind": "mean over rows, descriptive",
    }


def _unproved(tested: Sequence[Record]) -> dict[str, Json]:
    wrong = [float(str(row["true_errors"])) for row in tested]
    left = [float(str(row["slack"])) for row in tested]
    return {
        "n": len(tested),
        "estimate": fmean(left) if left else None,
        "unproved_share": sum(left) / sum(wrong) if sum(wrong) else None,
        "n_exact": sum(value == 0 for value in left),
    }


def _precision(rows: Sequence[Record]) -> dict[str, Json]:
    """How many of what is withheld are wrong, against what was proved of them."""
    held = [row for row in rows if row["precision"] is not None]
    realised = [float(str(row["precision"])) for row in held]
    floors = [float(str(row["precision_floor"])) for row in held]
    return {
        "n": len(held),
        "estimate": fmean(realised) if held else None,
        "floor": fmean(floors) if held else None,
        "n_all_wrong": sum(value == 1 for value in realised),
        "kind": "mean over rows in which something is withheld, descriptive",
    }
