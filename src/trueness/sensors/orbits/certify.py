"""One certificate for every kind of declaration."""

from trueness.sensors.orbits import counted
from trueness.sensors.orbits.certificate import Certificate, Inconsistent
from trueness.sensors.orbits.declaration import COUNTED, ORDERED, Kind
from trueness.sensors.orbits.limits import Params
from trueness.sensors.orbits.slots import Slots


def certify(slots: Slots, params: Params, *, ranked: bool = True) -> Certificate | Inconsistent:
    """What follows from the declaration about the answered slots.

    Without ``ranked`` no order of withholding is made, where only the number is wanted.
    """
    relation = params.declaration.relation
    if relation in COUNTED:
        return counted.certify(slots, params, ranked=ranked)
    from trueness.sensors.orbits import special  # noqa: PLC0415 - slow to load, seldom needed

    if relation in ORDERED:
        return special.ordered(slots, params)
    if relation == Kind.INVOLUTION:
        return special.involution(slots, params)
    return special.metric(slots, params)
