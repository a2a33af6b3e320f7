"""What several wordings of one question recover together, and where they disagree."""

from collections.abc import Callable, Sequence

import numpy as np

from trueness.contract.serial import Json
from trueness.sensors.orbits import Params
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.recovery import grid
from trueness.sensors.orbits.slots import slots_of
from trueness.stats.recovery import joint_blocks
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.declarations import Declaration
from trueness.study.declared import declared_by, params_of
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.partitions import measured, only_template, part_of
from trueness.study.results import Record
from trueness.table import AnswerTable, Relation

INJECTIVE = "injective"


def run(
    declaration: Declaration,
    *,
    inputs: Inputs,
    seed: int,
    repeats: int,
    progress: Callable[[str], None] | None = None,
) -> Found:
    """Orbits of one wording and of all together, and what the assignment decodes.

    The join has no certificate of wrong answers, and none is given.

    Parameters
    ----------
    repeats : int
        At most so many entities of each relation.
    """
    asked = ask_declared(declaration, inputs, seed=seed, repeats=repeats, progress=progress)
    if isinstance(asked, Found):
        return asked
    rows = [_row(asked, r, c) for r in asked.relations for c in asked.table.conditions]
    named = {c.name: c.a.rpartition(" ")[2] for c in declaration.contrasts}
    contrasts = {name: _contrast(asked, rows, condition) for name, condition in named.items()}
    above = sum(bool(row["decodes_above_the_ceiling"]) for row in rows)
    return found_of(declaration, asked, rows, contrasts, repeats=repeats, n_above_ceiling=above)


def _row(asked: Asked, relation: str, condition: str) -> Record:
    part, loaded = part_of(asked, relation, condition), asked.relations[relation]
    found = measured(asked, relation, condition)
    one = only_template(part, loaded)
    first = slots_of(one, _params(one, loaded))
    slots = slots_of(part, _params(part, loaded))
    single, n = joint_blocks(grid(first))
    joint, n_joint = joint_blocks(grid(slots))
    decoded = _decoded(part, loaded)
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
        "decoded": decoded,
        "decodes_above_the_ceiling": decoded is not None
        and ceiling is not None
        and decoded > ceiling + 1e-12,
    }


def _params(table: AnswerTable, relation: Relation) -> Params:
    return params_of(*declared_by(table, relation))


def _largest(keys: np.ndarray, answered: np.ndarray) -> int:
    held = keys[answered]
    return int(np.bincount(held).max()) if len(held) else 0


def _decoded(table: AnswerTable, relation: Relation) -> float | None:
    """Share of entities whose answer in the witness truth is right; None without golds."""
    part, declared = declared_by(table, relation)
    params = params_of(part, declared)
    slots = slots_of(part, params)
    found = certify(slots, params)
    if not isinstance(found, Certificate) or found.witness is None or part.target is None:
        return None
    golds: dict[str, Sequence[str]] = {}
    for name, keys in zip(_entities(part), part.target.values(), strict=True):
        golds.setdefault(str(name), keys or ())
    said = [(golds.get(str(e), ()), found.witness(i)) for i, e in enumerate(slots.entities)]
    return sum(any(a in right for a in answers) for right, answers in said) / max(1, len(said))


def _entities(table: AnswerTable) -> list[str | None]:
    return [] if table.entity is None else table.entity.values()


def _contrast(asked: Asked, rows: Sequence[Record], condition: str) -> dict[str, Json]:
    """In how many injective relations the wordings together tell every entity apart."""
    named = [name for name, relation in asked.relations.items() if relation.kind == INJECTIVE]
    ours = [r for r in rows if r["relation"] in named and r["condition"] == condition]
    whole = [row for row in ours if row["m_join"] == row["n_join"] and row["n_join"]]
    return {
        "n": len(ours),
        "estimate": len(whole),
        "not_whole": len(ours) - len(whole),
        "kind": "exact count",
        "where": list[Json](str(row["relation"]) for row in whole),
    }
