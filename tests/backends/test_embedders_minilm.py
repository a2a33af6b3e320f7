import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.backends import Embedder, embed_texts, open_embedder
from trueness.backends.embedder import ROLES
from trueness.backends.embedding import measured_jitter, noise_of
from trueness.backends.minilm import MiniLM
from trueness.backends.weights import path_of
from trueness.contract.errors import BackendError, InputError

pytestmark = pytest.mark.real

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/minilm.json").read_text("utf-8"))
TEXTS: list[str] = GOLDEN["texts"]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    """The real weights, fetched where they are missing: without them these tests fail loudly."""
    opened = open_embedder("embedded")
    assert isinstance(opened, MiniLM)
    return opened


def _reference() -> NDArray[np.float32]:
    raw = base64.b64decode(GOLDEN["data"])
    return np.frombuffer(raw, "<f4").reshape(len(TEXTS), GOLDEN["dimension"])


def test_vectors_are_those_of_the_reference_implementation(minilm: MiniLM) -> None:
    found = minilm.embed(TEXTS, "claim")
    assert found.dtype == np.float32
    assert np.abs(found - _reference()).max() < GOLDEN["tolerance"]
    assert np.abs(found - _reference()).max() < 2e-6


def test_tokens_are_counted_as_the_reference_counts_them(minilm: MiniLM) -> None:
    assert list(minilm.count_tokens(TEXTS, "claim")) == GOLDEN["tokens"]


def test_it_says_what_it_is(minilm: MiniLM) -> None:
    assert isinstance(minilm, Embedder)
    assert minilm.identity["revision"] == GOLDEN["sha256"]
    assert minilm.identity["dimension"] == 384
    assert minilm.identity["dtype"] == "float32"
    assert set(minilm.versions) == {"numpy", "safetensors", "tokenizers"}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batch=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=9))
def test_a_text_has_the_same_bits_in_any_batch_and_order(minilm: MiniLM, batch: list[str]) -> None:
    alone = {text: minilm.embed([text], "claim")[0] for text in set(batch)}
    for role in ROLES:
        together = minilm.embed(batch, role)
        assert all(np.array_equal(v, alone[t]) for t, v in zip(batch, together, strict=True))


def test_its_jitter_is_zero_so_the_declared_noise_stands(minilm: MiniLM) -> None:
    assert measured_jitter(minilm) == 0.0
    noise = noise_of(minilm)
    assert (noise.declared, noise.measured, noise.used) == (1e-6, 0.0, 1e-6)
    assert not noise.was_raised


@pytest.mark.parametrize("kernel", ["Haswell", "Sandybridge", "Prescott", "SkylakeX"])
def test_bits_do_not_depend_on_the_batch_on_other_processors_kernels(kernel: str) -> None:
    code = (
        "import numpy as np; from trueness.backends import open_embedder\n"
        "e = open_embedder('embedded'); t = ['She won.', 'He won.', 'It won.', 'We did so too.']\n"
        "a = e.embed(t, 'claim'); b = np.concatenate([e.embed([x], 'claim') for x in t])\n"
        "assert np.array_equal(a, b)"
    )
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode < 0:
        return  # this processor lacks the instructions of that kernel
    assert done.returncode == 0, done.stderr


def test_a_text_that_is_too_long_is_refused_and_never_cut(minilm: MiniLM) -> None:
    long = "word " * 255
    with pytest.raises(InputError, match=r"text 1 \(257 tokens\)") as caught:
        minilm.embed(["a", long], "claim")
    assert "256" in str(caught.value)
    assert minilm.embed([long[:-5]], "claim").shape == (1, 384)
    found = embed_texts(minilm, [long, "a", long], "evidence")
    assert found.errors[0] == found.errors[2]
    assert str(found.errors[0]).startswith("text_too_long: 257 tokens")
    assert np.isnan(found.vectors[[0, 2]]).all()
    assert np.isfinite(found.vectors[1]).all()


def test_hostile_texts_give_unit_vectors(minilm: MiniLM) -> None:
    texts = ["", " ", "\0", "\ud800", "a\udfffb", "\u0301", "[SEP]", "x" * 100_000, "\u202e", "𝒳"]
    found = minilm.embed(texts, "claim")
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6
    assert np.array_equal(found[0], found[1])


def test_scripts_that_it_cannot_read_are_reported(minilm: MiniLM) -> None:
    unread = minilm.unread(["Paris is old.", "ปารีสเป็นเมืองหลวง", "", "x" * 101])
    assert unread == (0.0, 1.0, 0.0, 1.0)
    one, other = minilm.embed(["ปารีสเป็นเมืองหลวง", "x" * 101], "claim")
    assert np.array_equal(one, other)  # erased: two different texts, one vector


def test_no_texts_give_no_rows(minilm: MiniLM) -> None:
    assert minilm.embed([], "claim").shape == (0, 384)
    assert minilm.count_tokens([], "claim") == ()


def test_neither_torch_nor_transformers_is_loaded() -> None:
    code = (
        "import sys; from trueness.backends import open_embedder\n"
        "open_embedder('embedded').embed(['a'], 'claim')\n"
        "assert not {'torch', 'transformers', 'scipy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", b"{", "cannot be read as a tokenizer"),
        ("tokenizer.json", b"[]", "holds no tokenizer"),
        ("model.safetensors", b"", "does not hold the weights"),
        ("model.safetensors", b"\x02\0\0\0\0\0\0\0{}", "does not hold the weights"),
    ],
)
def test_a_broken_file_is_one_clear_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    paths = {n: path_of("minilm", n) for n in ("model.safetensors", "tokenizer.json")}
    paths[name] = tmp_path / name
    paths[name].write_bytes(content)
    with pytest.raises(BackendError, match=message):
        MiniLM(paths["model.safetensors"], paths["tokenizer.json"], revision="x")
