import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import OUTCOMES, AnswerTable, read_answers
from trueness.table.logs.lm_eval import by_document, log_probabilities, read, with_observer

LOGS = Path(__file__).parents[1] / "data" / "logs" / "lmeval"
MOCK = next((LOGS / "mock").glob("samples_*.jsonl"))
GOLDEN = {
    v["name"].partition("/")[2]: v
    for v in json.loads(
        (Path(__file__).parents[1] / "golden" / "logs_inspect_lmeval.json").read_text("utf-8")
    )
    if "lmeval" in v["name"]
}
SAMPLING = {"do_sample": True, "temperature": 0.7, "until": ["\n"]}


def line(
    number: object, *texts: object, name: str | None = "strict", **more: Any
) -> dict[str, Any]:
    settings = more.pop("settings", SAMPLING)
    row: dict[str, Any] = {
        "doc_id": number,
        "doc": {"question": f"q{number}"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"q{number}", "arg_1": settings}},
        "resps": [list(texts)],
        "filtered_resps": ["4"],
    }
    return row | ({} if name is None else {"filter": name}) | more


def lines(path: Path, *rows: object, end: str = "\n") -> Path:
    path.write_text("\n".join(map(json.dumps, rows)) + end, encoding="utf-8")
    return path


def drawn(table: AnswerTable) -> list[tuple[object, ...]]:
    assert table.completion is not None
    columns = [table.item.values(), table.epoch.tolist(), table.completion.values()]
    return list(zip(*columns, strict=True))


def facts(table: AnswerTable) -> dict[str, object]:
    return dict(table.protocols["none"].fields)


@pytest.mark.parametrize("name", [n for n in GOLDEN if "error" not in GOLDEN[n]["expected"]])
def test_recorded_files_have_their_items_and_draws(name: str) -> None:
    expected = GOLDEN[name]["expected"]
    table = read_answers(LOGS.parent / GOLDEN[name]["input"]["file"].removeprefix("logs/"))
    assert len(table) == expected["draws"]
    items = table.item.values()
    if "items" in expected:
        assert {k: len(v) for k, v in expected["items"].items()} == {
            k: items.count(k) for k in set(items) if k
        }
    if "order" in expected:
        assert list(dict.fromkeys(items)) == expected["order"]


def test_three_filters_are_one_set_of_draws() -> None:
    table = read(MOCK)
    assert len(table) == 12
    assert table.log is not None
    assert table.log.n_read == 9
    assert table.log.dropped == {"line of another filter": 6}
    assert (table.log.n_items, table.log.planned) == (3, 4)
    assert drawn(table)[8:] == [
        ("2", 1, "#### -5"),
        ("2", 2, "#### −5"),
        ("2", 3, "It is -5."),
        ("2", 4, "**5**"),
    ]


def test_the_results_beside_it_tell_the_protocol() -> None:
    table = read(MOCK)
    found = facts(table)
    assert str(found.pop("template")).startswith("sha256:")
    assert found == {
        "model": "Mock",
        "task": "tiny_gsm_sc",
        "task_version": 1.0,
        "num_fewshot": 0,
        "temperature": 0.7,
        "do_sample": True,
        "stop": ["Question:"],
    }
    assert table.planned == {"none": 4}
    assert table.log is not None
    assert table.log.version == "0.4.13"
    assert table.log.unknown == ("revision", "top_p", "max_tokens", "seed")
    assert not table.log.warnings


def test_without_results_their_facts_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "other name.jsonl"
    path.write_bytes(MOCK.read_bytes())
    table = read(path)
    assert facts(table) == {"temperature": 0.7, "do_sample": True, "stop": ["Question:"]}
    assert table.planned == {}
    assert table.log is not None
    assert {"model", "template", "num_fewshot", "task", "task_version"} < set(table.log.unknown)
    assert drawn(table) == drawn(read(MOCK))


def test_hashes_are_made_where_an_older_file_has_none(tmp_path: Path) -> None:
    recorded = read(MOCK)
    rows = [json.loads(row) for row in MOCK.read_text("utf-8").splitlines()]
    bare = [{k: v for k, v in row.items() if not k.endswith("_hash")} for row in rows]
    made = read(lines(tmp_path / "a.jsonl", *bare))
    for name in ("doc_hash", "prompt_hash"):
        assert made.extras[name].values() == recorded.extras[name].values()


def test_older_files_have_flat_responses_and_lists_of_arguments() -> None:
    table = read(LOGS / "older_format.jsonl")
    assert drawn(table) == [
        ("0", 1, "[invalid]"),
        ("0", 2, ""),
        ("1", 1, "The answer is 4"),
        ("1", 2, "4.0"),
    ]
    prompt = hashlib.sha256(b"Question: 1+1?\nAnswer:").hexdigest()
    assert table.extras["prompt_hash"][0] == prompt


