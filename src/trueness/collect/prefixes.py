"""Prefixes of exactly L token ids, the same on every machine and in every language."""

import hashlib
from collections.abc import Collection, Sequence
from heapq import nsmallest

from trueness.contract.errors import InputError


def passage_prefix(ids: Sequence[int], length: int, *, tile: bool = False) -> tuple[int, ...]:
    """The first ``length`` ids of a passage.

    Raises
    ------
    InputError
        When the passage is shorter, unless ``tile`` repeats it.
    """
    check_length(length)
    if length > len(ids) and not (tile and ids):
        msg = (
            f"passage holds {len(ids)} tokens, {length} wanted. "
            "Give a longer passage, a smaller length, or tile: true."
        )
        raise InputError(msg)
    return tuple(ids[i % len(ids)] for i in range(length))


def shuffled_prefix(
    ids: Sequence[int], length: int, *, seed: int = 0, tile: bool = False
) -> tuple[int, ...]:
    """The first ``length`` ids of a passage, positions sorted by SHA-256 of ``{seed}:{i}``."""
    kept = passage_prefix(ids, length, tile=tile)
    return tuple(kept[i] for i in hash_order(range(length), seed))


def repeated_prefix(token: int, length: int) -> tuple[int, ...]:
    """One id, ``length`` times."""
    check_length(length)
    return (token,) * length


def random_prefix(
    low: int, high: int, length: int, *, seed: int = 0, excluded: Collection[int] = ()
) -> tuple[int, ...]:
    """``length`` ids in ``low`` to ``high`` (exclusive), none of them excluded.

    Draw j = 0, 1, … is low + SHA-256(``{seed}:id:{j}``) mod (high − low).

    Raises
    ------
    InputError
        When no id is left to draw.
    """
    check_length(length)
    barred = frozenset(excluded)
    if high - low <= sum(low <= i < high for i in barred):
        msg = f"no id between {low} and {high} is left to draw; widen the range."
        raise InputError(msg)
    ids: list[int] = []
    j = 0
    while len(ids) < length:
        drawn = low + _sha(f"{seed}:id:{j}") % (high - low)
        j += 1
        if drawn not in barred:
            ids.append(drawn)
    return tuple(ids)


def hash_order(positions: Collection[int], seed: int) -> list[int]:
    """Positions in the order of SHA-256 of ``{seed}:{i}``."""
    return sorted(positions, key=lambda i: _sha(f"{seed}:{i}"))


def hash_first(n_positions: int, seed: int, n: int) -> list[int]:
    """The first ``n`` of the positions from 0 in that order; the others are never held."""
    return nsmallest(n, range(n_positions), key=lambda i: _sha(f"{seed}:{i}"))


def check_length(length: int) -> None:
    """Raise `InputError` for a negative length."""
    if length < 0:
        msg = f"the length of a prefix is {length}; it must be a whole number from 0."
        raise InputError(msg)


def _sha(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest())
