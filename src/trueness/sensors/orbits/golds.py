"""Where golds are known: does the declaration hold for them, is the certificate below them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.declaration import COUNTED
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots
from trueness.sensors.orbits.tally import Tally
from trueness.table import NULL, AnswerTable

_SHOWN = 5
_PAIRS = 20


@dataclass(frozen=True, slots=True)
class GoldCollisions:
    """Golds that one encoding cannot tell apart; the capacities are the repair.

    Parameters
    ----------
    capacities : mapping of key to int
        For how many entities each encoded gold is right.
    groups : tuple of tuples of entities
        Entities that share an encoded gold, in order of first appearance.
    """

    capacities: Mapping[str, int]
    groups: tuple[tuple[str, ...], ...]

    @property
    def n_pairs(self) -> int:
        """Pairs of entities that share an encoded gold."""
        return sum(len(group) * (len(group) - 1) // 2 for group in self.groups)

    @property
    def injective(self) -> bool:
        """Whether every encoded gold belongs to one entity."""
        return not self.groups

    def pairs(self, most: int = _PAIRS) -> tuple[tuple[str, str], ...]:
        """The first colliding pairs."""
        return tuple(islice(self._pairs(), most))

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for group in self.groups:
            yield from combinations(group, 2)


def gold_collisions(
    golds: Mapping[str, str], encode: Callable[[str], str | None]
) -> GoldCollisions:
    """Which entities' right answers become one under the encoding of an observable.

    Linear in the golds. It never calls a collision an error: declare its ``capacities``.

    Parameters
    ----------
    golds : mapping of entity to right answer
    encode : callable
        The observable's own encoding, such as a string key or the first token of `` " " + gold``.

    Raises
    ------
    InputError
        When nothing is left of a gold under the encoding.

    Examples
    --------
    >>> found = gold_collisions({"Zambia": "Lusaka", "Angola": "Luanda"}, lambda gold: gold[:2])
    >>> found.capacities, found.groups, found.n_pairs
    ({'Lu': 2}, (('Zambia', 'Angola'),), 1)
    """
    owners: dict[str, list[str]] = {}
    for entity, gold in golds.items():
        key = encode(gold)
        if key is None:
            msg = (
                f"nothing is left of {gold!r}, right for {entity!r}, under this encoding; "
                "every gold needs a key. Spell it as an answer."
            )
            raise InputError(msg)
        owners.setdefault(key, []).append(entity)
    return GoldCollisions(
        {key: len(group) for key, group in owners.items()},
        tuple(tuple(group) for group in owners.values() if len(group) > 1),
    )


def contradiction(
    slots: Slots, table: AnswerTable, params: Params, counts: Tally, found: Certificate
) -> str | None:
    """Why the golds contradict the declaration; None when they do not, or are not known.

    A certificate above the true errors is proof that a declared assumption is false.
    """
    if counts.true_errors is None or found.certified_errors <= counts.true_errors:
        return None
    collide = _collisions(slots, table, params)[0]
    return (
        f"the certificate says at least {found.certified_errors:,} and the key says "
        f"{counts.true_errors:,}: a declared assumption is false; {_named(collide)}"
    )


def caution(slots: Slots, table: AnswerTable, params: Params) -> tuple[str, ...]:
    """A note where the golds break the declared limits, even if the count does not show it."""
    collide, surplus = _collisions(slots, table, params)
    if surplus <= params.declaration.slack:
        return ()
    return (f"the golds do not keep to the declaration: {_named(collide)}.",)


def _collisions(slots: Slots, table: AnswerTable, params: Params) -> tuple[list[str], int]:
    """Golds that more entities share than the declaration allows, and by how many in all."""
    target = table.target
    default = params.declaration.unlisted_capacity
    limited = params.upper or default is not None
    if target is None or params.declaration.relation not in COUNTED or not limited:
        return [], 0
    codes = target.codes[slots.row]
    if len(slots) != len(slots.entities):
        codes = codes[np.unique(slots.entity, return_index=True)[1]]
    counted = np.bincount(codes[codes != NULL], minlength=len(target.words))
    shared: Counter[str] = Counter()
    for code in np.flatnonzero(counted).tolist():
        for gold in target.words[code]:
            shared[gold] += int(counted[code])
    out, surplus = _outside(target.words, counted, params)
    for gold, count in shared.most_common():
        most = params.upper.get(gold, default)
        if most is not None and count > most and most:
            out.append(f"{gold!r} is right for {count}, declared for at most {most}")
            surplus += count - most
    return out, surplus


def _outside(
    words: Sequence[tuple[str, ...]], counted: NDArray[np.intp], params: Params
) -> tuple[list[str], int]:
    """Entities none of whose accepted golds may be right."""
    out, surplus = [], 0
    default = params.declaration.unlisted_capacity
    for code in np.flatnonzero(counted).tolist() if default == 0 or params.upper else ():
        if all(params.upper.get(gold, default) == 0 for gold in words[code]):
            out.append(f"{words[code][0]!r} is right for {counted[code]} and not in the list")
            surplus += int(counted[code])
    return out, surplus


def _named(collisions: list[str]) -> str:
    if not collisions:
        return "look at identity, fillers, candidates and the spelling of the golds"
    more = f" and {len(collisions) - _SHOWN} more" if len(collisions) > _SHOWN else ""
    return (
        f"golds at this encoding collide: ({'; '.join(collisions[:_SHOWN])}{more}). Declare "
        "capacities, or a slack of as many entities"
    )
