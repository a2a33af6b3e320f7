"""Llamas of random weights: read like any other, and the same ones every time."""

import numpy as np
import pytest

from trueness.contract.errors import InputError

pytest.importorskip("transformers", reason="the extra 'local' is not installed")
pytest.importorskip("torch", reason="the extra 'local' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")

from trueness.backends.local.drawn import drawn_llama  # noqa: E402 - needs the extra


def test_its_row_jacobian_is_that_of_the_whole_sequence() -> None:
    model = drawn_llama(64, blocks=3, n_tokens=50)
    prompt = np.random.default_rng(0).integers(50, size=9).tolist()
    alone = model.row_map(prompt, 1, 6, method="row").jacobian()
    whole = model.row_map(prompt, 1, 6, method="sequence").jacobian()
    assert alone.shape == (64, 64)
    assert np.abs(alone - whole).max() < 1e-5 * np.abs(whole).max()


def test_one_seed_draws_one_model() -> None:
    states = [drawn_llama(16, blocks=2, seed=s).hidden_states([[1, 2, 3]]) for s in (0, 0, 1)]
    assert np.array_equal(states[0], states[1])
    assert not np.array_equal(states[0], states[2])


def test_a_width_that_heads_cannot_share_is_refused() -> None:
    with pytest.raises(InputError, match="whole heads"):
        drawn_llama(130, blocks=1)
