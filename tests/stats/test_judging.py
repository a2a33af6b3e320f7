import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.contract.states import State
from trueness.stats.clouds import PARTS
from trueness.stats.judging import judge
from trueness.stats.verdicts import TABLE, VERDICTS, Entry, Relation, Verdict

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "atlas_comparison.json").read_text())
VECTORS = {v["name"]: v for v in GOLDEN if v["kind"] == "verdict"}
ORDERS = (2, 3, 4)
MIRROR = {
    "unchanged": "unchanged",
    "near_isospectral_inversion": "recovery",
    "recovery": "near_isospectral_inversion",
    "no_answer_attractor": "answering_up",
}

Limits = tuple[float, float, float]
"""Estimate, half width of the band, half width of the equivalence interval."""


def entry(part: str, limits: Limits, order: int = 2) -> Entry:
    value, band, t = limits
    return Entry(
        order,
        part,
        value,
        band=(value - band, value + band),
        t90=(value - t, value + t),
        epsilon_star=abs(value) + t,
        n_movers=25,
    )


def entries(changes: dict[str, Limits], orders: tuple[int, ...] = ORDERS) -> list[Entry]:
    still = (0.0, 0.01, 0.008)
    return [entry(part, changes.get(part, still), r) for r in orders for part in PARTS]


def of_vector(vector: dict[str, Any]) -> list[Entry]:
    found = []
    for order in vector["input"]["orders"]:
        for part, seen in vector["input"]["contrasts"].items():
            band, t90 = tuple(seen["band"]), tuple(seen["t90"])
            star = max(-t90[0], t90[1])
            found.append(
                Entry(order, part, seen["estimate"], band=band, t90=t90, epsilon_star=star)
            )
    return found


def swapped(one: Entry) -> Entry:
    assert one.estimate is not None
    turned = {
        name: None if ends is None else (-ends[1], -ends[0])
        for name, ends in (("band", one.band), ("t90", one.t90))
    }
    return replace(one, estimate=-one.estimate, **turned)  # type: ignore[arg-type] # fields by name


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_golden_verdicts(vector: dict[str, Any]) -> None:
    found = judge(of_vector(vector), margin=vector["input"]["margin"])
    assert found.name == vector["expected"]["verdict"]
    assert (found.reason is None) == (found.name != "unresolved")


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_golden_verdicts_do_not_depend_on_the_order_of_entries(vector: dict[str, Any]) -> None:
    given_ = of_vector(vector)
    assert judge(given_[::-1], margin=0.1) == judge(given_, margin=0.1)


def test_a_failed_margin_is_named_with_what_would_have_passed() -> None:
    found = judge(of_vector(VECTORS["verdict/inversion_margin_not_met"]))
    assert found.reason == "margin_not_met"
    (clause,) = found.failed
    assert (clause.row, clause.part, clause.relation) == (3, "total", Relation.EQUIVALENT)
    assert [at.epsilon_star for at in clause.numbers] == pytest.approx([0.165] * 3)


def test_nothing_seen_is_insufficient_evidence() -> None:
    found = judge(of_vector(VECTORS["verdict/unresolved_wide"]))
    assert found.reason == "insufficient_evidence"
    assert found.failed == ()


def test_two_rows_at_once_are_mixed() -> None:
    changes = {
        "total": (0.12, 0.02, 0.015),
        "gold": (0.06, 0.02, 0.015),
        "wrong": (0.06, 0.02, 0.015),
        "semantic": (0.12, 0.02, 0.015),
    }
    found = judge(entries(changes))
    assert (found.name, found.reason) == ("unresolved", "mixed")
    rows = {clause.row for clause in found.clauses}
    whole = {k for k in rows if all(c.holds for c in found.clauses if c.row == k)}
    assert whole == {1, 2}


def test_directions_that_fit_no_row_are_mixed() -> None:
    found = judge(entries({"gold": (0.3, 0.02, 0.015), "semantic": (0.3, 0.02, 0.015)}))
    assert (found.name, found.reason) == ("unresolved", "mixed")


