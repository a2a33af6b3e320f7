"""Certifying from the command line, as the issue and its acceptance list ask for it."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from trueness import api
from trueness.contract import Reading

COMMAND = [sys.executable, "-m", "trueness", "certify"]
COUNTRIES = [f"Country {i}" for i in range(20)]
DETAILS = (
    *("n_entities", "n_answered", "n_no_answer", "n_error", "n_orbits", "largest_orbit"),
    *("certified_errors", "error_floor", "not_right_floor", "certificate_kind", "n_withheld"),
    *("precision_floor", "recall_floor", "break_even_slack", "n_echo", "n_filler"),
)


def run(cwd: Path, *argv: str, code: int = 0) -> tuple[str, str]:
    """What the command prints; it ends with this code and never with a traceback."""
    done = subprocess.run(
        [*COMMAND, *argv], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def fails(cwd: Path, *argv: str, code: int = 2) -> str:
    """The one line on stderr of a command that cannot go on; nothing is printed."""
    out, err = run(cwd, *argv, code=code)
    assert not out
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    return err


def strict(text: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def loaded(cwd: Path, *argv: str, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = strict(run(cwd, *argv, "--json", code=code)[0])
    assert Reading.from_dict(found).to_dict() == found
    missing = [name for name in DETAILS if name not in found["details"]]
    assert not missing
    assert all(
        v is None or isinstance(v, (int, float, str))
        for v in (found["details"][name] for name in DETAILS)
    )
    return found


def table(
    path: Path, rows: Iterable[Sequence[str]], head: Sequence[str] = ("entity", "answer")
) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path


@pytest.fixture
def constant(tmp_path: Path) -> Path:
    """A folder with twenty equal answers."""
    table(tmp_path / "constant.csv", [(c, "Paris") for c in COUNTRIES])
    return tmp_path


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A folder with twenty answers that repeat the question."""
    table(tmp_path / "echo.csv", [(c, c) for c in COUNTRIES])
    return tmp_path


def test_twenty_equal_answers_have_at_least_nineteen_wrong(constant: Path) -> None:
    out, _ = run(constant, "constant.csv", "--relation", "injective")
    assert out.startswith("At least 19 of these 20 answers are wrong. No key was consulted.")
    for words in ("20 of 20 answers", "19 (95.0%)", "proved precision", "100.0%", "proved recall"):
        assert words in out
    d = loaded(constant, "constant.csv", "--relation", "injective")["details"]
    assert (d["certified_errors"], d["n_withheld"], d["break_even_slack"]) == (19, 20, 19)
    assert (d["precision_floor"], d["recall_floor"], d["error_floor"]) == (19 / 20, 1, 19 / 20)


def test_more_than_the_largest_floor_is_a_failed_assertion(constant: Path) -> None:
    argv = ("constant.csv", "--relation", "injective", "--max-error-floor")
    out, err = run(constant, *argv, "0.1", code=1)
    assert "At least 19" in out
    assert "more than 0.1" in err
    run(constant, *argv, "0.95")
    fails(constant, *argv, "nan")
    fails(constant, *argv, "1.5")


def test_a_capacity_for_the_answer_silences_and_is_no_pass(constant: Path) -> None:
    table(constant / "limits.csv", [("Paris", "20")], ("answer", "limit"))
    (constant / "limits.json").write_text('{"Paris": 20}')
    for file in ("limits.csv", "limits.json"):
        argv = ("constant.csv", "--relation", "injective", "--capacities", file)
        out, _ = run(constant, *argv)
        assert "not a pass" in out
        assert "that is not evidence that they are right" in " ".join(out.split())
        found = loaded(constant, *argv)
        assert (found["state"], found["value"]) == ("SILENT", None)


def test_an_echo_is_twenty_errors_once_no_entity_is_its_own_answer(echo: Path) -> None:
    argv = ("echo.csv", "--relation", "injective")
    out, _ = run(echo, *argv, "--identity", "never")
    assert out.startswith("At least 20 of these 20 answers are wrong.")
    assert "pairwise different" not in out.partition("Assumptions")[0]
    d = loaded(echo, *argv, "--identity", "never")["details"]
    assert d["breakdown"]["echo"] == d["n_echo"] == d["certified_errors"] == 20


def test_an_echo_is_silent_otherwise_with_its_share_and_the_hint(echo: Path) -> None:
    for argv in (("echo.csv",), ("echo.csv", "--relation", "injective")):
        out, _ = run(echo, *argv)
        text = " ".join(out.split())
        assert "20 answers repeat the name of their own entity" in text
        assert "declare identity never" in text
        found = loaded(echo, *argv)
        assert (found["state"], found["details"]["n_echo"]) == ("SILENT", 20)


