"""Six numbers and the greedy token of a next-token law, bit for bit the same in any order."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError

Floats = NDArray[np.float64]

NUMBERS = ("shannon", "renyi2", "varentropy", "varentropy_escort2", "max_p", "margin")
"""What the last axis of ``Observed.numbers`` holds, in this order."""

MASS_TOLERANCE = 1e-6
"""Probabilities sum to 1 up to this; single precision does not do better."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What an observer that reads one law sees of it.

    Parameters
    ----------
    numbers : (..., 6) float64
        In the order of `NUMBERS`; entropies in nats.
    greedy : (...,) int64
        Token of the largest probability, the lowest one of several.
    """

    numbers: Floats
    greedy: NDArray[np.int64]

    def to_dict(self) -> dict[str, float | int]:
        """The numbers of one law by name, and its greedy token.

        Raises
        ------
        ShapeError
            When there are several laws.
        """
        if self.numbers.ndim != 1:
            msg = f"there are laws of shape {self.greedy.shape}; one is wanted. Take one of them."
            raise ShapeError(msg)
        named = dict(zip(NUMBERS, self.numbers.tolist(), strict=True))
        return {**named, "greedy": int(self.greedy)}


def observe(probabilities: ArrayLike) -> Observed:
    r"""The six numbers of every law, and its greedy token.

    Shannon :math:`H = -\sum p \ln p`, Renyi :math:`H_2 = -\ln \sum p^2`, varentropy
    :math:`\sum p (-\ln p - H)^2`, escort varentropy: the variance of :math:`-\ln p` under
    :math:`p^2 / \sum p^2`, largest probability, and its distance to the next. All are computed
    from `canonical_law`, summed one by one in its order, with :math:`0 \ln 0 = 0`.

    Parameters
    ----------
    probabilities : (..., n_tokens) float
        Of every token, in the order of the vocabulary.

    Returns
    -------
    Observed
        It does not see labels: exchanging tokens that are not greedy changes no bit of it.

    Raises
    ------
    ShapeError
        Without tokens.
    InputError
        When a law has a negative or non-finite entry or does not sum to 1.

    Examples
    --------
    >>> observe([0.25, 0.5, 0.25]).numbers.round(4).tolist()
    [1.0397, 0.9808, 0.1201, 0.1068, 0.5, 0.25]
    >>> int(observe([0.25, 0.5, 0.25]).greedy)
    1
    """
    p = np.asarray(probabilities, dtype=np.float64)
    return Observed(_numbers(canonical_law(p)), np.argmax(p, axis=-1).astype(np.int64))


def observe_logits(logits: ArrayLike) -> Observed:
    """What `observe` gives for the softmax of logits, whose sum is taken in canonical order.

    Parameters
    ----------
    logits : (..., n_tokens) float
        ``-inf`` is a token without mass.

    Raises
    ------
    ShapeError
        Without tokens.
    InputError
        When an entry is nan or ``inf``, or a law has no finite one.

    Examples
    --------
    >>> one, other = observe_logits([0.0, 2.0, 1.0, 3.0]), observe_logits([2.0, 1.0, 0.0, 3.0])
    >>> one.numbers.tobytes() == other.numbers.tobytes()
    True
    """
    z = np.asarray(logits, dtype=np.float64)
    _check_shape(z)
    if np.isnan(z).any() or not np.isfinite(z.max(axis=-1)).all():
        msg = "logits hold nan or inf, or a law without a finite one; wanted numbers or -inf. "
        raise InputError(msg + "Look at the model's output for these items.")
    ordered = _descending(z)
    mass = np.exp(ordered - ordered[..., :1])
    law = mass / _in_order(mass)[..., np.newaxis]
    return Observed(_numbers(law), np.argmax(z, axis=-1).astype(np.int64))


def canonical_law(probabilities: ArrayLike) -> Floats:
    """Every law sorted in descending order, float64, without a negative zero.

    Parameters, errors as :func:`observe`.

    Examples
    --------
    >>> canonical_law([0.25, -0.0, 0.75]).tolist()
    [0.75, 0.25, 0.0]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    _check_shape(p)
    if not np.isfinite(p).all() or (p < 0).any():
        msg = "probabilities hold a negative or non-finite entry; wanted numbers in [0, 1]. "
        raise InputError(msg + "Hand logits to observe_logits.")
    law = _descending(p) + 0.0
    worst = float(np.abs(_in_order(law) - 1.0).max(initial=0.0))
    if worst > MASS_TOLERANCE:
        msg = f"a law misses the sum 1 by {worst:.3g}; at most {MASS_TOLERANCE} is rounding. "
        raise InputError(msg + "Give the probability of every token, or use endpoint_bounds.")
    return law


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the first few log-probabilities of a law say about the six numbers.

    Parameters
    ----------
    low, high : (6,) float64
        In the order of `NUMBERS`; equal where the number is known: largest probability, margin.
    greedy : int or None
        Position of the greedy token among those given; None when a token that was not given may
        be as probable.
    """

    low: Floats
    high: Floats
    greedy: int | None

    def to_dict(self) -> dict[str, tuple[float, float]]:
        """Lower and upper end of every number, by name."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return dict(zip(NUMBERS, ends, strict=True))


