"""What a sensor promises, written down before it measures anything."""

from dataclasses import dataclass

from trueness.contract.states import Direction, Status


@dataclass(frozen=True, slots=True)
class Contract:
    """What a sensor measures, by what proxy, and what it cannot see.

    Parameters
    ----------
    sensor : str
        The name by which it is called.
    property : str
        What one would like to know.
    proxy : str
        What is counted or computed in its place.
    unit : str
        Unit of the value in words.
    range : tuple of float
        Lowest and highest value possible.
    direction : Direction
        Which way the value gets worse.
    reference_needed : str
        The key, evidence or declaration without which nothing is measured.
    status : Status
        How far the claim is established.
    blind_to : tuple of str
        What it is known not to see. Each sentence has a test that it *is* blind there.
    source : str
        Where the idea and its proof stand.
    """

    sensor: str
    property: str
    proxy: str
    unit: str
    range: tuple[float, float]
    direction: Direction
    reference_needed: str
    status: Status
    blind_to: tuple[str, ...]
    source: str
