"""Where the right token stands among all others, and two controls that make its rank say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats: TypeAlias = NDArray[np.float64]
Golds: TypeAlias = Sequence[int] | Sequence[Sequence[int]] | NDArray[np.integer]

NOT_FINITE = "non-finite logit"
CONSTANT = "all logits are equal: no gap in units of their spread"


@dataclass(frozen=True, slots=True, eq=False)
class GoldRanks:
    """Rank of the gold token and its distance to the chosen one, item by item.

    Where a number does not exist it is nan. A constant row still has a rank and a gap.

    Parameters
    ----------
    states : tuple of State
        ``MEASURED``, or ``DEGENERATE`` for a non-finite logit or a constant row.
    reasons : tuple of (str or None)
    gold : (n,) int64
        The alias that ranks best, the lowest token of several.
    n_aliases : (n,) int64
        How many tokens counted as gold.
    chosen : (n,) int64
        Token of the largest logit, the lowest one of several; -1 in a row that is not finite.
    rank, rank_worst : (n,) float64
        1 + the number of tokens above gold; and with those level with it.
    gap, gap_sd : (n,) float64
        Largest logit minus gold's, in nats; the same in population standard deviations.
    logit_sd : (n,) float64
    p_chosen, p_gold, effective_support : (n,) float64
        Probabilities, and the exponential of the entropy.
    n_surplus : int
        Rows of the unembedding without a token; they are in none of the numbers.
    """

    states: tuple[State, ...]
    reasons: tuple[str | None, ...]
    gold: NDArray[np.int64]
    n_aliases: NDArray[np.int64]
    chosen: NDArray[np.int64]
    rank: Floats
    rank_worst: Floats
    gap: Floats
    gap_sd: Floats
    logit_sd: Floats
    p_chosen: Floats
    p_gold: Floats
    effective_support: Floats
    n_surplus: int


def gold_ranks(logits: ArrayLike, golds: Golds, *, n_tokens: int | None = None) -> GoldRanks:
    r"""Rank of gold :math:`1 + \#\{v : z_v > z_g\}` and its gap :math:`\max z - z_g`.

    It does not show that gold would win under any intervention, that a small ``gap_sd`` is a
    near-tie in probability, or anything about right items: wrong ones have rank 2 or more by
    definition.

    Parameters
    ----------
    logits : (n, V) float
        At the last token of each prompt.
    golds : (n,) int, or n sequences of int
        The right token of each item, or several that count as right.
    n_tokens : int, optional
        How many rows of the unembedding have a token; V when left out.

    Raises
    ------
    ShapeError
        When the logits are no matrix or there is not one gold an item.
    InputError
        For an item without gold, or a gold that is no token.

    Examples
    --------
    >>> found = gold_ranks([[3.0, 1.0, 2.0, 0.0]], [2])
    >>> found.rank.tolist(), found.gap.tolist(), found.gap_sd.round(4).tolist()
    ([2.0], [1.0], [0.8944])
    """
    z, surplus = _logits(logits, n_tokens)
    aliases = _aliases(golds, len(z), z.shape[1])
    finite = np.asarray(np.isfinite(z).all(axis=1))
    safe = np.where(finite[:, np.newaxis], z, 0.0)
    top = safe.max(axis=1)
    best = np.array(
        [a[int(np.argmax(row[a]))] for row, a in zip(safe, aliases, strict=True)], np.int64
    )
    at = safe[np.arange(len(z)), best]
    gap, flat = top - at, top == safe.min(axis=1)
    sd = np.where(flat, 0.0, safe.std(axis=1))
    p_chosen, entropy = _chosen_and_entropy(safe - top[:, np.newaxis])
    numbers = {
        "rank": 1.0 + (safe > at[:, np.newaxis]).sum(axis=1),
        "rank_worst": 0.0 + (safe >= at[:, np.newaxis]).sum(axis=1),
        "gap": gap,
        "gap_sd": np.divide(gap, sd, out=np.full(len(z), np.nan), where=sd > 0),
        "logit_sd": sd,
        "p_chosen": p_chosen,
        "p_gold": p_chosen * np.exp(-gap),
        "effective_support": np.exp(entropy),
    }
    states = [_state(bool(f), bool(c)) for f, c in zip(finite, flat, strict=True)]
    return GoldRanks(
        states=tuple(s for s, _ in states),
        reasons=tuple(r for _, r in states),
        gold=best,
        n_aliases=np.array([len(a) for a in aliases], np.int64),
        chosen=np.where(finite, safe.argmax(axis=1), -1).astype(np.int64),
        **{name: np.where(finite, values, np.nan) for name, values in numbers.items()},
        n_surplus=surplus,
    )


def token_ranks(logits: ArrayLike, golds: Golds, *, n_tokens: int | None = None) -> Floats:
    """Ranks of the golds alone, in one pass over the logits: for a lens, layer by layer.

    Parameters, errors as :func:`gold_ranks`; equal to its ``rank``.

    Examples
    --------
    >>> token_ranks([[3.0, 1.0, 2.0, 0.0]], [2]).tolist()
    [2.0]
    """
    z, _ = _logits(logits, n_tokens)
    aliases = _aliases(golds, len(z), z.shape[1])
    out = np.full(len(z), np.nan)
    for i, (row, own) in enumerate(zip(z, aliases, strict=True)):
        if np.isfinite(row).all():
            out[i] = 1 + np.count_nonzero(row > row[own].max())
    return out


def ranks_in_answers(
    logits: ArrayLike, golds: Golds, answers: Sequence[int], *, n_tokens: int | None = None
) -> Floats:
    """Rank of gold among the answers of its relation alone; at chance (n_answers + 1) / 2.

    Parameters
    ----------
    logits : (n, V) float
    golds : (n,) int, or n sequences of int
        Several count as the best of them.
    answers : sequence of int
        Tokens of the answer set.
    n_tokens : int, optional

    Returns
    -------
    (n,) float64
        nan for a row that is not finite, and for a gold outside of the answers.

    Raises
    ------
    ShapeError, InputError
        As :func:`gold_ranks`.

    Examples
    --------
    >>> ranks_in_answers([[9.0, 1.0, 2.0, 0.0]], [1], [1, 2, 3]).tolist()
    [2.0]
    """
    z, _ = _logits(logits, n_tokens)
    aliases = _aliases(golds, len(z), z.shape[1])
    within = np.unique(_tokens(answers, z.shape[1], "answers"))
    out = np.full(len(z), np.nan)
    for i, (row, own) in enumerate(zip(z, aliases, strict=True)):
        own = own[np.isin(own, within)]  # noqa: PLW2901 - only golds of the answer set
        if len(own) and np.isfinite(row).all():
            out[i] = 1 + int((row[within] > row[own].max()).sum())
    return out


def ranks_of_others(logits: ArrayLike, golds: Golds, *, n_tokens: int | None = None) -> Floats:
    """Median rank of the other items' golds on each item: as good as gold's, only a type is held.

    Parameters
    ----------
    logits : (n, V) float
        Items of one relation.
    golds : (n,) int, or n sequences of int
    n_tokens : int, optional

    Returns
    -------
    (n,) float64
        Over distinct tokens that are no gold of the item; nan where there is none, or a logit is
        not finite.

    Raises
    ------
    ShapeError, InputError
        As :func:`gold_ranks`.

    Examples
    --------
    >>> ranks_of_others([[4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]], [0, 3]).tolist()
    [4.0, 1.0]
    """
    z, _ = _logits(logits, n_tokens)
    aliases = _aliases(golds, len(z), z.shape[1])
    every = np.unique(np.concatenate([np.zeros(0, np.int64), *aliases]))
    out = np.full(len(z), np.nan)
    for i, (row, own) in enumerate(zip(z, aliases, strict=True)):
        others = every[~np.isin(every, own)]
        if len(others) and np.isfinite(row).all():
            below = np.searchsorted(np.sort(row), row[others], side="right")
            out[i] = float(np.median(1 + len(row) - below))
    return out


def _logits(logits: ArrayLike, n_tokens: int | None) -> tuple[Floats, int]:
    z = np.asarray(logits, dtype=np.float64)
    if z.ndim != 2 or z.shape[1] == 0:  # noqa: PLR2004 - items by tokens
        msg = f"logits have shape {z.shape}; wanted (n_items, n_tokens). Give one row an item."
        raise ShapeError(msg)
    width = z.shape[1] if n_tokens is None else n_tokens
    if not 1 <= width <= z.shape[1]:
        msg = (
            f"n_tokens is {width} and the logits have {z.shape[1]} columns; wanted a number from 1 "
            "to that. Give how many tokens the tokenizer has."
        )
        raise InputError(msg)
    return z[:, :width], z.shape[1] - width


def _chosen_and_entropy(below: Floats) -> tuple[Floats, Floats]:
    """(n,) twice: the largest probability, and the entropy in nats, of logits less their largest.

    The order of tokens may move the last bits, which the six numbers of one pass do not allow.
    """
    mass = np.exp(below)
    total = mass.sum(axis=1)
    entropy: Floats = np.maximum(np.log(total) - np.einsum("iv,iv->i", mass, below) / total, 0.0)
    return 1.0 / total, entropy


def _aliases(golds: Golds, n: int, width: int) -> list[NDArray[np.int64]]:
    """The distinct tokens that count as right, in order, for every item."""
    if len(golds) != n:
        msg = f"there are {len(golds)} golds for {n} items; wanted one, or one list, an item."
        raise ShapeError(msg)
    found = [np.unique(_tokens(np.atleast_1d(np.asarray(g)), width, "golds")) for g in golds]
    bare = [i for i, a in enumerate(found) if not len(a)]
    if bare:
        msg = f"item {bare[0]} has no gold; wanted at least one token. Leave such items out."
        raise InputError(msg)
    return found


def _tokens(tokens: ArrayLike, width: int, what: str) -> NDArray[np.int64]:
    found = np.asarray(tokens)
    if found.size == 0:
        return np.zeros(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= width:
        msg = f"{what} hold {tokens!r}; wanted whole numbers from 0 to {width - 1}. Give token ids."
        raise InputError(msg)
    return found.astype(np.int64)


def _state(finite: bool, constant: bool) -> tuple[State, str | None]:  # noqa: FBT001 - two facts of one row
    if not finite:
        return State.DEGENERATE, NOT_FINITE
    return (State.DEGENERATE, CONSTANT) if constant else (State.MEASURED, None)
