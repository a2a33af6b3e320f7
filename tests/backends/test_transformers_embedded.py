"""The embedded file by both runtimes, and the conversion between them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from trueness.backends import Request, open_model
from trueness.backends.scoring import Continuation

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def plain() -> Iterator[Any]:
    opened = open_model("embedded")
    yield opened
    opened.close()


def test_it_keeps_its_name_and_names_its_backend(white: "LocalModel", plain: Any) -> None:
    assert white.name == plain.name == "embedded"
    same = ("model", "file_hash", "quantisation", "tokenizer_hash")
    assert {f: white.identity[f] for f in same} == {f: plain.identity[f] for f in same}
    assert white.identity["backend"] == "transformers"
    assert white.identity["dtype"] == "float32"


def test_both_tokenizers_write_the_same_ids(white: "LocalModel", plain: Any) -> None:
    texts = (
        "The capital of Côte d'Ivoire is",
        "日本の首都は",
        "<|im_start|>",
        " the",
        "a\n\nb",
    )
    for text in texts:
        assert white.tokenizer.encode(text) == plain.tokenizer.encode(text)
    assert white.tokenizer.special == plain.tokenizer.special
    assert white.tokenizer.bos == plain.tokenizer.bos
    assert white.system_ids("Be brief.") == plain.system_ids("Be brief.")


def test_both_runtimes_write_the_same_first_tokens_unless_they_nearly_tie(
    white: "LocalModel", plain: Any
) -> None:
    from trueness.table import bundled_relation  # noqa: PLC0415 - only here

    names = bundled_relation("capital").entities
    asked = [Request((e, 1, "n"), f"The capital of {e} is", max_tokens=1) for e in names]
    ours = {r.key: r.steps[0] for r in white.complete(asked)}
    theirs = {r.key: r.steps[0] for r in plain.complete(asked)}
    # llama.cpp multiplies rounded activations with quantised weights; here both are float32
    for key, step in ours.items():
        other = theirs[key]
        if step.id != other.id:
            assert step.gap is not None
            assert step.gap < 0.1
        elif step.logprob is not None and other.logprob is not None:
            assert abs(step.logprob - other.logprob) < 0.3


def test_both_runtimes_find_a_text_about_as_likely(white: "LocalModel", plain: Any) -> None:
    asked = [Continuation(("q", t), "The capital of France is", t) for t in (" Paris", " Lyon")]
    ours = {s.key: s.logprob for s in white.score(asked)}
    theirs = {s.key: s.logprob for s in plain.score(asked)}
    for key, value in ours.items():
        assert value == pytest.approx(theirs[key], abs=0.1)


def test_twenty_questions_behind_a_prefix_have_the_answers_of_one_padded_batch(
    white: "LocalModel",
) -> None:
    from trueness.table import bundled_relation  # noqa: PLC0415 - only here

    front = white.ids_of("Wool is sorted by length and softness before it is carded. " * 16)
    names = bundled_relation("capital").entities
    asked = [
        Request((e, 1, "p"), (*front[:128], *white.ids_of(f"The capital of {e} is")), shared=128)
        for e in names
    ]
    reused = white.next_logits(asked)
    padded = white.next_logits([replace(one, shared=0) for one in asked])
    assert abs(reused - padded).max() < 1e-3
    assert (reused.argmax(1) == padded.argmax(1)).all()


class Measured(NamedTuple):
    """First tokens of a relation, alone or behind " the" 128 times."""

    name: str
    n_front: int
    right: int
    groups: tuple[int, int]
    right_among_golds: int
    rank: int
    gap_sd: float


@pytest.mark.parametrize(
    "wanted",
    [
        Measured("capital", 0, 16, (18, 3), 20, 2, 0.23),
        Measured("capital", 128, 0, (1, 20), 1, 11_894, 4.2),
        Measured("language12", 0, 9, (11, 2), 12, 2, 0.32),
        Measured("language12", 128, 0, (1, 12), 1, 5_099, 3.8),
    ],
    ids=lambda w: f"{w.name}-{w.n_front}",
)
def test_figures_of_an_independent_measurement_are_found_again(
    white: "LocalModel", wanted: Measured
) -> None:
    """They were measured before this code was written."""
    from trueness.table import bundled_relation  # noqa: PLC0415 - only here

    relation = bundled_relation(wanted.name)
    front = white.tokenizer.encode(" the") * wanted.n_front
    prompts = [relation.templates[0].replace("{e}", e) for e in relation.entities]
    golds = np.array([white.tokenizer.encode(f" {names[0]}")[0] for names in relation.golds])
    asked = [Request((p, 1, "n"), (*front, *white.ids_of(p)), shared=len(front)) for p in prompts]
    z = white.next_logits(asked).astype(np.float64)
    top = z.argmax(axis=1)
    wrong = top != golds
    counts = np.unique(top, return_counts=True)[1]
    assert int((~wrong).sum()) == wanted.right
    assert (len(counts), counts.max()) == wanted.groups
    assert int((golds[z[:, golds].argmax(axis=1)] == golds).sum()) == wanted.right_among_golds
    own = np.take_along_axis(z, golds[:, None], axis=1)
    assert np.median((z >= own).sum(axis=1)[wrong]) == pytest.approx(wanted.rank, rel=0.01)
    gaps = ((z.max(axis=1) - own[:, 0]) / z.std(axis=1))[wrong]
    assert gaps.mean() == pytest.approx(wanted.gap_sd, abs=0.06)
