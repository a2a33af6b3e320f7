"""What an atlas says about itself: sentences, numbers and cells that people read."""

import json
from typing import Any

import pytest
from atlas_tables import ERROR, Cell, drawn, spread

from trueness.contract import Reading
from trueness.contract.blocks import Bars, Clauses, Curve, Facts, Notes, SimplexArrows, Table
from trueness.contract.errors import InputError
from trueness.sensors.atlas import Params, compare, measure, words
from trueness.stats.verdicts import TABLE, VERDICTS, Relation

QUICK = Params(replicates=200)
MIXED: tuple[Cell, ...] = ("g", "g", "a", "b", None, "g", "a", "c")


def block(found: Reading, kind: type) -> Any:
    return next(b for b in found.blocks if isinstance(b, kind))


def said(found: Reading) -> str:
    return json.dumps(found.to_dict()["blocks"], ensure_ascii=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0271, "+.027"),
        (-0.0004, ".000"),
        (0.0, ".000"),
        (-0.0, ".000"),
        (1.0, "+1.000"),
        (-1e-17, ".000"),
        (None, "not measured"),
    ],
)
def test_changes_have_a_sign_and_no_noise(value: float | None, text: str) -> None:
    assert words.signed(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.02, ".020"), (-0.4, "−.400"), (-1e-9, ".000")])
def test_shares_have_no_leading_zero(value: float, text: str) -> None:
    assert words.bare(value) == text


def test_every_verdict_and_every_clause_has_words() -> None:
    assert set(words._MEANS) == set(VERDICTS)
    texts = [words.clause_text(part, relation) for _, row in TABLE for part, relation in row]
    assert all(texts)
    assert {relation for _, row in TABLE for _, relation in row} == set(Relation)


def test_a_comparison_has_its_blocks_in_order() -> None:
    table = drawn(spread(4, MIXED), greedy=dict.fromkeys(spread(4, MIXED), "g"))
    kinds = [type(b).__name__ for b in compare(table, table, QUICK).blocks]
    assert kinds == [
        *("Statement", "Bars", "IntervalDots", "SimplexArrows", "Curve", "Clauses"),
        *("Facts", "Facts", "Table", "Facts", "Notes", "Notes", "Notes"),
    ]


def test_bars_show_the_items_of_both_arms_so_that_they_differ_by_the_change() -> None:
    one = drawn({"q": ("g", "g", "a"), "r": ("a", "a", "a")})
    two = drawn({"q": ("g", "g", "g"), "r": ("a",)})
    found = compare(one, two, QUICK)
    bars: Bars = block(found, Bars)
    before, after = ({p.label: p.value for p in bar.parts} for bar in bars.bars[:2])
    assert before == pytest.approx({"gold": 1 / 3, "wrong": 0, "no answer": 0})
    assert after == pytest.approx({"gold": 1, "wrong": 0, "no answer": 0})


def test_bars_of_one_arm_add_up_to_the_total() -> None:
    found = measure(drawn(spread(3, MIXED)), QUICK)
    bars: Bars = block(found, Bars)
    parts: Any = found.details["parts"]
    for bar, order in zip(bars.bars, ("2", "3", "4"), strict=True):
        assert sum(p.value for p in bar.parts) == pytest.approx(parts[order]["total"])


def test_an_item_is_a_row_with_both_clouds_gold_first_and_no_answer_last() -> None:
    found = compare(drawn({"q": MIXED}), drawn({"q": ("a",) * 8}), QUICK)
    table: Table = block(found, Table)
    row: Any = table.rows[0]
    assert [(p[0], p[1]) for p in row[2].parts][:2] == [("g", 3), ("a", 2)]
    assert row[2].parts[-1][0] == "no answer"
    assert row[3].parts[0][:2] == ("g", 0)
    numbers = [c for c in row if isinstance(c, float)]
    assert all(len(repr(abs(c))) <= 10 for c in numbers)
    assert 0 not in row[10:12]


def test_strips_of_many_answers_name_the_largest_and_count_the_rest() -> None:
    cloud: tuple[Cell, ...] = ("g", *[f"x{i}" for i in range(12)], "x0", "x0", None)
    row: Any = block(measure(drawn({"q": cloud}), QUICK), Table).rows[0]
    parts = row[2].parts
    assert len(parts) <= 8
    assert parts[0][:2] == ("g", 1)
    assert parts[1][:2] == ("x0", 3)
    assert sum(p[1] for p in parts) == len(cloud)
    assert any(p[0].endswith("other answers") for p in parts)


def test_arrows_and_curves_are_shares() -> None:
    found = compare(drawn(spread(3, MIXED)), drawn(spread(3, ("g",) * 8)), QUICK)
    arrows: SimplexArrows = block(found, SimplexArrows)
    assert arrows.arrows[0].start == pytest.approx((3 / 8, 4 / 8, 1 / 8))
    assert arrows.arrows[0].end == (1, 0, 0)
    curve: Curve = block(found, Curve)
    for _, value in (point for series in curve.series for point in series.points):
        assert value is None or 0 <= value <= 1 + 1e-12


