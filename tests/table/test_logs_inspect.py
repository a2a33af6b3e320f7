import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, read_answers
from trueness.table.logs import archive as zipped
from trueness.table.logs import streamed
from trueness.table.logs.archive import Archive, BrokenMemberError
from trueness.table.logs.inspect_ai_log import read

LOGS = Path(__file__).parents[1] / "data" / "logs" / "inspect"
GOLDEN = {
    v["input"]["file"].rpartition("/")[2]: v["expected"]
    for v in json.loads(
        (Path(__file__).parents[1] / "golden" / "logs_inspect_lmeval.json").read_text("utf-8")
    )
    if "inspect" in v["name"]
}
HEADER: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {
        "eval_id": "E",
        "task_id": "T",
        "task": "sums",
        "task_version": 3,
        "model": "m",
        "created": "2026-01-01",
        "config": {"epochs": 2},
        "packages": {"inspect_ai": "0.3.9"},
        "model_generate_config": {"temperature": 0.2, "top_p": 0.9},
    },
    "plan": {"steps": [{"solver": "generate"}], "config": {"temperature": 0.7}},
}


def sample(name: object, epoch: int, content: object, **more: Any) -> dict[str, Any]:
    stop = more.pop("stop", "stop")
    choice = {"message": {"role": "assistant", "content": content}, "stop_reason": stop}
    output = {"choices": [choice]}
    return {"id": name, "epoch": epoch, "target": "4", "output": output, **more}


def document(path: Path, *samples: Mapping[str, Any], **header: Any) -> Path:
    path.write_text(json.dumps({**HEADER, **header, "samples": samples}), encoding="utf-8")
    return path


def packed(method: int, data: bytes) -> bytes:
    if method == 93:
        half = len(data) // 2
        one = zstandard.ZstdCompressor()
        return one.compress(data[:half]) + one.compress(data[half:])  # two frames
    if method == 8:
        work = zlib.compressobj(wbits=-15)
        return work.compress(data) + work.flush()
    return data


def archived(
    path: Path, parts: Sequence[tuple[str, object]], method: int = 93, flags: int = 0
) -> Path:
    """An archive by hand: names may stand twice, methods may be any."""
    body, directory = b"", b""
    for name, value in parts:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        raw, title = packed(method, data), name.encode()
        fields = (20, flags, method, 0, 0, zlib.crc32(data), len(raw), len(data), len(title), 0)
        directory += struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *fields, 0, 0, 0, 0, len(body))
        directory += title
        body += struct.pack("<4s5H3L2H", b"PK\x03\x04", *fields) + title + raw
    n = len(parts)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n, n, len(directory), len(body), 0)
    path.write_bytes(body + directory + end)
    return path


def parts_of(*samples: Mapping[str, Any], header: str = "header.json") -> list[tuple[str, object]]:
    listed: list[tuple[str, object]] = [
        (f"samples/{s['id']}_epoch_{s['epoch']}.json", s) for s in samples
    ]
    return [("_journal/start.json", {**HEADER, "status": None}), *listed, (header, HEADER)]


def rows(table: AnswerTable) -> list[tuple[object, ...]]:
    assert table.completion is not None
    outcomes = [OUTCOMES[o].value for o in table.outcome]
    columns = [table.item.values(), table.epoch.tolist(), outcomes]
    columns += [table.reason.values(), table.completion.values()]
    return list(zip(*columns, strict=True))


def everything(table: AnswerTable) -> list[object]:
    assert table.target is not None
    extras = {name: column.values() for name, column in table.extras.items()}
    facts = [table.planned, table.protocols, table.completed, table.notes]
    return [rows(table), table.target.values(), extras, facts, table.log]


def test_the_three_files_of_one_run_give_one_table() -> None:
    names = ("tiny_gsm.json", "tiny_gsm_zstd.eval", "tiny_gsm_deflate.eval")
    one, two, three = (everything(read_answers(LOGS / name)) for name in names)
    assert one == two == three
    methods = {m.method for m in Archive.open(LOGS / "tiny_gsm_zstd.eval").members}
    assert methods == {93}