def test_a_small_rise_of_the_total_is_no_arrow_of_consolidation() -> None:
    """Then the margin is met where it should not be: no margin clause is missing."""
    changes = {
        "total": (0.03, 0.01, 0.007),
        "gold": (0.2, 0.02, 0.015),
        "wrong": (-0.17, 0.2, 0.15),
    }
    found = judge(entries(changes))
    assert (found.name, found.reason) == ("unresolved", "mixed")


def test_equivalence_at_the_primary_order_alone_is_not_enough() -> None:
    seen = entries({})
    third = [
        entry("total", (0.0, 0.3, 0.2), 3) if e == entry("total", (0, 0.01, 0.008), 3) else e
        for e in seen
    ]
    found = judge(third)
    assert (found.name, found.reason) == ("unresolved", "insufficient_evidence")
    (clause,) = [c for c in found.clauses if (c.row, c.part) == (0, "total")]
    assert [at.holds for at in clause.numbers] == [True, False, True]
    assert clause.also_at == (4,)


def test_a_direction_lists_the_orders_at_which_it_holds_too() -> None:
    changes = {"gold": (-0.24, 0.1, 0.07), "wrong": (0.25, 0.1, 0.07)}
    seen = entries(changes)
    place = ORDERS.index(4) * 5 + PARTS.index("wrong")
    seen[place] = entry("wrong", (0.25, 0.26, 0.1), 4)
    found = judge(seen)
    assert found.name == "near_isospectral_inversion"
    arrows = {c.part: c.also_at for c in found.clauses if c.row == 3 and c.relation != "equivalent"}
    assert arrows == {"gold": (3, 4), "wrong": (3,)}


def test_few_movers_are_marked_where_a_clause_rests_on_them() -> None:
    seen = [replace(e, n_movers=9 if e.order == 4 else 10) for e in entries({})]
    found = judge(seen)
    marked = {(c.relation, c.few_movers) for c in found.clauses}
    assert (Relation.EQUIVALENT, True) in marked
    assert (Relation.UP, False) in marked
    assert not any(c.few_movers for c in found.clauses if c.relation == Relation.BELOW_MARGIN)


def test_limits_that_touch_zero_or_the_margin_do_not_pass() -> None:
    touching = entries({"total": (0.2, 0.2 - 1e-13, 0.1), "gold": (0.2, 0.2 - 1e-13, 0.1)})
    assert judge(touching).reason == "insufficient_evidence"
    at_margin = entries({"total": (0.0, 0.2, 0.1)})
    assert judge(at_margin, margin=0.1).name == "unresolved"
    assert judge(at_margin, margin=0.1001).name == "unchanged"


def test_without_spread_the_sign_flip_gives_the_direction() -> None:
    flat = [
        replace(e, state=State.DEGENERATE, band=None, p_adjusted=0.05)
        for e in entries(dict.fromkeys(("total", "gold", "semantic"), (0.5, 0.1, 0.02)))
    ]
    assert judge(flat).name == "consolidation"
    seen = [replace(e, p_adjusted=0.0501) for e in flat]
    assert judge(seen).reason == "insufficient_evidence"
    (clause,) = [c for c in judge(flat).clauses if (c.row, c.part, c.relation) == (1, "gold", "up")]
    assert (clause.numbers[0].low, clause.numbers[0].p_adjusted) == (None, 0.05)
    measured = [replace(e, state=State.MEASURED) for e in flat]  # a p replaces no missing band
    assert judge(measured).reason == "insufficient_evidence"


