"""Numbers of one request: from its own seed alone, never from what shares its batch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_TOKENS, _NOISE = 0, 1


def token_stream(seed: int) -> np.random.Generator:
    """Numbers that choose tokens: Philox 4x64 with key (seed, 0), an exponential for every id."""
    return _stream(seed, _TOKENS)


def embedding_noise(seed: int, n_tokens: int, width: int) -> NDArray[np.float64]:
    """Standard normal noise of an embedding block: Philox 4x64 with key (seed, 1).

    Parameters
    ----------
    seed : int
        Of the draw, from 0.
    n_tokens, width : int

    Returns
    -------
    (n_tokens, width) float64

    Examples
    --------
    >>> embedding_noise(7, 2, 3).shape
    (2, 3)
    >>> bool((embedding_noise(7, 2, 3) == embedding_noise(7, 2, 3)).all())
    True
    """
    return _stream(seed, _NOISE).standard_normal((n_tokens, width))


def noisy(
    block: NDArray[np.float32], sigma: float, seed: int, *, scale: float | None = None
) -> NDArray[np.float32]:
    """Embeddings x with noise: x + sigma · s · z, s the standard deviation of all entries of x.

    Parameters
    ----------
    block : (T, D) float32
        The prompt's own embeddings; s has the denominator T·D - 1.
    sigma : float
        From 0.
    seed : int
    scale : float or None
        Instead of s.

    Returns
    -------
    (T, D) float32

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    >>> bool((noisy(x, 0.0, 1) == x).all())
    True
    """
    wide = block.astype(np.float64)  # (T, D)
    if scale is None:
        scale = float(wide.std(ddof=1)) if wide.size > 1 else 0.0
    return (wide + sigma * scale * embedding_noise(seed, *block.shape)).astype(np.float32)


def drawn(
    logits: NDArray[np.float32], temperature: float, top_p: float, stream: np.random.Generator
) -> int:
    """A token id with probability proportional to exp(z / temperature), by the Gumbel maximum.

    Every id has noise of its own, so that a rounding of the logits changes the token only where two
    noisy logits are as close as the rounding: the inverse of a distribution function would not do.
    With ``top_p`` below 1 only the smallest set of likeliest ids that holds it can be drawn.

    Examples
    --------
    >>> z = np.array([0.0, 50.0, 1.0], np.float32)
    >>> drawn(z, 1.0, 1.0, token_stream(3))
    1
    """
    scaled = logits.astype(np.float64) / temperature
    noisy_logits = scaled - np.log(stream.standard_exponential(len(scaled)))
    if top_p < 1:
        p = np.exp(scaled - scaled.max())
        order = np.argsort(-p, kind="stable")
        reach = np.cumsum(p[order])
        n_kept = int(np.searchsorted(reach, top_p * reach[-1])) + 1
        noisy_logits[order[n_kept:]] = -np.inf
    return int(np.argmax(noisy_logits))


def _stream(seed: int, purpose: int) -> np.random.Generator:
    key: Any = np.array([seed, purpose], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))
