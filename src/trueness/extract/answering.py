"""The order of work from a text to its result: what is tried, and what decides."""

import re
from collections import deque

from trueness.extract.amounts import Grammar
from trueness.extract.cutting import cut_at
from trueness.extract.markers import Marker, letter_lines, markers, strict_markers
from trueness.extract.members import Members, Sets, Tuples
from trueness.extract.mixed import Mixed
from trueness.extract.number_payloads import Numbers
from trueness.extract.options import Options, shown_option
from trueness.extract.outcomes import answered, unanswered, without_answer
from trueness.extract.prepare import Prepared, escaped, prepare
from trueness.extract.result import Extraction, Found, Rules, moved
from trueness.extract.settings import Settings
from trueness.extract.texts import Texts
from trueness.extract.trimming import is_infrastructure, run_on_at, without_reasoning
from trueness.extract.unmarked import Unmarked
from trueness.table.answers import Outcome

LENGTH_STOPS = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "token_limit", "max_length"}
)
HOST_STOPS = frozenset({"content_filter", "error"})
_NOTHING = frozenset({"[invalid]", "[no answer]", "None", "null", "N/A"})
"""What tools store where they found no answer."""
_NUMERIC = frozenset({"number", "set", "auto"})
_WORDS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_MOST_WORDS = 4
"""A gold of more words is no expression."""
_LAST_NUMBER = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")


class Answerer:
    """The rules for some settings, ready for any number of texts."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        kind = settings.kind
        self._rules = _rules(settings)
        self._unmarked = Unmarked(self._rules, kind)
        self._a_lines = kind in _NUMERIC
        self._words = kind != "number"

    def _markers(self, text: str) -> list[Marker]:
        """The marked answers that the extractor knows, by where they end."""
        match self.settings.extractor:
            case "declared":
                return self._declared(text)
            case "strict":
                return self._strict(text)
            case "letter_line":
                return list(letter_lines(text))
            case _:
                return []

    def _declared(self, text: str) -> list[Marker]:
        return markers(text, a_lines=self._a_lines, words=self._words)

    def _strict(self, text: str) -> list[Marker]:
        found = strict_markers(text, a_lines=self._a_lines, words=self._words)
        return sorted(found, key=lambda m: (m.end, m.start))

    def extraction(self, text: str | None, stop_reason: str | None = None) -> Extraction:  # noqa: PLR0911 - cases in order, each with its result
        """The result of one completion."""
        if text is None:
            return Extraction(Outcome.ERROR, reason="missing_completion")
        stop = None if stop_reason is None else stop_reason.lower()
        if stop in HOST_STOPS:
            return Extraction(Outcome.ERROR, reason=stop)
        cut_off = stop in LENGTH_STOPS
        prepared = prepare(text)
        if not prepared.text or prepared.text.isspace():
            return unanswered("truncated" if cut_off else "empty")
        if is_infrastructure(prepared.text.strip()) and not self._markers(prepared.text):
            return Extraction(Outcome.ERROR, reason="infrastructure_text", rule="host")
        match self.settings.extractor:
            case "last_number":
                return self._last_number(prepared, cut_off=cut_off)
            case "tool":
                return self._tool(prepared)
            case _:
                return self._whole(prepared, cut_off=cut_off)

    def gold(self, text: str) -> str | None:
        r"""The key of a gold: of its marked answer, else of the text as if it stood in a box.

        >>> Answerer(Settings("number")).gold("2+2 = 4\n#### 4")
        '4'
        """
        prepared = prepare(text)
        find = self._strict if self.settings.kind == "text" else self._declared
        for marker in reversed(find(prepared.text)):
            found = self._read(marker)
            if found is not None and found.key is not None:
                return escaped(found.key)
        whole = prepared.text.strip()
        found = self._rules.strict(whole, box=True) if whole else None
        if found is None or found.key is None:
            return self._shown(whole)
        is_prose = found.key.startswith("t:") and len(_WORDS.findall(whole)) > _MOST_WORDS
        return None if is_prose else escaped(found.key)

    def _shown(self, text: str) -> str | None:
        """An option's text where keys are such texts and those on offer are not known."""
        by_text = self.settings.choices_by_text and self.settings.choices is None
        return escaped(shown_option(text)) or None if by_text else None

    def _whole(self, prepared: Prepared, *, cut_off: bool) -> Extraction:
        prepared, is_open = without_reasoning(prepared, self.settings.reasoning_tags)
        if is_open:
            return unanswered("truncated", rule="reasoning")
        text = prepared.text
        if not text or text.isspace():
            return unanswered("truncated" if cut_off else "reasoning_only", rule="reasoning")
        end = run_on_at(text)
        cut_off = cut_off and end == len(text)
        text = text[:end]
        decided = self._marked(prepared, text, cut_off=cut_off)
        if decided is not None:
            return decided
        is_empty = self.settings.kind == "text" and bool(self._markers(text))
        if self.settings.extractor == "declared" and not is_empty:
            return self._unmarked.extraction(prepared, text, cut_off=cut_off)
        return without_answer(text, cut_off=cut_off, candidates=False)

    def _marked(self, prepared: Prepared, text: str, *, cut_off: bool) -> Extraction | None:
        """What the last marked answer that decides says."""
        found = self._markers(text)
        last_pass = (False, True) if self.settings.kind == "auto" else (False,)
        for loose in last_pass:
            for at in range(len(found) - 1, -1, -1):
                decided = self._read(found[at], loose=loose)
                if decided is not None:
                    older = self._superseded(found[:at], loose=loose)
                    touches = cut_off and _touches(text, found[at], decided)
                    return _result(prepared, found[at], decided, older, touches=touches)
        return None

    def _superseded(self, older: list[Marker], *, loose: bool) -> tuple[str, ...]:
        read = (self._read(marker, loose=loose) for marker in older)
        return tuple(escaped(f.key) for f in read if f is not None and f.key is not None)

    def _read(self, marker: Marker, *, loose: bool = False) -> Found | None:
        """What a marker yields; an open brace or quote is a definite ``truncated``."""
        if marker.payload is None:
            return Found(None, 0, 0, reason="truncated")
        if marker.strict:
            return self._rules.strict(marker.payload, box=marker.sort in ("boxed", "fbox"))
        if loose and isinstance(self._rules, Mixed):
            return self._rules.loose(marker.payload)
        return self._rules.phrase(marker.payload)

    def _last_number(self, prepared: Prepared, *, cut_off: bool) -> Extraction:
        last = deque(_LAST_NUMBER.finditer(prepared.text), maxlen=1)
        if not last:
            return unanswered("truncated" if cut_off else "no_candidate", rule="last_number")
        digits = last[0].group().replace("$", "").replace(",", "").removesuffix(".")
        found = self._rules.strict(digits)
        if found is None or found.key is None:
            return unanswered("no_candidate", rule="last_number")
        return answered(
            prepared, found._replace(start=last[0].start(), end=last[0].end()), "last_number"
        )

    def _tool(self, prepared: Prepared) -> Extraction:
        if prepared.text.strip() in _NOTHING:
            return unanswered("no_candidate", rule="tool")
        found = self._rules.strict(prepared.text, box=True)
        if found is None or found.key is None:
            return unanswered("no_candidate" if found is None else found.reason or "", rule="tool")
        return answered(prepared, found, "tool")


