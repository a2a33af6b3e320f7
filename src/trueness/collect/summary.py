"""What a run of asking did, for a person and for a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trueness.collect.selfcheck import SelfCheck


@dataclass(frozen=True, slots=True)
class Reuse:
    """How much a shared prefix saved, measured on the self-check.

    ``seconds_alone`` and ``seconds_shared`` are for one question: alone with the prefix read anew,
    and in batches that reuse it (those after the self-check, where there are any).
    """

    seconds_alone: float
    seconds_shared: float

    @property
    def speed_up(self) -> float | None:
        """The ratio; None when no time was measured."""
        return self.seconds_alone / self.seconds_shared if self.seconds_shared > 0 else None


def failures(errors: Mapping[str, int]) -> str:
    """How many failed, and why; the most frequent reason first.

    >>> failures({"timeout": 2, "http_429": 3}), failures({})
    ('5 errors (3 http_429, 2 timeout)', '0 errors')
    """
    n = sum(errors.values())
    kinds = sorted(errors, key=lambda reason: (-errors[reason], reason))
    counted = "1 error" if n == 1 else f"{n} errors"
    return counted + (f" ({', '.join(f'{errors[k]} {k}' for k in kinds)})" if n else "")


@dataclass(frozen=True, slots=True)
class AskSummary:
    """Counts of one run.

    Parameters
    ----------
    path : Path
        The table.
    n_rows : int
        Keys that have a row now.
    n_asked : int
        Requests sent for rows in this run; self-checks are in ``n_checks``.
    n_kept : int
        Rows that were there before.
    n_cached : int
        Rows of this run served from the cache.
    errors : mapping of reason to int
        Rows of this run that are missing data.
    n_checks : int
    tokens_in, tokens_out, tokens_reused : int
        As the model counts them; reused prompt tokens are among ``tokens_in``.
    seconds : float
    checks : mapping of condition to SelfCheck
    reuse : mapping of condition to Reuse
    prefix_tokens : mapping of condition to int or None
        Tokens in front of every prompt; None where the model does not count.
    aliases : mapping of condition to condition
        Conditions that ask exactly what another one asks: collected once.
    warnings : tuple of str
    """

    path: Path
    n_rows: int
    n_asked: int
    n_kept: int
    n_cached: int
    errors: Mapping[str, int]
    n_checks: int
    tokens_in: int
    tokens_out: int
    tokens_reused: int
    seconds: float
    checks: Mapping[str, SelfCheck]
    reuse: Mapping[str, Reuse]
    prefix_tokens: Mapping[str, int | None]
    aliases: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def n_errors(self) -> int:
        """Rows of this run that are missing data."""
        return sum(self.errors.values())

    @property
    def measured_nothing(self) -> bool:
        """Whether this run wrote rows and each of them is missing data."""
        return 0 < self.n_asked + self.n_cached == self.n_errors

    def lines(self) -> tuple[str, ...]:
        """The run in sentences."""
        head = (
            f"{self.n_rows} rows in {self.path}: {self.n_asked} asked, {self.n_kept} kept, "
            f"{self.n_cached} from the cache, {failures(self.errors)}, {self.seconds:.1f} s"
        )
        work = (
            f"tokens: {self.tokens_in} in ({self.tokens_reused} reused), {self.tokens_out} out; "
            f"{self.n_checks} requests more for the self-check"
        )
        return (head, work, *self._of_conditions(), *(f"warning: {w}" for w in self.warnings))

    def to_dict(self) -> dict[str, object]:
        """Plain JSON types."""
        return {
            "path": str(self.path),
            "n_rows": self.n_rows,
            "n_asked": self.n_asked,
            "n_kept": self.n_kept,
            "n_cached": self.n_cached,
            "n_errors": self.n_errors,
            "errors": dict(self.errors),
            "n_checks": self.n_checks,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokens_reused": self.tokens_reused,
            "seconds": self.seconds,
            "self_checks": {name: check.line() for name, check in self.checks.items()},
            "speed_up": {name: reuse.speed_up for name, reuse in self.reuse.items()},
            "prefix_tokens": dict(self.prefix_tokens),
            "aliases": dict(self.aliases),
            "warnings": list(self.warnings),
        }

    def _of_conditions(self) -> list[str]:
        lines = []
        for name, check in self.checks.items():
            n = self.prefix_tokens.get(name)
            front = f" ({n} tokens in front)" if n else ""
            line = f"{name}{front}: {check.line()}"
            reuse = self.reuse.get(name)
            if reuse is not None and reuse.speed_up is not None:
                line += f"; shared prefix {reuse.speed_up:.1f} times faster a question"
            lines.append(line)
        lines += [
            f"{name}: asks what {other!r} asks, collected once"
            for name, other in self.aliases.items()
        ]
        return lines
