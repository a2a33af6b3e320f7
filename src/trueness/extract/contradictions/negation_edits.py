"""Not put in, or taken out, where a sentence says that something is or happens."""

from collections.abc import Iterator

from trueness.extract.contradictions.chunks import AUXILIARIES, Word, is_content, words_of
from trueness.extract.contradictions.edits import Edit
from trueness.extract.contradictions.verbs import (
    BASE,
    PARTICIPLE,
    PAST,
    THIRD,
    VERBS,
    Verb,
    verb_of,
)
from trueness.extract.contradictions.words import listed

_OPEN = frozenset({"may", "might", "could", "can't", "cannot"})
"""What may be may also not be: a not behind these contradicts nothing."""
_HAVE = {"has": "does not have", "have": "do not have", "had": "did not have"}
_SUBJECTS = listed("he she it they we i you who which that this these those also later never")
_DO = frozenset({"do", "does", "did"})
_PRESENT = {"does": THIRD, "do": BASE, "did": PAST}


def negations(sentence: str) -> Iterator[Edit]:
    """The sentence denied at its first verb, or no longer denied.

    >>> [e.applied("The bridge passed the test.") for e in negations("The bridge passed the test.")]
    ['The bridge did not pass the test.']
    >>> [e.applied("He did not attend it.") for e in negations("He did not attend it.")]
    ['He attended it.']
    """
    words = words_of(sentence)
    for place, word in enumerate(words):
        low = word.text.lower()
        after = words[place + 1] if place + 1 < len(words) else None
        if low in AUXILIARIES or low.endswith(("n't", "n’t")):
            edit = _auxiliary(sentence, word, after, words[place + 2 : place + 3])
        else:
            edit = None if _is_by(after) else _verb(word, words[place - 1] if place else None)
        if edit is not None:
            yield edit
            return


def _auxiliary(
    sentence: str, word: Word, after: Word | None, then: tuple[Word, ...]
) -> Edit | None:
    low = word.text.lower()
    if low.endswith(("n't", "n’t")):
        plain = {"won": "will", "ca": "can", "sha": "shall"}.get(low[:-3], low[:-3])
        return Edit(word.start, word.stop, plain) if plain not in _DO else None
    if after is not None and after.text.lower() == "not":
        return _asserted(sentence, word, after, then)
    if low in _OPEN or low in {"be", "been", "being", "am"}:
        return None
    if low in _HAVE and not _is_participle(after):
        return Edit(word.start, word.stop, _HAVE[low])
    if low in _DO:
        return None
    return Edit(word.start, word.stop, "cannot" if low == "can" else f"{word.text} not")


def _asserted(sentence: str, word: Word, no: Word, then: tuple[Word, ...]) -> Edit | None:
    """The sentence without its not."""
    low = word.text.lower()
    if low in _OPEN:
        return None
    if low not in _DO:
        return Edit(word.stop, no.stop, "")
    if not then or not sentence[no.stop : then[0].start].isspace():
        return None
    form = _inflected(then[0].text.lower(), _PRESENT[low])
    return Edit(word.start, then[0].stop, form)


def _verb(word: Word, before: Word | None) -> Edit | None:
    """A verb in the past or the third person, with did or does in front."""
    if before is None or word.text != word.text.lower():
        return None
    if not (is_content(before.text) or before.text.lower() in _SUBJECTS):
        return None
    found = verb_of(word.text)
    if found is None and before.text[0].isupper() and is_content(before.text):
        found = VERBS.get(word.text)  # a noun as often, but not behind a name
    if found is None or found.form not in (PAST, THIRD):
        return None
    return Edit(word.start, word.stop, f"{_does(found)} not {found.base}")


def _is_by(word: Word | None) -> bool:
    """Whether what stands before was done to something: measured by."""
    return word is not None and word.text.lower() == "by"


def _does(verb: Verb) -> str:
    return "did" if verb.form == PAST else "does"


def _is_participle(word: Word | None) -> bool:
    if word is None:
        return False
    if word.text.lower() in {"been", "had", "not", "never", "also", "already", "long", "since"}:
        return True
    found = verb_of(word.text)
    return found is not None and found.form in (PAST, PARTICIPLE)


def _inflected(base: str, form: str) -> str:
    known = next((w for w, v in VERBS.items() if v == Verb(base, form)), None)
    if form == BASE:
        return base
    if known is not None:
        return known
    if form == THIRD:
        return f"{base}es" if base.endswith(("s", "x", "z", "ch", "sh")) else f"{base}s"
    return f"{base}d" if base.endswith("e") else f"{base}ed"
