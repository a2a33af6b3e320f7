"""Where the dots and bands of an interval block stand on their common axis, in percent."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trueness.contract.blocks import Dot, IntervalDots
from trueness.report.curve import Tick, ticks
from trueness.report.words import ABSENT, number

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A drawn interval: where it starts and ends, and whether its ends lie within the axis."""

    low: float
    high: float
    low_shown: bool
    high_shown: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One dot ready to be drawn; ``text`` says its numbers in words."""

    group: str
    label: str
    text: str
    role: str
    at: float | None
    band: Stretch | None
    inner: Stretch | None


@dataclass(frozen=True, slots=True)
class Spread:
    """A block of dots ready to be drawn: positions are percent of the axis from its left end."""

    ticks: tuple[Tick, ...]
    reference: float | None
    strip: Stretch | None
    rows: tuple[Row, ...]


def spread(block: IntervalDots) -> Spread:
    """The geometry of dots with bands, the axis widened to round numbers unless it is given.

    A band that leaves the axis is cut there and its end is not marked. ``group`` of a row is
    empty unless it starts a new group.
    """
    axis = _axis(block)
    marks = tuple(
        Tick(_place(v, axis), number(v)) for v in ticks(*axis) if axis[0] <= v <= axis[-1]
    )
    return Spread(
        marks,
        _inside(block.reference, axis),
        _stretch(block.strip, axis),
        tuple(_rows(block.dots, axis)),
    )


def numbers_of(dot: Dot) -> str:
    """What is printed beside a dot: its display, or value and band.

    Examples
    --------
    >>> numbers_of(Dot("gold", -0.25, -0.5, 0.0))
    '-0.25 [-0.5, 0]'
    """
    if dot.display:
        return dot.display
    value = ABSENT if dot.value is None else number(dot.value)
    ends = _span(dot.low, dot.high)
    if ends is None:
        return value
    low, high = number(ends[0], toward="down"), number(ends[1], toward="up")
    return f"{value} [{low}, {high}]"


def _axis(block: IntervalDots) -> Span:
    if block.limits and block.limits[0] < block.limits[1] and all(map(math.isfinite, block.limits)):
        return block.limits
    drawn = [v for v in _values(block) if math.isfinite(v)] or [0.0]
    found = ticks(min(drawn), max(drawn))
    return found[0], found[-1]


def _values(block: IntervalDots) -> Iterator[float]:
    yield block.reference
    yield from block.strip or ()
    for dot in block.dots:
        yield from (v for v in (dot.value, dot.low, dot.high) if v is not None)
        yield from dot.inner or ()


def _rows(dots: Iterable[Dot], axis: Span) -> Iterator[Row]:
    before = ""
    for dot in dots:
        yield Row(
            dot.group if dot.group != before else "",
            dot.label,
            numbers_of(dot),
            dot.role,
            None if dot.value is None else _inside(dot.value, axis),
            _stretch(_span(dot.low, dot.high), axis),
            _stretch(dot.inner, axis),
        )
        before = dot.group


def _span(low: float | None, high: float | None) -> Span | None:
    return None if low is None or high is None else (low, high)


def _stretch(span: Span | None, axis: Span) -> Stretch | None:
    if span is None or span[0] > axis[1] or span[1] < axis[0] or math.isnan(sum(span)):
        return None
    low, high = max(span[0], axis[0]), min(span[1], axis[1])
    return Stretch(_place(low, axis), _place(high, axis), low == span[0], high == span[1])


def _inside(value: float, axis: Span) -> float | None:
    return _place(value, axis) if axis[0] <= value <= axis[1] else None


def _place(value: float, axis: Span) -> float:
    return round(100 * (value - axis[0]) / (axis[1] - axis[0]), 2)