@pytest.mark.parametrize("name", [n for n in GOLDEN if n.startswith("tiny")])
def test_a_run_has_the_draws_targets_and_protocol_of_its_record(name: str) -> None:
    expected = GOLDEN[name]
    table = read_answers(LOGS / name)
    assert len(table) == expected["draws"]
    assert table.planned == {"none": expected["epochs_planned"]}
    assert table.protocols["none"].fields["temperature"] == expected["temperature"]
    assert table.target is not None
    targets = dict(zip(table.item.values(), table.target.values(), strict=True))
    assert {k: v[0] for k, v in targets.items() if k and v} == expected["targets"]
    assert {k: table.item.values().count(k) for k in expected["items"]} == dict.fromkeys(
        expected["items"], 4
    )


def test_a_cancelled_run_with_every_trap_reads_as_recorded() -> None:
    expected = GOLDEN["cancelled_traps.json"]
    table = read_answers(LOGS / "cancelled_traps.json")
    assert rows(table) == [
        ("1", 1, "answered", None, "The answer is 12."),
        ("1", 2, "answered", None, "The answer is 12"),
        ("1", 3, "error", "Rate limit", ""),
        ("2", 1, "error", "content_filter", ""),
        ("2", 2, "answered", None, "The answer is 12."),
        ("s/3", 1, "answered", None, "Long reasoning.\n\nThe answer is 12."),
        ("s/3", 2, "answered", None, "The answer is 12."),
    ]
    assert table.extras["stop_reason"].values()[1] == "length"
    assert table.planned == {"none": expected["epochs_planned"]}
    assert table.log is not None
    assert table.log.duplicates == ["item '2', epoch 2: later sample kept"]
    assert table.log.dropped == {"another attempt": 1}
    assert any(expected["warning"] in w for w in table.log.warnings)
    assert "3 of 3 items have fewer than the 3 draws planned." in table.log.warnings
    assert not table.completed


def test_a_later_version_is_refused_by_its_number(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"log of version 3; versions up to 2 are known"):
        read(document(tmp_path / "a.json", sample(1, 1, "4"), version=3))
    later = [("header.json", {**HEADER, "version": 7})]
    with pytest.raises(InputError, match="log of version 7"):
        read(archived(tmp_path / "a.eval", later))


def test_settings_of_the_plan_win_over_those_of_the_model(tmp_path: Path) -> None:
    table = read(document(tmp_path / "a.json", sample(1, 1, "4"), sample(1, 2, "5")))
    facts = dict(table.protocols["none"].fields)
    assert str(facts.pop("template")).startswith("sha256:")
    wanted = {"model": "m", "task": "sums", "task_version": 3, "temperature": 0.7, "top_p": 0.9}
    assert facts == wanted
    assert table.log is not None
    assert table.log.version == "0.3.9"
    assert table.log.unknown == ("revision", "max_tokens", "seed", "num_fewshot")


ONE_CACHE = {"cache": {"per_epoch": False}}


@pytest.mark.parametrize(
    "plan",
    [
        {"config": {"temperature": 0}},
        {"config": {"temperature": 0.5, **ONE_CACHE}},
        {"steps": [{"solver": "generate", "params": ONE_CACHE}]},
    ],
)
def test_repeats_that_cannot_differ_are_one_draw(tmp_path: Path, plan: dict[str, Any]) -> None:
    samples = [sample(1, 1, "4"), sample(1, 2, "4")]
    table = read(document(tmp_path / "a.json", *samples, plan=plan))
    assert table.protocols["none"].fields["independent_draws"] is False
    assert "repeats drawn without sampling: one effective draw an item." in table.notes
    kept_apart = {"config": {"temperature": 0.5, "cache": {"per_epoch": True}}}
    other = read(document(tmp_path / "b.json", *samples, plan=kept_apart))
    assert "independent_draws" not in other.protocols["none"].fields


