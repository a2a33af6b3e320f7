"""One block as a map of one row: all other rows as they are, earlier ones through keys and values.

Row t of a causal block reads the others through their keys and values alone, so with these frozen
the map h[t] -> h'[t] costs one row, and its derivative is the block of the whole derivative.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.backends.local.parts import cache_name
from trueness.contract.errors import BackendError, ShapeError

METHODS = ("row", "sequence")
"""The row alone behind frozen keys and values, or the whole sequence with the row in its place."""
TOLERANCE = 1e-5
"""Of the map's value at its own base point, in units of the largest entry."""
_SLICED = ("position_ids", "cache_position")


@dataclass(slots=True)
class BlockCall:
    """One block as the model called it on one prompt.

    Parameters
    ----------
    block : module
    states : (1, T, D)
        What it got.
    output : (1, T, D)
        What it returned.
    given : mapping
        The other arguments: mask, positions, whatever the architecture hands down.
    """

    block: Any = field(repr=False)
    states: Any = field(repr=False)
    output: Any = field(repr=False)
    given: Mapping[str, Any] = field(repr=False)
    _read: tuple[Any, Any] | None = field(default=None, repr=False)

    def keys_and_values(self) -> tuple[Any, Any]:
        """Keys and values (1, heads, T, d) that the block's attention makes of its input."""
        if self._read is None:
            name = cache_name(self.block.forward)
            recorder = _Recorder()
            self.block(self.states, **{**self.given, str(name): recorder})
            if recorder.seen is None:
                msg = f"{type(self.block).__name__} does not hand its keys and values to a cache."
                raise BackendError(msg, hint='Use method="sequence".')
            self._read = recorder.seen
        return self._read


@dataclass(frozen=True, slots=True, eq=False)
class RowMap:
    """The map R^D -> R^D of row t of one block, everything else frozen.

    Parameters
    ----------
    at : (D,) float32
        The base point: what the block got at t.
    value : (D,) float32
        What the model had behind the block at t.
    """

    at: NDArray[np.float32]
    value: NDArray[np.float32]
    _torch: Any = field(repr=False)
    _apply: Callable[[Any], Any] = field(repr=False)
    _forward: bool = field(repr=False)
    _device: str = field(repr=False)

    def __call__(self, h: ArrayLike) -> NDArray[np.float32]:
        """Row t behind the block when h (D,) stands before it."""
        with self._torch.no_grad():
            return self._numpy(self._apply(self._vectors(h, 1)))

    def jvp(self, v: ArrayLike) -> NDArray[np.float32]:
        """J v at the base point, for one direction (D,) or several (k, D).

        Raises
        ------
        BackendError
            Unless attention is eager: the others have no forward derivative; or where a part of the
            block has none.
        """
        if not self._forward:
            msg = "forward derivatives need eager attention."
            raise BackendError(msg, hint="Open the model with -M attention=eager, or use vjp.")
        base, func = self._vectors(self.at, 1), self._torch.func
        with _differentiable():
            return self._each(v, lambda u: func.jvp(self._apply, (base,), (u,))[1])

    def vjp(self, u: ArrayLike) -> NDArray[np.float32]:
        """Jᵀ u at the base point, for one direction (D,) or several (k, D); raises as `jvp`."""
        base = self._vectors(self.at, 1)
        with _differentiable():
            _, pull = self._torch.func.vjp(self._apply, base)
            return self._each(u, lambda w: pull(w)[0])

    def jacobian(self, chunk: int = 64) -> NDArray[np.float32]:
        """J (D, D): row i is the derivative of output i; ``chunk`` outputs at a time.

        Raises as `vjp`.
        """
        base = self._vectors(self.at, 1)
        with _differentiable():
            return self._numpy(self._torch.func.jacrev(self._apply, chunk_size=chunk)(base))

    def _each(self, v: ArrayLike, one: Callable[[Any], Any]) -> NDArray[np.float32]:
        vectors = self._vectors(v, np.ndim(v))
        return self._numpy(
            one(vectors) if vectors.ndim == 1 else self._torch.func.vmap(one)(vectors)
        )

    def _vectors(self, v: ArrayLike, ndim: int) -> Any:
        found = np.array(v, np.float32)
        if found.ndim != ndim or ndim not in {1, 2} or found.shape[-1] != len(self.at):
            msg = f"shape {found.shape} is given; (D,) or (k, D) with D = {len(self.at)} is wanted."
            raise ShapeError(msg)
        return self._torch.from_numpy(found).to(self._device)

    def _numpy(self, tensor: Any) -> NDArray[np.float32]:
        found: NDArray[np.float32] = tensor.detach().to("cpu", self._torch.float32).numpy()
        return found


