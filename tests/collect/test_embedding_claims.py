"""Texts of claims and passages become vectors: once each, failures kept as what they are."""

import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from trueness.backends.embedder import EmbedderFaultError, Role, Vectors
from trueness.backends.embedders import CallableEmbedder
from trueness.backends.vectors import VectorCache
from trueness.collect.embedding import _check_told_apart, _told_apart, embed_table
from trueness.collect.passages import Cuts, cut, windows_of
from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json
from trueness.table.evidence import EvidenceTable
from trueness.table.evidence_reading import read_evidence
from trueness.table.vectors import TextVectors


@dataclass
class Letters:
    """Counts of letters; refuses what it is told to, and remembers what it was asked."""

    limit: int | None = None
    refused: str = "\0"
    exact: bool = True
    revision: str | None = "1"
    dtype: str = "float64"
    asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"id": "letters", "revision": self.revision, "dtype": self.dtype}

    @property
    def versions(self) -> Mapping[str, str]:
        return {"letters": "1"}

    @property
    def max_tokens(self) -> int | None:
        return self.limit

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int, ...]:
        del role
        return tuple(len(t.split()) for t in texts)

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if any(self.refused in t for t in texts):
            msg = "that text is refused."
            raise BackendError(msg)
        self.asked += [(role, t) for t in texts]
        return np.array([[1.0, *(float(t.count(c)) for c in "abcdefgh")] for t in texts])


def table(*rows: tuple[str | None, object]) -> EvidenceTable:
    return read_evidence([{"claim": c, "evidence": e} for c, e in rows])


def test_every_distinct_text_is_embedded_once_in_its_role() -> None:
    embedder = Letters()
    found = embed_table(table(("a b", ["c", "c", "a b"]), ("a b", ["c"])), embedder)
    ours = [(r, t) for r, t in embedder.asked if len(t) < 4 and t != "No."]
    assert sorted(ours) == [("claim", "a b"), ("evidence", "a b"), ("evidence", "c")]
    assert found.vectors is not None
    assert found.vectors.noise == 1e-12
    assert found.vectors.identity == embedder.identity
    assert found.vectors.rules["splitter"]


def test_the_order_of_rows_and_passages_changes_no_bit() -> None:
    one = embed_table(table(("a", ["b", "c d"]), ("e f", ["g"])), Letters())
    two = embed_table(table(("e f", ["g"]), ("a", ["c d", "b"])), Letters())
    assert one.vectors is not None
    assert two.vectors is not None
    assert one.vectors.evidence.place == two.vectors.evidence.place
    assert (one.vectors.evidence.values == two.vectors.evidence.values).all()


def test_a_text_that_fails_costs_no_other_its_vector() -> None:
    found = embed_table(table(("a", ["b", "bad!"]), ("c", ["d"])), Letters(refused="!")).vectors
    assert found is not None
    assert found.evidence.failed == {"bad!": "error: that text is refused."}
    assert set(found.evidence.place) == {"b", "d"}
    with pytest.raises(BackendError, match="no text could be embedded"):
        embed_table(table(("a", ["x!"])), Letters(refused="!"))


def test_a_text_that_is_too_long_is_refused_or_windowed_by_the_declared_rule() -> None:
    long = "One two three. Four five six. Seven eight nine."
    rows = table(("a", [long, "b"]))
    refused = embed_table(rows, Letters(limit=6)).vectors
    assert refused is not None
    assert refused.evidence.failed == {long: "text_too_long"}
    windowed = embed_table(rows, Letters(limit=6), cuts=Cuts(window=6))
    assert windowed.passages(0) == ("One two three. Four five six.", "Seven eight nine.", "b")
    assert windowed.notes[-1] == "1 passages that are longer than the embedder reads became 2."
    overlapping = windows_of(long, Letters(), 6, 1)
    assert overlapping == ("One two three. Four five six.", "Four five six. Seven eight nine.")


def test_one_text_of_evidence_becomes_sentences_and_a_list_stays() -> None:
    rows = table(("He won. She won.", "Dr. Smith went. Then he came."), ("x", ["One. Two."]))
    found = cut(rows, Cuts(), None)
    assert found.passages(0) == ("Dr. Smith went.", "Then he came.")
    assert found.passages(1) == ("One. Two.",)
    assert found.sentences is not None
    assert found.sentences[0] == (("He won.", None), ("She won.", None))
    assert cut(rows, Cuts(split="none"), None).passages(0) == ("Dr. Smith went. Then he came.",)


