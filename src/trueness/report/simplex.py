"""Where arrows stand in a triangle of three shares."""

import hashlib
import math
from dataclasses import dataclass

from trueness.contract.blocks import Arrow, Point3, SimplexArrows

HEIGHT = 50 * math.sqrt(3)
"""Of the triangle whose side is 100."""
JITTER = 0.1
"""So far, at most, an arrow is moved towards a place that its label chooses."""

_STILL = 0.4
_HASHED = 2**32


@dataclass(frozen=True, slots=True)
class Shaft:
    """One drawn arrow, from (x1, y1) to (x2, y2); a ``still`` one is a dot."""

    label: str
    role: str
    x1: float
    y1: float
    x2: float
    y2: float
    still: bool


@dataclass(frozen=True, slots=True)
class Triangle:
    """Arrows ready to be drawn; the first corner is lower left, the second right, the third up."""

    shafts: tuple[Shaft, ...]
    mean: Shaft | None
    grid: tuple[tuple[float, float, float, float], ...]


def triangle(block: SimplexArrows) -> Triangle:
    """The geometry of arrows in a triangle of side 100, y downwards.

    Both ends of an arrow are moved alike by a fixed hash of its label, so that equal ones are
    seen apart and none turns or leaves the triangle; the mean arrow is not moved.
    """
    return Triangle(
        tuple(_shaft(a, JITTER) for a in block.arrows if _drawable(a)),
        _shaft(block.mean, 0.0) if block.mean and _drawable(block.mean) else None,
        _grid(),
    )


def _drawable(arrow: Arrow) -> bool:
    return all(math.isfinite(v) for v in (*arrow.start, *arrow.end))


def _shaft(arrow: Arrow, jitter: float) -> Shaft:
    towards = _hashed(arrow.label)
    x1, y1 = _place(_mixed(arrow.start, towards, jitter))
    x2, y2 = _place(_mixed(arrow.end, towards, jitter))
    still = math.hypot(x2 - x1, y2 - y1) < _STILL
    return Shaft(arrow.label, arrow.role, x1, y1, x2, y2, still)


def _mixed(point: Point3, towards: Point3, share: float) -> Point3:
    a, b, c = ((1 - share) * p + share * t for p, t in zip(point, towards, strict=True))
    return a, b, c


def _hashed(label: str) -> Point3:
    digest = hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    u = int.from_bytes(digest[:4]) / _HASHED
    v = int.from_bytes(digest[4:]) / _HASHED
    if u + v > 1:
        u, v = 1 - u, 1 - v
    return u, v, 1 - u - v


def _place(point: Point3) -> tuple[float, float]:
    _, right, top = point
    return round(100 * right + 50 * top, 2), round(HEIGHT * (1 - top), 2)


def _grid() -> tuple[tuple[float, float, float, float], ...]:
    lines = []
    for t in (0.25, 0.5, 0.75):
        ends: tuple[tuple[Point3, Point3], ...] = (
            ((t, 1 - t, 0), (t, 0, 1 - t)),
            ((1 - t, t, 0), (0, t, 1 - t)),
            ((1 - t, 0, t), (0, 1 - t, t)),
        )
        lines += [(*_place(start), *_place(end)) for start, end in ends]
    return tuple(lines)
