"""Models and embedders on many machines, over Ray Data: every worker opens its own.

The table, its journal and every number stay in the process that asked: workers only answer and
embed. A worker that dies is started again and its unfinished requests are asked again; each draw
has its own seed and key, so the result is that of one process.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueness.backends.embedder import Embedder, Role, Vectors
from trueness.backends.protocol import Key, Model, Request, Result, Tokenizer, require
from trueness.backends.registry import open_embedder, open_model
from trueness.backends.wire import dump_request, dump_result, load_request, load_result
from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json

_REQUESTS, _TEXTS = 8, 64
"""Rows of one call of a worker."""
_ALL = 1_000_000


@dataclass(frozen=True, slots=True)
class Opening:
    """What a worker opens by itself, on its own machine."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)

    def model(self) -> Model:
        """The model, from weights that are there."""
        return open_model(self.name, dict(self.options), facts=self.facts, download=False)


@dataclass(slots=True)
class RayModel:
    """A model that is opened once more on every worker of a Ray cluster.

    Parameters
    ----------
    opening : Opening
    workers : int
        Copies that answer at the same time. The cluster is the one that ``RAY_ADDRESS`` names, or
        one on this machine.

    Raises
    ------
    InputError
        For fewer than one worker.
    MissingExtraError
        Without ray.
    BackendError
        When no cluster can be reached.
    """

    opening: Opening
    workers: int = 2
    _own: Model = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check(self.workers)
        start()
        self._own = self.opening.model()

    @property
    def name(self) -> str:
        """The model's own: draws have the seeds that one process would give them."""
        return self._own.name

    @property
    def capabilities(self) -> frozenset[str]:
        """Those of the model that a stream of requests can use."""
        return self._own.capabilities

    @property
    def identity(self) -> Mapping[str, Json]:
        """The model's own: where it ran is no part of the protocol."""
        return self._own.identity

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The model's own."""
        return self._own.tokenizer

    @property
    def remarks(self) -> tuple[str, ...]:
        """Nothing that a user must know."""
        return ()

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """As the model."""
        return self._own.system_ids(text)

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """A few requests, answered here: the self-check."""
        return self._own.complete(requests)

    def stream(self, requests: Iterable[Request]) -> Iterator[Sequence[Result]]:
        """Results as the workers hand them in.

        Raises
        ------
        BackendError
            When the cluster is lost.
        """
        keys: list[Key] = []
        rows: list[dict[str, Any]] = []
        for at, request in enumerate(requests):  # the cluster is given all of them
            keys.append(request.key)
            rows.append({"at": at, "text": dump_request(request)})
        for part in _mapped(rows, _Answers, (self.opening,), self.workers, _REQUESTS):
            pairs = zip(part["at"], part["text"], strict=True)
            yield [load_result(str(text), keys[int(at)]) for at, text in pairs]

    def close(self) -> None:
        """Give back the copy of this process; the cluster is Ray's."""
        self._own.close()


@dataclass(slots=True)
class RayEmbedder:
    """An embedder that is opened once more on every worker of a Ray cluster.

    Parameters
    ----------
    name : str
        As `open_embedder` takes it.
    workers : int

    Raises
    ------
    InputError, MissingExtraError, BackendError
        As `RayModel`.
    """

    name: str
    workers: int = 2
    batch_size: int = _ALL
    """Texts of one call: all of them."""
    _own: Embedder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check(self.workers)
        start()
        self._own = open_embedder(self.name, download=False)

    @property
    def identity(self) -> Mapping[str, Json]:
        """The embedder's own."""
        return self._own.identity

    @property
    def versions(self) -> Mapping[str, str]:
        """The embedder's own."""
        return self._own.versions

    @property
    def max_tokens(self) -> int | None:
        """The embedder's own."""
        return self._own.max_tokens

    @property
    def exact(self) -> bool:
        """Whether the embedder's vectors are the same on any worker, as in any batch."""
        return self._own.exact

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int | None, ...]:
        """Counted here."""
        return self._own.count_tokens(texts, role)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Vectors in the order of the texts; a few are embedded here.

        Raises
        ------
        InputError, BackendError
            As the embedder, and when the cluster is lost.
        """
        if len(texts) <= _TEXTS:
            return self._own.embed(texts, role)
        rows = [{"at": i, "text": text} for i, text in enumerate(texts)]
        found: list[Any] = [None] * len(texts)
        for part in _mapped(rows, _Vectors, (self.name, role), self.workers, _TEXTS):
            for at, vector in zip(part["at"], part["vector"], strict=True):
                found[int(at)] = vector
        return np.stack(found)


class _Answers:
    """A worker's own model."""

    def __init__(self, opening: Opening) -> None:
        self._model = opening.model()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        asked = [load_request(str(text)) for text in batch["text"]]
        place = {request.key: int(at) for request, at in zip(asked, batch["at"], strict=True)}
        results = list(self._model.complete(asked))
        return {
            "at": [place[result.key] for result in results],
            "text": [dump_result(result) for result in results],
        }


class _Vectors:
    """A worker's own embedder."""

    def __init__(self, name: str, role: Role) -> None:
        self._embedder = open_embedder(name, download=False)
        self._role: Role = role

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        texts = [str(text) for text in batch["text"]]
        return {"at": batch["at"], "vector": self._embedder.embed(texts, self._role)}


def start() -> None:
    """Reach the cluster that ``RAY_ADDRESS`` names, or start one on this machine.

    Ray's usage reports are off.

    Raises
    ------
    MissingExtraError
        Without ray.
    BackendError
        When no cluster can be reached.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = require("ray", extra="ray", what="--engine ray")
    if ray.is_initialized():
        return
    try:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    except (RuntimeError, ValueError, OSError) as error:
        msg = f"no Ray cluster can be reached: {error}."
        raise BackendError(msg, hint="Check RAY_ADDRESS, or leave it out.") from error


def _mapped(
    rows: Sequence[Mapping[str, Any]],
    worker: Callable[..., Any],
    given: tuple[Any, ...],
    workers: int,
    size: int,
) -> Iterator[Mapping[str, Any]]:
    """What workers make of rows, part by part, in any order.

    Ray starts a worker that died again and repeats what it had not handed in.
    """
    data = require("ray.data", extra="ray", what="--engine ray")
    ray = require("ray", extra="ray", what="--engine ray")
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    blocks = max(workers, -(-len(rows) // size))
    mapped = data.from_items(list(rows), override_num_blocks=blocks).map_batches(
        worker,
        fn_constructor_args=given,
        compute=data.ActorPoolStrategy(size=workers),
        batch_size=size,
    )
    try:
        yield from mapped.iter_batches(batch_size=None, prefetch_batches=0)
    except ray.exceptions.RayError as error:
        msg = f"the Ray cluster was lost: {str(error).splitlines()[0]}"
        raise BackendError(msg, hint="What had arrived is kept; use --resume.") from error


def _check(workers: int) -> None:
    if workers < 1:
        msg = f"{workers} workers; wanted at least 1."
        raise InputError(msg)
