"""The declared rules of a span: how many directions are kept, and what the vectors are worth."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

RAW_NOISE = 1e-6
"""Noise of a unit row when nothing says where the vectors come from."""
DTYPE_NOISE = {"float64": 1e-12, "float32": 1e-6, "float16": 3e-4, "bfloat16": 2e-3}
"""Noise of a unit row by the declared number type; quantised vectors must declare their own."""
_LEAST_TOL, _MOST_TOL = 1e-11, 0.1
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class SpanRules:
    """How a span is measured; every field belongs into a fingerprint.

    Parameters
    ----------
    rank : {"full", "cap", "variance"}
        Keep all numerical directions, at most ``cap``, or the fewest that hold the share ``q``
        of the squared singular values.
    cap : int, at least 1
        Only with ``rank="cap"``.
    q : float in (0, 1]
        Only with ``rank="variance"``.
    rank_tol : float in [1e-11, 0.1)
        Directions below this fraction of the largest singular value are null.
    energy_tol : float in (0, 1)
        How far noise and ties may move the energy before it counts as unstable.
    embedding_noise : float, at least 0
        Length of the noise of one unit row; see `DTYPE_NOISE`.
    dedup : {"both", "text", "vector", "none"}
        Which passages count as one.
    selection : {"all", "first", "top"}
        Which candidates are measured; ``top`` by cosine to the claim.
    selected : int, at least 1
        How many candidates are kept; only with ``first`` and ``top``.
    max_passages : int, at least 1
        More passages than this are refused, not cut.
    evidence_selected : bool
        Whether the evidence was found by its similarity to the claim before it came here.

    Raises
    ------
    InputError
        When a field is out of its range, missing, or given without its rule.

    Examples
    --------
    >>> SpanRules(rank="cap", cap=8).cap
    8
    """

    rank: Literal["full", "cap", "variance"] = "full"
    cap: int | None = None
    q: float | None = None
    rank_tol: float = 1e-4
    energy_tol: float = 0.01
    embedding_noise: float = RAW_NOISE
    dedup: Literal["both", "text", "vector", "none"] = "both"
    selection: Literal["all", "first", "top"] = "all"
    selected: int | None = None
    max_passages: int = 64
    evidence_selected: bool = False

    def __post_init__(self) -> None:
        _one_of("rank", self.rank, ("full", "cap", "variance"))
        _one_of("dedup", self.dedup, ("both", "text", "vector", "none"))
        _one_of("selection", self.selection, ("all", "first", "top"))
        _goes_with("cap", self.cap, "rank", self.rank == "cap")
        _goes_with("q", self.q, "rank", self.rank == "variance")
        _goes_with("selected", self.selected, "selection", self.selection != "all")
        for name in ("cap", "selected", "max_passages"):
            _whole(name, getattr(self, name))
        _inside("q", self.q, 0.0, 1.0, closed=True)
        _inside("rank_tol", self.rank_tol, np.nextafter(_LEAST_TOL, 0), _MOST_TOL)
        _inside("energy_tol", self.energy_tol, 0.0, 1.0)
        if not 0.0 <= self.embedding_noise < np.inf:
            msg = (
                f"embedding_noise is {self.embedding_noise!r}; it is the length of the noise of "
                "a unit row: give a finite number from 0, such as 1e-6 for float32."
            )
            raise InputError(msg)

    @property
    def chance_basis(self) -> str:
        """``selected`` when similarity to the claim chose the evidence, else ``isotropic``."""
        return "selected" if self.evidence_selected or self.selection == "top" else "isotropic"

    def retained(self, lam: Floats, rank: Ints) -> Ints:
        r"""How many directions the rule keeps, at most the numerical rank.

        Parameters
        ----------
        lam : (n_sets, n) float, descending
            Squared singular values.
        rank : (n_sets,) int
            Numerical rank, at least 1.

        Returns
        -------
        (n_sets,) int, at least 1

        Examples
        --------
        >>> rules = SpanRules(rank="variance", q=0.8)
        >>> rules.retained(np.array([[4.0, 1.0]]), np.array([2])).tolist()
        [1]
        """
        if self.cap is not None:
            return np.minimum(rank, self.cap)
        if self.rank == "full" or self.q is None:
            return rank
        kept = np.where(np.arange(lam.shape[1]) < rank[:, None], lam, 0.0)
        mass = np.cumsum(kept, axis=1)
        total = mass[:, -1]
        enough = mass >= (self.q * total - _EQUAL * total)[:, None]
        fewest: Ints = enough.argmax(axis=1) + 1
        return np.minimum(fewest, rank)


def _one_of(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        msg = f"{name} is {given!r}; choose one of {', '.join(known)}."
        raise InputError(msg)


def _goes_with(name: str, given: object, rule: str, wanted: bool) -> None:  # noqa: FBT001 - private
    if wanted and given is None:
        msg = f"{rule} needs {name} and none is given; give {name}."
        raise InputError(msg)
    if not wanted and given is not None:
        msg = f"{name} is {given!r} and the rule for {rule} has no {name}; leave it out."
        raise InputError(msg)


def _whole(name: str, given: object) -> None:
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        msg = f"{name} is {given!r}; give a whole number from 1."
        raise InputError(msg)


def _inside(
    name: str, given: float | None, low: float, high: float, *, closed: bool = False
) -> None:
    if given is None or low < given < high or (closed and given == high):
        return
    msg = f"{name} is {given!r}; it must lie above {low:g} and below {high:g}. Give such a number."
    raise InputError(msg)
