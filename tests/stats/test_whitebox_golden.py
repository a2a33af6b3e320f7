"""Every golden vector of the white box, each through the code that a study calls."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.contract.states import State
from trueness.stats.block_power import top_values
from trueness.stats.cloud_pairs import (
    MOVEMENTS,
    NOT_COMPARED,
    exact_pair,
    movements,
    pair_clouds,
)
from trueness.stats.clouds import NONE, WRONG, Clouds
from trueness.stats.coupling import couple
from trueness.stats.exponents import Product, growth
from trueness.stats.fibres import clopper_pearson, error_floor, fibre_counts
from trueness.stats.frames import jl_eps, linear_cka
from trueness.stats.jacobians import jacobian_summary, spectrum_summary
from trueness.stats.kaplan_yorke import growth_filtration, kaplan_yorke
from trueness.stats.lift_rank import lift_rank
from trueness.stats.observers import canonical_law, observe
from trueness.stats.permutation import exact_permutation_p
from trueness.stats.power import auroc_floor, hit_power
from trueness.stats.probes import readers
from trueness.stats.ranks import gold_ranks
from trueness.stats.state_distances import fit_spread, fit_subspace
from trueness.stats.witnesses import path_change, winding, winding_jacobian

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "whitebox.json").read_text())
Given = dict[str, Any]
Complex = NDArray[np.complex128]
CHECKS: dict[str, Callable[[Given, Given, float], None]] = {}


def checks(kind: str) -> Callable[[Callable[[Given, Given, float], None]], None]:
    def keep(check: Callable[[Given, Given, float], None]) -> None:
        CHECKS[kind] = check

    return keep


def law(entries: list[str]) -> list[float]:
    return [float(Fraction(e)) for e in entries]


def near(found: float | None, wanted: float | None, tolerance: float) -> None:
    """Equal up to an absolute tolerance; None or nan where no number exists."""
    if wanted is None:
        assert found is None or math.isnan(found)
    else:
        assert found == pytest.approx(wanted, abs=tolerance, rel=0)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector(vector: Given) -> None:
    CHECKS[vector["kind"]](vector["input"], vector["expected"], vector["tolerance"])


def test_every_kind_of_vector_is_checked_and_none_is_missing() -> None:
    assert {v["kind"] for v in VECTORS} == set(CHECKS)
    assert len(VECTORS) == 83


@checks("rank_gap")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = gold_ranks([[float(z) for z in given["logits"]]], [given["gold"]])
    assert found.states[0].value == wanted.get("state", "MEASURED")
    if "reason" in wanted:
        assert found.reasons[0] == wanted["reason"]
        return
    assert found.chosen[0] == wanted["chosen"]
    for name in ("rank", "rank_worst", "gap", "logit_sd", "gap_sd"):
        near(float(getattr(found, name)[0]), wanted[name], tolerance)


@checks("observer")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    p = law(given["p"])
    seen = observe(p).to_dict()
    for name in ("shannon", "renyi2", "varentropy", "varentropy_escort2", "max_p", "margin"):
        near(seen[name], wanted[name], tolerance)
    assert seen["greedy"] == wanted["greedy"]
    near(math.exp(seen["shannon"]), wanted["effective_support"], tolerance)
    near(math.exp(-seen["renyi2"]), float(Fraction(wanted["collision"])), tolerance)
    near(seen["margin"], float(Fraction(wanted["margin_exact"])), tolerance)
    ranked = gold_ranks([[math.log(x) if x else -1e4 for x in p]], [0])
    near(float(ranked.effective_support[0]), wanted["effective_support"], 1e-9)


@checks("observer_pair")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    p, q = law(given["p"]), law(given["q"])
    one, two = observe(p), observe(q)
    bits = canonical_law(p).tobytes() == canonical_law(q).tobytes()
    assert bits == wanted["canonical_bitwise_equal"]
    assert one.numbers.tobytes() == two.numbers.tobytes()
    assert (one.greedy == two.greedy) == wanted["greedy_equal"]
    apart = sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(given["p"], given["q"], strict=True))
    assert Fraction(apart) / 2 == Fraction(wanted["tv"])


@checks("lift_rank")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    found = lift_rank(given["DS"], given["Df"])
    assert found.state is State.MEASURED
    names = {"rank_S": "rank_observer", "rank_f": "rank_target"}
    for name, value in wanted.items():
        assert getattr(found, names.get(name, name)) == value, name


@checks("lift_rank_scale")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    found = lift_rank(given["DS"], given["Df"], tolerance=given["rel_tol"])
    assert found.state.value == wanted["state"]
    for scaled, name in ((True, "row_scaled"), (False, "unscaled")):
        look = next(
            r for r in found.ranks if r.scaled == scaled and r.tolerance == given["rel_tol"]
        )
        assert look.observer == wanted[name]["rank_S"]
        assert look.joint - look.observer == wanted[name]["lift_rank"]


@checks("lift_rank_softmax")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    z = np.array(given["logits"])
    p = np.exp(z) / np.exp(z).sum()
    softmax = np.diag(p) - np.outer(p, p)
    step = 1e-6
    rows = []
    for name in given["observer"]:
        sides = [
            [
                observe(_softmax(z + sign * step * e)).to_dict()[name]  # central differences
                for e in np.eye(len(z))
            ]
            for sign in (1, -1)
        ]
        rows.append((np.array(sides[0]) - np.array(sides[1])) / (2 * step))
    assert np.abs(np.array(rows) - np.array(wanted["DS"])).max() < max(tolerance, 1e-8)
    found = lift_rank(wanted["DS"], softmax)
    assert (found.rank_observer, found.rank_target) == (wanted["rank_S"], wanted["rank_f"])
    assert (found.rank_joint, found.lift_rank) == (wanted["rank_joint"], wanted["lift_rank"])
    assert found.unavoidable == wanted["unavoidable"]


def _softmax(z: NDArray[np.float64]) -> NDArray[np.float64]:
    mass = np.exp(z - z.max())
    law: NDArray[np.float64] = mass / mass.sum()
    return law


def derivative(block: Callable[[Complex], Complex], h: NDArray[np.float64]) -> Any:
    """The derivative by complex steps: exact to rounding for analytic maps."""
    columns = [block(h + 1e-30j * e).imag / 1e-30 for e in np.eye(len(h))]
    return np.stack(columns, axis=1)


def blocks(given: Given) -> tuple[Callable[[Complex], Complex], NDArray[np.float64]]:
    """The output row of a block as a function of the input row, all other rows frozen."""
    if "W" not in given:
        eps = given["eps"]
        return lambda h: h / np.sqrt((h**2).mean() + eps), np.array(given["h"], np.float64)
    w, t = np.array(given["W"]), given["pos"]
    others = np.random.default_rng(0).normal(size=(given["T"], len(w))).astype(np.complex128)
    own = others[t].real.copy()

    def row(h: Complex) -> Complex:
        rows = others.copy()
        rows[t] = h
        if "M" in given:
            return sum((m * (w @ r) for m, r in zip(given["M"][t], rows, strict=True)), 0 * h)
        return w @ h + (h if "h_in[t] +" in given["block"] else 0)

    return row, own


def spectrum_agrees(j: NDArray[np.float64]) -> None:
    """Power iteration that only multiplies gives the largest value of the summary."""
    summary = jacobian_summary(j)
    found = top_values(lambda v: v @ j.T, lambda u: u @ j, width=len(j), k=1)
    assert summary.sigma_max == pytest.approx(float(np.asarray(found.sigma)[0]), rel=1e-9)


@checks("jacobian")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    block, h = blocks(given)
    found = derivative(block, h)
    assert np.abs(found - np.array(wanted["J"])).max() <= tolerance
    if "radial_image" in wanted:
        assert np.abs(found @ h - np.array(wanted["radial_image"])).max() <= 10 * tolerance
    spectrum_agrees(found)


@checks("jacobian_causal")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    w, t, n = np.array(given["W"]), given["pos"], given["T"]
    for seen, name in ((range(t + 1), "J_causal"), (range(n), "J_without_mask")):
        weights = [1 / len(seen) if s in seen else 0.0 for s in range(n)]
        mixed = {"block": "", "W": w, "T": n, "pos": t, "M": [weights] * n}
        block, h = blocks(mixed)
        found = np.eye(len(h)) + derivative(block, h)
        assert np.abs(found - np.array(wanted[name])).max() <= tolerance
        spectrum_agrees(found)


@checks("topk")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    j, k = np.array(given["J"]), given["k"]
    found = top_values(lambda v: v @ j.T, lambda u: u @ j, width=len(j), k=k)
    assert found.state is State.MEASURED
    assert found.sigma is not None
    assert found.sigma.tolist() == pytest.approx(wanted["sigma"], abs=tolerance)
    following = np.linalg.svd(j, compute_uv=False)[k]
    near(float(following), wanted["next_sigma"], tolerance)


@checks("spectrum")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = spectrum_summary(given["sigma"], window=tuple(given["rank_window"]))
    for name in ("sigma_max", "stable_rank", "log_volume"):
        near(getattr(found, name), wanted[name], tolerance)
    assert found.n_null == wanted["n_null"]
    assert found.tail is not None
    near(found.tail.exponent, wanted["tail_exponent"], tolerance)
    assert found.tail.state.value == wanted.get("tail_state", "MEASURED")


@checks("cocycle")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    steps = [j for period in repeat(given["period"], given["repeat"]) for j in period]
    found = growth(steps, product=Product.TOKEN, frame=given["frame"])
    for value, true in zip(found.in_frame, wanted["exponents_frame_order"], strict=True):
        near(float(value), true, tolerance)
    assert found.exponents.tolist() == pytest.approx(wanted["exponents_sorted"], abs=tolerance)
    assert found.n_dead == wanted["n_dead"]
    near(found.total, wanted["sum"], tolerance * len(found.in_frame))
    assert (found.n_order_violations > 0) == wanted["ordering_violated"]


@checks("kaplan_yorke")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    finite = "nan" not in given["exponents"]
    found = kaplan_yorke([Fraction(str(x)) if finite else float(x) for x in given["exponents"]])
    assert found.state.value == wanted["state"]
    if wanted["d_ky"] is None:
        assert found.exact is None
    else:
        near(found.value, wanted["decimal"], tolerance)
        assert found.exact == Fraction(wanted["d_ky"])
    assert found.j == wanted.get("j")
    assert found.embedding_bound == wanted.get("embedding_bound")
    published = wanted.get("embedding_bound_published_convention")
    assert found.embedding_bound_published == published
    near(found.metric_entropy, wanted.get("metric_entropy"), tolerance)
    if "reason" in wanted:
        assert found.reason == wanted["reason"]


@checks("filtration")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = growth_filtration(given["exponents"], tolerance=given["tol"])
    assert found.levels == pytest.approx(wanted["levels"], abs=tolerance)
    assert list(found.multiplicities) == wanted["multiplicities"]
    near(found.entropy, wanted["entropy"], tolerance)
    near(found.entropy_ratio, wanted["entropy_ratio"], tolerance)


@checks("jl")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = jl_eps(given["n_points"], given["k"], failure=given["failure"])
    assert found.state.value == wanted["state"]
    for name in ("eps", "norm_relative_sd", "ratio_relative_sd"):
        near(getattr(found, name), wanted[name], tolerance)


@checks("cka")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    near(linear_cka(given["X"], given["Y"]).value, wanted["cka"], tolerance)


@checks("winding")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    x, y = given["x"], given["y"]
    image, partner = winding([x], [y])[0], winding(*[[v] for v in wanted["partner"]])[0]
    assert image.tolist() == pytest.approx(wanted["image"], abs=tolerance)
    assert np.allclose(image, partner, rtol=0, atol=1e-12) == wanted["images_equal"]
    j = winding_jacobian([x], [y])[0]
    assert np.abs(j - np.array(wanted["J"])).max() <= tolerance
    values = np.linalg.svd(j, compute_uv=False)
    assert values.tolist() == pytest.approx(wanted["singular_values"], abs=tolerance)
    near(float(np.linalg.det(j)), wanted["det"], 10 * tolerance)
    near(float(values[0] / values[1]), wanted["condition"], tolerance)


@checks("derangement")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    f = given["f"]
    for name in ("a", "b"):
        wrong = sum(x != y for x, y in zip(f, given[f"R_{name}"], strict=True))
        assert wrong == wanted[f"errors_{name}"]
    assert len(set(f)) == wanted["distinct_answers"]
    assert len(f) - len(set(f)) == wanted["certified"]
    assert wanted["observation_identical"]


@checks("path_integral")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    a, b = np.array(given["A"], np.float64), np.array(given["b"], np.float64)
    found = path_change(lambda h: a @ h + b, given["h1"], end=given["h2"])
    near(found, wanted["change"], tolerance)


@checks("probe")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = readers(given["X"], given["group"], ridge=given["lam"]).probe(given["y"])
    assert found.predicted[0].tolist() == wanted["pred"]
    near(float(found.accuracy[0]), wanted["accuracy"], tolerance)


@checks("probe_refusal")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    found = readers(given["X"], given["group"], ridge=given["lam"]).probe(given["y"])
    assert found.state.value == wanted["state"]
    assert found.reason == wanted["reason"]


@checks("mahalanobis")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = fit_spread(given["train"], shrinkage=given["shrinkage"]).squared([given["x"]])
    near(float(found[0]), wanted["squared_distance"], tolerance)


@checks("pca")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = fit_subspace(given["train"], rank=given["rank"]).squared([given["x"]])
    near(float(found[0]), wanted["squared_residual"], tolerance)


@checks("coupling")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = couple(given["w"], given["entity"], given["control"])  # a linear logit's gradient
    for name in ("entity_norm", "control_norm", "entity_per_token", "control_per_token"):
        if name in wanted:
            assert getattr(found, name).tolist() == pytest.approx(wanted[name], abs=tolerance)
    for value, true in zip(found.log_ratio, wanted["log_ratio"], strict=True):
        near(float(value), true, tolerance)
    states = wanted.get("state", ["MEASURED"] * len(found.states))
    assert [s.value for s in found.states] == states


def cloud(counts: dict[str, int], names: list[str]) -> Clouds:
    draws = [names.index(a) for a, n in counts.items() for _ in range(n)]
    roles = [NONE if names[a] == "none" else WRONG for a in draws]
    return Clouds.of([0] * len(draws), draws, roles, n_items=1)


@checks("fibre_cell")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    names = sorted({*given["before"], *given["after"]})
    pair = pair_clouds(cloud(given["before"], names), cloud(given["after"], names))
    tv = exact_pair(pair).total_variation
    assert tv == Fraction(wanted["tv"])
    assert MOVEMENTS[int(movements(pair)[0])] == wanted["kind"]
    assert exact_permutation_p(pair)[0] == Fraction(wanted["permutation_p"])
    assert given["observer_equal"]
    assert error_floor(tv) == Fraction(wanted["estimator_error_at_least"])


@checks("fibre_group")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    cells = given["cells"]
    names = sorted({a for c in cells for a in c["cloud"] or ()})
    base = next(c for c in cells if c["id"] == given["baseline"])
    rest = [c for c in cells if c is not base]
    auditable = [c["S"] is not None and c["cloud"] is not None for c in rest]
    pairs = {
        c["id"]: pair_clouds(cloud(base["cloud"], names), cloud(c["cloud"], names))
        for c, whole in zip(rest, auditable, strict=True)
        if whole
    }
    moves = [int(movements(pairs[c["id"]])[0]) if c["id"] in pairs else NOT_COMPARED for c in rest]
    found = fibre_counts(auditable, [c["S"] == base["S"] for c in rest], moves)
    assert (found.auditable, found.incomplete) == (wanted["auditable"], wanted["incomplete"])
    assert (found.flat.count, found.moved.count) == (wanted["flat"], wanted["moved"])
    flat = [c["id"] for c in rest if c["S"] == base["S"] and c["id"] in pairs]
    largest = max(exact_pair(pairs[name]).total_variation or Fraction(0) for name in flat)
    assert largest == Fraction(wanted["fibre_x_max_tv"])
    assert error_floor(largest) == Fraction(wanted["fibre_x_bound"])


@checks("clopper_pearson")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = clopper_pearson(given["x"], given["n"], level=given["level"])
    assert list(found) == pytest.approx(wanted["interval"], abs=tolerance)


@checks("auroc_floor")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    del tolerance
    found = auroc_floor(given["n_pos"], given["n_neg"])
    assert found.one_sided == Fraction(wanted["min_one_sided_p"])
    assert found.two_sided == Fraction(wanted["min_two_sided_p"])


@checks("probe_power")
def _(given: Given, wanted: Given, tolerance: float) -> None:
    found = hit_power(
        given["n"],
        chance=given["chance"],
        accuracy=given["true_accuracy"],
        alpha=given["alpha"],
    )
    assert found.critical_hits == wanted["critical_hits"]
    near(found.power, wanted["power"], tolerance)
