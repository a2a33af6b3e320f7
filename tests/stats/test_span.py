"""One claim against its evidence: states in order, sizes, order of rows, sharing, blindness."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.serial import dumps
from trueness.contract.states import State
from trueness.stats.span import (
    NOT_ASKED,
    NOT_MEASURED,
    ONLY_PASSAGE,
    Span,
    measure_span,
    measure_spans,
)
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules

Floats = NDArray[np.float64]
NAN, INF = float("nan"), float("inf")
NUMBERS = (
    "energy", "explained", "closure", "n", "d", "rank", "r", "cutoff_gap", "noise_bound", "bracket",
    "tol_range", "chance", "relative", "lift", "null_quantile", "influence",
)  # fmt: skip


def drawn(n: int, d: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([seed, n, d])
    return rng.normal(size=d), rng.normal(size=(n, d))


def scalars(span: Span) -> dict[str, object]:
    """What must not depend on the order of the passages."""
    lists = ("influence", "solo", "cosines", "support", "clusters", "deletion_reasons")
    found = {k: v for k, v in asdict(span).items() if k not in lists}
    by_row = zip(span.influence or (), span.solo, span.cosines, strict=False)
    return {**found, "by_row": sorted(by_row, key=str)}


@pytest.mark.parametrize(
    ("claim", "evidence", "state", "reason", "rows"),
    [
        ([NAN, 0], None, State.NO_EVIDENCE, "no_evidence", ()),
        ([0, 0], np.empty((0, 9)), State.NO_EVIDENCE, "no_evidence", ()),
        ([0, 1], [[]][:0], State.NO_EVIDENCE, "no_evidence", ()),
        ([INF, 0], [[NAN, 0]], State.DEGENERATE, "claim_not_finite", ()),
        ([0, 1e-31], [[NAN, 0]], State.DEGENERATE, "claim_zero", ()),
        ([0, 1], [[1, 0], [NAN, 1], [INF, 0]], State.DEGENERATE, "evidence_not_finite", (1, 2)),
        ([0, 1], [[0, 0], [0, 1e-31]], State.DEGENERATE, "evidence_zero", (0, 1)),
        ([0, 1], [[1, 0], [0, 1]], State.NOT_APPLICABLE, "rank_equals_dimension", ()),
        ([5], [[3]], State.NOT_APPLICABLE, "rank_equals_dimension", ()),
        ([0, 1], [[1, 0], [0, 0]], State.MEASURED, None, ()),
    ],
)
def test_the_first_check_that_fires_wins(
    claim: object, evidence: object, state: State, reason: str | None, rows: tuple[int, ...]
) -> None:
    span = measure_span(claim, evidence)  # type: ignore[arg-type] # bad input on purpose
    assert (span.state, span.reason, span.bad_rows) == (state, reason, rows)
    assert (span.energy is None) == (state is not State.MEASURED)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ([[1, 0]], [[1, 0]]),
        ([], [[1, 0]]),
        (3.0, [[1, 0]]),
        ([1, 0], [[1, 0, 0]]),
        ([1, 0], np.ones((1, 2, 2))),
        ([1, 0], np.ones((2, 0))),
        ([1, 0], [1, 0, 0]),
        ([1, 0], [[1, 0], [1]]),
        ([1, 0], 3.0),
    ],
)
def test_arrays_that_do_not_fit_are_one_clear_error(claim: object, evidence: object) -> None:
    with pytest.raises(ShapeError):
        measure_span(claim, evidence)  # type: ignore[arg-type] # bad input on purpose


def test_an_error_names_both_dimensions_and_both_embedders() -> None:
    item = SpanItem([1, 0, 0], [[1, 0]], embedders="small against large")
    with pytest.raises(
        ShapeError, match=r"dimension 3 .*\(1, 2\).*\(n_passages, 3\).*small against"
    ):
        measure_spans([item])


def test_words_and_complex_numbers_are_refused() -> None:
    for bad in (["a", "b"], np.array([1j, 0]), [None, 1]):
        with pytest.raises(InputError):
            measure_span(bad, [[1, 0]])  # type: ignore[arg-type] # bad input on purpose


def test_blank_texts_come_before_everything_that_is_measured() -> None:
    blank = SpanItem([NAN, 0], [[1, 0]], claim_text=" \n")
    assert measure_spans([blank])[0].reason == "no_claim"
    nothing = SpanItem([1, 0], [[1, 0]], texts=["\t"], claim_text="")
    assert measure_spans([nothing])[0].state is State.NO_EVIDENCE
    long = SpanItem([1, 0], [[1, 0]], text_too_long=True)
    assert measure_spans([long])[0].reason == "text_too_long"
    zero = SpanItem([1, 0], [[0, 0]], text_too_long=True)
    assert measure_spans([zero])[0].reason == "evidence_zero"


def test_a_passage_without_text_is_no_evidence() -> None:
    span = measure_span([0, 1, 0], [[1, 0, 0], [0, 1, 0]], texts=["said", " "])
    assert (span.energy, span.n, span.n_blank, span.clusters) == (1.0, 1, 1, ((0,),))


def test_nothing_is_a_number_without_evidence() -> None:
    span = measure_span([1, 0], [])
    assert all(getattr(span, name) is None for name in NUMBERS)
    assert not span.axes
    assert not span.sigma


@pytest.mark.parametrize("n", [3, 20, 40])
@pytest.mark.parametrize("rules", [SpanRules(), SpanRules(rank="cap", cap=2)])
def test_a_batch_answers_every_item_and_leaves_the_others_to_the_bit(
    n: int, rules: SpanRules
) -> None:
    claim, rows = drawn(n, 60)
    items = [SpanItem(claim * k, rows * claim**k) for k in range(1, 6)]
    whole = measure_spans(items, rules=rules)
    holed = measure_spans([*items[:2], SpanItem(claim, None), *items[3:]], rules=rules)
    assert holed[2].state is State.NO_EVIDENCE
    assert [s for i, s in enumerate(whole) if i != 2] == [s for i, s in enumerate(holed) if i != 2]
    shuffled = measure_spans([items[i] for i in (3, 0, 4, 2, 1)], rules=rules)
    assert [shuffled[i] for i in (1, 4, 3, 0, 2)] == whole
    assert [measure_spans([item], rules=rules)[0] for item in items] == whole


def test_items_that_are_made_on_demand_are_not_mistaken_for_one_another() -> None:
    class Lazy(Sequence[SpanItem]):
        def __len__(self) -> int:
            return 40

        def __getitem__(self, place: object) -> SpanItem:  # type: ignore[override] # one at a time
            if not isinstance(place, int) or place >= len(self):
                raise IndexError
            return SpanItem(np.array([1.0, place, 0]), np.array([[1.0, 0, 0]]) + place * 0.01)

    lazy = Lazy()
    assert measure_spans(lazy) == [measure_spans([lazy[i]])[0] for i in range(40)]


@pytest.mark.parametrize("rules", [SpanRules(), SpanRules(rank="cap", cap=3)])
def test_shared_evidence_gives_what_it_gives_alone(rules: SpanRules) -> None:
    _, rows = drawn(5, 12)
    claims = np.random.default_rng(3).normal(size=(4, 12))
    together = measure_spans([SpanItem(c, rows) for c in claims], rules=rules)
    for claim, span in zip(claims, together, strict=True):
        alone = measure_span(claim, rows.copy(), rules=rules)
        assert span.state is alone.state
        assert span.energy == pytest.approx(alone.energy, abs=1e-13)
        assert span.influence == pytest.approx(alone.influence, abs=1e-13)


@pytest.mark.parametrize("n", [2, 5, 17, 40])
@pytest.mark.parametrize("kind", ["plain", "first coordinates tie", "duplicates", "capped"])
def test_the_order_of_the_passages_changes_nothing_to_the_bit(n: int, kind: str) -> None:
    claim, rows = drawn(n, 50)
    rules = SpanRules(rank="cap", cap=4) if kind == "capped" else SpanRules()
    if kind == "first coordinates tie":
        rows[:, :2] = 0.0
    if kind == "duplicates":
        rows[n // 2 :] = rows[: n - n // 2]
        rows[-1] *= 3.0
    whole = measure_span(claim, rows, rules=rules)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(n)
        moved = measure_span(claim, rows[order], rules=rules)
        assert scalars(moved) == scalars(whole)
        back = {frozenset(order[list(m)].tolist()) for m in moved.clusters}
        assert back == {frozenset(m) for m in whole.clusters}


@pytest.mark.parametrize("scale", [1e-25, 1e-20, 1e-3, 7.0, 1e20, 1e200, 1e300])
def test_sizes_of_rows_and_claim_do_not_matter(scale: float) -> None:
    claim, rows = drawn(4, 9)
    plain = measure_span(claim, rows)
    for span in (
        measure_span(claim * scale, rows),
        measure_span(claim, rows * scale),
        measure_span(claim, rows * np.array([scale, 1, 1 / min(scale, 1e25), 1])[:, None]),
    ):
        assert span.energy == pytest.approx(plain.energy, abs=1e-13)
        assert span.influence == pytest.approx(plain.influence, abs=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.float64])
def test_rows_become_unit_in_float64_whatever_arrived(dtype: type) -> None:
    claim, rows = drawn(3, 9)
    claim, rows = (10 * claim).astype(dtype), (10 * rows).astype(dtype)
    span = measure_span(claim, rows)
    same = measure_span(claim.astype(np.float64), rows.astype(np.float64))
    assert span == same


def test_duplicates_share_one_influence_and_keep_their_numbers() -> None:
    claim, rows = drawn(3, 9)
    span = measure_span(claim, rows[[0, 1, 0, 2, 1]])
    assert span.clusters == ((0, 2), (1, 4), (3,))
    assert (span.n, span.n_merged, span.n_selected, span.n_available) == (3, 2, 5, 5)
    alone = measure_span(claim, rows)
    assert span.energy == alone.energy
    assert span.influence == alone.influence


def test_influence_says_why_there_is_none() -> None:
    claim, rows = drawn(2, 9)
    assert measure_span(claim, rows[:1]).influence_reason == ONLY_PASSAGE
    assert measure_span(claim, rows, influence=False).influence_reason == NOT_ASKED
    tied = measure_span([1, 1, 0], np.eye(2, 3), rules=SpanRules(rank="cap", cap=1))
    assert (tied.state, tied.influence_reason) == (State.UNSTABLE, NOT_MEASURED)
    assert tied.bracket == pytest.approx((0, 1))


def test_an_unmeasured_deletion_is_none_with_its_reason() -> None:
    rows = np.diag([1.0, 1, 1, 1])[:3]
    rows = np.concatenate([rows, rows[:1] + 0.01 * np.array([[0, 0, 0, 1]])])
    rows = np.concatenate([np.concatenate([rows, np.zeros((4, 4))], axis=1)])
    rules = SpanRules(rank="cap", cap=1, dedup="none")
    span = measure_span([0.1, 1, 0.5, 0, 0, 0, 1, 0], rows, rules=rules)
    assert span.state is State.MEASURED
    assert span.influence is not None
    for value, reason in zip(span.influence, span.deletion_reasons, strict=True):
        assert (value is None) == (reason is not None)
    assert span.deletion_reasons == ("cutoff", None, None, "cutoff")


def test_more_passages_than_allowed_are_refused_or_selected() -> None:
    claim, rows = drawn(70, 90)
    with pytest.raises(InputError, match="70 passages and at most 64"):
        measure_span(claim, rows)
    first = measure_span(claim, rows, rules=SpanRules(selection="first", selected=10))
    assert first.energy == measure_span(claim, rows[:10]).energy
    assert first.dropped == tuple(range(10, 70))
    top = measure_span(claim, rows, rules=SpanRules(selection="top", selected=10))
    cosines = rows @ claim / np.linalg.norm(rows, axis=1)
    best = np.sort(np.argsort(-cosines)[:10])
    assert top.dropped == tuple(sorted(set(range(70)) - set(best.tolist())))
    assert (top.chance_basis, top.null_quantile) == ("selected", None)
    assert first.chance_basis == "isotropic"


def test_distractors_do_not_touch_a_claim_that_is_there_word_for_word() -> None:
    claim, rows = drawn(65, 384)
    rules = SpanRules(max_passages=65)
    for n in (1, 4, 16, 64):
        span = measure_span(claim, np.concatenate([claim[None], rows[:n]]), rules=rules)
        assert span.energy is not None
        assert span.energy < 1e-12


def test_tiny_energies_keep_their_relative_precision() -> None:
    for exponent in range(1, 11):
        small = 10.0**-exponent
        span = measure_span([1, small, 0], [[1, 0, 0], [0, 0, 1]])
        assert span.energy == pytest.approx(small**2 / (1 + small**2), rel=1e-5, abs=0)
        assert span.axes["best_sin2"] == pytest.approx(span.energy, rel=1e-5, abs=0)


def test_it_is_blind_to_the_sign_to_copies_and_to_false_evidence() -> None:
    claim, rows = drawn(3, 20)
    assert measure_span(-rows[1], rows).energy == pytest.approx(0, abs=1e-12)
    assert measure_span(claim, [claim]).energy == pytest.approx(0, abs=1e-12)


def test_it_is_blind_to_recombination() -> None:
    words = ["alice", "bob", "founded", "alpha", "beta", "spare"]

    def bag(text: str) -> list[float]:
        return [float(w in text.split()) for w in words]

    evidence = [bag("alice founded alpha"), bag("bob founded beta")]
    claim = bag("alice founded beta")
    assert measure_span(claim, evidence).energy == pytest.approx(1 / 3, abs=1e-12)
    more = [*evidence, bag("bob founded alpha")]
    assert measure_span(claim, more).energy == pytest.approx(0, abs=1e-12)


def test_random_evidence_explains_its_share_of_the_dimensions() -> None:
    rng = np.random.default_rng(5)
    for n, d in ((1, 12), (5, 12), (11, 12)):
        draws = rng.normal(size=(1500, n + 1, d))
        spans = measure_spans([SpanItem(x[0], x[1:]) for x in draws], influence=False)
        measured = [s for s in spans if s.energy is not None and s.relative is not None]
        assert len(measured) > 1450
        energies = np.array([s.energy for s in measured])
        error = energies.std() / np.sqrt(len(energies))
        assert abs(energies.mean() - (1 - n / d)) < 4 * error
        relatives = np.array([s.relative for s in measured])
        assert abs(relatives.mean() - 1) < 4 * relatives.std() / np.sqrt(len(relatives))
        quantiles = np.array([s.null_quantile for s in measured])
        assert abs(quantiles.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(quantiles))


def test_a_span_is_strict_json() -> None:
    claim, rows = drawn(4, 9)
    spans = [
        measure_span(claim, rows),
        measure_span(claim, rows[:1]),
        measure_span(claim, None),
        measure_span([1, 1, 0], np.eye(2, 3), rules=SpanRules(rank="cap", cap=1)),
    ]
    for span in spans:
        text = dumps(asdict(span))
        assert "NaN" not in text
        assert json.loads(text)["state"] == span.state.value


@pytest.mark.parametrize(
    "bad",
    [
        {"rank": "most"},
        {"rank": "cap"},
        {"cap": 3},
        {"rank": "cap", "cap": 0},
        {"rank": "cap", "cap": True},
        {"rank": "variance"},
        {"rank": "variance", "q": 0.0},
        {"rank": "variance", "q": NAN},
        {"q": 0.5},
        {"rank_tol": 0.0},
        {"rank_tol": 0.2},
        {"energy_tol": 1.0},
        {"embedding_noise": -1.0},
        {"embedding_noise": INF},
        {"dedup": "all"},
        {"selection": "top"},
        {"selected": 3},
        {"max_passages": 0},
    ],
)
def test_rules_that_mean_nothing_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InputError):
        SpanRules(**bad)  # type: ignore[arg-type] # bad input on purpose


def test_a_rule_may_be_replaced() -> None:
    assert replace(SpanRules(), rank="variance", q=1.0).q == 1.0
