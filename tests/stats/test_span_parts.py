"""The parts of a span: cutoff and block, spectra, chance, duplicates, nearest points, variants."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize
from scipy.stats import beta

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats import span_variants
from trueness.stats.chance import null_quantile
from trueness.stats.cone import nearest_in_cone, nearest_in_hull
from trueness.stats.containment import contain
from trueness.stats.cutoff import cutoff_of
from trueness.stats.duplicates import clusters_of, content_hash
from trueness.stats.gram import exact_gram, gram, plain, sharpened, unit
from trueness.stats.span import measure_span
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules

Floats = NDArray[np.float64]
Measure = Callable[[SpanItem, SpanRules], span_variants.Variant]


def units(n: int, d: int, seed: int = 0) -> Floats:
    return unit(np.random.default_rng([seed, n, d]).normal(size=(n, d)))


def graded(sigma: Floats, d: int, seed: int) -> Floats:
    """Rows of length 1 whose singular values are close to those wanted, in all directions."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.normal(size=(len(sigma),) * 2))[0]
    right = np.linalg.qr(rng.normal(size=(d, len(sigma))))[0]
    return unit((left * sigma) @ right.T)


@pytest.mark.parametrize("n", [1, 2, 12, 13, 16, 17, 40, 64])
@pytest.mark.parametrize("d", [3, 70, 384])
def test_spectra_rebuild_the_products_of_the_rows(n: int, d: int) -> None:
    rows = np.stack([units(n, d, seed) * 7 for seed in range(3)])
    for spectrum in (gram(rows), exact_gram(rows)):
        products = (rows @ rows.swapaxes(1, 2)) / 49
        np.testing.assert_allclose(spectrum.matrix, products, atol=2e-15)
        scaled = spectrum.vectors * spectrum.lam[:, None, :]
        np.testing.assert_allclose(scaled @ spectrum.vectors.swapaxes(1, 2), products, atol=1e-13)
        assert (np.diff(spectrum.lam, axis=1) <= 0).all()
        assert (spectrum.lam >= 0).all()


def test_a_sharpened_spectrum_separates_weak_directions_as_a_decomposition_does() -> None:
    for seed in range(8):
        rows = graded(np.array([1, 0.3, 2e-3, 1e-3, 4e-4]), 40, seed)[None]
        claim = unit(np.random.default_rng(seed).normal(size=5) @ np.linalg.qr(rows[0].T)[0].T)
        right = np.linalg.svd(rows[0], full_matrices=False)[2]
        rough, kept = gram(rows), np.array([3])
        for spectrum, error in ((sharpened(rough, kept), 5e-13), (exact_gram(rows), 5e-13)):
            basis = spectrum.vectors[0, :, :3].T @ rows[0]
            basis = np.linalg.qr(basis.T)[0].T
            rest = claim - basis.T @ (basis @ claim)
            truth = claim - right[:3].T @ (right[:3] @ claim)
            assert rest @ rest == pytest.approx(truth @ truth, abs=error)


def test_energies_at_a_gap_of_a_thousandth_are_those_of_a_decomposition() -> None:
    rules = SpanRules(rank="cap", cap=3, embedding_noise=1e-12)
    for seed in range(40):
        rows = graded(np.array([1, 0.3, 3e-3, 1.2e-3, 4e-4]), 40, seed)
        left = np.random.default_rng(seed).normal(size=5)
        claim = left @ np.linalg.svd(rows, full_matrices=False)[2]
        sigma, right = np.linalg.svd(rows, full_matrices=False)[1:]
        c = unit(claim)
        rest = c - right[:3].T @ (right[:3] @ c)
        found = contain(rows[None], claim[None, None], rules)
        if sigma[2] - sigma[3] >= 1e-3 * sigma[0]:
            assert found.energy[0, 0] == pytest.approx(rest @ rest, abs=1e-12)


def test_the_noise_bound_holds_for_noise_of_its_size() -> None:
    rng = np.random.default_rng(1)
    rules = SpanRules(rank="cap", cap=3, embedding_noise=1e-3, energy_tol=0.5)
    moved = 0.0
    for _ in range(300):
        rows, claim = rng.normal(size=(6, 12)), rng.normal(size=12)
        noise = unit(rng.normal(size=(6, 12))) * 1e-3
        before = contain(rows[None], claim[None, None], rules)
        noisy = (unit(rows) + noise)[None]
        after = contain(noisy, claim[None, None], rules, lengths=np.ones((1, 6)))
        change = abs(after.tol_low[0, 0] - before.tol_low[0, 0])
        assert change <= before.cutoff.noise_bound[0] + 1e-12
        moved = max(moved, change)
    assert moved > 1e-3


