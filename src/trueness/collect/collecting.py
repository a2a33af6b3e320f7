"""One condition of one table: batches, the self-check, the cache and the journal."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trueness.backends.protocol import Key, Model, Request, Result, Streaming
from trueness.collect import selfcheck
from trueness.collect.beside import Beside
from trueness.collect.binding import Bound
from trueness.collect.cache import RequestCache, cache_key, describe
from trueness.collect.completing import completed, streamed
from trueness.collect.observers import Observers
from trueness.collect.observing import Observable, Row
from trueness.collect.questions import Question
from trueness.collect.seeds import draw_seed
from trueness.collect.selfcheck import SelfCheck
from trueness.collect.summary import Reuse
from trueness.collect.tally import Settings, Tally
from trueness.contract.errors import BackendError, InputError, ProtocolError
from trueness.table.journal import AnswerJournal

_CACHED_TOGETHER = 64
"""Answers of a streaming model that go to the cache at a time; their rows are safe before."""
Progress = Callable[[int, int, str, Mapping[str, int]], None]
"""(rows that are safe, rows wanted, condition, failures of this run by reason).

Called after each batch is on the disk.
"""


@dataclass(slots=True)
class Collector:
    """Asks the missing questions of one condition.

    Parameters
    ----------
    asked : mapping of key to Question
        What is missing, in the order of the plan.
    encoded : mapping of prompt to ids
        Every prompt encoded once, the same under all conditions; None where there are no tokens.
    """

    model: Model
    observable: Observable
    journal: AnswerJournal
    settings: Settings
    tally: Tally
    bound: Bound
    asked: Mapping[Key, Question]
    encoded: Mapping[str, tuple[int, ...] | None]
    n_wanted: int
    cache: RequestCache | None = None
    progress: Progress | None = None
    beside: Beside | None = None
    observers: Observers | None = None
    shares: bool = True
    """Whether the shared prefix may be reused; the self-check may find that it may not."""
    checked: bool = True
    """Whether some prompts are asked again alone before any row is written."""
    deterministic: bool = True
    _prompts: dict[str, str | tuple[int, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The condition's."""
        return self.bound.condition.name

    def collect(self) -> None:
        """Ask every missing question once; each answer or failure becomes a row on the disk."""
        self._collect()
        if self.journal.n_unsynced:
            self.journal.sync()
            self._acknowledge()

    def _collect(self) -> None:
        requests = self._from_cache([self._request(*pair) for pair in self.asked.items()])
        if not requests:
            return
        first = self._checked(self._chosen(requests)) if self.checked else []
        self._keep(first)
        done = {result.key for result in first}
        rest = sorted((r for r in requests if r.key not in done), key=lambda r: (_size(r), r.key))
        if isinstance(self.model, Streaming):
            self._ask_streaming(self.model, rest)
            return
        start = time.perf_counter()
        for batch in _chunks(rest, self.settings.batch_size):
            self._ask(batch if self.shares else _unshared(batch))
        self._time_reuse(time.perf_counter() - start, len(rest))

    def _chosen(self, requests: Sequence[Request]) -> list[Request]:
        places = selfcheck.positions([_size(r) for r in requests], seed=self.settings.seed)
        return [requests[i] for i in places]

    def _time_reuse(self, seconds: float, n: int) -> None:
        """What a question costs once every slot has read the prefix, as the check's batch did."""
        known = self.tally.reuse.get(self.name)
        if known is not None and n and self.shares:
            self.tally.reuse[self.name] = replace(known, seconds_shared=seconds / n)

    def _request(self, key: Key, question: Question) -> Request:
        item, epoch, condition = key
        s = self.settings
        return Request(
            key=key,
            prompt=self._prompt(question.prompt),
            max_tokens=self.bound.max_tokens(s.max_tokens),
            temperature=s.temperature,
            top_p=s.top_p,
            seed=draw_seed(
                s.seed, model=self.model.name, condition=condition, item=item, epoch=epoch
            ),
            shared=self.bound.n_shared,
            system=self.bound.system,
            noise=self.bound.noise,
            noise_scale=self.bound.condition.scale,
            allowed=self.bound.allowed(question),
        )

    def _prompt(self, text: str) -> str | tuple[int, ...]:
        """What is sent for a prompt: one object, however many draws ask it."""
        if text not in self._prompts:
            self._prompts[text] = self.bound.prompt(text, self.encoded[text])
        return self._prompts[text]

    def _checked(self, chosen: Sequence[Request]) -> list[Result]:
        """Results of the chosen requests once a batch is known not to change them.

        Nothing is written before that. At a temperature the check asks greedily, and what it hears
        is no row: an empty list comes back.
        """
        sampled = self.settings.temperature > 0
        greedy = [replace(request, temperature=0.0) for request in chosen]
        if isinstance(self.model, Streaming):
            together = self._checked_streaming(self.model, greedy, sampled=sampled)
            return [] if sampled else list(together.values())
        together, seconds_together = _timed(lambda: self._batches(greedy))
        alone, seconds_alone = _timed(lambda: selfcheck.ask_alone(self.model, greedy))
        again = selfcheck.ask_alone(self.model, greedy)
        self.tally.n_asked += 0 if sampled else len(greedy)
        self.tally.n_checks += (3 if sampled else 2) * len(greedy)
        # a prompt that is answered differently alone says nothing about the batch
        steady = [r for r in greedy if self._same(alone[r.key], again[r.key])]
        self.deterministic = len(steady) == len(greedy)
        together, check = self._compared(greedy, steady, together, alone)
        n_asked = check.n_asked + len(greedy) - len(steady)
        self.tally.checks[self.name] = replace(
            check, n_asked=n_asked, deterministic=self.deterministic
        )
        if self.shares and any(result.n_reused for result in together.values()):
            n = len(greedy)
            self.tally.reuse[self.name] = Reuse(seconds_alone / n, seconds_together / n)
        if not self.deterministic:
            self._warn("the same prompts, twice alone, were answered differently; rows are marked")
        return [] if sampled else list(together.values())

    def _checked_streaming(
        self, model: Streaming, greedy: Sequence[Request], *, sampled: bool
    ) -> dict[Key, Result]:
        """Results side by side, once they were compared with each request alone.

        There is no batch here that could be wrong: an answer that differs is the server's doing,
        and marks the rows.
        """
        together = {r.key: r for part in streamed(model, greedy) for r in part}
        alone = selfcheck.ask_alone(self.model, greedy)
        self.tally.n_asked += 0 if sampled else len(greedy)
        self.tally.n_checks += (2 if sampled else 1) * len(greedy)
        steady = selfcheck.steady(
            together, alone, greedy, observe=self.observable.key, near_tie=self.settings.near_tie
        )
        self.deterministic = len(steady) == len(greedy)
        check = self._compare(together, alone, steady)
        n_asked = check.n_asked + len(greedy) - len(steady)
        self.tally.checks[self.name] = replace(
            check, n_asked=n_asked, deterministic=self.deterministic
        )
        if not self.deterministic:
            self._warn(
                "the same prompts, alone and side by side, were answered differently; rows are "
                "marked"
            )
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
        together = self._batches(_unshared(greedy))
        self.tally.n_checks += len(greedy)
        check = self._compare(together, alone, steady)
        self.shares = False
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
        batches = _chunks(requests, self.settings.batch_size)
        return {result.key: result for batch in batches for result in completed(self.model, batch)}

    def _ask_streaming(self, model: Streaming, requests: Sequence[Request]) -> None:
        """Ask everything at once; what has arrived together is written together."""
        unkept: dict[str, Result] = {}
        try:
            for part in streamed(model, requests):
                self.tally.n_asked += len(part)
                self._keep(part, into=unkept)
                if len(unkept) >= _CACHED_TOGETHER:
                    self._to_cache(unkept)
        finally:
            self._to_cache(unkept)

    def _ask(self, batch: Sequence[Request]) -> None:
        """Ask a batch and write it; what had arrived is written before an interrupt goes on."""
        self.tally.n_asked += len(batch)
        arrived: list[Result] = []
        try:
            for result in completed(self.model, batch):
                arrived.append(result)  # noqa: PERF402 - what has arrived must survive an interrupt
        finally:
            self._keep(arrived)

    def _keep(
        self,
        results: Sequence[Result],
        *,
        cached: bool = False,
        into: dict[str, Result] | None = None,
    ) -> None:
        """Write results as rows; ``into`` gathers those that are to be cached later."""
        if results:
            seen, observed = self._seen(results), self._observed(results)
            rows = [
                {**self._row(r, cached=cached), **seen.get(r.key, {}), **observed.get(r.key, {})}
                for r in results
            ]
            self.journal.append(rows)
        if self.cache is not None and not cached:
            kept = {self._cache_key(r.key): r for r in results if r.error is None}
            if into is None:
                self.cache.put(kept)
            else:
                into |= kept
        self.tally.count(results, cached=cached)
        self.tally.n_held += len(results)
        self.tally.written.update(result.key for result in results)
        if results and not self.journal.n_unsynced:
            self._acknowledge()

    def _acknowledge(self) -> None:
        """Show what is on the disk; rows that wait to be synced are not spoken of."""
        if self.progress is not None:
            self.progress(self.tally.n_held, self.n_wanted, self.name, self.tally.errors)

    def _seen(self, results: Sequence[Result]) -> Mapping[Key, Row]:
        """What the logits say beside free answers, where the model shows them."""
        if self.beside is None or self.bound.answers:
            return {}
        came = [r.key for r in results if r.error is None]
        asked = [(self._request(key, self.asked[key]), self.asked[key]) for key in came]
        try:
            return self.beside.numbers(asked)
        except (BackendError, InputError) as error:  # an answer is never lost for what is beside it
            self.beside = None
            self._warn(f"the logits beside its answers could not be read: {error}")
            return {}

    def _observed(self, results: Sequence[Result]) -> Mapping[Key, Row]:
        """What one pass shows behind free answers; those chosen from a list came otherwise."""
        if self.observers is None or not self.observers.wanted or self.bound.answers:
            return {}
        came = (r.key for r in results if r.error is None)
        return self.observers.columns([self._request(key, self.asked[key]) for key in came])

    def _to_cache(self, kept: dict[str, Result]) -> None:
        if self.cache is not None and kept:
            self.cache.put(kept)
        kept.clear()

    def _row(self, result: Result, *, cached: bool) -> Row:
        question = self.asked[result.key]
        row = self.observable.row(question, result)
        if self.cache is not None:
            row["cached"] = cached
        if (seam := self.bound.seam(question.prompt)) is not None:
            row["seam"] = seam
        if not self.deterministic:
            row["nondeterministic"] = True
        return row

    def _from_cache(self, requests: Sequence[Request]) -> list[Request]:
        """What the cache does not hold; what it holds becomes rows at once."""
        if self.cache is None:
            return list(requests)
        found = self.cache.get({self._cache_key(r.key): r for r in requests})
        self._keep(list(found.values()), cached=True)
        held = {result.key for result in found.values()}
        return [request for request in requests if request.key not in held]

    def _cache_key(self, key: Key) -> str:
        return cache_key(describe(self._request(key, self.asked[key]), self.model))

    def _warn(self, what: str) -> None:
        self.tally.warnings.append(f"condition {self.name!r}: {what}")


def _size(request: Request) -> int:
    """Length of a prompt in tokens; in characters where there are no tokens."""
    return len(request.prompt)


def _unshared(requests: Sequence[Request]) -> list[Request]:
    return [replace(request, shared=0) for request in requests]


def _chunks(requests: Sequence[Request], size: int) -> Iterator[Sequence[Request]]:
    for start in range(0, len(requests), size):
        yield requests[start : start + size]


def _timed(work: Callable[[], dict[Key, Result]]) -> tuple[dict[Key, Result], float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start
