"""What an intervention reaches, and that nothing of it stays."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from trueness.backends import Request, Result
from trueness.contract.errors import InputError, ShapeError

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

Make = Callable[..., "LocalModel"]
PROMPT = "The capital of France is"
OTHER = "far"


def requests(*prompts: str, **given: Any) -> list[Request]:
    return [Request((p, 1, "none"), p, **given) for p in prompts]


def answers(model: "LocalModel", *prompts: str, **given: Any) -> dict[str, Result]:
    return {r.key[0]: r for r in model.complete(requests(*prompts, **given))}


@pytest.fixture
def delta() -> Any:
    return np.random.default_rng(5).normal(size=16)


@pytest.mark.parametrize("shape", ["llama", "gpt2", "gemma2"])
def test_adding_behind_the_last_block_moves_the_state_that_is_read_out(
    open_tiny: Make, delta: Any, shape: str
) -> None:
    model = open_tiny(shape)
    state = model.hidden_states([PROMPT])[0, -1, 0]
    with model.intervene("resid_out(2)", delta=delta):
        moved = model.next_logits(requests(PROMPT))[0]
    assert np.abs(moved - model.readout(state + delta.astype(np.float32))).max() < 1e-5


def test_adding_before_the_first_block_moves_the_embeddings(tiny: "LocalModel", delta: Any) -> None:
    block = tiny.embeddings(PROMPT)
    block[3] += delta
    block[-1] -= delta
    with tiny.intervene("resid_in(0)", positions=[3, -1], delta=np.stack([delta, -delta])):
        moved = tiny.next_logits(requests(PROMPT))[0]
    assert np.abs(moved - tiny.logits_of(block)).max() < 1e-5


def test_the_parts_of_a_block_add_up_to_its_output(tiny: "LocalModel", delta: Any) -> None:
    with tiny.intervene("mlp_out(1)", delta=delta):
        by_mlp = tiny.next_logits(requests(PROMPT))
    with tiny.intervene("resid_out(1)", delta=delta):
        by_block = tiny.next_logits(requests(PROMPT))
    with tiny.intervene("attn_out(1)", delta=delta):
        by_attention = tiny.next_logits(requests(PROMPT))
    assert np.abs(by_mlp - by_block).max() < 1e-5  # the residual stream adds it either way
    assert np.abs(by_attention - by_block).max() > 1e-2  # here the feed-forward part reads it too


def test_nothing_stays_after_the_block_even_when_it_raises(tiny: "LocalModel", delta: Any) -> None:
    before = tiny.next_logits(requests(PROMPT)).tobytes()

    def stop() -> None:
        with tiny.intervene("resid_in(1)", delta=delta):
            assert tiny.next_logits(requests(PROMPT)).tobytes() != before
            msg = "stopped"
            raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="stopped"):
        stop()
    assert tiny.next_logits(requests(PROMPT)).tobytes() == before


def test_a_batch_is_moved_at_each_prompts_own_positions(tiny: "LocalModel", delta: Any) -> None:
    with tiny.intervene("resid_in(1)", positions=[-1, 0], delta=delta):
        together = tiny.next_logits(requests(PROMPT, OTHER))
        alone = [tiny.next_logits(requests(p))[0] for p in (PROMPT, OTHER)]
    assert np.abs(together - np.stack(alone)).max() < 1e-5


def test_a_state_that_nothing_reads_changes_no_bit_of_any_completion(
    tiny: "LocalModel", delta: Any
) -> None:
    """The final block's output at another position is never read: the cell is inert."""
    plain = answers(tiny, PROMPT, max_tokens=6, temperature=1.0, seed=3)
    logits = tiny.next_logits(requests(PROMPT)).tobytes()
    with tiny.intervene("resid_out(2)", positions=[2], delta=50 * delta):
        assert tiny.next_logits(requests(PROMPT)).tobytes() == logits
        moved = answers(tiny, PROMPT, max_tokens=6, temperature=1.0, seed=3)
    assert moved == plain


def test_prefill_ends_with_the_prompt_and_every_goes_on(tiny: "LocalModel", delta: Any) -> None:
    plain = answers(tiny, PROMPT, max_tokens=4)[PROMPT]
    with tiny.intervene("resid_out(2)", steps="every", delta=np.zeros(16)):
        assert answers(tiny, PROMPT, max_tokens=4)[PROMPT] == plain
    with tiny.intervene("resid_out(2)", delta=delta):
        prefill = answers(tiny, PROMPT, max_tokens=4, allowed=(plain.text,))[PROMPT]
    with tiny.intervene("resid_out(2)", steps="every", delta=delta):
        every = answers(tiny, PROMPT, max_tokens=4, allowed=(plain.text,))[PROMPT]
    free = answers(tiny, PROMPT, max_tokens=4, allowed=(plain.text,))[PROMPT]
    assert prefill.steps[0].logprob == every.steps[0].logprob
    assert prefill.steps[0].logprob != free.steps[0].logprob
    assert prefill.steps[1].logprob == pytest.approx(free.steps[1].logprob, abs=1e-5)
    assert every.steps[1].logprob != pytest.approx(free.steps[1].logprob, abs=1e-3)


