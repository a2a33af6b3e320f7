"""Differences between two weighted shares, averaged over tables, with units drawn anew."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TwoArms:
    """One table under two ways of keeping its units.

    Parameters
    ----------
    population : str
        Tables of one population are drawn anew together.
    units : (n,) int
        Which unit of the population stands in each row.
    right : (n,) float64
        What is averaged, such as whether a row is right.
    first, second : (n,) float64
        How much of each row either arm keeps, from 0 to 1.
    """

    population: str
    units: NDArray[np.integer]
    right: Floats
    first: Floats
    second: Floats


def drawn_units(
    tables: Iterable[tuple[str, NDArray[np.integer]]], rng: np.random.Generator, resamples: int
) -> dict[str, Floats]:
    """How often each unit of a population was drawn, with replacement.

    Parameters
    ----------
    tables : iterable of (population, (n,) int)
        Which units of which population stand in each table.
    rng : numpy.random.Generator
    resamples : int

    Returns
    -------
    dict of population to (resamples, n_units) float64
    """
    sizes: dict[str, int] = {}
    for population, units in tables:
        sizes[population] = max(sizes.get(population, 0), int(units.max()) + 1)
    return {
        name: rng.multinomial(n, np.full(n, 1 / n), resamples).astype(np.float64)
        for name, n in sizes.items()
    }


def resampled_differences(tables: Sequence[TwoArms], drawn: Mapping[str, Floats]) -> Floats:
    """Share right among what the first arm keeps less that of the second, mean over tables.

    Parameters
    ----------
    tables : sequence of TwoArms
    drawn : mapping of population to (resamples, n_units)
        As `drawn_units`.

    Returns
    -------
    (at most resamples,) float64
        A table of which an arm kept nothing that was drawn is left out of that resample, and a
        resample without any table is left out.
    """
    found = np.array([_difference(table, drawn[table.population]) for table in tables])
    there = ~np.isnan(found)
    n = there.sum(axis=0)
    mean: Floats = np.where(there, found, 0.0).sum(axis=0)[n > 0] / n[n > 0]
    return mean


def _difference(table: TwoArms, drawn: Floats) -> Floats:
    w = drawn[:, table.units]
    first, second = (_share(w, arm, table.right) for arm in (table.first, table.second))
    return first - second


def _share(w: Floats, arm: Floats, right: Floats) -> Floats:
    mass, hits = w @ arm, w @ (arm * right)
    share: Floats = np.divide(hits, mass, out=np.full(len(w), np.nan), where=mass > 0)
    return share
