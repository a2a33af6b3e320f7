"""The forward pass of a BERT encoder in NumPy: token ids to one unit vector a text."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]

_EPSILON = np.float32(1e-12)
_BLOCK = 1 << 14
"""Numbers that an element-wise step works on at once: they stay in the cache."""
_P = np.float32(0.3275911 * 0.5**0.5)
_A = tuple(
    np.float32(0.5 * a) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
)
"""Abramowitz and Stegun, formula 7.1.26, highest power first; for a normal tail."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One block; matrices stand so that rows of tokens are multiplied from the left."""

    qkv: Float32
    qkv_bias: Float32
    out: Float32
    out_bias: Float32
    norm: tuple[Float32, Float32]
    up: Float32
    up_bias: Float32
    down: Float32
    down_bias: Float32
    last_norm: tuple[Float32, Float32]


@dataclass(frozen=True, slots=True)
class Bert:
    """Weights of an encoder, ready to use.

    Parameters
    ----------
    words : (n_vocabulary, d) float32
    positions : (n_positions, d) float32
        The type embedding is added already.
    norm : pair of (d,) float32
        Scale and shift.
    layers : tuple of Layer
    n_heads : int
    """

    words: Float32
    positions: Float32
    norm: tuple[Float32, Float32]
    layers: tuple[Layer, ...]
    n_heads: int

    @classmethod
    def of(cls, weights: Mapping[str, Float32], *, n_layers: int, n_heads: int) -> "Bert":
        """From a checkpoint's arrays under their usual names.

        Raises
        ------
        KeyError
            When an array is missing.
        """
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        return cls(
            words=weights["embeddings.word_embeddings.weight"],
            positions=weights["embeddings.position_embeddings.weight"] + kind,
            norm=_pair(weights, "embeddings.LayerNorm"),
            layers=tuple(_layer(weights, f"encoder.layer.{i}.") for i in range(n_layers)),
            n_heads=n_heads,
        )

    def vectors(self, ids: NDArray[np.int64]) -> Float32:
        """Unit vectors: the mean over a text's tokens, scaled to length 1.

        Texts of one call have the same length, so there is no padding. Every matrix product is
        taken text by text, so that a text's bits do not depend on the texts beside it.

        Parameters
        ----------
        ids : (n_texts, n_tokens) int
            Special tokens included, at least two a text.

        Returns
        -------
        (n_texts, d) float32
        """
        n = ids.shape[1]
        x = normalise(self.words[ids] + self.positions[:n], *self.norm)  # (B, n, d)
        for layer in self.layers:
            x = self._block(x, layer)
        pooled: Float32 = x.mean(axis=1)
        pooled /= np.sqrt((pooled * pooled).sum(axis=1, keepdims=True))
        return pooled

    def _block(self, x: Float32, layer: Layer) -> Float32:
        found = self._attend(x, layer) @ layer.out
        found += layer.out_bias
        found += x
        x = normalise(found, *layer.norm)
        inner = x @ layer.up
        inner += layer.up_bias
        found = gelu(inner) @ layer.down
        found += layer.down_bias
        found += x
        return normalise(found, *layer.last_norm)

    def _attend(self, x: Float32, layer: Layer) -> Float32:
        texts, n, d = x.shape
        mixed = x @ layer.qkv
        mixed += layer.qkv_bias
        heads = mixed.reshape(texts, n, 3, self.n_heads, -1).transpose(2, 0, 3, 1, 4)
        query, key, value = heads  # each (B, heads, n, d / heads)
        scores = query @ key.swapaxes(-1, -2)
        scores *= np.float32(query.shape[-1] ** -0.5)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        found: Float32 = (scores @ value).transpose(0, 2, 1, 3).reshape(texts, n, d)
        return found


def normalise(x: Float32, scale: Float32, shift: Float32) -> Float32:
    """Rows with mean 0 and variance 1, then scaled and shifted; works in place.

    >>> normalise(np.float32([[1, 3]]), np.float32([1, 1]), np.float32([0, 0])).tolist()
    [[-1.0, 1.0]]
    """
    x -= x.mean(axis=-1, keepdims=True)
    spread = (x * x).mean(axis=-1, keepdims=True)
    x /= np.sqrt(spread + _EPSILON)
    x *= scale
    x += shift
    return x


def gelu(x: Float32) -> Float32:
    r"""``x Phi(x)`` with the normal distribution function ``Phi``; works in place.

    It is :math:`\max(x, 0) - |x|\,Q(|x|)` with the upper tail ``Q`` of the normal distribution from
    Abramowitz and Stegun 7.1.26, :math:`Q = \tfrac12 t(a_1 + \dots + a_5 t^4) e^{-x^2/2}`,
    :math:`t = 1/(1 + p|x|/\sqrt2)`, whose error is that of single precision.

    >>> gelu(np.array([0, 20, -20], np.float32)).tolist()
    [0.0, 20.0, 0.0]
    """
    flat = x.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        part = flat[start : start + _BLOCK]
        size = np.abs(part)
        np.maximum(part, np.float32(0), out=part)
        part -= size * _upper_tail(size)
    return x


def _upper_tail(x: Float32) -> Float32:
    """Probability that a normal variable exceeds x, for x of at least 0."""
    t = x * _P
    t += np.float32(1)
    np.reciprocal(t, out=t)
    tail = t * _A[0]
    for a in _A[1:]:
        tail += a
        tail *= t
    np.multiply(x, x, out=t)
    t *= np.float32(-0.5)
    np.exp(t, out=t)
    tail *= t
    return tail


def _layer(weights: Mapping[str, Float32], at: str) -> Layer:
    heads = [f"{at}attention.self.{name}" for name in ("query", "key", "value")]
    return Layer(
        qkv=_columns(np.concatenate([weights[f"{name}.weight"] for name in heads])),
        qkv_bias=np.concatenate([weights[f"{name}.bias"] for name in heads]),
        out=_columns(weights[f"{at}attention.output.dense.weight"]),
        out_bias=weights[f"{at}attention.output.dense.bias"],
        norm=_pair(weights, f"{at}attention.output.LayerNorm"),
        up=_columns(weights[f"{at}intermediate.dense.weight"]),
        up_bias=weights[f"{at}intermediate.dense.bias"],
        down=_columns(weights[f"{at}output.dense.weight"]),
        down_bias=weights[f"{at}output.dense.bias"],
        last_norm=_pair(weights, f"{at}output.LayerNorm"),
    )


def _pair(weights: Mapping[str, Float32], name: str) -> tuple[Float32, Float32]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _columns(matrix: Float32) -> Float32:
    return np.ascontiguousarray(matrix.T)