def endpoint_bounds(logprobs: ArrayLike, *, n_tokens: int) -> Bounds:
    r"""Where the six numbers lie, given the log-probabilities of the most probable tokens.

    With remaining mass :math:`R` on :math:`N` tokens of at most :math:`c`, the smallest probability
    given, the two entropies are least when :math:`R` is packed into as few tokens as :math:`c`
    allows and largest when it is spread evenly; these ends are attained. The varentropies are
    *not* extreme there. Their ends hold for every rest, and need not be attained: for the
    varentropy a rest of two surprises is worst among all whose mean of :math:`1/p` is at most
    :math:`N/R`; for the escort varentropy the rest's moments are bounded one by one.

    Parameters
    ----------
    logprobs : (n_given,) float
        Natural logarithms, of the most probable tokens, in any order; taken as exact.
    n_tokens : int
        Size of the vocabulary.

    Returns
    -------
    Bounds
        Of several equally probable tokens the first one given is called greedy.

    Raises
    ------
    ShapeError
        For another shape, or fewer than two of several tokens: the margin would not be known.
    InputError
        When an entry is nan or positive, or no law has these as its largest probabilities.

    Examples
    --------
    >>> bounds = endpoint_bounds(np.log([0.1, 0.6, 0.2]), n_tokens=50)
    >>> [round(float(end), 3) for end in (bounds.low[0], bounds.high[0])]
    [1.089, 1.474]
    >>> bounds.greedy
    1
    """
    given, p, rest, n_rest = _checked_endpoint(logprobs, n_tokens)
    least = float(p[-1])
    if n_rest == 0 or rest == 0.0:
        ends = [(float(x), float(x)) for x in _numbers(p)[:4]]
    else:
        ends = [
            _shannon_ends(p, rest, n_rest),
            _renyi2_ends(p, rest, n_rest),
            _varentropy_ends(p, rest, n_rest),
            _escort_ends(p, rest, n_rest),
        ]
    widen = 1e-12 if n_rest else 0.0
    low = [max(0.0, a - widen * (1 + abs(a))) for a, _ in ends]
    high = [b + widen * (1 + abs(b)) for _, b in ends]
    exact = _numbers(p)[4:].tolist()
    tied = n_rest > 0 and least == p[0] and rest >= least
    greedy = None if tied else int(np.argmax(given))
    return Bounds(np.array([*low, *exact]), np.array([*high, *exact]), greedy)


def _check_shape(law: Floats) -> None:
    if law.ndim == 0 or law.shape[-1] == 0:
        msg = f"the laws have shape {law.shape}; wanted (..., n_tokens) with at least one token. "
        raise ShapeError(msg + "Give one number for every token.")


def _descending(values: Floats) -> Floats:
    return np.ascontiguousarray(np.sort(values, axis=-1)[..., ::-1])


def _in_order(terms: Floats) -> Floats:
    """Sums over the last axis, one term after the other: no pairing, so no doubt about bits."""
    return np.cumsum(terms, axis=-1)[..., -1]


def _surprise(law: Floats) -> Floats:
    """-ln p, and 0 where there is no mass, so that every weighted sum leaves it out."""
    return -np.log(law, out=np.zeros_like(law), where=law > 0)


def _numbers(law: Floats) -> Floats:
    surprise, squares = _surprise(law), law * law
    shannon, collision = _in_order(law * surprise), _in_order(squares)
    escort = squares / collision[..., np.newaxis]
    mean = _in_order(escort * surprise)
    second = law[..., 1] if law.shape[-1] > 1 else np.zeros_like(shannon)
    numbers = (
        np.maximum(shannon, 0.0),
        np.maximum(-np.log(collision), 0.0),
        _in_order(law * (surprise - shannon[..., np.newaxis]) ** 2),
        _in_order(escort * (surprise - mean[..., np.newaxis]) ** 2),
        law[..., 0],
        law[..., 0] - second,
    )
    return np.stack(numbers, axis=-1) + 0.0


