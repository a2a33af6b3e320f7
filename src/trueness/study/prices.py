"""What derivatives of a block cost beside passes of its model, in processor time."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueness.backends.protocol import Request
from trueness.stats.bidiagonal import bidiagonal_values
from trueness.stats.block_power import TopValues, top_values

CLOCK: Callable[[], float] = time.process_time
"""Processor seconds of all threads: what else the machine does does not count."""
WARM_UPS = 3

Seconds = tuple[float, ...]


class Mapped(Protocol):
    """The part of a local model that is timed."""

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        """(n, V): one pass."""
        ...

    def hidden_states(self, prompts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """(n, L + 1, 1, D): tells depth and width."""
        ...

    def row_map(
        self, prompt: Sequence[int], layer: int, position: int, *, method: str | None = ...
    ) -> Any:
        """One block as a map of one row."""
        ...


@dataclass(frozen=True, slots=True)
class Calls:
    """How often each kind of call is timed.

    Parameters
    ----------
    cheap : int
        Of a row map, a block and a pass, after `WARM_UPS`.
    dear : int
        Of derivatives and decompositions, after one; the whole-sequence derivative once.
    """

    cheap: int
    dear: int


@dataclass(frozen=True, slots=True, eq=False)
class Price:
    """What one block's derivative costs in one model.

    Parameters
    ----------
    name : str
    width, blocks : int
    seconds : mapping of str to tuple of float
        Each call of ``row_map``, ``block``, ``forward``, ``row_jacobian``, ``sequence_jacobian``,
        ``svd``, ``power`` and ``bidiagonal``.
    difference : float
        Largest entry by which the row's Jacobian and the whole sequence's differ, over the largest.
    sigma : (D,) float64
        All singular values.
    power, bidiagonal : TopValues
    """

    name: str
    width: int
    blocks: int
    seconds: Mapping[str, Seconds]
    difference: float
    sigma: NDArray[np.float64]
    power: TopValues
    bidiagonal: TopValues

    def median(self, what: str) -> float:
        """Seconds of one call."""
        return float(np.median(self.seconds[what]))

    def quartiles(self, what: str) -> tuple[float, float]:
        """Lower and upper, in seconds."""
        low, high = np.quantile(self.seconds[what], [0.25, 0.75]).tolist()
        return low, high

    def against_forwards(self, n: int) -> tuple[float, float, float]:
        """The row's Jacobian with its spectrum over n passes: of medians, and of the quartiles."""
        parts = [self.quartiles(what) for what in ("row_jacobian", "svd", "forward")]
        (j_low, j_high), (s_low, s_high), (f_low, f_high) = parts
        middle = (self.median("row_jacobian") + self.median("svd")) / (n * self.median("forward"))
        return middle, (j_low + s_low) / (n * f_high), (j_high + s_high) / (n * f_low)


def price_of(name: str, model: Mapped, prompt: Sequence[int], *, k: int, calls: Calls) -> Price:
    """Time one block in the middle of a model, at the last token of a prompt.

    Parameters
    ----------
    name : str
    model : Mapped
    prompt : sequence of int
    k : int
        How many singular values the two iterations look for, to their usual residual, one start.
    calls : Calls
    """
    states = model.hidden_states([prompt])
    blocks, width = states.shape[1] - 1, states.shape[-1]
    layer, last = blocks // 2, len(prompt) - 1
    row = model.row_map(prompt, layer, last, method="row")
    whole = model.row_map(prompt, layer, last, method="sequence")
    size = len(row.at)
    k = min(k, size)
    request = Request(("timed", 1, "none"), tuple(prompt))
    seconds: dict[str, Seconds] = {}

    def timed(what: str, call: Callable[[], Any], n: int, warm_ups: int) -> Any:
        for _ in range(warm_ups):
            call()
        spent = []
        for _ in range(n):
            start = CLOCK()
            found = call()
            spent.append(CLOCK() - start)
        seconds[what] = tuple(spent)
        return found

    timed("row_map", lambda: row(row.at), calls.cheap, WARM_UPS)
    timed("block", lambda: whole(whole.at), calls.cheap, WARM_UPS)
    timed("forward", lambda: model.next_logits([request]), calls.cheap, WARM_UPS)
    jacobian = timed("row_jacobian", row.jacobian, calls.dear, 1)
    other = timed("sequence_jacobian", whole.jacobian, 1, 0)
    j = np.asarray(jacobian, np.float64)
    sigma = timed("svd", lambda: np.linalg.svd(j, compute_uv=False), calls.dear, 1)
    power = timed("power", lambda: top_values(row.jvp, row.vjp, width=size, k=k, seeds=(0,)), 1, 0)
    bidiagonal = timed(
        "bidiagonal", lambda: bidiagonal_values(row.jvp, row.vjp, width=size, k=k), 1, 0
    )
    off = float(np.abs(j - other).max() / np.abs(j).max())
    return Price(name, width, blocks, seconds, off, sigma, power, bidiagonal)
