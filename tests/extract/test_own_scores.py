"""A log's own scores beside our keys: what counts as a score, and what is only evidence."""

import pytest

from trueness.extract import keyed
from trueness.extract.scores import SHOWN, OwnScores, own_scores
from trueness.table import read_answers


def scored(scores: list[object], gold: str | None = "4", text: str = "#### 4") -> OwnScores | None:
    rows = [
        {"item": f"q{i}", "completion": text, "score": score} | ({"target": gold} if gold else {})
        for i, score in enumerate(scores)
    ]
    return own_scores(keyed(read_answers(rows), kind="number"))


@pytest.mark.parametrize("right", [True, "C", 1, "1.0", "true"])
@pytest.mark.parametrize("wrong", [False, "I", "N", 0, "0.0", "False"])
def test_right_and_wrong_are_read_as_scorers_write_them(right: object, wrong: object) -> None:
    found = scored([right, wrong])
    assert found is not None
    assert (found.n_scored, found.n_right_by_log, found.n_right_here) == (2, 1, 2)
    assert [d.item for d in found.differ] == ["q1"]


@pytest.mark.parametrize("scores", [[1, 5, 3], [0.5, 1.0], ["fine", "poor"], [None, None]])
def test_degrees_and_other_words_are_no_scores(scores: list[object]) -> None:
    assert scored(scores) is None


def test_a_score_that_decides_nothing_is_left_out_of_the_counts() -> None:
    found = scored(["C", "P", None])
    assert found is not None
    assert (found.n_scored, found.n_differ) == (1, 0)


def test_without_a_gold_or_a_score_there_is_nothing_to_compare() -> None:
    assert scored(["C"], gold=None) is None
    rows = [{"item": "q", "completion": "#### 4", "target": "4"}]
    assert own_scores(keyed(read_answers(rows), kind="number")) is None


def test_missing_draws_are_not_compared() -> None:
    rows = [
        {"item": "q", "epoch": i, "completion": text, "target": "4", "score": False}
        for i, text in enumerate((None, "#### 5"), start=1)
    ]
    found = own_scores(keyed(read_answers(rows), kind="number"))
    assert found is not None
    assert (found.n_scored, found.n_differ) == (1, 0)


def test_all_differences_are_counted_and_the_first_are_listed() -> None:
    found = scored([False] * (SHOWN + 3))
    assert found is not None
    assert (found.n_differ, len(found.differ)) == (SHOWN + 3, SHOWN)
