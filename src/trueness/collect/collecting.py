"""One condition of one table: the cache, the self-check, then everything else, as it is wanted."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from trueness.backends.protocol import Model, Request, Result, Streaming
from trueness.collect import selfcheck
from trueness.collect.checking import Checker, unshared
from trueness.collect.completing import completed, streamed
from trueness.collect.draws import Draws
from trueness.collect.keeping import Keeper
from trueness.collect.requesting import Requests
from trueness.collect.tally import Settings, Tally

T = TypeVar("T")

_LOOKED_UP = 256
"""So many requests are looked up in the cache at a time."""


@dataclass(slots=True)
class Collector:
    """Asks the missing draws of one condition; requests are made when they are wanted.

    Parameters
    ----------
    model : Model
    draws : Draws
        What is missing.
    requests : Requests
    settings : Settings
    tally : Tally
    keeper : Keeper
    checker : Checker or None
        None: some other condition's self-check is relied on.
    """

    model: Model
    draws: Draws
    requests: Requests
    settings: Settings
    tally: Tally
    keeper: Keeper
    checker: Checker | None
    shares: bool = True
    """Whether the shared prefix may be reused; the self-check may find that it may not."""

    def collect(self) -> None:
        """Ask every missing draw once; each answer or failure becomes a row on the disk."""
        try:
            self._look_up()
            if len(self.draws):
                self._check()
                self._ask_rest()
        finally:
            self.keeper.finish()

    def _look_up(self) -> None:
        """What the cache holds becomes rows at once."""
        if self.keeper.cache is None:
            return
        for places in _chunks(self.draws.by_item(), _LOOKED_UP):
            held = self.keeper.from_cache([self._request(place) for place in places])
            for place, is_held in zip(places, held, strict=True):
                if is_held:
                    self.draws.strike(place)

    def _check(self) -> None:
        """Ask some prompts before the others; their answers are rows once the check has passed."""
        if self.checker is None:
            return
        positions = selfcheck.positions(self.draws.sizes(), seed=self.settings.seed)
        places = self.draws.at(positions)
        first = self.checker.check([self._request(place) for place in places])
        self.shares = self.checker.trust.shares
        self.keeper.deterministic = self.checker.trust.deterministic
        self.keeper.keep(first)
        answered = {result.key for result in first}
        for place in places:
            if self.draws.key(place) in answered:
                self.draws.strike(place)

    def _ask_rest(self) -> None:
        requests = (self._request(place) for place in self.draws.by_size())
        if isinstance(self.model, Streaming):
            self._ask_streaming(self.model, requests)
            return
        n, start = len(self.draws), time.perf_counter()
        for batch in _chunks(requests, self.settings.batch_size):
            self._ask(batch if self.shares else unshared(batch))
        self._time_reuse(time.perf_counter() - start, n)

    def _ask_streaming(self, model: Streaming, requests: Iterable[Request]) -> None:
        """Ask as fast as the model takes requests; what arrives together is written together."""
        for part in streamed(model, requests):
            self.tally.n_asked += len(part)
            self.keeper.keep(part)

    def _ask(self, batch: Sequence[Request]) -> None:
        """Ask a batch and write it; what had arrived is written before an interrupt goes on."""
        self.tally.n_asked += len(batch)
        arrived: list[Result] = []
        try:
            for result in completed(self.model, batch):
                arrived.append(result)  # noqa: PERF402 - what has arrived must survive an interrupt
        finally:
            self.keeper.keep(arrived)

    def _request(self, place: int) -> Request:
        return self.requests.of(self.draws.key(place))

    def _time_reuse(self, seconds: float, n: int) -> None:
        """What a question costs once every slot has read the prefix, as the check's batch did."""
        name = self.requests.bound.condition.name
        known = self.tally.reuse.get(name)
        if known is not None and n and self.shares:
            self.tally.reuse[name] = replace(known, seconds_shared=seconds / n)


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    each = iter(items)
    while chunk := list(islice(each, size)):
        yield chunk
