"""Several runs in one table: their names, and the facts that a protocol can hold."""

from collections.abc import Mapping, Sequence

from trueness.contract.errors import CannotSerialise
from trueness.contract.serial import Json, dumps

NO_CONDITION = "none"
"""The condition of a single run."""


def labels(runs: Sequence[Sequence[str]]) -> list[str]:
    """A name for each of several runs: what they differ in, in words; one run needs none.

    Parameters
    ----------
    runs : sequence of equally long sequences of str
        What describes each run, as far apart as needed; no two alike.

    >>> labels([("sums", "m1", "x"), ("sums", "m2", "y")]), labels([("sums", "m1", "x")])
    (['m1', 'm2'], ['none'])
    """
    if len(runs) == 1:
        return [NO_CONDITION]
    varying = [i for i, parts in enumerate(zip(*runs, strict=True)) if len(set(parts)) > 1]
    for count in range(1, len(varying) + 1):
        found = [" ".join(run[i] for i in varying[:count]) for run in runs]
        if len(set(found)) == len(runs):
            return found
    return [f"run {i}" for i in range(1, len(runs) + 1)]


def known(facts: Mapping[str, Json]) -> dict[str, Json]:
    """The facts that are there and that a protocol can hold: no null, no NaN.

    >>> known({"model": "m", "seed": None, "temperature": float("nan")})
    {'model': 'm'}
    """
    return {name: value for name, value in facts.items() if value is not None and _holds(value)}


def _holds(value: Json) -> bool:
    try:
        dumps(value)
    except CannotSerialise:
        return False
    return True
