"""Where golds are known: does the declaration hold for them, and is the certificate below them?"""

from collections import Counter

import numpy as np

from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.declaration import COUNTED
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots
from trueness.sensors.orbits.tally import Tally
from trueness.table import NULL, AnswerTable

_SHOWN = 5


def contradiction(
    slots: Slots, table: AnswerTable, params: Params, counts: Tally, found: Certificate
) -> str | None:
    """Why the golds contradict the declaration; None when they do not, or are not known.

    A certificate above the true errors is proof that a declared assumption is false.
    """
    if table.target is None or counts.true_errors is None:
        return None
    collide = _collisions(slots, table, params)
    if found.certified_errors > counts.true_errors:
        return (
            f"the certificate says at least {found.certified_errors:,} and the key says "
            f"{counts.true_errors:,}: a declared assumption is false; {_named(collide)}"
        )
    return None


def _collisions(slots: Slots, table: AnswerTable, params: Params) -> list[str]:
    """Golds that more entities share than the declaration allows."""
    if table.target is None or params.declaration.relation not in COUNTED:
        return []
    first = np.unique(slots.entity, return_index=True)[1]
    codes = table.target.codes[slots.row[first]]
    shared = Counter(
        gold for code in codes.tolist() if code != NULL for gold in table.target.words[code]
    )
    default = params.declaration.unlisted_capacity
    out = []
    for gold, count in shared.most_common():
        most = params.upper.get(gold, default)
        if most is not None and count > most:
            out.append(f"{gold!r} is right for {count}, declared for at most {most}")
    return out


def _named(collisions: list[str]) -> str:
    if not collisions:
        return "look at identity, fillers, candidates and the spelling of the golds"
    more = f" and {len(collisions) - _SHOWN} more" if len(collisions) > _SHOWN else ""
    return (
        f"golds at this encoding collide: ({'; '.join(collisions[:_SHOWN])}{more}). Declare "
        "capacities, or a slack of as many entities"
    )
