"""Words that minimal contradictions exchange, English, each list for one kind of binding."""

from collections.abc import Mapping


def listed(text: str) -> frozenset[str]:
    """Words that white space separates.

    >>> sorted(listed("on in"))
    ['in', 'on']
    """
    return frozenset(text.split())


def paired(text: str, *, both: bool = True) -> dict[str, str]:
    """``one/two`` separated by white space, in one direction or in both; ``_`` is a space.

    >>> paired("plans_to/began_to", both=False), paired("a/b")
    ({'plans to': 'began to'}, {'a': 'b', 'b': 'a'})
    """
    found: dict[str, str] = {}
    for entry in text.split():
        one, two = entry.replace("_", " ").split("/")
        found.setdefault(one, two)
        if both:
            found.setdefault(two, one)
    return found


OPPOSITES: Mapping[str, str] = paired("""
    affirmed/reversed upheld/overturned granted/denied approved/rejected accepted/refused
    failed_to/managed_to succeeded/failed won/lost guilty/innocent positive/negative
    present/absent with/without effective/ineffective able/unable possible/impossible
    significant/insignificant significantly/insignificantly true/false permitted/prohibited
    included/excluded supported/opposed valid/invalid legal/illegal lawful/unlawful
    similar/different safe/unsafe success/failure successful/unsuccessful
    agreed_to/refused_to same/opposite known/unknown reliable/unreliable useful/useless
    necessary/unnecessary sufficient/insufficient adequate/inadequate dependent/independent
    confirmed/disproved admitted/denied dismissed/sustained allowed/forbade allowed_to/forbidden_to
    related/unrelated feasible/infeasible beneficial/harmful appropriate/inappropriate
    attended/missed remembered/forgot hired/dismissed bought/sold lender/borrower
    plaintiff/defendant landlord/tenant licensor/licensee appellant/appellee
    liable/not_liable binding/void
""")
"""Polarity, and legal relations with it."""
SCOPE: Mapping[str, str] = paired(
    """
    some_of/all_of some/all most/few many/few few/many only/not_only every/no each/no
    all_of/none_of all/no none_of/all_of none/all no_one/everyone nobody/everybody
    everyone/no_one everybody/nobody sometimes/always always/never never/always often/rarely
    rarely/often usually/rarely seldom/often partly/entirely entirely/partly partially/completely
    completely/partially at_least/at_most at_most/at_least excluding/including including/excluding
    generally/rarely mainly/rarely mostly/rarely solely/not_solely exclusively/not_exclusively
    several/all half_of/all_of part_of/all_of a_few/all nearly_all/few almost_all/few
    neither_of/both_of both_of/neither_of locally/nationally
""",
    both=False,
)
MODALITY: Mapping[str, str] = paired(
    """
    may/will might/will could/will plans_to/has_begun_to plan_to/have_begun_to
    planned_to/had_begun_to intends_to/has_begun_to hopes_to/has_begun_to aims_to/has_begun_to
    expects_to/has_begun_to wants_to/has_begun_to likely/certain possible_that/certain_that
    probably/certainly possibly/certainly perhaps/certainly expected_to/certain_to
    suggests/proves suggest/prove suggested/proved indicates/proves indicate/prove
    indicated/proved advised/required recommended/required encouraged/required
    allowed_to/required_to permitted_to/required_to optional/mandatory voluntary/compulsory
    must/need_not should/must appears_to/is_certain_to appear_to/are_certain_to
    appeared_to/was_certain_to seems_to/is_certain_to seem_to/are_certain_to
    seemed_to/was_certain_to alleged/proved suspected/convicted accused/convicted
    reportedly/certainly proposed/adopted considering/carrying_out
    associated_with/caused_by can_be/is_always tends_to/is_certain_to
""",
    both=False,
)
COMPARISON: Mapping[str, str] = paired("""
    taller/shorter more/less higher/lower larger/smaller greater/lesser longer/shorter
    bigger/smaller faster/slower older/younger stronger/weaker better/worse heavier/lighter
    richer/poorer hotter/colder warmer/cooler deeper/shallower wider/narrower closer/farther
    cheaper/dearer thicker/thinner easier/harder highest/lowest largest/smallest best/worst
    longest/shortest oldest/youngest biggest/smallest fastest/slowest strongest/weakest
    increased/decreased increases/decreases increase/decrease increasing/decreasing
    rose/fell rises/falls rising/falling grew/shrank improved/worsened improves/worsens
    improvement/deterioration reduced/raised reduces/raises reduce/raise reduction/increase
    superior/inferior above/below majority/minority maximum/minimum upper/lower fewer/more
    outsold/undersold growth/decline exceeds/undercuts
    less_common/more_common less_frequently/more_frequently
""")
DATE_ORDER: Mapping[str, str] = paired("""
    before/after earlier/later precedes/follows preceded/followed until/since prior_to/after
    began/ended begins/ends previous/next former/latter former/current preoperative/postoperative
""")
UNITS: Mapping[str, str] = paired(
    """
    kilometres/metres kilometers/meters km/m kilograms/grams kg/g mg/g tonnes/kilograms
    million/billion thousand/million hours/minutes days/weeks months/years years/months
    litres/millilitres liters/milliliters metres/centimetres meters/centimeters
    dollars/cents euros/cents miles/yards hectares/acres acres/hectares weeks/days
    minutes/hours seconds/minutes billion/million metres/kilometres meters/kilometers
    percent/per_mille degrees/radians
""",
    both=False,
)
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip
SYMMETRIC = listed(
    "met meets married marries resembles resembled equals differs collided borders bordered"
    " between with and or same similar equal adjacent near different identical rather other"
)
"""Between two names these say the same the other way round."""