def test_a_bracket_holds_every_choice_within_the_block() -> None:
    rng = np.random.default_rng(2)
    rows = np.concatenate([np.eye(8)[[0, 0, 0]], np.eye(8)[1:5]])
    claim = unit(rng.normal(size=8))
    rules = SpanRules(rank="cap", cap=3, dedup="none")
    span = measure_span(claim, rows, rules=rules)
    assert span.state is State.UNSTABLE
    assert span.bracket is not None
    low, high = span.bracket
    assert low == pytest.approx(1 - (claim[:5] ** 2).sum())
    assert high == pytest.approx(1 - claim[0] ** 2)
    for _ in range(50):
        turn = np.linalg.qr(rng.normal(size=(4, 4)))[0][:2]
        chosen = 1 - claim[0] ** 2 - ((turn @ claim[1:5]) ** 2).sum()
        assert low - 1e-12 <= chosen <= high + 1e-12


def test_twelve_orthonormal_passages_at_a_cap_are_unstable_in_every_order() -> None:
    claim = np.append(np.arange(1.0, 13.0), 3.0)
    rows = np.eye(13)[:12]
    rules = SpanRules(rank="cap", cap=8)
    spans = [
        measure_span(claim, rows[np.random.default_rng(s).permutation(12)], rules=rules)
        for s in range(5)
    ]
    assert {s.reason for s in spans} == {"cutoff"}
    assert len({s.bracket for s in spans}) == 1
    assert {s.cutoff_gap for s in spans} == {0.0}


def test_a_block_ends_where_a_gap_is_safe() -> None:
    rules = SpanRules(embedding_noise=1e-4 / np.sqrt(4), energy_tol=0.01)
    sigma = np.array([[2.0, 1.0, 0.995, 0.99], [2.0, 1.0, 0.5, 0.005]])
    tied = cutoff_of(sigma, np.array([3, 4]), rules)
    assert tied.safe_gap == pytest.approx(0.0101)
    assert (tied.first.tolist(), tied.last.tolist()) == ([1, 3], [4, 5])
    clear = cutoff_of(sigma, np.array([1, 2]), rules)
    assert (clear.first.tolist(), clear.last.tolist()) == ([1, 2], [1, 2])
    assert clear.noise_bound.tolist() == pytest.approx([1e-4 / (1 - 1e-4), 1e-4 / (0.5 - 1e-4)])


@pytest.mark.parametrize(
    ("gap", "state"), [(1e-2, "MEASURED"), (1e-6, "MEASURED"), (1e-4, "UNSTABLE")]
)
def test_near_duplicates_are_measured_or_unstable_by_their_distance(gap: float, state: str) -> None:
    rows = np.array([[1.0, 0, 0], [1, gap, 0]])
    rules = SpanRules(dedup="none")
    along = measure_span([0, 1, 0], rows, rules=rules)
    assert along.state.value == state
    beside = measure_span([1, 0, 1], rows, rules=rules)
    assert beside.state is State.MEASURED


def test_the_null_quantile_is_that_of_a_beta_distribution() -> None:
    energies = np.linspace(0, 1, 7)
    for r, d in ((1, 3), (4, 20), (64, 384)):
        wanted = beta((d - r) / 2, r / 2).cdf(energies)
        np.testing.assert_allclose(null_quantile(energies, np.array(r), d), wanted, atol=1e-13)
    assert np.isnan(null_quantile(np.array([0.5, np.nan]), np.array([3, 1]), 3)).all()


def test_duplicates_are_joined_in_chains_whatever_their_order() -> None:
    base = np.array([1.0, 0, 0])
    chain = unit(np.stack([base + k * np.array([0, 0.8e-5, 0]) for k in range(3)]))
    rows = np.concatenate([chain, np.eye(3)[2:]])
    chosen = set()
    for order in permutations(range(4)):
        found = clusters_of(rows[list(order)], relation="vector")
        assert sorted(map(len, found.members)) == [1, 3]
        chosen.add(frozenset(order[i] for i in found.chosen))
    assert len(chosen) == 1
    apart = clusters_of(rows[[0, 2]], relation="vector")
    assert len(apart.members) == 2


def test_texts_are_the_same_after_folding_and_only_by_the_rule() -> None:
    rows = np.eye(3)
    texts = ["Caf\u00e9  is\nopen", "Cafe\u0301 is open ", "other"]
    assert clusters_of(rows, texts, relation="text").members == ((0, 1), (2,))
    assert clusters_of(rows, texts, relation="vector").members == ((0,), (1,), (2,))
    assert clusters_of(rows[[0, 0]], texts[:2], relation="none").members == ((0,), (1,))
    both = clusters_of(rows[[0, 1, 1]], ["a", "a", "b"], relation="both")
    assert both.members == ((0, 1, 2),)


def test_the_smallest_hash_stands_for_a_cluster() -> None:
    texts = ["b", "a", "c"]
    rows = np.eye(4)[[0, 0, 0]]
    best = min(range(3), key=lambda i: content_hash(rows[i], texts[i]))
    assert clusters_of(rows, texts).chosen == (best,)


