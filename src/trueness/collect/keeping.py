"""Results become rows: written before anything is said of them, then counted and cached."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trueness.backends.protocol import Key, Request, Result
from trueness.collect.beside import Beside
from trueness.collect.cache import RequestCache
from trueness.collect.observers import Observers
from trueness.collect.observing import Observable, Row
from trueness.collect.requesting import Requests
from trueness.collect.tally import Tally
from trueness.contract.errors import BackendError, InputError
from trueness.table.journal import AnswerJournal

_CACHED_TOGETHER, _CACHED_AFTER = 1024, 2.0
"""Answers, and seconds, after which they go to the cache together; their rows are safe before."""
Progress = Callable[[int, int, str, Mapping[str, int]], None]
"""(rows that are safe, rows wanted, condition, failures of this run by reason).

Called when rows are on the disk.
"""


@dataclass(slots=True)
class Keeper:
    """Writes the results of one condition.

    Parameters
    ----------
    requests : Requests
    observable : Observable
    journal : AnswerJournal
    tally : Tally
    n_wanted : int
        Rows of the whole table.
    deterministic : bool
        Whether the same prompt is answered the same; rows of a restless model are marked.
    """

    requests: Requests
    observable: Observable
    journal: AnswerJournal
    tally: Tally
    n_wanted: int
    cache: RequestCache | None = None
    progress: Progress | None = None
    beside: Beside | None = None
    observers: Observers | None = None
    deterministic: bool = True
    _caches: bool = True
    _uncached: dict[str, Result] = field(default_factory=dict)
    _cached_at: float = field(default_factory=time.monotonic)

    @property
    def name(self) -> str:
        """The condition's."""
        return self.requests.bound.condition.name

    def keep(self, results: Sequence[Result], *, cached: bool = False) -> None:
        """Write results as rows."""
        if not results:
            return
        seen, observed = self._seen(results), self._observed(results)
        rows = [
            {**self._row(r, cached=cached), **seen.get(r.key, {}), **observed.get(r.key, {})}
            for r in results
        ]
        self.journal.append(rows)
        self.tally.count(results, self.journal.state.done, cached=cached)
        if self.cache is not None and self._caches and not cached:
            self._uncached |= {self._cache_key(r.key): r for r in results if r.error is None}
            late = time.monotonic() - self._cached_at > _CACHED_AFTER
            if late or len(self._uncached) >= _CACHED_TOGETHER:
                self._to_cache()
        if not self.journal.n_unsynced:
            self._acknowledge()

    def finish(self) -> None:
        """Bring to the disk, and to the cache, what is not there yet; and say so."""
        unsaid = self.journal.n_unsynced
        self.journal.sync()
        self._to_cache()
        if unsaid:
            self._acknowledge()

    def from_cache(self, requests: Sequence[Request]) -> list[bool]:
        """Write what the cache holds of some requests; whether each of them was there."""
        if self.cache is None:
            return [False] * len(requests)
        found = self.cache.get({self.requests.cache_key(r): r for r in requests})
        self.keep(list(found.values()), cached=True)
        held = {result.key for result in found.values()}
        return [request.key in held for request in requests]

    def _acknowledge(self) -> None:
        """Show what is on the disk; rows that wait to be synced are not spoken of."""
        if self.progress is not None:
            self.progress(self.tally.n_held, self.n_wanted, self.name, self.tally.errors)

    def _seen(self, results: Sequence[Result]) -> Mapping[Key, Row]:
        """What the logits say beside free answers, where the model shows them."""
        if self.beside is None or self.requests.bound.answers:
            return {}
        came = [r.key for r in results if r.error is None]
        asked = [(self.requests.of(key), self.requests.question(key)) for key in came]
        try:
            return self.beside.numbers(asked)
        except (BackendError, InputError) as error:  # an answer is never lost for what is beside it
            self.beside = None
            self._warn(f"the logits beside its answers could not be read: {error}")
            return {}

    def _observed(self, results: Sequence[Result]) -> Mapping[Key, Row]:
        """What one pass shows behind free answers; those chosen from a list came otherwise."""
        if self.observers is None or not self.observers.wanted or self.requests.bound.answers:
            return {}
        came = [(self.requests.of(r.key), r) for r in results if r.error is None]
        return self.observers.columns(came)

    def _row(self, result: Result, *, cached: bool) -> Row:
        question = self.requests.question(result.key)
        row = self.observable.row(question, result)
        if self.cache is not None:
            row["cached"] = cached
        if (seam := self.requests.bound.seam(question.prompt)) is not None:
            row["seam"] = seam
        if not self.deterministic:
            row["nondeterministic"] = True
        return row

    def _cache_key(self, key: Key) -> str:
        return self.requests.cache_key(self.requests.of(key))

    def _to_cache(self) -> None:
        """Store what has gathered; a cache that is full or gone costs no row, and no more time."""
        try:
            if self.cache is not None and self._uncached:
                self.cache.put(self._uncached)
        except InputError as error:
            self._caches = False
            self._warn(f"its answers are not cached from here on: {error}")
        self._uncached.clear()
        self._cached_at = time.monotonic()

    def _warn(self, what: str) -> None:
        self.tally.warnings.append(f"condition {self.name!r}: {what}")
