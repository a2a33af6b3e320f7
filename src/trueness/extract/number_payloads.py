r"""Numbers in payloads, lines and whole texts.

A strict payload must be used up by one quantity and unit words, or it is an expression (``t:…``).
In the payload of a phrase a number straight after the marker leads; otherwise exactly one must
remain.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from trueness.extract.amounts import Grammar, Quantity
from trueness.extract.cutting import cut_at
from trueness.extract.formulas import bounds, formula_at, part_of_formula
from trueness.extract.lists import assigns, continues, is_list, joined
from trueness.extract.number_words import worded
from trueness.extract.numerals import MAX_DIGITS
from trueness.extract.quantities import quantities
from trueness.extract.refusals import refusal_in
from trueness.extract.result import Found
from trueness.extract.rules import APPROXIMATE, NAMED
from trueness.extract.unit_words import only_units, unit_note, unit_words
from trueness.extract.units import SHORT, WORDS
from trueness.extract.wrappers import CONTENT, SIZED, expression, inner_texts, unwrapped

_FAST = re.compile(r"\s*((-?)(\$?)([1-9]\d{0,2}(?:,\d{3})+|\d{1,18})(?:\.0++)?)\.?\s*", re.ASCII)
_MATH = re.compile(
    r"\$\$([^$\n]+)\$\$|\$(?!\s)([^$\n]+)(?<![\s\\])\$(?!\d)"
    r"|\\\(((?:[^\\\n]|\\(?![()]))*+)\\\)|\\\[((?:[^\\\n]|\\(?![\[\]]))*+)\\\]"
)
_LEAD = re.compile(
    r"(?:[\s*_`\"'“”‘’(\[{:=~≈]|\\[(\[]|\\(?:text|textbf|mathbf|mathrm|boxed)\s?\{"
    r"|\$\$?(?=[\\\-+.(\d])"
    rf"|(?:{'|'.join(APPROXIMATE)}|the|an?|exactly|simply|just|only|therefore|thus|then"
    r"|that|equal to|between)(?![^\W_]))*+",
    re.IGNORECASE,
)
_ORDER = frozenset("<>!")
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_CANONICAL = re.compile(r"(?:t:\S+|range:\S+|time:[\d:]+|ratio:[\d:]+|compound:[\w ./]+)")
_SIGN_BLANK = re.compile(r"-\s+(?=[\d.$\\])")


class Numbers:
    """Number rules for one grammar; ``grammar`` decides locale, rounding and units."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    def strict(self, payload: str, *, box: bool = False) -> Found | None:
        r"""What a strict payload yields; inside a box a final ``!`` is a factorial.

        >>> Numbers(Grammar()).strict("1,234 eggs").key, Numbers(Grammar()).strict("4a-2").key
        ('1234', 't:4a-2')
        """
        if (m := _FAST.fullmatch(payload)) is not None:
            value, unit = int(m[4].replace(",", "")), "USD" if m[3] else ""
            key = self.grammar.key(Fraction(-value if m[2] else value), unit)
            return Found(key, m.start(1), m.end(1), unit)
        if CONTENT.search(payload) is None:
            return None
        text = unwrapped(payload, stops=".,;:" if box else ".,;:!?", brackets="{")
        found = self._used_up(text, box=box)
        start = len(payload) - len(payload.lstrip())
        return found and found._replace(start=start, end=len(payload.rstrip()))

    def _used_up(self, text: str, *, box: bool) -> Found | None:  # noqa: PLR0911 - cases in order, each with its result
        """One quantity and unit words, a named answer, a no-answer, or an expression."""
        if not text:
            return None
        whole = len(text)
        if found := self._fixed(text):
            return found
        after = equals(text)
        if after and text[after:].strip():
            left, right = text[: after - 1], text[after:]
            if assigns(left):
                return Found(None, 0, whole, reason="ambiguous")
            text = unwrapped(right, stops=".,;:" if box else ".,;:!?", brackets="{")
            if found := self._fixed(text):
                return found
        plain = _SIGN_BLANK.sub("-", inner_texts(text).strip(), count=1)
        if (found := self._measured(plain, box=box)) is not None:
            return found
        if (words := worded(plain.strip("()[] .!?"))) is not None:
            return self._worded(words, whole)
        if is_list(unwrapped(SIZED.sub("", plain))):
            return Found(None, 0, whole, reason="ambiguous")
        return self.symbolic(text)

    def symbolic(self, text: str) -> Found | None:
        """An expression as its own key."""
        key = expression(text)
        return Found(f"t:{key}", 0, len(text)) if CONTENT.search(key) else None

    def _fixed(self, text: str) -> Found | None:
        """A named answer, a no-answer phrase, or a text that is a key already."""
        whole = len(text)
        name = NAMED.get(" ".join(inner_texts(text).lower().split()))
        if name is not None:
            return Found(f"t:{name}", 0, whole)
        if ":" in text and _CANONICAL.fullmatch(text):
            return Found(text, 0, whole)
        phrase = refusal_in(text)
        return Found(None, 0, whole, reason=phrase) if phrase else None

    def _measured(self, text: str, *, box: bool) -> Found | None:  # noqa: PLR0911 - cases in order, each with its result
        """A quantity with nothing but unit words after it; ``ambiguous`` for a list."""
        first = next(quantities(text, self.grammar), None)
        if first is None:
            return None
        if text[: first.start].strip("( [") or (first.start and text[0] == "[" and "," in text):
            return None
        rest = text[first.end :]
        if first.key is None:
            if first.problem == "ambiguous" and only_units(rest):
                return Found(None, 0, len(text), first.unit, "ambiguous")
            return None
        if box and rest.startswith("!"):
            return None
        if (words := unit_words(rest, glued=True)) is None:
            return Found(None, 0, len(text), reason="ambiguous") if continues(rest) else None
        return self._with_units(first, words, len(text))

    def _with_units(self, first: Quantity, words: str, end: int) -> Found:
        unit, key = first.unit, first.key
        if not unit and (known := WORDS.get(words.lower())):
            unit, words = known, ""
            key = self.grammar.unit(key or "", unit)
        notes = (*first.notes, *((f"unit {words}",) if words else ()))
        return Found(key, first.start, end, unit, None, notes)

    def _worded(self, words: tuple[int, str], end: int) -> Found:
        value, word = words
        unit = WORDS.get(word.lower(), "")
        notes = () if unit or not word else (f"unit {word}",)
        return Found(self.grammar.key(Fraction(value), unit), 0, end, unit, None, notes)

    def phrase(self, payload: str) -> Found | None:
        """What the payload of a phrase yields.

        >>> Numbers(Grammar()).phrase(" 3.50 per hour for 8 hours").key
        '7/2'
        >>> Numbers(Grammar()).phrase(" 5 or 7").reason
        'ambiguous'
        """
        if _FAST.fullmatch(payload) is not None:
            return self.strict(payload)
        text = payload[: cut_at(payload)]
        if CONTENT.search(text) is None:
            return None
        phrase = refusal_in(text)
        if phrase is not None:
            return Found(None, 0, len(text.rstrip()), reason=phrase)
        start = 0
        after = equals(text)
        if after and CONTENT.search(text, after):
            start = after
            if assigns(text[: start - 1]):
                return Found(None, 0, len(text), reason="ambiguous")
            if text.count("$", start) % 2 or text.count("\\(", 0, start) > text.count(
                "\\)", 0, start
            ):
                return self._closed(text, start)
        return self._led(text, start)

    def _closed(self, text: str, start: int) -> Found | None:
        """The right side of an equation inside math signs: what stands before these close."""
        m = re.compile(r"\$|\\\)|\\\]").search(text, start)
        end = m.start() if m else len(text)
        found = self.strict(text[start:end])
        return found and found._replace(start=found.start + start, end=found.end + start)

    def _led(self, text: str, start: int) -> Found | None:
        found = list(self.candidates(text, start, symbols=True))
        if not found:
            return self._said(text, start)
        first = found[0]
        lead = _LEAD.match(text, start)
        if lead is not None and first.start <= lead.end():
            if len(found) > 1 and _apart(text, first, found[1]):
                return Found(None, first.start, found[1].end, reason="ambiguous")
            first = self._symbol(text, first, start) or first
            return first._replace(notes=(*first.notes, *unit_note(text, first.end)))
        if len({f.key for f in found}) == 1:
            return self._symbol(text, first, start) or first
        return Found(None, first.start, found[-1].end, reason="ambiguous")

    def _symbol(self, text: str, found: Found, low: int) -> Found | None:
        """The expression that a number is a part of: ``5x``, ``x > 1``; None for a number alone.

        One without a key where the expression is too long to be an answer.
        """
        if _symbolic(found):
            return None
        part = part_of_formula(text, found.start, found.end, SHORT)
        if part is None and bounds(text, found.start):
            part = "apart"
        if part is None:
            return None
        place = formula_at(text[low:], found.start - low, part)
        if place is None:
            return Found(None, found.start, found.end, reason="ambiguous")
        start, end = place[0] + low, place[1] + low
        inner = self.symbolic(unwrapped(text[start:end]))
        return inner and inner._replace(start=start, end=end)

    def _said(self, text: str, start: int) -> Found | None:
        """A payload without digits: a named answer or number words."""
        inner = unwrapped(text[start:])
        start, end = len(text) - len(text[start:].lstrip()), len(text.rstrip())
        name = NAMED.get(" ".join(inner_texts(inner).lower().split()))
        if name is not None:
            return Found(f"t:{name}", start, end)
        words = worded(inner)
        return None if words is None else self._worded(words, end)._replace(start=start)

    def literal(self, line: str) -> Found | None:
        """What a line yields that is nothing but one answer; None for any other line.

        >>> Numbers(Grammar()).literal("**12**").key, Numbers(Grammar()).literal("12 of us")
        ('12', None)
        """
        if len(line) > MAX_DIGITS or CONTENT.search(line) is None:
            return None
        text = unwrapped(line, brackets="{")
        name = NAMED.get(" ".join(inner_texts(text).lower().split()))
        plain = inner_texts(text).strip()
        found = None
        if name is not None:
            found = Found(f"t:{name}", 0, 0)
        elif (words := worded(plain)) is not None:
            found = self._worded(words, 0)
        elif (measured := self._measured(plain, box=False)) and _is_literal(measured):
            found = measured
        elif _CANONICAL.fullmatch(text):
            found = Found(text, 0, 0)
        start = len(line) - len(line.lstrip())
        return found and found._replace(start=start, end=len(line.rstrip()))

    def candidates(self, text: str, start: int = 0, *, symbols: bool = False) -> Iterator[Found]:
        """Every number of a text in order; with ``symbols`` expressions in math signs too."""
        if "$" not in text and "\\" not in text:
            yield from self._plain(text, start, len(text))
            return
        for m in _MATH.finditer(text, start):
            yield from self._plain(text, start, m.start())
            inner = self.strict(m[m.lastindex or 1])
            start = m.end()
            if inner is not None and (symbols or not _symbolic(inner)):
                yield inner._replace(start=m.start(), end=m.end())
        yield from self._plain(text, start, len(text))

    def _plain(self, text: str, start: int, end: int) -> Iterator[Found]:
        """The numbers outside of math signs."""
        return (_found(q, text) for q in quantities(text, self.grammar, start, end))

    def alone(self, text: str) -> Iterator[Found]:
        """Every number of a text; one that is a part of a formula is without a key.

        >>> [f.key for f in Numbers(Grammar()).alone("2 is less than 3√2")]
        ['2', None, None]
        """
        for found in self.candidates(text):
            if _symbolic(found) or part_of_formula(text, found.start, found.end, SHORT) is None:
                yield found
            else:
                yield Found(None, found.start, found.end, reason="ambiguous")


def equals(text: str) -> int:
    """Where the right side of the last equation begins; 0 where there is none.

    >>> equals("x = 5"), equals("x >= 5")
    (3, 0)
    """
    last = text.rfind("=") + 1
    return 0 if last and text[max(0, last - 2) : last - 1] in _ORDER else last


def _found(q: Quantity, text: str) -> Found:
    if q.problem == "expression":
        return Found(f"t:{expression(text[q.start : q.end])}", q.start, q.end, q.unit)
    reason = "ambiguous" if q.key is None else None
    return Found(q.key, q.start, q.end, q.unit, reason, q.notes)


def _symbolic(found: Found) -> bool:
    return found.key is None or found.key.startswith("t:")


def _apart(text: str, first: Found, second: Found) -> bool:
    """Whether two numbers make a list or a sum; one number said twice with an ``or`` does not."""
    between = text[first.end : second.start]
    return joined(between) and not (first.key == second.key and _OR.search(between))


def _is_literal(found: Found) -> bool:
    """Whether a measured line says no more than a number and one known unit."""
    words = [note for note in found.notes if note.startswith("unit ")]
    return not words or words[0][5:] in SHORT
