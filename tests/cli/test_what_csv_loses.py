"""A file that holds less than the table says so when it is written."""

from pathlib import Path

import pytest

from trueness.cli.app import main
from trueness.cli.exits import Exit

LOG = Path(__file__).parents[1] / "data" / "logs" / "lmeval" / "greedy_repeats.jsonl"


@pytest.mark.parametrize("verb", ["import", "export"])
def test_a_csv_without_the_protocol_says_so(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, str(LOG), "-o", str(tmp_path / "g.csv")]) == Exit.DONE
    said = capsys.readouterr().err
    assert "without their protocol" in said
    assert "temperature" in said
    assert main([verb, str(LOG), "-o", str(tmp_path / "g.jsonl")]) == Exit.DONE
    assert "without their protocol" not in capsys.readouterr().err
