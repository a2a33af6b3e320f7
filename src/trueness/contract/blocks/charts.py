"""Blocks on an axis: stacked bars, intervals, arrows in a triangle, curves."""

from dataclasses import dataclass

Point3 = tuple[float, float, float]
"""Three shares that add up to 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of a bar. ``role`` picks colour and pattern, ``display`` is printed.

    Roles that stand out: ``"gold"`` (right), ``"wrong"``, ``"none"`` (no answer), ``"warn"``;
    everything else is neutral.
    """

    label: str
    value: float
    display: str
    role: str = "neutral"


@dataclass(frozen=True, slots=True)
class Bar:
    """A labelled row of parts, stacked. The parts' values add up to what the bar shows.

    Bars that follow one another with the same ``group`` stand under it as a heading. ``display``
    is what the parts add up to as printed, e.g. ``"total .299"``.
    """

    label: str
    parts: tuple[Part, ...]
    group: str = ""
    display: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars on one scale from 0 to ``limit``.

    ``axis`` says what the scale counts; where it is given, the scale is drawn. ``edges`` are those
    of the bins, one more than there are bars, where the bars count numbers that lie between them.
    """

    title: str
    bars: tuple[Bar, ...]
    limit: float
    note: str = ""
    axis: str = ""
    edges: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Dot:
    """A number with the band around it; what is None is not drawn.

    ``inner`` is a second, shorter interval, drawn thicker. ``display`` is printed beside it, the
    numbers themselves where it is empty. Dots that follow one another with the same ``group``
    stand under it as a heading. Roles as in `Part`.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    role: str = "neutral"
    display: str = ""
    inner: tuple[float, float] | None = None
    group: str = ""


@dataclass(frozen=True, slots=True)
class IntervalDots:
    """Dots with their bands on one axis, a line at ``reference``, a shaded ``strip``.

    ``limits`` are the ends of the axis, None to fit what is drawn. ``band`` and ``inner`` say in
    a few words what the long and the short interval are, ``margin`` what the strip is.
    """

    title: str
    dots: tuple[Dot, ...]
    reference: float = 0.0
    strip: tuple[float, float] | None = None
    limits: tuple[float, float] | None = None
    note: str = ""
    axis: str = ""
    band: str = ""
    inner: str = ""
    margin: str = ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move between two places in a triangle, each three shares, one a corner."""

    label: str
    start: Point3
    end: Point3
    role: str = "neutral"


@dataclass(frozen=True, slots=True)
class SimplexArrows:
    """One arrow an item in a triangle of three shares, and the mean arrow.

    ``corners`` are the names of the shares, ``roles`` theirs as in `Part`. ``n_arrows`` counts
    all items, also those not drawn; a few hundred arrows are the most that can be read.
    """

    title: str
    corners: tuple[str, str, str]
    arrows: tuple[Arrow, ...]
    mean: Arrow | None
    n_arrows: int
    note: str = ""
    roles: tuple[str, str, str] = ("neutral", "neutral", "neutral")


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a curve: points (x, y) in order of x; ``y`` is None where undefined.

    A series with a ``role`` (as in `Part`) is drawn in its colour with its own mark at the
    points, solid or ``dashed``: two series of one role are told apart by the dashes. ``band`` is
    what lies around it, shaded: (x, lower, upper) in order of x.
    """

    label: str
    points: tuple[tuple[float, float | None], ...]
    dashed: bool = False
    role: str = ""
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines over a common x axis.

    ``x_log`` and ``y_log`` make an axis logarithmic; what is not above 0 is not drawn on it.
    ``band`` says in a few words what the shaded bands are.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    note: str = ""
    x_log: bool = False
    y_log: bool = False
    band: str = ""
