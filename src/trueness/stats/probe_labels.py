"""Labels of a probe: codes, whether they only rename another column, and how they are permuted."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError

Ints: TypeAlias = NDArray[np.int64]


def labels_of(labels: ArrayLike, n: int) -> tuple[Ints, Ints, Ints]:
    """Labels as given, the distinct ones ascending, and codes into those.

    Raises
    ------
    ShapeError, InputError
        When there is not one an item, or one is no whole number from 0 on.
    """
    y = np.asarray(labels)
    if y.shape != (n,):
        msg = f"labels have shape {y.shape}; wanted ({n},), one an item."
        raise ShapeError(msg)
    if y.dtype.kind not in "iu" or y.min() < 0:
        msg = f"labels are {y.dtype}, the least {y.min()}; wanted whole numbers from 0 on."
        raise InputError(msg)
    classes, codes = np.unique(y.astype(np.int64), return_inverse=True)
    return y.astype(np.int64), classes, codes.astype(np.int64)


def codes_of(values: ArrayLike, n: int, what: str) -> Ints:
    """Whole numbers from 0 on in place of values, in the order of these.

    Raises
    ------
    ShapeError
        When there is not one an item.
    """
    found = np.asarray(values)
    if found.shape != (n,):
        msg = f"{what} have shape {found.shape}; wanted ({n},), one an item."
        raise ShapeError(msg)
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def one_to_one(one: Ints, two: Ints) -> bool:
    """Whether two columns of codes only rename each other."""
    pairs = len(np.unique(np.column_stack([one, two]), axis=0))
    return pairs == int(one.max()) + 1 == int(two.max()) + 1


def permuted_within(codes: Ints, strata: Ints, rng: np.random.Generator) -> Ints:
    """Labels permuted within every stratum."""
    out = codes.copy()
    for stratum in range(int(strata.max()) + 1):
        rows = np.flatnonzero(strata == stratum)
        out[rows] = codes[rng.permutation(rows)]
    return out


def permuted_across(codes: Ints, units: Ints, rng: np.random.Generator) -> Ints:
    """Labels permuted over units that have one each.

    Raises
    ------
    InputError
        When two rows of a unit differ.
    """
    own = np.full(int(units.max()) + 1, -1, np.int64)
    own[units] = codes
    if (own[units] != codes).any():
        msg = "a label differs within an entity; wanted one an entity. Permute within templates."
        raise InputError(msg)
    return own[rng.permutation(len(own))][units]
