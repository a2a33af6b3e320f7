"""Mean log growth rates of one finite product of matrices."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.stats.kaplan_yorke import Dimension, kaplan_yorke

Floats: TypeAlias = NDArray[np.float64]

_ORDER = 1e-12
_SUSPECT = 1e-6
_EPS = float(np.finfo(np.float64).eps)


class Product(StrEnum):
    """What is multiplied; the two are never mixed."""

    BLOCK = "block_product"
    """Blocks 0 to L - 1 at one position: exactly the end-to-end derivative of that position."""
    TOKEN = "token_product"  # noqa: S105 - a token of text
    """One block at many positions: a product of matrices, not the derivative of anything."""


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """Growth rates of the columns of a frame under a product.

    Parameters
    ----------
    product : Product
    n_steps : int
    dt : float
    in_frame : (D,) float64
        In the order of the frame; nan for a dead direction.
    exponents : (n_alive,) float64, descending
        The same, sorted; dead directions are left out, and stand for minus infinity.
    n_dead : int
        Directions that a step sent to 0 as far as can be told.
    total : float or None
        Sum of the exponents: mean log of the absolute determinant. None with a dead direction.
    n_expanding : int
        Exponents above 0.
    n_order_violations : int
        Neighbours in the frame of which the later one grew faster.
    trace : (n_steps, D) float64
        Rates after each step, in the order of the frame; nan once dead.
    """

    product: Product
    n_steps: int
    dt: float
    in_frame: Floats
    exponents: Floats
    n_dead: int
    total: float | None
    n_expanding: int
    n_order_violations: int
    trace: Floats

    @property
    def dimension(self) -> Dimension:
        """Kaplan-Yorke dimension of these exponents."""
        return kaplan_yorke(self.exponents.tolist(), n_dead=self.n_dead)

    def after(self, step: int) -> Dimension:
        """Kaplan-Yorke dimension of the rates after so many steps.

        Raises
        ------
        InputError
            When there were not so many.
        """
        if not 1 <= step <= self.n_steps:
            msg = f"step is {step} of {self.n_steps}; wanted one of them, counted from 1."
            raise InputError(msg)
        rates = self.trace[step - 1]
        alive = rates[~np.isnan(rates)]
        return kaplan_yorke(alive.tolist(), n_dead=len(rates) - len(alive))


def growth(
    jacobians: Iterable[ArrayLike],
    *,
    product: Product,
    dt: float = 1.0,
    seed: int = 0,
    frame: str = "random",
) -> Growth:
    r"""Growth rates by repeated QR: :math:`J_k Q = Q' R`, sums of :math:`\log R_{ii}` over n dt.

    Where :math:`J_k Q` has rank r at tolerance :math:`\varepsilon D |J_k|_F`, which is how far
    rounding reaches, all but r directions, those of the smallest :math:`|R_{ii}|`, are dead from
    then on: they are taken out of the frame and counted, never given a large negative number.

    Parameters
    ----------
    jacobians : iterable of (D, D) float
        In the order in which they act.
    product : Product
        What is being multiplied; kept beside the numbers.
    dt : float, above 0
        Time of one step.
    seed : int
        Of the random orthogonal frame.
    frame : {"random", "identity"}

    Raises
    ------
    ShapeError
        When a matrix is not square or has another size.
    InputError
        For an empty product, a non-finite entry, or a dt that is not above 0.

    Examples
    --------
    >>> steps = [np.diag([0.5, 2.0])] * 3
    >>> found = growth(steps, product=Product.BLOCK, frame="identity")
    >>> found.in_frame.round(4).tolist(), found.exponents.round(4).tolist()
    ([-0.6931, 0.6931], [0.6931, -0.6931])
    >>> found.n_order_violations
    1
    """
    if frame not in ("random", "identity"):
        msg = f"frame {frame!r}; wanted 'random' or 'identity'."
        raise InputError(msg)
    return _grow(jacobians, product, dt, (None if frame == "identity" else seed,))[0]


def growths(
    jacobians: Iterable[ArrayLike], *, product: Product, seeds: Sequence[int], dt: float = 1.0
) -> tuple[Growth, ...]:
    """Growth rates of one product from random frames of several seeds, in one pass over it.

    Parameters, errors as :func:`growth`; a frame for each of ``seeds``, one at least.

    Examples
    --------
    >>> steps = (np.diag([0.5, 2.0]) for _ in range(3))
    >>> [abs(round(g.total, 9)) for g in growths(steps, product=Product.TOKEN, seeds=(0, 1))]
    [0.0, 0.0]
    """
    if not len(seeds):
        msg = "there is no seed; wanted one for each frame. Give (0, 1)."
        raise InputError(msg)
    return _grow(jacobians, product, dt, tuple(seeds))


def _grow(
    jacobians: Iterable[ArrayLike], product: Product, dt: float, seeds: Sequence[int | None]
) -> tuple[Growth, ...]:
    """Every frame under the same steps; None is the identity."""
    if not 0 < dt < np.inf:
        msg = f"dt is {dt}; wanted a finite time above 0."
        raise InputError(msg)
    frames: list[_Frame] = []
    for step, given in enumerate(jacobians, start=1):
        j = _checked(given, len(frames[0].sums) if frames else None, step)
        if not frames:
            frames = [_Frame.of(len(j), seed) for seed in seeds]
        for one in frames:
            one.turn(j, step * dt)
    if not frames:
        msg = "the product is empty; wanted at least one matrix. Give one Jacobian a step."
        raise InputError(msg)
    return tuple(_grown(np.array(one.rows), product, dt) for one in frames)


@dataclass(slots=True, eq=False)
class _Frame:
    """A frame on its way through a product."""

    q: Floats
    sums: Floats
    alive: NDArray[np.intp]
    rows: list[Floats]

    @classmethod
    def of(cls, width: int, seed: int | None) -> "_Frame":
        return cls(_frame(width, seed), np.zeros(width), np.arange(width), [])

    def turn(self, j: Floats, time: float) -> None:
        self.q, size, living = _step(j, self.q)
        self.sums[self.alive[~living]] = np.nan
        self.alive = self.alive[living]
        self.sums[self.alive] += np.log(size)
        self.rows.append(self.sums / time)


def block_product(jacobians: Sequence[ArrayLike]) -> Floats:
    r"""The product :math:`J_{L-1} \cdots J_0`: by causality the derivative end to end.

    Parameters
    ----------
    jacobians : sequence of (D, D) float
        Of the blocks at one position, the first block first, causal.

    Raises
    ------
    ShapeError, InputError
        As :func:`growth`.

    Examples
    --------
    >>> block_product([[[0.0, 1.0], [1.0, 0.0]], [[2.0, 0.0], [0.0, 3.0]]]).tolist()
    [[0.0, 2.0], [3.0, 0.0]]
    """
    if not len(jacobians):
        msg = "the product is empty; wanted at least one matrix. Give one Jacobian a block."
        raise InputError(msg)
    whole = _checked(jacobians[0], None, 1)
    for step, given in enumerate(jacobians[1:], start=2):
        whole = _checked(given, len(whole), step) @ whole
    return whole


def _grown(trace: Floats, product: Product, dt: float) -> Growth:
    last = trace[-1]
    alive = last[~np.isnan(last)]
    n_dead = len(last) - len(alive)
    spread = _ORDER * max(1.0, float(np.abs(alive).max(initial=0.0)))
    return Growth(
        product=product,
        n_steps=len(trace),
        dt=dt,
        in_frame=last,
        exponents=np.sort(alive)[::-1],
        n_dead=n_dead,
        total=None if n_dead else float(alive.sum()),
        n_expanding=int((alive > 0).sum()),
        n_order_violations=int((alive[1:] > alive[:-1] + spread).sum()),
        trace=trace,
    )


def _checked(given: ArrayLike, width: int | None, step: int) -> Floats:
    j = np.asarray(given, dtype=np.float64)
    if j.ndim != 2 or j.shape[0] != j.shape[1] or not j.size or (width or len(j)) != len(j):  # noqa: PLR2004 - a matrix
        wanted = "a square matrix" if width is None else f"({width}, {width})"
        msg = f"the matrix of step {step} has shape {j.shape}; wanted {wanted}. One size for all."
        raise ShapeError(msg)
    if not np.isfinite(j).all():
        msg = f"the matrix of step {step} holds nan or infinity; wanted finite numbers. Check it."
        raise InputError(msg)
    return j


def _frame(width: int, seed: int | None) -> Floats:
    if seed is None:
        return np.eye(width)
    drawn = np.random.default_rng(seed).standard_normal((width, width))
    q, r = np.linalg.qr(drawn)
    turned: Floats = q * np.sign(np.diagonal(r))  # uniform over the orthogonal group
    return turned


def _step(j: Floats, q: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The next frame, growth of its directions, and which of the present ones live on.

    A diagonal entry alone does not show rank: behind a column that hardly grew, rounding makes
    later entries large. So where one is small, the singular values decide how many are dead.
    """
    y, scale = j @ q, float(np.linalg.norm(j))
    turned, r = np.linalg.qr(y)
    size = np.abs(np.diagonal(r))
    living = np.ones(len(size), np.bool_)
    if len(size) and size.min() <= _SUSPECT * scale:
        values = np.linalg.svd(r, compute_uv=False)
        n_dead = int((values <= _EPS * len(j) * scale).sum())
        living[np.argsort(size, kind="stable")[:n_dead]] = False
    if not living.all():
        turned, r = np.linalg.qr(y[:, living])
        size = np.abs(np.diagonal(r))
    return turned, size, living
