"""A threshold that does not know of the search is broken by it; one that does is not."""

import json

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.decide.promise import promise_of
from trueness.study.guards import Pool
from trueness.study.search_budget import search_budget
from trueness.study.searched import SearchCurve, value_aware

N = 200


def searched(seed: int, lead: str, budgets: tuple[int, ...] = (1, 4, 16, 64)) -> SearchCurve:
    rng = np.random.default_rng(seed)
    pool = Pool([f"{lead}{i:03}" for i in range(N)], [f"{lead}{i:03}" for i in range(N)])
    vectors = rng.normal(size=(2, N, 8))
    risks = rng.random((N, N))
    return value_aware(
        pool, vectors[0], vectors[1], score=lambda c, rows: risks[c, rows], budgets=budgets
    )


def sources(curve: SearchCurve) -> dict[str, str]:
    return {item: item for item in curve.items}


def test_a_longer_search_breaks_the_threshold_that_did_not_know_of_it() -> None:
    one, two = searched(0, "a"), searched(1, "b")
    rows = search_budget(
        one,
        two,
        promise_of(budget=0.05),
        calibration_sources=sources(one),
        evaluation_sources=sources(two),
    )
    assert [r.k for r in rows] == [1, 4, 16, 64]
    assert rows[-1].without.low > 0.05
    assert all(r.with_k.low <= 0.05 for r in rows)
    means = [r.mean for r in rows if r.mean is not None]
    assert means == sorted(means, reverse=True)
    taus = [r.tau_with for r in rows]
    assert taus == sorted(taus, reverse=True)
    json.dumps([r.to_dict() for r in rows], allow_nan=False)


def test_splits_searched_differently_or_of_one_source_are_refused() -> None:
    one, two = searched(0, "a"), searched(1, "b", (1, 2))
    for other, said in ((two, "Search both alike"), (one, "split by source")):
        with pytest.raises(InputError, match=said):
            search_budget(
                one,
                other,
                promise_of(),
                calibration_sources=sources(one),
                evaluation_sources=sources(other),
            )
