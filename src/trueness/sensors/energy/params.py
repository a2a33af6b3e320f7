"""How the energy of a claim is measured."""

from dataclasses import asdict, dataclass
from typing import Literal

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.sensors.claims import check_interval, is_whole
from trueness.stats.span_rules import SpanRules
from trueness.table.evidence import EvidenceTable


@dataclass(frozen=True, slots=True)
class Params:
    """The rules of the span, of the sentences, and of the interval.

    Parameters
    ----------
    rank, cap, q, rank_tol, energy_tol, dedup, selection, selected, max_passages, \
evidence_selected : as in `trueness.stats.span_rules.SpanRules`
    embedding_noise : float, optional
        Length of the noise of one unit row, where it is more than the vectors' own.
    coverage_cut : float
        A passage covers a sentence from a cosine above it.
    energy_cut : float
        Sentences above it are counted.
    marked : {"apart", "counted"}
        Whether refusals, greetings and questions are left out of the aggregates of sentences.
    foreign : int
        Other sources whose evidence a claim is measured against, for its empirical chance level;
        0 for none.
    foreign_claims : int
        The most claims that get one: in a larger table they are drawn.
    level, replicates, seed :
        Of the bootstrap.

    Raises
    ------
    InputError
        When a field is out of its range.
    """

    rank: Literal["full", "cap", "variance"] = "full"
    cap: int | None = None
    q: float | None = None
    rank_tol: float = 1e-4
    energy_tol: float = 0.01
    embedding_noise: float | None = None
    dedup: Literal["both", "text", "vector", "none"] = "both"
    selection: Literal["all", "first", "top"] = "all"
    selected: int | None = None
    max_passages: int = 64
    evidence_selected: bool = False
    coverage_cut: float = 0.3
    energy_cut: float = 0.5
    marked: Literal["apart", "counted"] = "apart"
    foreign: int = 16
    foreign_claims: int = 10_000
    level: float = 0.95
    replicates: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_interval(self.level, self.replicates, self.seed)
        noise: object = self.embedding_noise
        if isinstance(noise, bool) or not isinstance(noise, int | float | None):
            msg = f"embedding_noise is {noise!r}; give a number above 0, or leave it out."
            raise InputError(msg)
        self.rules(1e-6)
        if self.marked not in ("apart", "counted"):
            msg = f"marked is {self.marked!r}; choose apart or counted."
            raise InputError(msg)
        for name, least in (("foreign", 0), ("foreign_claims", 1)):
            if not is_whole(getattr(self, name), least):
                msg = f"{name} is {getattr(self, name)!r}; give a whole number from {least}."
                raise InputError(msg)
        for name, low, high in (("coverage_cut", -1.0, 1.0), ("energy_cut", 0.0, 1.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                msg = f"{name} is {value!r}; give a number from {low:g} to {high:g}."
                raise InputError(msg)
            if not low <= value <= high:
                msg = f"{name} is {value!r}; it must lie from {low:g} to {high:g}. Change it."
                raise InputError(msg)

    def rules(self, noise: float) -> SpanRules:
        """The rules of the span for vectors with this noise; a declared one only raises it."""
        return SpanRules(
            rank=self.rank,
            cap=self.cap,
            q=self.q,
            rank_tol=self.rank_tol,
            energy_tol=self.energy_tol,
            embedding_noise=max(noise, self.embedding_noise or 0.0),
            dedup=self.dedup,
            selection=self.selection,
            selected=self.selected,
            max_passages=self.max_passages,
            evidence_selected=self.evidence_selected,
        )

    def check(self, table: EvidenceTable) -> None:
        """Refuse a claim with more passages than are measured, by name; needs no vectors.

        Raises
        ------
        InputError
        """
        for row in range(len(table)):
            n = sum(bool(p.strip()) for p in table.passages(row))
            kept = n if self.selected is None else min(n, self.selected)
            if kept > self.max_passages:
                msg = (
                    f"item {table.item[row]!r} has {n} passages and at most {self.max_passages} "
                    "are measured. Select some, for calibration and use alike: selection top or "
                    "first with selected, or raise max_passages."
                )
                raise InputError(msg)

    def identity(self, noise: float) -> dict[str, Json]:
        """What a threshold depends on; the interval is no part of it."""
        return {
            "rules": asdict(self.rules(noise)),
            "coverage_cut": float(self.coverage_cut),
            "energy_cut": float(self.energy_cut),
            "marked": self.marked,
        }

    def aside(self) -> dict[str, Json]:
        """What figures beside the value depend on, and no threshold does."""
        return {"foreign": self.foreign, "foreign_claims": self.foreign_claims}
