"""The traps of looking inside, each provoked and caught on models of three blocks of width 16."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from trueness.backends import Request
from trueness.contract.errors import BackendError, InputError, ShapeError

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

Make = Callable[..., "LocalModel"]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
SHAPES = ("llama", "qwen3", "gemma2", "gpt2", "neox")
PROMPTS = ("The capital of France is", "far", "Über Fjord")
LONG = "The capital of France is far"


def logits_of(model: "LocalModel", *prompts: str) -> Any:
    return model.next_logits([Request((p, 1, "none"), p) for p in prompts])


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="the extra 'local' is not installed")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_architecture_passes_its_own_checks(open_tiny: Make, shape: str) -> None:
    model = open_tiny(shape)
    assert {"hidden_states", "readout", "row_map", "attentions"} <= model.capabilities
    states = model.hidden_states(PROMPTS, [0, -1])
    assert states.shape == (3, 4, 2, 16)
    assert states.dtype == np.float32
    read = model.readout(states[:, -1, 1])
    assert np.abs(read - logits_of(model, *PROMPTS)).max() < 1e-5


def test_the_last_state_is_not_normed_twice(tiny: "LocalModel", torch: Any) -> None:
    """Trap 1."""
    ids = torch.tensor([tiny.ids_of(LONG)])
    with torch.no_grad():
        theirs = tiny.loaded.model(ids, output_hidden_states=True).hidden_states
    ours = tiny.hidden_states([LONG], range(ids.shape[1]))[0]
    for layer in range(3):
        assert np.abs(ours[layer] - theirs[layer][0].numpy()).max() < 1e-6
    normed = theirs[3][0, -1].numpy()
    assert np.abs(normed - ours[3, -1]).max() > 0.1  # the library's last one is normed already
    assert np.abs(tiny.readout(normed) - logits_of(tiny, LONG)[0]).max() > 1e-3


def test_a_norm_applied_twice_is_caught_when_the_model_is_opened(open_tiny: Make) -> None:
    """Trap 1."""
    from trueness.backends.local.checks import check_inside  # noqa: PLC0415 - needs the extra

    engine = open_tiny()._engine
    assert engine.parts is not None
    norm = engine.parts.norm
    check_inside(engine, (5, 6, 7, 8))

    class Twice:
        register_forward_pre_hook = norm.register_forward_pre_hook

        def __call__(self, h: Any) -> Any:
            return norm(norm(h) * 2)

    engine.parts = replace(engine.parts, norm=Twice())
    with pytest.raises(BackendError, match="the final norm or a factor is applied otherwise"):
        check_inside(engine, (5, 6, 7, 8))


@pytest.mark.parametrize("shape", ["llama", "qwen3", "gemma2", "neox"])
def test_a_block_called_without_its_mask_is_caught_inside_but_not_at_the_end(
    open_tiny: Make, shape: str
) -> None:
    """Trap 2."""
    from trueness.backends.local.row_map import row_map  # noqa: PLC0415 - needs the extra

    engine = open_tiny(shape)._engine
    call = engine.calls(tuple(range(20, 30)))[1]
    row_map(engine.torch, call, 4, method="sequence")
    call.given = {**call.given, "attention_mask": None}
    with pytest.raises(BackendError, match="without the model's mask or positions"):
        row_map(engine.torch, call, 4, method="sequence")
    row_map(engine.torch, call, 9, method="sequence")  # why the last row is no check


def test_a_block_called_with_other_positions_is_caught(open_tiny: Make) -> None:
    """Trap 2."""
    from trueness.backends.local.row_map import row_map  # noqa: PLC0415 - needs the extra

    engine = open_tiny()._engine
    call = engine.calls(tuple(range(20, 30)))[1]
    kept = call.given
    other = engine.calls(tuple(range(20, 30)))[1].given["position_embeddings"]
    call.given = {**kept, "position_embeddings": tuple(part.flip(1) for part in other)}
    for method in ("row", "sequence"):
        with pytest.raises(BackendError, match="without the model's mask or positions"):
            row_map(engine.torch, call, 4, method=method)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_row_alone_has_the_derivative_of_the_whole_sequence(
    open_tiny: Make, shape: str
) -> None:
    model = open_tiny(shape)
    for position in (0, 4, -1):
        row = model.row_map(LONG, 1, position)
        whole = model.row_map(LONG, 1, position, method="sequence")
        wanted = whole.jacobian(chunk=5)
        assert np.abs(row.jacobian() - wanted).max() < 1e-5 * max(np.abs(wanted).max(), 1)


def test_a_jacobian_is_what_small_steps_show_and_both_modes_agree(tiny: "LocalModel") -> None:
    row = tiny.row_map(LONG, 2, 7)
    jacobian = row.jacobian().astype(np.float64)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(3, 16))
    forward, reverse = row.jvp(directions), row.vjp(directions)
    assert np.allclose(forward, directions @ jacobian.T, atol=1e-4)
    assert np.allclose(reverse, directions @ jacobian, atol=1e-4)
    assert np.allclose(row.jvp(directions[0]), forward[0], atol=1e-5)
    step = 1e-3 * directions[0]
    moved = (row(row.at + step).astype(float) - row(row.at - step)) / 2e-3
    assert np.abs(moved - forward[0]).max() < 1e-2 * np.abs(forward[0]).max()
    with pytest.raises(ShapeError, match="D = 16"):
        row.jvp(np.zeros(15))


def test_what_comes_later_does_not_change_a_row_map_unless_the_mask_is_dropped(
    tiny: "LocalModel",
) -> None:
    one, other = LONG, LONG[:10] + "sky and other"
    causal = [tiny.row_map(p, 1, 6).jacobian() for p in (one, other)]
    assert np.abs(causal[0] - causal[1]).max() < 1e-6
    free = [tiny.row_map(p, 1, 6, causal=False).jacobian() for p in (one, other)]
    assert np.abs(free[0] - free[1]).max() > 1e-2
    by_row = tiny.row_map(one, 1, 6, causal=False)
    by_sequence = tiny.row_map(one, 1, 6, causal=False, method="sequence")
    assert np.abs(by_row.jacobian() - by_sequence.jacobian()).max() < 1e-5


def test_a_product_over_blocks_is_the_derivative_from_end_to_end(
    tiny: "LocalModel", torch: Any
) -> None:
    parts = tiny._engine.parts
    assert parts is not None
    n = len(tiny.ids_of(LONG))
    product = np.eye(16)
    for layer in range(3):
        product = tiny.row_map(LONG, layer, n - 1).jacobian().astype(np.float64) @ product
    last = torch.from_numpy(tiny.hidden_states([LONG])[0, -1, 0])
    read = torch.func.jacrev(parts.readout)(last).detach().numpy()[: tiny._engine.n_rows]
    tokens = np.arange(tiny._engine.n_rows)[None]
    whole = tiny.logit_gradients([LONG], tokens)[0, :, -1]
    assert np.abs(read @ product - whole).max() < 1e-4 * np.abs(whole).max()
    without = np.eye(16)
    for layer in range(3):
        made = tiny.row_map(LONG + " away", layer, n - 1, causal=False)
        without = made.jacobian().astype(np.float64) @ without
    assert np.abs(read @ without - whole).max() > 1e-2 * np.abs(whole).max()


def test_where_a_row_alone_cannot_be_called_the_whole_sequence_is(open_tiny: Make) -> None:
    model = open_tiny("bloom")  # its biases by distance are handed down for all rows at once
    row = model.row_map(LONG, 1, 4)
    assert np.abs(row(row.at) - row.value).max() < 1e-5
    with pytest.raises(BackendError, match="cannot be called alone"):
        model.row_map(LONG, 1, 4, method="row")


def test_a_part_without_a_derivative_is_one_clear_error(
    tiny: "LocalModel", monkeypatch: pytest.MonkeyPatch
) -> None:
    row = tiny.row_map(LONG, 1, 4)

    def jacrev(*_: Any, **__: Any) -> Any:
        msg = "no setup_context"
        raise RuntimeError(msg)

    monkeypatch.setattr(tiny.loaded.torch.func, "jacrev", jacrev)
    with pytest.raises(BackendError, match="no such derivative: no setup_context"):
        row.jacobian()


def test_forward_derivatives_need_eager_attention_and_say_so(open_tiny: Make) -> None:
    """Trap 3."""
    model = open_tiny(attention="sdpa")
    assert "attentions" not in model.capabilities
    row = model.row_map(LONG, 1, 4)
    with pytest.raises(BackendError, match="attention=eager"):
        row.jvp(np.ones(16))
    with pytest.raises(BackendError, match="attention=eager"):
        model.attentions([LONG])
    eager = open_tiny().row_map(LONG, 1, 4)
    assert np.abs(row.vjp(np.ones(16)) - eager.vjp(np.ones(16))).max() < 1e-5
    assert model.identity["backend_version"] != open_tiny().identity["backend_version"]


def test_a_span_is_of_the_whole_prompt_never_of_a_part(tiny: "LocalModel") -> None:
    """Trap 4: the space before the entity belongs to its first token."""
    prompt = "is France far"
    start = prompt.index("France")
    by_prefix = len(tiny.ids_of(prompt[:start])), len(tiny.ids_of(prompt[: start + 6]))
    first, last = tiny.token_span(prompt, start, start + 6)
    assert (first, last) == (2, 8)
    assert tiny.tokenizer.decode(tiny.ids_of(prompt)[first:last]) == " France"
    assert by_prefix != (first, last)
    for start, stop in ((3, 3), (3, 99), (-1, 2), (5, 4)):
        with pytest.raises(InputError, match="span is empty"):
            tiny.token_span(prompt, start, stop)


def test_ids_of_an_answer_are_those_in_its_context(tiny: "LocalModel") -> None:
    """Trap 5: where prompt and answer fuse, the prompt's ids are not the beginning."""
    assert tiny.ids_after("is", " France") == tiny.ids_of("is France")[2:]
    assert tiny.ids_after("is ", "France") is None


