"""Log-probabilities of given texts, read with their prompts or behind one that several share."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trueness.backends.local.batch import Row
from trueness.backends.local.passes import Engine
from trueness.backends.scoring import Scored

MOST_LOGITS = 1 << 26
"""So many logits are held at once, while texts are scored and behind answers."""


@dataclass(frozen=True, slots=True)
class Forced:
    """A text behind its prompt, both as ids."""

    key: tuple[str, str]
    prompt: tuple[int, ...]
    text: tuple[int, ...]


def scored(engine: Engine, waiting: Sequence[Forced], batch_size: int) -> Iterator[Scored]:
    """Sum of the log-probabilities of every text, batch by batch of like length.

    A prompt that several texts follow is read once for all of them, where nothing intervenes.
    """
    for front, group in _groups(engine, waiting):
        group.sort(key=lambda each: (len(each.prompt) + len(each.text), each.key))
        start = 0
        while start < len(group):
            size = batch_size if engine.can_branch else 1  # states read padding too
            while size > 1 and _held(engine, group[start : start + size]) > MOST_LOGITS:
                size //= 2
            yield from _scored(engine, group[start : start + size], front)
            start += size


def _groups(engine: Engine, waiting: Sequence[Forced]) -> Iterator[tuple[int, list[Forced]]]:
    """Texts that go through together, and how many ids in front of all are read once."""
    reuses = engine.can_branch and not engine.n_intervening
    times = Counter(each.prompt for each in waiting)
    groups: dict[tuple[tuple[int, ...], int], list[Forced]] = {}
    for each in waiting:
        shared = each.prompt[:-1] if reuses and times[each.prompt] > 1 else ()
        # padding takes places of a window behind what was read before
        length = len(each.text) if shared and engine.has_window else 0
        groups.setdefault((shared, length), []).append(each)
    for (shared, _), group in groups.items():
        yield len(shared), group


def _held(engine: Engine, batch: Sequence[Forced]) -> int:
    return len(batch) * max(len(each.text) + 1 for each in batch) * engine.n_rows


def _scored(engine: Engine, batch: Sequence[Forced], front: int) -> Iterator[Scored]:
    torch = engine.torch
    keep = max(len(each.text) for each in batch) + 1
    logits = engine.read(
        [Row((*each.prompt, *each.text)) for each in batch],
        keep=keep,
        prompt_lengths=[len(each.prompt) for each in batch],
        prefix=front,
    )
    for each, z in zip(batch, logits.float(), strict=True):
        places = z[keep - 1 - len(each.text) : keep - 1]  # (len(text), V)
        mass = torch.logsumexp(places, dim=-1)
        forced = torch.tensor(each.text, device=z.device)[:, None]
        steps = (places.gather(1, forced)[:, 0] - mass).cpu().double()
        total = float(steps.sum())
        if np.isfinite(total):
            yield Scored(each.key, total, len(each.text))
        else:
            yield Scored(each.key, None, len(each.text), "non_finite_logits")
