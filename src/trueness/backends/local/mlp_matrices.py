"""A block's feed-forward matrices changed, for as long as a block of code runs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.local.passes import Engine
from trueness.backends.local.seeing import parts_of
from trueness.contract.errors import BackendError, InputError, ShapeError

_MATRIX = 2

Changed = Callable[[NDArray[np.float32], int], NDArray[np.floating[Any]]]
"""From a matrix and its place in the block to another one of its shape."""


@contextmanager
def changed_mlp(engine: Engine, layer: int, change: Changed) -> Iterator[int]:
    """Replace every matrix of a block's feed-forward part; put it back at the end.

    Yields
    ------
    int
        How many matrices.
    """
    parts = parts_of(engine)
    if not 0 <= layer < len(parts.blocks):
        msg = f"block {layer}; give one from 0 to {len(parts.blocks) - 1}."
        raise InputError(msg)
    module = parts.mlp(layer)
    found = [] if module is None else [p for p in module.parameters() if p.ndim == _MATRIX]
    if not found:
        msg = f"block {layer} has no feed-forward matrices of a known name."
        raise BackendError(msg)
    with ExitStack() as stack:
        stack.enter_context(engine.intervening())
        for place, weight in enumerate(found):
            kept = weight.data
            made = np.asarray(change(engine.numpy(kept), place), np.float32)
            if made.shape != tuple(kept.shape) or not np.isfinite(made).all():
                msg = (
                    f"a matrix of shape {made.shape}; wanted: {tuple(kept.shape)}, finite numbers."
                )
                raise ShapeError(msg)
            stack.callback(_put, weight, kept)
            _put(weight, engine.torch.from_numpy(made.copy()).to(kept.device, kept.dtype))
        yield len(found)


def _put(weight: Any, value: Any) -> None:
    weight.data = value
