"""A sentence as words and chunks: what stands together as one thing that is spoken of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trueness.extract.contradictions.verbs import VERBS, verb_of
from trueness.extract.contradictions.words import COMPARISON, MONTHS, WEEKDAYS, listed

_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
DETERMINERS = listed(
    "the a an this that these those his her its their our my your each every some any all no most"
    " many few several both another such"
)
AUXILIARIES = listed(
    "is are was were am be been being has have had having do does did will would can could may"
    " might must shall should cannot"
)
_FUNCTION = listed(
    "of in on at by for with without from to into onto over under above below between among during"
    " before after since until against about around through across along behind beyond near toward"
    " towards upon within via per than as like and or but nor so yet if because although though"
    " while whereas when where who whom whose which what why how there here not never only also"
    " then thus hence therefore however moreover he she it they we i you him them us me itself"
    " himself herself themselves one ones up down out off away back later earlier once twice again"
    " always often rarely usually sometimes too very more less least neither either whether due"
    " versus vs v together same other others well just even still already ago today yesterday"
    " tomorrow according despite except"
)
_NOUNS = listed("family supply reply assembly anomaly fly ally bully jelly lily belly daily")
_PLACE = 2
"""Words of an article with its noun."""
_MOST = 5
"""A longer run of words is no single thing."""
NAME, PHRASE, BARE = "name", "phrase", "bare"


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its place."""

    text: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Words that name one thing.

    Parameters
    ----------
    sort : str
        ``name`` (capital letters), ``phrase`` (behind an article) or ``bare``.
    start, stop : int
        With the article.
    head : int
        Where it starts without.
    initial : bool
        Whether the sentence starts with it, so that its capital letter says nothing.
    """

    sort: str
    start: int
    stop: int
    head: int
    initial: bool


def words_of(text: str) -> tuple[Word, ...]:
    """Words and numbers of a text.

    >>> [w.text for w in words_of("N'Djamena's 1,450 people (2003).")]
    ["N'Djamena's", '1', '450', 'people', '2003']
    """
    return tuple(Word(m[0], *m.span()) for m in _WORD.finditer(text))


def is_content(word: str) -> bool:
    """Whether a word can be part of a name or of a noun with its adjectives."""
    low = word.lower()
    closed = low in _FUNCTION or low in AUXILIARIES or low in DETERMINERS or low in COMPARISON
    adverb = low.endswith("ly") and word == low and low not in _NOUNS
    return not closed and not adverb and (word[0].isupper() or verb_of(word) is None)


def chunks_of(text: str) -> tuple[Chunk, ...]:
    """Chunks of a sentence, in order; those with digits, months and weekdays are none.

    >>> text = "The power cut caused the failure at Alphen Robotics."
    >>> [(c.sort, text[c.start : c.stop]) for c in chunks_of(text)]
    [('phrase', 'The power cut'), ('phrase', 'the failure'), ('name', 'Alphen Robotics')]
    """
    words = words_of(text)
    found = (
        _chunk(_behind_place(run, words), initial=run[0] is words[0]) for run in _runs(text, words)
    )
    return tuple(chunk for chunk in found if chunk is not None)


def _runs(text: str, words: tuple[Word, ...]) -> Iterator[list[Word]]:
    """Runs of an optional determiner and content words with single spaces between them."""
    run: list[Word] = []
    for word in words:
        joined = bool(run) and text[run[-1].stop : word.start] == " " and not _parts(run[-1], word)
        opens = word.text.lower() in DETERMINERS
        content = is_content(word.text) and not (joined and _acts(run[-1], word))
        if run and (not joined or opens or not content):
            yield run
            run = []
        if opens or content:
            run.append(word)
    if run:
        yield run


def _behind_place(run: list[Word], words: tuple[Word, ...]) -> list[Word]:
    """A run without the place that the sentence opens with: in the trial | shade."""
    opens = len(words) > 1 and run[0] is words[1] and words[0].text.lower() in _FUNCTION
    placed = opens and run[0].text.lower() in DETERMINERS and len(run) > _PLACE
    return run[2:] if placed else run


def _chunk(run: list[Word], *, initial: bool) -> Chunk | None:
    """The thing that a run names; a name ends where capitals do."""
    article = run[0].text.lower() in DETERMINERS
    body = run[1:] if article else run
    if not body or len(body) > _MOST or any(_is_time(w.text) for w in body):
        return None
    capital = [w.text[0].isupper() for w in body]
    named = all(capital) and not (initial and not article and len(body) == 1)
    sort = NAME if named else PHRASE if article else NAME if all(capital) else BARE
    return Chunk(sort, run[0].start, body[-1].stop, body[0].start, initial)


def _parts(before: Word, word: Word) -> bool:
    """Whether a number stands on one side: it counts or dates what follows, and names nothing."""
    return _is_time(before.text) != _is_time(word.text)


def _acts(before: Word, word: Word) -> bool:
    """Whether a word that may be a noun is a verb here: small, behind a name, as in Bo supplies."""
    named = before.text[0].isupper() and before.text.lower() not in DETERMINERS
    return named and word.text in VERBS and word.text not in AUXILIARIES


def _is_time(word: str) -> bool:
    return any(c.isdigit() for c in word) or word in MONTHS or word in WEEKDAYS
