"""Declared corpora: read, refused, summed up."""

from pathlib import Path

import numpy as np
import pytest

from trueness.backends.embedders import CallableEmbedder
from trueness.collect.corpora import corpus_of, read_corpus
from trueness.contract.errors import InputError


def counts(texts: list[str]) -> list[list[float]]:
    return [[float(t.count(c)) for c in "ab"] for t in texts]


def test_a_file_has_one_text_a_line_and_order_and_copies_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("b\na\n\nb\n", "utf-8")
    assert read_corpus(path) == read_corpus(["a", "b"]) == ("a", "b")


def test_moments_are_of_unit_vectors() -> None:
    found = corpus_of(("aaa", "b"), CallableEmbedder(counts))
    assert found.mean.tolist() == [0.5, 0.5]
    np.testing.assert_allclose(found.covariance, [[0.25, -0.25], [-0.25, 0.25]])
    assert found.size == 2
    assert found.name == corpus_of(("aaa", "b"), CallableEmbedder(counts)).name


@pytest.mark.parametrize("scale", [1e-25, 1e200])
def test_moments_do_not_depend_on_the_size_of_the_vectors(scale: float) -> None:
    plain = corpus_of(("aab", "b"), CallableEmbedder(counts))
    found = corpus_of(("aab", "b"), CallableEmbedder(lambda ts: np.array(counts(ts)) * scale))
    np.testing.assert_allclose(found.covariance, plain.covariance, atol=1e-15)


def test_what_is_no_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus(tmp_path / "none.txt")
    with pytest.raises(InputError, match="has 1 distinct texts"):
        read_corpus(["a", "a", ""])
    with pytest.raises(InputError, match="the corpus holds 3"):
        read_corpus(["a", 3])  # type: ignore[list-item] # on purpose
    with pytest.raises(InputError, match="vector of length 0"):
        corpus_of(("a", "c"), CallableEmbedder(counts))
    long = CallableEmbedder(counts, max_tokens=1, count=lambda ts: [len(t) for t in ts])
    with pytest.raises(InputError, match="1 texts of the corpus have no vector"):
        corpus_of(("a", "bb"), long)
