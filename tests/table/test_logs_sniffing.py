import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import read_answers
from trueness.table.logs import inspect_ai_log, lm_eval, streamed
from trueness.table.logs.sniffing import log_reader, written_by
from trueness.table.logs.streamed import JsonStream, members, top_level_names

LOGS = Path(__file__).parents[1] / "data" / "logs"
SAMPLE = {"doc_id": 0, "resps": [["4"]], "target": "4"}


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_the_tool_is_told_by_content_and_never_by_name(tmp_path: Path) -> None:
    for name in ("tiny_gsm.json", "tiny_gsm_zstd.eval", "tiny_gsm_deflate.eval"):
        odd = written(tmp_path / f"{name}.txt", (LOGS / "inspect" / name).read_bytes())
        assert log_reader(odd) is inspect_ai_log
        assert inspect_ai_log.sniffs(odd)
        assert not lm_eval.sniffs(odd)
    for path in (LOGS / "lmeval").glob("*.jsonl"):
        odd = written(tmp_path / f"{path.name}.csv", path.read_bytes())
        assert log_reader(odd) is lm_eval
        assert lm_eval.sniffs(odd)


@pytest.mark.parametrize(
    ("content", "tool"),
    [
        ('{"spec": {"model": "m"}}\n{"event_id": 0}\n', "openai_evals"),
        ('{"spec": "a column"}\n', None),
        ('{"adapter_spec": {}, "request_states": []}', "helm"),
        ('{"convos": [], "htmls": []}', "simple_evals"),
        ('{\n "htmls": [],\n "convos": []\n}', "simple_evals"),
        ('\ufeff{"doc_id": 0, "resps": [["a"]]}\n', "lm_eval"),
        ('{"doc_id": 0,\n "resps": [["a"]]}\n', "lm_eval"),
        ('{"doc_id": 0, "filtered_resps": ["a"]}\n', "lm_eval"),
        ('{"doc_id": 0, "response": "a"}\n', None),
        ('{"samples": [], "eval": {}}', "inspect_ai_log"),
        ('{"trueness": 1}\n{"item": "x", "answer": "a"}\n', None),
        ('[{"eval": 1, "samples": 2}]', None),
        ("item,answer\nx,a\n", None),
        ("", None),
        ("{", None),
    ],
)
def test_names_at_the_top_decide(tmp_path: Path, content: str, tool: str | None) -> None:
    assert written_by(written(tmp_path / "log", content)) == tool


def test_a_first_line_longer_than_what_is_looked_at_first_is_told(tmp_path: Path) -> None:
    line = json.dumps({"doc": {"question": "few shots " * 30_000}, **SAMPLE})
    assert written_by(written(tmp_path / "a.jsonl", f"{line}\n{line}\n")) == "lm_eval"
    header = {"version": 2, "status": "success", "eval": {"task": "t"}, "results": "r" * 300_000}
    path = written(tmp_path / "a.json", json.dumps({**header, "samples": []}, indent=2))
    assert written_by(path) == "inspect_ai_log"


def test_a_folder_is_read_by_the_tool_that_wrote_it(tmp_path: Path) -> None:
    mock = LOGS / "lmeval" / "mock"
    assert written_by(mock) == "lm_eval"
    assert len(read_answers(mock)) == len(read_answers(next(mock.glob("samples_*.jsonl"))))
    assert written_by(LOGS / "inspect") == "inspect_ai_log"
    written(tmp_path / "run" / "scenario_state.json", "{}")
    assert written_by(tmp_path / "run") == "helm"


