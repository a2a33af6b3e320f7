"""The algebra of the white box on arrays of a real, tiny model: shapes fit, and figures agree."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.backends.protocol import Request
from trueness.contract.states import State
from trueness.stats.attention import attention_mass
from trueness.stats.block_power import top_values
from trueness.stats.coupling import control_span, couple, gradient_matches
from trueness.stats.exponents import Product, block_product, growth
from trueness.stats.jacobians import jacobian_summary
from trueness.stats.lens import lens_curve
from trueness.stats.probes import readers
from trueness.stats.ranks import gold_ranks
from trueness.stats.settling import settling

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")

TEXT = "The river Foss flows to"
ENTITIES = ("Foss", "Ouse", "Nidd", "Wharfe")
TEMPLATES = ("The river {} is in", "Who has seen the {}? It is")
PROMPTS = [t.format(e) for t in TEMPLATES for e in ENTITIES]


def test_power_iteration_on_a_row_map_finds_the_values_of_its_jacobian(tiny: "LocalModel") -> None:
    row = tiny.row_map(TEXT, 1, 3)
    summary = jacobian_summary(row.jacobian())
    found = top_values(row.jvp, row.vjp, width=len(row.at), k=3)
    assert found.state is State.MEASURED
    assert found.sigma is not None
    exact = np.linalg.svd(row.jacobian().astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(found.sigma, exact[:3], rtol=1e-4)
    assert found.sigma[0] == pytest.approx(summary.sigma_max, rel=1e-4)


def _end_to_end(model: "LocalModel", position: int, step: float = 1e-2) -> NDArray[np.float64]:
    """Central differences of the last entry by the first, at one position."""
    width = model.hidden_states([TEXT]).shape[-1]
    columns = []
    for direction in np.eye(width, dtype=np.float32):
        ends = []
        for sign in (step, -step):
            with model.intervene("resid_in(0)", positions=[position], delta=sign * direction):
                ends.append(model.hidden_states([TEXT], [position])[0, -1, 0].astype(np.float64))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.stack(columns, axis=1)


def test_the_product_of_the_blocks_is_the_derivative_end_to_end(tiny: "LocalModel") -> None:
    position = 4
    n_blocks = tiny.hidden_states([TEXT]).shape[1] - 1
    causal, free = (
        [tiny.row_map(TEXT, b, position, causal=c).jacobian() for b in range(n_blocks)]
        for c in (True, False)
    )
    whole = _end_to_end(tiny, position)
    scale = np.abs(whole).max()
    assert np.abs(block_product(causal) - whole).max() < 0.02 * scale
    assert np.abs(block_product(free) - whole).max() > 0.1 * scale  # that block sees the future


def test_growth_rates_of_so_few_blocks_have_not_settled(tiny: "LocalModel") -> None:
    jacobians = [tiny.row_map(TEXT, b, 4).jacobian() for b in range(3)]
    runs = [growth(jacobians, product=Product.BLOCK, seed=s) for s in (0, 1)]
    assert runs[0].total == pytest.approx(
        np.linalg.slogdet(block_product(jacobians))[1] / 3, abs=1e-4
    )
    assert settling(runs).state is State.UNSTABLE


def test_the_last_lens_column_is_the_rank_itself(tiny: "LocalModel") -> None:
    golds = [5 + i for i in range(len(PROMPTS))]
    states = tiny.hidden_states(PROMPTS)[:, :, 0]
    n, entries, _ = states.shape
    lens = np.column_stack(
        [gold_ranks(tiny.readout(states[:, e]), golds).rank for e in range(entries)]
    )
    logits = tiny.next_logits([Request((str(i), 1, "plain"), p) for i, p in enumerate(PROMPTS)])
    assert lens.shape == (n, entries)
    np.testing.assert_array_equal(lens[:, -1], gold_ranks(logits, golds).rank)
    assert lens_curve(lens).n == n


def test_states_of_all_layers_go_into_a_probe_and_layer_0_sits_at_chance(
    tiny: "LocalModel",
) -> None:
    entity = np.tile(np.arange(len(ENTITIES)), len(TEMPLATES))
    template = np.repeat(np.arange(len(TEMPLATES)), len(ENTITIES))
    found = readers(tiny.hidden_states(PROMPTS)[:, :, 0], template).probe(entity)
    assert found.accuracy.shape == (4,)
    assert found.state is State.MEASURED
    assert np.isnan(found.accuracy[0])  # one last token a template: a training fold is constant


def test_gradients_couple_and_agree_with_a_central_difference(tiny: "LocalModel") -> None:
    start = TEXT.index("Foss")
    span = tiny.token_span(TEXT, start, start + 4)
    entity = list(range(*span))
    base = tiny.embeddings(TEXT)
    gradients = tiny.logit_gradients([TEXT], [[40, 50]])[0]
    found = couple(gradients, entity, control_span(len(base), entity))
    assert set(found.states) == {State.MEASURED}
    direction = np.random.default_rng(0).normal(size=base.shape)
    step = 1e-3
    above, below = (
        float(tiny.logits_of((base + sign * step * direction).astype(np.float32))[40])
        for sign in (1, -1)
    )
    state, _ = gradient_matches(gradients[0], direction, above=above, below=below, step=step)
    assert state is State.MEASURED
    wrong, _ = gradient_matches(gradients[1], direction, above=above, below=below, step=step)
    assert wrong is State.UNSTABLE


def test_attention_of_prompts_of_different_length_needs_no_cutting(tiny: "LocalModel") -> None:
    found = tiny.attentions([TEXT, TEXT[:9]])
    for weights in found:
        whole, last = attention_mass(weights, [2, 3], [1])
        assert 0 < whole.entity < 1
        assert last.layers == (2, 3)
