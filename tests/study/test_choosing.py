"""Choosing among conditions: the golden vectors, pairing, early exit and blind spots.

The scorer here is a plain statement of two certificates, so that the choice is tested apart from
any sensor: an answer set in which every answer belongs to at most one entity, and, without one,
the heaviest assignment of answers to entities, found by trying all of them.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract import Decision, Direction, Reading, State, Verdict
from trueness.contract.blocks import Statement
from trueness.contract.errors import InputError
from trueness.decide.replay import replay_choice
from trueness.sensors.orbits import Declaration
from trueness.study.choosing import (
    Standing,
    can_stop,
    choose_condition,
    lists_answers,
    stopped,
)
from trueness.table import OUTCOMES, AnswerTable, Column, Outcome, Protocol

GOLDEN = Path(__file__).parents[1] / "golden" / "asking.json"
VECTORS = [v for v in json.loads(GOLDEN.read_text("utf-8")) if v["kind"] == "choose"]
CAPITALS = ("Paris", "Rome", "Tokyo", "Madrid")
COUNTRIES = ("France", "Italy", "Japan", "Spain")

Answers = Sequence[Sequence[str | None]]
"""Entity by template; None is a no-answer, ``"!error"`` a missing row."""


def table_of(
    conditions: Mapping[str, Answers],
    entities: Sequence[str] = COUNTRIES,
    protocols: Mapping[str, Protocol] | None = None,
) -> AnswerTable:
    rows = [
        (name, entity, f"{t}", answer)
        for name, answers in conditions.items()
        for entity, said in zip(entities, answers, strict=True)
        for t, answer in enumerate(said)
    ]
    said = [row[3] for row in rows]
    outcome = [
        Outcome.ERROR if a == "!error" else Outcome.NO_ANSWER if a is None else Outcome.ANSWERED
        for a in said
    ]
    answered = [o == Outcome.ANSWERED for o in outcome]
    return AnswerTable(
        item=Column.of(f"r|{e}|{t}" for _, e, t, _ in rows),
        epoch=np.ones(len(rows), dtype=np.int32),
        condition=Column.of(r[0] for r in rows),
        outcome=np.array([OUTCOMES.index(o) for o in outcome], dtype=np.int8),
        answer=Column.of(a if ok else None for a, ok in zip(said, answered, strict=True)),
        reason=Column.of(None if ok else "empty" for ok in answered),
        row_number=np.arange(1, len(rows) + 1),
        entity=Column.of(r[1] for r in rows),
        template=Column.of(r[2] for r in rows),
        protocols=protocols or {},
    )


def scorer(answer_set: Sequence[str] | None) -> Callable[[AnswerTable], Reading]:
    def measure(table: AnswerTable) -> Reading:
        assert table.entity is not None
        pairs = list(zip(table.entity.values(), table.answer.values(), strict=True))
        assert not (table.outcome == OUTCOMES.index(Outcome.ERROR)).any()
        said = [(str(e), a) for e, a in pairs if a is not None]
        votes = Counter((e, a) for e, a in said if a != e)
        right = heaviest(votes, answer_set)
        count, n = len(pairs) - right, len(pairs)
        return reading_of(count, n, proved=len(said) - right)

    return measure


def heaviest(votes: Counter[tuple[str, str]], answer_set: Sequence[str] | None) -> int:
    """Most slots that any one-to-one assignment of answers to entities makes right."""
    entities = sorted({e for e, _ in votes})
    answers = sorted({a for _, a in votes if answer_set is None or a in answer_set})
    padded = [*answers, *[""] * len(entities)]
    if answer_set is not None and all(v == 1 for v in votes.values()):
        return len(answers)  # one template: Theorem 1*
    return max(
        sum(votes[e, a] for e, a in zip(entities, chosen, strict=True))
        for chosen in permutations(padded, len(entities))
    )


def reading_of(count: int, n: int, *, proved: int) -> Reading:
    state = State.MEASURED if proved else State.SILENT
    return Reading(
        "made.up",
        Direction.HIGHER_IS_WORSE,
        state,
        None if proved else "nothing is proved",
        proved / n if proved else None,
        n,
        n,
        (Statement("made up"),),
        details={"not_right_floor": count / n, "not_right_floor_parts": [count, n]},
    )


def choose_in(
    conditions: Mapping[str, Answers],
    answer_set: Sequence[str] | None = CAPITALS,
    entities: Sequence[str] = COUNTRIES,
    **options: Any,
) -> Decision:
    return choose_condition(
        table_of(conditions, entities),
        measure=scorer(answer_set),
        answer_set=answer_set is not None,
        **options,
    )


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_golden_vector(vector: dict[str, Any]) -> None:
    given_, expected = vector["input"], vector["expected"]
    conditions = {c["name"]: c["answers"] for c in given_["conditions"]}
    decision = choose_in(
        conditions,
        given_["answer_set"],
        given_["entities"],
        candidates=[n for n in conditions if n != "none"],
        accept_label_free=given_["accept_label_free"],
        min_common=given_["min_common"],
        answer_spaces={c["name"]: c["answer_space"] for c in given_["conditions"]},
        added_tokens={c["name"]: c["tokens"] for c in given_["conditions"]},
    )
    found = {**decision.details, "state": decision.state.value, "reason": decision.reason}
    assert {k: found[k] for k in expected} == expected
    assert decision.taken == (expected["winner"] if expected.get("intervened") else None)
    assert replay_choice(decision) == ()


def test_an_excluded_condition_is_reported_with_its_score_and_reason() -> None:
    decision = choose_in(
        {"none": [["Paris"], ["Rome"], ["x"], ["y"]], "x": [["Paris"], *[["!error"]] * 3]},
    )
    assert decision.details["excluded"] == {"x": "1 of 4 slots in common, at least 9/10 wanted"}
    assert decision.details["excluded_scores"] == {"x": "0"}
    assert decision.items(Verdict.EXCLUDE) == ("x",)
    assert decision.items(Verdict.KEEP) == ("none",)
    assert decision.taken is None


def test_the_missing_rows_of_a_loser_move_every_score() -> None:
    none = [["Paris"], ["Paris"], ["Tokyo"], ["Madrid"]]
    loser = [["a"], ["!error"], ["b"], ["c"]]
    alone = choose_in({"none": none, "p": [["Paris"], ["Rome"], ["Tokyo"], ["x"]]})
    both = choose_in(
        {"none": none, "p": [["Paris"], ["Rome"], ["Tokyo"], ["x"]], "loser": loser},
        min_common="3/4",
    )
    assert alone.details["scores"] == {"none": "1/4", "p": "1/4"}
    assert both.details["scores"] == {"none": "0", "loser": "1", "p": "1/3"}


def test_no_slot_measured_under_every_condition_is_no_evidence() -> None:
    decision = choose_in({"none": [["!error"]] * 4, "p": [["Paris"]] * 4})
    assert (decision.state, decision.taken) == (State.NO_EVIDENCE, None)
    assert decision.verdicts == ()


def test_row_order_changes_nothing() -> None:
    table = table_of(
        {
            "none": [["the"]] * 4,
            "b": [["Paris"], ["Rome"], ["a"], ["a"]],
            "a": [["Tokyo"], ["Madrid"], ["a"], ["a"]],
        }
    )
    rng = np.random.default_rng(7)
    first = choose_condition(table, measure=scorer(CAPITALS), answer_set=True)
    for _ in range(5):
        order = rng.permutation(len(table))
        again = choose_condition(table.take(order), measure=scorer(CAPITALS), answer_set=True)
        assert again == first
    assert first.taken == "a"  # tied; without protocols the declared order is by name


def test_the_declared_order_is_that_of_the_protocols() -> None:
    conditions: dict[str, Answers] = {
        "none": [["the"]] * 4,
        "a": [["Paris"], ["Rome"], ["x"], ["x"]],
        "b": [["Tokyo"], ["Madrid"], ["x"], ["x"]],
    }
    protocols = {n: Protocol({"condition": {"kind": n}}) for n in ("none", "b", "a")}
    table = table_of(conditions, protocols=protocols)
    decision = choose_condition(table, measure=scorer(CAPITALS), answer_set=True)
    assert decision.taken == "b"


def test_lengths_and_allowed_answers_are_read_from_the_protocols() -> None:
    conditions: dict[str, Answers] = {
        "none": [["the"]] * 4,
        "long": [["Paris"], ["Rome"], ["x"], ["x"]],
        "short": [["Tokyo"], ["Madrid"], ["x"], ["x"]],
        "only": [["Paris"], ["Rome"], ["Madrid"], ["Tokyo"]],
    }
    fields: dict[str, dict[str, Any]] = {
        "none": {"kind": "none"},
        "long": {"kind": "prose", "length": 50},
        "short": {"kind": "system", "n_tokens": 10},
        "only": {"kind": "allowed", "n_tokens": None, "length": 0, "allowed": list(CAPITALS)},
    }
    protocols = {n: Protocol({"condition": f}) for n, f in fields.items()}
    decision = choose_condition(
        table_of(conditions, protocols=protocols), measure=scorer(CAPITALS), answer_set=True
    )
    assert decision.taken == "short"
    assert decision.details["excluded"] == {"only": "answer space differs from the baseline"}


def test_a_candidate_with_the_protocol_of_the_baseline_is_refused() -> None:
    same = Protocol({"model": "m"})
    table = table_of({"none": [["a"]] * 4, "x": [["b"]] * 4}, protocols={"none": same, "x": same})
    with pytest.raises(InputError, match="'x' has the protocol of the baseline 'none'"):
        choose_condition(table, measure=scorer(CAPITALS), answer_set=True)


def test_protocols_that_say_nothing_are_not_the_same_condition() -> None:
    nothing = {"none": Protocol(), "x": Protocol()}
    table = table_of({"none": [["a"]] * 4, "x": [["Rome"]] * 4}, protocols=nothing)
    decision = choose_condition(table, measure=scorer(CAPITALS), answer_set=True)
    assert decision.taken == "x"


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (["x", "x"], "'x' cannot be a candidate"),
        (["none"], "'none' cannot be a candidate"),
        (["y"], "'y' has no rows"),
        ([], "nothing to choose among"),
        ("x", "a list of names is wanted"),
    ],
)
def test_candidates_that_cannot_be_are_refused(candidates: Any, message: str) -> None:
    conditions: dict[str, Answers] = {"none": [["a"]] * 4, "x": [["b"]] * 4}
    with pytest.raises(InputError, match=message):
        choose_in(conditions, candidates=candidates)


def test_a_missing_baseline_is_refused() -> None:
    with pytest.raises(InputError, match="'none' has no rows"):
        choose_in({"x": [["a"]] * 4, "y": [["b"]] * 4})


def test_the_empty_condition_is_never_a_candidate() -> None:
    decision = choose_in(
        {"base": [["a"]] * 4, "x": [["b"]] * 4, "none": [["Paris"]] * 4}, baseline="base"
    )
    assert decision.details["excluded"] == {"none": "the empty condition is no candidate"}
    with pytest.raises(InputError, match="'none' cannot be a candidate"):
        choose_in({"base": [["a"]] * 4, "none": [["b"]] * 4}, baseline="base", candidates=["none"])


def test_golds_permuted_score_zero_with_an_answer_set() -> None:
    decision = choose_in(
        {"none": [["Paris"], ["Rome"], ["Tokyo"], ["x"]], "p": [[c] for c in CAPITALS[::-1]]}
    )
    assert decision.details["scores"] == {"none": "1/4", "p": "0"}
    assert decision.taken == "p"  # every answer is wrong: the blind spot of an answer set
    assert "permuted" in str(decision.details["blind_to"])


def test_stable_distinct_garbage_wins_without_an_answer_set() -> None:
    decision = choose_in(
        {
            "none": [["Paris", "Paris"], ["Rome", "Rome"], ["Tokyo", "Paris"], ["x", "y"]],
            "p": [["a", "a"], ["b", "b"], ["c", "c"], ["d", "d"]],
        },
        answer_set=None,
        accept_label_free=True,
    )
    assert decision.taken == "p"
    assert "garbage" in str(decision.details["blind_to"])


def test_echo_and_refusal_never_win() -> None:
    decision = choose_in(
        {
            "none": [["Paris"], ["x"], ["y"], ["z"]],
            "echo": [[c] for c in COUNTRIES],
            "refuse": [[None]] * 4,
        }
    )
    assert decision.details["scores"] == {"none": "3/4", "echo": "1", "refuse": "1"}
    assert decision.taken is None


answers = st.lists(
    st.sampled_from([*CAPITALS, "the", "France", None]).map(lambda a: [a]), min_size=4, max_size=4
)
several = st.lists(answers, min_size=1, max_size=4)


@given(none=answers, candidates=several)
def test_the_winner_is_strictly_below_the_baseline_or_there_is_none(
    none: list[list[str | None]], candidates: list[list[list[str | None]]]
) -> None:
    decision = choose_in({"none": none, **{f"c{i}": a for i, a in enumerate(candidates)}})
    scores = {n: Fraction(str(s)) for n, s in _object(decision.details["scores"]).items()}
    if decision.taken is None:
        assert min(scores.values()) == scores["none"]
    else:
        assert scores[decision.taken] == min(scores.values()) < scores["none"]
    assert replay_choice(decision) == ()


@given(none=answers, candidates=several, order=st.randoms(use_true_random=False))
def test_the_winner_depends_on_declared_order_in_a_tie_only(
    none: list[list[str | None]], candidates: list[list[list[str | None]]], order: Any
) -> None:
    conditions: dict[str, Answers] = {f"c{i}": a for i, a in enumerate(candidates)}
    names = list(conditions)
    first = choose_in({"none": none, **conditions}, candidates=names)
    order.shuffle(names)
    again = choose_in({"none": none, **conditions}, candidates=names)
    assert again.details["scores"] == first.details["scores"]
    tied = first.details["tied_best"]
    assert isinstance(tied, list)
    assert set(tied) == set(_list(again.details["tied_best"]))
    assert again.taken == (next(n for n in names if n in tied) if tied else None)


@given(none=answers, candidates=several, loser=answers)
def test_adding_a_losing_candidate_changes_nothing(
    none: list[list[str | None]],
    candidates: list[list[list[str | None]]],
    loser: list[list[str | None]],
) -> None:
    conditions: dict[str, Answers] = {"none": none}
    conditions |= {f"c{i}": a for i, a in enumerate(candidates)}
    before = choose_in(conditions)
    after = choose_in({**conditions, "late": loser})
    if after.taken != "late":
        assert after.taken == before.taken
        scores = _object(after.details["scores"])
        scores.pop("late")
        assert scores == before.details["scores"]


tokens = st.lists(st.integers(0, 3), min_size=4, max_size=4)


@given(none=answers, candidates=several, costs=tokens)
def test_early_exit_never_changes_the_winner(
    none: list[list[str | None]], candidates: list[list[list[str | None]]], costs: list[int]
) -> None:
    conditions: dict[str, Answers] = {f"c{i}": a for i, a in enumerate(candidates)}
    added = dict(zip(conditions, costs, strict=False))
    exhaustive = choose_in({"none": none, **conditions}, added_tokens=added)
    assert _raced(none, conditions, added) == exhaustive.taken


def test_early_exit_asks_on_where_a_tie_would_be_won() -> None:
    best = Standing(3, added_tokens=5, order=1)
    assert can_stop(Standing(3, 5, 2), [best], baseline_count=9)
    assert can_stop(Standing(3, 6, 0), [best], baseline_count=9)
    assert not can_stop(Standing(3, 4, 2), [best], baseline_count=9)
    assert can_stop(Standing(4, 0, 0), [best], baseline_count=9)
    assert not can_stop(Standing(2, 9, 9), [best], baseline_count=9)


def test_nothing_is_asked_when_the_baseline_cannot_be_improved() -> None:
    assert can_stop(Standing(0), [], baseline_count=0)
    assert not can_stop(Standing(0), [], baseline_count=1)
    assert stopped(Standing(7), 20) == "stopped at ≥ 7/20"


def _raced(
    none: Answers, conditions: Mapping[str, Answers], added: Mapping[str, int]
) -> str | None:
    """The winner when the candidates are asked one slot after another and stopped early."""
    limit = _not_right(none)
    finished: dict[str, Standing] = {}
    for order, (name, said) in enumerate(conditions.items()):
        for n_asked in range(len(said) + 1):
            count = _not_right(said[:n_asked]) if n_asked else 0
            now = Standing(count, added[name], order)
            if can_stop(now, finished.values(), baseline_count=limit):
                break
        else:
            finished[name] = now
    won = [n for n, s in finished.items() if s.count < limit]
    key = {n: (s.count, s.added_tokens, s.order) for n, s in finished.items()}
    return min(won, key=lambda n: key[n]) if won else None


def _not_right(said: Answers) -> int:
    table = table_of({"c": said}, COUNTRIES[: len(said)])
    parts = scorer(CAPITALS)(table).details["not_right_floor_parts"]
    count = _list(parts)[0]
    assert isinstance(count, int)
    return count


def _object(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return dict(value)


def _list(value: object) -> list[Any]:
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize(
    ("words", "lists"),
    [
        ({"values": "integer", "low": 1, "high": 9}, True),
        ({"values": "integer", "low": 1}, False),
        ({"values": "integer", "high": 9}, False),
        ({"values": "real", "low": 1, "high": 9}, False),
        ({}, False),
    ],
)
def test_ordered_whole_numbers_between_two_limits_are_an_answer_set(
    words: dict[str, Any], *, lists: bool
) -> None:
    assert lists_answers(Declaration(relation="increasing", **words)) is lists
    assert lists_answers(Declaration(relation="decreasing", **words)) is lists
    assert not lists_answers(Declaration(relation="injective", **words))
