"""A white box of a few numbers: planted final states, a small read-out, answers of three tokens."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.local.exact_readout import ExactReadout
from trueness.backends.protocol import Request, Result

Floats = NDArray[np.float64]


def readout(width: int, n_tokens: int, *, seed: int = 0, scale: float = 1.0) -> ExactReadout:
    rng = np.random.default_rng(seed)
    return ExactReadout(
        gain=np.ones(width),
        norm_bias=np.zeros(width),
        eps=1e-6,
        centred=False,
        unembed=scale * rng.normal(size=(n_tokens, width)),
        bias=np.zeros(n_tokens),
    )


@dataclass
class Words:
    """A word with the blanks before it is one token; words beyond the last one share it."""

    n_vocabulary: int
    bos: int | None = None
    special: frozenset[int] = frozenset()
    seen: dict[str, int] = field(default_factory=dict)

    def encode(self, text: str) -> tuple[int, ...]:
        pieces = re.findall(r"\s*\S+", text)
        last = self.n_vocabulary - 1
        return tuple(self.seen.setdefault(p, min(len(self.seen), last)) for p in pieces)

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(f" w{i}" for i in ids)


@dataclass
class Scripted:
    """The white box; ``state`` says what stands before the final norm of a prompt."""

    head: ExactReadout
    state: Callable[[str], Floats]
    n_blocks: int = 3
    identity: dict[str, Any] = field(
        default_factory=lambda: {"model": "scripted states", "file_hash": "0" * 8}
    )
    code_path: dict[str, Any] = field(
        default_factory=lambda: {"backend_version": "1", "dtype": "float32", "threads": 1}
    )
    restless: float = 0.0
    leaks: bool = False
    _active: list[tuple[str, tuple[int, ...], str, NDArray[Any]]] = field(default_factory=list)
    _calls: int = 0

    def __post_init__(self) -> None:
        self.tokenizer = Words(len(self.head.unembed))

    def ids_of(self, prompt: str) -> tuple[int, ...]:
        return self.tokenizer.encode(prompt)

    def hidden_states(self, prompts: Sequence[str], positions: Any = (-1,)) -> NDArray[np.float32]:
        del positions
        rows = np.array([self.state(p) for p in prompts], np.float32)
        return np.repeat(rows[:, np.newaxis, np.newaxis], self.n_blocks + 1, axis=1)

    def readout(self, h: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.array([self.head(one) for one in h], np.float32)

    def exact_readout(self) -> ExactReadout:
        return self.head

    def logit_vjp(
        self, prompt: str, layer: int, weights: Any, *, position: int = -1
    ) -> NDArray[np.float32]:
        del layer, position
        return self.head.vjp(self.state(prompt), weights).astype(np.float32)

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        return np.array([self._logits(str(r.prompt)) for r in requests], np.float32)

    def _logits(self, prompt: str) -> NDArray[np.float32]:
        h = self.state(prompt).astype(np.float32)
        last = f"resid_out({self.n_blocks - 1})"
        for site, positions, steps, delta in self._active:
            if site == last and -1 in positions and steps == "prefill":
                h = h + delta.astype(np.float32)
        z = self.head(h).astype(np.float32)
        self._calls += 1
        z = z + np.float32(self.restless * self._calls)
        for site, _, _, delta in self._active:
            if site == "unembed_rows":
                for a, b in delta:
                    z[[a, b]] = z[[b, a]]
        return z

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        for r in requests:
            rng = np.random.default_rng(r.seed)
            z = self._logits(str(r.prompt)).astype(np.float64)
            p = np.exp(z - z.max())
            tokens = [int(np.searchsorted(np.cumsum(p / p.sum()), rng.random()))]
            later = [a for a in self._active if a[2] == "every"]
            turned = int(bool(later)) or int(self.leaks and bool(self._active))
            tokens += [(tokens[0] + turned + int(rng.integers(2))) % len(p) for _ in range(2)]
            yield Result(r.key, self.tokenizer.decode(tokens), "length")

    @contextmanager
    def intervene(
        self, site: str, *, positions: Sequence[int] = (-1,), steps: str = "prefill", delta: Any
    ) -> Iterator[None]:
        self._active.append((site, tuple(positions), steps, np.asarray(delta)))
        try:
            yield
        finally:
            self._active.pop()

    def close(self) -> None:
        pass
