"""What does not fit in a trace that was derived again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from trueness.contract.serial import Json


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not fit.

    Parameters
    ----------
    kind : str
        ``hash``, ``chain``, ``count``, ``last``, ``duplicate``, ``order``, ``verdict``, ``rule``,
        ``value``, ``policy``, ``calibration``, ``fingerprint`` or ``threshold``.
    seq : int or None
        Of the row; None for the trace as a whole.
    detail : str
        In words.
    recorded, derived : plain JSON
        Where two things were compared.
    """

    kind: str
    seq: int | None
    detail: str
    recorded: Json = None
    derived: Json = None

    def sentence(self) -> str:
        """One line for a person."""
        where = "the trace" if self.seq is None else f"row {self.seq}"
        return f"{where}, {self.kind}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of deriving a trace again.

    Parameters
    ----------
    n_rows : int
    problems : tuple of Problem
        At most so many as were asked for.
    n_problems : int
        All of them.
    by_kind : mapping of str to int
    limits : tuple of str
        What a replay like this one cannot see.
    """

    n_rows: int
    problems: tuple[Problem, ...]
    n_problems: int
    by_kind: Mapping[str, int]
    limits: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything fits."""
        return self.n_problems == 0

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "ok": self.ok,
            "n_rows": self.n_rows,
            "n_problems": self.n_problems,
            "by_kind": dict(self.by_kind),
            "problems": [
                {
                    "kind": p.kind,
                    "seq": p.seq,
                    "detail": p.detail,
                    "recorded": p.recorded,
                    "derived": p.derived,
                }
                for p in self.problems
            ],
            "limits": list(self.limits),
        }


@dataclass(slots=True)
class Found:
    """Problems as they are found: all of them are counted, so many are listed."""

    most: int
    listed: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, problem: Problem) -> None:
        """Count a problem, and list it while there is room."""
        self.counts[problem.kind] += 1
        if len(self.listed) < self.most:
            self.listed.append(problem)

    def replayed(self, n_rows: int, limits: tuple[str, ...]) -> Replayed:
        """What came of deriving so many rows again."""
        n = self.counts.total()
        return Replayed(n_rows, tuple(self.listed), n, dict(self.counts), limits)
