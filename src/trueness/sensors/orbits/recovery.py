"""How well the entity can be told from its answers, whoever decodes them."""

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.sensors.orbits.slots import Slots
from trueness.stats.recovery import MISSING, joint_blocks
from trueness.table import NULL

MAX_SLOTS = 2_000_000
MAX_COLUMNS = 100
"""Ceilings are listed for at most so many columns."""


def recovery_details(slots: Slots) -> dict[str, Json]:
    """Ceilings of naming the entity, uniform prior: m/n a column, and for all columns together.

    A no-answer of any kind is one symbol. None above `MAX_SLOTS` slots or `MAX_COLUMNS` columns.
    """
    n_columns = len(slots.columns)
    out: dict[str, Json] = {"recovery_ceiling_per_column": None, "recovery_ceiling_joint": None}
    if n_columns > MAX_COLUMNS or n_columns * len(slots.entities) > MAX_SLOTS:
        return out
    codes = grid(slots)
    shares = [_share(*_blocks(codes[:, t])) for t in range(n_columns)]
    joint = shares[0] if n_columns == 1 else _share(*joint_blocks(codes))
    return {"recovery_ceiling_per_column": [*shares], "recovery_ceiling_joint": joint}


def grid(slots: Slots) -> NDArray[np.int64]:
    """Answer codes, entities by columns: -1 for no answer, -2 for missing or never asked."""
    out = np.full((len(slots.entities), len(slots.columns)), MISSING, dtype=np.int64)
    out[slots.entity, slots.column] = np.where(
        slots.missing, MISSING, np.where(slots.answered, slots.key, NULL)
    )
    return out


def _blocks(column: NDArray[np.int64]) -> tuple[int, int]:
    """How many symbols a column has, and how many entities have one; counted where it is dense."""
    present = column[column != MISSING]
    if int(present.max(initial=0)) <= 4 * len(present):
        return int(np.count_nonzero(np.bincount(present - NULL))), len(present)
    return len(np.unique(present)), len(present)


def _share(n_blocks: int, n_entities: int) -> float | None:
    return n_blocks / n_entities if n_entities else None
