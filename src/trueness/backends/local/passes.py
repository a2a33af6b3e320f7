"""Forward passes of a batch: left padding, positions from the first real token, shared prefixes."""

import copy
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.local.batch import Flow, Moment, Row
from trueness.backends.local.parts import Parts, cache_name, keep_name
from trueness.backends.local.row_map import BlockCall
from trueness.backends.local.streams import noisy
from trueness.contract.errors import BackendError

_WINDOWS = ("sliding_window", "attention_chunk_size", "window_size")


@dataclass(slots=True)
class Engine:
    """A loaded model, called one batch at a time.

    Parameters
    ----------
    torch, library : module
        torch and transformers.
    model : object
    parts : Parts or None
    device : str
    n_rows : int
        Ids whose logits count: all that the tokenizer knows.
    """

    torch: Any = field(repr=False)
    library: Any = field(repr=False)
    model: Any = field(repr=False)
    parts: Parts | None = field(repr=False)
    device: str
    n_rows: int
    moment: Moment | None = field(default=None, repr=False)
    n_intervening: int = 0
    row_method: str = "row"
    _prefix: tuple[tuple[int, ...], Any] | None = field(default=None, repr=False)
    _spread: float | None = field(default=None, repr=False)
    _calls: tuple[tuple[int, ...], tuple[BlockCall, ...]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """See to it that the unembedding reads its weights once a batch, not once a row."""
        head = self.model.get_output_embeddings()
        if head is not None:
            head.register_forward_pre_hook(_in_one_piece)

    @property
    def n_embedded(self) -> int:
        """Ids that have an embedding."""
        return int(self.model.get_input_embeddings().weight.shape[0])

    @property
    def can_branch(self) -> bool:
        """Whether its cache can be repeated for other rows: keys and values can, states cannot."""
        layers = self._new_cache().layers
        return all(hasattr(layer, "batch_repeat_interleave") for layer in layers)

    @property
    def is_eager(self) -> bool:
        """Whether attention is computed step by step: it has weights and forward derivatives."""
        return str(getattr(self.model.config, "_attn_implementation", "")) == "eager"

    @property
    def has_window(self) -> bool:
        """Whether some attention counts places back from its own, padding included."""
        config = self.model.config.get_text_config()
        return any(getattr(config, name, None) for name in _WINDOWS)

    def begin(self, rows: Sequence[Row], *, prefix: int = 0) -> tuple[Flow, int]:
        """Read prompts; the first ``prefix`` ids of all are equal, and read once.

        Returns
        -------
        (Flow, int)
            The batch behind its prompts; how many of its rows reused work.
        """
        n, known = len(rows), 0
        cache = self._new_cache()
        if prefix:
            front = rows[0].ids[:prefix]
            known = n if self._prefix is not None and self._prefix[0] == front else n - 1
            cache = self._repeated(self._read_prefix(front), n)
        ids, real, positions = self.padded([row.ids[prefix:] for row in rows], prefix)
        mask = self._behind(real, prefix)
        lengths = mask.sum(dim=1)
        moment = Moment(positions, real.bool(), lengths)
        logits = self.call(ids, self._embeds(rows, ids, prefix), mask, moment, cache=cache)
        return Flow(cache, mask, lengths, lengths, logits[:, -1]), known

    def advance(self, flow: Flow, ids: Sequence[int]) -> None:
        """Append one token to every row, in place."""
        torch = self.torch
        column = torch.tensor(ids, device=self.device)[:, None]
        flow.mask = torch.cat([flow.mask, flow.mask.new_ones((len(ids), 1))], dim=1)
        positions = flow.lengths[:, None]
        flow.lengths = flow.lengths + 1
        moment = Moment(positions, torch.ones_like(column).bool(), flow.prompt_lengths)
        flow.logits = self.call(column, None, flow.mask, moment, cache=flow.cache)[:, -1]

    def read(
        self,
        rows: Sequence[Row],
        *,
        keep: int,
        prompt_lengths: Sequence[int] | None = None,
        prefix: int = 0,
    ) -> Any:
        """Logits (B, keep, V) at the last ``keep`` places of whole rows.

        Rows are prompts unless ``prompt_lengths`` says how many of their tokens are. The first
        ``prefix`` ids of all are equal, and read once.
        """
        ids, real, positions = self.padded([row.ids[prefix:] for row in rows], prefix)
        mask, cache = self._behind(real, prefix), None
        if prefix:
            cache = self._repeated(self._read_prefix(rows[0].ids[:prefix]), len(rows))
        lengths = mask.sum(dim=1)
        if prompt_lengths is not None:
            lengths = self.torch.tensor(prompt_lengths, device=self.device)
        moment = Moment(positions, real.bool(), lengths)
        embeds = self._embeds(rows, ids, prefix)
        return self.call(ids, embeds, mask, moment, keep=keep, cache=cache)

    def calls(self, ids: tuple[int, ...]) -> tuple[BlockCall, ...]:
        """Every block as the model called it on one prompt; the last prompt is remembered."""
        if self._calls is not None and self._calls[0] == ids:
            return self._calls[1]
        if self.n_intervening or self.parts is None:
            msg = "a row map is of the model as it is; take it outside of interventions."
            raise BackendError(msg)
        found: list[BlockCall] = []

        def seen(module: Any, args: Any, kwargs: Any, output: Any) -> None:
            names = inspect.signature(module.forward).parameters
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            states = given.pop(next(iter(names)))
            after = output[0] if isinstance(output, tuple) else output
            found.append(BlockCall(module, states.detach(), after.detach(), given))

        handles = [b.register_forward_hook(seen, with_kwargs=True) for b in self.parts.blocks]
        padded, real, positions = self.padded([ids], 0)
        moment = Moment(positions, real.bool(), real.sum(dim=1))
        try:
            with self.torch.no_grad():
                self.call(padded, None, real, moment, graded=True)
        finally:
            for handle in handles:
                handle.remove()
        self._calls = (ids, tuple(found))
        return self._calls[1]

    def branch(self, flow: Flow, row: int, tails: Sequence[tuple[int, ...]]) -> Any:
        """Logits (len(tails), longest, V) of several texts behind one row of a batch.

        Tails are padded on the right: what follows them is not read.
        """
        torch, n = self.torch, len(tails)
        longest = max(map(len, tails))
        cache = _copied(flow.cache)
        cache.batch_select_indices(torch.full((n,), row, device=self.device))
        ids = torch.tensor([[*t, *[0] * (longest - len(t))] for t in tails], device=self.device)
        front = flow.mask[row : row + 1].expand(n, -1)
        mask = torch.cat([front, front.new_ones((n, longest))], dim=1)
        positions = flow.lengths[row] + torch.arange(longest, device=self.device).expand(n, -1)
        lengths = flow.prompt_lengths[row].expand(n)
        moment = Moment(positions, torch.ones_like(ids).bool(), lengths)
        return self.call(ids, None, mask, moment, cache=cache, keep=longest)

    @contextmanager
    def intervening(self) -> Iterator[None]:
        """While something intervenes, no work of other passes is reused."""
        self._prefix, self._calls, self.n_intervening = None, None, self.n_intervening + 1
        try:
            yield
        finally:
            self._prefix, self.n_intervening = None, self.n_intervening - 1

    def embed(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Input embeddings (T, D) of ids, as the first block would get them."""
        embedding = self.model.get_input_embeddings()
        with self.torch.inference_mode():
            found = embedding(self.torch.tensor(ids, device=self.device))
        return self.numpy(found)

    def logits_of(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits (V,) behind the input embeddings (T, D)."""
        made = self.torch.from_numpy(block).to(self.device)[None]
        real = self.torch.ones(made.shape[:2], dtype=self.torch.long, device=self.device)
        moment = Moment(real.cumsum(dim=1) - 1, real.bool(), real.sum(dim=1))
        return self.numpy(self.call(None, made, real, moment)[0, -1])

    def _table_scale(self) -> float:
        """Standard deviation of all entries of the embeddings of all tokens."""
        if self._spread is None:
            every = self.torch.arange(self.n_rows, device=self.device)
            with self.torch.inference_mode():
                self._spread = float(self.model.get_input_embeddings()(every).float().std())
        return self._spread

    def numpy(self, tensor: Any) -> NDArray[np.float32]:
        """A tensor as float32 numbers on the CPU."""
        found: NDArray[np.float32] = tensor.detach().to("cpu", self.torch.float32).numpy()
        return found

    def padded(self, tails: Sequence[tuple[int, ...]], start: int = 0) -> tuple[Any, Any, Any]:
        """Ids, mask and positions (B, S) of tails that begin at ``start``, padded on the left."""
        longest = max(map(len, tails))
        ids = np.zeros((len(tails), longest), np.int64)
        real = np.zeros_like(ids)
        for i, tail in enumerate(tails):
            ids[i, longest - len(tail) :] = tail
            real[i, longest - len(tail) :] = 1
        positions = np.maximum(real.cumsum(axis=1) - 1, 0) + start
        made = (self.torch.from_numpy(a).to(self.device) for a in (ids, real, positions))
        return next(made), next(made), next(made)

    def _behind(self, real: Any, prefix: int) -> Any:
        """The mask of tails with the prefix in front of them, all of which is real."""
        front = real.new_ones((real.shape[0], prefix))
        return self.torch.cat([front, real], dim=1) if prefix else real

    def _embeds(self, rows: Sequence[Row], ids: Any, prefix: int) -> Any | None:
        if not any(row.noise for row in rows):
            return None
        with self.torch.inference_mode():
            block = self.model.get_input_embeddings()(ids)
            for i, row in enumerate(rows):
                if row.noise:
                    scale = self._table_scale() if row.scale == "table" else None
                    own = self.embed(row.ids)
                    moved = noisy(own, row.noise, row.seed, scale=scale)[prefix:]
                    tail = self.torch.from_numpy(moved).to(block.device, block.dtype)
                    block[i, ids.shape[1] - len(moved) :] = tail
        return block

    def call(
        self,
        ids: Any,
        embeds: Any | None,
        mask: Any,
        moment: Moment,
        *,
        cache: Any | None = None,
        keep: int = 1,
        graded: bool = False,
    ) -> Any:
        """Logits (B, keep, V) of one pass; ``graded`` leaves derivatives to the caller."""
        given: dict[str, Any] = {"input_ids": ids} if embeds is None else {"inputs_embeds": embeds}
        given |= {"attention_mask": mask, "use_cache": cache is not None}
        if "position_ids" in inspect.signature(self.model.forward).parameters:
            given["position_ids"] = moment.positions
        if cache is not None:
            given[self._cache_name] = cache
        if (name := keep_name(self.model.forward)) is not None:
            given[name] = keep
        self.moment = moment
        try:
            with nullcontext() if graded else self.torch.inference_mode():
                logits = self.model(**given).logits
        finally:
            self.moment = None
        return logits[:, -keep:, : self.n_rows]

    @property
    def _cache_name(self) -> str:
        name = cache_name(self.model.forward)
        if name is None:
            msg = f"{type(self.model).__name__} keeps no cache of keys and values."
            raise BackendError(msg, hint="Use a decoder of transformers.")
        return name

    def _new_cache(self) -> Any:
        return self.library.DynamicCache(config=self.model.config)

    def _read_prefix(self, front: tuple[int, ...]) -> Any:
        """Keys and values of a prefix: kept for the next batch behind the same one."""
        if self._prefix is not None and self._prefix[0] == front:
            return self._prefix[1]
        cache = self._new_cache()
        ids, real, positions = self.padded([front], 0)
        moment = Moment(positions, real.bool(), real.sum(dim=1))
        self.call(ids, None, real, moment, cache=cache)
        self._prefix = (front, cache)
        return cache

    def _repeated(self, cache: Any, n: int) -> Any:
        copied = _copied(cache)
        copied.batch_repeat_interleave(n)
        return copied


def _copied(cache: Any) -> Any:
    """A cache whose layers can be given other keys and values; the tensors are the same ones."""
    copied = copy.copy(cache)
    copied.layers = [copy.copy(layer) for layer in cache.layers]
    return copied


def _in_one_piece(_module: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """States copied side by side: those of last places are strided, and multiplied row by row."""
    return tuple(each.contiguous() for each in args)
