"""Requests and continuations, grouped into batches of like length, and put back by their keys."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.local.batch import Flow, Row
from trueness.backends.local.choices import Encoded, check_first_tokens, choose_first, choose_text
from trueness.backends.local.decoding import write
from trueness.backends.local.passes import Engine
from trueness.backends.local.scored import MOST_LOGITS, Forced, scored
from trueness.backends.local.tokenizer import LocalTokenizer
from trueness.backends.protocol import Request, Result
from trueness.backends.scoring import Continuation, Scored
from trueness.contract.errors import BackendError, InputError

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with its ids, and its place among all."""

    place: int
    request: Request
    ids: Ids

    def shared(self, *, reuse: bool) -> Ids:
        """The prefix that may be reused: never the whole prompt, never under noise."""
        if not reuse or self.request.noise:
            return ()
        return self.ids[: min(self.request.shared, len(self.ids) - 1)]

    @property
    def n_more(self) -> int:
        """The most tokens that are written behind the prompt, in columns of the batch."""
        return 0 if self.request.allowed else self.request.max_tokens

    @property
    def row(self) -> Row:
        return Row(self.ids, self.request.noise, self.request.seed, self.request.noise_scale)


@dataclass(frozen=True, slots=True)
class Asker:
    """Puts batches to an engine.

    Parameters
    ----------
    engine : Engine
    tokenizer : LocalTokenizer
    ends : frozenset of int
        Ids that end a text.
    batch_size, n_context : int
        Rows of a pass; tokens of prompt and answer together.
    """

    engine: Engine
    tokenizer: LocalTokenizer
    ends: frozenset[int]
    batch_size: int
    n_context: int
    _behind: dict[tuple[Row, Ids], NDArray[np.float32]] = field(default_factory=dict, repr=False)
    """Logits that the last answers began with, by row and what of it was shared.

    Who asks for just these next needs no pass. For fewer of them, or read whole, it would be
    another pass, with other last bits."""

    def ids_of(self, prompt: str | Sequence[int]) -> Ids:
        """What is sent: a text's ids behind BOS where the model has one; ids as they are."""
        if not isinstance(prompt, str):
            return tuple(prompt)
        ids = self.tokenizer.encode(prompt)
        return ids if self.tokenizer.bos is None else (self.tokenizer.bos, *ids)

    def readable(self, prompts: Sequence[str | Sequence[int]]) -> list[Ids]:
        """Ids of prompts.

        Raises
        ------
        InputError
            For a text in place of a list, for none, or for one that is empty or too long.
        """
        if isinstance(prompts, str):
            msg = (
                f"the prompts are one text, {prompts[:40]!r}; wanted a list of them. Put it in one."
            )
            raise InputError(msg)
        found = [self.ids_of(prompt) for prompt in prompts]
        for i, ids in enumerate(found):
            if fault := self._fault(ids, 0):
                msg = (
                    f"prompt {i} of {len(ids)} tokens cannot be read ({fault}); this model reads 1 "
                    f"to {self.n_context} ids below {self.engine.n_embedded}."
                )
                raise InputError(msg)
        if not found:
            msg = "there is no prompt; give at least one."
            raise InputError(msg)
        return found

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One result for each request, batch by batch."""
        encoded = self._allowed(requests)
        self._behind.clear()
        asked = []
        for place, request in enumerate(requests):
            ids, longest = self.ids_of(request.prompt), request.max_tokens
            if request.allowed:
                longest = max(map(len, encoded[request.allowed].values()))
            if fault := self._fault(ids, longest):
                yield Result.failed(request.key, fault)
            else:
                asked.append(_Asked(place, request, ids))
        for batch in self._batches(asked):
            yield from self._survived(batch, encoded)

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        """Logits (n, V) at the last token of every prompt, in the order of the requests."""
        found = np.empty((len(requests), self.engine.n_rows), np.float32)
        prompts = self.readable([request.prompt for request in requests])
        pairs = enumerate(zip(requests, prompts, strict=True))
        every = [_Asked(i, request, ids) for i, (request, ids) in pairs]
        if not self.engine.n_intervening and set(map(self._read_as, every)) == self._behind.keys():
            found[:] = [self._behind[self._read_as(one)] for one in every]
            return found
        for batch in self._batches(every):
            flow, _ = self._begin(batch)
            found[[asked.place for asked in batch]] = self.engine.numpy(flow.logits)
        return found

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """Sum of the log-probabilities of every text behind its prompt."""
        waiting = []
        for one in continuations:
            text, prompt = self.tokenizer.encode(one.text), self.ids_of(one.prompt)
            if not text:
                yield Scored(one.key, 0.0, 0)
            elif fault := self._fault(prompt, len(text)):
                yield Scored(one.key, None, len(text), fault)
            else:
                waiting.append(Forced(one.key, prompt, text))
        yield from scored(self.engine, waiting, self.batch_size)

    def _remember(self, batch: Sequence[_Asked], flow: Flow) -> None:
        """Keep what answers began with, within bounds, where nothing intervenes."""
        n = len(self._behind) + len(batch)
        if not self.engine.n_intervening and n * self.engine.n_rows <= MOST_LOGITS:
            logits = self.engine.numpy(flow.logits).copy()
            self._behind.update(zip(map(self._read_as, batch), logits, strict=True))

    def _read_as(self, one: _Asked) -> tuple[Row, Ids]:
        return one.row, one.shared(reuse=self._reuses)

    def _survived(
        self, batch: Sequence[_Asked], encoded: Mapping[tuple[str, ...], Encoded]
    ) -> list[Result]:
        """Results of a batch; one that memory is too small for is asked in halves."""
        try:
            return list(self._answered(batch, encoded))
        except RuntimeError as error:
            if not _is_memory(self.engine.torch, error):
                msg = f"the model failed: {error}"
                raise BackendError(msg) from error
        if len(batch) == 1:
            return [Result.failed(batch[0].request.key, "out_of_memory")]
        half = len(batch) // 2
        return [
            *self._survived(batch[:half], encoded),
            *self._survived(batch[half:], encoded),
        ]

    def _answered(
        self, batch: Sequence[_Asked], encoded: Mapping[tuple[str, ...], Encoded]
    ) -> Iterator[Result]:
        flow, reused = self._begin(batch)
        self._remember(batch, flow)
        if not batch[0].request.allowed:
            requests, prompts = [a.request for a in batch], [a.ids for a in batch]
            yield from write(
                self.engine, flow, requests, prompts, self.tokenizer, ends=self.ends, reused=reused
            )
            return
        for row, asked in enumerate(batch):
            request = asked.request
            choose = choose_first if request.max_tokens == 1 else choose_text
            result = choose(self.engine, flow, row, request, encoded[request.allowed])
            yield replace(result, n_prompt=len(asked.ids), n_reused=reused[row])

    def _begin(self, batch: Sequence[_Asked]) -> tuple[Flow, list[int]]:
        """The batch behind its prompts, and the tokens of each whose work was reused."""
        n_shared = len(batch[0].shared(reuse=self._reuses))
        flow, n_reusing = self.engine.begin([asked.row for asked in batch], prefix=n_shared)
        first = len(batch) - n_reusing
        return flow, [0 if i < first else n_shared for i in range(len(batch))]

    def _batches(self, asked: Sequence[_Asked]) -> Iterator[Sequence[_Asked]]:
        """Requests that share a prefix, and answer freely or from a list, by length in tokens."""
        groups: dict[Any, list[_Asked]] = {}
        for one in asked:
            shared = one.shared(reuse=self._reuses)
            # padding takes places of a window behind a shared prefix, and enters recurrent states
            exact = (shared and self.engine.has_window) or not self.engine.can_branch
            length = len(one.ids) if exact else None
            groups.setdefault((shared, bool(one.request.allowed), length), []).append(one)
        for group in groups.values():
            group.sort(key=lambda one: (len(one.ids), one.request.key))
            yield from self._cut(group)

    @property
    def _reuses(self) -> bool:
        return not self.engine.n_intervening and self.engine.can_branch

    def _cut(self, group: Sequence[_Asked]) -> Iterator[Sequence[_Asked]]:
        """Batches that stay within the context, padding and the longest answer included.

        A row that has ended goes on beside the others until they end too.
        """
        batch: list[_Asked] = []
        longest = 0
        for one in group:
            more = max(longest, one.n_more)
            if batch and (len(batch) == self.batch_size or len(one.ids) + more > self.n_context):
                yield batch
                batch, more = [], one.n_more
            batch.append(one)
            longest = more
        yield batch

    def _fault(self, ids: Ids, n_more: int) -> str | None:
        if not ids:
            return "empty_prompt"
        if min(ids) < 0 or max(ids) >= self.engine.n_embedded:
            return "unknown_token"
        return "context_length" if len(ids) + n_more > self.n_context else None

    def _allowed(self, requests: Sequence[Request]) -> Mapping[tuple[str, ...], Encoded]:
        """Ids of every list of allowed answers, refused where they cannot be chosen among."""
        found: dict[tuple[str, ...], Encoded] = {}
        for request in requests:
            if request.allowed and request.allowed not in found:
                encoded = {text: self.tokenizer.encode(text) for text in request.allowed}
                if empty := [text for text, ids in encoded.items() if not ids]:
                    msg = f"the allowed answer {empty[0]!r} has no token; give non-empty texts."
                    raise InputError(msg)
                found[request.allowed] = encoded
            if request.allowed and request.temperature > 0:
                msg = (
                    f"allowed answers at temperature {request.temperature:g}: they are chosen, not "
                    "drawn. Ask at temperature 0."
                )
                raise InputError(msg)
            if request.allowed and request.max_tokens == 1:
                check_first_tokens(found[request.allowed])
            if request.system:
                msg = "a system prompt in its own role needs system_role; send system_ids in front."
                raise BackendError(msg)
        return found


def _is_memory(torch: Any, error: RuntimeError) -> bool:
    """Whether memory ran out: on the CPU that is a plain error with words."""
    return isinstance(error, torch.OutOfMemoryError) or "allocate" in str(error)
