"""Answer clouds of declared laws, drawn as two checkpoints would give them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, PARTS, WRONG, Clouds
from trueness.stats.item_laws import ItemLaw, Movement, Population
from trueness.stats.spectrum import spectrum

_ROLES = {"gold": GOLD, "wrong": WRONG, "none": NONE}
_LAW_KEYS = frozenset({"share", "before", "after", "swapped"})


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedPair:
    """Counts of both arms, and whether one further draw of each was right.

    Attributes
    ----------
    before, after : (n_items, n_classes) int
    right_before, right_after : (n_items,) bool
        The further draw stands in for a greedy answer.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    right_before: NDArray[np.bool_]
    right_after: NDArray[np.bool_]


def population_of(condition: Mapping[str, Any], classes: Sequence[str]) -> Population:
    """The population that a condition declares.

    Raises
    ------
    InputError
        If it declares none.
    """
    unknown = sorted(set(classes) - set(_ROLES))
    if unknown:
        msg = f"a class is {unknown[0]!r}; wanted {', '.join(_ROLES)}. Correct the declaration."
        raise InputError(msg)
    roles = tuple(_ROLES[name] for name in classes)
    return Population(tuple(_movement(law) for law in condition.get("laws", ())), roles)


def draw_pair(
    population: Population, rng: np.random.Generator, *, n_items: int, k: int
) -> SimulatedPair:
    """Two checkpoints: n items anew from the population, k draws of each in both arms."""
    before, after = population.draw(rng, n_items)
    gold = np.array(population.roles) == GOLD
    counts = [rng.multinomial(k, laws) for laws in (before, after)]
    right = [rng.multinomial(1, laws)[:, gold].sum(axis=1) > 0 for laws in (before, after)]
    return SimulatedPair(counts[0], counts[1], right[0], right[1])


def clouds_of(counts: NDArray[np.int64], roles: Sequence[int]) -> Clouds:
    """Counts of each class as clouds.

    Parameters
    ----------
    counts : (n_items, n_classes) int
    roles : (n_classes,) sequence of int
    """
    n, width = counts.shape
    return Clouds.of(
        np.repeat(np.arange(n), width),
        np.tile(np.arange(width), n),
        np.tile(np.array(roles), n),
        n_items=n,
        weight=counts.ravel(),
        gold_known=np.ones(n, np.bool_),
    )


def agreement(clouds: Clouds, orders: Sequence[int]) -> NDArray[np.float64]:
    """(n_items, 5 n_orders): column ``5 j + p`` is order ``orders[j]``, part ``PARTS[p]``."""
    parts = spectrum(clouds, orders)
    return np.stack([parts[part] for part in PARTS], axis=-1).reshape(clouds.n_items, -1)


def _movement(declared: Mapping[str, Any]) -> Movement:
    unknown = sorted(set(declared) - _LAW_KEYS)
    if unknown or not {"share", "before"} <= set(declared):
        msg = (
            f"a law of a condition has the keys {sorted(declared)}; wanted share and before, and "
            "after or swapped where items move. Correct the declaration."
        )
        raise InputError(msg)
    after, swapped = declared.get("after"), declared.get("swapped")
    return Movement(
        float(declared["share"]),
        _law(declared["before"]),
        None if after is None else _law(after),
        None if swapped is None else (int(swapped[0]), int(swapped[1])),
    )


def _law(declared: Mapping[str, Any]) -> ItemLaw:
    if set(declared) not in ({"dirichlet"}, {"masses"}):
        msg = f"a law is {dict(declared)}; wanted either dirichlet or masses, a number a class."
        raise InputError(msg)
    fixed = "masses" in declared
    return ItemLaw(tuple(map(float, declared["masses" if fixed else "dirichlet"])), fixed=fixed)