def test_filters_that_disagree_are_refused_by_document(tmp_path: Path) -> None:
    wanted = GOLDEN["lmeval_conflict"]["expected"]["error"]
    with pytest.raises(InputError, match=wanted):
        read_answers(LOGS / "conflicting_filters.jsonl")
    path = lines(tmp_path / "a.jsonl", line(7, "4", "5"), line(7, "5", "4"))
    with pytest.raises(InputError, match=r"doc 7 carries two different sets.*line 2"):
        read(path)


def test_an_appended_copy_is_dropped_and_counted(tmp_path: Path) -> None:
    rows = [line(0, "4", "5"), line(0, "4", "5", name="other")]
    table = read(lines(tmp_path / "a.jsonl", *rows, *rows))
    assert table.log is not None
    assert table.log.dropped == {"line of another filter": 2, "exact repeat": 1}
    assert len(table) == 2


@given(data=st.data())
def test_lines_in_any_order_and_any_files_give_the_same_rows(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts = st.sampled_from(["4", "5", "The answer is 4.", ""])
    docs = data.draw(st.lists(st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=6))
    rows = [line(i, *d, name=f) for f in ("a", "b") for i, d in enumerate(docs)]
    shuffled = data.draw(st.permutations(rows))
    at = data.draw(st.integers(1, max(len(rows) - 1, 1)))
    folder = tmp_path_factory.mktemp("shards")
    whole = read(lines(folder / "whole.jsonl", *rows))
    parts = folder / "parts"
    parts.mkdir()
    lines(parts / "one.jsonl", *shuffled[:at])
    if shuffled[at:]:
        lines(parts / "two.jsonl", *shuffled[at:])
    shards = read_answers(parts)
    assert drawn(shards) == drawn(whole)
    assert shards.conditions == whole.conditions
    assert shards.protocols == whole.protocols
    assert shards.log is not None
    assert whole.log is not None
    assert shards.log.n_draws == whole.log.n_draws
    assert sum(shards.log.dropped.values()) == sum(whole.log.dropped.values()) == len(docs)


GREEDY = "repeats drawn without sampling: one effective draw an item."
CACHE = (
    "a temperature was set without do_sample: repeats may have been served from the cache of "
    "requests."
)
UNKNOWN = "sampling was asked for without a temperature: which one was used is unknown."


@pytest.mark.parametrize(
    ("settings", "cache", "independent", "said"),
    [
        ({"do_sample": False, "temperature": 0.7}, None, False, GREEDY),
        ({"do_sample": True, "temperature": 0.0}, None, False, GREEDY),
        ({"do_sample": True, "temperature": "0.0"}, None, False, GREEDY),
        ({"until": ["\n"]}, None, False, GREEDY),
        ({}, "a.db", False, GREEDY),
        ({"temperature": 0.7}, "a.db", False, GREEDY),
        ({"temperature": 0.7}, None, True, CACHE),
        ({"temperature": 0.7}, "", True, None),
        ({"do_sample": True, "temperature": 0.7}, "a.db", True, None),
        ({"do_sample": True}, None, True, UNKNOWN),
    ],
)
def test_repeats_that_cannot_differ_are_one_draw(
    tmp_path: Path,
    settings: dict[str, Any],
    cache: str | None,
    independent: bool,  # noqa: FBT001 - of a case
    said: str | None,
) -> None:
    time = "2026-01-01T00-00-00.0"
    path = tmp_path / f"samples_t_{time}.jsonl"
    lines(path, line(0, "4", "5", settings=settings))
    if cache is not None:
        results = {"configs": {"t": {}}, "config": {"use_cache": cache or None}}
        (tmp_path / f"results_{time}.json").write_text(json.dumps(results))
    table = read(path)
    assert facts(table).get("independent_draws", True) is independent
    assert table.notes == (() if said is None else (said,))


def test_one_greedy_draw_raises_no_warning(tmp_path: Path) -> None:
    table = read(lines(tmp_path / "a.jsonl", line(0, "4", settings={"do_sample": False})))
    assert facts(table)["independent_draws"] is False
    assert not table.notes


def test_settings_that_differ_are_no_facts(tmp_path: Path) -> None:
    one, two = ({**SAMPLING, "temperature": t} for t in (0.7, 1.0))
    rows = [line(0, "4", settings=one), line(1, "4", settings=two)]
    table = read(lines(tmp_path / "a.jsonl", *rows))
    assert "temperature" not in facts(table)
    assert facts(table)["do_sample"] is True
    assert "requests have 2 different settings; only shared ones are facts." in table.notes


@pytest.mark.parametrize(
    "resps",
    [
        [[["-1.5", "False"]], [["-0.5", "True"]]],
        [[[-1.5, False]], [[-0.5, True]]],
        [[-1.5, False], [-0.5, True]],
    ],
)
def test_scored_choices_are_no_cloud_and_keep_their_log_probabilities(
    tmp_path: Path, resps: list[Any]
) -> None:
    arguments = {f"gen_args_{i}": {"arg_0": "q", "arg_1": f" {i}"} for i in range(2)}
    rows = [line(i, resps=resps, arguments=arguments) for i in range(2)]
    path = lines(tmp_path / "a.jsonl", *rows)
    with pytest.raises(InputError, match=r"multiple_choice\): no text was sampled"):
        read_answers(path)
    assert log_probabilities(path) == {"0": (-1.5, -0.5), "1": (-1.5, -0.5)}
    sampled = lines(tmp_path / "c.jsonl", line(0, "four", "five"), line(7, "six"))
    beside = with_observer(read(sampled), log_probabilities(path))
    assert beside.observer is not None
    assert beside.observer.values() == [(-1.5, -0.5), (-1.5, -0.5), None]
    endless = line(9, resps=[[["-inf", "False"]], [["-0.5", "True"]]], arguments=arguments)
    assert set(log_probabilities(lines(tmp_path / "d.jsonl", *rows, endless))) == {"0", "1"}
    with pytest.raises(InputError, match="line 1 holds no log-probabilities"):
        log_probabilities(lines(tmp_path / "b.jsonl", line(0, "four")))


def test_scored_choices_are_told_by_their_shape_where_arguments_are_absent(tmp_path: Path) -> None:
    row = line(0, resps=[[["-1.5", "False"]], [["-0.5", "True"]]])
    del row["arguments"]
    with pytest.raises(InputError, match="no text was sampled"):
        read(lines(tmp_path / "a.jsonl", row))


def test_perplexities_are_no_texts(tmp_path: Path) -> None:
    row = line(0, "-123.4", arguments={"gen_args_0": {"arg_0": "a whole text"}})
    with pytest.raises(InputError, match="no text was sampled"):
        read(lines(tmp_path / "a.jsonl", row))


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"doc_id": 0, "filtered_resps": ["4"]}, "it has no doc_id or no resps"),
        (line(0, resps={"0": "4"}), r'resps is {"0": "4"}'),
        (line(0, resps=[]), r"resps is \[\]"),
        (line(0, resps=[[]]), r"resps is \[\[\]\]"),
        (line(0, resps=[[1, 2]]), r"resps is \[\[1, 2\]\]"),
        (line(0, resps=[["x" * 100, 2]]), "…"),
    ],
)
def test_a_form_that_is_not_known_says_so(tmp_path: Path, row: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=rf"line 1.*form that is known: .*{what}.*newer than"):
        read_answers(lines(tmp_path / "a.jsonl", row))


