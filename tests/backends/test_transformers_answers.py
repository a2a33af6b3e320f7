"""What a model of transformers answers depends on its request, never on what shares the batch."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness.backends import Model, Request, Result
from trueness.backends.scoring import Continuation, Scorer
from trueness.contract.errors import BackendError, InputError

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

Make = Callable[..., "LocalModel"]
SHAPES = ("llama", "qwen3", "gemma2", "gpt2", "neox", "neo", "bloom")
PROMPTS = ("The capital of France is", "far", "Über Fjord", "日本", "a much longer prompt than all")


def requests(*prompts: str, **fields: Any) -> list[Request]:
    return [Request((p, 1, "none"), p, **fields) for p in prompts]


def answers(model: "LocalModel", asked: Sequence[Request]) -> dict[str, Result]:
    return {r.key[0]: r for r in model.complete(asked)}


def log_softmax(z: Any) -> Any:
    wide = z.astype(np.float64)
    return wide - np.logaddexp.reduce(wide, axis=-1, keepdims=True)


def logprobs(model: "LocalModel", ids: tuple[int, ...], more: Sequence[int]) -> list[float]:
    """Log-probability of each further id, one whole pass for each: the slow way."""
    found = []
    for i, token in enumerate(more):
        (z,) = model.next_logits([Request(("q", 1, "none"), (*ids, *more[:i]))])
        found.append(float(log_softmax(z)[token]))
    return found


def test_it_is_a_model_and_a_scorer(tiny: "LocalModel") -> None:
    assert isinstance(tiny, Model)
    assert isinstance(tiny, Scorer)
    assert tiny.identity["backend"] == "transformers"
    assert tiny.identity["dtype"] == "float32"
    assert len(str(tiny.identity["file_hash"])) == 64
    tiny.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_padding_changes_no_answer(open_tiny: Make, shape: str) -> None:
    model = open_tiny(shape)
    asked = requests(*PROMPTS, max_tokens=5)
    together = answers(model, asked)
    logits = model.next_logits(asked)
    for i, one in enumerate(asked):
        alone = answers(model, [one])[one.key[0]]
        assert together[one.key[0]].text == alone.text
        assert [s.id for s in together[one.key[0]].steps] == [s.id for s in alone.steps]
        assert np.abs(model.next_logits([one])[0] - logits[i]).max() < 1e-4
    backwards = answers(model, asked[::-1])
    assert {k: r.text for k, r in backwards.items()} == {k: r.text for k, r in together.items()}


def test_logits_behind_answers_that_were_just_given_need_no_pass(
    tiny: "LocalModel", monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = requests(*PROMPTS, max_tokens=3)
    wanted = tiny.next_logits(asked)
    shifted = requests(*(f"{p}s" for p in PROMPTS), max_tokens=3)
    n_passes = 0
    usual = type(tiny._engine).call

    def counted(*given: Any, **named: Any) -> Any:
        nonlocal n_passes
        n_passes += 1
        return usual(*given, **named)

    list(tiny.complete(asked))
    monkeypatch.setattr(type(tiny._engine), "call", counted)
    assert (tiny.next_logits(asked) == wanted).all()
    backwards = tiny.next_logits(asked[::-1])
    assert (backwards == wanted[::-1]).all()
    assert n_passes == 0
    tiny.next_logits(asked[:1])  # alone it is another batch
    assert n_passes == 1
    assert not (tiny.next_logits(shifted) == wanted).all()
    assert n_passes > 1
    list(tiny.complete(shifted))
    before = n_passes
    tiny.next_logits(asked)  # those of the last answers alone are remembered
    assert n_passes > before


def test_every_step_reports_what_one_pass_for_each_would(tiny: "LocalModel") -> None:
    result = answers(tiny, requests(PROMPTS[0], max_tokens=4))[PROMPTS[0]]
    ids = [s.id for s in result.steps if s.id is not None]
    wanted = logprobs(tiny, tiny.ids_of(PROMPTS[0]), ids)
    assert [s.logprob for s in result.steps] == pytest.approx(wanted, abs=1e-4)
    (z,) = tiny.next_logits(requests(PROMPTS[0]))
    top = np.sort(z)[::-1]
    assert result.steps[0].gap == pytest.approx(float(top[0] - top[1]), abs=1e-4)
    assert (result.n_prompt, result.n_written) == (len(tiny.ids_of(PROMPTS[0])), 4)
    assert result.finish == "length"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shared_prefix_is_read_once_and_changes_nothing(open_tiny: Make, shape: str) -> None:
    model = open_tiny(shape)
    front = model.ids_of("Wool is sorted by length.")
    asked = [
        Request((p, 1, "p"), (*front, *model.ids_of(p)), shared=len(front), max_tokens=3)
        for p in PROMPTS
    ]
    plain = [replace(one, shared=0) for one in asked]
    assert np.abs(model.next_logits(asked) - model.next_logits(plain)).max() < 1e-4
    model._engine._prefix = None
    first, again = answers(model, asked), answers(model, asked)
    reused = sorted(r.n_reused for r in first.values())
    assert reused == [0] + [len(front)] * 4  # somebody has to read it
    assert {r.n_reused for r in again.values()} == {len(front)}
    alone = answers(model, plain)
    assert {k: r.text for k, r in first.items()} == {k: r.text for k, r in alone.items()}
    assert {r.n_reused for r in alone.values()} == {0}


def test_a_model_of_states_instead_of_keys_answers_and_reuses_nothing(open_tiny: Make) -> None:
    model = open_tiny("mamba")
    assert not {"allowed_answers", "hidden_states"} & model.capabilities
    asked = requests(*PROMPTS, max_tokens=3)
    together = answers(model, asked)
    for one in asked:
        assert together[one.key[0]].text == answers(model, [one])[one.key[0]].text
    front = model.ids_of("Wool")
    shared = Request(("w", 1, "p"), (*front, *model.ids_of("far")), shared=len(front))
    assert [r.n_reused for r in model.complete([shared, shared])] == [0, 0]


def test_a_prompt_that_is_all_prefix_still_has_a_last_token(tiny: "LocalModel") -> None:
    ids = tiny.ids_of("Wool")
    whole = Request(("w", 1, "p"), ids, shared=len(ids))
    assert np.abs(tiny.next_logits([whole]) - tiny.next_logits(requests("Wool"))).max() < 1e-5


def test_a_draw_depends_on_its_seed_and_on_nothing_beside_it(open_tiny: Make) -> None:
    model = open_tiny(batch="4")
    asked = [
        Request((f"{p}{seed}", 1, "s"), p, temperature=1.0, seed=seed, max_tokens=6)
        for p in PROMPTS
        for seed in range(3)
    ]
    together = answers(model, asked)
    assert len({r.text for r in together.values()}) > 10
    backwards = answers(model, asked[::-1])
    for one in asked:
        alone = answers(model, [one])[one.key[0]]
        assert alone.text == together[one.key[0]].text == backwards[one.key[0]].text


def test_draws_come_as_often_as_their_probability_says() -> None:
    from trueness.backends.local.streams import drawn, token_stream  # noqa: PLC0415 - as others

    z = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))
    stream = token_stream(11)
    n = 4000
    counts = np.bincount([drawn(z, 1.0, 1.0, stream) for _ in range(n)], minlength=4)
    assert np.abs(counts / n - [0.5, 0.3, 0.15, 0.05]).max() < 0.03
    cold = np.bincount([drawn(z, 0.5, 1.0, stream) for _ in range(n)], minlength=4)
    squared = np.array([0.25, 0.09, 0.0225, 0.0025])
    assert np.abs(cold / n - squared / squared.sum()).max() < 0.03
    nucleus = np.bincount([drawn(z, 1.0, 0.6, stream) for _ in range(n)], minlength=4)
    assert np.abs(nucleus / n - [0.625, 0.375, 0, 0]).max() < 0.03
    assert {drawn(z, 1.0, 0.5, stream) for _ in range(50)} == {0}


def test_a_text_ends_at_an_end_token_a_stop_or_the_limit(tiny: "LocalModel") -> None:
    asker = tiny._asker
    (plain,) = asker.complete(requests(PROMPTS[0], max_tokens=6))
    third = plain.steps[2].id
    assert third is not None
    (ended,) = replace(asker, ends=frozenset({third})).complete(requests(PROMPTS[0], max_tokens=6))
    first = next(i for i, s in enumerate(plain.steps) if s.id == third)
    assert (ended.finish, len(ended.steps)) == ("stop", first + 1)
    assert plain.text.startswith(ended.text)  # the end is a step, not text
    cut = plain.text[2]
    (stopped,) = asker.complete(requests(PROMPTS[0], max_tokens=6, stop=(cut,)))
    assert stopped.finish == "stop"
    assert stopped.text == plain.text[: plain.text.index(cut)]


def test_what_does_not_fit_is_an_error_before_it_is_sent(open_tiny: Make) -> None:
    model = open_tiny(n_context="20")
    found = answers(model, [*requests("a" * 15, "b", max_tokens=8), Request(("e", 1, "n"), "")])
    assert found["a" * 15].error == "context_length"
    assert found["e"].error == "empty_prompt"
    assert found["b"].error is None
    with pytest.raises(InputError, match="reads 1 to 20"):
        model.next_logits(requests("a" * 21))


def test_a_prompt_whose_logits_are_not_finite_is_an_error_and_harms_no_other(
    open_tiny: Make,
) -> None:
    model = open_tiny()
    torch = model.loaded.torch
    with torch.no_grad():
        model.loaded.model.get_input_embeddings().weight[model.ids_of("z")[0]] = float("nan")
    found = answers(model, requests("far", "oz", max_tokens=3))
    assert found["oz"].error == "non_finite_logits"
    assert found["far"] == answers(open_tiny(), requests("far", "oo", max_tokens=3))["far"]
    allowed = answers(model, requests("oz", allowed=("a", "b")))
    assert allowed["oz"].error == "non_finite_logits"
    (scored,) = model.score([Continuation(("q", "x"), "oz", "a")])
    assert scored.error == "non_finite_logits"


def test_a_score_is_the_sum_over_one_pass_for_each_token(open_tiny: Make) -> None:
    model = open_tiny(batch="3")
    texts: list[tuple[str | tuple[int, ...], str]] = [
        ("far", " France"),
        ("is", "日本"),
        ("The", "a"),
        ("x", ""),
        ((5, 6), "ab"),
    ]
    asked = [Continuation((str(i), "t"), prompt, text) for i, (prompt, text) in enumerate(texts)]
    found = {s.key[0]: s for s in model.score(asked)}
    for i, (prompt, text) in enumerate(texts):
        wanted = logprobs(model, model.ids_of(prompt), model.tokenizer.encode(text))
        assert found[str(i)].logprob == pytest.approx(sum(wanted), abs=1e-4)
        assert found[str(i)].n_tokens == len(wanted)
    (empty,) = model.score([Continuation(("q", "t"), "", "a")])
    assert empty.error == "empty_prompt"
    (long,) = model.score([Continuation(("q", "t"), "a", "b" * 99)])
    assert long.error == "context_length"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_prompt_that_several_texts_follow_is_read_once(
    open_tiny: Make, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_tiny(shape)
    texts = (" France", "a", "ab", " Fjord", "日本")
    asked = [Continuation((p, t), p, t) for p in PROMPTS[:4] for t in texts]
    n_columns = 0
    usual = type(model._engine).call

    def counted(engine: Any, ids: Any, *given: Any, **named: Any) -> Any:
        nonlocal n_columns
        n_columns += ids.numel()
        return usual(engine, ids, *given, **named)

    monkeypatch.setattr(type(model._engine), "call", counted)
    found = {s.key: s.logprob for s in model.score(asked)}
    whole = sum(len(model.ids_of(p)) + len(model.tokenizer.encode(t)) for p, t in found)
    assert n_columns < whole
    for (prompt, text), value in found.items():
        wanted = logprobs(model, model.ids_of(prompt), model.tokenizer.encode(text))
        assert value == pytest.approx(sum(wanted), abs=1e-4)


def test_the_likeliest_allowed_text_is_chosen_by_its_raw_sum(tiny: "LocalModel") -> None:
    allowed = (" France", " Fjord", "ab", "abc", "x", "日本")
    found = answers(tiny, requests(*PROMPTS, allowed=allowed))
    for prompt in PROMPTS:
        asked = [Continuation((text, "t"), prompt, text) for text in allowed]
        scores = {s.key[0]: s.logprob for s in tiny.score(asked)}
        known = {text: value for text, value in scores.items() if value is not None}
        best = max(known, key=known.__getitem__)
        result = found[prompt]
        assert result.text == best
        assert result.logprob == pytest.approx(known[best], abs=1e-4)
        second = sorted(known.values())[-2]
        assert result.steps[0].gap == pytest.approx(known[best] - second, abs=1e-4)
        assert known["ab"] >= known["abc"]  # a raw sum: a text is never below its continuation


def test_first_tokens_choose_where_one_token_is_wanted(tiny: "LocalModel") -> None:
    allowed = (" France", "ab", "x")
    found = answers(tiny, requests(*PROMPTS, allowed=allowed, max_tokens=1))
    logits = tiny.next_logits(requests(*PROMPTS))
    first = {text: tiny.tokenizer.encode(text)[0] for text in allowed}
    for prompt, z in zip(PROMPTS, logits, strict=True):
        logit = {text: float(z[first[text]]) for text in allowed}
        assert found[prompt].text == max(logit, key=logit.__getitem__)
        assert len(found[prompt].steps) == 1


def test_allowed_answers_that_cannot_be_chosen_among_are_refused(tiny: "LocalModel") -> None:
    with pytest.raises(InputError, match="' France' and ' Fjord' start with the same token"):
        list(tiny.complete(requests("is", allowed=(" France", " Fjord"), max_tokens=1)))
    with pytest.raises(InputError, match="has no token"):
        list(tiny.complete(requests("is", allowed=("",))))
    with pytest.raises(InputError, match="chosen, not drawn"):
        list(tiny.complete(requests("is", allowed=("a",), temperature=1.0)))
    with pytest.raises(BackendError, match="system_role"):
        list(tiny.complete(requests("is", system="Be brief.")))


def test_a_tie_among_allowed_answers_is_an_error(open_tiny: Make) -> None:
    model = open_tiny()
    a, b = model.ids_of("a")[0], model.ids_of("b")[0]
    with model.loaded.torch.no_grad():
        head = model.loaded.model.get_output_embeddings().weight
        head[b] = head[a]
    for n in (1, 8):
        (result,) = model.complete(requests("is", allowed=("a", "b"), max_tokens=n))
        assert result.error == "tie"


def test_allowed_answers_behind_a_shared_prefix_are_the_same(tiny: "LocalModel") -> None:
    front = tiny.ids_of("Wool is sorted.")
    asked = [
        Request((p, 1, "p"), (*front, *tiny.ids_of(p)), shared=len(front), allowed=("ab", "xy"))
        for p in PROMPTS
    ]
    shared, plain = answers(tiny, asked), answers(tiny, [replace(r, shared=0) for r in asked])
    for key, result in shared.items():
        assert result.text == plain[key].text
        assert result.logprob == pytest.approx(plain[key].logprob or 0.0, abs=1e-4)


def test_noise_is_of_the_prompts_own_scale_and_of_the_seed_alone(tiny: "LocalModel") -> None:
    from trueness.backends.local.streams import embedding_noise  # noqa: PLC0415 - as others

    prompt, sigma, seed = PROMPTS[0], 0.4, 7
    block = tiny.embeddings(prompt).astype(np.float64)
    scale = np.sqrt(((block - block.mean()) ** 2).sum() / (block.size - 1))
    moved = block + sigma * scale * embedding_noise(seed, *block.shape)
    wanted = tiny.logits_of(moved.astype(np.float32))
    asked = requests(*PROMPTS, noise=sigma, seed=seed)
    together = tiny.next_logits(asked)
    assert np.abs(together[0] - wanted).max() < 1e-4
    assert np.abs(tiny.next_logits(asked[:1])[0] - together[0]).max() < 1e-4
    plain = tiny.next_logits(requests(*PROMPTS))
    assert np.abs(plain - together).max() > 1e-2
    zero = tiny.next_logits(requests(*PROMPTS, noise=0.0, seed=seed))
    assert zero.tobytes() == plain.tobytes()
    other = tiny.next_logits(requests(prompt, noise=sigma, seed=seed + 1))
    assert np.abs(other[0] - together[0]).max() > 1e-2


def test_noise_of_the_tables_scale_is_the_same_for_every_prompt(tiny: "LocalModel") -> None:
    from trueness.backends.local.streams import embedding_noise  # noqa: PLC0415 - as others

    weight = tiny.loaded.model.get_input_embeddings().weight.numpy()
    scale = weight[: tiny.tokenizer.n_vocabulary].astype(np.float64).std(ddof=1)
    block = tiny.embeddings("far")
    moved = block + 0.3 * scale * embedding_noise(2, *block.shape)
    found = tiny.next_logits(requests("far", noise=0.3, noise_scale="table", seed=2))
    assert np.abs(found[0] - tiny.logits_of(moved.astype(np.float32))).max() < 1e-4


def test_noise_and_silence_share_a_batch(tiny: "LocalModel") -> None:
    mixed = [*requests("far", noise=0.5, seed=1), *requests("The capital")]
    found = tiny.next_logits(mixed)
    assert np.abs(found[1] - tiny.next_logits(requests("The capital"))[0]).max() < 1e-4
    assert np.abs(found[0] - tiny.next_logits(mixed[:1])[0]).max() < 1e-4


def test_noise_and_draws_of_one_seed_are_different_numbers() -> None:
    from trueness.backends.local.streams import (  # noqa: PLC0415 - as others
        embedding_noise,
        token_stream,
    )

    assert not np.allclose(embedding_noise(3, 1, 4)[0], token_stream(3).standard_normal(4))


def test_special_tokens_spelled_in_a_text_are_text(tiny: "LocalModel") -> None:
    tokenizer = tiny.tokenizer
    for text in ("<s> is </s>", "Côte d'Ivoire", "日本の首都は"):
        ids = tokenizer.encode(text)
        assert not tokenizer.special.intersection(ids)
        assert tokenizer.decode(ids) == text
    assert tokenizer.encode_template("<s>")[0] in tokenizer.special
    with pytest.raises(InputError, match="lone surrogate"):
        tokenizer.encode("a\ud800")


def test_a_tokenizer_that_puts_bos_first_is_followed(tiny: "LocalModel") -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from trueness.backends.local.tokenizer import LocalTokenizer  # noqa: PLC0415 - as others

    copied = tokenizers.Tokenizer.from_str(tiny.tokenizer.library.backend_tokenizer.to_str())
    marks = {"bos_token": "<s>", "eos_token": "</s>"}
    library = type(tiny.tokenizer.library)(tokenizer_object=copied, **marks)
    assert LocalTokenizer.of(library).bos is None
    library.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    followed = LocalTokenizer.of(library)
    assert followed.bos == 0
    assert followed.encode("far")[0] != 0  # whoever sends ids puts it there
    assert replace(tiny._asker, tokenizer=followed).ids_of("far")[0] == 0


def test_a_system_turn_is_the_templates_own_or_none(tiny: "LocalModel") -> None:
    tokenizer = tiny.tokenizer
    assert tokenizer.system_ids("Be brief.") is None
    library = tokenizer.library
    try:
        library.chat_template = (
            "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}"
        )
        ids = tokenizer.system_ids("Be brief.")
        assert ids is not None
        assert tokenizer.decode(ids) == "<s>system: Be brief.</s>"
        assert {ids[0], ids[-1]} <= tokenizer.special
        library.chat_template = "{{ raise_exception('no system') }}"
        assert tokenizer.system_ids("Be brief.") is None
        library.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
        assert tokenizer.system_ids("Be brief.") is None
    finally:
        library.chat_template = None


def test_all_memory_in_use_is_a_row_and_not_the_end(
    open_tiny: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_tiny()
    engine = model._engine

    def begin(*_: Any, **__: Any) -> None:
        msg = "no more"
        raise engine.torch.OutOfMemoryError(msg)

    monkeypatch.setattr(type(engine), "begin", begin)
    found = answers(model, requests("a", "b"))
    assert {r.error for r in found.values()} == {"out_of_memory"}


def test_a_batch_that_memory_is_too_small_for_is_asked_in_halves(
    open_tiny: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_tiny()
    wanted = answers(model, requests(*PROMPTS, max_tokens=3))
    engine = type(model._engine)
    begin = engine.begin

    def small(self: Any, rows: Any, **more: Any) -> Any:
        if len(rows) > 2:
            msg = "DefaultCPUAllocator: can't allocate memory"
            raise RuntimeError(msg)
        return begin(self, rows, **more)

    monkeypatch.setattr(engine, "begin", small)
    found = answers(model, requests(*PROMPTS, max_tokens=3))
    assert {k: r.text for k, r in found.items()} == {k: r.text for k, r in wanted.items()}

    def broken(*_: Any, **__: Any) -> None:
        msg = "other"
        raise RuntimeError(msg)

    monkeypatch.setattr(engine, "begin", broken)
    with pytest.raises(BackendError, match="the model failed: other"):
        answers(model, requests("a"))


@settings(max_examples=20)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "text": st.text(alphabet="abc Fé日", min_size=1, max_size=12),
                "front": st.sampled_from([(), (50, 51, 52), (60,) * 9]),
                "given": st.sampled_from(
                    [
                        {},
                        {"temperature": 1.0},
                        {"noise": 0.3},
                        {"noise": 0.3, "temperature": 0.7, "top_p": 0.9},
                        {"allowed": ("ab", "abc", " Fé")},
                    ]
                ),
                "max_tokens": st.integers(2, 5),
                "seed": st.integers(0, 99),
            }
        ),
        min_size=1,
        max_size=7,
    ),
    st.integers(1, 4),
)
def test_any_mixture_of_requests_is_answered_as_each_alone(
    tiny: "LocalModel", drawn: list[dict[str, Any]], batch_size: int
) -> None:
    asked = [
        Request(
            (str(i), 1, "none"),
            (*one["front"], *tiny.ids_of(one["text"])),
            max_tokens=one["max_tokens"],
            seed=one["seed"],
            shared=len(one["front"]),
            **one["given"],
        )
        for i, one in enumerate(drawn)
    ]
    asker = replace(tiny._asker, batch_size=batch_size)
    together = {r.key: r for r in asker.complete(asked)}
    for request in asked:
        (alone,) = asker.complete([replace(request, shared=0)])
        found = together[request.key]
        assert (found.text, found.finish, found.n_prompt) == (
            alone.text,
            alone.finish,
            alone.n_prompt,
        )
        for one, other in zip(found.steps, alone.steps, strict=True):
            assert one.logprob == pytest.approx(other.logprob, abs=1e-3)


def test_one_request_given_twice_is_answered_twice(tiny: "LocalModel") -> None:
    one, other = requests("far", "The capital")
    logits = tiny.next_logits([one, other, one])
    assert np.abs(logits[0] - logits[2]).max() < 1e-6
    assert np.abs(logits[0] - tiny.next_logits([one])[0]).max() < 1e-4
    assert len(list(tiny.complete([one, one]))) == 2


def test_a_row_that_has_ended_does_not_leave_the_places_that_are_known(open_tiny: Make) -> None:
    """Learned positions end; a short answer beside a long one must not run past them."""
    model = open_tiny("gpt2")
    full, short = requests("a" * 95, max_tokens=1)[0], requests("far", max_tokens=20)[0]
    found = answers(model, [full, short])
    assert found["far"].text == answers(model, [short])["far"].text
    assert len(found["a" * 95].steps) == 1


def test_ids_that_are_none_are_an_error(tiny: "LocalModel") -> None:
    for ids in ((5, 10_000), (-1, 5)):
        (result,) = tiny.complete([Request(("q", 1, "none"), ids)])
        assert result.error == "unknown_token"
        with pytest.raises(InputError, match="unknown_token"):
            tiny.next_logits([Request(("q", 1, "none"), ids)])
