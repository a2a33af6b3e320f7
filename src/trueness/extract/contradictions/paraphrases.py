"""Harmless rewordings of a claim: as small a change as a contradiction's, and no other meaning."""

from collections.abc import Iterator, Mapping, Sequence

from trueness.extract.contradictions.chunks import chunks_of
from trueness.extract.contradictions.edits import Edit, exchanged, folded
from trueness.extract.contradictions.role_edits import ROLE, swaps
from trueness.extract.contradictions.words import COMPARISON, DATE_ORDER, paired
from trueness.extract.sentences import split_sentences
from trueness.table.contrasts import Variant

PARAPHRASES = "paraphrases/1"
PARAPHRASE = "paraphrase"
_LONGEST = 1_000
_SIDES = 2
_ARTICLE = 4
"""Where the first thing of a sentence starts at most."""
_SAME: Mapping[str, str] = paired(
    """
    began/started started/began begins/starts big/large said/stated about/approximately
    showed/demonstrated shows/demonstrates show/demonstrate shown/demonstrated acquired/bought
    bought/purchased purchased/bought founded/established established/founded
    built/constructed helps/assists because_of/owing_to due_to/owing_to many/numerous
    most/the_majority_of some_of/a_number_of may/might might/may suggests/indicates
    suggest/indicate suggested/indicated indicates/suggests indicate/suggest
    located_in/situated_in known_as/called study/investigation method/procedure
    film/movie movie/film children/kids obtain/get associated_with/linked_to
    linked_to/associated_with led_to/brought_about caused/brought_about examined/looked_at
    designed/drew_up intends_to/plans_to plans_to/intends_to did_not/didn't does_not/doesn't
    do_not/don't is_not/isn't was_not/wasn't are_not/aren't were_not/weren't cannot/can't
    lasted/went_on often/frequently usually/normally use/employ used/employed
    important/essential however/nevertheless therefore/thus also/additionally
    assess/evaluate evaluate/assess assessed/evaluated evaluated/assessed
    quick/fast got/received received/got nearly/almost almost/nearly whole/entire
    entire/whole answer/reply ended/finished closed/shut starred_in/acted_in
    needs_to/has_to wrote/penned appears_to/seems_to seems_to/appears_to
    """,
    both=False,
)


def paraphrases_of(claim: str, passages: Sequence[str] = ()) -> tuple[Variant, ...]:
    """Rewordings of a claim that say the same, in a fixed order; empty where no rule applies.

    A comparison or an order of dates turned round at both ends, or one word for another.

    >>> [v.text for v in paraphrases_of("The mill opened before the mine.")]
    ['The mine opened after the mill.']
    """
    around = " ".join((claim, *passages))
    found: dict[str, Variant] = {}
    for sentence in split_sentences(claim):
        whole = claim[sentence.start : sentence.end] == sentence.text
        if sentence.mark is not None or not whole or len(sentence.text) > _LONGEST:
            continue
        for edit in (*_turned(sentence.text, around), *exchanged(sentence.text, _SAME)):
            moved = edit.shifted(sentence.start)
            text = moved.applied(claim)
            if folded(text) != folded(claim):
                before = claim[moved.start : moved.stop]
                new = Variant(PARAPHRASE, text, moved.start, moved.stop, before, moved.after)
                found.setdefault(text, new)
    return tuple(found.values())


def _turned(sentence: str, around: str) -> Iterator[Edit]:
    """Both sides exchanged and the word between them for its opposite."""
    for kind, swap in swaps(sentence, around):
        if swap.start > _ARTICLE or len(chunks_of(sentence[swap.start : swap.stop])) != _SIDES:
            continue
        words = {**DATE_ORDER, **COMPARISON}
        turned = list(exchanged(swap.after, words)) if kind != ROLE else []
        if len(turned) == 1:
            yield Edit(swap.start, swap.stop, turned[0].applied(swap.after))
            return
