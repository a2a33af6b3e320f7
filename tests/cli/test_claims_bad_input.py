"""Hard and hostile claims through the command line: a state, a number, or one clear line."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from trueness.api import means
from trueness.api.grounding import ground
from trueness.backends.embedders import CallableEmbedder
from trueness.cli import main
from trueness.contract import State
from trueness.contract.errors import BackendError

LIMIT = 40
CLAIM, EVIDENCE = "Ann won the cup.", ["Ann won a cup.", "Bob lost."]


def letters(texts: Sequence[str]) -> list[list[float]]:
    """Counts of what stands in a text, by code point: any script has its own numbers."""
    found: list[list[float]] = []
    for text in texts:
        row = [0.0] * 61 + [len(text), text.count(" "), 1.0]
        for letter in text.lower():
            row[ord(letter) * 7 % 61] += 1.0
        found.append(row)
    return found


def zeros(texts: Sequence[str]) -> list[list[float]]:
    return [[0.0, 0.0, 0.0] for _ in texts]


def tokens(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def embedder(function: Any = letters, revision: str = "1") -> CallableEmbedder:
    return CallableEmbedder(function, revision=revision, max_tokens=LIMIT, count=tokens)


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    use(monkeypatch, embedder())


def use(monkeypatch: pytest.MonkeyPatch, made: CallableEmbedder) -> None:
    monkeypatch.setattr(means, "open_embedder", lambda *_, **__: made)


def written(folder: Path, *rows: dict[str, Any], name: str = "claims.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def seen(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["ground", *argv, "--json"]) == code, capsys.readouterr().err
    items: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["per_item"]
    return items


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    capsys.readouterr()
    assert main([*argv]) == 2
    out, err = capsys.readouterr()
    assert not out or argv[0] == "calibrate"
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def labelled(n: int, *, wrong_way: bool = False, of: str = "both") -> list[dict[str, Any]]:
    """Claims of which every second one is foreign to its passages."""
    found = []
    for k in range(n):
        said = f"Runner {k} won race {k * 7} in town {k * 3}."
        right = k % 2 == 0
        if of == "both" or right is (of == "supported"):
            passages = [said, f"Crowd {k} cheered."] if right else [f"Zzz {k} qqq.", f"Xx {k} vvv."]
            label = "supported" if right is not wrong_way else "unsupported"
            row = {"item": f"i{k}", "source": f"s{k}", "claim": said, "evidence": passages}
            found.append(row | {"label": label})
    return found


def calibrate(source: str, gate: Path, *more: str) -> list[str]:
    argv = ["calibrate", source, "--label", "label", "--group", "source", "--budget", "0.05"]
    return [*argv, *more, "-o", str(gate)]


# Claims and evidence


@pytest.mark.parametrize(
    "evidence",
    [
        None,
        [],
        "",
        "  ",
        [""],
        ["", " \t"],
        [None],
        float("nan"),
        "[]",
        '[""]',
        "\u200b",
        ["\u202e\ufeff"],
    ],
)
def test_no_evidence_in_any_shape_is_a_state_and_no_energy(
    evidence: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [{"claim": CLAIM, "evidence": evidence}]
    rows.append({"claim": CLAIM, "evidence": EVIDENCE})
    one, two = seen(capsys, written(tmp_path, *rows))
    assert (one["state"], one["reason"], one["value"]) == ("NO_EVIDENCE", "no_evidence", None)
    numbers = [v for v in one["extra"].values() if isinstance(v, (int, float))]
    assert not numbers
    assert two["state"] == "MEASURED"


def test_a_missing_key_and_an_empty_cell_of_a_csv_are_no_evidence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [{"claim": CLAIM}, {"claim": CLAIM, "evidence": EVIDENCE}]
    assert seen(capsys, written(tmp_path, *rows))[0]["state"] == "NO_EVIDENCE"
    path = tmp_path / "c.csv"
    path.write_text('claim,evidence\nAnn won.,\nAnn won.,"[""Ann won.""]"\n', "utf-8")
    assert [i["state"] for i in seen(capsys, str(path))] == ["NO_EVIDENCE", "MEASURED"]


@pytest.mark.parametrize("evidence", [{"a": "b"}, [["a"]], [{"text": "a"}], True, [True]])
def test_evidence_that_is_no_text_is_refused_with_its_row(
    evidence: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [{"claim": CLAIM, "evidence": EVIDENCE}, {"claim": CLAIM, "evidence": evidence}]
    assert "row 2" in refused(capsys, "ground", written(tmp_path, *rows))


@pytest.mark.parametrize("claim", ["", "  ", None, "\n\t", "\u200b \u202e\u202c", "\x00\xad"])
def test_an_empty_claim_is_a_state(
    claim: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (one,) = seen(capsys, written(tmp_path, {"claim": claim, "evidence": EVIDENCE}), code=5)
    assert (one["state"], one["reason"]) == ("NOT_APPLICABLE", "no_claim")


def test_a_claim_that_is_its_evidence_has_energy_zero(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [{"claim": CLAIM, "evidence": [CLAIM]}]
    rows.append({"claim": CLAIM, "evidence": CLAIM})
    for one in seen(capsys, written(tmp_path, *rows)):
        assert one["state"] == "MEASURED"
        assert one["value"] < 1e-12
        assert one["extra"]["carried_by"] == [0]


def test_duplicate_passages_count_once_and_are_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [
        {"claim": CLAIM, "evidence": EVIDENCE},
        {"claim": CLAIM, "evidence": [EVIDENCE[0]] * 9 + [EVIDENCE[1]] * 3},
    ]
    one, two = seen(capsys, written(tmp_path, *rows))
    assert one["value"] == two["value"]
    assert (two["extra"]["n"], two["extra"]["n_merged"]) == (2, 10)
    assert [len(c) for c in two["extra"]["clusters"]] == [9, 3]


def test_ten_thousand_passages_are_refused_until_some_are_selected(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    passages = [f"Passage {k} says {k * k}." for k in range(9_999)]
    source = written(tmp_path, {"item": "big", "claim": CLAIM, "evidence": [*passages, CLAIM]})
    said = refused(capsys, "ground", source)
    assert "item 'big' has 10000 passages and at most 64 are measured" in said
    (one,) = seen(capsys, source, "--select", "top(16)")
    assert one["value"] < 1e-12
    assert (one["extra"]["n_available"], one["extra"]["n_selected"]) == (10_000, 16)
    assert one["extra"]["chance_basis"] == "selected"
    (one,) = seen(capsys, source, "--select", "first(16)")
    assert one["value"] > 1e-3


def test_a_passage_of_fifty_pages_is_refused_by_its_state_or_cut_where_that_is_declared(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pages = " ".join(f"Sentence {k} of the book says this and that." for k in range(300))
    rows = [
        {"claim": CLAIM, "evidence": [f"{pages} {CLAIM}"]},
        {"claim": pages, "evidence": EVIDENCE},
        {"claim": CLAIM, "evidence": EVIDENCE},
    ]
    source = written(tmp_path, *rows)
    items = seen(capsys, source)
    assert [(i["state"], i["reason"]) for i in items] == [
        ("NOT_APPLICABLE", "text_too_long"),
        ("NOT_APPLICABLE", "text_too_long"),
        ("MEASURED", None),
    ]
    cut = seen(capsys, source, "--select", "window(40, 1)", "-P", "max_passages=100")
    assert cut[0]["state"] == "NOT_APPLICABLE" or cut[0]["value"] is not None
    assert cut[0]["extra"].get("n_available") or cut[0]["reason"] == "rank_equals_dimension"
    assert cut[2]["value"] == items[2]["value"]


def test_a_claim_of_twenty_characters_and_a_word_alone_are_measured(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    short = ["She won the cup now.", "Yes", "1999", "?"]
    rows = [{"claim": claim, "evidence": EVIDENCE} for claim in short]
    items = seen(capsys, written(tmp_path, *rows))
    assert len(short[0]) == 20
    assert [i["state"] for i in items] == ["MEASURED"] * 4
    assert [len(i["extra"]["sentences"]) for i in items] == [1] * 4


SCRIPTS = {
    "arabic": "فازت آن بالكأس. خسر بوب.",
    "armenian": "Անն հաղթեց։",
    "bengali": "অ্যান কাপ জিতেছে।",
    "chinese": "安赢得了奖杯。鲍勃输了。",
    "cyrillic": "Анна выиграла кубок. Боб проиграл.",
    "devanagari": "ऐन ने कप जीता।",
    "emoji": "👩🏽‍🚀 🏆!",
    "georgian": "ანამ თასი მოიგო.",
    "greek": "Η Άννα κέρδισε το κύπελλο.",
    "hebrew": "אן זכתה בגביע. בוב הפסיד.",
    "japanese": "アンはカップを獲得した。ボブは負けた。",
    "khmer": "អានបានឈ្នះពាន។",
    "korean": "앤이 컵을 차지했다.",
    "tamil": "ஆன் கோப்பையை வென்றார்.",
    "thai": "แอนชนะถ้วยรางวัล",
    "turned": "\u202eAnn won\u202c\u200b the cup.",
    "joined": "A\u0301nn wo\u0308n \ufb01ve cups.",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_measured_kept_and_shown(
    script: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = SCRIPTS[script]
    source = written(tmp_path, {"item": text, "claim": text, "evidence": [text, "Bob lost."]})
    (one,) = seen(capsys, source)
    assert (one["item"], one["state"]) == (text, "MEASURED")
    assert one["value"] < 1e-12
    assert one["extra"]["sentences"]
    page = tmp_path / "page.html"
    assert main(["ground", source, "--full", "-o", str(page)]) == 0
    html = page.read_text("utf-8")
    assert "<bdi>" in html
    for hidden in "\u202e\u200b":
        assert hidden not in html
    if script != "turned":
        assert text.split(" ")[0] in html


def test_a_lone_surrogate_and_a_null_character_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    row = '{"item": "x\\ud800", "claim": "Ann\\u0000 won \\ud83d.", "evidence": ["Ann won."]}\n'
    path.write_text(row, "utf-8")
    assert main(["ground", str(path), "--full", "-o", str(tmp_path / "p.html")]) == 0
    assert "\\ud800" in (tmp_path / "p.html").read_text("utf-8")


# Vectors


def test_vectors_of_zero_are_a_state_for_every_claim(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(monkeypatch, embedder(zeros))
    (one,) = seen(capsys, written(tmp_path, {"claim": CLAIM, "evidence": EVIDENCE}), code=5)
    assert (one["state"], one["reason"]) == ("DEGENERATE", "claim_zero")


def test_what_is_not_finite_in_one_text_is_that_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    def broken(texts: Sequence[str]) -> list[list[float]]:
        return [[float("nan")] * 3 if "b" in t else [1.0, len(t), t.count("a")] for t in texts]

    reading = ground(["a", "aa"], [["ab", "aaa"], ["aaaa"]], embedder=broken)
    first, second = reading.per_item
    assert (first.state, first.value) == (State.NOT_APPLICABLE, None)
    assert first.reason is not None
    assert first.reason.startswith("error: ")
    assert second.state is State.MEASURED


def test_a_dimension_that_changes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    def moody(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] * (3 + len(texts)) for _ in texts]

    with pytest.raises(BackendError, match="dimension"):
        ground(["Ann."], [["Bob lost.", "Ann ran."]], embedder=moody, embedding_noise=1e-6)


# Calibration, decisions


def test_a_threshold_of_another_embedder_is_refused_by_the_key_that_differs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source, gate = written(tmp_path, *labelled(140)), tmp_path / "g.json"
    assert main(calibrate(source, gate)) == 0
    use(monkeypatch, embedder(revision="2"))
    for verb in ("gate", "ground"):
        said = refused(capsys, verb, source, "--group", "source", "--gate", str(gate))
        assert 'embedder.revision = "1"; this reading has "2"' in said


def test_an_embedder_without_a_revision_carries_no_threshold_to_another_day(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(means, "open_embedder", lambda *_, **__: CallableEmbedder(letters))
    said = refused(capsys, *calibrate(written(tmp_path, *labelled(140)), tmp_path / "g.json"))
    assert "has no revision" in said
    assert not (tmp_path / "g.json").exists()


def test_labels_the_wrong_way_round_are_doubted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gate = tmp_path / "g.json"
    for wrong_way in (False, True):
        source = written(tmp_path, *labelled(140, wrong_way=wrong_way))
        capsys.readouterr()
        assert main(calibrate(source, gate)) == 0
        said = "the labels may be the wrong way round" in " ".join(capsys.readouterr().out.split())
        assert said is wrong_way


def test_ten_rows_and_one_class_are_no_threshold(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gate = tmp_path / "g.json"
    said = refused(capsys, *calibrate(written(tmp_path, *labelled(10)), gate))
    assert "5 unsupported items are there and 59 needed" in said
    assert "0.450" in said
    said = refused(capsys, *calibrate(written(tmp_path, *labelled(140, of="supported")), gate))
    assert "0 unsupported items are there and 59 needed" in said
    assert not gate.exists()
    source = written(tmp_path, *labelled(200, of="unsupported"))
    capsys.readouterr()
    assert main(calibrate(source, gate, "-o", str(tmp_path / "g.html"))) == 0
    out = capsys.readouterr().out
    assert "supported: accepted not measured" in out
    assert "labels may be" not in out


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"kind": "vibes"}, "vibes"),
        ({"kind": "band"}, "gap"),
        ({"kind": "axes_first", "diagnostics": {"nowhere": {"max": 1}}}, "nowhere"),
        ({"kind": "value_only", "accept": 9.0}, "accept"),
        ({"kind": "value_only", "surprise": 1}, "surprise"),
        ([], "object"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_when_it_is_read(
    policy: Any, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, path = written(tmp_path, *labelled(140)), tmp_path / "p.json"
    path.write_text(json.dumps(policy), "utf-8")
    argv = calibrate(source, tmp_path / "g.json", "--policy", str(path))
    assert said in refused(capsys, *argv)
    assert not (tmp_path / "g.json").exists()


def test_a_trace_edited_by_hand_is_found_whatever_was_edited(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source, gate, trace = (
        written(tmp_path, *labelled(140)),
        tmp_path / "g.json",
        tmp_path / "d.jsonl",
    )
    assert main(calibrate(source, gate)) == 0
    argv = ["gate", source, "--group", "source", "--gate", str(gate), "-o", str(trace)]
    assert main(argv) == 0
    lines = trace.read_text("utf-8").splitlines()
    row = json.loads(lines[3])
    edits: list[tuple[str, list[str]]] = [
        ("hash", [*lines[:3], json.dumps(row | {"value": 0.0}), *lines[4:]]),
        ("verdict", [*lines[:3], json.dumps(row | {"verdict": "accept"}), *lines[4:]]),
        ("count", lines[:-2] + lines[-1:]),
        ("order", [lines[1], lines[0], *lines[2:]]),
        ("duplicate", [*lines[:2], lines[1], *lines[2:]]),
    ]
    for kind, edited in edits:
        trace.write_text("\n".join(edited) + "\n", "utf-8")
        capsys.readouterr()
        assert main(["replay", str(trace), "--gate", str(gate)]) == 1, kind
        assert f"{kind}: " in capsys.readouterr().out, kind
    for broken in ("", "{}\n", "not json\n", '{"seq": NaN}\n'):
        trace.write_text(broken, "utf-8")
        assert main(["replay", str(trace), "--gate", str(gate)]) in {1, 2}
        assert "Traceback" not in capsys.readouterr().err


def test_accepted_error_takes_numbers_or_other_claims_as_its_grid(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = labelled(300)
    source = written(tmp_path, *rows[:200])
    other = written(tmp_path, *({**r, "label": None} for r in rows[200:]), name="unlabelled.jsonl")
    argv = calibrate(source, tmp_path / "g.json", "--error", "accepted_error")
    assert "--grid on the command line" in refused(capsys, *argv)
    for grid in ("0.00001,0.01,0.02", other):
        capsys.readouterr()
        assert main([*argv, "--grid", grid]) == 0, capsys.readouterr().err
        assert "at most 0.05 of the accepted are unsupported" in capsys.readouterr().out
    assert "may not do both" in refused(capsys, *argv, "--grid", source)
    assert "neither numbers with commas nor a file" in refused(capsys, *argv, "--grid", "nowhere")
