"""What a model holds while it reads: hidden states, attention, gradients."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.local.batch import Moment, Row
from trueness.backends.local.parts import Parts
from trueness.backends.local.passes import Engine
from trueness.contract.errors import BackendError, InputError

Ids = tuple[int, ...]
Places = Sequence[int] | Sequence[Sequence[int]]
OBJECTIVES = ("logit", "logprob")


def parts_of(engine: Engine) -> Parts:
    """The parts of a model whose architecture is known.

    Raises
    ------
    BackendError
        For any other.
    """
    if engine.parts is None:
        msg = f"{type(engine.model).__name__} keeps its blocks under names that are not known."
        raise BackendError(msg, hint="Use hf:/gguf: with a decoder such as Llama, Qwen or GPT-2.")
    return engine.parts


def places(positions: Places, lengths: Sequence[int]) -> NDArray[np.int64]:
    """Positions (n, P), from 0, of prompts of these lengths.

    Raises
    ------
    InputError
        For a position outside its prompt, or lists of unequal lengths.

    Examples
    --------
    >>> places([0, -1], [3, 5]).tolist()
    [[0, 2], [0, 4]]
    """
    per_prompt = [p for p in positions if not isinstance(p, int | np.integer)]
    rows: list[list[int]] = [[int(q) for q in p] for p in per_prompt]
    if not rows:
        same = [int(p) for p in positions if isinstance(p, int | np.integer)]
        rows = [same for _ in lengths]
    if len(rows) != len(lengths) or len({len(row) for row in rows}) > 1:
        msg = (
            f"positions {positions!r} for {len(lengths)} prompts: give one list for all, or a list "
            "of the same length for each."
        )
        raise InputError(msg)
    for row, n in zip(rows, lengths, strict=True):
        if bad := [p for p in row if not -n <= p < n]:
            msg = f"position {bad[0]} of a prompt of {n} tokens; give one from {-n} to {n - 1}."
            raise InputError(msg)
    found = np.array(rows, np.int64).reshape(len(rows), -1)
    return np.where(found < 0, found + np.array(lengths, np.int64)[:, None], found)


def hidden_states(
    engine: Engine, prompts: Sequence[Ids], at: NDArray[np.int64], batch_size: int
) -> NDArray[np.float32]:
    """States (n, L + 1, P, D): entry 0 enters the first block, entry l leaves block l."""
    parts = parts_of(engine)
    width = int(parts.embedding.weight.shape[1])
    found = np.empty((len(prompts), len(parts.blocks) + 1, at.shape[1], width), np.float32)
    for batch in _by_length(prompts, batch_size):
        longest = max(len(prompts[i]) for i in batch)
        shift = np.array([longest - len(prompts[i]) for i in batch])
        columns = engine.torch.from_numpy(at[batch] + shift[:, None]).to(engine.device)

        def keep(layer: int, h: Any, batch: Any = batch, columns: Any = columns) -> None:
            index = columns[..., None].expand(-1, -1, h.shape[-1])
            found[batch, layer] = engine.numpy(h.gather(1, index))

        with watching(parts, keep):
            engine.read([Row(prompts[i]) for i in batch], keep=1)
    return found


@contextmanager
def watching(parts: Parts, keep: Callable[[int, Any], None]) -> Iterator[None]:
    """Hand over what enters each block, and what leaves the last one before the final norm."""

    def hook(layer: int) -> Callable[[Any, Any, Any], None]:
        def seen(module: Any, args: Any, kwargs: Any) -> None:
            del module
            keep(layer, args[0] if args else kwargs["hidden_states"])

        return seen

    modules = (*parts.blocks, parts.norm)
    handles = [
        module.register_forward_pre_hook(hook(layer), with_kwargs=True)
        for layer, module in enumerate(modules)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def attentions(
    engine: Engine, prompts: Sequence[Ids], query: int, batch_size: int
) -> NDArray[np.float32]:
    """Weights (n, L, heads, T) of one query; nan beyond a prompt's own tokens."""
    parts = parts_of(engine)
    at = places([query], [len(p) for p in prompts])[:, 0]
    modules = [parts.attention(layer) for layer in range(len(parts.blocks))]
    longest = max(map(len, prompts))
    found: list[NDArray[np.float32] | None] = [None] * len(prompts)
    for batch in _by_length(prompts, batch_size):
        weights = _weights(engine, modules, [prompts[i] for i in batch])
        for row, i in enumerate(batch):
            n = len(prompts[i])
            own = [w[row, :, w.shape[2] - n + int(at[i]), w.shape[3] - n :] for w in weights]
            padded = np.full((len(own), own[0].shape[0], longest), np.nan, np.float32)
            padded[:, :, :n] = np.stack(own)
            found[i] = padded
    return np.stack([one for one in found if one is not None])


