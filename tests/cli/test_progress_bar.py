"""The bar: rate, what remains, and failures by reason; only where someone looks."""

import io
import re
import time

import pytest
from rich.console import Console

from trueness.cli.progress import bar


def test_it_shows_rate_remaining_time_and_failures_by_reason() -> None:
    seen = io.StringIO()
    console = Console(file=seen, force_terminal=True, width=120)
    with bar(wanted=True, console=console) as advance:
        assert advance is not None
        advance(10_000, 20_000, "none", {})
        for safe in (10_008, 10_016, 10_024):
            time.sleep(0.02)
            advance(safe, 20_000, "none", {"timeout": 1, "http_429": 2})
        time.sleep(0.3)
    text = seen.getvalue()
    assert "10024/20000" in text
    assert "/s" in text
    assert "3 errors (2 http_429, 1 timeout)" in text
    # rows that were kept from an earlier run are no part of the rate
    rates = [float(r.replace(",", "")) for r in re.findall(r"([\d,.]+)/s", text)]
    assert rates
    assert max(rates) < 5_000


def test_three_arguments_are_enough_where_nothing_can_fail() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    with bar(wanted=True, console=console) as advance:
        assert advance is not None
        advance(1, 2, "claims")


@pytest.mark.parametrize("wanted", [True, False])
def test_nobody_looks_nothing_is_shown(*, wanted: bool) -> None:
    terminal = not wanted
    console = Console(file=io.StringIO(), force_terminal=terminal)
    with bar(wanted=wanted, console=console) as advance:
        assert advance is None
