"""A model of transformers: one object for asking it and for looking inside."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.local.asking import Asker
from trueness.backends.local.checks import check_inside
from trueness.backends.local.inside import INSIDE, Inside, Prompt
from trueness.backends.local.loading import Loaded
from trueness.backends.local.parts import find_parts
from trueness.backends.local.passes import Engine
from trueness.backends.local.tokenizer import LocalTokenizer
from trueness.backends.protocol import Request, Result
from trueness.backends.scoring import Continuation, Scored
from trueness.contract.errors import InputError
from trueness.contract.serial import Json

_ASKING = frozenset(
    {"text", "tokens", "logprobs", "logits", "scores", "embeddings_in", "allowed_answers"}
)
_N_CHECKED = 6


@dataclass(slots=True)
class LocalModel(Inside):
    """A causal language model of transformers, on this machine.

    Parameters
    ----------
    name : str
        As the user gave it: part of every draw's seed.
    loaded : Loaded
    batch_size : int
        Rows of one pass; requests beyond it wait for the next one.
    n_context : int or None
        Tokens of prompt and answer together; at most what the model was trained for.

    Raises
    ------
    InputError
        When a number is below 1.
    BackendError
        When the model's own parts do not reproduce its logits or its blocks' outputs.
    """

    name: str
    loaded: Loaded = field(repr=False)
    batch_size: int = 32
    n_context: int | None = None

    def __post_init__(self) -> None:
        if self.batch_size < 1 or (self.n_context is not None and self.n_context < 1):
            msg = "batch_size and n_context must each be at least 1."
            raise InputError(msg)
        loaded, tokenizer = self.loaded, self.loaded.tokenizer
        parts = find_parts(loaded.torch, loaded.model)
        rows = min(tokenizer.n_vocabulary, _n_unembedded(loaded.model, tokenizer))
        trained = getattr(loaded.model.config.get_text_config(), "max_position_embeddings", None)
        limits = [n for n in (self.n_context, trained) if n is not None]
        self.n_context = min(limits, default=1 << 20)
        self._engine = Engine(
            loaded.torch, loaded.library, loaded.model, parts, loaded.device, rows
        )
        self._asker = Asker(
            self._engine, tokenizer, _ends(loaded.model, tokenizer), self.batch_size, self.n_context
        )
        if self.capabilities >= INSIDE:
            check_inside(self._engine, _some_ids(tokenizer, rows))

    @property
    def capabilities(self) -> frozenset[str]:
        """What can be asked of this architecture."""
        found = set(_ASKING)
        if not self._engine.can_branch:
            found.discard("allowed_answers")
        if self.tokenizer.has_offsets:
            found.add("token_span")
        if self._engine.parts is not None and self.identity["dtype"] == "float32":
            found |= INSIDE | ({"attentions"} if self._engine.is_eager else set())
        return frozenset(found)

    @property
    def identity(self) -> Mapping[str, Json]:
        """What stands in the protocol."""
        return self.loaded.facts

    @property
    def tokenizer(self) -> LocalTokenizer:
        """The model's own."""
        return self.loaded.tokenizer

    @property
    def n_surplus(self) -> int:
        """Rows of the unembedding without a token: cut off from all logits."""
        return _n_unembedded(self.loaded.model, self.tokenizer) - self._engine.n_rows

    @property
    def code_path(self) -> Mapping[str, Json]:
        """All that equal bits depend on: a claim of bit-identity holds along one such path only."""
        kept = ("backend_version", "dtype")
        return {
            **{name: self.identity[name] for name in kept},
            "batch_size": self.batch_size,
            "threads": int(self.loaded.torch.get_num_threads()),
        }

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """Ids of a system turn in the chat template; None where it has no such role."""
        return self.tokenizer.system_ids(text)

    def ids_of(self, prompt: Prompt) -> tuple[int, ...]:
        """What is sent for a prompt."""
        return self._asker.ids_of(prompt)

    def ids_after(self, prompt: str, text: str) -> tuple[int, ...] | None:
        """Ids of a text in its context: those of prompt and text together, less the prompt's.

        None where the prompt's ids are not the beginning: the two fuse at the seam. A space between
        them is the caller's.
        """
        alone, together = self.ids_of(prompt), self.ids_of(prompt + text)
        return together[len(alone) :] if together[: len(alone)] == alone else None

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One result for each request, batch by batch of like length.

        A draw depends on its own seed and logits alone. Under ``allowed``, ``max_tokens=1`` chooses
        by first tokens and anything longer by whole texts; ties are errors.

        Raises
        ------
        InputError
            Before anything is asked: allowed answers that share a first token, or are drawn.
        """
        return self._asker.complete(requests)

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        """Logits at the last token of every prompt; noise and shared prefixes as in `complete`.

        Returns
        -------
        (n, V) float32
            In the order of the requests, in nats; not checked for being finite.

        Raises
        ------
        InputError
            For a prompt that is empty or too long.
        """
        return self._asker.next_logits(requests)

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """Sum of the log-probabilities of every text behind its prompt, in any order."""
        return self._asker.score(continuations)

    def close(self) -> None:
        """Nothing is held beyond this object."""


def _n_unembedded(model: Any, tokenizer: LocalTokenizer) -> int:
    head = model.get_output_embeddings()
    weight = getattr(head, "weight", None)
    return tokenizer.n_vocabulary if weight is None else int(weight.shape[0])


def _ends(model: Any, tokenizer: LocalTokenizer) -> frozenset[int]:
    """Every id that the model's own settings or its tokenizer call the end of a text."""
    given = getattr(model.generation_config, "eos_token_id", None)
    listed = given if isinstance(given, list) else [given]
    found = {*listed, tokenizer.library.eos_token_id}
    return frozenset(i for i in found if i is not None)


def _some_ids(tokenizer: LocalTokenizer, n_rows: int) -> tuple[int, ...]:
    """A few different ids that every model can read."""
    plain = [i for i in range(n_rows) if i not in tokenizer.special][:_N_CHECKED]
    return tuple(plain or range(min(n_rows, _N_CHECKED)))
