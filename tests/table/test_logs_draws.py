from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, Outcome, read_answers, stored, write
from trueness.table.column import pick
from trueness.table.logs import texts
from trueness.table.logs.draws import Draw, LogReport, TableBuilder
from trueness.table.logs.ordering import ranks
from trueness.table.logs.runs import labels


def built(draws: Sequence[Draw], **facts: object) -> AnswerTable:
    builder = TableBuilder()
    for draw in draws:
        builder.add(draw)
    return builder.table(LogReport("by hand", **facts))  # type: ignore[arg-type] # names of fields


def rows(table: AnswerTable) -> list[tuple[object, ...]]:
    assert table.completion is not None
    columns = [table.item.values(), table.epoch.tolist(), table.condition.values()]
    columns += [table.completion.values(), table.outcome.tolist(), table.reason.values()]
    columns += [c.values() for _, c in sorted(table.extras.items())]
    return list(zip(*columns, strict=True))


def test_rows_stand_in_order_of_item_and_epoch_whatever_order_they_came_in() -> None:
    draws = [
        Draw(item, epoch, f"{item} {epoch}") for item in ("s10", "s9", "a") for epoch in (2, 1)
    ]
    table = built(draws)
    assert [r[:2] for r in rows(table)] == [
        ("a", 1),
        ("a", 2),
        ("s9", 1),
        ("s9", 2),
        ("s10", 1),
        ("s10", 2),
    ]
    assert ranks(("x2y10", "x2y9", "x10", "x")).tolist() == [2, 1, 3, 0]


@given(st.data())
def test_shards_in_any_order_give_the_same_rows(data: st.DataObject) -> None:
    drawn = data.draw(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.integers(1, 5), st.sampled_from("xyz ")),
            min_size=1,
            unique_by=lambda d: d[:2],
        )
    )
    draws = [Draw(i, e, t, extras={"stop_reason": t}) for i, e, t in drawn]
    again = data.draw(st.lists(st.sampled_from(draws), max_size=5))
    shuffled = data.draw(st.permutations(draws + again))
    whole, shards = built(draws), built(shuffled)
    assert rows(whole) == rows(shards)
    assert shards.log is not None
    assert shards.log.dropped == ({"exact repeat": len(again)} if again else {})
    assert shards.log.n_draws == len(whole)


def test_one_epoch_with_two_texts_is_refused_by_item_and_epoch() -> None:
    with pytest.raises(InputError, match=r"item 'x' has epoch 2 twice with different text"):
        built([Draw("x", 2, "a"), Draw("x", 1, "a"), Draw("x", 2, "b")])


def test_one_epoch_of_two_conditions_is_two_draws() -> None:
    table = built([Draw("x", 1, "a", condition="p"), Draw("x", 1, "b", condition="q")])
    assert table.conditions == ("p", "q")
    assert len(table.only("q")) == 1


def test_draws_without_an_epoch_are_numbered_in_order_of_reading() -> None:
    table = built([Draw("x", 0, "a"), Draw("y", 0, "b"), Draw("x", 0, "a")])
    assert [r[:2] for r in rows(table)] == [("x", 1), ("x", 2), ("y", 1)]
    assert table.epochs_numbered
    assert not built([Draw("x", 0, "a")]).n_repeated


def test_a_missing_completion_is_an_error_and_an_empty_one_is_not() -> None:
    table = built([Draw("x", 1, None), Draw("x", 2, "")])
    assert [OUTCOMES[o] for o in table.outcome] == [Outcome.ERROR, Outcome.ANSWERED]
    assert table.reason.values() == ["missing_completion", None]
    assert table.log is not None
    assert table.log.warnings == ["1 of 2 draws are missing; they count for nothing."]


def test_what_a_log_says_of_a_draw_is_kept() -> None:
    draw = Draw("x", 1, "half", outcome=Outcome.TRUNCATED, reason="truncated", group="g", model="m")
    table = built([draw, Draw("y", 1, "b", logprob=-2.5, observer=(0.5, 0.25), target=("b", "c"))])
    assert OUTCOMES[table.outcome[0]] is Outcome.TRUNCATED
    assert table.group is not None
    assert table.model is not None
    assert table.target is not None
    assert table.observer is not None
    assert table.logprob is not None
    assert table.group.values() == ["g", None]
    assert table.model.values() == ["m", None]
    assert table.target.values() == [None, ("b", "c")]
    assert table.observer.values() == [None, (0.5, 0.25)]
    assert table.logprob[1] == -2.5


def test_keys_without_texts_have_no_column_of_completions() -> None:
    table = built(
        [
            Draw("x", 1, None, answer="4"),
            Draw("x", 2, None, outcome=Outcome.NO_ANSWER, reason="empty"),
        ]
    )
    assert table.completion is None
    assert table.answer.values() == ["4", None]
    assert [OUTCOMES[o] for o in table.outcome] == [Outcome.ANSWERED, Outcome.NO_ANSWER]