def test_a_first_time_user_is_told_what_to_declare_and_why(constant: Path) -> None:
    out, _ = run(constant, "constant.csv")
    text = " ".join(out.split())
    assert "Nothing was declared, and one answer for each entity contradicts nothing." in text
    for word in ("injective", "capacities", "admissible"):
        assert word in text
    assert loaded(constant, "constant.csv")["state"] == "SILENT"


def test_five_templates_prove_at_least_what_each_proves_alone(tmp_path: Path) -> None:
    said = ("abcba", "aabbc", "bacca", "cabab", "ddeed", "edade", "bebcc", "aaaab")
    rows = [(f"C{i}", f"t{t}", a) for i, row in enumerate(said) for t, a in enumerate(row)]
    table(tmp_path / "five.csv", rows, ("entity", "template", "answer"))
    argv = ("five.csv", "--relation", "injective")
    d = loaded(tmp_path, *argv)["details"]
    alone = 0
    for t in range(5):
        one = [(e, a) for e, which, a in rows if which == f"t{t}"]
        table(tmp_path / "one.csv", one)
        alone += loaded(tmp_path, "one.csv", *argv[1:])["details"]["certified_errors"]
    assert d["n_columns"] == 5
    assert d["sum_of_single_column_floors"] == alone <= d["certified_errors"]
    relaxed = loaded(tmp_path, *argv, "--kind", "relaxation")["details"]
    assert relaxed["certificate_kind"] in {"relaxation", "exact"}
    assert relaxed["certified_errors"] <= d["certified_errors"]
    assert d["certificate_kind"] == "exact"
    assert recounted(loaded(tmp_path, *argv)) == d["certified_errors"]


def recounted(reading: dict[str, Any]) -> int:
    """Answers that the printed witness truth makes wrong."""
    (witness,) = [b for b in reading["blocks"] if b.get("title", "").startswith("A truth with")]
    right = {row[0]: row[2] for row in witness["rows"]}
    items = [i["extra"] for i in reading["per_item"]]
    return sum(i["answer"] != right[i["entity"]] for i in items if i["answer"] is not None)


def test_several_conditions_are_an_object_from_condition_to_reading(tmp_path: Path) -> None:
    rows = [(c, m, a) for i, c in enumerate("abc") for m, a in (("calm", f"x{i}"), ("mad", "y"))]
    table(tmp_path / "t.csv", rows, ("entity", "condition", "answer"))
    argv = ("t.csv", "--relation", "injective")
    found = strict(run(tmp_path, *argv, "--json")[0])
    assert {name: r["state"] for name, r in found.items()} == {"calm": "SILENT", "mad": "MEASURED"}
    wanted = api.certify_each(tmp_path / "t.csv", relation="injective")
    assert found == {name: r.to_dict() for name, r in wanted.items()}
    run(tmp_path, *argv, "--max-error-floor", "0.5", code=1)


def test_the_same_names_are_keywords_in_python(constant: Path) -> None:
    (constant / "filler.txt").write_text("the\na\n")
    (constant / "list.txt").write_text("Paris\nLima\n" + "\n".join(COUNTRIES))
    (constant / "candidates.json").write_text(json.dumps({"Country 1": ["Lima", "Oslo"]}))
    given: dict[str, Any] = {"relation": "injective", "slack": 2, "identity": "never"}
    argv = ["--relation", "injective", "--slack", "2", "--identity", "never"]
    argv += ["--filler", "filler.txt", "--admissible", "list.txt", "--kind", "exact"]
    argv += ["--candidates", "candidates.json", "--entity", "entity", "--answer", "answer"]
    found = loaded(constant, "constant.csv", *argv)
    wanted = api.certify(
        constant / "constant.csv",
        entity="entity",
        answer="answer",
        filler=["the", "a"],
        admissible=["Paris", "Lima", *COUNTRIES],
        candidates={"Country 1": ["Lima", "Oslo"]},
        kind="exact",
        **given,
    )
    assert found == wanted.to_dict()
    assert found["details"]["certified_errors"] == 17


