"""The whole catalogue of studies is there, each with what it needs and what it costs."""

import json

import pytest

from trueness.cli import main
from trueness.study.runners import RUNNERS

CONTEXT = {
    "choose-objective", "constrained-decoding", "embedding-noise", "ensembles", "prefix-character",
    "prefix-length", "prefix-repair", "system-prompts",
}  # fmt: skip
TEMPLATES = {"certificate-sweep", "injectivity-audit", "observable-choice", "templates-join"}
DETECTION = {"detector", "detector-power"}
INSIDE = {
    "answer-presence", "coupling", "dimension-pruning", "exponents", "jacobian-cost",
    "recoverability", "width-frame",
}  # fmt: skip
CLOUDS = {
    "answer-normalisation", "atlas-intervals", "checkpoint-atlas", "lift-rank", "observer-flat",
}  # fmt: skip
EVIDENCE = {"calibration-proof", "contrast", *(f"C{n}" for n in range(1, 21))}
CATALOGUE = CONTEXT | TEMPLATES | DETECTION | INSIDE | CLOUDS | EVIDENCE


def test_the_list_shows_every_study_with_its_needs_and_estimate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["study", "--list", "--json"]) == 0
    listed = {row["id"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(listed) == CATALOGUE
    for row in listed.values():
        assert row["question"].endswith("?")
        assert isinstance(row["needs"], list)
        assert row["seconds"] > 0


def test_every_study_of_the_catalogue_is_carried_out_by_something() -> None:
    assert set(RUNNERS) == CATALOGUE
