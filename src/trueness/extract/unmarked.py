"""Texts without a marked answer: a literal line, a bold literal, or the only candidate."""

import re
from collections.abc import Iterator

from trueness.extract.markers import boxes, json_values
from trueness.extract.members import Tuples
from trueness.extract.mixed import Mixed
from trueness.extract.number_payloads import Numbers
from trueness.extract.options import Options
from trueness.extract.outcomes import answered, unanswered, without_answer
from trueness.extract.prepare import Prepared
from trueness.extract.refusals import refusal_in
from trueness.extract.result import Extraction, Found, Rules, moved
from trueness.extract.settings import Kind
from trueness.extract.texts import LONGEST

_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_WHOLE_FENCE = re.compile(r"\s*```[^\n`]*\n([^`]*)```\s*")
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_OPENERS = " \t\n*_([{<$\"'"
_CLOSERS = ")]}*_$`\"'”’"


class Unmarked:
    """Rules for texts in which nothing marks the answer.

    A refusing or declining phrase is stronger than a lone candidate, and weaker than a line that is
    nothing but an answer. In a text that was cut off, the only number so far is no answer.
    """

    def __init__(self, rules: Rules, kind: Kind) -> None:
        self._rules, self._kind = rules, kind

    def extraction(self, prepared: Prepared, text: str, *, cut_off: bool) -> Extraction:
        """The result of a text.

        Parameters
        ----------
        prepared : Prepared
            Where the text comes from.
        text : str
            Its beginning, up to where the next exercise starts.
        cut_off : bool
            Whether the model was stopped at the end of the text.
        """
        body, offsets = _bare(text)
        phrase = refusal_in(text)
        if found := self._by_line(body):
            return self._settled(prepared, text, found, offsets, "last_line", cut_off=cut_off)
        if found := self._by_bold(body):
            return self._settled(prepared, text, found, offsets, "bold", cut_off=cut_off)
        candidate = None if phrase else self._only(body)
        if candidate is not None and candidate.key is not None:
            return self._settled(prepared, text, candidate, offsets, "only", cut_off=cut_off)
        return without_answer(
            text, cut_off=cut_off, candidates=candidate is not None, phrase=phrase
        )

    def _by_line(self, body: str) -> Found | None:
        """The last line, if it is only a literal; a text counts as one line or not at all."""
        lines = body.rstrip()
        start = lines.rfind("\n") + 1
        whole = lines.strip()
        if self._kind == "text" and ("\n" in whole or len(whole) > LONGEST):
            return None
        found = self._rules.literal(lines[start:])
        return None if found is None or found.key is None else moved(found, start)

    def _by_bold(self, body: str) -> Found | None:
        if "**" not in body or self._kind == "text":
            return None
        found = None
        for m in _BOLD.finditer(body):
            here = self._rules.literal(m[1])
            if here is None or here.key is None:
                continue
            if found is not None and found.key != here.key:
                return None
            found = moved(here, m.start(1))
        return found

    def _only(self, body: str) -> Found | None:
        """The only distinct candidate; one without a key where there are several."""
        rules = self._rules
        if isinstance(rules, Options):
            return rules.candidates(body)
        if isinstance(rules, Tuples):
            return _single(rules.bracketed(body))
        if isinstance(rules, Numbers | Mixed):
            return _single(rules.alone(body))
        return None

    def _settled(
        self,
        prepared: Prepared,
        text: str,
        found: Found,
        offsets: Prepared,
        rule: str,
        *,
        cut_off: bool,
    ) -> Extraction:
        start, end = offsets.span(found.start, found.end)
        if cut_off and not self._stands(text, start, end, rule):
            return unanswered("truncated", rule=rule)
        return answered(prepared, found._replace(start=start, end=end), rule)

    def _stands(self, text: str, start: int, end: int, rule: str) -> bool:
        """Whether an unmarked answer can be trusted in a text that was cut off.

        A line that is nothing but an answer can, unless it runs into the cut; a label can that the
        text begins with; what merely was the only number so far cannot.
        """
        if self._kind == "option":
            return rule == "last_line" or not text[:start].strip(_OPENERS)
        return rule == "last_line" and ("\n" in text[end:] or text.rstrip()[-1] in _CLOSERS)


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
