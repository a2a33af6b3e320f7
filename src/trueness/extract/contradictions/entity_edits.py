"""A name of the claim exchanged for another one that the evidence speaks of."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations

from trueness.extract.contradictions.chunks import (
    NAME,
    PHRASE,
    Chunk,
    chunks_of,
    is_content,
    words_of,
)
from trueness.extract.contradictions.edits import Edit, capitalised

_THE = "the "
_POINTING = frozenset({"latter", "former", "first", "second", "rest"})
_LONGEST = 4
_FEWEST_EQUAL = 2
_LEAST_ALIKE = 0.25
_MOST_SENTENCES = 12
_MOST_WORDS = 60


def exchanges(sentence: str, sentences: Sequence[str]) -> Iterator[Edit]:
    """What stands in one place of two parallel sentences first, then names, then phrases.

    ``sentences`` are those of the evidence.

    >>> there = ["Ann Lee founded Alpha Bank in May.", "Bo Kim founded Beta Farms in May."]
    >>> text = "Ann Lee founded Alpha Bank."
    >>> [e.applied(text) for e in exchanges(text, there)][:2]
    ['Ann Lee founded Beta Farms.', 'Bo Kim founded Alpha Bank.']
    """
    seen: set[Edit] = set()
    for edit in (
        *_parallel(sentence, sentences[:_MOST_SENTENCES]),
        *_renamed(sentence, sentences, NAME),
        *_renamed(sentence, sentences, PHRASE),
    ):
        if edit not in seen:
            seen.add(edit)
            yield edit


def _parallel(sentence: str, sentences: Sequence[str]) -> list[Edit]:
    """Exchanges that two sentences of one build suggest; later places of the claim first."""
    found = []
    for one, two in combinations(sentences, 2):
        for before, after in _aligned(one, two):
            for here, there in ((before, after), (after, before)):
                at = re.search(rf"(?<!\w){re.escape(here)}(?!\w)", sentence, re.IGNORECASE)
                if at is not None and there.lower() not in sentence.lower():
                    after_ = capitalised(there) if at.start() == 0 else there
                    found.append(Edit(*at.span(), after_))
    return sorted(dict.fromkeys(found), key=lambda e: (-e.start, e.stop, e.after))


def _aligned(one: str, two: str) -> Iterator[tuple[str, str]]:
    """What stands in the same place of two sentences of one build."""
    first, second = words_of(one), words_of(two)
    if max(len(first), len(second)) > _MOST_WORDS:
        return
    matcher = SequenceMatcher(
        None, [w.text.lower() for w in first], [w.text.lower() for w in second], autojunk=False
    )
    codes = matcher.get_opcodes()
    n_equal = sum(i2 - i1 for tag, i1, i2, *_ in codes if tag == "equal")
    if n_equal < _FEWEST_EQUAL or matcher.ratio() < _LEAST_ALIKE:
        return
    for tag, i1, i2, j1, j2 in codes:
        if tag != "replace" or max(i2 - i1, j2 - j1) > _LONGEST:
            continue
        pair = (
            one[first[i1].start : first[i2 - 1].stop],
            two[second[j1].start : second[j2 - 1].stop],
        )
        if all(_names(text) for text in pair):
            yield pair


def _names(text: str) -> bool:
    """Whether a text is words that can name something, none of them a number."""
    words = words_of(text)
    return bool(words) and all(is_content(w.text) and w.text.isalpha() for w in words)


def _renamed(sentence: str, sentences: Sequence[str], sort: str) -> Iterator[Edit]:
    """Every name of the claim for another one: as many words first, another sentence first."""
    there, named = _listed(sentences, sort), sort == NAME
    here = [c for c in chunks_of(sentence) if c.sort == sort]
    if sort == PHRASE and any(c.sort == NAME for c in chunks_of(sentence)):
        return
    for chunk in here:
        head = sentence[chunk.head : chunk.stop]
        if _doubtful(chunk, sentence) and not _known(head, sentences):
            continue
        if sort == PHRASE and sentence[chunk.start : chunk.head].lower() != _THE:
            continue
        homes = {at for text, at in there if text.lower() == head.lower()}
        if sort == PHRASE and not homes:
            continue
        others = [  # names of another sentence, phrases of the same one
            (abs(len(text.split()) - len(head.split())), (at in homes) == named, place, text)
            for place, (text, at) in enumerate(there)
            if not _touch(text, sentence)
        ]
        for *_, text in sorted(others)[:1]:
            yield Edit(chunk.head, chunk.stop, capitalised(text) if chunk.head == 0 else text)


def _listed(sentences: Sequence[str], sort: str) -> list[tuple[str, int]]:
    """Names or phrases of the evidence with the sentence they stand in, each once."""
    found: dict[str, int] = {}
    for at, text in enumerate(sentences):
        for chunk in chunks_of(text):
            head = text[chunk.head : chunk.stop]
            if chunk.sort == sort and not _doubtful(chunk, text) and head not in _POINTING:
                found.setdefault(head, at)
    return list(found.items())


def _doubtful(chunk: Chunk, text: str) -> bool:
    """Whether a capital letter may be there for the start of the sentence alone."""
    one = " " not in text[chunk.head : chunk.stop]
    return chunk.sort == NAME and chunk.initial and one


def _known(head: str, sentences: Sequence[str]) -> bool:
    """Whether the evidence has a word with its capital letter and never without."""
    there = {w.text for text in sentences for w in words_of(text)}
    return head in there and head.lower() not in there


def _touch(text: str, sentence: str) -> bool:
    """Whether a name shares a word with the claim."""
    here = {w.text.lower() for w in words_of(sentence)}
    return any(w.text.lower() in here for w in words_of(text))