def logit_gradients(
    engine: Engine,
    prompts: Sequence[Ids],
    tokens: NDArray[np.int64],
    *,
    of: str,
    batch_size: int,
) -> NDArray[np.float32]:
    """Gradients (n, c, T, D) of candidates' scores by input embeddings; nan beyond a prompt."""
    if of not in OBJECTIVES:
        msg = f"of={of!r}; gradients are of a {' or a '.join(OBJECTIVES)}."
        raise InputError(msg)
    n, c = tokens.shape
    width = int(engine.model.get_input_embeddings().weight.shape[1])
    found = np.full((n, c, max(map(len, prompts)), width), np.nan, np.float32)
    for batch in _by_length(prompts, batch_size):
        moved = _gradients(engine, [Row(prompts[i]) for i in batch], tokens[batch], of=of)
        for row, i in enumerate(batch):
            n_own = len(prompts[i])
            found[i, :, :n_own] = moved[:, row, moved.shape[2] - n_own :]
    return found


def logit_vjp(
    engine: Engine, prompt: Ids, layer: int, position: int, weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Rows wᵀ · dz/dh (s, D): z the last position's logits, h what enters a block at a position."""
    torch, parts = engine.torch, parts_of(engine)
    leaves: list[Any] = []

    def cut(module: Any, args: Any, kwargs: Any) -> Any:
        del module
        states = args[0] if args else kwargs["hidden_states"]
        leaf = states[0, position].detach().clone().requires_grad_()
        leaves.append(leaf)
        states = states.clone()
        states[0, position] = leaf
        return (
            ((states, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": states})
        )

    ids, real, positions = engine.padded([prompt])
    moment = Moment(positions, real.bool(), real.sum(dim=1))
    module = (*parts.blocks, parts.norm)[layer]
    handle = module.register_forward_pre_hook(cut, with_kwargs=True)
    try:
        with torch.enable_grad():
            z = engine.call(ids, None, real, moment, graded=True)[0, -1].float()
            rows = torch.from_numpy(weights).to(engine.device)
            found = [torch.autograd.grad(z, leaves[0], row, retain_graph=True)[0] for row in rows]
    finally:
        handle.remove()
    return engine.numpy(torch.stack(found))


def _gradients(
    engine: Engine, rows: Sequence[Row], tokens: NDArray[np.int64], *, of: str
) -> NDArray[np.float32]:
    """Gradients (c, B, S, D) by the input embeddings: one pass forward, c back; left-padded."""
    torch = engine.torch
    ids, real, positions = engine.padded([row.ids for row in rows])
    moment = Moment(positions, real.bool(), real.sum(dim=1))
    with torch.enable_grad():
        block = engine.model.get_input_embeddings()(ids).detach().requires_grad_()
        z = engine.call(None, block, real, moment, graded=True)[:, -1].float()
        if of == "logprob":
            z = torch.log_softmax(z, dim=-1)
        chosen = z.gather(1, torch.from_numpy(tokens).to(engine.device))  # (B, c)
        return np.stack(
            [
                engine.numpy(torch.autograd.grad(score.sum(), block, retain_graph=True)[0])
                for score in chosen.T
            ]
        )


def _weights(engine: Engine, modules: Sequence[Any], prompts: Sequence[Ids]) -> list[Any]:
    """Attention weights (B, heads, S, S) of every block."""
    seen: list[Any] = []

    def hook(module: Any, args: Any, output: Any) -> None:
        del module, args
        weights = output[1] if isinstance(output, tuple) else None
        if weights is not None:
            seen.append(engine.numpy(weights))

    handles = [m.register_forward_hook(hook) for m in modules if m is not None]
    try:
        engine.read([Row(p) for p in prompts], keep=1)
    finally:
        for handle in handles:
            handle.remove()
    if len(seen) != len(modules):
        msg = "attention does not show its weights here."
        raise BackendError(msg, hint="Open the model with -M attention=eager.")
    return seen


def _by_length(prompts: Sequence[Ids], size: int) -> Iterator[list[int]]:
    order = sorted(range(len(prompts)), key=lambda i: (len(prompts[i]), i))
    for start in range(0, len(order), size):
        yield order[start : start + size]
