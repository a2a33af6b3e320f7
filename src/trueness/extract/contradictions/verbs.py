"""Verbs in their forms, English: which word is one, and what its base form is."""

from collections.abc import Mapping
from typing import NamedTuple

from trueness.extract.contradictions.words import listed

BASE, THIRD, PAST, PARTICIPLE, ING = "base", "third", "past", "participle", "ing"


class Verb(NamedTuple):
    """A form of a verb: its base, and which form it is."""

    base: str
    form: str


_REGULAR = """
    accept achieve acquire act add admit adopt advise affect affirm agree aim allow amend announce
    answer appear apply appoint approve argue arrest arrive ask assess assign attack attain attend
    award ban base believe belong border call cancel carry cause change charge check cite claim
    close collapse collect combine commission compare complete conclude conduct confirm connect
    consider consist contain contribute control convict cover create criticise cross damage date
    decide declare decline decrease defeat define deliver demonstrate deny depend describe design
    destroy detect determine develop die differ direct disclose discover dismiss divide donate earn
    edit employ enable encourage end enforce engage enter establish estimate evaluate examine exceed
    exist expand expect experience explain explore export express extend face fail feature file
    film fine finish follow form found fund generate govern grant guarantee guide happen hire host
    identify impact imply import improve include increase indicate induce influence inform inherit
    inhibit injure inspect inspire install introduce invent invest investigate invite involve issue
    join judge kill lack last launch license like link list live locate look maintain manage
    manufacture mark marry measure mention merge miss move name need note obtain occur open operate
    oppose order organise outrank outperform overturn owe own participate pass pay perform permit
    place plan play police precede predict prefer prepare present prevent process produce prohibit
    promote propose protect prove provide publish pump purchase raise rank reach receive recognise
    recommend record recover recruit reduce refer reflect refuse regulate reject relate release
    remain remove rename rent repair repeat replace report represent request require rescue resign
    respond result retain return reveal reverse review sail save score search seem select separate
    serve settle share show sign star start stay stop study succeed sue suffer suggest supervise
    supply support surpass survive target test threaten trace train transfer translate treat
    trigger turn undermine unite update use visit vote walk want warn watch weigh witness work
"""
_IRREGULAR = """
    be/was/been become/became/become begin/began/begun bind/bound/bound break/broke/broken
    bring/brought/brought build/built/built burn/burnt/burnt buy/bought/bought catch/caught/caught
    choose/chose/chosen come/came/come cost/cost/cost cut/cut/cut draw/drew/drawn
    drive/drove/driven eat/ate/eaten fall/fell/fallen feed/fed/fed fight/fought/fought
    find/found/found fly/flew/flown forget/forgot/forgotten get/got/got give/gave/given go/went/gone
    grow/grew/grown hear/heard/heard hit/hit/hit hold/held/held keep/kept/kept know/knew/known
    lead/led/led leave/left/left lend/lent/lent lose/lost/lost make/made/made mean/meant/meant
    meet/met/met outsell/outsold/outsold put/put/put read/read/read ride/rode/ridden
    rise/rose/risen run/ran/run say/said/said see/saw/seen sell/sold/sold send/sent/sent
    set/set/set shoot/shot/shot sing/sang/sung sink/sank/sunk speak/spoke/spoken
    spend/spent/spent stand/stood/stood strike/struck/struck swim/swam/swum take/took/taken
    teach/taught/taught tell/told/told think/thought/thought throw/threw/thrown
    undergo/underwent/undergone uphold/upheld/upheld wear/wore/worn win/won/won
    withdraw/withdrew/withdrawn write/wrote/written
"""
_AMBIGUOUS = listed(
    "list test study report record issue place order name form process result use link host file"
    " film guide review rank share vote walk work watch target trace train transfer star sign score"
    " search present police note need mark last like license judge impact influence found fund"
    " force fine feature face experience export import express estimate end edit date damage"
    " cover control contact claim change charge check cause call border ban award attack answer"
    " act aim base close cross decline decrease design direct increase look measure play plan"
    " pump purchase raise reach release repair request rescue return support supply treat trigger"
    " turn update visit witness cut cost fall hit lead meet read rise run set shot saw felt bound"
    " drive fight fly leave left means mean ground lay stand strike wear will win kills may"
    " lack match launch move open own pass"
)
"""Base forms and third persons that are nouns or adjectives as often."""


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    return f"{base[:-1]}ies" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}s"


def _ed(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    if base in {"admit", "ban", "permit", "plan", "prefer", "refer", "stop", "transfer", "occur"}:
        return f"{base}{base[-1]}ed"
    return f"{base}ed"


def _forms() -> dict[str, Verb]:
    found: dict[str, Verb] = {}
    for entry in _IRREGULAR.split():
        base, past, participle = entry.split("/")
        for word, form in ((past, PAST), (participle, PARTICIPLE), (_third(base), THIRD)):
            found.setdefault(word, Verb(base, form))
        found.setdefault(base, Verb(base, BASE))
    for base in _REGULAR.split():
        for word, form in ((_ed(base), PAST), (_third(base), THIRD), (base, BASE)):
            found.setdefault(word, Verb(base, form))
    for word in ("was", "been", "be", "bes"):
        del found[word]
    found["found"] = Verb("find", PAST)
    return found


VERBS: Mapping[str, Verb] = _forms()
_SHORTEST = 5
_KEEP = ("ss", "ll", "zz", "ff")
_WITH_E = ("at", "iz", "is", "us", "as", "os", "ir", "ur", "ib", "uc", "ag", "eg", "rg", "dg", "ut")


def verb_of(word: str) -> Verb | None:
    """The verb that a word is a form of; None for what is a noun as often.

    >>> verb_of("acquired"), verb_of("taught"), verb_of("carried"), verb_of("results")
    (Verb(base='acquire', form='past'), Verb(base='teach', form='past'), \
Verb(base='carry', form='past'), None)
    """
    low = word.lower()
    known = VERBS.get(low)
    if known is not None:
        plain = known.form in (BASE, THIRD) or low == known.base
        return None if plain and known.base in _AMBIGUOUS else known
    if low.endswith("ed") and len(low) >= _SHORTEST and low.isalpha() and word == low:
        return Verb(_base(low[:-2]), PAST)
    return None


def _base(stem: str) -> str:
    """The base form of a word that ends in -ed, guessed from what stands before it."""
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    if stem[-1:] == stem[-2:-1] and not stem.endswith(_KEEP):
        return stem[:-1]
    return f"{stem}e" if stem.endswith(("c", "v", "z", "u", *_WITH_E)) else stem
