"""What turns several columns into the one value that a gate reads."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.serial import Json


@runtime_checkable
class Score(Protocol):
    """What turns several columns into one value; fitted on other items than the gate's."""

    def predict_proba(self, rows: ArrayLike, /) -> NDArray[np.float64]:
        """(n, 2) Of supported and unsupported."""
        ...


@runtime_checkable
class SavedScore(Score, Protocol):
    """A score that can be written down."""

    def to_json(self) -> dict[str, Json]:
        """Plain JSON with a schema."""
        ...
