"""The tree of errors is the one that is drawn; every sensor keeps the five promises."""

import inspect
import re
from dataclasses import FrozenInstanceError, fields, is_dataclass
from types import ModuleType
from typing import Any

import pytest

from trueness import sensors
from trueness.contract import Contract, Reading, State, errors
from trueness.contract.errors import BackendError, InputError, TruenessError


def drawn_tree() -> dict[str, tuple[str, ...]]:
    """Name → bases, as the docstring of the module draws them."""
    drawing = (errors.__doc__ or "").partition("::\n\n")[2].partition("\n\n")[0]
    path: list[str] = []
    tree: dict[str, tuple[str, ...]] = {}
    for line in drawing.splitlines():
        found = re.search(r"(\w+)(?: \((\w+)\))?", line)
        assert found, line
        depth = (found.start() - 4) // 4
        path[depth:] = [found[1]]
        parents = (path[depth - 1],) if depth else ("Exception",)
        tree[found[1]] = (*parents, *filter(None, (found[2],)))
    return tree


def real_tree() -> dict[str, tuple[str, ...]]:
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass)]
    own = [c for c in classes if c.__module__ == errors.__name__]
    return {c.__name__: tuple(base.__name__ for base in c.__bases__) for c in own}


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    assert drawn_tree() == real_tree()


@pytest.mark.parametrize("name", sorted(real_tree()))
def test_every_error_is_documented_and_caught_by_the_base(name: str) -> None:
    error = getattr(errors, name)
    assert issubclass(error, TruenessError)
    assert error.__doc__


def test_a_backend_error_carries_what_to_do() -> None:
    error = BackendError("the server is away.", retryable=True, hint="Start it.")
    assert (str(error), error.retryable) == ("the server is away. Start it.", True)
    assert BackendError("gone.").retryable is False


def test_an_unknown_sensor_lists_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no sensor called 'orbit'.*orbits"):
        sensors.find("orbit")


@pytest.fixture(params=sorted(sensors.SENSORS))
def sensor(request: pytest.FixtureRequest) -> tuple[str, ModuleType]:
    return request.param, sensors.find(request.param)


def test_a_sensor_offers_its_contract(sensor: tuple[str, ModuleType]) -> None:
    name, module = sensor
    contract = module.CONTRACT
    assert isinstance(contract, Contract)
    assert contract.sensor == name
    assert contract.range[0] < contract.range[1]
    texts = [getattr(contract, f.name) for f in fields(contract)]
    assert all(t.strip() for t in texts if isinstance(t, str))


def test_a_sensor_says_what_it_is_blind_to(sensor: tuple[str, ModuleType]) -> None:
    blind = sensor[1].CONTRACT.blind_to
    assert blind
    assert len(set(blind)) == len(blind)


def test_the_parameters_of_a_sensor_are_frozen_and_have_defaults(
    sensor: tuple[str, ModuleType],
) -> None:
    made: Any = sensor[1].Params()
    assert is_dataclass(made)
    assert made == sensor[1].Params()
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(made)[0].name, None)


def test_a_sensor_measures_a_table(sensor: tuple[str, ModuleType]) -> None:
    from trueness import api  # noqa: PLC0415 - the contract alone is tested above

    rows = [{"item": "a", "entity": "Peru", "answer": "Lima"}]
    reading = api.measure(sensor[0], rows)
    assert isinstance(reading, Reading)
    assert reading.sensor == sensor[0]
    assert reading.direction is sensor[1].CONTRACT.direction
    assert reading.state in State
    blind = [
        line
        for block in reading.blocks
        if getattr(block, "role", "") == "blind_spots"
        for line in getattr(block, "lines", ())
    ]
    assert set(sensor[1].CONTRACT.blind_to) <= set(blind)
