"""Laws that items' answers are drawn from, with the agreement that they truly have."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.stats.clouds import GOLD, NONE, PARTS, WRONG, Floats, Ints

_SUM_SLACK = 1e-9
_ROLES = (GOLD, WRONG, NONE)


@dataclass(frozen=True, slots=True)
class ItemLaw:
    """Where the answer law of an item comes from: a Dirichlet law, or always the same masses.

    Parameters
    ----------
    weights : (n_classes,) tuple of float, at least 0
        Parameters of the Dirichlet law, each above 0; or masses, which sum to 1.
    fixed : bool
        Whether they are masses.

    Raises
    ------
    InputError
        If they are not.

    Examples
    --------
    >>> ItemLaw((1.0, 1.0)).mean_power(2).round(4).tolist()
    [0.3333, 0.3333]
    """

    weights: tuple[float, ...]
    fixed: bool = False

    def __post_init__(self) -> None:
        least = min(self.weights, default=-1.0)
        good = all(map(math.isfinite, self.weights)) and (least >= 0 if self.fixed else least > 0)
        if not good or (self.fixed and abs(sum(self.weights) - 1) > _SUM_SLACK):
            kind = "masses that sum to 1" if self.fixed else "Dirichlet parameters above 0"
            msg = f"the weights of a law are {list(self.weights)}; wanted {kind}, one a class."
            raise InputError(msg)

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """(n, n_classes): the answer laws of n items."""
        if self.fixed:
            return np.tile(np.array(self.weights, np.float64), (n, 1))
        return rng.dirichlet(self.weights, n)

    def mean_power(self, r: int) -> Floats:
        r"""(n_classes,): expectation of :math:`p(a)^r` over the items.

        Of a Dirichlet law :math:`\prod_{j<r} (\alpha_a + j)/(\alpha_0 + j)`.
        """
        weights = np.array(self.weights, np.float64)
        if self.fixed:
            return weights**r
        out = np.ones(len(weights))
        for j in range(r):
            out *= (weights + j) / (weights.sum() + j)
        return out


@dataclass(frozen=True, slots=True)
class Movement:
    """What happens to a share of the items between two checkpoints.

    Parameters
    ----------
    share : float in (0, 1]
        Of the population: each item is one of them with this probability.
    before : ItemLaw
    after : ItemLaw, optional
        Drawn anew, whatever the item was; None when the item keeps its law.
    swapped : tuple of int, optional
        Of an item that keeps its law: two classes that change places.
    """

    share: float
    before: ItemLaw
    after: ItemLaw | None = None
    swapped: tuple[int, int] | None = None

    @property
    def still(self) -> bool:
        """Whether the item keeps its law as it is."""
        return self.after is None and self.swapped is None

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        """Twice (n, n_classes): the laws of n such items before and after."""
        before = self.before.draw(rng, n)
        if self.after is not None:
            return before, self.after.draw(rng, n)
        return before, before[:, self._order()]

    def mean_powers(self, r: int) -> tuple[Floats, Floats]:
        """Twice (n_classes,): expectations of the r-th powers before and after."""
        before = self.before.mean_power(r)
        return before, before[self._order()] if self.after is None else self.after.mean_power(r)

    def _order(self) -> Ints:
        order = np.arange(len(self.before.weights))
        if self.swapped is not None:
            order[list(self.swapped)] = self.swapped[::-1]
        return order


@dataclass(frozen=True, slots=True)
class Population:
    """Items of several movements; every class has a role.

    Parameters
    ----------
    movements : tuple of Movement
        Shares sum to 1.
    roles : (n_classes,) tuple of int
        ``GOLD``, ``WRONG`` or ``NONE`` of each class.

    Raises
    ------
    InputError
        If shares do not sum to 1, classes do not match or a swap names no class.

    Examples
    --------
    >>> right, wrong = ItemLaw((1.0, 0.0), fixed=True), ItemLaw((0.0, 1.0), fixed=True)
    >>> moved = Population((Movement(0.25, wrong, right), Movement(0.75, right)), (GOLD, WRONG))
    >>> dict(zip(PARTS, moved.true_change((2,)).tolist(), strict=True))
    {'total': 0.0, 'gold': 0.25, 'wrong': -0.25, 'none': 0.0, 'semantic': 0.0}
    """

    movements: tuple[Movement, ...]
    roles: tuple[int, ...]

    def __post_init__(self) -> None:
        shares = [m.share for m in self.movements]
        if not shares or min(shares) <= 0 or abs(sum(shares) - 1) > _SUM_SLACK:
            msg = f"the shares of the movements are {shares}; wanted shares above 0 that sum to 1."
            raise InputError(msg)
        n = len(self.roles)
        laws = [law for m in self.movements for law in (m.before, m.after) if law is not None]
        swaps = [m.swapped for m in self.movements if m.swapped is not None]
        fits = all(len(law.weights) == n for law in laws)
        if not fits or not set(self.roles) <= set(_ROLES):
            sizes = sorted({len(law.weights) for law in laws})
            msg = (
                f"laws have {sizes} classes and roles are {list(self.roles)}; wanted a role "
                "(right, wrong, none) for every class of every law."
            )
            raise InputError(msg)
        if any(not 0 <= place < n for swap in swaps for place in swap):
            msg = f"classes {swaps} change places; wanted two of the {n} classes, counted from 0."
            raise InputError(msg)

    @property
    def still(self) -> bool:
        """Whether no item's law changes."""
        return all(m.still for m in self.movements)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        """Twice (n, n_classes): the laws of n random items before and after."""
        kind = rng.choice(len(self.movements), size=n, p=[m.share for m in self.movements])
        before = np.empty((n, len(self.roles)))
        after = np.empty_like(before)
        for code, movement in enumerate(self.movements):
            here = kind == code
            before[here], after[here] = movement.draw(rng, int(here.sum()))
        return before, after

    def true_change(self, orders: Sequence[int]) -> NDArray[np.float64]:
        """(5 n_orders,): mean change of every part; column ``5 j + p`` as in a comparison."""
        out = np.zeros((len(orders), len(PARTS)))
        for movement in self.movements:
            for j, r in enumerate(orders):
                before, after = movement.mean_powers(r)
                out[j] += movement.share * self._by_part(after - before)
        return out.reshape(-1)

    def _by_part(self, change: Floats) -> Floats:
        roles = np.array(self.roles)
        gold, wrong, none = (float(change[roles == role].sum()) for role in _ROLES)
        return np.array([gold + wrong + none, gold, wrong, none, gold + wrong])
