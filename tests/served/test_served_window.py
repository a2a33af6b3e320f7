import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.backends.openai_compatible.window import Window, backoff, retry_after

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "asking.json").read_text("utf-8"), strict=False
)
LOADED = {"429", "503", "529", "timeout", "reset"}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _cases(kind: str) -> list[Any]:
    found = [pytest.param(v, id=v["name"]) for v in GOLDEN if v["kind"] == kind]
    assert found
    return found


def _after(window: Window, event: str) -> int:
    if event == "ok":
        window.succeeded()
    elif event in LOADED:
        window.overloaded()
    else:
        window.failed()
    return window.size


@pytest.mark.parametrize("vector", _cases("window"))
def test_the_window_moves_as_in_the_vector(vector: Any) -> None:
    given = vector["input"]
    window = Window(high=given["high"], size=given["start"], low=given["low"])
    found = [_after(window, event) for event in given["events"]]
    assert found == vector["expected"]["window_after_each"]


@pytest.mark.parametrize("vector", _cases("retry-after"))
def test_a_server_is_waited_for_as_in_the_vector(vector: Any) -> None:
    now = datetime.fromisoformat(vector["input"]["now"])
    assert retry_after(vector["input"]["header"], now) == vector["expected"]["wait_seconds"]


@given(st.lists(st.sampled_from(["ok", "429", "http_500"])), st.integers(1, 40))
def test_the_window_never_leaves_its_bounds(events: list[str], high: int) -> None:
    window = Window(high=high)
    assert all(1 <= _after(window, event) <= high for event in events)


@given(st.integers(1, 30))
def test_the_window_grows_by_one_after_so_many_successes_in_a_row(size: int) -> None:
    window = Window(high=64, size=size)
    found = [_after(window, "ok") for _ in range(size)]
    assert found == [size] * (size - 1) + [size + 1]


def test_a_failure_that_is_no_load_begins_the_row_anew() -> None:
    window = Window(high=64)
    found = [_after(window, e) for e in ("ok", "ok", "ok", "http_500", "ok", "ok", "ok", "ok")]
    assert found == [4, 4, 4, 4, 4, 4, 4, 5]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("1.5", 1.5),
        (" 3 ", 3.0),
        (".25", 0.25),
        ("-1", None),
        ("1e3", None),
        ("inf", None),
        ("nan", None),
        ("9" * 400, None),
        ("٣", None),
        ("", None),
        (None, None),
        ("Thu, 01 Jan 2026 00:00:30 -0000", 30.0),
        ("Thu, 01 Jan 2026 01:00:30 +0100", 30.0),
        ("Thu, 99 Jan 2026 00:00:30 GMT", None),
    ],
)
def test_odd_waits_are_read_or_ignored(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@given(st.text())
def test_no_header_breaks_the_reading(header: str) -> None:
    found = retry_after(header, NOW)
    assert found is None or found >= 0


@given(st.integers(1, 2000), st.integers(0, 2**31 - 1))
def test_the_back_off_doubles_up_to_a_minute_and_is_the_seeds_own(attempt: int, seed: int) -> None:
    longest = min(60.0, 2.0 ** min(attempt, 6))
    found = backoff(attempt, seed=seed)
    assert longest / 2 <= found < longest
    assert found == backoff(attempt, seed=seed)
    assert backoff(attempt, seed=seed, unit=0.0) == 0.0
