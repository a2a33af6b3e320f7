"""What repeated answers agree about: right answers, wrong ones, or none.

Draw the same question several times. Two draws agree with a probability that says nothing about
right and wrong until it is split by what was agreed on; two checkpoints can agree equally well
about opposite things.
"""

from trueness.contract import Contract, Direction, Status
from trueness.sensors.atlas.params import Params as Params

CONTRACT = Contract(
    sensor="atlas",
    property="agreement of independent draws of one item",
    proxy="share of r-subsets of an item's draws that agree, unbiased for the sum of p(a)^r",
    unit="probability",
    range=(-1.0, 1.0),
    direction=Direction.NEITHER,
    reference_needed="none for total, no answer and answered; right answers for gold and wrong",
    status=Status.VALIDATED,
    blind_to=(
        "labels, if only the total is read: any relabelling leaves every order unchanged",
        "everything about a completion but its extracted key",
        "orders that are not measured: two shapes may agree at orders 2 to 5 and differ at 6",
        "items that are not in the slice",
        "opposite movements of items that cancel in a mean",
    ),
    source="Noumena, Same Confidence, Opposite Truth (2026)",
)

ANSWER_KIND = "auto"
"""Kind of the keys that completions get where nothing else is said."""

from trueness.sensors.atlas.arms import clouds_of as clouds_of  # noqa: E402 - needs CONTRACT
from trueness.sensors.atlas.arms import conditions_of as conditions_of  # noqa: E402 - needs CONTRACT
from trueness.sensors.atlas.compare import compare as compare  # noqa: E402 - needs CONTRACT
from trueness.sensors.atlas.fibres import fibre_search as fibre_search  # noqa: E402 - needs CONTRACT
from trueness.sensors.atlas.fibres import has_observers  # noqa: E402 - needs CONTRACT
from trueness.sensors.atlas.measure import measure as measure  # noqa: E402 - needs CONTRACT

ACROSS = {"observer fibres": (has_observers, fibre_search)}
"""Readings across the conditions of one table: when they apply, and how they are made."""
