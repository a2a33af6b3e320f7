"""A sensor that is no module of its own: one of a family that shares its code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trueness.contract import Contract, Reading


@dataclass(frozen=True, slots=True)
class Instrument:
    """What a module of a sensor offers, as one object.

    Parameters
    ----------
    CONTRACT : Contract
    Params : frozen dataclass
        With a default for every field.
    measure : callable
        ``measure(table, params) -> Reading``.
    TABLE : str
        Kind of table that it reads.
    NEEDS_VECTORS : bool
        Whether the table's texts must have been embedded.
    READS : frozenset of str
        What else beside the texts changes its value: ``corpus``, ``entailer``, ``weights``.
    """

    CONTRACT: Contract
    Params: Callable[..., Any]
    measure: Callable[[Any, Any], Reading]
    TABLE: str = "evidence"
    NEEDS_VECTORS: bool = True
    READS: frozenset[str] = frozenset()
