"""The self-check of one condition: no row is written before a batch is known not to change it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trueness.backends.protocol import Key, Model, Request, Result, Streaming
from trueness.collect import selfcheck
from trueness.collect.completing import completed, streamed
from trueness.collect.observing import Observable
from trueness.collect.selfcheck import SelfCheck
from trueness.collect.summary import Reuse
from trueness.collect.tally import Settings, Tally
from trueness.contract.errors import ProtocolError

_APART = {
    True: "the same prompts, alone and side by side, were answered differently; rows are marked",
    False: "the same prompts, twice alone, were answered differently; rows are marked",
}
"""What a restless model is told to have done, by whether it streams."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What a self-check found, for its own condition and for those that rest on it.

    ``shares`` is whether the shared prefix may be reused; ``deterministic`` whether the same prompt
    is answered the same.
    """

    shares: bool = True
    deterministic: bool = True

    def __and__(self, other: "Trust") -> "Trust":
        return Trust(self.shares and other.shares, self.deterministic and other.deterministic)


@dataclass(slots=True)
class Checker:
    """Asks some prompts side by side and alone.

    Parameters
    ----------
    model : Model
    observable : Observable
    settings : Settings
    tally : Tally
    name : str
        The condition's.
    trust : Trust
        Before; what the check finds is there after it.
    """

    model: Model
    observable: Observable
    settings: Settings
    tally: Tally
    name: str
    trust: Trust = field(default_factory=Trust)

    def check(self, chosen: Sequence[Request]) -> list[Result]:
        """Results of the chosen requests once a batch is known not to change them.

        At a temperature the check asks greedily, and what it hears is no row: an empty list comes
        back.

        Raises
        ------
        ProtocolError
            When a batch changes answers.
        """
        greedy = [replace(request, temperature=0.0) for request in chosen]
        if isinstance(self.model, Streaming):
            together = self._side_by_side(self.model, greedy)
        else:
            together = self._in_batches(greedy)
        if not self.trust.deterministic:
            self._warn(_APART[isinstance(self.model, Streaming)])
        return [] if self._sampled else list(together.values())

    @property
    def _sampled(self) -> bool:
        return self.settings.temperature > 0

    def _in_batches(self, greedy: Sequence[Request]) -> dict[Key, Result]:
        """Results of batches, once they were compared with each request alone, and that twice."""
        together, seconds_together = _timed(lambda: self._batches(greedy))
        alone, seconds_alone = _timed(lambda: selfcheck.ask_alone(self.model, greedy))
        again = selfcheck.ask_alone(self.model, greedy)
        self._count(greedy, 2)
        # a prompt that is answered differently alone says nothing about the batch
        steady = [r for r in greedy if self._same(alone[r.key], again[r.key])]
        self._found(deterministic=len(steady) == len(greedy))
        together, check = self._compared(greedy, steady, together, alone)
        self._note(check, greedy, steady)
        if self.trust.shares and any(result.n_reused for result in together.values()):
            n = len(greedy)
            self.tally.reuse[self.name] = Reuse(seconds_alone / n, seconds_together / n)
        return together

    def _side_by_side(self, model: Streaming, greedy: Sequence[Request]) -> dict[Key, Result]:
        """Results side by side, once they were compared with each request alone.

        There is no batch here that could be wrong: an answer that differs is the server's doing,
        and marks the rows.
        """
        together = {r.key: r for part in streamed(model, greedy) for r in part}
        alone = selfcheck.ask_alone(self.model, greedy)
        self._count(greedy, 1)
        steady = selfcheck.steady(
            together, alone, greedy, observe=self.observable.key, near_tie=self.settings.near_tie
        )
        self._found(deterministic=len(steady) == len(greedy))
        self._note(self._compare(together, alone, steady), greedy, steady)
        return together

    def _compared(
        self,
        greedy: Sequence[Request],
        steady: Sequence[Request],
        together: dict[Key, Result],
        alone: dict[Key, Result],
    ) -> tuple[dict[Key, Result], SelfCheck]:
        """The comparison, once more without the shared prefix where that changes anything."""
        reuses = any(result.n_reused for result in together.values())
        try:
            check = self._compare(together, alone, steady)
        except ProtocolError:
            if not reuses:
                raise
        else:
            if not reuses or (check.largest_difference or 0.0) <= self.settings.near_tie:
                return together, check
        together = self._batches(unshared(greedy))
        self.tally.n_checks += len(greedy)
        check = self._compare(together, alone, steady)
        self.trust = replace(self.trust, shares=False)
        self._warn(
            "reusing the shared prefix changes answers or their probabilities; it is switched off"
        )
        return together, check

    def _compare(
        self,
        together: Mapping[Key, Result],
        alone: Mapping[Key, Result],
        greedy: Sequence[Request],
    ) -> SelfCheck:
        key, near_tie = self.observable.key, self.settings.near_tie
        return selfcheck.compare(together, alone, greedy, observe=key, near_tie=near_tie)

    def _same(self, one: Result, other: Result) -> bool:
        failed = one.error is not None or other.error is not None
        return failed or self.observable.key(one) == self.observable.key(other)

    def _batches(self, requests: Sequence[Request]) -> dict[Key, Result]:
        size = self.settings.batch_size
        batches = (requests[start : start + size] for start in range(0, len(requests), size))
        return {result.key: result for batch in batches for result in completed(self.model, batch)}

    def _count(self, greedy: Sequence[Request], more: int) -> None:
        """Requests for rows, and those for the check alone: all of them where none is a row."""
        self.tally.n_asked += 0 if self._sampled else len(greedy)
        self.tally.n_checks += (more + self._sampled) * len(greedy)

    def _found(self, *, deterministic: bool) -> None:
        self.trust = replace(self.trust, deterministic=deterministic)

    def _note(self, check: SelfCheck, greedy: Sequence[Request], steady: Sequence[Request]) -> None:
        n_asked = check.n_asked + len(greedy) - len(steady)
        self.tally.checks[self.name] = replace(
            check, n_asked=n_asked, deterministic=self.trust.deterministic
        )

    def _warn(self, what: str) -> None:
        self.tally.warnings.append(f"condition {self.name!r}: {what}")


def unshared(requests: Sequence[Request]) -> list[Request]:
    """The same requests, each reading its whole prompt anew."""
    return [replace(request, shared=0) for request in requests]


def _timed(work: Callable[[], dict[Key, Result]]) -> tuple[dict[Key, Result], float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start