def test_text_blocks_are_joined_and_reasoning_is_dropped(tmp_path: Path) -> None:
    thought = {"type": "reasoning", "reasoning": "maybe 13"}
    blocks = [thought, {"type": "text", "text": "It is"}, {"type": "text", "text": "4."}]
    image = {"type": "image", "image": "data:"}
    table = read(
        document(
            tmp_path / "a.json",
            sample(1, 1, blocks),
            sample(1, 2, [thought]),
            sample(2, 1, [thought], stop="max_tokens"),
            sample(2, 2, [image]),
        )
    )
    assert rows(table) == [
        ("1", 1, "answered", None, "It is\n4."),
        ("1", 2, "no_answer", "reasoning_only", ""),
        ("2", 1, "answered", None, ""),
        ("2", 2, "answered", None, ""),
    ]
    assert table.extras["stop_reason"][2] == "length"


def test_what_is_kept_apart_is_put_back_and_what_is_lost_is_missing(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "attachment://a"}, {"type": "text", "text": "tc://b"}]
    table = read(
        document(
            tmp_path / "a.json",
            sample(1, 1, parts, attachments={"a": "It is", "b": "4."}),
            sample(1, 2, "attachment://gone", attachments={"a": "It is"}),
        )
    )
    assert rows(table) == [
        ("1", 1, "answered", None, "It is\n4."),
        ("1", 2, "error", "unresolved_attachment", None),
    ]


def test_errors_are_missing_and_limits_cut_off(tmp_path: Path) -> None:
    table = read(
        document(
            tmp_path / "a.json",
            sample(1, 1, "4", error={"message": "TimeoutError()\nTraceback"}),
            sample(1, 2, "The answer is 4", limit={"type": "token", "limit": 10}),
            sample(2, 1, "", stop="content_filter"),
            sample(2, 2, "4", invalidation={"reason": "wrong prompt"}),
            {"id": 3, "epoch": 1, "output": {"choices": [], "completion": "four"}},
            {"id": 3, "epoch": 2, "output": {"choices": []}},
            {"id": 4, "epoch": 1},
        )
    )
    assert [r[:4] for r in rows(table)] == [
        ("1", 1, "error", "TimeoutError()"),
        ("1", 2, "truncated", "truncated"),
        ("2", 1, "error", "content_filter"),
        ("2", 2, "error", "invalidated"),
        ("3", 1, "answered", None),
        ("3", 2, "no_answer", "empty"),
        ("4", 1, "no_answer", "empty"),
    ]
    assert "1 samples were stopped by a limit and count as truncated." in table.notes
    assert table.extras["limit"].values().count("token") == 1


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ({}, {}, "b"),
        ({"error": {"message": "x"}}, {}, "b"),
        ({}, {"error": {"message": "x"}}, "a"),
        ({"error": {"message": "x"}}, {"error": {"message": "y"}}, "b"),
    ],
)
def test_of_two_attempts_one_without_an_error_is_kept_else_the_later(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], kept: str
) -> None:
    two = (sample(1, 1, "a", **first), sample(1, 1, "b", **second))
    for path in (
        document(tmp_path / "a.json", *two),
        archived(tmp_path / "a.eval", parts_of(*two)),
    ):
        table = read(path)
        assert [r[4] for r in rows(table)] == [kept]
        assert table.log is not None
        assert len(table.log.duplicates) == 1
        assert table.log.dropped == {"another attempt": 1}


def test_an_exact_copy_is_dropped_and_counted(tmp_path: Path) -> None:
    table = read(document(tmp_path / "a.json", sample(1, 1, "a"), sample(1, 1, "a")))
    assert table.log is not None
    assert (len(table), table.log.dropped) == (1, {"exact repeat": 1})
    assert not table.log.duplicates


