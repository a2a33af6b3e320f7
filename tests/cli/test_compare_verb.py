"""``trueness compare`` from the command line, as its acceptance list asks for it."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from trueness.cli import main
from trueness.contract import Reading

DATA = Path(__file__).parents[1] / "data"
INSPECT = ("tiny_gsm.json", "tiny_gsm_deflate.eval")
QUICK = ("--replicates", "200")


def arms(name: str) -> tuple[str, str]:
    folder = DATA / "clouds"
    return tuple(str(folder / f"synthetic_{name}.{arm}.jsonl") for arm in ("before", "after"))  # type: ignore[return-value] # two of them


def run(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    """What the verb prints; whatever happens it is no traceback and no defect."""
    capsys.readouterr()
    found = main(["compare", *argv])
    out, err = capsys.readouterr()
    assert found == code, (found, out[-2000:], err)
    assert "Traceback" not in err
    return out


def fails(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 2) -> str:
    """The one line on stderr of a call that cannot go on; nothing is printed."""
    capsys.readouterr()
    found = main(["compare", *argv])
    out, err = capsys.readouterr()
    assert found == code, (found, out[-2000:], err)
    assert not out
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert "internal error" not in err
    return err


def loaded(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> dict[str, Any]:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    found: dict[str, Any] = json.loads(
        run(capsys, *argv, "--json", code=code), parse_constant=refuse
    )
    assert Reading.from_dict(found).to_dict() == found
    return found


def squeezed(text: str) -> str:
    """The text on one line, white space made one."""
    return re.sub(r"\s+", " ", text)


def lines(path: Path, rows: Sequence[dict[str, Any]], **protocol: Any) -> str:
    head = [{"protocol": protocol}] if protocol else []
    text = "\n".join(json.dumps(row) for row in (*head, *rows))
    path.write_text(text + "\n", encoding="utf-8")
    return str(path)


def clouds(answers: Sequence[str | None], n: int = 12, **more: Any) -> list[dict[str, Any]]:
    return [{"item": f"q{i}", "target": "g", "answers": list(answers), **more} for i in range(n)]


def test_the_inversion_slice_prints_what_was_published() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trueness", "compare", *arms("inversion")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said = squeezed(done.stdout)
    for figure in (
        *("total .2986", "total .3257", "gold .2514", "gold .0143", "wrong .0271", "wrong .3114"),
        *("regressed 14", "improved 1", "p 0.000977", "total variation .835", ".497"),
        *("modes disjoint 23 of 25", "ε* .146"),
        "unresolved — equivalence of the total not shown at ±.10",
        "SYNTHETIC",
    ):
        assert figure in said, figure
    assert said.startswith("Agreement moved by +.027 (ε* .146), gold by −.237 [−.3")
    assert "(r = 2, 25 items × 8 draws)" in said


def test_a_wider_margin_names_the_inversion_and_fails_where_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "near_isospectral_inversion"
    assert name in run(capsys, *arms("inversion"), "--margin", "0.15")
    gate = ("--fail-on", f"harmful_consolidation,{name},no_answer_attractor")
    run(capsys, *arms("inversion"), "--margin", "0.15", *gate, code=1)
    run(capsys, *arms("inversion"), *gate)
    run(capsys, *arms("inversion"), "--fail-on", "unresolved", code=1)


@pytest.mark.parametrize(
    ("name", "verdict", "delta"),
    [("consolidation", "consolidation", 0.3586), ("attractor", "no_answer_attractor", 0.5221)],
)
@pytest.mark.parametrize("margin", ["0.05", "0.10", "0.15"])
def test_the_other_slices_have_their_verdicts_at_every_margin(
    name: str, verdict: str, delta: float, margin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = loaded(capsys, *arms(name), "--margin", margin)
    assert found["details"]["verdict"]["name"] == verdict
    assert found["value"] == pytest.approx(delta, abs=5e-5)


def test_every_figure_of_a_slice_stands_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    details = loaded(capsys, *arms("inversion"))["details"]
    assert (details["greedy"]["b"], details["greedy"]["c"]) == (14, 1)
    assert details["greedy"]["p_exact"] == 1 / 1024
    assert details["tv"]["mean"] == pytest.approx(167 / 200)
    assert details["tv"]["null_mean"] == pytest.approx(0.497, abs=5e-4)
    assert details["modes_disjoint"] == {"n": 23, "of": 25}
    total = details["parts"]["2"]["total"]
    assert (total["before"], total["after"]) == pytest.approx((209 / 700, 228 / 700))
    assert total["se"] == pytest.approx(0.0694144606471791)
    wrong = details["parts"]["4"]["wrong"]
    assert (wrong["se_fixed_slice"], wrong["fixed_slice_state"]) == (None, "UNSTABLE")
    assert wrong["band"][0] < 0 < details["parts"]["2"]["wrong"]["band"][0]
    assert details["verdict"]["margin_was_default"] is True


def test_the_seed_moves_only_what_is_resampled(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (loaded(capsys, *arms("inversion"), "--seed", s)["details"] for s in ("0", "7"))
    assert abs(one["critical"] - two["critical"]) < 0.06
    assert abs(one["tv"]["permutation_p"] - two["tv"]["permutation_p"]) < 0.01
    for order in ("2", "3", "4"):
        for part, entry in one["parts"][order].items():
            other = two["parts"][order][part]
            assert abs((entry["p_adjusted"] or 0) - (other["p_adjusted"] or 0)) < 0.01
            fixed = [k for k in entry if k not in {"band", "pointwise", "p_adjusted"}]
            assert all(entry[k] == other[k] for k in fixed)
    apart = {"parts", "tv", "l2", "seed", "critical", "verdict", "p_contrast"}
    assert {k: v for k, v in one.items() if k not in apart} == {
        k: v for k, v in two.items() if k not in apart
    }
    assert one["verdict"]["name"] == two["verdict"]["name"]


@pytest.mark.parametrize("log", INSPECT)
def test_a_log_against_itself_has_not_moved(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(DATA / "logs" / "inspect" / log)
    found = loaded(capsys, path, path)
    assert found["details"]["verdict"]["name"] in {"unchanged", "unresolved"}
    for row in found["details"]["parts"].values():
        assert all(entry["delta"] in {0.0, None} for entry in row.values())
    assert all((item["extra"]["l2"] or 0) <= 0 for item in found["per_item"])


def test_another_temperature_is_refused_with_both_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = clouds(["g", "g", "a", None])
    one = lines(tmp_path / "one.jsonl", rows, temperature=0.7)
    two = lines(tmp_path / "two.jsonl", rows, temperature=1.0)
    said = fails(capsys, one, two)
    assert "temperature: 0.7 before and 1.0 after" in said
    assert "--allow-differ temperature" in said
    found = loaded(capsys, one, two, "--allow-differ", "temperature")
    assert found["details"]["differs"] == ["temperature"]
    assert found["details"]["status"] == "exploratory"
    assert "These protocols differ (temperature)" in run(
        capsys, one, two, "--allow-differ", "temperature"
    )
    three = lines(tmp_path / "three.jsonl", rows, top_p=1)
    assert "temperature: 0.7 before and unknown after" in fails(capsys, one, three)


@pytest.mark.parametrize("draws", [["g"], [{"answer": None, "outcome": "error"}]])
def test_one_draw_or_none_that_came_is_no_evidence(
    draws: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [d if isinstance(d, dict) else {"answer": d} for d in draws]
    rows = [{"item": f"q{i}", "target": "g", **d} for i in range(4) for d in given]
    path = lines(tmp_path / "few.jsonl", rows)
    found = loaded(capsys, path, code=5)
    assert (found["state"], found["value"]) == ("NO_EVIDENCE", None)
    run(capsys, path, path, code=5)
    run(capsys, path, path, "--fail-on", "recovery", code=5)


def test_one_file_is_measured_and_has_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = arms("attractor")
    found = loaded(capsys, path)
    assert found["value"] == pytest.approx(362 / 1400)
    assert "verdict" not in found["details"]
    assert "has none" in fails(capsys, path, "--fail-on", "recovery")


def test_the_page_needs_no_network_and_hostile_keys_are_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "<script>alert(1)</script>"
    rows = clouds([evil, evil, "</table><img src=x onerror=alert(1)>", "g"])
    path = lines(tmp_path / "evil.jsonl", rows)
    page = tmp_path / "page.html"
    run(capsys, path, path, "-o", str(page), *QUICK)
    text = page.read_text(encoding="utf-8")
    assert evil not in text
    assert "<img src=x" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    assert "Agreement by what is agreed on" in text


def test_no_number_on_the_page_is_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    run(capsys, *arms("inversion"), "-o", str(page))
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"\d[.\d]*e-1\d", text)
    assert not re.findall(r">\s*[−-]?\d*\.\d{8,}\s*<", text)


def test_several_files_are_contrasts_with_their_correction(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, after = arms("inversion")
    _, other = arms("consolidation")
    out = run(capsys, before, after, other)
    assert "p (Holm)" in out
    found = json.loads(run(capsys, before, after, other, "--json"))
    assert len(found.get("readings", found)) >= 2


def test_columns_can_be_named_and_rows_may_be_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "draws.csv"
    rows = [f"q{i},{a},g,s{i % 3}" for i in range(9) for a in ("g", "g", "x", "")]
    path.write_text("which,said,right,cluster\n" + "\n".join(rows) + "\n")
    named = ("--item", "which", "--answer", "said", "--target", "right", "--group", "cluster")
    assert "No answer was found in 27 of 36 texts before" in squeezed(
        run(capsys, str(path), str(path), *named, *QUICK)
    )
    found = loaded(capsys, str(path), str(path), *named, "--answer-kind", "text", *QUICK)
    assert found["details"]["n_groups"] == 3
    assert found["details"]["parts"]["2"]["gold"]["before"] == pytest.approx(1 / 6)


def twice(column: str) -> bytes:
    """Two draws of one item that differ in a column of the item."""
    rows = ({"item": "q", "answer": "a", column: value} for value in "ab")
    return "\n".join(map(json.dumps, rows)).encode()


def bad_files(folder: Path) -> dict[str, str]:
    """Files that nothing can be read from, or not what was meant."""
    made = {
        "empty": b"",
        "blank": b"\n\n\n",
        "junk": bytes(range(256)) * 40,
        "half": b'{"item": "q", "answers": ["a", "b"',
        "number": b"42\n",
        "list": b"[1, 2, 3]\n",
        "header_only": b'{"protocol": {"temperature": 1}}\n',
        "nan": b'{"item": "q", "answers": ["a"], "weight": NaN}\n',
        "two_targets": twice("target"),
        "two_groups": twice("group"),
        "no_items": b'{"answers": ["a", "b"]}\n',
        "negative": b'{"item":"q","answer":"a","weight":-3}\n',
        "bad_outcome": b'{"item":"q","answer":"a","outcome":"perhaps"}\n',
        "epoch_text": b'{"item":"q","answer":"a","epoch":"first"}\n',
    }
    out = {}
    for name, data in made.items():
        path = folder / f"{name}.jsonl"
        path.write_bytes(data)
        out[name] = str(path)
    (folder / "empty.csv").write_text("item,answer\n")
    (folder / "logless").mkdir()
    return out | {"csv_head": str(folder / "empty.csv"), "folder": str(folder / "logless")}


@pytest.mark.parametrize(
    "name",
    [
        *("empty", "blank", "junk", "half", "number", "list", "header_only", "nan"),
        *("two_targets", "two_groups", "no_items", "negative", "bad_outcome", "epoch_text"),
        *("csv_head", "folder"),
    ],
)
def test_a_bad_file_is_one_clear_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = bad_files(tmp_path)[name]
    for argv in ((path,), (path, path)):
        main(["compare", *argv])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert "internal error" not in err
        assert err.count("\n") == 1, (out, err)
        assert not out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--fail-on", "worse"), "verdicts are"),
        (("--fail-on", ","), "--fail-on"),
        (("--margin", "nan"), "margin"),
        (("--margin", "0"), "margin"),
        (("--margin", "1"), "margin"),
        (("--margin", "inf"), "margin"),
        (("--orders", "1"), "orders"),
        (("--orders", "99"), "orders"),
        (("--orders", "2,2"), "orders"),
        (("--orders", "two"), "orders"),
        (("--orders", ""), "orders"),
        (("--level", "1.5"), "level"),
        (("--level", "1"), "level"),
        (("--min-overlap", "0"), "overlap"),
        (("--first", "0"), "first"),
        (("--seed", "-1"), "seed"),
        (("--replicates", "3"), "replicates"),
        (("--only", "elsewhere"), "elsewhere"),
        (("--greedy-before", "elsewhere"), "elsewhere"),
        (("--item", "nowhere"), "nowhere"),
        (("--votes", "loud"), "votes"),
        (("--extractor", "magic"), "magic"),
        (("--answer-kind", "feeling"), "feeling"),
        (("-o", "page.doc"), "page.doc"),
    ],
)
def test_a_bad_flag_is_one_clear_line(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in fails(capsys, *arms("inversion"), *argv)


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, _ = arms("inversion")
    assert "gone.jsonl" in fails(capsys, before, str(tmp_path / "gone.jsonl"))
    assert "BEFORE" in fails(capsys)


def test_an_order_that_no_item_reaches_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    found = loaded(capsys, *arms("consolidation"), "--orders", "2,12", *QUICK)
    assert found["details"]["parts"]["12"]["total"]["delta"] is None
    out = run(capsys, *arms("consolidation"), "--orders", "2,12", *QUICK)
    assert "No item has 12 draws" in squeezed(out)


def test_orders_come_in_any_order(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (
        loaded(capsys, *arms("inversion"), "--orders", o, *QUICK) for o in ("4,2,3", "2,3,4")
    )
    assert one == two


def test_huge_keys_and_lone_surrogates_are_answers_like_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = clouds(["x" * 1_000_000, "\ud800", "g", "g"], n=3)
    path = lines(tmp_path / "odd.jsonl", rows)
    page = tmp_path / "page.html"
    out = run(capsys, path, path, "-o", str(page), *QUICK)
    assert len(out) < 30_000
    assert page.stat().st_size < 3_000_000
    assert math.isclose(loaded(capsys, path, path, *QUICK)["value"], 0)


def test_other_extractors_stand_in_the_reading_and_on_its_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one, two = (str(DATA / "logs" / "inspect" / name) for name in INSPECT)
    page = tmp_path / "page.html"
    told = run(capsys, one, two, *QUICK, "--sensitivity", "-o", str(page))
    said = "The verdict is the same under every extractor."
    assert said in told
    assert said in page.read_text("utf-8")
    found = loaded(capsys, one, two, *QUICK, "--sensitivity")["details"]["sensitivity"]
    assert found["agree"]
    assert set(found["verdicts"]) == {"declared", "strict", "last_number", "tool"}
    assert set(found["verdicts"].values()) == {"unresolved"}


def test_of_one_log_other_extractors_say_how_much_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = str(DATA / "logs" / "inspect" / INSPECT[0])
    assert "strict: 10 draws whose key is not that of declared" in run(capsys, one, "--sensitivity")
    declared, *others = loaded(capsys, one, "--sensitivity")["details"]["sensitivity"]
    assert (declared["extractor"], declared["n_changed"]) == ("declared", 0)
    assert {other["extractor"] for other in others} == {"strict", "last_number", "tool"}


def test_the_verdicts_of_several_contrasts_are_told_under_their_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one, two = (str(DATA / "logs" / "inspect" / name) for name in INSPECT)
    told = run(capsys, one, two, one, *QUICK, "--sensitivity")
    for name in INSPECT:
        assert f"[{name}]\nThe verdict is the same under every extractor." in told
