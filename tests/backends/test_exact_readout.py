"""The read-out in double precision: small steps, charts, both norms, soft caps; no torch here."""

from typing import Any

import numpy as np
import pytest

from trueness.backends.local.exact_readout import ExactReadout
from trueness.contract.errors import ShapeError

WIDTH, TOKENS = 7, 11


def made(*, centred: bool, cap: float | None = None) -> ExactReadout:
    rng = np.random.default_rng(5)
    return ExactReadout(
        gain=rng.normal(size=WIDTH),
        norm_bias=rng.normal(size=WIDTH),
        eps=1e-5,
        centred=centred,
        unembed=rng.normal(size=(TOKENS, WIDTH)),
        bias=rng.normal(size=TOKENS),
        factor=0.7,
        cap=cap,
    )


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("cap", [None, 3.0])
def test_derivatives_are_what_small_steps_show(*, centred: bool, cap: float | None) -> None:
    read = made(centred=centred, cap=cap)
    rng = np.random.default_rng(0)
    h, direction = rng.normal(size=(2, WIDTH))
    jacobian = read.vjp(h, np.eye(TOKENS))
    step = 1e-6
    moved = (read(h + step * direction) - read(h - step * direction)) / (2 * step)
    assert np.allclose(jacobian @ direction, moved, atol=1e-7)


@pytest.mark.parametrize("centred", [False, True])
def test_a_chart_is_the_read_out_on_a_few_directions(*, centred: bool) -> None:
    read = made(centred=centred, cap=2.0)
    rng = np.random.default_rng(1)
    h, basis, y = rng.normal(size=WIDTH), rng.normal(size=(3, WIDTH)), rng.normal(size=3)
    chart = read.chart(h, basis)
    there = h + y @ basis
    assert np.allclose(chart.logits(y), read(there), atol=1e-12)
    rows = rng.normal(size=(4, TOKENS))
    assert np.allclose(chart.pulled(y, rows), read.vjp(there, rows) @ basis.T, atol=1e-12)


def test_an_rms_norm_and_a_layer_norm_are_what_they_should_be() -> None:
    h = np.random.default_rng(2).normal(size=WIDTH)
    for centred in (False, True):
        read = made(centred=centred)
        u = h - h.mean() if centred else h
        unit = u / np.sqrt((u**2).mean() + 1e-5)
        wanted = 0.7 * (read.unembed @ (read.gain * unit + read.norm_bias) + read.bias)
        assert np.allclose(read(h), wanted, atol=1e-12)


@pytest.mark.parametrize("bad", [np.zeros(3), np.full(WIDTH, np.nan), np.zeros((1, WIDTH))])
def test_a_state_of_another_shape_or_without_a_number_is_refused(bad: Any) -> None:
    with pytest.raises(ShapeError, match="of finite numbers is wanted"):
        made(centred=False)(bad)
