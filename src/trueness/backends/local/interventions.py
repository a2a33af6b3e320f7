"""Changing what a model computes, for as long as a block of code runs."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.backends.local.batch import Moment
from trueness.backends.local.passes import Engine
from trueness.contract.errors import BackendError, InputError, ShapeError

KINDS = ("resid_in", "attn_out", "mlp_out", "resid_out", "unembed_rows")
STEPS = ("prefill", "every")
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the model: ``resid_in(3)``, or ``unembed_rows``, which has no layer.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    layer : int or None
        Of the block, from 0.

    Examples
    --------
    >>> Site.parse("mlp_out(3)")
    Site(kind='mlp_out', layer=3)
    """

    kind: str
    layer: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Site":
        """A site from its text.

        Raises
        ------
        InputError
            For anything else.
        """
        found = re.fullmatch(r"(\w+?)(?:\((\d+)\))?", text)
        kind, layer = found.groups() if found else (None, None)
        if kind not in KINDS or (layer is None) != (kind == "unembed_rows"):
            msg = f"the site is {text!r}; sites are {', '.join(KINDS)}, all but the last with (l)."
            raise InputError(msg)
        return cls(kind, None if layer is None else int(layer))


@dataclass(frozen=True, slots=True)
class _Reach:
    """Which columns of a pass are changed."""

    positions: tuple[int, ...]
    steps: str

    def columns(self, moment: Moment) -> Iterator[Any]:
        """For each position, a mask (B, S) of the columns of this pass that it names.

        From 0 a position counts from the first token; below 0 from the end of the prompt, and under
        ``every`` -1 is also every place behind it, when it is the last one.
        """
        places, ends = moment.positions, moment.lengths[:, None]
        for p in self.positions:
            if p >= 0:
                hit = (places == p) & (self.steps == "every" or places < ends)
            elif p == -1 and self.steps == "every":
                hit = places >= ends - 1
            else:
                hit = places == ends + p
            yield hit & moment.real


@contextmanager
def intervene(
    engine: Engine,
    site: Site | str,
    *,
    positions: Sequence[int],
    steps: str,
    delta: ArrayLike,
) -> Iterator[None]:
    """Add ``delta`` at a site, or exchange rows of the unembedding, until the block ends."""
    where = Site.parse(site) if isinstance(site, str) else site
    if steps not in STEPS or not positions:
        msg = f"steps={steps!r}, positions={positions!r}; give positions and one of {STEPS}."
        raise InputError(msg)
    reach = _Reach(tuple(int(p) for p in positions), steps)
    with ExitStack() as stack:
        stack.enter_context(engine.intervening())
        handle = _hooked(engine, where, reach, np.asarray(delta))
        stack.callback(handle.remove)
        yield


def _hooked(engine: Engine, site: Site, reach: _Reach, delta: NDArray[Any]) -> Any:
    parts = engine.parts
    if parts is None:
        msg = "the parts of this architecture are not known, so nothing can intervene in it."
        raise BackendError(msg)
    if site.kind == "unembed_rows":
        pairs = _pairs(delta, engine.n_rows)
        return parts.head.register_forward_hook(_exchanging(engine, reach, pairs))
    if site.layer is None or not 0 <= site.layer < len(parts.blocks):
        msg = f"{site} is no block of this model; its blocks are 0 to {len(parts.blocks) - 1}."
        raise InputError(msg)
    add = _adding(engine, reach, _states(engine, delta, len(reach.positions)))
    block = parts.blocks[site.layer]
    if site.kind == "resid_in":
        return block.register_forward_pre_hook(_on_input(add), with_kwargs=True)
    modules = {
        "attn_out": parts.attention(site.layer),
        "mlp_out": parts.mlp(site.layer),
        "resid_out": block,
    }
    module = modules[site.kind]
    if module is None:
        msg = f"block {site.layer} has no part of a known name for {site.kind}."
        raise BackendError(msg)
    return module.register_forward_hook(_on_output(add))


def _states(engine: Engine, delta: NDArray[Any], n_positions: int) -> Any:
    """Delta as (positions, D)."""
    width = int(engine.model.get_input_embeddings().weight.shape[1])
    if delta.shape not in {(width,), (n_positions, width)} or not np.isfinite(delta).all():
        msg = (
            f"delta has shape {delta.shape}; ({width},) or ({n_positions}, {width}) of finite "
            "numbers is wanted."
        )
        raise ShapeError(msg)
    full = np.broadcast_to(delta.astype(np.float32), (n_positions, width)).copy()
    return engine.torch.from_numpy(full).to(engine.device)


def _pairs(delta: NDArray[Any], n_rows: int) -> list[tuple[int, int]]:
    whole = (
        delta.ndim == _PAIR and delta.shape[1] == _PAIR and np.issubdtype(delta.dtype, np.integer)
    )
    if not whole or delta.min() < 0 or delta.max() >= n_rows or len(set(delta.flat)) < delta.size:
        msg = (
            "unembed_rows exchanges the rows of pairs (k, 2) of different token ids below "
            f"{n_rows}; given is an array of shape {delta.shape}."
        )
        raise ShapeError(msg)
    return [(int(a), int(b)) for a, b in delta]


def _adding(engine: Engine, reach: _Reach, delta: Any) -> Callable[[Any], Any]:
    def add(h: Any) -> Any:
        if engine.moment is None:
            return h
        for row, hit in zip(delta, reach.columns(engine.moment), strict=True):
            h = engine.torch.where(hit[..., None], h + row.to(h.dtype), h)
        return h

    return add


def _exchanging(
    engine: Engine, reach: _Reach, pairs: Sequence[tuple[int, int]]
) -> Callable[[Any, Any, Any], Any]:
    ones, others = [a for a, _ in pairs], [b for _, b in pairs]

    def exchange(module: Any, args: Any, logits: Any) -> Any:
        del module, args
        if engine.moment is None:
            return logits
        swapped = logits.clone()
        swapped[..., ones + others] = logits[..., others + ones]
        for hit in reach.columns(engine.moment):
            kept = hit[:, -logits.shape[1] :, None]
            logits = engine.torch.where(kept, swapped, logits)
        return logits

    return exchange


def _on_input(add: Callable[[Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def hook(module: Any, args: Any, kwargs: Any) -> Any:
        del module
        if args:
            return (add(args[0]), *args[1:]), kwargs
        return args, {**kwargs, "hidden_states": add(kwargs["hidden_states"])}

    return hook


def _on_output(add: Callable[[Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def hook(module: Any, args: Any, output: Any) -> Any:
        del module, args
        return (add(output[0]), *output[1:]) if isinstance(output, tuple) else add(output)

    return hook
