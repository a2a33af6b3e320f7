"""What goes through a model together: prompts, where their tokens stand, and how far they are."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt of a batch: its ids, and noise on their embeddings where it is wanted."""

    ids: tuple[int, ...]
    noise: float = 0.0
    seed: int = 0
    scale: str = "prompt"


@dataclass(frozen=True, slots=True)
class Moment:
    """What a forward pass computes, for what intervenes in it.

    Parameters
    ----------
    positions : (B, S) long
        Place of every column in its own row, from the first real token.
    real : (B, S) bool
        False for padding.
    lengths : (B,) long
        Tokens of every prompt: a column from there on is written text.
    """

    positions: Any
    real: Any
    lengths: Any


@dataclass(slots=True)
class Flow:
    """A batch that goes on: its cache, and which of its columns are real."""

    cache: Any
    mask: Any  # (B, columns so far)
    lengths: Any  # (B,) real tokens so far
    prompt_lengths: Any
    logits: Any  # (B, V) after the last column