def test_a_folder_of_two_tools_names_both(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", json.dumps(SAMPLE) + "\n")
    written(tmp_path / "b.json", '{"eval": {}, "samples": []}')
    with pytest.raises(InputError, match=r"several tools \(.*a\.jsonl and .*b\.json\)"):
        log_reader(tmp_path)


def test_a_folder_without_logs_is_no_log(tmp_path: Path) -> None:
    written(tmp_path / "notes.json", "{}")
    assert log_reader(tmp_path) is None
    with pytest.raises(InputError, match="is a folder"):
        read_answers(tmp_path)


def test_what_is_not_there_is_left_to_the_reader_of_files(tmp_path: Path) -> None:
    assert log_reader(tmp_path / "none") is None
    with pytest.raises(InputError, match="does not exist"):
        read_answers(tmp_path / "none")


def test_any_other_archive_is_no_log(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("answers.csv", "item,answer\n")
    assert log_reader(tmp_path / "a.zip") is None
    with pytest.raises(InputError, match="Unpack it first"):
        read_answers(tmp_path / "a.zip")
    assert log_reader(written(tmp_path / "b.zip", b"PK\x03\x04 no archive at all")) is None


def test_columns_of_a_log_are_not_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", json.dumps(SAMPLE) + "\n")
    with pytest.raises(InputError, match=r"--item, --answer was given\. Leave it out"):
        read_answers(path, item="doc_id", answer="resps")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def pairs(data: bytes, lists: frozenset[str]) -> list[tuple[str, Any]]:
    return list(members(JsonStream(io.BytesIO(data)), lists))


@given(
    st.dictionaries(st.text(), JSON, max_size=4),
    st.lists(JSON, max_size=4),
    st.integers(1, 40),
    st.booleans(),
)
def test_pieces_of_any_size_give_the_same_values(
    document: dict[str, Any],
    listed: list[Any],
    size: int,
    marked: bool,  # noqa: FBT001 - drawn
) -> None:
    document = {**document, "samples": listed}
    text = json.dumps(document, ensure_ascii=False, indent=size % 3).encode("utf-8", "replace")
    wanted = [(k, v) for k, v in json.loads(text).items() if k != "samples"]
    elements = json.loads(text)["samples"]
    chunk, streamed._CHUNK = streamed._CHUNK, size
    try:
        found = pairs(b"\xef\xbb\xbf" + text if marked else text, frozenset({"samples"}))
    finally:
        streamed._CHUNK = chunk
    assert [p for p in found if p[0] != "samples"] == wanted
    assert [v for k, v in found if k == "samples"] == elements


@given(st.lists(st.integers() | st.text(), min_size=1, max_size=5), st.integers(1, 30))
def test_a_list_that_is_cut_off_gives_what_is_whole_and_then_fails(
    listed: list[Any], cut: int
) -> None:
    text = json.dumps({"samples": listed}).encode()
    stream = JsonStream(io.BytesIO(text[: max(len(text) - cut, 0)]))
    found: list[Any] = []
    with pytest.raises(ValueError, match=r"wanted|Expecting|Unterminated|escape|ends inside"):
        found.extend(v for _, v in members(stream, frozenset({"samples"})))
    assert found == listed[: len(found)]


def test_a_fault_in_the_middle_is_found_without_reading_on() -> None:
    file = io.BytesIO(b'{"samples": [1, oops, ' + b"2, " * 1_000_000 + b"3]}")
    with pytest.raises(json.JSONDecodeError):
        list(members(JsonStream(file), frozenset({"samples"})))
    assert file.tell() < 200_000


def test_bytes_that_are_no_utf8_are_written_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streamed, "_CHUNK", 3)
    stream = JsonStream(
        io.BytesIO('{"a": "né\udcff€", "b": "\udce2\udc82"}'.encode("utf-8", "surrogateescape"))
    )
    assert dict(members(stream)) == {"a": "né\\xff€", "b": "\\xe2\\x82"}
    assert stream.n_undecodable == 3


def test_names_at_the_top_stop_where_a_file_is_cut_off(tmp_path: Path) -> None:
    path = written(tmp_path / "a", '{"eval": {"a": 1}, "samples": [1, 2')
    assert list(top_level_names(path)) == ["eval", "samples"]
    assert list(top_level_names(written(path, "[1]"))) == []