def _rules(settings: Settings) -> Rules:
    grammar = Grammar(settings.locale, settings.decimals, settings.units == "keep")
    numbers = Numbers(grammar)
    if settings.kind == "number":
        return numbers
    if settings.kind == "option":
        return Options(settings.labels, settings.choices, by_text=settings.choices_by_text)
    if settings.kind == "text":
        return Texts()
    plain = Members(Numbers(Grammar(settings.locale, settings.decimals)))
    if settings.kind == "set":
        return Sets(plain)
    if settings.kind == "tuple":
        return Tuples(plain)
    return Mixed(numbers, plain)


def _touches(text: str, marker: Marker, found: Found) -> bool:
    """Whether the answer runs into the end of a text that was cut off."""
    if marker.payload is None:
        return False
    end = marker.end
    if not marker.strict:
        end = marker.start + max(found.end, cut_at(marker.payload))
    return end == len(text) and text[-1].isalnum()


def _result(
    prepared: Prepared, marker: Marker, found: Found, older: tuple[str, ...], *, touches: bool
) -> Extraction:
    if touches:
        return unanswered("truncated", rule=marker.sort, superseded=older)
    if found.key is None:
        return unanswered(found.reason or "no_candidate", rule=marker.sort, superseded=older)
    if marker.exact:
        found = moved(found, marker.start)
    else:
        found = found._replace(start=marker.start, end=marker.end)
    return answered(prepared, found, marker.sort, older)
