"""Inner products in pieces: what plain sums give, whatever the pieces, the order and the size."""

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.stats import products
from trueness.stats.products import inner_products, products_among, times
from trueness.stats.span_columns import measure_columns

Floats = NDArray[np.float64]


def drawn(sets: int, n: int, m: int, d: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([sets, n, m, d])
    return rng.normal(size=(sets, n, d)), rng.normal(size=(sets, m, d))


@pytest.mark.parametrize("d", [1, 3, 384, 1100])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (4, 3), (9, 1), (17, 8), (64, 1), (64, 2)])
def test_products_are_plain_sums(n: int, m: int, d: int) -> None:
    rows, claims = drawn(3, n, m, d)
    found = inner_products(rows, claims)
    np.testing.assert_allclose(found.among, np.einsum("sid,sjd->sij", rows, rows), atol=1e-11)
    np.testing.assert_allclose(found.among, found.among.swapaxes(1, 2), atol=1e-12)
    np.testing.assert_allclose(found.between, np.einsum("scd,sid->sci", claims, rows), atol=1e-11)
    np.testing.assert_allclose(found.squares, (claims**2).sum(axis=2), atol=1e-11)
    np.testing.assert_array_equal(products_among(rows), found.among)
    assert found.plain.all()


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 2), (5, 1), (5, 3), (64, 1)])
def test_residuals_are_those_of_weighted_sums(n: int, m: int) -> None:
    rows, claims = drawn(4, n, m, 300)
    weights = np.random.default_rng(1).normal(size=(4, m, n))
    rest = claims - np.einsum("sci,sid->scd", weights, rows)
    wanted = (rest**2).sum(axis=2)
    np.testing.assert_allclose(inner_products(rows, claims).residuals(weights), wanted, rtol=1e-12)


def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, claims = drawn(20, 6, 2, 50)
    whole = inner_products(rows, claims)
    monkeypatch.setattr(products, "_CACHE_BYTES", 1)
    parts = inner_products(rows, claims)
    np.testing.assert_array_equal(parts.among, whole.among)
    np.testing.assert_array_equal(parts.between, whole.between)
    weights = np.ones((20, 2, 6))
    np.testing.assert_array_equal(parts.residuals(weights), whole.residuals(weights))


def test_rows_are_taken_in_the_order_asked_for() -> None:
    rows, claims = drawn(7, 5, 2, 40)
    order = np.random.default_rng(2).permuted(np.tile(np.arange(5), (7, 1)), axis=1)
    found = inner_products(rows, claims, order=order)
    sorted_rows = np.take_along_axis(rows, order[:, :, None], axis=1)
    np.testing.assert_array_equal(found.rows, sorted_rows)
    np.testing.assert_array_equal(found.among, inner_products(sorted_rows, claims).among)
    some = found.take(np.array([5, 1]))
    np.testing.assert_array_equal(some.rows, sorted_rows[[5, 1]])
    np.testing.assert_array_equal(some.between, found.between[[5, 1]])


@pytest.mark.parametrize("bad", [0.0, 1e-20, 1e20, np.inf, np.nan])
def test_sets_of_other_than_ordinary_numbers_are_not_plain(bad: float) -> None:
    rows, claims = drawn(4, 3, 2, 8)
    rows[1, 2] = bad
    claims[3, 1] = bad
    with np.errstate(over="ignore", invalid="ignore"):
        found = inner_products(rows, claims)
    assert found.plain.tolist() == [True, False, True, False]
    np.testing.assert_array_equal(found.among[2], inner_products(rows[2:3], claims[2:3]).among[0])


@pytest.mark.parametrize("shape", [(1, 1, 4, 3), (3, 2, 1, 5), (2, 9, 70, 50), (1, 40, 64, 400)])
def test_pieces_of_a_product_are_the_product(shape: tuple[int, int, int, int]) -> None:
    s, m, k, p = shape
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=(s, m, k)), rng.normal(size=(s, k, p))
    np.testing.assert_allclose(times(left, right), left @ right, atol=1e-12)


@pytest.mark.parametrize("n", [2, 4, 9, 16, 33, 64])
def test_the_order_of_the_passages_changes_no_bit(n: int) -> None:
    rows, claims = drawn(5, n, 1, 120)
    order = np.random.default_rng(4).permutation(n)
    before = measure_columns(claims, rows, influence=True)
    after = measure_columns(claims, rows[:, order], influence=True)
    np.testing.assert_array_equal(after.code, before.code)
    for name, values in before.numbers.items():
        np.testing.assert_array_equal(after.numbers[name], values)
    for name, values in before.axes.items():
        np.testing.assert_array_equal(after.axes[name], values)
    assert before.influence is not None
    assert after.influence is not None
    np.testing.assert_array_equal(after.influence, before.influence[:, :, order])
