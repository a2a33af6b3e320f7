"""Claims measured from Python: lists, frames and files, any callable as embedder."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from trueness.api.grounding import ground
from trueness.contract import State
from trueness.contract.errors import BackendError, InputError

CLAIMS = ["ab", "cd", "e"]
EVIDENCE: list[Any] = [["a", "b"], "c. d.", None]


def letters(texts: list[str]) -> list[list[float]]:
    return [[float(t.count(c)) for c in "abcdefgh"] for t in texts]


def test_lists_frames_and_rows_give_one_reading() -> None:
    one = ground(CLAIMS, EVIDENCE, embedder=letters)
    assert [i.state for i in one.per_item] == [State.MEASURED] * 2 + [State.NO_EVIDENCE]
    assert one.value == pytest.approx(0.0, abs=1e-12)
    rows = [{"claim": c, "docs": e} for c, e in zip(CLAIMS, EVIDENCE, strict=True)]
    assert list(ground(rows, "docs", embedder=letters).per_item) == list(one.per_item)
    frame = pl.DataFrame({"claim": CLAIMS[:1], "evidence": EVIDENCE[:1]})
    assert ground(frame, embedder=letters).per_item[0] == one.per_item[0]


def test_the_revision_of_a_callable_is_part_of_the_identity() -> None:
    one, two = (ground(CLAIMS, EVIDENCE, embedder=letters, revision=r) for r in ("1", "2"))
    assert one.fingerprint != two.fingerprint
    embedder = one.identity["embedder"]
    assert isinstance(embedder, dict)
    assert embedder["revision"] == "1"


def test_a_callable_without_revision_is_never_cached(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    ground(CLAIMS, EVIDENCE, embedder=letters, cache=path)
    assert not path.exists()
    ground(CLAIMS, EVIDENCE, embedder=letters, revision="1", cache=path)
    assert path.exists()


def test_a_text_that_the_embedder_fails_on_is_an_item_with_its_reason() -> None:
    def broken(texts: list[str]) -> list[list[float]]:
        if "b" in texts:
            msg = "no b"
            raise ValueError(msg)
        return letters(texts)

    reading = ground(CLAIMS, EVIDENCE, embedder=broken)
    first = reading.per_item[0]
    assert (first.state, first.value) == (State.NOT_APPLICABLE, None)
    assert first.reason is not None
    assert first.reason.startswith("error: ")
    assert reading.per_item[1].state is State.MEASURED
    assert reading.n_measured == 1


def test_vectors_of_zero_or_with_nothing_finite_are_no_measurement() -> None:
    reading = ground(["x"], [["a"]], embedder=letters)
    assert (reading.per_item[0].state, reading.per_item[0].reason) == (
        State.DEGENERATE,
        "claim_zero",
    )
    with pytest.raises(BackendError, match="no text could be embedded"):
        ground(["a"], [["b"]], embedder=lambda texts: [[float("nan")] for _ in texts])


@pytest.mark.parametrize("scale", [1e-25, 1e200])
@pytest.mark.parametrize("sensor", ["energy", "energy.cone", "energy.sigma", "baseline.top1"])
def test_the_unit_in_which_an_embedder_counts_moves_nothing(sensor: str, scale: float) -> None:
    def scaled(texts: list[str]) -> Any:
        return np.array(letters(texts)) * scale

    claims, evidence = ["abc", "bdd", "ae"], [["ab", "cd"], ["b", "ad"], ["ea", "hh"]]
    plain, found = (ground(claims, evidence, sensor=sensor, embedder=e) for e in (letters, scaled))
    assert found.n_measured == plain.n_measured > 0
    for one, other in zip(plain.per_item, found.per_item, strict=True):
        assert other.state is one.state
        assert other.value == pytest.approx(one.value, abs=1e-13)


def test_vectors_below_what_counts_as_something_are_of_length_zero() -> None:
    reading = ground(["ab"], [["a"]], embedder=lambda ts: np.array(letters(ts)) * 1e-40)
    assert reading.per_item[0].reason == "claim_zero"


@pytest.mark.parametrize(
    ("source", "evidence", "given", "said"),
    [
        (CLAIMS, None, {}, "3 claims and no evidence"),
        (CLAIMS, EVIDENCE[:2], {}, "3 claims and evidence for 2"),
        (CLAIMS, 3, {}, "3 claims and evidence for int"),
        ("claims.jsonl", EVIDENCE, {}, "give a list of claims"),
        (CLAIMS, EVIDENCE, {"claim": "c"}, "a list without columns"),
        (CLAIMS, EVIDENCE, {"embedder": "minilmm"}, "no embedder is called 'minilmm'"),
        (CLAIMS, EVIDENCE, {"embedder": 3}, "must be callable"),
    ],
)
def test_what_does_not_fit_together_is_one_clear_error(
    source: Any, evidence: Any, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        ground(source, evidence, **{"embedder": letters, **given})
