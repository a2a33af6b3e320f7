"""One change of a sentence, as a rule proposes it, and the letters at its seams."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple


class Edit(NamedTuple):
    """What stands from ``start`` to ``stop`` becomes ``after``."""

    start: int
    stop: int
    after: str

    def applied(self, text: str) -> str:
        """The text with the change made.

        >>> Edit(0, 3, "Two").applied("One day.")
        'Two day.'
        """
        return text[: self.start] + self.after + text[self.stop :]

    def shifted(self, by: int) -> "Edit":
        """The same change in a text in which the sentence starts at ``by``."""
        return Edit(self.start + by, self.stop + by, self.after)


def exchanged(text: str, lexicon: Mapping[str, str]) -> Iterator[Edit]:
    """Every word of a lexicon that stands in a text, exchanged; longer entries win.

    >>> list(exchanged("It may melt.", {"may": "will"}))
    [Edit(start=3, stop=6, after='will')]
    """
    for found in _pattern(tuple(lexicon)).finditer(text):
        after = lexicon[" ".join(found[0].lower().split())]
        yield Edit(*found.span(), cased_like(found[0], after))


def cased_like(before: str, after: str) -> str:
    """The second text with a capital where the first has one, and in capitals where it is.

    >>> cased_like("Some", "all"), cased_like("MAY", "will"), cased_like("may", "will")
    ('All', 'WILL', 'will')
    """
    if len(before) > 1 and before.isupper():
        return after.upper()
    return capitalised(after) if before[:1].isupper() else after


def capitalised(text: str) -> str:
    """The text with its first letter in upper case, the rest as it is."""
    return text[:1].upper() + text[1:]


def folded(text: str) -> str:
    """A text as it is compared: case, white space and a final stop say nothing.

    >>> folded(" Ann  hired Bob. ")
    'ann hired bob'
    """
    return " ".join(text.casefold().split()).rstrip(".!。 ")


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    ordered: Iterable[str] = sorted(words, key=lambda w: (-len(w), w))
    listed = "|".join(re.escape(w).replace(r"\ ", r"\s+") for w in ordered)
    return re.compile(rf"(?<![\w'’-])(?:{listed})(?![\w'’-])", re.IGNORECASE)
