"""Requests and continuations, grouped into batches of like length, and put back by their keys."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.local.batch import Flow, Row
from trueness.backends.local.choices import check_first_tokens, choose_first, choose_text
from trueness.backends.local.decoding import write
from trueness.backends.local.passes import Engine
from trueness.backends.local.tokenizer import LocalTokenizer
from trueness.backends.protocol import Request, Result
from trueness.backends.scoring import Continuation, Scored
from trueness.contract.errors import BackendError, InputError

_LOGITS = 1 << 26
"""So many logits are held at once while texts are scored."""


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

    def ids_of(self, prompt: str | Sequence[int]) -> tuple[int, ...]:
        """What is sent: a text's ids behind BOS where the model has one; ids as they are."""
        if not isinstance(prompt, str):
            return tuple(prompt)
        ids = self.tokenizer.encode(prompt)
        return ids if self.tokenizer.bos is None else (self.tokenizer.bos, *ids)

    def readable(self, prompts: Sequence[str | Sequence[int]]) -> list[tuple[int, ...]]:
        """Ids of prompts.

        Raises
        ------
        InputError
            For none, or one that is empty or too long.
        """
        found = [self.ids_of(prompt) for prompt in prompts]
        for i, ids in enumerate(found):
            if self._fault(ids, 0):
                msg = f"prompt {i} has {len(ids)} tokens; this model reads 1 to {self.n_context}."
                raise InputError(msg)
        if not found:
            msg = "there is no prompt; give at least one."
            raise InputError(msg)
        return found

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One result for each request, batch by batch."""
        encoded = self._allowed(requests)
        asked = []
        for request in requests:
            ids = self.ids_of(request.prompt)
            if fault := self._fault(ids, request.max_tokens):
                yield Result.failed(request.key, fault)
            else:
                asked.append((request, ids))
        for batch in self._batches(asked):
            try:
                yield from self._answered(batch, encoded)
            except self.engine.torch.OutOfMemoryError:
                yield from (Result.failed(request.key, "out_of_memory") for request, _ in batch)

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        """Logits (n, V) at the last token of every prompt, in the order of the requests."""
        found = np.empty((len(requests), self.engine.n_rows), np.float32)
        places = {id(request): i for i, request in enumerate(requests)}
        prompts = self.readable([request.prompt for request in requests])
        asked = list(zip(requests, prompts, strict=True))
        for batch in self._batches(asked):
            flow, _ = self._begin(batch)
            rows = self.engine.numpy(flow.logits)
            for (request, _), row in zip(batch, rows, strict=True):
                found[places[id(request)]] = row
        return found

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """Sum of the log-probabilities of every text behind its prompt."""
        waiting = []
        for one in continuations:
            text, prompt = self.tokenizer.encode(one.text), self.ids_of(one.prompt)
            if not text:
                yield Scored(one.key, 0.0, 0)
            elif not prompt:
                yield Scored(one.key, None, len(text), "empty_prompt")
            elif len(prompt) + len(text) > self.n_context:
                yield Scored(one.key, None, len(text), "context_length")
            else:
                waiting.append((one, prompt, text))
        waiting.sort(key=lambda w: (len(w[1]) + len(w[2]), w[0].key))
        start = 0
        while start < len(waiting):
            size = self.batch_size
            while size > 1 and self._held(waiting[start : start + size]) > _LOGITS:
                size //= 2
            yield from self._scored(waiting[start : start + size])
            start += size

    def _held(self, batch: Sequence[tuple[Continuation, tuple[int, ...], tuple[int, ...]]]) -> int:
        return len(batch) * max(len(text) + 1 for _, _, text in batch) * self.engine.n_rows

    def _scored(
        self, batch: Sequence[tuple[Continuation, tuple[int, ...], tuple[int, ...]]]
    ) -> Iterator[Scored]:
        torch = self.engine.torch
        keep = max(len(text) for _, _, text in batch) + 1
        logits = self.engine.read(
            [Row((*p, *t)) for _, p, t in batch],
            keep=keep,
            prompt_lengths=[len(p) for _, p, _ in batch],
        )
        for (one, _, text), z in zip(batch, logits.float(), strict=True):
            places = z[keep - 1 - len(text) : keep - 1]  # (len(text), V)
            mass = torch.logsumexp(places, dim=-1)
            forced = torch.tensor(text, device=z.device)[:, None]
            steps = (places.gather(1, forced)[:, 0] - mass).double()
            total = float(steps.sum())
            if np.isfinite(total):
                yield Scored(one.key, total, len(text))
            else:
                yield Scored(one.key, None, len(text), "non_finite_logits")

    def _answered(
        self,
        batch: Sequence[tuple[Request, tuple[int, ...]]],
        encoded: Mapping[tuple[str, ...], Mapping[str, tuple[int, ...]]],
    ) -> Iterator[Result]:
        flow, reused = self._begin(batch)
        requests, prompts = [r for r, _ in batch], [ids for _, ids in batch]
        if not requests[0].allowed:
            yield from write(
                self.engine, flow, requests, prompts, self.tokenizer, ends=self.ends, reused=reused
            )
            return
        for row, (request, ids) in enumerate(batch):
            choose = choose_first if request.max_tokens == 1 else choose_text
            result = choose(self.engine, flow, row, request, encoded[request.allowed])
            yield replace(result, n_prompt=len(ids), n_reused=reused[row])

    def _begin(self, batch: Sequence[tuple[Request, tuple[int, ...]]]) -> tuple[Flow, list[int]]:
        """The batch behind its prompts, and the tokens of each whose work was reused."""
        shared = _shared(*batch[0], reuse=not self.engine.n_intervening)
        rows = [
            Row(ids, request.noise, request.seed, request.noise_scale) for request, ids in batch
        ]
        flow, n_reusing = self.engine.begin(rows, prefix=len(shared))
        first = len(batch) - n_reusing
        return flow, [0 if i < first else len(shared) for i in range(len(batch))]

    def _batches(
        self, asked: Sequence[tuple[Request, tuple[int, ...]]]
    ) -> Iterator[Sequence[tuple[Request, tuple[int, ...]]]]:
        """Requests that share a prefix, and answer freely or from a list, by length in tokens."""
        groups: dict[Any, list[tuple[Request, tuple[int, ...]]]] = {}
        for pair in asked:
            shared = _shared(*pair, reuse=not self.engine.n_intervening)
            # padding behind a shared prefix takes places of a window of attention
            length = len(pair[1]) if shared and self.engine.has_window else None
            groups.setdefault((shared, bool(pair[0].allowed), length), []).append(pair)
        for group in groups.values():
            group.sort(key=lambda pair: (len(pair[1]), pair[0].key))
            for start in range(0, len(group), self.batch_size):
                yield group[start : start + self.batch_size]

    def _fault(self, ids: tuple[int, ...], n_more: int) -> str | None:
        if not ids:
            return "empty_prompt"
        return "context_length" if len(ids) + n_more > self.n_context else None

    def _allowed(
        self, requests: Sequence[Request]
    ) -> Mapping[tuple[str, ...], Mapping[str, tuple[int, ...]]]:
        """Ids of every list of allowed answers, refused where they cannot be chosen among."""
        found: dict[tuple[str, ...], Mapping[str, tuple[int, ...]]] = {}
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


def _shared(request: Request, ids: tuple[int, ...], *, reuse: bool) -> tuple[int, ...]:
    """The prefix that may be reused: never the whole prompt, never under noise."""
    if not reuse or request.noise:
        return ()
    return ids[: min(request.shared, len(ids) - 1)]
