"""Every pair of clouds that an observer cannot tell apart, with how far they moved."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import ShapeError
from trueness.stats.cloud_pairs import movements, pair_clouds, total_variation
from trueness.stats.clouds import Clouds, Floats, Ints
from trueness.stats.fibres import error_floors, fibre_codes, fibre_pairs, tolerance_pairs
from trueness.stats.permutation import PermutationP, permutation_p


@dataclass(frozen=True, slots=True)
class FibreSearch:
    """Pairs of cells with one observer, and the clouds beside it: statements about these clouds.

    Parameters
    ----------
    codes : (n_cells,) int64
        The exact fibre of every cell.
    pairs : (n_pairs, 2) int64
        Cells of one fibre; within the tolerance where one was asked for.
    distance : (n_pairs,) float64
        Empirical total variation; nan where a cloud is empty.
    movement : (n_pairs,) int8
        Index into ``MOVEMENTS``, or ``NOT_COMPARED``.
    permutation : PermutationP
        Of every pair, with the least p that so few draws can give.
    floors : (n_fibres,) float64 or None
        Half the largest distance in every fibre: no estimator that reads the observer alone errs
        less on all its recorded clouds. nan without two clouds; None with a tolerance, which
        bounds no estimator.
    """

    codes: Ints
    pairs: Ints
    distance: Floats
    movement: NDArray[np.int8]
    permutation: PermutationP
    floors: Floats | None

    @property
    def witnesses(self) -> Ints:
        """Pairs whose clouds differ: (n_witnesses, 2) int64."""
        return self.pairs[self.distance > 0]


def fibre_search(
    observers: ArrayLike,
    clouds: Clouds,
    *,
    rng: np.random.Generator,
    item: ArrayLike | None = None,
    tolerance: float | None = None,
) -> FibreSearch:
    """All pairs of cells that share their observer, or are near, and what their clouds did.

    Parameters
    ----------
    observers : (n_cells, n_numbers) float
        What was observed in each cell.
    clouds : Clouds
        The cloud of each cell: its items are the cells.
    rng : numpy.random.Generator
        For permutation p of clouds too large to count.
    item : (n_cells,) int, optional
        Cells of different items are never compared.
    tolerance : float, optional
        Largest difference of a number; equal to the byte when left out.

    Returns
    -------
    FibreSearch

    Raises
    ------
    ShapeError
        When there is not one cloud a cell.
    InputError
        As `fibre_codes` and `tolerance_pairs`.

    Examples
    --------
    >>> clouds = Clouds.of([0, 0, 1, 1], [5, 5, 5, 6], [1, 1, 1, 1], n_items=2)
    >>> found = fibre_search([[0.5], [0.5]], clouds, rng=np.random.default_rng(0))
    >>> found.witnesses.tolist(), found.floors.tolist()
    ([[0, 1]], [0.25])
    """
    codes = fibre_codes(observers, item=item)
    if clouds.n_items != len(codes):
        msg = (
            f"{len(codes)} cells have {clouds.n_items} clouds; give one cloud a cell, empty or not."
        )
        raise ShapeError(msg)
    pairs = fibre_pairs(codes)
    if tolerance is not None:
        pairs = tolerance_pairs(observers, tolerance, item=item)
    both = pair_clouds(clouds.take(pairs[:, 0]), clouds.take(pairs[:, 1]))
    distance = total_variation(both)
    known = ~np.isnan(distance)
    floors = None if tolerance is not None else error_floors(codes, pairs[known], distance[known])
    return FibreSearch(
        codes, pairs, distance, movements(both), permutation_p(both, rng=rng), floors
    )