def test_extreme_vectors_are_scaled_without_rounding() -> None:
    rows = np.array([[3e-300, 4e-300], [3e300, 4e300], [3.0, 4.0]])
    np.testing.assert_allclose(unit(rows), [[0.6, 0.8]] * 3, rtol=1e-15)
    assert (plain(rows)[2] == rows[2]).all()
    assert np.log2(plain(rows)[0, 0] / 3e-300) % 1 == pytest.approx(0, abs=1e-9)


def test_cones_and_hulls_are_those_of_a_general_solver() -> None:
    rng = np.random.default_rng(6)
    for n, d in ((1, 3), (4, 3), (6, 20), (12, 5)):
        rows, target = units(n, d, 9), unit(rng.normal(size=d))
        cone, hull = nearest_in_cone(rows, target), nearest_in_hull(rows, target)
        assert max(cone.residual, hull.residual) <= 1e-10
        assert hull.coefficients.sum() == pytest.approx(1)

        def off(beta: Floats, rows: Floats = rows, target: Floats = target) -> float:
            return float(((target - beta @ rows) ** 2).sum())

        start = np.full(n, 1 / n)
        free = minimize(off, start, bounds=[(0, None)] * n)
        assert off(cone.coefficients) <= free.fun + 1e-9
        one = LinearConstraint(np.ones(n), 1, 1)
        simplex = minimize(off, start, bounds=[(0, 1)] * n, constraints=[one])
        assert off(hull.coefficients) <= simplex.fun + 1e-7


def test_copies_and_near_copies_leave_the_cone_certified() -> None:
    rng = np.random.default_rng(7)
    for gap in (0.0, 1e-12, 1e-8, 1e-4):
        rows = units(6, 9, 3)
        rows = unit(np.concatenate([rows, rows[:3] + gap * rng.normal(size=(3, 9))]))
        target = unit(rng.normal(size=9) + 3 * rows[0])
        assert nearest_in_cone(rows, target).residual <= 1e-10
        assert nearest_in_hull(rows, target).residual <= 1e-10


def test_affine_needs_two_different_passages_and_a_claim_off_their_mean() -> None:
    rules = SpanRules(dedup="none")
    one = span_variants.affine(SpanItem([1, 0, 0], [[0, 1, 0]] * 3), rules)
    assert (one.state, one.reason) == (State.NOT_APPLICABLE, "one_passage")
    middle = SpanItem([1, 1, 0], [[1, 0, 0], [0, 1, 0]])
    found = span_variants.affine(middle, rules)
    assert found.state is State.MEASURED  # of length 1, not at the mean
    opposite = SpanItem([1, 0, 0], [[1, 0, 0]] * 2 + [[1, 0, 0]])
    assert span_variants.affine(opposite, rules).reason == "one_passage"


def test_variants_pass_states_on() -> None:
    rules = SpanRules()
    empty, nan = SpanItem([1.0, 0], None), SpanItem([np.nan, 0], [[1.0, 0]])
    measures: list[Measure] = [
        span_variants.affine,
        span_variants.cone,
        span_variants.hull,
        span_variants.kernel,
        span_variants.sigma,
        lambda i, r: span_variants.ridge(i, r, penalty=1.0),
        lambda i, r: span_variants.corpus(i, r, mean=[0, 0.1]),
        lambda i, r: span_variants.whitened(i, r, mean=[0, 0], covariance=np.eye(2)),
        lambda i, r: span_variants.weighted(i, r, weights=[1]),
    ]
    for measure in measures:
        assert measure(empty, rules).state is State.NO_EVIDENCE
        assert measure(nan, rules).reason == "claim_not_finite"


def test_a_corpus_mean_may_leave_nothing() -> None:
    rules = SpanRules()
    at = span_variants.corpus(SpanItem([2, 0], [[0, 1]]), rules, mean=[1, 0])
    assert (at.state, at.reason) == (State.DEGENERATE, "claim_at_mean")
    zero = span_variants.corpus(SpanItem([0, 1, 0], [[3, 0, 0]]), rules, mean=[1, 0, 0])
    assert zero.reason == "evidence_zero"
    with pytest.raises(ShapeError):
        span_variants.corpus(SpanItem([0, 1, 0], [[3, 0, 0]]), rules, mean=[1, 0])


def test_noise_grows_where_a_mean_is_taken_off() -> None:
    item = SpanItem([0.0, 0, 1], np.array([[1, 0.01, 0], [1, 0, 0.01]]))
    found = span_variants.corpus(item, SpanRules(), mean=[1, 0, 0])
    alone = measure_span(item.claim, item.evidence)
    assert found.span is not None
    assert found.span.noise_bound is not None
    assert alone.noise_bound is not None
    assert found.span.noise_bound > 50 * 1e-6


