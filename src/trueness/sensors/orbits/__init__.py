"""Certified errors: answers that cannot all be right, counted without a key.

Group the entities by the answer they got. Where the declaration gives an answer to fewer
entities than it was given to, the surplus is wrong: a proof, one-sided, that can never prove an
answer right.
"""

from trueness.contract import Contract, Direction, Status
from trueness.sensors.orbits.declaration import Declaration as Declaration
from trueness.sensors.orbits.declaration import Kind as Kind
from trueness.sensors.orbits.golds import GoldCollisions as GoldCollisions
from trueness.sensors.orbits.golds import gold_collisions as gold_collisions
from trueness.sensors.orbits.limits import Params as Params
from trueness.stats.curve import floors_from_counts as floors_from_counts

CONTRACT = Contract(
    sensor="orbits",
    property="number of answers that are wrong under every truth the declaration allows",
    proxy="coincidences, contradictions and inadmissible values among the observed answers",
    unit="fraction of answered slots",
    range=(0.0, 1.0),
    direction=Direction.HIGHER_IS_WORSE,
    reference_needed="none; a declaration of what the right answers may be",
    status=Status.PROVED,
    blind_to=(
        "answers that agree with some allowed truth, such as right answers permuted among entities",
        "distinct, stable garbage when no answer set is declared",
        "every error on a single entity with an admissible answer",
        "whether the declaration itself is true",
    ),
    source="Sharma, caustic (2026); one certificate of which its theorems are special cases",
)

from trueness.sensors.orbits.compare import compare as compare  # noqa: E402 - needs CONTRACT
from trueness.sensors.orbits.measure import measure as measure  # noqa: E402 - needs CONTRACT