def row_map(
    torch: Any,
    call: BlockCall,
    position: int,
    *,
    method: str = "row",
    causal: bool = True,
    forward: bool = True,
) -> RowMap:
    """The map of one row of a recorded call, checked at its base point.

    Raises
    ------
    BackendError
        When the block cannot be called so, or does not give back what the model had there.
    """
    try:
        return _made(torch, call, position, method=method, causal=causal, forward=forward)
    except (AttributeError, RuntimeError, TypeError) as error:
        msg = f"{type(call.block).__name__} cannot be called alone ({method}): {error}"
        raise BackendError(msg, hint='Try method="sequence", or another architecture.') from error


def _made(
    torch: Any, call: BlockCall, position: int, *, method: str, causal: bool, forward: bool
) -> RowMap:
    with torch.no_grad():
        if method == "sequence":
            apply = _in_sequence(torch, call, position, causal=causal)
        else:
            apply = _alone(torch, call, position, causal=causal)
    h, wanted = call.states[0, position], call.output[0, position]
    made = RowMap(
        h.cpu().numpy(), wanted.cpu().numpy(), torch, apply, forward, str(call.states.device)
    )
    if causal:  # without the mask it is another map on purpose
        check_value(made)
    return made


def check_value(made: RowMap) -> None:
    """Refuse a map that does not give back what the model had.

    Raises
    ------
    BackendError
        With the difference.
    """
    wrong = float(np.abs(made(made.at) - made.value).max())
    largest = float(max(np.abs(made.at).max(), np.abs(made.value).max()))
    if not wrong <= TOLERANCE * largest:
        msg = (
            f"a block called alone differs from the model by {wrong:.2g} where {largest:.2g} is "
            "the largest entry: called without the model's mask or positions."
        )
        raise BackendError(msg, hint='Try method="sequence", or another architecture.')


@contextmanager
def _differentiable() -> Iterator[None]:
    """A part of a block without a derivative that can be batched is a backend's failure."""
    try:
        yield
    except RuntimeError as error:
        msg = f"this block has no such derivative: {error}"
        raise BackendError(msg, hint="Use another architecture.") from error


def _alone(torch: Any, call: BlockCall, t: int, *, causal: bool) -> Callable[[Any], Any]:
    keys, values = call.keys_and_values()
    others = torch.arange(keys.shape[-2], device=keys.device)
    others = others[others < t] if causal else others[others != t]
    frozen = _Frozen(torch, keys[..., others, :], values[..., others, :])
    given = {name: _row_of(name, value, t) for name, value in call.given.items()}
    mask = call.given.get("attention_mask")
    if mask is not None:
        seen = torch.cat([others, others.new_tensor([t])])
        given["attention_mask"] = mask[..., t : t + 1, :][..., seen] if causal else None
    given[str(cache_name(call.block.forward))] = frozen
    return lambda h: _state(call.block(h[None, None], **given))[0, 0]


def _in_sequence(torch: Any, call: BlockCall, t: int, *, causal: bool) -> Callable[[Any], Any]:
    before, after = call.states[:, :t], call.states[:, t + 1 :]
    given = dict(call.given) if causal else {**call.given, "attention_mask": None}

    def apply(h: Any) -> Any:
        whole = torch.cat([before, h[None, None], after], dim=1)
        return _state(call.block(whole, **given))[0, t]

    return apply


def _row_of(name: str, value: Any, t: int) -> Any:
    if name == "position_embeddings" and isinstance(value, tuple):
        return tuple(part[..., t : t + 1, :] for part in value)
    if name in _SLICED and value is not None:
        return value[..., t : t + 1]
    return value


def _state(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


class _Recorder:
    """A cache that keeps what it is given and hands it back."""

    def __init__(self) -> None:
        self.seen: tuple[Any, Any] | None = None

    def update(self, keys: Any, values: Any, *rest: Any, **more: Any) -> tuple[Any, Any]:
        del rest, more
        self.seen = (keys, values)
        return keys, values

    def get_seq_length(self, *rest: Any) -> int:
        del rest
        return 0


@dataclass(frozen=True, slots=True)
class _Frozen:
    """A cache whose content does not change: nothing is written to it."""

    torch: Any
    keys: Any
    values: Any

    def update(self, keys: Any, values: Any, *rest: Any, **more: Any) -> tuple[Any, Any]:
        del rest, more
        cat = self.torch.cat
        return cat([self.keys, keys], dim=-2), cat([self.values, values], dim=-2)

    def get_seq_length(self, *rest: Any) -> int:
        del rest
        return int(self.keys.shape[-2])
