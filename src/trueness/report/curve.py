"""Where the lines, ticks and labels of a curve stand, in percent of its plot."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trueness.contract.blocks import Curve, Series
from trueness.report.words import number

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICKS = 5
_POINTS = 400
_MARKS = 12
_LEAST = 1e-250
_LEAST_SPAN = 1e-9


@dataclass(frozen=True, slots=True)
class Tick:
    """One mark on an axis: where it stands (percent from the origin) and what it says."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One drawn line: its label and the pieces between undefined points, as SVG points.

    ``dots`` are points without a neighbour, ``marks`` those that carry the sign of a role.
    """

    label: str
    pieces: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    marks: tuple[tuple[float, float], ...]
    role: str
    dashed: bool


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
    points = [point for s in curve.series for piece in _pieces(s.points) for point in piece]
    if not points:
        return None
    x_axis = ticks(min(x for x, _ in points), max(x for x, _ in points))
    y_axis = ticks(min(0.0, *(y for _, y in points)), max(y for _, y in points))
    return Plot(
        _marks(x_axis),
        _marks(y_axis),
        tuple(_line(s, x_axis, y_axis) for s in curve.series),
    )


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
    axis = (0.0, limit)
    return tuple(Tick(_place(v, axis), number(v)) for v in ticks(*axis) if v <= limit)


def _marks(axis: tuple[float, ...]) -> tuple[Tick, ...]:
    return tuple(Tick(_place(value, axis), number(value)) for value in axis)


def _place(value: float, axis: tuple[float, ...]) -> float:
    return round(100 * (value - axis[0]) / (axis[-1] - axis[0]), 2)


def _line(series: Series, x_axis: tuple[float, ...], y_axis: tuple[float, ...]) -> Line:
    pieces = [
        [(_place(x, x_axis), round(100 - _place(y, y_axis), 2)) for x, y in piece]
        for piece in _pieces(_thinned(series.points))
    ]
    placed = [point for piece in pieces for point in piece]
    return Line(
        series.label,
        tuple(" ".join(f"{x:g},{y:g}" for x, y in piece) for piece in pieces),
        tuple(piece[0] for piece in pieces if len(piece) == 1),
        tuple(placed[:: max(1, math.ceil(len(placed) / _MARKS))]) if series.role else (),
        series.role,
        series.dashed,
    )


def _thinned(
    points: Sequence[tuple[float, float | None]],
) -> Sequence[tuple[float, float | None]]:
    step = max(1, math.ceil(len(points) / _POINTS))
    kept = list(points[::step])
    if points and kept[-1] != points[-1]:
        kept.append(points[-1])
    return kept


def _pieces(points: Sequence[tuple[float, float | None]]) -> Iterator[list[tuple[float, float]]]:
    piece: list[tuple[float, float]] = []
    for x, y in points:
        if y is None or not (math.isfinite(x) and math.isfinite(y)):
            if piece:
                yield piece
            piece = []
        else:
            piece.append((x, y))
    if piece:
        yield piece