def test_extras_that_come_late_or_stop_early_are_null_elsewhere() -> None:
    table = built(
        [
            Draw("a", 1, "x", extras={"early": "1"}),
            Draw("b", 1, "x"),
            Draw("c", 1, "x", extras={"late": "2"}),
        ]
    )
    assert table.extras["early"].values() == ["1", None, None]
    assert table.extras["late"].values() == [None, None, "2"]


def test_a_draw_that_was_taken_back_leaves_no_trace() -> None:
    builder = TableBuilder()
    row = builder.add(Draw("x", 1, "a"))
    builder.add(Draw("x", 1, "b"))
    builder.drop(row)
    table = builder.table(LogReport("by hand"))
    assert [r[3] for r in rows(table)] == ["b"]


def test_a_log_without_draws_is_refused() -> None:
    builder = TableBuilder()
    with pytest.raises(InputError, match="the by hand log holds no draw"):
        builder.table(LogReport("by hand"))
    builder.drop(builder.add(Draw("x", 1, "a")))
    with pytest.raises(InputError, match="holds no draw"):
        builder.table(LogReport("by hand"))


def test_items_short_of_the_planned_draws_are_counted() -> None:
    table = built([Draw("x", 1, "a"), Draw("x", 2, "b"), Draw("y", 1, "a")], planned=2)
    assert table.planned == {"none": 2}
    assert table.notes == ("1 of 2 items have fewer than the 2 draws planned.",)


def test_draws_that_never_differ_at_a_temperature_raise_a_doubt() -> None:
    same = [Draw("x", 1, "a"), Draw("x", 2, "a"), Draw("y", 1, "b")]
    hot: dict[str, object] = {"temperature": 0.7}
    assert any("served from a cache?" in n for n in built(same, protocol=hot).notes)
    assert not built(same, protocol={"temperature": 0}).notes
    assert not built(same).notes
    assert not built([*same, Draw("y", 2, "c")], protocol=hot).notes
    assert not built([Draw("x", 1, "a"), Draw("y", 1, "a")], protocol=hot).notes


def test_facts_that_a_log_does_not_tell_are_listed() -> None:
    table = built([Draw("x", 1, "a")], protocol={"model": "m", "seed": 1})
    assert table.log is not None
    assert table.log.unknown[:2] == ("revision", "temperature")
    assert table.protocols["none"].fields == {"model": "m", "seed": 1}


@pytest.mark.parametrize("limit", [("IN_MEMORY", 20), ("CHARACTERS", 400)])
def test_a_large_column_gives_the_same_rows_from_the_store(
    limit: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(5)
    words = [f"Text {i}, naïve \x00 or “quoted”\nsecond line" for i in range(90)]
    several = [*words, None, ""]
    draws = [
        Draw(
            f"i{i // 4}", i % 4 + 1, several[int(chance.integers(92))], extras={"stop_reason": "s"}
        )
        for i in range(400)
    ]
    small = built(draws)
    monkeypatch.setattr(texts, *limit)
    monkeypatch.setattr(texts, "_BATCH_TEXTS", 7)
    monkeypatch.setattr(stored, "IN_MEMORY", 5)
    large = built(draws)
    assert rows(large) == rows(small)
    assert large.completion is not None
    first = int(large.completion.codes[large.completion.codes >= 0][0])
    assert pick(large.completion.words, [first])[0] in {*words, ""}
    key = large.completion.map(str.upper)
    assert small.completion is not None
    assert key.values() == small.completion.map(str.upper).values()


def test_half_a_character_is_kept_in_memory_and_escaped_in_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draws = [Draw("x", i, f"{i} \udc80") for i in (1, 2, 3)]
    kept = built(draws)
    assert kept.completion is not None
    assert kept.completion[0] == "1 \udc80"
    monkeypatch.setattr(texts, "IN_MEMORY", 1)
    stored = built(draws)
    assert stored.completion is not None
    assert stored.completion[0] == r"1 \udc80"
    assert "half a character" in stored.notes[0]


def test_the_notes_of_a_table_are_the_warnings_of_its_log() -> None:
    table = built([Draw("x", 1, "a")], warnings=["careful"])
    assert table.notes == ("careful",)
    assert table.take(np.array([0])).log is table.log


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_planned_draws_and_observers_outlive_a_file(tmp_path: Path, suffix: str) -> None:
    draws = [Draw("x", 1, "a", observer=(0.5, 0.25)), Draw("x", 2, "b", extras={"k": "v"})]
    table = built(draws, planned=2, protocol={"model": "m"})
    write(table, tmp_path / f"t.{suffix}")
    again = read_answers(tmp_path / f"t.{suffix}")
    assert again.planned == {"none": 2}
    assert again.observer is not None
    assert again.observer.values() == [(0.5, 0.25), None]
    assert again.protocols == table.protocols
    assert rows(again) == rows(table)


def test_runs_are_named_by_what_they_differ_in() -> None:
    assert labels([("t", "m", "1"), ("t", "m", "2")]) == ["1", "2"]
    assert labels([("t", "m", "1"), ("u", "m", "1")]) == ["t", "u"]
    assert labels([("t", "m", "1"), ("t", "n", "2"), ("u", "m", "3")]) == ["t m", "t n", "u m"]
    assert labels([("t", "m"), ("t", "m")]) == ["run 1", "run 2"]
