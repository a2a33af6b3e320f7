"""What an assignment of answers decodes from the wordings of a question."""

from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.slots import slots_of
from trueness.study.declared import declared_by, params_of
from trueness.table import AnswerTable, Relation


def decoded(table: AnswerTable, relation: Relation) -> float | None:
    """Share of entities whose answer in the witness truth is right; None without golds.

    The decoder sees all entities and the relation's answers: it can do better than the ceiling of
    naming the entity by its own answers.
    """
    part, declared = declared_by(table, relation)
    params = params_of(part, declared)
    slots = slots_of(part, params)
    found = certify(slots, params)
    if not isinstance(found, Certificate) or found.witness is None or part.target is None:
        return None
    golds: dict[str, tuple[str, ...]] = {}
    for name, keys in zip(
        [] if part.entity is None else part.entity.values(), part.target.values(), strict=True
    ):
        golds.setdefault(str(name), keys or ())
    said = [(golds.get(str(e), ()), found.witness(i)) for i, e in enumerate(slots.entities)]
    return sum(any(a in right for a in answers) for right, answers in said) / max(1, len(said))
