"""Where first tokens merge right answers: planted tokenizers, and no model asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from trueness.backends.protocol import Tokenizer
from trueness.backends.scripted import ScriptedModel
from trueness.study import injectivity
from trueness.study.carrying_out import Carried, carry_out
from trueness.study.declarations import declared_study
from trueness.study.inputs import Inputs
from trueness.study.published import published_of


@dataclass
class Words:
    """A whole text is one token, or as many as have the same beginning of so many letters."""

    letters: int | None = None
    bos: int | None = None
    n_vocabulary: int = 1 << 30
    special: frozenset[int] = frozenset()
    seen: dict[str, int] = field(default_factory=dict)

    def encode(self, text: str) -> tuple[int, ...]:
        pieces = [text] if self.letters is None else [text[: self.letters], text[self.letters :]]
        return tuple(self.seen.setdefault(p, len(self.seen)) for p in pieces if p)

    def decode(self, ids: Sequence[int]) -> str:
        back = {i: p for p, i in self.seen.items()}
        return "".join(back[i] for i in ids)


class Opened(ScriptedModel):
    """A scripted model with another tokenizer, which may not be asked."""

    words: Tokenizer | None

    @property
    def tokenizer(self) -> Tokenizer | None:  # type: ignore[override] # planted
        return self.words

    def complete(self, requests: object) -> object:  # type: ignore[override] # never called
        raise AssertionError(requests)


def audited(
    monkeypatch: pytest.MonkeyPatch, words: Mapping[str, Tokenizer | None], limit: int = 14
) -> Carried:
    def opened(name: str) -> Opened:
        model = Opened("garbage")
        model.words = words[name.removeprefix("hf:")]
        return model

    monkeypatch.setattr(injectivity, "open_model", opened)
    first, second = (*words, None)[:2]
    return carry_out(
        "injectivity-audit",
        inputs=Inputs(model=first, second_model=second and f"hf:{second}"),
        limit=limit,
    )


def test_a_tokenizer_that_reads_one_letter_merges_right_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = audited(monkeypatch, {"letters": Words(letters=2)}).result
    assert found.reading.outcome.value == "supported"
    rows = {row["relation"]: row for row in found.rows}
    capital = rows["capital"]["first_token"]
    assert isinstance(capital, dict)
    groups = capital["groups"]
    assert isinstance(groups, list)
    assert groups[0] == ["Berlin", "Beijing", "Bangkok"]
    assert found.cost["requests"] == 0


def test_a_tokenizer_whose_tokens_are_whole_texts_merges_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = audited(monkeypatch, {"words": Words()}).result
    assert found.reading.outcome.value == "refuted"
    # the prompt's end is then a token with the answer: counted, not hidden
    assert all(row["first_token_moved_by_the_prompt"] == row["n_strings"] for row in found.rows)


def test_without_a_tokenizer_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    found = audited(monkeypatch, {"bare": None}).result
    assert found.reading.outcome.value == "unresolved"
    assert found.notes[-1] == "bare has no tokenizer: its strings alone are read."
    assert all(row["first_token"] is None for row in found.rows)


def test_two_tokenizers_are_two_rows_of_every_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    found = audited(monkeypatch, {"one": Words(), "two": Words(letters=3)}, limit=2).result
    assert [row["tokenizer"] for row in found.rows] == ["one", "one", "hf:two", "hf:two"]
    assert found.partial


def test_merged_answers_are_counted_against_the_texts() -> None:
    carried = carry_out("injectivity-audit", inputs=Inputs(model="scripted:garbage"), limit=3)
    row = next(r for r in carried.result.rows if r["relation"] == "atomic_number")
    # one byte decides there: golds 1 to 20 begin with nine digits
    assert row["first_token"] == {
        "n_distinct": 9,
        "n_without": 0,
        "n_merged": 11,
        "n_pairs": 55 + 1,
        "largest": 11,
        "groups": [["1", "10", "11", "12", "13"], ["2", "20"]],
    }
    assert row["key"] == {
        "n_distinct": 20,
        "n_without": 0,
        "n_merged": 0,
        "n_pairs": 0,
        "largest": 1,
        "groups": [],
    }


def test_a_published_figure_is_beside_ours_and_never_agrees() -> None:
    declaration = declared_study("injectivity-audit")
    rows = [{"name": "embedded_small_capital", "first_token": {"n_distinct": 17}}]
    first, _, last = published_of(declaration, {"rows": rows})
    assert (first["ours"], first["comparable"], first["agrees"]) == (17, False, None)
    assert (last["ours"], last["why"]) == (None, "not measured here")
