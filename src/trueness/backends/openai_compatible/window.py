"""How many requests are in flight, and how long one waits before it is tried again."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import numpy as np

START = 4
LONGEST = 60.0
"""Seconds of the longest back-off, before its jitter."""
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


@dataclass(slots=True)
class Window:
    """A limit of requests in flight that follows what the server bears.

    It grows by 1 after as many successes in a row as it is wide, and is halved when the server is
    overloaded. Every failure begins the row anew; so does every change.

    Parameters
    ----------
    high : int
        It never grows above, from 1.
    size : int
        Where it starts; at most ``high``.
    low : int
        It is never halved below.

    Examples
    --------
    >>> window = Window(high=64)
    >>> for _ in range(4): window.succeeded()
    >>> window.size
    5
    >>> window.overloaded()
    >>> window.size
    2
    """

    high: int
    size: int = START
    low: int = 1
    _in_a_row: int = 0

    def __post_init__(self) -> None:
        self.size = min(self.size, self.high)

    def succeeded(self) -> None:
        """Count a reply; as many in a row as the window is wide make it wider by 1."""
        self._in_a_row += 1
        if self._in_a_row >= self.size:
            self._in_a_row = 0
            self.size = min(self.size + 1, self.high)

    def failed(self) -> None:
        """A failure that says nothing about the load."""
        self._in_a_row = 0

    def overloaded(self) -> None:
        """429, 503, 529, a time-out or a reset: half as many from now on."""
        self._in_a_row = 0
        self.size = max(self.size // 2, self.low)


def retry_after(header: str | None, now: datetime) -> float | None:
    """Seconds that a ``Retry-After`` header asks to wait; None where it says nothing readable.

    A number of seconds, fractions allowed, or an HTTP date; a date that is past means 0.

    >>> retry_after("7", datetime(2026, 1, 1, tzinfo=UTC))
    7.0
    >>> retry_after("Wed, 31 Dec 2025 00:00:00 GMT", datetime(2026, 1, 1, tzinfo=UTC))
    0.0
    """
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
        return seconds if math.isfinite(seconds) else None
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max((when - now).total_seconds(), 0.0)


def backoff(attempt: int, *, seed: int, unit: float = 1.0) -> float:
    r"""Seconds to wait after the ``attempt``-th attempt, which failed.

    :math:`\min(60, 2^{a}) \cdot (0.5 + u/2)` times ``unit``; u is uniform on [0, 1), drawn from a
    generator that the seed and the attempt make, so that waits do not depend on the order of
    requests.

    >>> 1.0 <= backoff(1, seed=0) < 2.0, 30.0 <= backoff(50, seed=0) < 60.0
    (True, True)
    """
    u = np.random.default_rng((seed, attempt)).random()
    return float(min(LONGEST, 2.0 ** min(attempt, 10)) * (0.5 + u / 2.0) * unit)