def test_a_clause_shows_the_order_that_it_fails_at() -> None:
    one, two = drawn(spread(40, ("g", "g", "a", "b"))), drawn(spread(40, ("g", "a", "a", "a")))
    clauses: Clauses = block(compare(one, two, QUICK), Clauses)
    shown = {(r.verdict, r.clause): r for r in clauses.rows}
    row = shown["unchanged", "answered agreement within the margin at every order"]
    assert (row.held, row.numbers[:5]) == (False, "r = 2")
    none = shown["unchanged", "no answer within the margin at every order"]
    assert (none.held, none.mark) == (True, "few movers")


def test_shared_fields_of_two_protocols_are_said_once() -> None:
    one = drawn({"q": MIXED}, protocol={"model": "a"})
    two = drawn({"q": MIXED}, protocol={"model": "b"})
    notes = [b for b in compare(one, two, QUICK).blocks if isinstance(b, Notes)]
    lines = next(b.lines for b in notes if b.role == "protocol")
    assert 'model: "a" → "b"' in lines
    assert lines.count("temperature: 0.7") == 1
    assert lines[0].startswith("before condition none, protocol ")


def test_identical_draws_that_were_sampled_are_suspected_of_a_cache() -> None:
    assert "served from a cache?" in said(measure(drawn(spread(3, ("g",) * 4)), QUICK))
    assert "served from a cache?" not in said(measure(drawn(spread(3, MIXED)), QUICK))


def test_missing_draws_are_counted_and_bounded() -> None:
    found = measure(drawn({"q": (*MIXED, ERROR), "r": MIXED}), QUICK)
    assert "1 draw missing; these bounds are certain" in said(found)
    facts = [b for b in found.blocks if isinstance(b, Facts)]
    assert any(f.display == "1" for b in facts for f in b.facts if f.name == "missing draws")


def test_a_sequence_of_items_is_watched_only_when_asked() -> None:
    one, two = drawn(spread(60, ("g", "g", "a", "b"))), drawn(spread(60, ("g",) * 4))
    assert compare(one, two, QUICK).details["sequential"] is None
    found = compare(one, two, Params(replicates=200, sequential="shuffled"))
    watched: Any = found.details["sequential"]
    assert watched["gold"]["stopped_after"] is not None
    assert watched["gold"]["low"] > 0
    assert "Watched item by item" in said(found)
    assert "random order that was drawn before looking" in said(found)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"orders": ()}, "orders"),
        ({"orders": (1,)}, "orders"),
        ({"orders": (2, 2)}, "orders"),
        ({"orders": (2.5,)}, "orders"),
        ({"orders": (True,)}, "orders"),
        ({"orders": (65,)}, "orders"),
        ({"margin": float("nan")}, "margin"),
        ({"margin": 0}, "margin"),
        ({"margin": "wide"}, "margin"),
        ({"level": 0.3}, "level"),
        ({"level": float("nan")}, "level"),
        ({"min_overlap": 0}, "min_overlap"),
        ({"first": 0}, "first"),
        ({"first": 1.5}, "first"),
        ({"replicates": 1}, "replicates"),
        ({"seed": -1}, "seed"),
        ({"none_classes": "some"}, "none_classes"),
        ({"votes": "loud"}, "votes"),
        ({"sequential": "yes"}, "sequential"),
    ],
)
def test_a_parameter_outside_its_range_is_named(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=f"^{named} is "):
        Params(**given)


def test_parameters_say_themselves_and_have_an_order() -> None:
    given: dict[str, Any] = {"orders": [4, 2], "level": 0.95, "strict": True}
    params = Params(**given)
    assert (params.orders, params.primary) == ((2, 4), 2)
    assert params.alpha == pytest.approx(0.025)
    assert params.said()["orders"] == [2, 4]


def test_without_right_answers_the_sentence_tells_answers_from_none() -> None:
    table = drawn({"q": ("a", "a", "b", None)}, golds=None)
    assert "probability .167: answered agreement .167, no answer .000" in (
        measure(table, QUICK).statement
    )
    assert "answered agreement by .000" in compare(table, table, QUICK).statement


def test_the_test_behind_adjusted_p_and_its_size_are_said() -> None:
    table = drawn(spread(3, MIXED))
    found = compare(table, table, QUICK)
    assert "exact if the arms are exchangeable within items" in said(found)
    flips: Any = found.details["sign_flip"]
    assert flips["enumerated"] is True
    assert isinstance(found.details["replicates"], int)
    assert found.details["replicates"] >= 200


def test_a_sentence_says_over_how_many_items_gold_and_wrong_are_means() -> None:
    cloud = spread(4, MIXED)
    partly = drawn(cloud, golds=dict.fromkeys(list(cloud)[:3], "g"))
    known = "gold and wrong over the 3 with a known right answer"
    assert f"4 items × 8 draws, {known})" in measure(partly, QUICK).statement
    assert f"4 items × 8 draws, {known})" in compare(partly, partly, QUICK).statement
    for golds in ("g", None):
        whole = drawn(cloud, golds=golds)
        assert "known right answer)" not in measure(whole, QUICK).statement
        assert "known right answer)" not in compare(whole, whole, QUICK).statement
