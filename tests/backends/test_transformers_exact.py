"""The read-out in double precision against the model's own, and derivatives against its own."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from trueness.backends.protocol import Request
from trueness.contract.errors import BackendError

pytest.importorskip("transformers", reason="the extra 'local' is not installed")
pytest.importorskip("torch", reason="the extra 'local' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

Make = Callable[..., "LocalModel"]
PROMPT = "some words"


@pytest.mark.parametrize("shape", ["llama", "qwen3", "gemma2", "neox", "gpt2"])
def test_it_is_the_models_own_read_out(open_tiny: Make, shape: str) -> None:
    model = open_tiny(shape)
    exact = model.exact_readout()
    states = model.hidden_states([PROMPT])[0, :, 0]
    for h in (states[-1], 3 * states[1] + 1):
        wanted = model.readout(h)
        assert np.abs(exact(h) - wanted).max() < 1e-4 * np.abs(wanted).max()


def test_its_derivative_is_that_of_a_pass(tiny: "LocalModel") -> None:
    exact = tiny.exact_readout()
    h = tiny.hidden_states([PROMPT])[0, -1, 0]
    rows = np.random.default_rng(0).normal(size=(3, len(exact.bias)))
    own = tiny.logit_vjp(PROMPT, 3, rows)
    assert np.abs(exact.vjp(h, rows) - own).max() < 1e-4 * np.abs(own).max()


def test_a_norm_of_no_known_form_is_refused(open_tiny: Make) -> None:
    from trueness.backends.local.exact_readout import exact_readout  # noqa: PLC0415 - its extra

    engine: Any = open_tiny()._engine

    class Doubled:
        weight = engine.parts.norm.weight
        variance_epsilon = 1e-5

        def __call__(self, h: Any) -> Any:
            return 2 * engine.model.model.norm(h) + 1

    engine.parts = replace(engine.parts, norm=Doubled())
    with pytest.raises(BackendError, match="Doubled has no known form"):
        exact_readout(engine)


def test_twice_the_last_state_is_inert_and_moves_no_draw(open_tiny: Make) -> None:
    """A norm without epsilon takes a power of two back to the last bit."""
    model = open_tiny()
    engine: Any = model._engine
    engine.parts.norm.variance_epsilon = 0.0
    requests = [
        Request(("0", d, "none"), PROMPT, max_tokens=3, temperature=1.0, seed=d) for d in range(208)
    ]
    h = model.hidden_states([PROMPT] * 32)[0, -1, 0]
    logits = model.next_logits(requests)
    before = {r.key: r.text for r in model.complete(requests)}
    for times in (1.0, 3.0):
        with model.intervene("resid_out(2)", positions=(-1,), steps="prefill", delta=times * h):
            assert model.next_logits(requests).tobytes() == logits.tobytes()
            assert {r.key: r.text for r in model.complete(requests)} == before
    with model.intervene("resid_out(2)", positions=(-1,), steps="prefill", delta=h[::-1].copy()):
        assert {r.key: r.text for r in model.complete(requests)} != before
