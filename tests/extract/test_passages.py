from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.extract.passages import split_passages, windows
from trueness.extract.sentences import split_sentences

TEXT = st.text(st.sampled_from(list("abc  .\n。あ\u0301")), max_size=160)


def words(texts: Sequence[str]) -> list[int]:
    return [2 + len(t.split()) for t in texts]


def characters(texts: Sequence[str]) -> list[int]:
    return [len(t) for t in texts]


def test_paragraphs_sentences_or_the_whole_are_passages() -> None:
    text = " One. Two.\r\n\r\n \n Three.\nFour. "
    assert [p.text for p in split_passages(text)] == ["One. Two.", "Three.\nFour."]
    assert [p.text for p in split_passages(text, "sentence")] == ["One.", "Two.", "Three.", "Four."]
    assert [p.text for p in split_passages(text, "whole")] == [text.strip()]
    assert split_passages(" \n\n ") == ()
    with pytest.raises(InputError, match="whole, paragraph or sentence"):
        split_passages(text, "page")  # type: ignore[arg-type] # a wrong value on purpose


@given(TEXT)
def test_passages_have_exact_offsets_and_lose_nothing(text: str) -> None:
    for rule in ("whole", "paragraph", "sentence"):
        found = split_passages(text, rule)
        assert all(text[p.start : p.end] == p.text for p in found)
        assert "".join("".join(p.text.split()) for p in found) == "".join(text.split())


@given(TEXT, st.integers(3, 12), st.data())
def test_windows_fit_hold_everything_and_go_forward(
    text: str, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    for count in (words, characters):
        found = windows(text, count, size=size, overlap=overlap)
        held: set[int] = set()
        for window in found:
            assert text[window.start : window.end] == window.text
            assert count([window.text])[0] <= size
            assert not set(range(window.start, window.end)) <= held
            held |= set(range(window.start, window.end))
        assert all(i in held for i, c in enumerate(text) if not c.isspace())
        starts = [w.start for w in found]
        assert starts == sorted(set(starts))


def test_a_text_that_fits_is_one_window() -> None:
    found = windows("One. Two.", words, size=4)
    assert [w.text for w in found] == ["One. Two."]


def test_windows_end_with_a_sentence_where_sentences_fit() -> None:
    text = "It is so. He ran away. No. Yes it is. Fine."
    ends = {s.end for s in split_sentences(text)}
    found = windows(text, words, size=7, overlap=2)
    assert len(found) > 1
    assert {w.end for w in found} <= ends


def test_windows_repeat_the_last_sentences_as_far_as_declared() -> None:
    text = "He ran. She won. It fell. We go."
    plain = windows(text, lambda ts: [len(t.split()) for t in ts], size=4, overlap=2)
    assert [w.text for w in plain] == [
        "He ran. She won.",
        "She won. It fell.",
        "It fell. We go.",
    ]


def test_a_reader_that_counts_more_for_the_whole_than_for_its_parts_still_ends() -> None:
    def odd(texts: Sequence[str]) -> list[int]:
        return [len(t.split()) ** 2 for t in texts]

    text = "He ran. She won. It fell. We go."
    found = windows(text, odd, size=8, overlap=7)
    assert [w.text for w in found] == ["He ran.", "She won.", "It fell.", "We go."]


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(InputError, match="smaller overlap"):
        windows("a", words, size=3, overlap=3)
    with pytest.raises(InputError, match="longer than a window"):
        windows("ab", lambda ts: [9 for _ in ts], size=3)
    assert windows("  ", words, size=3) == ()
