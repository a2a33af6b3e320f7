"""Walks on fibres: known ones, blocked ones, labels that must not change."""

from typing import Any

import numpy as np
import pytest

from trueness.contract.errors import InputError
from trueness.stats.fibre_walk import ON_FIBRE, Look, fibre_walk


def circle(y: Any) -> Look:
    """The observer sees the distance from the middle; the target is the height."""
    return Look(np.array([y[0] ** 2 + y[1] ** 2]), float(y[1]), 2 * y[None], np.array([0.0, 1.0]))


def test_a_walk_on_a_circle_stays_on_it_and_reaches_its_goal() -> None:
    for upward in (True, False):
        found = fibre_walk(circle, [1.0, 0.0], goal=0.9, upward=upward)
        assert found.reached
        assert abs(found.moved) >= 0.9
        assert (found.moved > 0) is upward
        assert found.off <= ON_FIBRE
        assert found.why == "the goal is reached"


def test_a_walk_ends_where_the_fibre_does() -> None:
    found = fibre_walk(circle, [1.0, 0.0], goal=2.0, max_steps=200)
    assert not found.reached
    assert found.moved == pytest.approx(1.0, abs=1e-3)
    assert found.off <= ON_FIBRE


def test_a_target_that_the_observer_reads_does_not_move() -> None:
    def look(y: Any) -> Look:
        return Look(y[:1], 3 * float(y[0]), np.eye(3)[:1], np.array([3.0, 0.0, 0.0]))

    found = fibre_walk(look, np.zeros(3), goal=0.1)
    assert found.moved == 0.0
    assert found.n_steps == 0
    assert found.why == "no direction within the kernel moves the target"


def test_a_label_stops_a_walk_before_it_changes() -> None:
    def look(y: Any) -> Look:
        seen = circle(y)
        return Look(
            seen.numbers,
            seen.target,
            seen.observer_jacobian,
            seen.target_gradient,
            int(y[1] > 0.5),
        )

    found = fibre_walk(look, [1.0, 0.0], goal=0.9)
    assert 0.499 < found.moved <= 0.5
    assert not found.reached
    assert "stays on the fibre" in found.why


def test_a_number_without_a_slope_takes_no_part() -> None:
    def look(y: Any) -> Look:
        seen = circle(y)
        rows = np.vstack([seen.observer_jacobian, np.zeros((1, 2))])
        return Look(np.append(seen.numbers, 7.0), seen.target, rows, seen.target_gradient)

    assert fibre_walk(look, [1.0, 0.0], goal=0.5).reached


@pytest.mark.parametrize("bad", [{"goal": 0.0}, {"goal": 1.0, "step": 0.0}, {"goal": float("nan")}])
def test_what_is_no_walk_is_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="all above 0"):
        fibre_walk(circle, [1.0, 0.0], **bad)


def test_a_start_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="finite start"):
        fibre_walk(circle, [np.nan, 0.0], goal=1.0)