def test_a_position_behind_the_prompt_is_reached_only_while_writing(
    tiny: "LocalModel", delta: Any
) -> None:
    """Nothing before the observed step is touched: the cell is unreached."""
    n = len(tiny.ids_of(PROMPT))
    logits = tiny.next_logits(requests(PROMPT)).tobytes()
    plain = answers(tiny, PROMPT, max_tokens=3)[PROMPT]
    with tiny.intervene("resid_in(0)", positions=[n], steps="every", delta=20 * delta):
        assert tiny.next_logits(requests(PROMPT)).tobytes() == logits
        moved = answers(tiny, PROMPT, max_tokens=3)[PROMPT]
    assert moved.steps[0] == plain.steps[0]
    assert moved.steps[1].logprob != plain.steps[1].logprob


def test_a_text_that_is_scored_is_written_text(tiny: "LocalModel", delta: Any) -> None:
    from trueness.backends.scoring import Continuation  # noqa: PLC0415 - as the others

    asked = [Continuation(("q", "x"), PROMPT, "abcd")]
    with tiny.intervene("resid_out(2)", steps="every", delta=delta):
        (every,) = tiny.score(asked)
        answer = answers(tiny, PROMPT, max_tokens=4, allowed=("abcd",))[PROMPT]
    assert every.logprob == pytest.approx(answer.logprob, abs=1e-4)


def test_exchanged_rows_exchange_two_logits_and_leave_the_rest(tiny: "LocalModel") -> None:
    before = tiny.next_logits(requests(PROMPT))[0]
    with tiny.intervene("unembed_rows", delta=[[30, 31], [40, 50]]):
        after = tiny.next_logits(requests(PROMPT))[0]
    wanted = before.copy()
    wanted[[30, 31, 40, 50]] = before[[31, 30, 50, 40]]
    assert after.tobytes() == wanted.tobytes()


def test_exchanged_rows_are_read_at_the_observed_step_alone(tiny: "LocalModel") -> None:
    plain = answers(tiny, PROMPT, max_tokens=3)[PROMPT]
    first, second = (step.id for step in plain.steps[:2])
    assert second is not None
    assert first != second
    with tiny.intervene("unembed_rows", delta=[[second, 77]]):
        assert answers(tiny, PROMPT, max_tokens=3)[PROMPT].steps[1] == plain.steps[1]
    with tiny.intervene("unembed_rows", steps="every", delta=[[second, 77]]):
        assert answers(tiny, PROMPT, max_tokens=3)[PROMPT].steps[1].id == 77


def test_no_prefix_read_before_is_used_while_something_intervenes(
    tiny: "LocalModel", delta: Any
) -> None:
    ids = tiny.ids_of(PROMPT)
    shared = [Request((str(i), 1, "p"), (*ids, i + 40), shared=len(ids)) for i in range(3)]
    plain = tiny.next_logits(shared)
    assert sum(r.n_reused for r in tiny.complete(shared)) > 0
    with tiny.intervene("resid_in(0)", positions=[1], delta=delta):
        moved = tiny.next_logits(shared)
        assert sum(r.n_reused for r in tiny.complete(shared)) == 0
    assert np.abs(moved - plain).max() > 1e-2
    assert np.abs(tiny.next_logits(shared) - plain).max() < 1e-5


def test_a_row_map_is_not_taken_under_an_intervention(tiny: "LocalModel", delta: Any) -> None:
    from trueness.contract.errors import BackendError  # noqa: PLC0415 - as the others

    with tiny.intervene("resid_in(0)", delta=delta), pytest.raises(BackendError, match="outside"):
        tiny.row_map(PROMPT, 0, 1)
    tiny.row_map(PROMPT, 0, 1)


@pytest.mark.parametrize(
    ("site", "given", "words"),
    [
        ("resid", {}, "sites are resid_in"),
        ("resid_in", {}, "sites are"),
        ("unembed_rows(1)", {}, "sites are"),
        ("resid_in(3)", {}, "blocks are 0 to 2"),
        ("resid_in(0)", {"steps": "later"}, "steps='later'"),
        ("resid_in(0)", {"positions": []}, "give positions"),
    ],
)
def test_a_place_that_is_not_there_is_refused(
    tiny: "LocalModel", delta: Any, site: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words), tiny.intervene(site, delta=delta, **given):
        pass


@pytest.mark.parametrize(
    ("site", "wrong"),
    [
        ("resid_in(0)", np.zeros(15)),
        ("resid_in(0)", np.zeros((2, 16))),
        ("resid_in(0)", np.full(16, np.nan)),
        ("unembed_rows", np.zeros((1, 2))),
        ("unembed_rows", np.array([[1, 1]])),
        ("unembed_rows", np.array([[1, 10_000]])),
    ],
)
def test_a_delta_of_another_shape_is_refused(tiny: "LocalModel", site: str, wrong: Any) -> None:
    with pytest.raises(ShapeError), tiny.intervene(site, delta=wrong):
        pass