def test_several_prompts_of_one_document_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1, doc 0 holds 2 requests"):
        read(lines(tmp_path / "a.jsonl", line(0, resps=[["a"], ["b"]])))


def test_golds_that_were_written_as_a_list_are_a_list_again(tmp_path: Path) -> None:
    targets = ["['Paris', \"L'Aquila\"]", "[1, 2]", "[unclosed", "", "4", ["a", "b"], None, 7]
    rows = [line(i, "x", target=target) for i, target in enumerate(targets)]
    table = read(lines(tmp_path / "a.jsonl", *rows))
    assert table.target is not None
    assert table.target.values() == [
        ("Paris", "L'Aquila"),
        ("[1, 2]",),
        ("[unclosed",),
        None,
        ("4",),
        ("a", "b"),
        None,
        ("7",),
    ]


def test_what_the_tool_made_of_all_repeats_is_about_none_of_them(tmp_path: Path) -> None:
    rows = [
        line(0, "a", "b", filtered_resps=["4"], metrics=["exact_match"], exact_match=1.0),
        line(1, "a", filtered_resps=["4"], metrics=["f1"], f1=0.5),
        line(2, "a", "b", filtered_resps=[["4", "5"]], exact_match=0.0),
    ]
    table = read(lines(tmp_path / "a.jsonl", *rows))
    extras = {name: column.values() for name, column in table.extras.items()}
    assert extras["tool_answer"] == [None, None, "4", "4", "5"]
    assert extras["tool_item_answer"] == ["4", "4", None, None, None]
    assert extras["tool_score"] == [None, None, "0.5", None, None]
    assert extras["tool_item_score"] == ["1.0", "1.0", None, "0.0", "0.0"]


def test_missing_responses_are_missing_and_their_text_is_doubted(tmp_path: Path) -> None:
    table = read(lines(tmp_path / "a.jsonl", line(0, None, "None", "4")))
    assert [OUTCOMES[o].value for o in table.outcome] == ["error", "answered", "answered"]
    assert "1 responses are the text 'None', which the tool also writes for a missing one." in (
        table.notes
    )


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", line(0, "4"), line(1, "5"), end="")
    path.write_bytes(path.read_bytes()[:-30])
    table = read(path)
    assert (len(table), table.completed) == (1, False)
    assert "The last line was cut off and is left out." in table.notes


