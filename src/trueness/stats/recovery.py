"""How well the entity can be recovered from its answer, whoever decodes it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError

MISSING = -2


@dataclass(frozen=True, slots=True)
class RecoveryCeilings:
    """Probabilities that no decoder of the answers exceeds. They certify no error."""

    per_column: tuple[Fraction | None, ...]
    """Of naming the entity from one column; ``None`` where the column is empty."""
    joint: Fraction | None
    """Of naming it from all columns together; entities missing anywhere are left out."""
    smallest_per_entity: tuple[Fraction | None, ...]
    """Given an entity's answer, of naming any entity of its block: the least over the columns."""


def recovery_ceilings(
    codes: NDArray[np.integer], *, prior: Sequence[Fraction | int] | None = None
) -> RecoveryCeilings:
    r"""Upper limits of naming the entity from its answers.

    Over a partition into blocks, :math:`\sum_B \max_{e \in B} \pi(e) / \sum_e \pi(e)`, which is
    m/n for m blocks and a uniform prior; within a block :math:`\max_B \pi / \sum_B \pi`.

    Parameters
    ----------
    codes : (n_entities, n_columns) int
        Answer codes; -1 for no answer, which is one symbol like any other; -2 for a missing row.
    prior : (n_entities,) sequence of Fraction or int, optional
        Positive weights of the entities; uniform without it.

    Returns
    -------
    RecoveryCeilings

    Raises
    ------
    ShapeError
        If ``codes`` is not two-dimensional or ``prior`` has another length.
    InputError
        If a weight is not positive.

    Examples
    --------
    >>> ceilings = recovery_ceilings(np.array([[0, 1], [0, 2], [3, 1], [3, 2]]))
    >>> [str(c) for c in ceilings.per_column], str(ceilings.joint)
    (['1/2', '1/2'], '1')
    """
    weights = _weights(codes, prior)
    least: list[Fraction | None] = [None] * len(codes)
    per_column: list[Fraction | None] = []
    for t in range(codes.shape[1]):
        present = np.flatnonzero(codes[:, t] != MISSING)
        blocks = _blocks(codes[present, t].tolist(), present.tolist())
        per_column.append(_ceiling(blocks, weights))
        for block in blocks:
            inside = _ceiling([block], weights)
            for e in block:
                seen = least[e]
                least[e] = inside if seen is None or inside is None else min(seen, inside)
    whole = np.flatnonzero((codes != MISSING).all(axis=1))
    rows = [tuple(row) for row in codes[whole].tolist()]
    joint = _ceiling(_blocks(rows, whole.tolist()), weights)
    return RecoveryCeilings(tuple(per_column), joint, tuple(least))


def _blocks(symbols: Sequence[object], entities: Sequence[int]) -> list[list[int]]:
    blocks: dict[object, list[int]] = defaultdict(list)
    for symbol, e in zip(symbols, entities, strict=True):
        blocks[symbol].append(e)
    return list(blocks.values())


def _ceiling(blocks: list[list[int]], weights: list[Fraction | int]) -> Fraction | None:
    if not blocks:
        return None
    best = sum(max(weights[e] for e in block) for block in blocks)
    return Fraction(best) / sum(weights[e] for block in blocks for e in block)


def _weights(
    codes: NDArray[np.integer], prior: Sequence[Fraction | int] | None
) -> list[Fraction | int]:
    if codes.ndim != 2:  # noqa: PLR2004 - entities by columns
        msg = (
            f"codes has shape {codes.shape}; it must be (n_entities, n_columns). "
            "Pass one row an entity."
        )
        raise ShapeError(msg)
    if prior is None:
        return [1] * len(codes)
    if len(prior) != len(codes):
        msg = (
            f"prior holds {len(prior)} weights for {len(codes)} entities; wanted one each. "
            "Give them in the order of the entities."
        )
        raise ShapeError(msg)
    for e, weight in enumerate(prior):
        if isinstance(weight, float) or not weight > 0:
            msg = (
                f"prior[{e}] is {weight!r}; weights are positive whole numbers or fractions. "
                "Leave out the entities that cannot occur."
            )
            raise InputError(msg)
    return list(prior)


def joint_blocks(codes: NDArray[np.integer]) -> tuple[int, int]:
    """How many different rows there are, and how many entities they hold.

    Their ratio is `RecoveryCeilings.joint` for a uniform prior, without a loop over entities.

    Parameters
    ----------
    codes : (n_entities, n_columns) int
        As in `recovery_ceilings`; entities missing anywhere are left out.

    Examples
    --------
    >>> joint_blocks(np.array([[0, 1], [0, 1], [3, -1], [3, -2]]))
    (2, 3)
    """
    whole = codes[(codes != MISSING).all(axis=1)]
    block = np.zeros(len(whole), dtype=np.int64)
    for t in range(whole.shape[1]):
        column = np.unique(whole[:, t], return_inverse=True)[1]
        width = int(column.max(initial=0)) + 1
        block = np.unique(block * width + column, return_inverse=True)[1].astype(np.int64)
    return int(block.max(initial=-1)) + 1, len(whole)
