"""Pure functions from a table to a reading; found by name."""

from importlib import import_module
from types import ModuleType

from trueness.contract.errors import InputError

SENSORS = {
    "atlas": "trueness.sensors.atlas",
    "orbits": "trueness.sensors.orbits",
}
"""From a sensor's name to its module, which offers CONTRACT, Params and measure."""


def find(name: str) -> ModuleType:
    """The module of a sensor.

    Raises
    ------
    InputError
        When there is none of that name; lists those there are.
    """
    if name not in SENSORS:
        msg = f"no sensor called {name!r}. Choose one of: {', '.join(sorted(SENSORS))}."
        raise InputError(msg)
    return import_module(SENSORS[name])