def test_a_page_and_the_kept_rows_are_written(tmp_path: Path) -> None:
    rows = [("a", "x"), ("b", "x"), ("c", "y, z"), ("d", ""), ("e", "w")]
    table(tmp_path / "t.csv", rows)
    files = ("page.html", "kept.csv", "r.json", "r.md", "items.jsonl", "r.junit.xml", "k.parquet")
    argv = [word for file in files for word in ("-o", f"new/{file}")]
    _, err = run(tmp_path, "t.csv", "--relation", "injective", *argv)
    new = tmp_path / "new"
    assert all((new / file).stat().st_size for file in files)
    assert "<html" in (new / "page.html").read_text("utf-8")
    with (new / "kept.csv").open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    assert [(row["entity"], row["completion"]) for row in kept] == [("c", "y, z"), ("e", "w")]
    assert "2 of 5 rows are not withheld" in err
    assert strict((new / "r.json").read_text("utf-8"))["details"]["certified_errors"] == 1
    again = loaded(tmp_path, "new/kept.csv", "--relation", "injective")
    assert again["state"] == "SILENT"


def test_kept_rows_are_counted_of_the_conditions_that_were_looked_at(tmp_path: Path) -> None:
    text = "entity,condition,answer\n" + "".join(
        f"{entity},{condition},{answer}\n"
        for condition in ("none", "prose")
        for entity, answer in (("a", "x"), ("b", "x"), ("c", "z"))
    )
    (tmp_path / "t.csv").write_text(text, "utf-8")
    argv = ("t.csv", "--relation", "injective", "--only", "none", "--kept", "kept.csv")
    assert "1 of 3 rows are not withheld" in run(tmp_path, *argv)[1]


def test_targets_stand_beside_the_bound_that_does_not_read_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("entity,answer,target\na,x,x\nb,x,y\n", "utf-8")
    out, _ = run(tmp_path, "t.csv", "--relation", "injective", "--full")
    assert "No key was consulted for this bound." in out
    assert "wrong by the targets" in out
    assert "by the key" not in out


def test_kept_rows_keep_the_columns_that_play_no_part(tmp_path: Path) -> None:
    text = "entity,answer,price,question\na,x,1,Q a\nb,x,2,Q b\nc,z,3,Q c\n"
    (tmp_path / "t.csv").write_text(text, "utf-8")
    run(tmp_path, "t.csv", "--relation", "injective", "--kept", "kept.csv", "-o", "k.parquet")
    with (tmp_path / "kept.csv").open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    assert [(row["entity"], row["price"], row["question"]) for row in kept] == [("c", "3", "Q c")]
    again = loaded(tmp_path, "k.parquet", "--relation", "injective")
    assert again["details"]["n_answered"] == 1


def test_rows_that_all_go_leave_a_file_that_says_so_and_can_be_told(constant: Path) -> None:
    run(constant, "constant.csv", "--relation", "injective", "-o", "kept.csv")
    head = (constant / "kept.csv").read_text("utf-8").split()
    assert len(head) == 1
    assert {"entity", "answer", "completion"} <= set(head[0].split(","))
    assert "no rows" in fails(constant, "kept.csv", "--relation", "injective")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("C\u00f4te", "Co\u0302te"), ("entities 0 and 1", "(U+00F4)", "(U+006F U+0302)")),
        (("Peru", "Peru "), ("entities 0 and 1", "'Peru '", "(U+0020)")),
        (("Peru", "Pe\u200bru"), ("entities 0 and 1", "(U+200B)")),
        (("Peru", "\u200b"), ("blank", "row 2")),
        (("Peru", " "), ("blank", "row 2")),
    ],
)
def test_twins_trailing_spaces_and_zero_width_names_are_told_apart(
    names: tuple[str, str], words: tuple[str, ...], tmp_path: Path
) -> None:
    table(tmp_path / "t.csv", [(names[0], "x"), (names[1], "y")])
    err = fails(tmp_path, "t.csv", "--relation", "injective")
    assert all(word in err for word in words)