def test_rows_that_only_pad_the_unembedding_are_in_no_result(open_tiny: Make, torch: Any) -> None:
    """Trap 6."""
    model = open_tiny()
    n = model.tokenizer.n_vocabulary
    assert model.n_surplus == 8
    head = model.loaded.model.get_output_embeddings()
    state = model.hidden_states([LONG])[0, -1, 0]
    with torch.no_grad():
        normed = model.loaded.model.model.norm(torch.from_numpy(state))
        head.weight[n + 2] = 50 * normed  # a row without a token that is likelier than any other
    assert logits_of(model, LONG).shape == (1, n)
    assert model.readout(state).shape == (n,)
    (result,) = model.complete([Request(("q", 1, "none"), LONG, max_tokens=4)])
    assert all(step.id is not None and step.id < n for step in result.steps)
    assert result.steps[0].logprob is not None
    assert result.steps[0].logprob > -8  # the mass of that row is in no probability
    with pytest.raises(InputError, match=f"from 0 to {n - 1}"):
        model.logit_gradients([LONG], [[n]])


def test_bits_are_equal_along_one_path_and_the_path_is_named(open_tiny: Make) -> None:
    """Trap 7."""
    model = open_tiny()
    once, again = logits_of(model, LONG), logits_of(model, LONG)
    assert once.tobytes() == again.tobytes()
    batch = logits_of(model, *PROMPTS, LONG)[-1:]
    assert np.abs(once - batch).max() < 1e-4  # another path: near, not promised equal
    assert {"backend_version", "dtype", "batch_size", "threads"} == set(model.code_path)
    assert model.code_path != open_tiny(batch="1").code_path


