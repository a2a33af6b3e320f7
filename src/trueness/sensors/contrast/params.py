"""How a claim is compared with its contradictions."""

from dataclasses import dataclass
from typing import Literal

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.sensors.claims import check_interval, is_whole


@dataclass(frozen=True, slots=True)
class Params:
    """Which contradictions count, when an item is routed, and the interval.

    Parameters
    ----------
    per_kind : int
        Contradictions of a kind that are looked at, the first ones.
    route : {"energy", "off"}
        Whether an item carries a flag for every kind with a contradiction that the energy would
        accept as well.
    accept : float, optional
        Energy below which a gate accepts. Without it a contradiction counts as accepted where its
        energy is at most the claim's, up to the noise of the embedder.
    embedding_noise : float, optional
        Length of the noise of one unit row, where it is more than the vectors' own.
    level, replicates, seed :
        Of the bootstrap.

    Raises
    ------
    InputError
        When a field is out of its range.
    """

    per_kind: int = 2
    route: Literal["energy", "off"] = "energy"
    accept: float | None = None
    embedding_noise: float | None = None
    level: float = 0.95
    replicates: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_interval(self.level, self.replicates, self.seed)
        if not is_whole(self.per_kind, 1):
            msg = f"per_kind is {self.per_kind!r}; give a whole number from 1."
            raise InputError(msg)
        if self.route not in ("energy", "off"):
            msg = f"route is {self.route!r}; choose energy or off."
            raise InputError(msg)
        number = isinstance(self.accept, (int, float)) and not isinstance(self.accept, bool)
        if self.accept is not None and not (number and 0.0 < self.accept <= 1.0):
            msg = f"accept is {self.accept!r}; give an energy above 0 and at most 1, or none."
            raise InputError(msg)

    def identity(self) -> dict[str, Json]:
        """What a threshold depends on; the interval is no part of it."""
        return {"per_kind": self.per_kind, "route": self.route, "accept": self.accept}
