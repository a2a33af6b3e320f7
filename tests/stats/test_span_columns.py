"""Spans as columns: what single spans say, for arrays with every kind of trouble in them."""

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats import span_columns
from trueness.stats.span import Span, measure_span, measure_spans
from trueness.stats.span_axes import AXES
from trueness.stats.span_columns import REASONS, measure_columns
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules

Floats = NDArray[np.float64]

RULES = [
    SpanRules(),
    SpanRules(rank="cap", cap=2, embedding_noise=1e-9),
    SpanRules(rank="variance", q=0.7),
    SpanRules(dedup="none"),
    SpanRules(selection="top", selected=3),
]


def troubled(seed: int = 0) -> tuple[Floats, Floats]:
    """Sets that are plain, repeat a row, hold zeros, are not finite, extreme, tied, or whole."""
    rng = np.random.default_rng(seed)
    claims, rows = rng.normal(size=(14, 5)), rng.normal(size=(14, 5, 5))
    rows[:, :, 4] = 0.0
    rows[:, 3] = rows[:, 0] + rows[:, 1]
    rows[1, 2] = 4 * rows[1, 0]
    rows[2, 2] = 0.0
    rows[3] = 0.0
    rows[4, 1, 1] = np.nan
    claims[5] = np.inf
    claims[6] = 0.0
    rows[7] *= 1e160
    claims[8] *= 1e-25
    rows[9] = np.eye(5)
    rows[10, :4] = np.eye(5)[:4]
    rows[11] = np.eye(5)[[0, 0, 1, 2, 3]] + 1e-3 * rows[11]
    rows[12] = rows[12, :1]
    return claims, rows


def check(span: Span, columns: span_columns.SpanColumns, s: int, c: int) -> None:
    assert columns.states()[s][c] is span.state
    assert REASONS[columns.code[s, c]] == (span.reason or REASONS[0])
    assert (columns.rank[s, c], columns.retained[s, c]) == (span.rank or 0, span.r or 0)
    same(columns.energy[s, c], span.energy)
    same(columns.relative[s, c], span.relative)
    low, high = span.bracket or (None, None)
    for name, wanted in (
        ("explained", span.explained),
        ("noise_bound", span.noise_bound),
        ("cutoff_gap", span.cutoff_gap),
        ("low", low),
        ("high", high),
    ):
        same(columns.numbers[name][s, c], wanted)
    for name in AXES:
        same(columns.axes[name][s, c], span.axes.get(name))
    assert columns.influence is not None
    for members, value in zip(span.clusters, span.influence or (), strict=False):
        same(columns.influence[s, c, members[0]], value)


def same(found: float, wanted: float | None) -> None:
    assert found == pytest.approx(np.nan if wanted is None else wanted, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("rules", RULES)
def test_columns_say_what_single_spans_say(rules: SpanRules) -> None:
    claims, rows = troubled()
    columns = measure_columns(claims, rows, rules=rules, influence=True)
    for s, (claim, evidence) in enumerate(zip(claims, rows, strict=True)):
        check(measure_span(claim, evidence, rules=rules), columns, s, 0)
    states = {state for line in columns.states() for state in line}
    assert {State.MEASURED, State.DEGENERATE} <= states
    assert (State.NOT_APPLICABLE in states) == (rules.rank == "full" and rules.selection == "all")


@pytest.mark.parametrize("rules", RULES)
def test_columns_of_shared_evidence_say_it_too(rules: SpanRules) -> None:
    _, rows = troubled(1)
    claims = np.random.default_rng(8).normal(size=(14, 3, 5))
    columns = measure_columns(claims, rows, rules=rules, influence=True)
    for s in range(14):
        spans = measure_spans([SpanItem(c, rows[s].copy()) for c in claims[s]], rules=rules)
        for c, span in enumerate(spans):
            check(span, columns, s, c)


def test_the_size_of_the_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    claims, rows = rng.normal(size=(60, 9)), rng.normal(size=(60, 4, 9))
    whole = measure_columns(claims, rows, influence=True)
    assert whole.influence is not None
    for size in (1, 1000, 3000):
        monkeypatch.setattr(span_columns, "_CHUNK_BYTES", size)
        parts = measure_columns(claims, rows, influence=True)
        assert parts.influence is not None
        np.testing.assert_allclose(parts.energy, whole.energy, atol=1e-13, rtol=0)
        np.testing.assert_allclose(parts.influence, whole.influence, atol=1e-13, rtol=0)
        np.testing.assert_allclose(parts.null_quantile, whole.null_quantile, atol=1e-12, rtol=0)


@pytest.mark.parametrize("n", [1, 2, 13, 33, 64])
def test_every_size_agrees_with_a_plain_decomposition(n: int) -> None:
    rng = np.random.default_rng(n)
    claims, rows = rng.normal(size=(6, 80)), rng.normal(size=(6, n, 80))
    for cap in (None, 3):
        rules = SpanRules(embedding_noise=1e-12)
        if cap is not None:
            rules = SpanRules(embedding_noise=1e-12, rank="cap", cap=cap)
        found = measure_columns(claims, rows, rules=rules).energy[:, 0]
        units = rows / np.linalg.norm(rows, axis=2, keepdims=True)
        for i in range(6):
            right = np.linalg.svd(units[i], full_matrices=False)[2][:cap]
            c = claims[i] / np.linalg.norm(claims[i])
            rest = c - right.T @ (right @ c)
            assert found[i] == pytest.approx(rest @ rest, abs=1e-12)


def test_single_precision_arrays_are_measured_in_double() -> None:
    rng = np.random.default_rng(3)
    claims, rows = rng.normal(size=(5, 9)).astype("f4"), rng.normal(size=(5, 3, 9)).astype("f4")
    found = measure_columns(claims, rows).energy
    wanted = measure_columns(claims.astype("f8"), rows.astype("f8")).energy
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("claims", "rows"),
    [
        (np.ones((2, 3)), np.ones((2, 4))),
        (np.ones((2, 3)), np.ones((3, 1, 3))),
        (np.ones((2, 3)), np.ones((2, 1, 4))),
        (np.ones((2, 3)), np.ones((2, 0, 3))),
        (np.ones(3), np.ones((1, 1, 3))),
        (np.full((1, 2), "a"), np.ones((1, 1, 2))),
    ],
)
def test_arrays_that_do_not_fit_are_refused(claims: Floats, rows: Floats) -> None:
    with pytest.raises(ShapeError):
        measure_columns(claims, rows)


def test_too_many_passages_are_refused() -> None:
    with pytest.raises(InputError, match="at most 64"):
        measure_columns(np.ones((1, 70)), np.random.default_rng(0).normal(size=(1, 65, 70)))


def test_no_set_gives_empty_columns() -> None:
    columns = measure_columns(np.empty((0, 3)), np.empty((0, 2, 3)), influence=True)
    assert columns.energy.shape == (0, 1)
    assert columns.states() == []
