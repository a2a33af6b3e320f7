r"""Sets and tuples: several members in one answer, each with its own key."""

import re
from collections.abc import Iterator
from fractions import Fraction

from trueness.extract.cutting import cut_at
from trueness.extract.lists import split
from trueness.extract.number_payloads import Numbers, equals
from trueness.extract.numerals import MAX_DIGITS
from trueness.extract.refusals import refusal_in
from trueness.extract.result import Found
from trueness.extract.texts import text_key
from trueness.extract.wrappers import (
    CONTENT,
    SIZED,
    closes_outside,
    expression,
    inner_texts,
    unwrapped,
)

MOST = 1_000
"""A list of more members is no answer."""
_EMPTY = frozenset({"\\emptyset", "\\varnothing", "\u2205", "\\{\\}", "{}", "empty set"})
_BRACES = (("\\{", "\\}"), ("{", "}"), ("set:{", "}"), ("[", "]"))
_RATIONAL = re.compile(r"-?\d+(?:/\d+)?")
_TUPLE = re.compile(r"(?:tuple:)?(?=[(\[])")
_BRACKETED = re.compile(r"[(\[][^()\[\]\n]{1,200}[)\]]")


class Members:
    """Rules for sets and tuples; members are numbers where they can be, else texts."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers

    def key(self, text: str) -> str | None:
        """The key of one member."""
        text = text[equals(text) :].strip() or text
        found = self.numbers.strict(text, box=True)
        if found is None:
            return None
        if found.key is None:
            return f"t:{expression(text)}" if found.reason == "ambiguous" else text_key(text)
        words = inner_texts(text)
        if found.key.startswith("t:") and not re.search(r"[\d\\^_+*/=]", words):
            return text_key(words)
        return found.key

    def set_of(self, text: str) -> str | None:
        r"""The key of a set.

        >>> from trueness.extract.amounts import Grammar
        >>> Members(Numbers(Grammar())).set_of("7 and 5")
        'set:{5; 7}'
        >>> Members(Numbers(Grammar())).set_of("y = 5, x = 7")
        'set:{x=7; y=5}'
        """
        text = unwrapped(text, brackets="")
        if text in _EMPTY:
            return "set:{}"
        text = SIZED.sub("", inner_texts(text)).strip()
        for opening, closing in _BRACES:
            if text.startswith(opening) and text.endswith(closing):
                text = text[len(opening) : -len(closing)]
                break
        parts = split(text)
        named = [(_name(part), self.key(part)) for part in parts]
        several = len({name for name, _ in named if name}) > 1
        keys = {
            f"{name}={key}" if several and name else key for name, key in named if key is not None
        }
        if not keys or len(parts) > MOST:
            return None
        return f"set:{{{'; '.join(sorted(keys, key=_order))}}}"

    def tuple_of(self, text: str) -> str | None:
        r"""The key of a tuple, brackets as they stand; None where it has none.

        >>> from trueness.extract.amounts import Grammar
        >>> Members(Numbers(Grammar())).tuple_of("(0, 1]")
        'tuple:(0; 1]'
        """
        text = unwrapped(text, brackets="{")
        text = SIZED.sub("", text).strip()
        right = text.rpartition("=")[2].strip()
        text = right if right.startswith(("(", "[")) else text
        m = _TUPLE.match(text)
        if m is None or text[-1] not in ")]" or len(text) - m.end() < 2:  # noqa: PLR2004 - two brackets
            return None
        opening, inner, closing = text[m.end()], text[m.end() + 1 : -1], text[-1]
        if opening == "(" and closing == ")" and not closes_outside(text[m.end() :], "(", ")"):
            return None
        parts = split(inner, words=False)
        if len(parts) == 1:
            parts = split(inner, words=False, grouping=False)
        keys = [key for part in parts if (key := self.key(part)) is not None]
        if len(keys) != len(parts) or not 1 < len(keys) <= MOST:
            return None
        return f"tuple:{opening}{'; '.join(keys)}{closing}"


class Sets:
    """Rules for set answers."""

    def __init__(self, members: Members) -> None:
        self._members = members

    def strict(self, payload: str, *, box: bool = False) -> Found | None:  # noqa: ARG002 - one signature for all kinds
        """The whole payload."""
        if phrase := refusal_in(payload):
            return Found(None, 0, len(payload), reason=phrase)
        return _whole(payload, self._members.set_of(payload))

    def phrase(self, payload: str) -> Found | None:
        """The payload up to the end of its sentence."""
        return self.strict(payload[: cut_at(payload)])

    def literal(self, line: str) -> Found | None:
        """A line that is a list of numbers or stands in braces."""
        if len(line) > MAX_DIGITS or not re.search(r"\d|[{}]", line):
            return None
        text = unwrapped(line, brackets="")
        if "{" not in text and any(self._members.numbers.literal(p) is None for p in split(text)):
            return None
        return self.strict(line)


class Tuples:
    """Rules for tuple answers: brackets decide."""

    def __init__(self, members: Members) -> None:
        self._members = members

    def strict(self, payload: str, *, box: bool = False) -> Found | None:  # noqa: ARG002 - one signature for all kinds
        """The whole payload."""
        if phrase := refusal_in(payload):
            return Found(None, 0, len(payload), reason=phrase)
        return _whole(payload, self._members.tuple_of(payload))

    def phrase(self, payload: str) -> Found | None:
        """The only bracketed list of a payload."""
        text = payload[: cut_at(payload)]
        if found := self.strict(text):
            return found
        found_all = list(self.bracketed(text))
        if not found_all:
            return None
        if len({f.key for f in found_all}) > 1:
            return Found(None, found_all[0].start, found_all[-1].end, reason="ambiguous")
        return found_all[0]

    def bracketed(self, text: str) -> Iterator[Found]:
        """Every short bracketed list of a text."""
        for m in _BRACKETED.finditer(text):
            if ("," in m.group() or ";" in m.group()) and (
                key := self._members.tuple_of(m.group())
            ):
                yield Found(key, m.start(), m.end())

    def literal(self, line: str) -> Found | None:
        """A line that is one tuple."""
        return self.strict(line) if len(line) <= MAX_DIGITS and CONTENT.search(line) else None


def _whole(payload: str, key: str | None) -> Found | None:
    start = len(payload) - len(payload.lstrip())
    return None if key is None else Found(key, start, len(payload.rstrip()))


def _name(part: str) -> str:
    """What a member is said to be equal to: ``x`` in ``x = 5``."""
    return expression(part[: max(0, equals(part) - 1)])


def _order(key: str) -> tuple[bool, Fraction, str]:
    number = _RATIONAL.fullmatch(key)
    return (number is None, Fraction(key) if number else Fraction(0), key)
