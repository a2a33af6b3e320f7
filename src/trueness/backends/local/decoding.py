"""Writing answers: greedy or drawn, every row by its own seed and its own end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueness.backends.local.batch import Flow
from trueness.backends.local.passes import Engine
from trueness.backends.local.streams import drawn, token_stream
from trueness.backends.local.tokenizer import LocalTokenizer
from trueness.backends.protocol import Request, Result, Step


@dataclass(slots=True)
class _Draft:
    """What one request has written so far."""

    request: Request
    ids: tuple[int, ...]
    stream: np.random.Generator
    n_reused: int
    steps: list[Step] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    text: str = ""
    finish: str | None = None
    error: str | None = None

    @property
    def closed(self) -> bool:
        return self.finish is not None or self.error is not None

    def append(self, step: Step, at: int, tokenizer: LocalTokenizer, ends: frozenset[int]) -> None:
        self.steps.append(step)
        self.written.append(at)
        if at in ends:
            self.finish = "stop"
            return
        self.text = tokenizer.continued(self.ids, self.written)
        cuts = [found for stop in self.request.stop if (found := self.text.find(stop)) >= 0]
        if cuts:
            self.text, self.finish = self.text[: min(cuts)], "stop"
        elif len(self.steps) >= self.request.max_tokens:
            self.finish = "length"

    def result(self) -> Result:
        key, n = self.request.key, len(self.ids)
        if self.error is not None:
            return Result.failed(key, self.error)
        return Result(
            key,
            self.text,
            self.finish or "length",
            tuple(self.steps),
            n_prompt=n,
            n_written=len(self.steps),
            n_reused=self.n_reused,
        )


def write(
    engine: Engine,
    flow: Flow,
    requests: Sequence[Request],
    prompts: Sequence[tuple[int, ...]],
    tokenizer: LocalTokenizer,
    *,
    ends: frozenset[int],
    reused: Sequence[int],
) -> Iterator[Result]:
    """One result for each request of a batch whose prompts have been read.

    Parameters
    ----------
    flow : Flow
        Behind its prompts, rows in the order of the requests; used up.
    ends : frozenset of int
        Ids that end a text; written as a step, not as text.
    reused : sequence of int
        Prompt tokens of every row whose work was reused.
    """
    drafts = [
        _Draft(request, ids, token_stream(request.seed), n)
        for request, ids, n in zip(requests, prompts, reused, strict=True)
    ]
    while True:
        _step(engine, flow.logits, drafts, tokenizer, ends)
        if all(draft.closed for draft in drafts):
            break
        engine.advance(flow, [0 if draft.closed else draft.written[-1] for draft in drafts])
    yield from (draft.result() for draft in drafts)


def _step(
    engine: Engine,
    logits: Any,
    drafts: Sequence[_Draft],
    tokenizer: LocalTokenizer,
    ends: frozenset[int],
) -> None:
    """Write one token of every draft that is still open."""
    torch, z = engine.torch, logits.float()
    top = z.topk(min(2, z.shape[-1]), dim=-1).values
    best, mass = z.argmax(dim=-1).tolist(), torch.logsumexp(z, dim=-1)
    finite = torch.isfinite(z).all(dim=-1).tolist()
    for i, draft in enumerate(drafts):
        if draft.closed:
            continue
        if not finite[i]:
            draft.error = "non_finite_logits"
            continue
        asked, at = draft.request, best[i]
        if asked.temperature > 0:
            at = drawn(engine.numpy(z[i]), asked.temperature, asked.top_p, draft.stream)
        step = Step(at, float(z[i, at] - mass[i]), float(top[i, 0] - top[i, -1]))
        draft.append(step, at, tokenizer, ends)
