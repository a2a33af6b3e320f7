import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.backends.bert import Bert, Float32, gelu, normalise

WIDTH, HEADS, LAYERS, WORDS, PLACES = 24, 3, 2, 40, 32


def _weights(seed: int) -> dict[str, Float32]:
    """A tiny random checkpoint under the usual names."""
    draw = np.random.default_rng(seed)

    def some(*shape: int) -> Float32:
        return (draw.standard_normal(shape) * 0.3).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": some(WORDS, WIDTH),
        "embeddings.position_embeddings.weight": some(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": some(2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        shapes = {f"attention.self.{n}": (WIDTH, WIDTH) for n in ("query", "key", "value")}
        shapes |= {"attention.output.dense": (WIDTH, WIDTH)}
        shapes |= {"intermediate.dense": (4 * WIDTH, WIDTH), "output.dense": (WIDTH, 4 * WIDTH)}
        for name, (rows, columns) in shapes.items():
            found |= {f"{at}{name}.weight": some(rows, columns), f"{at}{name}.bias": some(rows)}
        norms += [f"{at}attention.output.LayerNorm", f"{at}output.LayerNorm"]
    for name in norms:
        found |= {f"{name}.weight": 1 + some(WIDTH), f"{name}.bias": some(WIDTH)}
    return found


def _plain_vector(weights: dict[str, Float32], ids: list[int]) -> NDArray[np.float64]:
    """The same, written from the definition: float64, one token and one head at a time."""
    w: dict[str, Any] = {name: array.astype(np.float64) for name, array in weights.items()}

    def dense(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = w[f"{name}.weight"] @ x + w[f"{name}.bias"]
        return found

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        level = (x - x.mean()) / math.sqrt(x.var() + 1e-12)
        found: NDArray[np.float64] = level * w[f"{name}.weight"] + w[f"{name}.bias"]
        return found

    kind = w["embeddings.token_type_embeddings.weight"][0]
    states = [
        norm(
            "embeddings.LayerNorm",
            w["embeddings.word_embeddings.weight"][word]
            + w["embeddings.position_embeddings.weight"][place]
            + kind,
        )
        for place, word in enumerate(ids)
    ]
    size = WIDTH // HEADS
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        q, k, v = (
            [dense(f"{at}attention.self.{n}", x) for x in states] for n in ("query", "key", "value")
        )
        new = []
        for t, x in enumerate(states):
            parts = []
            for h in range(HEADS):
                own = slice(h * size, (h + 1) * size)
                scores = [math.exp(q[t][own] @ key[own] / math.sqrt(size)) for key in k]
                mixed = [s * value[own] for s, value in zip(scores, v, strict=True)]
                parts.append(np.sum(mixed, axis=0) / sum(scores))
            out = dense(f"{at}attention.output.dense", np.concatenate(parts))
            kept = norm(f"{at}attention.output.LayerNorm", out + x)
            inner = dense(f"{at}intermediate.dense", kept)
            inner = np.array([z * 0.5 * math.erfc(-z / math.sqrt(2)) for z in inner])
            new.append(norm(f"{at}output.LayerNorm", dense(f"{at}output.dense", inner) + kept))
        states = new
    mean: NDArray[np.float64] = np.mean(states, axis=0)
    return mean / np.linalg.norm(mean)


def _bert(seed: int = 0) -> Bert:
    return Bert.of(_weights(seed), n_layers=LAYERS, n_heads=HEADS)


@given(st.integers(0, 9), st.lists(st.integers(0, WORDS - 1), min_size=2, max_size=PLACES))
def test_the_forward_pass_equals_one_written_from_the_definition(seed: int, ids: list[int]) -> None:
    found = _bert(seed).vectors(np.array([ids]))
    assert np.abs(found[0] - _plain_vector(_weights(seed), ids)).max() < 5e-6


@given(st.integers(2, PLACES), st.integers(1, 9), st.integers(0, 99))
def test_a_text_has_the_same_bits_in_any_batch(n: int, texts: int, seed: int) -> None:
    bert = _bert()
    ids = np.random.default_rng(seed).integers(0, WORDS, (texts, n))
    together = bert.vectors(ids)
    assert all(np.array_equal(bert.vectors(ids[i : i + 1])[0], together[i]) for i in range(texts))
    assert np.array_equal(bert.vectors(ids[::-1]), together[::-1])


def test_gelu_is_that_of_the_normal_distribution_in_single_precision() -> None:
    x = np.linspace(-20, 20, 400_001).astype(np.float32)
    exact = np.array([z * 0.5 * math.erfc(-z / math.sqrt(2)) for z in x.astype(np.float64)])
    assert np.abs(gelu(x.copy()) - exact).max() < 5e-7
    blocks = gelu(x[:400_000].reshape(400, 1000).copy())
    assert np.array_equal(blocks.ravel(), gelu(x[:400_000].copy()))


def test_normalised_rows_have_mean_zero_and_variance_one() -> None:
    x = np.random.default_rng(0).standard_normal((5, 384)).astype(np.float32) * 7 + 3
    one, zero = np.ones(384, np.float32), np.zeros(384, np.float32)
    found = normalise(x, one, zero)
    assert np.abs(found.mean(axis=1)).max() < 1e-6
    assert np.abs(found.var(axis=1) - 1).max() < 1e-5


def test_a_checkpoint_that_lacks_an_array_is_noticed() -> None:
    weights = _weights(0)
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(KeyError, match=r"output\.dense\.bias"):
        Bert.of(weights, n_layers=LAYERS, n_heads=HEADS)