def test_unequal_case_is_two_entities(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", [("turkey", "x"), ("Turkey", "y")])
    assert loaded(tmp_path, "t.csv", "--relation", "injective")["details"]["n_entities"] == 2


def test_more_listed_answers_than_entities_never_call_right_answers_wrong(tmp_path: Path) -> None:
    rows = [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2")]
    table(tmp_path / "golds.csv", [(e, a, a) for e, a in rows], ("entity", "answer", "target"))
    (tmp_path / "list.txt").write_text("1\n2\n3\n4\n5\n6\n")
    argv = ("golds.csv", "--admissible", "list.txt")
    found = loaded(tmp_path, *argv, code=5)
    assert found["state"] == "NOT_APPLICABLE"
    assert "the certificate says at least 2 and the key says 0" in found["reason"]
    assert found["flagged"]["items"] == []
    out, _ = run(tmp_path, *argv, code=5)
    assert "declared assumption is false" in " ".join(out.split())
    table(tmp_path / "limits.csv", [("1", "2"), ("2", "2")], ("answer", "limit"))
    found = loaded(tmp_path, "golds.csv", "--capacities", "limits.csv", "--relation", "injective")
    assert found["state"] == "SILENT"


def test_a_list_without_golds_prints_what_it_assumes(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2")])
    (tmp_path / "list.txt").write_text("1\n2\n3\n4\n5\n6\n")
    out, _ = run(tmp_path, "t.csv", "--admissible", "list.txt")
    text = " ".join(out.split())
    assert "At least 2 of these 4" in text
    assert "each of them belongs to at most one of these entities" in text


def test_golds_that_collide_in_the_encoding_are_named(tmp_path: Path) -> None:
    rows = [("a", "Lima", "Lima"), ("b", "lima.", "LIMA"), ("c", "Oslo", "Oslo")]
    table(tmp_path / "t.csv", rows, ("entity", "answer", "target"))
    found = loaded(tmp_path, "t.csv", "--relation", "injective", code=5)
    assert found["state"] == "NOT_APPLICABLE"
    assert "'lima' is right for 2" in found["reason"]


def test_listed_answers_of_one_key_keep_their_places_with_a_note(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", [("a", "lima"), ("b", "LIMA"), ("c", "oslo")])
    (tmp_path / "list.txt").write_text("Lima\nLIMA\nOslo\n")
    out, _ = run(tmp_path, "t.csv", "--admissible", "list.txt")
    assert "Silent" in out
    assert "Notes" in out


@pytest.mark.parametrize(
    ("rows", "state", "code"),
    [
        ([("Peru", "Lima")], "SILENT", 0),
        ([(c, "") for c in "abc"], "NO_EVIDENCE", 5),
        ([(c, "I cannot answer that.") for c in "abc"], "NO_EVIDENCE", 5),
    ],
)
def test_one_entity_and_no_answers_have_every_detail(
    rows: list[tuple[str, str]], state: str, code: int, tmp_path: Path
) -> None:
    table(tmp_path / "t.csv", rows)
    found = loaded(tmp_path, "t.csv", "--relation", "injective", code=code)
    assert found["state"] == state
    assert found["value"] is None
    assert found["details"]["certified_errors"] == 0


def test_a_short_list_is_a_finding_with_every_detail(constant: Path) -> None:
    (constant / "list.txt").write_text("Paris\n")
    found = loaded(constant, "constant.csv", "--admissible", "list.txt", code=5)
    assert found["state"] == "NOT_APPLICABLE"
    assert found["details"]["certified_errors"] is None


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty.csv": (b"", "is empty"),
    "head.csv": (b"entity,answer\n", "no rows"),
    "binary.csv": (bytes(range(256)) * 20, "is a binary file"),
    "packed.csv": (gzip.compress(b"entity,answer\na,x\n", mtime=0), "gunzip"),
    "packed.csv.gz": (gzip.compress(b"entity,answer\na,x\n", mtime=0), "gunzip"),
    "cut.csv": (b'entity,answer\na,x\nb,"y z', "line 3"),
    "cut.json": (b'[{"entity":"a","answer":"x"},{"entity":"b","answ', "cut off"),
    "cut.parquet": (b"PAR1 and no more", "no whole Parquet file"),
    "middle.jsonl": (b'{"entity":"a","answer":"x"}\n{"entity\n{"entity":"b"}\n', "line 2"),
    "nan.jsonl": (b'{"entity":"a","answer":NaN}\n', "row 1 has nan of type float"),
    "bool.jsonl": (b'{"entity":"a","answer":true}\n', "row 1 has True of type bool"),
    "object.jsonl": (b'{"entity":"a","answer":{"b":1}}\n', "row 1"),
    "columns.csv": (b"country,reply\na,x\n", "--"),
    "twice.csv": (b"entity,answer\na,x\na,y\n", "rows 1 and 2 both answer for 'a'"),
    "nobody.csv": (b"entity,answer\n,x\nb,y\n", "row 1"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_cannot_be_read_is_one_clear_line(name: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    assert words in fails(tmp_path, name, "--relation", "injective")


def test_a_last_line_that_was_cut_off_is_left_out_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"entity":"a","answer":"x"}\n{"entity":"b","answ')
    out, _ = run(tmp_path, "t.jsonl", "--relation", "injective")
    assert "The last line was cut off and is left out." in out


def test_the_same_row_twice_is_one_answer(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", [("a", "x"), ("a", "x"), ("b", "x")])
    d = loaded(tmp_path, "t.csv", "--relation", "injective")["details"]
    assert (d["n_answered"], d["n_repeats"], d["certified_errors"]) == (2, 1, 1)


BAD_WORDS: dict[str, tuple[list[str], str]] = {
    "no such file": (["nowhere.csv"], "does not exist"),
    "a folder": (["."], "is a folder"),
    "no such entity column": (["constant.csv", "--entity", "nope"], "'entity', 'answer'"),
    "no such answer column": (["constant.csv", "--answer", "nope"], "'entity', 'answer'"),
    "relation": (["constant.csv", "--relation", "bijective"], "choose one of"),
    "kind": (["constant.csv", "--kind", "guess"], "exact"),
    "slack": (["constant.csv", "--slack", "-1"], "--slack"),
    "huge slack": (["constant.csv", "--slack", str(10**30)], "at most"),
    "identity": (["constant.csv", "--identity", "allow"], "no entity of the table"),
    "missing list": (["constant.csv", "--admissible", "no.txt"], "does not exist"),
    "empty list": (["constant.csv", "--admissible", "empty.txt"], "is empty"),
    "limit": (["constant.csv", "--capacities", "minus.csv"], "-3"),
    "word for a limit": (["constant.csv", "--capacities", "many.csv"], "whole number"),
    "huge limit": (["constant.csv", "--capacities", "huge.csv"], "whole number"),
    "candidates as a list": (["constant.csv", "--candidates", "list.txt"], "from each entity"),
    "strangers": (["constant.csv", "--candidates", "strangers.csv"], "no such entity"),
    "filler and limit": (
        ["constant.csv", "--capacities", "one.csv", "--filler", "list.txt"],
        "among the fillers",
    ),
    "slack of an order": (["constant.csv", "--relation", "increasing", "--slack", "1"], "slack"),
    "metric": (["constant.csv", "--relation", "metric"], "separation"),
    "suffix": (["constant.csv", "-o", "x.docx"], "known are"),
    "folder": (["constant.csv", "-o", "/proc/none/x.html"], "/proc/none"),
    "only": (["constant.csv", "--only", "nobody"], "no condition"),
}


@pytest.mark.parametrize("case", BAD_WORDS)
def test_words_that_mean_nothing_are_one_clear_line(case: str, constant: Path) -> None:
    (constant / "list.txt").write_text("Paris\n")
    (constant / "empty.txt").write_text("")
    for name, limit in (("minus", "-3"), ("many", "many"), ("huge", str(10**30)), ("one", "1")):
        table(constant / f"{name}.csv", [("Paris", limit)], ("answer", "limit"))
    table(constant / "strangers.csv", [("Nowhere", "Paris")], ("entity", "candidate"))
    argv, words = BAD_WORDS[case]
    assert words in fails(constant, *argv)


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_full_disk_is_one_line(constant: Path, more: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "constant.csv", "--relation", "injective", *more],
            cwd=constant, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert "no space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_that_is_none_is_one_line(constant: Path) -> None:
    argv = ("constant.csv", "--relation", "injective", "-o")
    for file in ("constant.csv/page.html", "constant.csv/kept.csv", "/proc/none/kept.csv"):
        assert file.rpartition("/")[0] in fails(constant, *argv, file)


def test_an_interrupted_command_ends_with_its_own_code(tmp_path: Path, constant: Path) -> None:
    pipe = tmp_path / "answers.txt"
    os.mkfifo(pipe)
    child = subprocess.Popen(
        [*COMMAND, "constant.csv", "--admissible", str(pipe)],
        cwd=constant, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with child:
        writing = opened_once_it_is_read(pipe)
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        try:
            _, err = child.communicate(timeout=60)
        finally:
            child.kill()
            os.close(writing)
    assert child.returncode == 130
    assert err.strip() == "Interrupted."


def opened_once_it_is_read(pipe: Path, seconds: float = 60.0) -> int:
    """The pipe open for writing, as soon as the command reads from it; never waits for ever."""
    end = time.monotonic() + seconds
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < end, "nobody reads from the pipe"
            time.sleep(0.05)


@pytest.mark.slow
def test_a_million_equal_answers_are_certified_and_the_output_stays_short(tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("w") as file:
        file.write("entity,answer\n")
        file.writelines(f"E{i},same\n" for i in range(1_000_000))
    out, _ = run(tmp_path, "t.csv", "--relation", "injective")
    assert "At least 999,999 of these 1,000,000 answers are wrong." in out
    assert len(out) < 6_000
    printed, _ = run(tmp_path, "t.csv", "--relation", "injective", "--json")
    assert strict(printed)["details"]["certified_errors"] == 999_999
    assert len(printed) < 1_000_000
