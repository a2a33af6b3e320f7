"""What several wordings of one question recover together, and where they disagree."""

from collections.abc import Sequence

import numpy as np

from trueness.contract.serial import Json
from trueness.sensors.orbits import Params
from trueness.sensors.orbits.recovery import grid
from trueness.sensors.orbits.slots import slots_of
from trueness.stats.recovery import joint_blocks
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.declared import declared_by, params_of
from trueness.study.found import Found
from trueness.study.partitions import measured, only_template, part_of
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.task import Task
from trueness.study.views import decoded
from trueness.table import AnswerTable, Relation

INJECTIVE = "injective"


@with_second_model
def run(task: Task) -> Found:
    """Orbits of one wording and of all together, and what the assignment decodes.

    The join has no certificate of wrong answers, and none is given.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    asked = ask_declared(task)
    if isinstance(asked, Found):
        return asked
    rows = [_row(asked, r, c) for r in asked.relations for c in asked.table.conditions]
    named = {c.name: c.a.rpartition(" ")[2] for c in task.declaration.contrasts}
    contrasts = {name: _contrast(asked, rows, condition) for name, condition in named.items()}
    above = sum(bool(row["decodes_above_the_ceiling"]) for row in rows)
    return found_of(task, asked, rows, contrasts, n_above_ceiling=above)


def _row(asked: Asked, relation: str, condition: str) -> Record:
    part, loaded = part_of(asked, relation, condition), asked.relations[relation]
    found = measured(asked, relation, condition)
    one = only_template(part, loaded)
    first = slots_of(one, _params(one, loaded))
    slots = slots_of(part, _params(part, loaded))
    single, n = joint_blocks(grid(first))
    joint, n_joint = joint_blocks(grid(slots))
    share = decoded(part, loaded)
    ceiling = joint / n_joint if n_joint else None
    return {
        **found.row,
        "kind": loaded.kind,
        "n_entities": n,
        "n_templates": len(slots.columns),
        "m_0": single,
        "largest_0": _largest(first.key, first.answered),
        "m_join": joint,
        "n_join": n_joint,
        "ceiling": ceiling,
        "agreement": found.reading.details["mean_invariance"],
        "a": found.reading.details["certified_errors"],
        "sum_of_single_columns": found.reading.details["sum_of_single_column_floors"],
        "decoded": share,
        "decodes_above_the_ceiling": share is not None
        and ceiling is not None
        and share > ceiling + 1e-12,
    }


def _params(table: AnswerTable, relation: Relation) -> Params:
    return params_of(*declared_by(table, relation))


def _largest(keys: np.ndarray, answered: np.ndarray) -> int:
    held = keys[answered]
    return int(np.bincount(held).max()) if len(held) else 0


def _contrast(asked: Asked, rows: Sequence[Record], condition: str) -> dict[str, Json]:
    """In how many injective relations the wordings together tell every entity apart.

    Relations with answers that did not come back are left open.
    """
    named = [name for name, relation in asked.relations.items() if relation.kind == INJECTIVE]
    ours = [r for r in rows if r["relation"] in named and r["condition"] == condition]
    there = [row for row in ours if not row["n_missing"]]
    whole = [row for row in there if row["m_join"] == row["n_join"] and row["n_join"]]
    return {
        "n": len(there),
        "open": len(ours) - len(there),
        "estimate": len(whole),
        "not_whole": len(there) - len(whole),
        "kind": "exact count",
        "where": list[Json](str(row["relation"]) for row in whole),
    }
