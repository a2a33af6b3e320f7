"""Another number, date or unit in the place of the one that a sentence gives."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from trueness.extract.contradictions.edits import Edit, cased_like, exchanged
from trueness.extract.contradictions.words import MONTHS, ORDINALS, UNITS, WEEKDAYS
from trueness.extract.number_words import SMALL

_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:[.,]\d+)*(?![\w/-]|[.,]\d)")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_UNIT = re.compile(r"\s*-?\s*")
_FEWEST_DIGITS = 2
_WORDS = tuple(w for w, n in SMALL.items() if n > 1)
_WORD = re.compile(rf"(?<![\w'’-])(?:{'|'.join(_WORDS)})(?![\w'’-])", re.IGNORECASE)
_TIMES = {
    name: names[(at + 1) % len(names)]
    for names in (MONTHS, WEEKDAYS)
    for at, name in enumerate(names)
    if name not in ("May", "March")
}
_TIME = re.compile(rf"\b(?:{'|'.join((*MONTHS, *WEEKDAYS))})\b")
_ORDINAL = {one: two for one, two in pairwise(ORDINALS) if one != "second"}


def numbers(sentence: str, passages: Sequence[str]) -> Iterator[Edit]:
    """Numbers changed: for one of the evidence, two digits exchanged, the point or unit moved.

    >>> text = "The mill has 1,450 employees."
    >>> [e.applied(text) for e in numbers(text, ())]
    ['The mill has 1,540 employees.']
    """
    for found in _NUMBER.finditer(sentence):
        if _is_year(found[0]):
            continue
        for after in _others(found[0], sentence, passages):
            yield Edit(*found.span(), after)
        yield from _unit(sentence, found.end())
    for found in _WORD.finditer(sentence):
        at = _WORDS.index(found[0].lower())
        after = _WORDS[at + 1] if at + 1 < len(_WORDS) else _WORDS[at - 1]
        yield Edit(*found.span(), cased_like(found[0], after))
        yield from _unit(sentence, found.end())
    yield from exchanged(sentence, _ORDINAL)


def dates(sentence: str, passages: Sequence[str]) -> Iterator[Edit]:
    """Years, months and weekdays changed, for one of the evidence where it has another.

    >>> text = "She joined in 2002."
    >>> [e.applied(text) for e in dates(text, ["She left in 2013."])]
    ['She joined in 2013.']
    """
    for found in _NUMBER.finditer(sentence):
        if _is_year(found[0]):
            there = _numbers_of(passages, sentence, _is_year)
            yield Edit(*found.span(), there[0] if there else _moved(found[0]))
    for found in _TIME.finditer(sentence):
        names = MONTHS if found[0] in MONTHS else WEEKDAYS
        there = [m[0] for p in passages for m in _TIME.finditer(p) if m[0] in names]
        other = next((t for t in there if t not in sentence), _TIMES.get(found[0]))
        if other is not None:
            yield Edit(*found.span(), other)


def _others(number: str, sentence: str, passages: Sequence[str]) -> Iterator[str]:
    """Numbers of the same shape: one of the evidence, then two digits exchanged, then the point."""
    shape = re.sub(r"\d", "0", number)
    there = _numbers_of(passages, sentence, lambda n: re.sub(r"\d", "0", n) == shape)
    yield from there[:1]
    moved = _moved(number)
    if moved not in there[:1]:
        yield moved
    whole, point, part = number.partition(".")
    if point and len(whole) > 1:
        yield f"{whole[:-1]}.{whole[-1]}{part}"
    elif point and len(part) > 1:
        yield f"{whole.strip('0')}{part[0]}.{part[1:]}"
    elif point:
        yield f"{whole.strip('0')}{part}"


def _numbers_of(passages: Sequence[str], sentence: str, fits: object) -> list[str]:
    """Numbers of the passages that fit and do not stand in the sentence, each once."""
    here = set(_NUMBER.findall(sentence))
    there = dict.fromkeys(n for p in passages for n in _NUMBER.findall(p))
    return [n for n in there if n not in here and callable(fits) and fits(n)]


def _moved(number: str) -> str:
    """Two neighbouring digits exchanged, the leading one only where there is no other way.

    >>> _moved("1,450"), _moved("38"), _moved("11"), _moved("7"), _moved("2002")
    ('1,540', '83', '12', '8', '2020')
    """
    at = [i for i, c in enumerate(number) if c.isdigit()]
    places = list(pairwise(at))
    inner = places[1:] if len(at) > _FEWEST_DIGITS else places
    for i, j in inner:
        if number[i] != number[j] and not (i == at[0] and number[j] == "0"):
            return number[:i] + number[j] + number[i + 1 : j] + number[i] + number[j + 1 :]
    last = number[at[-1]]
    step = -1 if int(last) == len("123456789") else 1
    return number[: at[-1]] + chr(ord(last) + step) + number[at[-1] + 1 :]


def _unit(sentence: str, at: int) -> Iterator[Edit]:
    """The unit behind a number, exchanged for one of another size."""
    gap = _UNIT.match(sentence, at)
    start = gap.end() if gap else at
    found = next(exchanged(sentence[start : start + 24], UNITS), None)
    if found is not None and found.start == 0:
        yield found.shifted(start)


def _is_year(number: str) -> bool:
    return _YEAR.fullmatch(number) is not None
