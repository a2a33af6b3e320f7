"""The order of work from a text to its result: what is tried, and what decides."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from trueness.extract.amounts import Grammar
from trueness.extract.markers import (
    Marker,
    boxes,
    json_values,
    letter_lines,
    markers,
    strict_markers,
)
from trueness.extract.members import Members, Sets, Tuples
from trueness.extract.mixed import Mixed
from trueness.extract.number_payloads import Numbers
from trueness.extract.options import Options
from trueness.extract.prepare import Prepared, escaped, prepare
from trueness.extract.refusals import refusal_in
from trueness.extract.result import Extraction, Found
from trueness.extract.settings import Settings
from trueness.extract.texts import LONGEST, Texts
from trueness.extract.trimming import is_infrastructure, run_on_at, without_reasoning
from trueness.table.answers import Outcome

LENGTH_STOPS = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "token_limit", "max_length"}
)
HOST_STOPS = frozenset({"content_filter", "error"})
_NOTHING = frozenset({"[invalid]", "[no answer]", "None", "null", "N/A"})
"""What tools store where they found no answer."""
_NUMERIC = frozenset({"number", "set", "auto"})
_LAST_NUMBER = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_WHOLE_FENCE = re.compile(r"\s*```[^\n`]*\n([^`]*)```\s*")


class Rules(Protocol):
    """What a kind of answer must be able to read."""

    def strict(self, payload: str, *, box: bool = False) -> Found | None:
        """What a payload yields that must be used up."""

    def phrase(self, payload: str) -> Found | None:
        """What the payload of a phrase yields."""

    def literal(self, line: str) -> Found | None:
        """What a line yields that is nothing but an answer."""


class Answerer:
    """The rules for some settings, ready for any number of texts."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        kind = settings.kind
        self._rules = _rules(settings)
        self._a_lines = kind in _NUMERIC
        self._markers: Callable[[str], Iterable[Marker]] = {
            "declared": self._declared,
            "strict": lambda text: sorted(
                strict_markers(text, a_lines=self._a_lines), key=lambda m: (m.end, m.start)
            ),
            "letter_line": letter_lines,
        }.get(settings.extractor, lambda _: ())

    def _declared(self, text: str) -> list[Marker]:
        return markers(text, a_lines=self._a_lines)

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
            return _none("truncated" if cut_off else "empty")
        if is_infrastructure(prepared.text.strip()) and not any(self._markers(prepared.text)):
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

        >>> Answerer(Settings("number")).gold("2+2 = 4\\n#### 4")
        '4'
        """
        prepared = prepare(text)
        strict = sorted(
            strict_markers(prepared.text, a_lines=self._a_lines), key=lambda m: (m.end, m.start)
        )
        for marker in reversed(strict):
            found = self._read(marker)
            if found is not None and found.key is not None:
                return escaped(found.key)
        whole = prepared.text.strip()
        found = self._rules.strict(whole, box=True) if whole else None
        return None if found is None or found.key is None else escaped(found.key)

    def _whole(self, prepared: Prepared, *, cut_off: bool) -> Extraction:
        prepared, is_open = without_reasoning(prepared, self.settings.reasoning_tags)
        if is_open:
            return _none("truncated", rule="reasoning")
        text = prepared.text
        if not text or text.isspace():
            return _none("truncated" if cut_off else "reasoning_only", rule="reasoning")
        end = run_on_at(text)
        cut_off = cut_off and end == len(text)
        text = text[:end]
        decided = self._marked(prepared, text, cut_off=cut_off)
        if decided is not None:
            return decided
        if self.settings.extractor == "declared":
            return self._unmarked(prepared, text, cut_off=cut_off)
        return _without(text, cut_off=cut_off, candidates=False)

    def _marked(self, prepared: Prepared, text: str, *, cut_off: bool) -> Extraction | None:
        """What the last marked answer that decides says."""
        found = list(self._markers(text))
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

    def _unmarked(self, prepared: Prepared, text: str, *, cut_off: bool) -> Extraction:
        """A line, a bold part or a whole text that holds one answer and no other."""
        body, offsets = _bare(text)
        phrase = refusal_in(text)
        if found := self._by_line(body):
            return self._settled(prepared, text, found, offsets, "last_line", cut_off=cut_off)
        if found := self._by_bold(body):
            return self._settled(prepared, text, found, offsets, "bold", cut_off=cut_off)
        candidate = None if phrase else self._only(body)
        if candidate is not None and candidate.key is not None:
            return self._settled(prepared, text, candidate, offsets, "only", cut_off=cut_off)
        return _without(text, cut_off=cut_off, candidates=candidate is not None, phrase=phrase)

    def _by_line(self, body: str) -> Found | None:
        """The last line, if it is only a literal; a text counts as one line or not at all."""
        lines = body.rstrip()
        start = lines.rfind("\n") + 1
        whole = lines.strip()
        if self.settings.kind == "text" and ("\n" in whole or len(whole) > LONGEST):
            return None
        found = self._rules.literal(lines[start:])
        return None if found is None or found.key is None else _moved(found, start)

    def _by_bold(self, body: str) -> Found | None:
        if "**" not in body or self.settings.kind == "text":
            return None
        found = None
        for m in _BOLD.finditer(body):
            here = self._rules.literal(m[1])
            if here is None or here.key is None:
                continue
            if found is not None and found.key != here.key:
                return None
            found = _moved(here, m.start(1))
        return found

    def _only(self, body: str) -> Found | None:
        """The only distinct candidate; one without a key where there are several."""
        rules = self._rules
        if isinstance(rules, Options):
            return rules.candidates(body)
        if isinstance(rules, Tuples):
            return _single(rules.bracketed(body))
        if isinstance(rules, Numbers | Mixed):
            return _single(rules.candidates(body))
        return None

    def _settled(
        self,
        prepared: Prepared,
        text: str,
        found: Found,
        offsets: "Prepared",
        rule: str,
        *,
        cut_off: bool,
    ) -> Extraction:
        start, end = offsets.span(found.start, found.end)
        ends = cut_off and end == len(text) and text[-1].isalnum()
        if ends and self.settings.kind != "option":
            return _none("truncated", rule=rule)
        return _answer(prepared, found._replace(start=start, end=end), rule)

    def _last_number(self, prepared: Prepared, *, cut_off: bool) -> Extraction:
        last = deque(_LAST_NUMBER.finditer(prepared.text), maxlen=1)
        if not last:
            return _none("truncated" if cut_off else "no_candidate", rule="last_number")
        digits = last[0].group().replace("$", "").replace(",", "").removesuffix(".")
        found = self._rules.strict(digits)
        if found is None or found.key is None:
            return _none("no_candidate", rule="last_number")
        return _answer(
            prepared, found._replace(start=last[0].start(), end=last[0].end()), "last_number"
        )

    def _tool(self, prepared: Prepared) -> Extraction:
        if prepared.text.strip() in _NOTHING:
            return _none("no_candidate", rule="tool")
        found = self._rules.strict(prepared.text, box=True)
        if found is None or found.key is None:
            return _none("no_candidate" if found is None else found.reason or "", rule="tool")
        return _answer(prepared, found, "tool")


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


def _single(found: Iterator[Found]) -> Found | None:
    first: Found | None = None
    for here in found:
        if here.key is None or (first is not None and here.key != first.key):
            return Found(None, here.start, here.end, reason="ambiguous")
        first = first or here
    return first


def _bare(text: str) -> tuple[str, Prepared]:
    """The text without boxes, JSON answers and code, and the way back to its offsets."""
    base = Prepared(text, text)
    if (m := _WHOLE_FENCE.fullmatch(text)) is not None:
        base = base.without([(0, m.start(1)), (m.end(1), len(text))])
        return base.text, base
    regions = []
    if "```" in text:
        regions += [m.span() for m in _FENCE.finditer(text)]
    if "boxed" in text or "fbox" in text:
        regions += [(m.start, m.end) for m in boxes(text)]
    if "{" in text and '"' in text:
        regions += [(m.start, m.end) for m in json_values(text)]
    if not regions:
        return text, base
    base = base.without(_disjoint(regions))
    return base.text, base


def _disjoint(regions: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = 0
    for start, end in sorted(regions):
        if start >= last and end > start:
            yield start, end
            last = end


def _moved(found: Found, by: int) -> Found:
    return found._replace(start=found.start + by, end=found.end + by)


def _touches(text: str, marker: Marker, found: Found) -> bool:
    """Whether the answer runs into the end of a text that was cut off."""
    if marker.payload is None:
        return False
    end = marker.start + found.end if marker.exact else marker.end
    return end == len(text) and text[-1].isalnum()


def _result(
    prepared: Prepared, marker: Marker, found: Found, older: tuple[str, ...], *, touches: bool
) -> Extraction:
    if touches:
        return _none("truncated", rule=marker.sort, superseded=older)
    if found.key is None:
        return _none(found.reason or "no_candidate", rule=marker.sort, superseded=older)
    if marker.exact:
        found = _moved(found, marker.start)
    else:
        found = found._replace(start=marker.start, end=marker.end)
    return _answer(prepared, found, marker.sort, older)


def _answer(prepared: Prepared, found: Found, rule: str, older: tuple[str, ...] = ()) -> Extraction:
    start, end = prepared.span(found.start, found.end)
    return Extraction(
        Outcome.ANSWERED,
        escaped(found.key or ""),
        found.unit,
        None,
        rule,
        (start, end),
        prepared.original[start:end],
        older,
        found.notes,
    )


def _none(reason: str, *, rule: str = "", superseded: tuple[str, ...] = ()) -> Extraction:
    outcome = Outcome.NO_ANSWER
    if reason == "refusal":
        outcome = Outcome.REFUSED
    elif reason == "truncated":
        outcome = Outcome.TRUNCATED
    return Extraction(outcome, reason=reason, rule=rule, superseded=superseded)


def _without(
    text: str, *, cut_off: bool, candidates: bool, phrase: str | None = None
) -> Extraction:
    """Why a text holds no answer."""
    phrase = phrase or refusal_in(text)
    if phrase == "refusal":
        return _none("refusal", rule="phrase")
    if cut_off:
        return _none("truncated")
    if phrase is not None:
        return _none(phrase, rule="phrase")
    return _none("ambiguous" if candidates else "no_candidate")
