"""A second Ctrl-C while the first is being answered."""

import signal
import sys

import pytest

from trueness.cli import exits


@pytest.mark.skipif(sys.platform == "win32", reason="signals are raised otherwise")
def test_a_second_interrupt_does_not_cut_the_resume_command_short(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real = exits._interrupted

    def interrupted_again(argv: list[str]) -> str:
        signal.raise_signal(signal.SIGINT)
        return real(argv)

    def stopped() -> None:
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(exits, "_interrupted", interrupted_again)
    assert exits.guarded(stopped, ["ask", "-o", "t.jsonl"]) == 130
    assert "trueness ask -o t.jsonl --resume" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