def test_without_golds_the_rows_without_them_remain() -> None:
    nothing = [
        replace(e, estimate=None, band=None, t90=None, state=State.NO_EVIDENCE)
        if e.part in ("gold", "wrong")
        else e
        for e in entries({})
    ]
    found = judge(nothing, gold_known=False)
    assert found.name == "unchanged"
    assert {c.row for c in found.clauses} == {0, 5, 6, 7}
    assert not {c.part for c in found.clauses} & {"gold", "wrong"}
    assert judge(nothing, gold_known=True).name == "unresolved"
    for changes, name in (
        ({"total": (0.4, 0.1, 0.07), "none": (0.5, 0.1, 0.07), "semantic": (-0.1, 0.05, 0.03)}, 5),
        ({"total": (-0.4, 0.1, 0.07), "semantic": (-0.4, 0.1, 0.07)}, 6),
        ({"none": (-0.3, 0.1, 0.07), "semantic": (0.3, 0.1, 0.07)}, 7),
    ):
        assert judge(entries(changes), gold_known=False).name == TABLE[name][0]
    other = judge(entries({"semantic": (0.4, 0.1, 0.07)}), gold_known=False)
    assert (other.name, other.reason) == ("unresolved", "gold_unknown")


def test_unchanged_notes_that_items_moved() -> None:
    moved = judge(entries({}), omnibus_p=0.049)
    assert moved.notes == ("items moved, the mean did not",)
    assert judge(entries({}), omnibus_p=0.05).notes == ()
    assert judge(entries({"total": (0.0, 0.3, 0.2)}), omnibus_p=0.001).notes == ()


def test_every_clause_is_listed_whatever_the_verdict() -> None:
    relations = [
        (row, part, relation)
        for row, (_, conditions) in enumerate(TABLE)
        for part, relation in conditions
    ]
    found = judge(entries({}))
    assert [(c.row, c.part, c.relation) for c in found.clauses] == relations
    assert {c.verdict for c in found.clauses} == set(VERDICTS) - {"unresolved"}
    assert (found.alpha, found.error_rate) == (0.05, 0.1)


def test_incomplete_entries_and_bad_margins_are_refused() -> None:
    with pytest.raises(InputError, match="do not hold each of total"):
        judge(entries({})[1:])
    with pytest.raises(InputError, match="once an order"):
        judge([])
    with pytest.raises(InputError, match="margin is 0"):
        judge(entries({}), margin=0)


def test_the_primary_order_is_two_or_the_smallest() -> None:
    assert judge(entries({}, orders=(4, 3, 2))).primary_order == 2
    assert judge(entries({}, orders=(5, 3))).primary_order == 3


LIMITS = st.tuples(
    st.sampled_from([-0.4, -0.12, -0.03, 0.0, 0.03, 0.12, 0.4]),
    st.sampled_from([0.01, 0.05, 0.2]),
    st.sampled_from([0.005, 0.04, 0.15]),
)


def consistent(found: Verdict) -> bool:
    """The verdict follows from the clauses that it lists."""
    holds = {k: all(c.holds for c in found.clauses if c.row == k) for k in range(8)}
    inner = [k for k in range(1, 7) if holds[k]]
    if holds[0]:
        return found.name == "unchanged"
    if len(inner) == 1:
        return found.name == TABLE[inner[0]][0]
    if holds[7]:
        return found.name == "answering_up" and not inner
    return found.name == "unresolved"


@given(st.fixed_dictionaries(dict.fromkeys(PARTS, LIMITS)))
def test_swapping_arms_mirrors_what_has_a_mirror(changes: dict[str, Limits]) -> None:
    seen = entries(changes)
    one, two = judge(seen), judge([swapped(e) for e in seen])
    assert consistent(one)
    assert consistent(two)
    if one.name in MIRROR:
        assert two.name == MIRROR[one.name]


@given(st.fixed_dictionaries(dict.fromkeys(PARTS, LIMITS)))
def test_total_never_decides_both_kinds_of_row(changes: dict[str, Limits]) -> None:
    found = judge(entries(changes))
    whole = {k for k in range(1, 7) if all(c.holds for c in found.clauses if c.row == k)}
    assert not (whole & {3, 4} and whole & {1, 2, 5, 6})
