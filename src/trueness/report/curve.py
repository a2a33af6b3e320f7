"""Where the lines, ticks and labels of a curve stand, in percent of its plot."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from trueness.contract.blocks import Curve, Series
from trueness.report.words import number

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 5
_POINTS = 400
_MARKS = 12
_LEAST = 1e-250
_LEAST_SPAN = 1e-9
_FINE, _DECADES = 3, 6
"""Up to so many powers of ten there are marks between them; at most so many have one."""


@dataclass(frozen=True, slots=True)
class Tick:
    """One mark on an axis: where it stands (percent from the origin) and what it says."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Axis:
    """The marks of an axis, in order, and where numbers stand between the first and the last."""

    marks: tuple[float, ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Percent from the origin."""
        low, high, at = self.marks[0], self.marks[-1], value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return round(100 * (at - low) / (high - low), 2)

    def holds(self, value: float | None) -> bool:
        """Whether a number can stand on it."""
        return value is not None and math.isfinite(value) and (value > 0 or not self.log)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Where the marks stand and what they say."""
        return tuple(Tick(self.place(mark), number(mark)) for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Line:
    """One drawn line: its label and the pieces between undefined points, as SVG points.

    ``dots`` are points without a neighbour, ``marks`` those that carry the sign of a role, ``area``
    the outline of what is shaded around it, empty where nothing is.
    """

    label: str
    pieces: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    marks: tuple[tuple[float, float], ...]
    role: str
    dashed: bool
    area: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A curve ready to be drawn on a square of 100 by 100 units, origin at the lower left."""

    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]


def plot(curve: Curve) -> Plot | None:
    """The geometry of a curve, its axes widened to round numbers; None without a point.

    Lines are broken where y is None. Long lines are thinned evenly to a few hundred points, the
    first and the last always among them.
    """
    any_x, any_y = Axis((0.0, 1.0), curve.x_log), Axis((0.0, 1.0), curve.y_log)
    points = [
        point for s in curve.series for piece in _pieces(s.points, any_x, any_y) for point in piece
    ]
    if not points:
        return None
    points += [(x, y) for s in curve.series for x, *ends in _banded(s, any_x, any_y) for y in ends]
    x_axis = _axis([x for x, _ in points], log=curve.x_log)
    y_axis = _axis([*(y for _, y in points), *(() if curve.y_log else (0.0,))], log=curve.y_log)
    return Plot(x_axis.ticks, y_axis.ticks, tuple(_line(s, x_axis, y_axis) for s in curve.series))


def _axis(values: Sequence[float], *, log: bool) -> Axis:
    low, high = min(values), max(values)
    return Axis(decades(low, high) if log else ticks(low, high), log)


def decades(low: float, high: float) -> tuple[float, ...]:
    """Marks of a logarithmic axis from at most ``low`` to at least ``high``, both above 0.

    Powers of ten, with 2 and 5 between them where these are few, only some of them where many.

    Examples
    --------
    >>> decades(3.0, 70.0)
    (2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
    >>> decades(1.0, 49_152.0)
    (1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0)
    """
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    if last - first > _FINE:
        step = math.ceil((last - first) / _DECADES)
        powers = range(first, last + step, step)
        return tuple(float(f"1e{power}") for power in powers)
    every = [float(f"{m}e{p}") for p in range(first, last + 1) for m in (1, 2, 5)]
    start = max(i for i, mark in enumerate(every) if mark <= low * (1 + 1e-9))
    stop = min(i for i, mark in enumerate(every) if mark >= high * (1 - 1e-9))
    return tuple(every[min(start, len(every) - 2) : max(stop, start + 1) + 1])


def ticks(low: float, high: float, *, wanted: int = _TICKS) -> tuple[float, ...]:
    """Round numbers in equal steps from at most ``low`` to at least ``high``.

    Examples
    --------
    >>> ticks(0.0, 0.95)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    largest = max(abs(low), abs(high))
    if high - low <= _LEAST_SPAN * largest or largest < _LEAST:
        high = low + (largest if largest >= _LEAST else 1.0)
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in _STEPS if s * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(float(f"{i * step:.12g}") for i in range(first, last + 1))


def scale(limit: float) -> tuple[Tick, ...]:
    """The marks of an axis from 0 to ``limit`` that lie within it, in percent."""
    axis = Axis((0.0, limit))
    return tuple(Tick(axis.place(v), number(v)) for v in ticks(0.0, limit) if v <= limit)


def banded(curve: Curve) -> bool:
    """Whether some line of a curve has a band."""
    return any(series.band for series in curve.series)


def ends(series: Series, x: float) -> tuple[float | None, float | None]:
    """Where the band of a line lies at one of its points; None where it has none there."""
    return next(((low, high) for at, low, high in series.band if at == x), (None, None))


def _line(series: Series, x_axis: Axis, y_axis: Axis) -> Line:
    pieces = [
        [_point(x, y, x_axis, y_axis) for x, y in piece]
        for piece in _pieces(_thinned(series.points), x_axis, y_axis)
    ]
    placed = [point for piece in pieces for point in piece]
    return Line(
        series.label,
        tuple(map(_joined, pieces)),
        tuple(piece[0] for piece in pieces if len(piece) == 1),
        tuple(placed[:: max(1, math.ceil(len(placed) / _MARKS))]) if series.role else (),
        series.role,
        series.dashed,
        _area(series, x_axis, y_axis),
    )


def _area(series: Series, x_axis: Axis, y_axis: Axis) -> str:
    """The outline of a band: along its lower side, and back along the upper one."""
    band = _thinned(_banded(series, x_axis, y_axis))
    lower = [_point(x, low, x_axis, y_axis) for x, low, _ in band]
    upper = [_point(x, high, x_axis, y_axis) for x, _, high in reversed(band)]
    return _joined(lower + upper) if len(band) > 1 else ""


def _banded(series: Series, x_axis: Axis, y_axis: Axis) -> list[tuple[float, float, float]]:
    return [
        (x, low, high)
        for x, low, high in series.band
        if x_axis.holds(x) and y_axis.holds(low) and y_axis.holds(high)
    ]


def _point(x: float, y: float, x_axis: Axis, y_axis: Axis) -> tuple[float, float]:
    return x_axis.place(x), round(100 - y_axis.place(y), 2)


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


T = TypeVar("T")


def _thinned(points: Sequence[T]) -> Sequence[T]:
    step = max(1, math.ceil(len(points) / _POINTS))
    kept = list(points[::step])
    if points and kept[-1] != points[-1]:
        kept.append(points[-1])
    return kept


def _pieces(
    points: Sequence[tuple[float, float | None]], x_axis: Axis, y_axis: Axis
) -> Iterator[list[tuple[float, float]]]:
    piece: list[tuple[float, float]] = []
    for x, y in points:
        if y is None or not (x_axis.holds(x) and y_axis.holds(y)):
            if piece:
                yield piece
            piece = []
        else:
            piece.append((x, y))
    if piece:
        yield piece
