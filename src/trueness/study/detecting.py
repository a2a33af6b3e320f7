"""What a partition and a pass say of one relation's answers, and what each leaves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import ShapeError
from trueness.sensors.orbits import Declaration
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.certify import certify
from trueness.sensors.orbits.recovery import grid
from trueness.sensors.orbits.slots import slots_of
from trueness.stats.symmetry import symmetry_scores
from trueness.study.asked import Asked
from trueness.study.declared import declared_by, params_of
from trueness.study.one_pass_scores import Looked, suspicion
from trueness.study.partitions import only_template, part_of, right_by_entity
from trueness.table import AnswerTable, Relation

if TYPE_CHECKING:
    from trueness.sensors.orbits import Params

LABEL_FREE, ANSWER_SET = "s", "s_star"
"""Answers that coincide where right ones cannot; the same with right answers known, unpaired."""
PARTITION = ("collision", "collision_mean", "invariance", "difference")
"""Scores of the answers alone: no right answer, no probability."""

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A certified set of one wording's answers.

    Parameters
    ----------
    withheld : (n,) bool
    guaranteed : int
        At least so many of them are wrong.
    """

    withheld: Bools
    guaranteed: int


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One relation under one condition; entities whose answer came back in the scored wording.

    Parameters
    ----------
    relation, condition : str
    entities : (n,) int64
        Places in the relation.
    right : (n,) float64
        1 or 0, in the scored wording.
    scores : mapping of str to (n,) float64
        High is meant to point to wrong; infinite where there is nothing to compare. Those of the
        partition, then those of one pass that were read here.
    guards : mapping of str to Guard
        Those that the relation's golds allow, by first tokens.
    largest : int
        Answers in the largest orbit of the scored wording.
    n_wordings : int
    """

    relation: str
    condition: str
    entities: NDArray[np.int64]
    right: Floats
    scores: Mapping[str, Floats]
    guards: Mapping[str, Guard]
    largest: int
    n_wordings: int

    def __len__(self) -> int:
        return len(self.entities)


def cell_of(asked: Asked, relation: str, condition: str, looked: Looked) -> Cell:
    """Scores and guards of one relation under one condition; the first wording is scored."""
    loaded = asked.relations[relation]
    whole = part_of(asked, relation, condition)
    one = only_template(whole, loaded)
    right = right_by_entity(one, loaded.entities)
    there = np.flatnonzero(~np.isnan(right))
    codes, scored = _codes(whole, one, loaded)
    found = symmetry_scores(codes, scored=scored)
    read = looked.of(relation, condition, loaded.entities)
    ours = (found.collision_scored, found.collision, -found.invariance, -found.combined)
    suspect = dict(zip(PARTITION, ours, strict=True))
    suspect |= {name: suspicion(name, values) for name, values in read.items()}
    single = codes[there, scored]
    held = single[single >= 0]
    return Cell(
        relation=relation,
        condition=condition,
        entities=there.astype(np.int64),
        right=right[there],
        scores={name: _known(values[there]) for name, values in suspect.items()},
        guards={
            name: Guard(guard.withheld[there], guard.guaranteed)
            for name, guard in _guards(one, loaded).items()
        },
        largest=int(np.unique(held, return_counts=True)[1].max()) if len(held) else 0,
        n_wordings=codes.shape[1],
    )


def kept(scores: Floats, size: int) -> Floats:
    """Probability that each item is kept when so many of the highest scores are withheld.

    Items level with the last one share what is left among them.

    Parameters
    ----------
    scores : (n,) float64
    size : int from 0 to n

    Raises
    ------
    ShapeError
        When there are not so many items.

    Examples
    --------
    >>> kept(np.array([3.0, 1.0, 1.0, 0.0]), 2).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    if not 0 <= size <= len(scores):
        msg = f"{size} of {len(scores)} items are to be withheld; wanted at most all of them."
        raise ShapeError(msg)
    if size == 0:
        return np.ones(len(scores))
    cut = np.sort(scores)[::-1][size - 1]
    above, level = scores > cut, scores == cut
    share = (size - int(above.sum())) / int(level.sum())
    return np.where(above, 0.0, np.where(level, 1.0 - share, 1.0))


def kept_accuracy(cell: Cell, weights: Floats) -> float:
    """Expected share of right answers among those that are kept."""
    return float((weights * cell.right).sum() / weights.sum())


def _known(values: Floats) -> Floats:
    """What cannot be compared is suspected first."""
    return np.where(np.isnan(values), np.inf, values)


def _codes(whole: AnswerTable, one: AnswerTable, loaded: Relation) -> tuple[NDArray[np.int64], int]:
    """Answer codes, entities as the relation lists them by wordings; which wording is scored."""
    slots = slots_of(whole, _declared(whole, loaded))
    first = slots_of(one, _declared(one, loaded)).columns[0]
    found = grid(slots)
    place = {str(name): i for i, name in enumerate(slots.entities)}
    codes = np.array([found[place[name]] for name in loaded.entities], np.int64)
    scored = slots.columns.index(first) if first in slots.columns else 0
    return codes, scored


def _declared(table: AnswerTable, loaded: Relation) -> "Params":
    return params_of(*declared_by(table, loaded))


def _guards(one: AnswerTable, loaded: Relation) -> dict[str, Guard]:
    found = {ANSWER_SET: _guard(one, _declared(one, loaded), loaded)}
    if _apart(one):
        declared = Declaration(relation="injective", identity="allowed")
        found[LABEL_FREE] = _guard(one, params_of(one, declared), loaded)
    return {name: guard for name, guard in found.items() if guard is not None}


def _apart(one: AnswerTable) -> bool:
    """Whether no two entities share a right answer, as the table holds answers."""
    if one.target is None:
        return False
    golds = [set(keys or ()) for keys in one.target.values()]
    return sum(map(len, golds)) == len(set().union(*golds))


def _guard(one: AnswerTable, params: "Params", loaded: Relation) -> Guard | None:
    slots = slots_of(one, params)
    found = certify(slots, params)
    if not isinstance(found, Certificate):
        return None
    place = {name: i for i, name in enumerate(loaded.entities)}
    withheld = np.zeros(len(loaded.entities), np.bool_)
    for slot in np.flatnonzero(found.withheld).tolist():
        withheld[place[str(slots.entities[int(slots.entity[slot])])]] = True
    return Guard(withheld, found.guaranteed_withheld)
