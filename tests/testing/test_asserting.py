"""The rule behind every assertion, against all that unmeasured items could have been."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.api.asserting import (
    REGRESSIONS,
    RULINGS,
    error_floor,
    rulings,
    share,
    standing,
    verdict,
    words,
)
from trueness.contract import Decision, Direction, Reading, State
from trueness.contract.blocks import Statement
from trueness.contract.errors import InputError
from trueness.report import Outcome
from trueness.stats.verdicts import VERDICTS

SHARES = st.integers(0, 100).map(lambda n: n / 100)


def decided(measured: list[str], n_unknown: int, on_unmeasured: str) -> Decision:
    """A gate's decision: rulings of measured items, and one for all that were not."""
    every = measured + [on_unmeasured] * n_unknown
    counts = {f"n_{word}": every.count(word) for word in RULINGS}
    details = {"n_items": len(every), "n_measured": len(measured), **counts}
    return Decision(
        "gate",
        State.MEASURED,
        "decided",
        (),
        details={**details, "unmeasured_verdict": on_unmeasured},
    )


def reading(state: State, value: float | None = None, **details: object) -> Reading:
    return Reading(
        sensor="any",
        direction=Direction.HIGHER_IS_WORSE,
        state=state,
        reason=None if state is State.MEASURED else "because",
        value=value,
        n_measured=1,
        n_items=1,
        blocks=(Statement("said."),),
        details=details,  # type: ignore[arg-type] # plain JSON in every test
    )


@given(
    st.lists(st.sampled_from(RULINGS), max_size=5),
    st.integers(0, 3),
    st.sampled_from(("review", "reject")),
    st.lists(st.sampled_from(RULINGS), min_size=1, unique=True),
    SHARES,
)
def test_unmeasured_items_are_counted_each_way(
    measured: list[str], n_unknown: int, on_unmeasured: str, failing: list[str], most: float
) -> None:
    if not measured and not n_unknown:
        return
    check = rulings("", decided(measured, n_unknown, on_unmeasured), failing, most=most)
    n = len(measured) + n_unknown
    known = sum(word in failing for word in measured)
    open_items = n_unknown if on_unmeasured in failing else 0
    ends = {
        100 * (known + sum(case)) <= round(most * 100) * n
        for case in product((0, 1), repeat=open_items)
    }
    wanted = {frozenset({True}): Outcome.PASSED, frozenset({False}): Outcome.FAILED}
    assert check.outcome is wanted.get(frozenset(ends), Outcome.UNDECIDED)


@pytest.mark.parametrize(("n", "most", "allowed"), [(100, 0.29, 29), (10, 0.3, 3), (3, 0.33, 0)])
def test_a_share_is_the_decimal_that_it_prints_as(n: int, most: float, allowed: int) -> None:
    for bad, outcome in ((allowed, Outcome.PASSED), (allowed + 1, Outcome.FAILED)):
        given_ = decided(["reject"] * bad + ["accept"] * (n - bad), 0, "review")
        assert rulings("", given_, ("reject",), most=most).outcome is outcome


@pytest.mark.parametrize("state", list(State))
def test_an_assertion_holds_only_where_something_was_looked_at(state: State) -> None:
    found = reading(state, 0.1 if state is State.MEASURED else None)
    usable = state in {State.MEASURED, State.SILENT}
    check = error_floor("", found, 0.5)
    assert standing(check, state) is (Outcome.PASSED if usable else Outcome.UNDECIDED)
    assert "this is not a pass" in check.message


def test_a_share_at_the_limit_holds_and_above_it_fails() -> None:
    for value, outcome in ((0.5, Outcome.PASSED), (0.5000001, Outcome.FAILED)):
        found = reading(State.MEASURED, value)
        assert standing(error_floor("", found, 0.5), found.state) is outcome


def test_a_verdict_that_is_not_there_is_undecided() -> None:
    assert verdict("", reading(State.NO_EVIDENCE), VERDICTS).outcome is Outcome.UNDECIDED
    named = reading(State.MEASURED, 0.1, verdict={"name": "recovery"})
    assert verdict("", named, ("recovery",)).outcome is Outcome.FAILED
    assert verdict("", named, ("unchanged",)).outcome is Outcome.PASSED


def test_regressions_are_verdicts() -> None:
    assert set(REGRESSIONS) < set(VERDICTS)
    assert not {"unchanged", "consolidation", "recovery", "unresolved"} & set(REGRESSIONS)


def test_verdicts_are_named_by_a_text_or_by_texts() -> None:
    how = {"name": "--fail-on", "what": "verdicts"}
    assert words(" reject , review", RULINGS, **how) == ("reject", "review")
    assert words(["reject"], RULINGS, **how) == ("reject",)
    for wrong in ("", ",", "acept", [], None, 3, ["reject", "x"]):
        with pytest.raises(InputError, match="--fail-on"):
            words(wrong, RULINGS, **how)


@given(SHARES)
def test_a_share_from_0_to_1_is_taken(value: float) -> None:
    assert share(value, name="at_most") == value


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), None, "1", True])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="at_most is"):
        share(value, name="at_most")
