"""``trueness plan`` from the command line."""

import json
import re
from pathlib import Path

import pytest

from trueness.cli import main

CLOUDS = Path(__file__).parents[1] / "data" / "clouds"
PILOT = tuple(str(CLOUDS / f"synthetic_inversion.{arm}.jsonl") for arm in ("before", "after"))


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    capsys.readouterr()
    assert main(["plan", *argv]) == 0
    out, err = capsys.readouterr()
    assert not err
    return re.sub(r"\s+", " ", out)


def fails(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    capsys.readouterr()
    assert main(["plan", *argv]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert "internal error" not in err
    return err


def test_equivalence_says_its_items_and_names_the_assumption(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = run(capsys, "--goal", "equivalence", "--margin", "0.05", "--power", ".8")
    assert out.startswith("420 items show equivalence within ±0.05")
    assert "0.35: assumed, from the labelled synthetic slices" in out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("difference", "--effect", ".1"), "97 items"),
        (("mcnemar", "--regress", ".1", "--improve", ".02"), "With 153 items"),
        (("item",), "4 draws in each arm"),
        (("item", "--level", ".99"), "5 draws in each arm"),
        (("auroc", "--auroc", ".7"), "66 items"),
        (("ceiling", "--width", ".05"), "600 independent draws"),
    ],
)
def test_every_goal_is_answered_in_a_sentence(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "--goal", *argv).startswith(said)


def test_a_pilot_and_a_budget_show_where_the_draws_go(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = run(capsys, *PILOT, "--goal", "difference", "--budget", "800")
    assert "measured on a pilot of 25 items" in out
    assert "Ways to spend the budget of one arm" in out
    found = json.loads(
        run(capsys, *PILOT, "--goal", "difference", "--budget", "800", "--cost-item", "4", "--json")
    )
    assert [(a["draws"], a["items"]) for a in found["allocations"]][:2] == [(2, 133), (4, 100)]
    assert found["figures"]["sd"] == pytest.approx(0.347, abs=5e-4)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "goal"),
        (("--goal", "luck"), "luck"),
        (("--goal", "equivalence", "--margin", "nan"), "margin"),
        (("--goal", "equivalence", "--margin", "0"), "margin"),
        (("--goal", "equivalence", "--effect", ".1"), "--effect says nothing"),
        (("--goal", "equivalence", "--power", "1"), "power"),
        (("--goal", "equivalence", "--level", "1e-300"), "alpha"),
        (("--goal", "mcnemar", "--regress", ".1"), "--improve"),
        (("--goal", "mcnemar", "--regress", ".1", "--improve", ".1"), "equal rates"),
        (("--goal", "mcnemar", "--regress", ".7", "--improve", ".7"), "regress"),
        (("--goal", "mcnemar", "--regress", ".7", "--improve", ".6"), "regress"),
        (("--goal", "auroc"), "--auroc"),
        (("--goal", "auroc", "--auroc", ".5"), "one half"),
        (("--goal", "ceiling"), "--width"),
        (("--goal", "difference", "--budget", "100"), "pilot"),
        (("--goal", "difference", "--budget", "inf"), "budget"),
        ((PILOT[0], "--goal", "difference"), "BEFORE and AFTER"),
        ((PILOT[0], PILOT[0], "--goal", "difference"), "changed alike"),
        ((*PILOT, "--goal", "item"), "needs no pilot"),
        ((*PILOT, "--goal", "difference", "--budget", "3"), "budget"),
        ((*PILOT, "--goal", "difference", "--cost-draw", "0"), "cost-draw"),
        ((*PILOT, "--goal", "difference", "--item", "nowhere"), "nowhere"),
    ],
)
def test_a_bad_call_is_one_clear_line(
    argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in fails(capsys, *argv)


def test_a_pilot_of_several_conditions_is_told_what_plan_can_be_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"item": f"q{i}", "answer": "7", "epoch": e, "condition": c}
        for c in ("x", "y")
        for i in range(4)
        for e in range(2)
    ]
    path = tmp_path / "two.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    err = fails(capsys, str(path), str(path), "--goal", "difference", "--answer-kind", "short")
    assert "holds 2 conditions (x, y). Leave the rows of the one" in err
    assert "compare --only NAME" in err
