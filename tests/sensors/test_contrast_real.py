"""The sensor contrast with the embedded language model and embedder, and at the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from trueness.api.grounding import ground
from trueness.backends.registry import open_model
from trueness.cli.app import main
from trueness.contract import State

pytestmark = pytest.mark.real

EVIDENCE = ["Mara Okoye founded Alphen Robotics in 2003.", "Teodor Lind founded Betula Health."]
CLAIM = "Mara Okoye founded Alphen Robotics."


def test_the_embedded_model_prefers_the_claim_that_the_evidence_states() -> None:
    rows = [{"claim": CLAIM, "evidence": EVIDENCE}, {"claim": "Delhi", "evidence": EVIDENCE}]
    model = open_model("embedded")
    reading = ground(rows, sensor="contrast", model=model, per_kind=1)
    item, bare = reading.per_item
    assert bare.reason == "no_contrast"
    assert item.state is State.MEASURED
    gain, value = item.extra["gain"], item.value
    assert isinstance(gain, float)
    assert gain > 0
    assert value is not None
    assert value > 0
    kinds: Any = item.extra["kinds"]
    assert set(kinds) == {"role_swap", "negation", "entity"}
    assert abs(kinds["role_swap"]["energy_margin"]) < 0.05  # the span hardly sees a swap
    again = ground(rows[::-1], sensor="contrast", model=model, per_kind=1)
    assert again.per_item[1].value == value
    model.close()


@pytest.fixture
def claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "claims.jsonl"
    rows = [{"text": CLAIM, "there": EVIDENCE}, {"text": "Delhi", "there": EVIDENCE}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    return path


def test_measure_takes_the_columns_of_claims_and_a_model(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ("--claim", "text", "--evidence", "there", "--model", "scripted:empty")
    assert main(["measure", "contrast", str(claims), *named, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_measured"], found["n_items"]) == (1, 2)
    assert found["value"] == 0.0  # two founders, two names behind "founded": it sees neighbours


def test_nothing_to_contrast_is_no_measurement(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims.write_text('{"claim": "Delhi", "evidence": ["x"]}\n', "utf-8")
    assert main(["measure", "contrast", str(claims), "--model", "scripted:empty"]) == 5
    assert "no_contrast" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("energy", "--model", "scripted:empty"), "asks no language model"),
        (("contrast", "--model", "replay:nowhere"), "nowhere"),
        (("contrast", "--model", "nobody"), "no model is called"),
        (("orbits", "--claim", "text"), "--claim is for sensors of claims"),
        (("contrast", "-P", "per_kind=0"), "per_kind"),
    ],
)
def test_what_does_not_fit_is_one_line(
    claims: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    claims.write_text(json.dumps({"claim": CLAIM, "evidence": EVIDENCE}) + "\n", "utf-8")
    sensor, *rest = arguments
    assert main(["measure", sensor, str(claims), *rest]) != 0
    assert said in capsys.readouterr().err
