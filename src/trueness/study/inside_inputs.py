"""What a study inside a model works on: the opened model, its prompts, golds as tokens."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.backends import open_white_box
from trueness.backends.protocol import Request, Tokenizer
from trueness.collect.questions import Question, questions
from trueness.contract.errors import BackendError, MissingExtraError
from trueness.contract.serial import Json
from trueness.study.task import Task
from trueness.table import Relation, bundled_relation

Ints: TypeAlias = NDArray[np.int64]
NO_PREFIX = "the prompt's tokens are no beginning of those of prompt and answer"


class WhiteBox(Protocol):
    """The part of a local model that these studies use."""

    @property
    def identity(self) -> dict[str, Json]:
        """What the record says of it."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokens."""
        ...

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        """(n, V) at the last prompt token."""
        ...

    def hidden_states(self, prompts: Sequence[str], positions: Any = ...) -> NDArray[np.float32]:
        """(n, L + 1, P, D) residual states."""
        ...

    def readout(self, h: NDArray[np.float32]) -> NDArray[np.float32]:
        """(…, V) logits of residual states."""
        ...


@contextmanager
def opened(task: Task, name: str | None = None) -> Iterator[WhiteBox | str]:
    """A model with the declared capabilities, that of the run if none is named; or why not."""
    name = name or task.inputs.model or str(task.declaration.table("inputs")["model"])
    try:
        model: Any = open_white_box(name, needs=task.declaration.requires)
    except (BackendError, MissingExtraError) as error:
        if getattr(error, "retryable", False):
            raise
        needs = ", ".join(task.declaration.requires)
        yield f"the study {task.declaration.id} needs {needs}: {error}"
        return
    with closing(model):
        yield model


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Prompts of one relation, with the first tokens of their right answers.

    Parameters
    ----------
    relation : Relation
    prompts : tuple of str
    entity, template : (n,) int64
        Places in the relation.
    golds : tuple of tuple of int
        First tokens of each item's right answers, as they follow its prompt.
    n_gold_tokens : (n,) int64
        Of the first right answer.
    shared : (n,) bool
        Another entity's answer begins with the same token.
    dropped : mapping of str to int
        Items that are left out, by reason.
    """

    relation: Relation
    prompts: tuple[str, ...]
    entity: Ints
    template: Ints
    golds: tuple[tuple[int, ...], ...]
    n_gold_tokens: Ints
    shared: NDArray[np.bool_]
    dropped: dict[str, int]

    @classmethod
    def of(
        cls,
        name: str,
        tokenizer: Tokenizer,
        *,
        most: int,
        templates: Sequence[int] | None = None,
    ) -> "Items":
        """The items of a relation that comes along, cut to so many entities and some wordings."""
        relation = bundled_relation(name).first(most)
        asked = questions(relation, templates)
        encoded = [[_after(tokenizer, q, gold) for gold in q.golds] for q in asked]
        kept = [i for i, found in enumerate(encoded) if found and all(found)]
        golds = [tuple(dict.fromkeys(ids[0] for ids in encoded[i])) for i in kept]
        places = {entity: e for e, entity in enumerate(relation.entities)}
        wordings = {template: t for t, template in enumerate(relation.templates)}
        entity = np.array([places[asked[i].entity] for i in kept], np.int64)
        template = np.array([wordings[asked[i].template] for i in kept], np.int64)
        gone = len(asked) - len(kept)
        return cls(
            relation=relation,
            prompts=tuple(asked[i].prompt for i in kept),
            entity=entity,
            template=template,
            golds=tuple(golds),
            n_gold_tokens=np.array([len(encoded[i][0]) for i in kept], np.int64),
            shared=_shared(golds, entity, template),
            dropped={NO_PREFIX: gone} if gone else {},
        )

    def requests(self) -> list[Request]:
        """One request a prompt."""
        return [Request((str(i), 1, "none"), prompt) for i, prompt in enumerate(self.prompts)]

    def others(self) -> tuple[tuple[int, ...], ...]:
        """For each item the golds of the next entity in its wording that has others."""
        found = []
        for i, own in enumerate(self.golds):
            mates = np.flatnonzero(self.template == self.template[i])
            turned = np.roll(mates, -int(np.flatnonzero(mates == i)[0]))
            strange = (self.golds[j] for j in turned if not set(self.golds[j]) & set(own))
            found.append(next(strange, own))
        return tuple(found)


def _after(tokenizer: Tokenizer, question: Question, gold: str) -> tuple[int, ...]:
    """Tokens of an answer behind its prompt; none when the prompt's tokens change with it."""
    before = tokenizer.encode(question.prompt)
    joined = gold if question.prompt[-1:].isspace() else f" {gold}"
    whole = tokenizer.encode(question.prompt + joined)
    return tuple(whole[len(before) :]) if tuple(whole[: len(before)]) == tuple(before) else ()


def _shared(golds: Sequence[tuple[int, ...]], entity: Ints, template: Ints) -> NDArray[np.bool_]:
    owners: dict[tuple[int, int], set[int]] = {}
    for tokens, e, t in zip(golds, entity.tolist(), template.tolist(), strict=True):
        for token in tokens:
            owners.setdefault((t, token), set()).add(e)
    return np.array(
        [
            any(len(owners[t, token]) > 1 for token in tokens)
            for tokens, t in zip(golds, template.tolist(), strict=True)
        ],
        np.bool_,
    )
