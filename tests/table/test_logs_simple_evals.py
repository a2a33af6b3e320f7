import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, read_answers
from trueness.table.logs.simple_evals import _taken_apart

DATA = Path(__file__).parents[1] / "data" / "logs" / "simple_evals"
PERMUTED = DATA / "permuted_choices_allresults.json"


def convo(prompt: object, reply: object) -> list[dict[str, object]]:
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]


def page(correct: str, score: str = "1.0") -> str:
    return f"<p>Correct Answer: {correct}</p><p>Extracted Answer: x</p><p>Score: {score}</p>"


def results(
    path: Path, convos: list[object], htmls: list[object], names: list[Any] | None = None
) -> AnswerTable:
    whole = {"score": 1, "metrics": {}, "htmls": htmls, "convos": convos}
    if names is not None:
        whole["metadata"] = {"example_level_metadata": names}
    path.write_text(json.dumps(whole), "utf-8")
    return read_answers(path)


def prompt(*options: str, question: str = "Where?") -> str:
    return question + "\n\n" + "\n".join(f"{chr(65 + i)}) {o}" for i, o in enumerate(options))


def test_permuted_choices_are_one_item_and_golds_are_texts() -> None:
    table = read_answers(PERMUTED)
    assert len(set(table.item.values())) == 1
    assert table.epoch.tolist() == [1, 2, 3, 4]
    assert table.target is not None
    assert set(table.target.values()) == {("Rome",)}
    orders = [json.loads(str(v)) for v in table.extras["choice_order"].values()]
    letters = "BACB"
    shown = [order[ord(c) - 65] for order, c in zip(orders, letters, strict=True)]
    assert shown == ["Rome", "Rome", "Rome", "Paris"]


@given(st.permutations(["red", "green (dark)", "blue\nand white"]))
def test_choices_are_found_in_any_order_and_over_several_lines(order: list[str]) -> None:
    found = _taken_apart(prompt(*order))
    assert (found.question, list(found.options)) == ("Where?", order)
    assert found.item == _taken_apart(prompt("red", "green (dark)", "blue\nand white")).item


def test_one_question_with_other_choices_is_another_item() -> None:
    one, two = _taken_apart(prompt("a", "b")), _taken_apart(prompt("a", "c"))
    assert one.item != two.item


def test_a_gold_letter_means_the_choice_of_its_own_draw(tmp_path: Path) -> None:
    convos: list[object] = [convo(prompt("x", "y"), "A"), convo(prompt("y", "x"), "A")]
    table = results(tmp_path / "t", convos, [page("B"), page("A")])
    assert table.target is not None
    assert table.target.values() == [("y",), ("y",)]
    lost = results(tmp_path / "t", convos, [page("Z"), "<p>nothing</p>"])
    assert lost.target is None
    assert any("none of the draw's choices" in note for note in lost.notes)


def test_prompts_without_choices_keep_what_was_said(tmp_path: Path) -> None:
    convos: list[object] = [convo("2+2?", "It is 4"), convo("2+2?", None)]
    table = results(tmp_path / "t", convos, [page("4 &lt; 5"), page("4", "0.0")])
    assert table.target is not None
    assert table.target.values() == [("4 < 5",), ("4",)]
    assert len(set(table.item.values())) == 1
    assert any("no choices were found in 2 prompts" in note for note in table.notes)
    assert [OUTCOMES[o].value for o in table.outcome] == ["answered", "error"]
    assert table.extras["tool_score"].values() == ["1.0", "0.0"]


def test_letters_of_different_prompts_under_one_name_are_refused(tmp_path: Path) -> None:
    convos: list[object] = [convo("one", "A"), convo("two", "B")]
    with pytest.raises(InputError, match="two prompts of item '7' differ"):
        results(tmp_path / "t", convos, [page("A")] * 2, [{"id": 7}, {"id": 7}])
    named: list[object] = [convo(prompt("x", "y"), "A"), convo(prompt("y", "x"), "B")]
    table = results(tmp_path / "u", named, [page("A"), page("B")], [{"id": 7}, {"id": 7}])
    assert table.item.values() == ["7", "7"]


def test_pages_and_conversations_of_different_number_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 conversations and 1 pages"):
        results(tmp_path / "t", [convo("q", "A")] * 2, [page("A")])


def test_a_refused_request_is_missing_and_blocks_of_text_are_joined(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "q "}, {"type": "image_url"}, {"type": "text", "text": "r"}]
    convos: list[object] = [convo(blocks, "No response (bad request)."), convo("q r", "x"), []]
    table = results(tmp_path / "t", convos, [page("A")] * 3)
    outcomes = zip(table.item.values(), (OUTCOMES[o].value for o in table.outcome), strict=True)
    one, nothing = _taken_apart("q r").item, _taken_apart("").item
    assert sorted(outcomes) == sorted([(one, "error"), (one, "answered"), (nothing, "error")])


def test_a_file_that_was_cut_off_gives_the_pairs_that_are_whole(tmp_path: Path) -> None:
    whole = PERMUTED.read_bytes()
    path = tmp_path / "t"
    path.write_bytes(whole[: whole.rindex(b"Answer: B")])
    table = read_answers(path)
    assert (len(table), table.completed) == (3, False)
