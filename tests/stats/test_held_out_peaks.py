"""The level that the others choose, against a loop over all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trueness.stats.held_out_peaks import held_out_peaks

VALUES = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.5, 1.0, np.nan]))
)


def by_hand(values: np.ndarray, group: int, unit: int) -> int:
    n_levels, n_groups, n_units = values.shape
    best, at = -np.inf, 0
    for level in range(n_levels):
        held = [
            values[level, g, u]
            for g in range(n_groups)
            for u in range(n_units)
            if u != unit and (g != group or n_groups == 1) and not np.isnan(values[level, g, u])
        ]
        mean = sum(held) / len(held) if held else -np.inf
        if mean > best + 1e-12:
            best, at = mean, level
    return at


@given(VALUES)
def test_it_is_the_first_best_of_the_others(values: np.ndarray) -> None:
    found = held_out_peaks(values)
    assert found.shape == values.shape[1:]
    for group, unit in np.ndindex(found.shape):
        assert found[group, unit] == by_hand(values, group, unit)


@given(VALUES, st.sampled_from([0.0, 0.5, 1.0, np.nan]))
def test_what_a_unit_is_itself_never_moves_its_level(values: np.ndarray, other: float) -> None:
    before = held_out_peaks(values)[0, 0]
    changed = values.copy()
    changed[:, :, 0] = other
    assert held_out_peaks(changed)[0, 0] == before
