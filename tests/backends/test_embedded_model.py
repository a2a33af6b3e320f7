import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from trueness.backends import Request, Result, open_model
from trueness.backends.embedded import GgufModel
from trueness.backends.scoring import Continuation, Scored

pytestmark = pytest.mark.real


@pytest.fixture(scope="session")
def model() -> Iterator[GgufModel]:
    """The real weights, fetched where they are missing: without them these tests fail loudly."""
    opened = open_model("embedded")
    assert isinstance(opened, GgufModel)
    yield opened
    opened.close()


def _ask(
    model: GgufModel, prompts: list[str], *, max_tokens: int = 8, shared: int = 0
) -> dict[str, Result]:
    ids = {p: model.tokenizer.encode(p) for p in prompts}
    asked = [Request((p, 1, "none"), ids[p], max_tokens=max_tokens, shared=shared) for p in prompts]
    found = model.complete(asked)
    return {result.key[0]: result for result in found}


def test_it_says_what_it_is(model: GgufModel) -> None:
    identity = model.identity
    assert identity["quantisation"] == "Q4_1"
    assert str(identity["file_hash"]).startswith("b179c952")
    assert model.tokenizer.n_vocabulary == 49_152
    assert model.tokenizer.bos is None  # the file asks for none


def test_text_survives_its_tokenizer(model: GgufModel) -> None:
    for text in ("The capital of Côte d'Ivoire is", "日本の首都は", "<|im_start|>"):
        ids = model.tokenizer.encode(text)
        assert model.tokenizer.decode(ids) == text
        assert not model.tokenizer.special.intersection(ids)


def test_it_knows_a_capital_and_reports_every_token(model: GgufModel) -> None:
    result = _ask(model, ["The capital of France is"])["The capital of France is"]
    assert result.text.startswith(" Paris")
    assert (result.n_prompt, result.n_written, result.finish) == (5, 8, "length")
    assert len(result.steps) == 8
    assert all(s.logprob is not None and s.logprob <= 0 and s.gap is not None for s in result.steps)


def test_a_batch_answers_as_single_questions_do(model: GgufModel) -> None:
    prompts = [f"The capital of {e} is" for e in ("France", "Japan", "Cuba", "Egypt", "China")]
    batch = _ask(model, prompts, max_tokens=1)
    for prompt in prompts:
        assert batch[prompt].text == _ask(model, [prompt], max_tokens=1)[prompt].text


def test_a_shared_prefix_is_read_once_a_slot(model: GgufModel) -> None:
    front = "Wool is sorted by length and softness before it is carded and spun. " * 4
    prompts = [f"{front}The capital of {e} is" for e in ("France", "Japan", "Cuba", "Egypt")]
    _ask(model, prompts[:1], max_tokens=1, shared=1)
    again = _ask(model, prompts[1:2], max_tokens=1, shared=1)
    assert again[prompts[1]].n_reused > 40
    assert _ask(model, prompts[1:2], max_tokens=1)[prompts[1]].n_reused == 0


def test_the_same_seed_gives_the_same_text(model: GgufModel) -> None:
    def draw(seed: int) -> str:
        request = Request(("q", 1, "none"), "Once upon a time", temperature=1.0, seed=seed)
        return next(iter(model.complete([request]))).text

    assert draw(1) == draw(1)
    assert len({draw(seed) for seed in range(2, 6)}) > 1


def test_a_prompt_beyond_the_context_is_an_error_before_it_is_sent(model: GgufModel) -> None:
    request = Request(("q", 1, "none"), (504,) * model.n_context)
    assert next(iter(model.complete([request]))).error == "context_length"


def test_a_system_prompt_goes_through_the_chat_template(model: GgufModel) -> None:
    ids = model.system_ids("Be brief.")
    assert ids is not None
    assert model.tokenizer.decode(ids) == "<|im_start|>system\nBe brief.<|im_end|>\n"


def _scored(model: GgufModel, prompt: str, texts: list[str]) -> dict[str, Scored]:
    asked = [Continuation((text, "given"), prompt, text) for text in texts]
    return {score.key[0]: score for score in model.score(asked)}


def test_a_given_text_scores_as_the_model_scores_it_when_it_writes_it(model: GgufModel) -> None:
    front = "The capital of France is"
    written = _ask(model, [front])[front]
    score = _scored(model, front, [written.text])[written.text]
    assert score.n_tokens == len(written.steps)
    assert score.logprob == pytest.approx(written.logprob, abs=0.2)  # quantised kernels


def test_scores_are_the_same_bits_alone_in_company_and_in_any_order(model: GgufModel) -> None:
    front, texts = "Wool is sorted.\nStatement:", [" Wool is cut.", " Wool is", " Tin, 東."]
    together = _scored(model, front, texts)
    _scored(model, "Wool is sorted.\nStatement: Wool", [" is cut."])
    assert _scored(model, front, texts[::-1]) == together
    for text in texts:
        assert _scored(model, front, [text])[text] == together[text]
    assert all((s.logprob or 0) < 0 for s in together.values())


def test_a_text_that_cannot_be_scored_says_why(model: GgufModel) -> None:
    found = _scored(model, "Wool", [" is" * model.n_context, "\ud800", ""])
    assert {s.error for s in found.values()} == {"context_length", "not_unicode", None}
    assert found[""].logprob == 0.0


def test_the_whole_law_of_the_first_token_is_that_of_what_is_written(model: GgufModel) -> None:
    prompts = ["The capital of France is", "The capital of Peru is"]
    laws = {law.key[0]: law for law in model.first_laws([Request((p, 1, "n"), p) for p in prompts])}
    for prompt, result in _ask(model, prompts, max_tokens=1).items():
        law = laws[prompt].logprobs
        assert law is not None
        assert law.shape == (49_152,)
        assert int(law.argmax()) == result.steps[0].id
        assert law.max() == pytest.approx(result.steps[0].logprob, abs=1e-3)
        top = np.sort(law)[::-1]
        assert top[0] - top[1] == pytest.approx(result.steps[0].gap, abs=1e-3)
        assert np.exp(law).sum() == pytest.approx(1.0, abs=1e-3)  # summed in single precision


def test_a_law_does_not_depend_on_what_was_asked_before(model: GgufModel) -> None:
    asked = [Request((p, 1, "n"), p) for p in ("The capital of Peru is", "Two and two are")]
    one = [law.logprobs for law in model.first_laws(asked)]
    other = [law.logprobs for law in model.first_laws(asked[::-1])][::-1]
    for a, b in zip(one, other, strict=True):
        assert a is not None
        assert b is not None
        assert a.tobytes() == b.tobytes()
    (long,) = model.first_laws([Request(("long", 1, "n"), " far" * 2000)])
    assert (long.logprobs, long.error) == (None, "context_length")


def test_a_model_that_is_closed_at_once_ends(model: GgufModel) -> None:
    """The runtime's loop, stopped before it began, would wait for ever."""
    code = (
        "from pathlib import Path; from trueness.backends.embedded import GgufModel\n"
        f"for _ in range(5): GgufModel(Path({str(model.path)!r}), 'embedded').close()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
