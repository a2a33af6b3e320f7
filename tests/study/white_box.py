"""A model that shows planted states: what is planted ranks where it is told to."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.protocol import Request
from trueness.contract.serial import Json

WIDTH = 700
"""Tokens, and as many numbers in a state: the read-out is the state itself."""

Plant = Callable[[str, "Words"], NDArray[np.float64]]
"""From a prompt to its states (L + 1, WIDTH)."""


@dataclass
class Words:
    """A word with the blanks before it is one token."""

    bos: int | None = None
    n_vocabulary: int = WIDTH - 7
    special: frozenset[int] = frozenset()
    seen: dict[str, int] = field(default_factory=dict)

    def encode(self, text: str) -> tuple[int, ...]:
        pieces = re.findall(r"\s*\S+", text)
        return tuple(self.seen.setdefault(p, len(self.seen)) for p in pieces)

    def decode(self, ids: Sequence[int]) -> str:
        back = {i: p for p, i in self.seen.items()}
        return "".join(back[i] for i in ids)


@dataclass
class Planted:
    """The white box of a study, planted."""

    plant: Plant
    tokenizer: Words = field(default_factory=Words)
    identity: dict[str, Json] = field(default_factory=lambda: {"name": "planted"})
    closed: bool = False

    def hidden_states(self, prompts: Sequence[str], positions: Any = (-1,)) -> NDArray[np.float32]:
        del positions
        found = np.array([self.plant(p, self.tokenizer) for p in prompts])
        return found[:, :, np.newaxis].astype(np.float32)

    def readout(self, h: NDArray[np.float32]) -> NDArray[np.float32]:
        return h

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        return self.readout(self.hidden_states([str(r.prompt) for r in requests])[:, -1, 0])

    def close(self) -> None:
        self.closed = True