def test_gradients_are_what_small_steps_show(tiny: "LocalModel") -> None:
    token = 40
    block = tiny.embeddings(LONG)
    direction = np.random.default_rng(1).normal(size=block.shape)
    direction /= np.linalg.norm(direction)

    def log_p(x: Any) -> float:
        z = tiny.logits_of(x).astype(np.float64)
        return float(z[token] - z.max() - np.log(np.exp(z - z.max()).sum()))

    assert np.abs(tiny.logits_of(block) - logits_of(tiny, LONG)[0]).max() < 1e-5
    gradient = tiny.logit_gradients([LONG], [[token]], of="logprob")[0, 0]
    moved = (log_p(block + 2e-3 * direction) - log_p(block - 2e-3 * direction)) / 4e-3
    assert moved == pytest.approx(float((gradient * direction).sum()), rel=1e-2)


def test_derivatives_by_a_state_chain_with_the_maps_of_rows(tiny: "LocalModel") -> None:
    weights = np.random.default_rng(2).normal(size=(3, tiny._engine.n_rows))
    n = len(tiny.ids_of(LONG))
    found = [tiny.logit_vjp(LONG, layer, weights) for layer in range(4)]
    for layer in range(3):
        chained = found[layer + 1] @ tiny.row_map(LONG, layer, n - 1).jacobian()
        assert np.allclose(found[layer], chained, rtol=1e-3, atol=1e-3)
    state = tiny.hidden_states([LONG])[0, -1, 0].astype(np.float64)
    step = 1e-3 * np.random.default_rng(3).normal(size=16)
    moved = (tiny.readout(state + step).astype(float) - tiny.readout(state - step)) @ weights.T
    assert np.allclose(moved / 2, found[3] @ step, rtol=2e-2, atol=1e-4)
    earlier = tiny.logit_vjp(LONG, 1, weights, position=2)
    assert np.abs(earlier).max() > 1e-4  # later rows read it through their attention
    assert np.abs(tiny.logit_vjp(LONG, 3, weights, position=2)).max() == 0
    with pytest.raises(InputError, match="a layer from 0 to 3"):
        tiny.logit_vjp(LONG, 4, weights)
    with pytest.raises(InputError, match="weights"):
        tiny.logit_vjp(LONG, 0, weights[:, 1:])