def test_constants_and_bytes_that_are_no_json_are_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", line(0, "caf?", exact_match=float("nan")))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"caf?", b"caf\xe9"))
    table = read_answers(path)
    assert drawn(table) == [("0", 1, "caf\\xe9")]
    assert "1 bytes were no UTF-8 and stand in the texts as \\xNN." in table.notes


def test_numbers_of_documents_are_sorted_as_numbers(tmp_path: Path) -> None:
    rows = [line(i, "4") for i in (10, 9, 100, 1)]
    table = read(lines(tmp_path / "a.jsonl", *rows))
    assert table.item.values() == ["1", "9", "10", "100"]


def test_documents_that_are_not_here_are_counted(tmp_path: Path) -> None:
    time = "2026-01-01T00-00-00.0"
    results = {"configs": {"t": {"repeats": 2}}, "n-samples": {"t": {"effective": 3}}}
    (tmp_path / f"results_{time}.json").write_text(json.dumps(results))
    table = read(lines(tmp_path / f"samples_t_{time}.jsonl", line(0, "4", "5"), line(1, "4")))
    assert table.planned == {"none": 2}
    assert table.notes == (
        "2 of the 3 documents of the run are here.",
        "1 of 2 items have fewer than the 2 draws planned.",
    )


def test_tasks_and_runs_of_a_folder_are_conditions(tmp_path: Path) -> None:
    for task, time in (("a", "2026-01-01T00-00-00.0"), ("b", "2026-01-01T00-00-00.0")):
        results = {"configs": {"a": {}, "b": {}}, "model_name": "m", "versions": {"a": 1, "b": 2}}
        (tmp_path / f"results_{time}.json").write_text(json.dumps(results))
        lines(tmp_path / f"samples_{task}_{time}.jsonl", line(0, task))
    table = read_answers(tmp_path)
    assert table.conditions == ("a", "b")
    assert [table.protocols[c].fields["task_version"] for c in table.conditions] == [1, 2]
    assert table.log is not None
    assert "task" not in table.log.protocol
    assert table.log.protocol["model"] == "m"


def test_a_task_of_scored_choices_beside_a_sampled_one_is_left_out(tmp_path: Path) -> None:
    choice = line(0, resps=[[["-1.5", "False"]]], arguments=[["q", " a"]])
    lines(tmp_path / "samples_a_2026-01-01T00-00-00.0.jsonl", choice)
    lines(tmp_path / "samples_b_2026-01-01T00-00-00.0.jsonl", line(0, "4"))
    table = read_answers(tmp_path)
    assert len(table) == 1
    assert any("hold no sampled text and are left out" in note for note in table.notes)


def test_model_revision_and_template_come_from_the_results(tmp_path: Path) -> None:
    time = "2026-01-01T00-00-00.0"
    path = lines(tmp_path / f"samples_t_{time}.jsonl", line(0, "4"))

    def protocol(shots: str, **config: object) -> dict[str, object]:
        mine = {"doc_to_text": f"<function f at {shots}>", "num_fewshot": 5}
        results = {"configs": {"t": mine}, "config": {"model": "hf", **config}}
        (tmp_path / f"results_{time}.json").write_text(json.dumps(results))
        return facts(read(path))

    first = protocol("0x7f01", model_args="pretrained=p,revision=abc")
    assert (first["model"], first["revision"], first["num_fewshot"]) == ("hf", "abc", 5)
    assert protocol("0x7f02", model_args={"revision": "abc"}) == first
    assert protocol("0x7f02", model_sha="d0")["revision"] == "d0"
    assert protocol("other")["template"] != first["template"]


def test_runs_with_other_positions_pair_on_their_documents(tmp_path: Path) -> None:
    one = read(lines(tmp_path / "a.jsonl", line(0, "4"), line(1, "5")))
    rows = [line(0, "five", doc={"question": "q1"}), line(1, "four", doc={"question": "q0"})]
    two = read(lines(tmp_path / "b.jsonl", *rows))
    before, after = by_document(one), by_document(two)
    assert set(before.item.values()) == set(after.item.values())
    assert before.item[0] == after.item[1]
    again = [line(i, "4", doc={"question": "same"}) for i in range(2)]
    twice = by_document(read(lines(tmp_path / "c.jsonl", *again)))
    assert twice.item[1] == f"{twice.item[0]}#2"
    with pytest.raises(InputError, match="rows without a doc_hash"):
        by_document(read_answers([{"item": "x", "completion": "4"}]))
