"""The minimal contradictions of a claim: one binding changed, everything else as it was.

Rules and word lists for English; numbers in any script of decimal digits. A contradiction says
something else than the claim, and not necessarily something false: whether the evidence carries it
is what a sensor asks. What no rule applies to has none, and says so.
"""

from collections.abc import Iterator, Sequence

from trueness.extract.contradictions.edits import Edit, exchanged, folded
from trueness.extract.contradictions.entity_edits import exchanges
from trueness.extract.contradictions.negation_edits import negations
from trueness.extract.contradictions.number_edits import dates, numbers
from trueness.extract.contradictions.role_edits import swaps
from trueness.extract.contradictions.words import (
    COMPARISON,
    DATE_ORDER,
    MODALITY,
    OPPOSITES,
    SCOPE,
)
from trueness.extract.sentences import SPLITTER, split_sentences
from trueness.table.contrasts import Contradicted, Variant

CONTRADICTIONS = f"contradictions/1+{SPLITTER}"
"""Name of these rules; part of every fingerprint."""
KINDS = (
    "role_swap", "negation", "number", "date_order", "scope", "comparison", "modality", "entity",
)  # fmt: skip
PER_KIND = 2
_LONGEST = 1_000
"""Characters of a sentence that is read."""
_MOST_SENTENCES = 40
_CLAUSE = 4
"""Words; less may be a name, which the evidence holds without saying anything."""


def contradictions_of(
    claim: str, passages: Sequence[str] = (), *, per_kind: int = PER_KIND
) -> tuple[Variant, ...]:
    """The claim's contradictions; see `contradicted`.

    >>> claim = "The mill may employ 1,450 people."
    >>> [(v.kind, v.after) for v in contradictions_of(claim)]
    [('number', '1,540'), ('modality', 'will')]
    """
    return contradicted(claim, passages, per_kind=per_kind).found


def contradicted(
    claim: str, passages: Sequence[str] = (), *, per_kind: int = PER_KIND
) -> Contradicted:
    """At most so many contradictions of each kind, in a fixed order, or why there are none.

    Questions, greetings and refusals are left as they are. No variant is the claim. A variant that
    the evidence states is kept where it does not state the claim as well: it is what the claim
    should have said, and the contrast that tells most.

    Parameters
    ----------
    claim : str
    passages : sequence of str
        The evidence: other names, numbers and dates are taken from it.
    per_kind : int
        At least 1.

    Returns
    -------
    Contradicted
        ``reason`` is ``no_statement``, ``no_rule_applies`` or ``stated_in_evidence`` where nothing
        was found.

    Examples
    --------
    >>> contradicted("Who won?").reason, contradicted("Delhi").reason
    ('no_statement', 'no_rule_applies')
    """
    sentences = [
        s
        for s in split_sentences(claim)
        if s.mark is None and claim[s.start : s.end] == s.text and len(s.text) <= _LONGEST
    ][:_MOST_SENTENCES]
    if not sentences:
        return Contradicted(reason="no_statement")
    said = [folded(p) for p in passages]
    there = [s.text for p in passages for s in split_sentences(p)]
    found: dict[str, dict[str, Variant]] = {kind: {} for kind in KINDS}
    stated = False
    for sentence in sentences:
        own = _is_said(folded(sentence.text), said)
        for kind, edit in _proposed(sentence.text, passages, there):
            room = len(found[kind]) < per_kind
            variant = _variant(claim, kind, edit.shifted(sentence.start)) if room else None
            if variant is None or any(variant.text in known for known in found.values()):
                continue
            if own and _is_said(folded(edit.applied(sentence.text)), said):
                stated = True
                continue
            found[kind][variant.text] = variant
    variants = tuple(v for kind in KINDS for v in found[kind].values())
    if variants:
        return Contradicted(variants)
    return Contradicted(reason="stated_in_evidence" if stated else "no_rule_applies")


def _proposed(
    sentence: str, passages: Sequence[str], there: Sequence[str]
) -> Iterator[tuple[str, Edit]]:
    """What the rules propose for a sentence, the best of a kind first."""
    yield from swaps(sentence, " ".join((sentence, *passages)))
    for kind, edits in (
        ("negation", negations(sentence)),
        ("negation", _without_article(sentence)),
        ("negation", exchanged(sentence, OPPOSITES)),
        ("number", numbers(sentence, passages)),
        ("date_order", dates(sentence, passages)),
        ("date_order", exchanged(sentence, DATE_ORDER)),
        ("scope", exchanged(sentence, SCOPE)),
        ("comparison", exchanged(sentence, COMPARISON)),
        ("modality", exchanged(sentence, MODALITY)),
        ("entity", exchanges(sentence, there)),
    ):
        for edit in edits:
            yield kind, edit


def _is_said(text: str, said: Sequence[str]) -> bool:
    """Whether a passage is the text, or holds it where it is long enough to say something."""
    return text in said or (len(text.split()) >= _CLAUSE and any(text in whole for whole in said))


def _without_article(sentence: str) -> Iterator[Edit]:
    """No before a noun becomes an article: no effect, an effect."""
    for edit in exchanged(sentence, {"no": "a"}):
        follows = sentence[edit.stop :].lstrip()
        if follows[:1].isalpha():
            vowel = follows[0].lower() in "aeiou"
            yield edit._replace(after=edit.after + "n" * vowel)


def _variant(claim: str, kind: str, edit: Edit) -> Variant | None:
    """The whole claim with the change; None where it changes nothing that is compared."""
    text = edit.applied(claim)
    if folded(text) == folded(claim):
        return None
    before = claim[edit.start : edit.stop]
    return Variant(kind, text, edit.start, edit.stop, before, edit.after)