def test_a_log_probability_has_the_centred_gradients_of_all_logits(tiny: "LocalModel") -> None:
    everything = np.arange(tiny._engine.n_rows)[None]
    plain = tiny.logit_gradients([LONG], everything)[0]
    z = logits_of(tiny, LONG)[0].astype(np.float64)
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    wanted = plain[7] - np.tensordot(p, plain, axes=1)
    found = tiny.logit_gradients([LONG], [[7]], of="logprob")[0, 0]
    assert np.abs(found - wanted).max() < 1e-4


def test_batches_of_unequal_prompts_are_put_back_in_their_places(tiny: "LocalModel") -> None:
    tokens = [[5, 6], [7, 8], [9, 10]]
    together = tiny.logit_gradients(PROMPTS, tokens)
    weights = tiny.attentions(PROMPTS)
    states = tiny.hidden_states(PROMPTS, [[0, 3], [1, 2], [-1, 0]])
    for i, (prompt, at) in enumerate(zip(PROMPTS, ([0, 3], [1, 2], [-1, 0]), strict=True)):
        n = len(tiny.ids_of(prompt))
        assert np.isnan(together[i, :, n:]).all()
        alone = tiny.logit_gradients([prompt], [tokens[i]])
        assert np.allclose(together[i, :, :n], alone[0], rtol=1e-4, atol=1e-4)
        lone = tiny.hidden_states([prompt], at)[0]
        assert np.allclose(states[i], lone, rtol=1e-4, atol=1e-4)
        assert np.isnan(weights[i, :, :, n:]).all()
        assert np.allclose(weights[i, :, :, :n].sum(-1), 1, atol=1e-5)
        assert np.abs(weights[i, ..., :n] - tiny.attentions([prompt])[0]).max() < 1e-5


def test_an_interior_query_attends_to_nothing_behind_it(tiny: "LocalModel") -> None:
    weights = tiny.attentions([LONG], query=3)[0]
    assert weights.shape == (3, 4, len(tiny.ids_of(LONG)))
    assert (weights[..., 4:] == 0).all()
    assert (weights[..., :4] > 0).all()


def test_positions_and_prompts_that_cannot_be_are_refused(tiny: "LocalModel") -> None:
    for positions in ([99], [[0], [1, 2]], [[0]]):
        with pytest.raises(InputError, match="position"):
            tiny.hidden_states(["abc", "de"], positions)
    for prompts in ([], [""], ["a" * 500]):
        with pytest.raises(InputError):
            tiny.hidden_states(prompts)
    with pytest.raises(InputError, match="one of row, sequence"):
        tiny.row_map(LONG, 0, 0, method="other")
    with pytest.raises(InputError, match="a block from 0 to 2"):
        tiny.row_map(LONG, 3, 0)
    with pytest.raises(InputError, match="of a logit or a logprob"):
        tiny.logit_gradients([LONG], [[1]], of="p")


def test_an_architecture_with_other_names_offers_no_view_inside(open_tiny: Make) -> None:
    model = open_tiny()
    model._engine.parts = None
    assert not {"hidden_states", "row_map", "intervene"} & model.capabilities
    with pytest.raises(BackendError, match="names that are not known"):
        model.hidden_states([LONG])
    with (
        pytest.raises(BackendError, match="nothing can intervene"),
        model.intervene("resid_out(0)", delta=np.zeros(16)),
    ):
        pass


def test_one_text_in_place_of_a_list_is_refused(tiny: "LocalModel") -> None:
    with pytest.raises(InputError, match=r"the prompts are one text, 'far'.*Put it in one"):
        tiny.hidden_states("far")
