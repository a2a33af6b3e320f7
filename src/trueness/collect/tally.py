"""How requests are made, and what became of them so far."""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from trueness.backends.protocol import Key, Result
from trueness.collect.selfcheck import SelfCheck
from trueness.collect.summary import Reuse


@dataclass(frozen=True, slots=True)
class Settings:
    """How requests are made and batched; equal for all conditions of a table."""

    batch_size: int
    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    near_tie: float
    top: int = 0
    """Log-probabilities of the first token that a server is to list with every answer."""


@dataclass(slots=True)
class Tally:
    """What happened so far, over all conditions."""

    n_asked: int = 0
    n_cached: int = 0
    n_attempts: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """How many rows failed, by reason."""
    n_checks: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_reused: int = 0
    n_held: int = 0
    """Rows wanted that the table holds, those of earlier runs included."""
    n_written: int = 0
    n_new: int = 0
    """Rows of this run, and those of them whose key had no row before."""
    checks: dict[str, SelfCheck] = field(default_factory=dict)
    reuse: dict[str, Reuse] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def count(
        self, results: Sequence[Result], before: Container[Key] = (), *, cached: bool = False
    ) -> None:
        """Add results that were written as rows; ``before`` holds the keys of earlier runs."""
        self.n_held += len(results)
        self.n_written += len(results)
        for result in results:
            self.n_new += result.key not in before
            if result.error is not None:
                self.errors[result.error] += 1
            self.n_cached += cached
            if not cached:
                self.n_attempts += result.attempts
                self.tokens_in += result.n_prompt or 0
                self.tokens_out += result.n_written or 0
                self.tokens_reused += result.n_reused