def test_scores_are_evidence_and_all_scorers_are_kept_by_name(tmp_path: Path) -> None:
    two = {"match": {"value": "I", "answer": "N"}, "judge": {"value": {"a": 1}, "answer": None}}
    path = tmp_path / "a.json"
    document(path, sample(1, 1, "4", scores=two), sample(1, 2, "4", scores={"x": {"value": 1.5}}))
    path.write_text(path.read_text().replace("1.5", "NaN"))
    extras = {name: column.values() for name, column in read(path).extras.items()}
    assert extras == {
        "stop_reason": ["stop", "stop"],
        "tool_answer": ["N", None],
        "tool_score": ["I", None],
        "tool_answer:match": ["N", None],
        "tool_score:match": ["I", None],
        "tool_answer:judge": [None, None],
        "tool_score:judge": ['{"a": 1}', None],
        "prompt_hash": [None, None],
    }


def test_golds_choices_and_log_probabilities_come_along(tmp_path: Path) -> None:
    one = sample(1, 1, "4", target=["4", "four"], choices=["4", "5"])
    one["output"]["choices"][0]["logprobs"] = {"content": [{"logprob": -0.5}, {"logprob": -1.5}]}
    one["output"]["fallback"] = {"model": "other"}
    two = sample(1, 2, "4", target="")
    table = read(document(tmp_path / "a.json", one, two))
    assert table.target is not None
    assert table.logprob is not None
    assert table.target.values() == [("4", "four"), None]
    assert table.logprob[0] == -2.0
    assert table.extras["choices"][0] == '["4", "5"]'
    assert "1 samples were served by another model" in " ".join(table.notes)


def test_one_question_has_one_hash_however_it_is_written(tmp_path: Path) -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "attachment://q"}]}
    asked: list[Any] = ["2+2?", "attachment://q", [said], "3+3?", ["odd"], [{"role": "user"}]]
    samples = [sample(i, 1, "4", input=a, attachments={"q": "2+2?"}) for i, a in enumerate(asked)]
    samples.append(sample(9, 1, "4", input="2+2?", choices=["4", "5"]))
    hashes = read(document(tmp_path / "a.json", *samples)).extras["prompt_hash"].values()
    assert hashes[0] == hashes[1] == hashes[2]
    assert len({hashes[0], hashes[3], hashes[6]}) == 3
    assert hashes[4:6] == [None, None]