def test_whitening_needs_a_corpus_or_shrinkage() -> None:
    item, rules = SpanItem([4, 3, 0], [[1, 0, 0]]), SpanRules()
    small = span_variants.whitened(
        item, rules, mean=np.zeros(3), covariance=np.eye(3), corpus_size=5
    )
    assert (small.state, small.reason) == (State.NOT_APPLICABLE, "corpus_too_small")
    thin = np.diag([1.0, 1, 0])
    flat = span_variants.whitened(item, rules, mean=np.zeros(3), covariance=thin)
    assert flat.reason == "covariance_singular"
    shrunk = span_variants.whitened(item, rules, mean=np.zeros(3), covariance=thin, shrinkage=1.0)
    assert shrunk.value == pytest.approx(9 / 25)


def test_weights_move_a_cut_span_and_not_a_whole_one() -> None:
    rows = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]])
    item = SpanItem([1, 2, 2, 1], rows)
    cut = SpanRules(rank="cap", cap=1)
    for weights in ([1, 1, 1], [1, 5, 2]):
        whole = span_variants.weighted(item, SpanRules(), weights=weights)
        assert whole.value == pytest.approx(measure_span(item.claim, item.evidence).energy)
    moved = span_variants.weighted(item, cut, weights=[1, 50, 1]).value
    assert moved != pytest.approx(measure_span(item.claim, item.evidence, rules=cut).energy)
    assert moved == pytest.approx(
        measure_span(item.claim, np.repeat(rows, [1, 50, 1], axis=0),
                     rules=replace(cut, dedup="none")).energy, abs=1e-9)  # fmt: skip
    whole = span_variants.weighted(item, SpanRules(), weights=[1, 5, 2])
    assert whole.span is not None
    plain_span = measure_span(item.claim, item.evidence)
    assert whole.span.influence == pytest.approx(plain_span.influence)
    assert whole.span.cosines == pytest.approx(plain_span.cosines)
    for bad in ([1, 2], [1, 0, 1], [1, np.nan, 1]):
        with pytest.raises(InputError):
            span_variants.weighted(item, SpanRules(), weights=bad)


def test_copies_count_in_a_ridge_and_a_ridge_has_no_cutoff() -> None:
    rules = SpanRules(dedup="none")
    one = SpanItem([4, 3], [[1, 0]] * 3)
    merged = SpanItem([4, 3], [[1, 0]])
    many = span_variants.ridge(one, rules, penalty=0.3).value
    few = span_variants.ridge(merged, rules, penalty=0.1).value
    assert many == pytest.approx(few)
    tie = SpanItem([1.0, 1, 1], np.eye(2, 3))
    assert span_variants.ridge(tie, SpanRules(rank="cap", cap=1), penalty=1.0).value is not None


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_a_penalty_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(InputError):
        span_variants.ridge(SpanItem([1, 0], [[1, 0]]), SpanRules(), penalty=bad)


def test_a_linear_kernel_is_the_span_itself() -> None:
    rows = units(4, 9)
    claim = units(1, 9, 5)[0]
    found = span_variants.kernel(SpanItem(claim, rows), SpanRules(), kernel="poly", degree=1)
    assert found.value == pytest.approx(measure_span(claim, rows).energy, abs=1e-10)
    near = span_variants.kernel(SpanItem(rows[0], rows), SpanRules(), kernel="rbf", width=0.5)
    assert near.value == pytest.approx(0, abs=1e-10)
    with pytest.raises(InputError):
        span_variants.kernel(SpanItem(claim, rows), SpanRules(), kernel="cosine")  # type: ignore[arg-type] # bad on purpose


def test_the_cone_sees_the_sign_that_the_span_does_not() -> None:
    rows = units(3, 9)
    assert measure_span(-rows[0], rows).energy == pytest.approx(0, abs=1e-12)
    alone = span_variants.cone(SpanItem(-rows[0], rows[:1]), SpanRules())
    assert alone.value == pytest.approx(1)


def test_leaving_a_weighted_passage_out_is_measuring_the_others_with_their_weights() -> None:
    rows, claim = units(5, 9), units(1, 9, 5)[0]
    weights = np.array([1.0, 3, 2, 1, 4])
    for rules in (SpanRules(), SpanRules(rank="cap", cap=2), SpanRules(rank="variance", q=0.7)):
        whole = span_variants.weighted(SpanItem(claim, rows), rules, weights=weights).span
        assert whole is not None
        assert whole.influence is not None
        assert whole.energy is not None
        for j in range(5):
            left = SpanItem(claim, np.delete(rows, j, axis=0))
            without = span_variants.weighted(left, rules, weights=np.delete(weights, j)).value
            assert without is not None
            assert whole.influence[j] == pytest.approx(without - whole.energy, abs=1e-11)
