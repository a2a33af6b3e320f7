"""What the logits say beside an answer: where the right one stands, and who wins among them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueness.backends.protocol import Key, Model, Request, Tokenizer
from trueness.collect.observing import Row
from trueness.collect.questions import Question
from trueness.collect.rendering import joined
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.ranks import gold_ranks

NUMBERS = ("gold_rank", "logit_gap", "logit_gap_sd", "right_if_constrained")
"""Columns of evidence: rank of the right first token, its distance to the largest logit in nats
and in standard deviations, and whether it leads among the relation's right first tokens."""


@runtime_checkable
class SeesLogits(Protocol):
    """A model that offers ``logits``."""

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        """(n, V): logits at the first answer position, in the order of the requests."""
        ...


@dataclass(frozen=True, slots=True)
class Beside:
    """Reads the logits behind rows that are being written.

    Parameters
    ----------
    model : SeesLogits
    tokenizer : Tokenizer
    first : mapping of relation to ids
        First tokens of its right answers; empty where two answers share one, or one has none.
    """

    model: SeesLogits
    tokenizer: Tokenizer
    first: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, model: Model, asked: Iterable[Question]) -> "Beside | None":
        """The reader for a model that shows its logits; None for any other."""
        tokenizer = model.tokenizer
        if "logits" not in model.capabilities or tokenizer is None:
            return None
        if not isinstance(model, SeesLogits):
            return None
        starts: dict[str, dict[str, int | None]] = {}
        for question in asked:
            for gold in question.golds:
                ids = tokenizer.encode(joined(question.prompt, gold))
                starts.setdefault(question.relation, {})[gold] = ids[0] if ids else None
        return cls(model, tokenizer, {name: _distinct(found) for name, found in starts.items()})

    def numbers(self, asked: Sequence[tuple[Request, Question]]) -> dict[Key, Row]:
        """The columns `NUMBERS` of every question that has golds; others have none."""
        told = [(r, q, ids) for r, q in asked if (ids := self._golds(q))]
        if not told:
            return {}
        logits = self.model.next_logits([request for request, _, _ in told])
        found = gold_ranks(logits, [ids for _, _, ids in told])
        rows: dict[Key, Row] = {}
        for i, (request, question, ids) in enumerate(told):
            if found.states[i] is not State.MEASURED:
                continue
            rows[request.key] = {
                "gold_rank": int(found.rank_worst[i]),
                "logit_gap": float(found.gap[i]),
                "logit_gap_sd": float(found.gap_sd[i]),
                **self._constrained(question, ids, logits[i]),
            }
        return rows

    def _golds(self, question: Question) -> tuple[int, ...]:
        encoded = (self.tokenizer.encode(joined(question.prompt, g)) for g in question.golds)
        return tuple(dict.fromkeys(ids[0] for ids in encoded if ids))

    def _constrained(
        self, question: Question, golds: tuple[int, ...], logits: NDArray[np.float32]
    ) -> dict[str, Json]:
        """Whether a right first token leads; nothing where answers share one, or two lead."""
        ids = self.first.get(question.relation, ())
        if not ids:
            return {}
        held = logits[list(ids)]
        leading = [token for token, z in zip(ids, held, strict=True) if z == held.max()]
        return {"right_if_constrained": int(leading[0] in golds)} if len(leading) == 1 else {}


def _distinct(found: Mapping[str, int | None]) -> tuple[int, ...]:
    ids = [token for token in found.values() if token is not None]
    return tuple(ids) if len(set(ids)) == len(found) else ()
