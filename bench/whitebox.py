"""Ratios of the white box: ridge probes, their permutations, block power, rates of products."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from timing import seconds
from trueness.stats.block_power import top_values
from trueness.stats.exponents import Product, growth
from trueness.stats.probes import readers
from trueness.stats.ranks import gold_ranks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_ENTITIES, N_TEMPLATES, N_LAYERS, WIDTH = 32, 5, 31, 576
ENTITY = np.tile(np.arange(N_ENTITIES), N_TEMPLATES)
TEMPLATE = np.repeat(np.arange(N_TEMPLATES), N_ENTITIES)
TOKENS = 49_152


def states() -> NDArray[np.float32]:
    """(items, layers, width): the entity is written faintly, and more so in later layers."""
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(N_ENTITIES, N_LAYERS, WIDTH)).astype(np.float32)
    noise = rng.normal(size=(len(ENTITY), N_LAYERS, WIDTH)).astype(np.float32)
    strength = np.linspace(0, 1, N_LAYERS, dtype=np.float32)[:, np.newaxis]
    return noise + codes[ENTITY] * strength


def logistic(x: Floats, y: Ints, groups: Ints, ridge: float = 1.0) -> float:
    """Accuracy of multinomial logistic regression, group by group left out; the plain rival."""
    hits = 0
    for group in np.unique(groups):
        train, test = groups != group, groups == group
        mean, scale = x[train].mean(axis=0), x[train].std(axis=0)
        a, b = (x[train] - mean) / scale, (x[test] - mean) / scale
        hot = np.eye(N_ENTITIES)[y[train]]

        found = minimize(
            partial(_loss, a, hot, ridge),
            np.zeros(WIDTH * N_ENTITIES),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 200, "gtol": 1e-4},
        )
        scores = b @ found.x.reshape(WIDTH, N_ENTITIES)
        hits += int((scores.argmax(axis=1) == y[test]).sum())
    return hits / len(y)


def _loss(a: Floats, hot: Floats, ridge: float, flat: Floats) -> tuple[float, Floats]:
    w = flat.reshape(WIDTH, N_ENTITIES)
    logs = log_softmax(a @ w, axis=1)
    slope = a.T @ (np.exp(logs) - hot) + ridge * w
    return float(-(logs * hot).sum() + ridge / 2 * (w**2).sum()), slope.ravel()


def ratios(repeats: int = 3) -> list[tuple[str, float, float]]:
    """(name, value, limit) of every figure."""
    x = states()
    layer = x[:, 20].astype(np.float64)
    ridge = seconds(lambda: readers(x, TEMPLATE).probe(ENTITY), repeats) / N_LAYERS
    rival = seconds(lambda: logistic(layer, ENTITY, TEMPLATE), 1)
    made = readers(x, TEMPLATE)
    null = seconds(
        lambda: made.null(
            ENTITY, rng=np.random.default_rng(0), within=TEMPLATE, n_permutations=200
        ),
        1,
    )
    again = 200 * ridge * N_LAYERS
    j = spectrum_of_a_block()
    power = seconds(
        lambda: top_values(lambda v: v @ j.T, lambda u: u @ j, width=WIDTH, k=8), repeats
    )
    whole = seconds(lambda: np.linalg.svd(j, compute_uv=False), repeats)
    steps = [j] * 5
    grown = seconds(lambda: growth(steps, product=Product.TOKEN), repeats)
    qr = 5 * seconds(lambda: np.linalg.qr(j @ j), repeats)
    logits = np.random.default_rng(1).normal(size=(32, TOKENS))
    ranked = seconds(lambda: gold_ranks(logits, range(32)), repeats)
    ordered = seconds(lambda: np.argsort(logits, axis=1), repeats)
    return [
        (
            "white box, ridge probe of a layer over multinomial logistic regression",
            ridge / rival,
            0.1,
        ),
        ("white box, 200 permutations of a probe over fitting each again", null / again, 0.5),
        ("white box, top 8 singular values from two starts over all of them", power / whole, 2.0),
        ("white box, growth rates over their products and QR alone", grown / qr, 3.0),
        ("white box, gold ranks with their law over sorting the logits", ranked / ordered, 3.0),
    ]


def spectrum_of_a_block() -> Floats:
    """A matrix with a spectrum like that of a block: a few large values and a slow tail."""
    rng = np.random.default_rng(2)
    u, v = (np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0] for _ in range(2))
    sigma = 3.0 * np.arange(1, WIDTH + 1) ** -0.3
    found: Floats = (u * sigma) @ v.T
    return found


if __name__ == "__main__":
    for name, value, limit in ratios():
        print(f"{value:8.4f} of at most {limit:5.2f}  {name}")