def test_more_choices_than_one_are_said(tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", sample(1, 1, "4"), plan={"config": {"num_choices": 3}})
    assert "each sample holds 3 choices; the first one is its draw." in read(path).notes


@pytest.mark.parametrize("method", [0, 8, 93])
def test_names_in_an_archive_mean_nothing(tmp_path: Path, method: int) -> None:
    named: list[tuple[str, object]] = [
        ("samples/a/b_epoch_9.json", sample("s/3", 1, "4")),
        ("samples/x_epoch_1.json", sample(7, 2, "5")),
        ("summaries.json", [1]),
        ("reductions.json", [{"scorer": "mean"}]),
        ("header.json", HEADER),
    ]
    table = read(archived(tmp_path / "a.eval", named, method))
    assert [r[:2] for r in rows(table)] == [("7", 2), ("s/3", 1)]


@pytest.mark.parametrize("method", [0, 8, 93])
def test_a_member_that_would_fill_the_memory_is_refused_by_name(
    tmp_path: Path, method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, bomb = sample(1, 1, "4"), sample(2, 1, "4" * 5_000)
    path = archived(tmp_path / "a.eval", parts_of(whole, bomb), method)
    length = len(json.dumps(bomb))
    monkeypatch.setattr(zipped, "LARGEST", length)
    assert [r[:2] for r in rows(read(path))] == [("1", 1), ("2", 1)]
    monkeypatch.setattr(zipped, "LARGEST", length - 1)
    with pytest.raises(InputError, match=r"samples/2_epoch_1\.json unpacks to more than"):
        read(path)


def test_a_run_without_a_header_is_read_from_its_journal(tmp_path: Path) -> None:
    path = archived(tmp_path / "a.eval", parts_of(sample(1, 1, "4"), header="summaries.json"))
    table = read(path)
    assert not table.completed
    assert table.protocols["none"].fields["model"] == "m"
    assert table.notes[:2] == (
        "run was started: not all of its samples may be here.",
        "the log was cut off; what is whole was read.",
    )


@pytest.mark.parametrize("method", [0, 8, 93])
def test_an_archive_that_lost_its_end_is_read_as_far_as_it_is_whole(
    tmp_path: Path, method: int
) -> None:
    samples = [sample(i, 1, f"text {i} " * 50) for i in range(6)]
    whole = archived(tmp_path / "a.eval", parts_of(*samples), method).read_bytes()
    start = Archive.open(tmp_path / "a.eval").members[4].offset
    path = tmp_path / "b.eval"
    path.write_bytes(whole[: start + 40])
    table = read_answers(path)
    assert [r[0] for r in rows(table)] == ["0", "1", "2"]
    assert not table.completed


def test_a_broken_member_is_left_out_and_counted(tmp_path: Path) -> None:
    path = archived(tmp_path / "a.eval", parts_of(sample(1, 1, "4"), sample(2, 1, "5")))
    members = Archive.open(path).members
    data = bytearray(path.read_bytes())
    data[members[2].offset - 3] ^= 0xFF
    path.write_bytes(data)
    table = read(path)
    assert [r[0] for r in rows(table)] == ["2"]
    assert "1 members of the archive are broken and were left out." in table.notes
    assert not table.completed


def test_a_member_that_cannot_be_unpacked_says_so(tmp_path: Path) -> None:
    path = archived(tmp_path / "a.eval", [("header.json", HEADER)], 14)
    with pytest.raises(InputError, match=r"zip method 14; methods 0, 8 and 93 are known"):
        read(path)
    with pytest.raises(InputError, match="is encrypted"):
        read(archived(path, [("header.json", HEADER)], flags=1))
    one = Archive.open(archived(path, [("header.json", HEADER)])).members[0]
    path.write_bytes(b"\x00" * 400)
    with pytest.raises(BrokenMemberError):
        Archive(path, (one,), whole=True).read(one)


def test_sizes_beyond_four_gigabytes_are_looked_up() -> None:
    extra = struct.pack("<HHI", 0x5455, 4, 0) + struct.pack("<HHQQ", 1, 16, 5, 6)
    assert zipped._long_size(extra) == 6
    assert zipped._long_size(b"") > 2**60


def test_an_archive_without_any_header_says_what_is_wanted(tmp_path: Path) -> None:
    path = archived(tmp_path / "a.eval", [("_journal/summaries/1.json", [])])
    with pytest.raises(InputError, match="without a header that can be read"):
        read_answers(path)


def test_a_json_log_that_was_cut_off_gives_its_whole_samples(tmp_path: Path) -> None:
    path = document(tmp_path / "a.json", sample(1, 1, "4"), sample(1, 2, "five"))
    text = path.read_text()
    path.write_text(text[: text.index("five")])
    table = read(path)
    assert [r[:2] for r in rows(table)] == [("1", 1)]
    assert not table.completed
    assert "the log was cut off; what is whole was read." in table.notes


def test_a_header_that_stands_behind_the_samples_is_found(tmp_path: Path) -> None:
    whole = {**HEADER, "samples": [sample(1, 1, "4")]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(whole, sort_keys=True, indent=1))
    assert read(path).protocols["none"].fields["temperature"] == 0.7


def test_a_sample_without_an_id_is_counted(tmp_path: Path) -> None:
    table = read(document(tmp_path / "a.json", sample(1, 1, "4"), {"epoch": 1}, sample(1, 0, "4")))
    assert table.log is not None
    assert table.log.dropped == {"sample without an id and an epoch": 2}


def test_bytes_that_are_no_utf8_are_counted(tmp_path: Path) -> None:
    bad = json.dumps(sample(1, 1, "caf?")).encode().replace(b"?", b"\xe9")
    path = archived(tmp_path / "a.eval", [*parts_of(), ("samples/1_epoch_1.json", bad)])
    table = read(path)
    assert rows(table)[0][4] == "caf\\xe9"
    assert any(n.startswith("1 bytes were no UTF-8") for n in table.notes)
    lines = document(tmp_path / "b.json", sample(1, 1, "caf?"))
    lines.write_bytes(lines.read_bytes().replace(b"?", b"\xe9"))
    assert rows(read(lines))[0][4] == "caf\\xe9"


def chunked(prefix: str, name: object, texts: Sequence[str]) -> list[tuple[str, object]]:
    shell = sample(name, 1, f"attachment://{len(texts) - 1}")
    cut = len(texts) // 2
    return [
        (f"{prefix}/sample.json", shell),
        (f"{prefix}/metadata.json", {"id": 99, "epoch": 1}),
        (f"{prefix}/messages/0.json", [{"id": 98, "epoch": 1}]),
        (f"{prefix}/attachments/0.json", list(texts[:cut])),
        (f"{prefix}/attachments/{cut}.json", list(texts[cut:])),
    ]


def test_samples_in_parts_are_read_from_their_shells(tmp_path: Path) -> None:
    listed = [*parts_of(sample("whole", 1, "4"))]
    listed += chunked("samples/big_epoch_1", "big", ["x", "y", "It is 4."])
    listed += chunked("samples/a/b_epoch_1", "a/b", ["z", "It is 5."])
    table = read(archived(tmp_path / "a.eval", listed))
    assert [(r[0], r[4]) for r in rows(table)] == [
        ("a/b", "It is 5."),
        ("big", "It is 4."),
        ("whole", "4"),
    ]


def test_retries_in_a_folder_are_one_run(tmp_path: Path) -> None:
    failed = sample(2, 1, "", error={"message": "x"})
    first, second = ({**HEADER["eval"], "eval_id": e, "created": e} for e in ("1", "2"))
    copied = sample(1, 1, "4")
    document(tmp_path / "z.json", copied, failed, eval=first, status="error")
    document(tmp_path / "a.json", copied, sample(2, 1, "5"), eval=second)
    table = read_answers(tmp_path)
    assert [r[:3] for r in rows(table)] == [("1", 1, "answered"), ("2", 1, "answered")]
    assert table.conditions == ("none",)
    assert table.log is not None
    assert table.log.dropped == {"exact repeat": 1, "another attempt": 1}
    assert table.completed
    assert not any("run was error" in note for note in table.notes)


def test_other_runs_in_a_folder_are_conditions(tmp_path: Path) -> None:
    for name, model in (("a", "one"), ("b", "two")):
        spec = {**HEADER["eval"], "task_id": name, "model": model}
        spec["config"] = {"epochs": 1 if name == "a" else 2}
        document(tmp_path / f"{name}.json", sample(1, 1, name), eval=spec)
    table = read_answers(tmp_path)
    assert table.conditions == ("one", "two")
    assert table.planned == {"one": 1, "two": 2}
    assert table.protocols["two"].fields["model"] == "two"
    assert table.log is not None
    assert table.log.planned is None
    assert "model" not in table.log.protocol
    spec = {**HEADER["eval"], "task_id": "c", "model": "two"}
    document(tmp_path / "c.json", sample(1, 1, "c"), eval=spec)
    assert read_answers(tmp_path).conditions == ("one a", "two b", "two c")


def test_one_sample_is_in_memory_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = document(tmp_path / "a.json", *(sample(i, 1, "x" * 5000) for i in range(300)))
    longest: list[int] = []
    more: Callable[..., bool] = streamed.JsonStream._more

    def watched(self: Any, size: int) -> bool:
        found = more(self, size)
        longest.append(len(self._text))
        return found

    monkeypatch.setattr(streamed.JsonStream, "_more", watched)
    assert len(read(path)) == 300
    assert max(longest) < path.stat().st_size / 5


def test_the_standard_library_reads_what_is_not_packed_by_zstd() -> None:
    with zipfile.ZipFile(LOGS / "tiny_gsm_deflate.eval") as whole:
        found = Archive.open(LOGS / "tiny_gsm_deflate.eval")
        assert [m.name for m in found.members] == whole.namelist()
        assert all(found.read(m) == whole.read(m.name) for m in found.members)