def _checked_endpoint(logprobs: ArrayLike, n_tokens: int) -> tuple[Floats, Floats, float, int]:
    """Logarithms as given, probabilities in canonical order, what is left, on how many tokens."""
    given = np.asarray(logprobs, dtype=np.float64)
    if given.ndim != 1 or not min(2, n_tokens) <= len(given) <= n_tokens or len(given) == 0:
        msg = f"logprobs has shape {given.shape} for {n_tokens} tokens; wanted a list of at least "
        raise ShapeError(msg + "two and at most all of them. Ask for top_logprobs=20.")
    if np.isnan(given).any() or (given > MASS_TOLERANCE).any():
        msg = "a log-probability is nan or positive; wanted natural logarithms of probabilities. "
        raise InputError(msg + "Do not hand in probabilities or percent.")
    p, n_rest = _descending(np.exp(given)), n_tokens - len(given)
    rest, room = 1.0 - float(_in_order(p)), n_rest * float(p[-1])
    if not -MASS_TOLERANCE <= rest <= room + MASS_TOLERANCE:
        msg = (
            f"the probabilities given leave {rest:.6g} for {n_rest} tokens of at most "
            f"{p[-1]:.3g} each; wanted a rest between 0 and {room:.6g}. "
            "Give the largest ones of one law, and the size of its vocabulary."
        )
        raise InputError(msg)
    return given, p, min(max(rest, 0.0), room), n_rest


def _packed(least: float, rest: float) -> tuple[int, float]:
    """How many whole tokens of the least given probability the rest fills, and what is over."""
    whole = int(rest / least)
    return whole, max(0.0, rest - whole * least)


def _shannon_ends(p: Floats, rest: float, n_rest: int) -> tuple[float, float]:
    known, least = float(_in_order(p * _surprise(p))), float(p[-1])
    whole, over = _packed(least, rest)
    packed = -whole * least * np.log(least) - (over * np.log(over) if over else 0.0)
    return known + float(packed), known - rest * float(np.log(rest / n_rest))


def _renyi2_ends(p: Floats, rest: float, n_rest: int) -> tuple[float, float]:
    known, least = float(_in_order(p * p)), float(p[-1])
    whole, over = _packed(least, rest)
    packed, even = whole * least**2 + over**2, rest**2 / n_rest
    return -float(np.log(known + packed)), -float(np.log(known + even))


_REACH, _CELLS = 60.0, 60_000
"""How far beyond its least value the larger surprise is followed, and in how many cells."""
_PEAK = 1.5936242600400401
"""Where s^2 / (e^s - 1) is largest."""


def _varentropy_ends(p: Floats, rest: float, n_rest: int) -> tuple[float, float]:
    """Ends of the variance of the surprise, measured from that of the least given token.

    The rest's surprise s >= 0 has mean(e^s) <= n_rest * least / rest. Concavity puts the minimum
    at s = 0 and the maximum on two values, 0 and s >= s0. The maximum is taken over cells, each
    bounded by its monotone parts, so it is never too small.
    """
    distance = np.log(p[-1]) + _surprise(p)  # <= 0
    first, second = float(_in_order(p * distance)), float(_in_order(p * distance**2))
    s0 = max(float(np.log(n_rest * p[-1] / rest)), 1e-9)
    part = partial(_moments, s0=s0, rest=rest)
    s = np.union1d(np.linspace(s0, s0 + _REACH, _CELLS + 1), max(_PEAK, s0))
    mean, square = part(s)
    best = np.maximum(square, np.append(square[1:], 0.0))  # the peak is a grid point
    inner = np.append(mean[1:], 0.0)
    nearest = np.clip(0.0, first + inner, first + mean)
    return second - first**2, second + float((best - nearest**2).max())


def _moments(s: Floats, *, s0: float, rest: float) -> tuple[Floats, Floats]:
    """First two moments of a rest on the surprises 0 and s with the largest mean(e^s) allowed."""
    weight = np.exp(s0 - s) * np.expm1(-s0) / np.expm1(-s)
    return rest * weight * s, rest * weight * s**2


def _escort_ends(p: Floats, rest: float, n_rest: int) -> tuple[float, float]:
    """Outer ends of the variance of the surprise under squared probabilities.

    With q = c e^-s for a token of the rest: q^2 s^2 <= 4 e^-2 c q and 0 <= q^2 s <= c q / e.
    """
    least, squares = float(p[-1]), p * p
    distance = np.log(least) + _surprise(p)  # <= 0
    known = float(_in_order(squares))
    mean = float(_in_order(squares * distance)) / known
    spread = float(_in_order(squares * (distance - mean) ** 2)) / known
    most, fewest = rest * least, rest**2 / n_rest
    shares = np.array([fewest / (known + fewest), most / (known + most)])
    low = float(((1 - shares) * (spread + shares * mean**2)).min())
    second = (known * (spread + mean**2) + 4 * np.exp(-2) * most) / (known + fewest)
    first = min(0.0, known * mean + most / np.e) / (known + most)
    return low, float(second - first**2)
