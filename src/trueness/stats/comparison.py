"""What a change of condition did to the partition of entities by answer."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError

NO_ANSWER = -1
MISSING = -2


@dataclass(frozen=True, slots=True)
class PartitionComparison:
    """Two partitions of the entities that were answered on both sides; information in bits."""

    outcomes: tuple[tuple[int, ...], ...]
    """3 x 3 counts of (answered, no answer, missing): before down, after across."""
    n_compared: int
    """Entities answered on both sides; everything below is about them."""
    n_changed: int
    """Entities whose answer differs."""
    pairs: int
    """Pairs of compared entities."""
    pairs_together_before: int
    pairs_together_after: int
    pairs_together_in_both: int
    split_information: float
    """H(after | before): what the change drew apart."""
    merge_information: float
    """H(before | after): what the change threw together."""

    @property
    def pairs_merged(self) -> int:
        """Apart before, together after."""
        return self.pairs_together_after - self.pairs_together_in_both

    @property
    def pairs_split(self) -> int:
        """Together before, apart after."""
        return self.pairs_together_before - self.pairs_together_in_both

    @property
    def churn(self) -> Fraction | None:
        """Share of entities whose answer differs; ``None`` when none was compared."""
        return Fraction(self.n_changed, self.n_compared) if self.n_compared else None

    @property
    def variation_of_information(self) -> float:
        """Split plus merge information: 0 exactly when the partitions are equal."""
        return self.split_information + self.merge_information

    @property
    def partition_unchanged(self) -> bool:
        """Whether the same entities are together, whatever the answers are called."""
        return self.pairs_merged == 0 and self.pairs_split == 0

    @property
    def adjusted_rand_is_degenerate(self) -> bool:
        """Whether a side is all apart or one block, where the index is a constant or undefined."""
        sides = (self.pairs_together_before, self.pairs_together_after)
        return any(side in (0, self.pairs) for side in sides)

    def adjusted_rand(self) -> Fraction | None:
        """Hubert and Arabie's index, to be read only where it is not degenerate; None for 0/0."""
        before, after = self.pairs_together_before, self.pairs_together_after
        if not self.pairs:
            return None
        expected = Fraction(before * after, self.pairs)
        spread = Fraction(before + after, 2) - expected
        return (self.pairs_together_in_both - expected) / spread if spread else None


def compare_partitions(
    before: NDArray[np.integer], after: NDArray[np.integer]
) -> PartitionComparison:
    """What happened to the groups of entities with equal answers, from one contingency table.

    Parameters
    ----------
    before, after : (n_entities,) int
        Answer codes of the same entities, one code space for both sides; -1 for no answer,
        -2 for a missing row.

    Returns
    -------
    PartitionComparison

    Raises
    ------
    ShapeError
        If the sides differ in length.
    InputError
        If the codes are not whole numbers, or below -2.

    Examples
    --------
    >>> change = compare_partitions(np.array([0, 0, 1, 2]), np.array([3, 4, 1, 1]))
    >>> change.pairs_merged, change.pairs_split, str(change.churn)
    (1, 1, '3/4')
    """
    _check(before, after)
    both = (before >= 0) & (after >= 0)
    left, right = before[both], after[both]
    changed = int(np.count_nonzero(left != right))
    left, right = _dense(left), _dense(right)
    cells, counts = _cells(left, right)
    width = int(right.max(initial=0)) + 1
    rows, columns = np.bincount(left), np.bincount(right)
    n = len(left)
    return PartitionComparison(
        outcomes=outcome_table(before, after),
        n_compared=n,
        n_changed=changed,
        pairs=n * (n - 1) // 2,
        pairs_together_before=_pairs(rows),
        pairs_together_after=_pairs(columns),
        pairs_together_in_both=_pairs(counts),
        split_information=_bits(counts, rows[cells // width], n),
        merge_information=_bits(counts, columns[cells % width], n),
    )


def outcome_table(
    before: NDArray[np.integer], after: NDArray[np.integer]
) -> tuple[tuple[int, ...], ...]:
    """Counts of (answered, no answer, missing) before, down, by after, across.

    Parameters and errors as :func:`compare_partitions`.

    Examples
    --------
    >>> outcome_table(np.array([5, -1, 0]), np.array([5, 2, -2]))
    ((1, 0, 1), (1, 0, 0), (0, 0, 0))
    """
    _check(before, after)
    place = -np.minimum(before, 0) * 3 - np.minimum(after, 0)
    counts = np.bincount(place, minlength=9).reshape(3, 3)
    return tuple(tuple(row) for row in counts.tolist())


def _cells(
    left: NDArray[np.integer], right: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The occupied cells of the contingency table as one number each, and their counts."""
    height, width = int(left.max(initial=0)) + 1, int(right.max(initial=0)) + 1
    joint = left.astype(np.int64) * width + right
    if height * width <= 4 * len(left):
        table = np.bincount(joint)
        cells = np.flatnonzero(table)
        return cells, table[cells]
    return np.unique(joint, return_counts=True)


def _dense(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Codes below four times their number, so that counting them stays linear."""
    if int(codes.max(initial=0)) <= 4 * len(codes):
        return codes
    inverse: NDArray[np.int64] = np.unique(codes, return_inverse=True)[1]
    return inverse


def _pairs(counts: NDArray[np.integer]) -> int:
    return int((counts * (counts - 1) // 2).sum())


def _bits(cell: NDArray[np.int64], margin: NDArray[np.int64], n: int) -> float:
    """Mean of log2(margin / cell): exactly 0 where every cell fills its margin."""
    return float((cell * np.log2(margin / cell)).sum() / n) if n else 0.0


def _check(before: NDArray[np.integer], after: NDArray[np.integer]) -> None:
    if before.ndim != 1 or before.shape != after.shape:
        msg = (
            f"before has shape {before.shape} and after has shape {after.shape}; both must be "
            "(n_entities,). Join them by entity first."
        )
        raise ShapeError(msg)
    for name, side in (("before", before), ("after", after)):
        if not np.issubdtype(side.dtype, np.integer) or int(side.min(initial=0)) < MISSING:
            msg = (
                f"{name} is of type {side.dtype} with least value {side.min(initial=0)}; wanted "
                "whole codes, -1 for no answer and -2 for missing. Intern the answers."
            )
            raise InputError(msg)