def test_vectors_come_from_the_cache_where_the_embedder_has_a_revision(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    rows = table(("a b c", ["d e f"]))
    for embedder, expected in ((Letters(), 2), (Letters(), 0), (Letters(revision=None), 2)):
        embed_table(rows, embedder, cache=cache)
        assert len([t for _, t in embedder.asked if t in ("a b c", "d e f")]) == expected
    near = embed_table(rows, Letters(exact=False), cache=cache).vectors
    assert near is not None
    assert "2 vectors of an earlier run are near, not equal to the bit." in near.notes


def test_blank_texts_are_not_embedded_and_an_empty_table_of_them_has_vectors() -> None:
    found = embed_table(table((" ", ["", " "]), (None, [])), Letters()).vectors
    assert found is not None
    assert not found.claim.place
    assert found.dimension == 1


def test_what_cannot_be_checked_is_said() -> None:
    embedder = Letters(refused="France")  # in the probes of the self-check
    found = embed_table(table(("a", ["b"])), embedder).vectors
    assert found is not None
    assert found.noise == 1e-6
    assert "could not be checked" in found.notes[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"split": "words"}, "split is 'words'"),
        ({"window": 0}, "window is 0"),
        ({"overlap": 1}, "there is no window"),
        ({"window": 5, "overlap": -1}, "overlap is -1"),
        ({"window": 8, "overlap": 9}, "overlap is 9 sentences and a window holds at most 8"),
        ({"window": 8, "overlap": 8}, "give a smaller overlap"),
    ],
)
def test_rules_out_of_range_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Cuts(**given)  # type: ignore[arg-type] # on purpose


def test_a_noise_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="embedding_noise is nan"):
        embed_table(table(("a", ["b"])), Letters(), noise=float("nan"))
    with pytest.raises(InputError, match="has no default noise"):
        embed_table(table(("a", ["b"])), Letters(dtype="q4"))


class Foreigner(Letters):
    """Knows no word with a letter beyond ASCII."""

    def unread(self, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(1.0 if not t.isascii() else 0.0 for t in texts)


def test_texts_that_the_embedder_does_not_know_are_counted_and_said() -> None:
    rows = table(("Ann won.", ["Ann ran."]), ("\u0b85\u0ba9\u0bcd", ["Ann ran.", "\u10d0\u10dc"]))
    found = embed_table(rows, Foreigner()).vectors
    assert found is not None
    assert any(note.startswith("Of 2 of 4 texts the embedder knows less") for note in found.notes)
    plain = embed_table(table(("Ann won.", ["Ann ran."])), Foreigner()).vectors
    assert plain is not None
    assert not plain.notes


SAME = "have, to the bit, the vector of another text"


def notes_of(rows: EvidenceTable) -> str:
    found = embed_table(rows, Letters()).vectors
    assert found is not None
    return " ".join(found.notes)


def test_texts_that_share_a_vector_and_say_something_else_are_counted() -> None:
    said = notes_of(table(("a cab", ["bad cab", "cab bad", "x y", "z"]), ("baac", ["b"])))
    assert f"6 texts {SAME}" in said  # two claims, and two pairs of passages


def test_texts_that_differ_in_case_accents_and_spaces_may_share_a_vector() -> None:
    alike = ["x y", "X  Y", "x\u200by", "x\u0301y", "\uff38y", "x\ty"]
    assert SAME not in notes_of(table(("a", alike), ("A", ["b"])))
    assert SAME not in notes_of(table(("b", ["b"])))  # a claim may be its passage


def test_an_embedder_with_one_vector_for_everything_measures_nothing() -> None:
    constant = CallableEmbedder(lambda texts: [[1.0, 2.0]] * len(texts))
    with pytest.raises(EmbedderFaultError, match="depends on the text"):
        embed_table(table(("a", ["b"])), constant)
    same = embed_table(table(("a", ["A"])), constant).vectors  # nothing that it could tell apart
    assert same is not None


def test_an_embedder_that_knows_few_words_is_no_constant_one() -> None:
    few = CallableEmbedder(lambda texts: [[1.0, float("zebra" in t)] for t in texts])
    found = embed_table(table(("a zebra", ["b", "c"])), few).vectors
    assert found is not None
    assert f"2 texts {SAME}" in " ".join(found.notes)


def test_telling_texts_apart_holds_no_second_copy_of_their_vectors() -> None:
    values = np.random.default_rng(0).normal(size=(1000, 2000))
    values[-2:] = values[0]
    values[1:3] = 0.0  # of length 0: a state of its own, and no vector that is shared
    texts = TextVectors({f"{i}": i for i in range(len(values))}, values, {})
    tracemalloc.start()
    try:
        _check_told_apart((texts,), Letters())
        (note,) = _told_apart((texts,))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert f"3 texts {SAME}" in note
    assert peak < values.nbytes / 10


def test_too_few_vectors_stop_everything_and_are_no_note() -> None:
    short = CallableEmbedder(lambda texts: [[1.0, float(len(t))] for t in texts[:1]])
    with pytest.raises(EmbedderFaultError, match="1 vectors for 8 texts"):
        embed_table(table(("a", ["b"])), short)
