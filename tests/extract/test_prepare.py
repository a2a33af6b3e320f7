"""One spelling of signs and digits, and the way back to every original offset."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.extract.prepare import escaped, prepare

ODD = "a1 \r\n½²³⁻−–１９．\u200b\u202e\ufeff\u0661\u066b\u066c\u200d\ud800é"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("10²", "10^2"),
        ("10⁻¹²", "10^{-12}"),
        ("x²3", "x^{2}3"),
        ("2½", "2 1/2"),
        ("½", "1/2"),
        ("２６．５", "26.5"),
        ("\u0663\u066b\u0665", "3.5"),
        ("−5, –5", "-5, -5"),
        ("5–7", "5–7"),
        ("5 –7", "5 –7"),
        ("a – 5", "a – 5"),
        ("1\u200b2\ufeff", "12"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("ﬁ Å", "ﬁ Å"),
        ("a\u200db", "a\u200db"),
    ],
)
def test_only_what_is_listed_is_changed(text: str, wanted: str) -> None:
    assert prepare(text).text == wanted


@given(st.text(ODD, max_size=30))
def test_every_part_leads_back_to_where_it_stood(text: str) -> None:
    found = prepare(text)
    assert found.span(0, len(found.text))[1] <= len(text)
    last = 0
    for at in range(len(found.text)):
        start, end = found.span(at, at + 1)
        assert 0 <= last <= start <= end <= len(text)
        last = start
        if found.text[at].isalpha():
            assert text[start:end] == found.text[at]
        if found.text[at].isdecimal():
            part = text[start:end]
            assert found.text[at] in unicodedata.normalize("NFKC", part) or any(
                unicodedata.decimal(c, None) == int(found.text[at]) for c in part
            )


@given(st.text(ODD, max_size=20), st.data())
def test_regions_taken_out_keep_the_offsets_of_the_rest(text: str, data: st.DataObject) -> None:
    found = prepare(text)
    start = data.draw(st.integers(0, len(found.text)))
    end = data.draw(st.integers(start, len(found.text)))
    rest = found.without([(start, end)]) if start < end else found
    assert rest.text == found.text[:start] + found.text[end:]
    for at in range(len(rest.text)):
        before = at if at < start else at + end - start
        assert rest.span(at, at + 1) == found.span(before, before + 1)


@given(st.text())
def test_escaped_keys_can_be_written(text: str) -> None:
    assert escaped(text).encode("utf-8").decode("utf-8") == escaped(text)
