"""What in a gate file does not follow from the rest of it."""

import math
from collections.abc import Iterator, Mapping

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.decide.calibration import Calibration
from trueness.decide.policy import Policy
from trueness.decide.ranks import Threshold, threshold_of

_LIBRARIES = 1e-9
"""How much a guarantee may differ between versions of what computed it."""


def altered(data: Mapping[str, Json], made: Mapping[str, Json]) -> Iterator[str]:
    """Places of a gate file that say something else than its parts, written again, do.

    Parameters
    ----------
    data : mapping
        The file.
    made : mapping
        What the gate that was read from it is written as.
    """
    for part in ("calibration", "policy"):
        given, wanted = _object(data[part]), _object(made[part])
        for name in sorted(set(given) | set(wanted)):
            if name not in given or name not in wanted or given[name] != wanted[name]:
                yield f"{part}.{name}"
        if data[f"{part}_hash"] == "":
            yield f"{part}_hash"
    yield from sorted(set(data) ^ set(made))
    if data.get("notes") != made["notes"]:
        yield "notes"
    prints = _object(_object(made["calibration"])["fingerprint"])
    if data["sensor"] != prints.get("sensor", ""):
        yield "sensor"
    if data.get("score_hash") != made.get("score_hash"):
        yield "score_hash"


def threshold_faults(calibration: Calibration, policy: Policy) -> list[str]:
    """Sentences for every threshold and rank that the stored risks do not give."""
    try:
        tau, rho = calibration.rederived()
    except InputError as error:
        return [f"the stored risks give no threshold: {error}"]
    found = _rank_faults(calibration)
    if calibration.tau != tau:
        found.append(f"tau is {calibration.tau!r}; the stored risks give {tau!r}")
    if calibration.rho != rho:
        found.append(f"rho is {calibration.rho!r}; the stored risks give {rho!r}")
    if policy.accept > tau:
        found.append(f"the policy accepts below {policy.accept!r}; the stored risks give {tau!r}")
    if rho is not None and policy.reject is not None and policy.reject < rho:
        found.append(f"the policy rejects from {policy.reject!r}; the stored risks give {rho!r}")
    return found


def _rank_faults(calibration: Calibration) -> list[str]:
    """Ranks and guarantees that the stored risks do not have."""
    promise = calibration.promise
    sides = (
        ("rank", calibration.unsupported, calibration.threshold, promise.budget),
        ("reject_rank", calibration.supported, calibration.reject, promise.reject_budget),
    )
    found = []
    for name, side, said, budget in sides:
        if side is None or budget is None:
            if said is not None:
                found.append(f"{name} is there without the risks that give it")
            continue
        made = threshold_of(side.risks, side.sources, budget=budget, promise=promise)
        if said is None or not _alike(said, made):
            found.append(f"{name} is {said}; the stored risks give {made}")
    return found


def _alike(one: Threshold, two: Threshold) -> bool:
    """Whether two are the same, their guarantees as nearly as libraries differ."""
    if (one.n, one.k, one.tau, one.expected) != (two.n, two.k, two.tau, two.expected):
        return False
    left, right = one.guarantee, two.guarantee
    if left is None or right is None:
        return left is right
    return math.isclose(left, right, rel_tol=_LIBRARIES)


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
