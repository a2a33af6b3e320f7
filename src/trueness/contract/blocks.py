"""What a page can draw. A sensor fills blocks; a report draws them and computes nothing.

Every block is frozen, holds plain JSON types, and is bounded: a sensor cuts long lists and says
how many entries were left out.
"""

from dataclasses import dataclass

Point3 = tuple[float, float, float]
"""Three shares that add up to 1."""


@dataclass(frozen=True, slots=True)
class Strip:
    """How many of each kind, as one small bar in a cell: ``(label, count, role)`` in drawn order.

    A table is sorted by the share of the first part. Long tails are one part with their total,
    e.g. ``("9 other answers", 11, "wrong")``. Roles as in `Part`.
    """

    parts: tuple[tuple[str, int, str], ...]


Cell = str | int | float | bool | Strip | None


@dataclass(frozen=True, slots=True)
class Statement:
    """The finding in plain words; the first block of every reading.

    ``tone`` is ``"finding"`` (something is proved), ``"silent"`` (nothing is), ``"problem"``
    (could not be measured) or ``"neutral"``.
    """

    text: str
    tone: str = "neutral"
    follow_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chip:
    """One member of a group, with the words shown beside it."""

    text: str
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Items that belong together, at most a few shown by name.

    ``size`` counts all members; ``chips`` may hold fewer. ``flagged`` marks a group that carries
    a proved error; ``note`` says why in a few words.
    """

    label: str
    size: int
    chips: tuple[Chip, ...]
    flagged: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Groups:
    """A partition drawn as grouped chips, largest first. ``n_groups`` counts all of them."""

    title: str
    groups: tuple[Group, ...]
    n_groups: int
    note: str = ""


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
    points, solid or ``dashed``: two series of one role are told apart by the dashes.
    """

    label: str
    points: tuple[tuple[float, float | None], ...]
    dashed: bool = False
    role: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """Lines over a common x axis."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and columns; ``n_rows`` counts all of them, also those not shown.

    A cell is text, a number, yes or no, nothing, or a `Strip` of counts. Where ``per_item``, its
    rows are the items of the reading and no other table of them is drawn.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_rows: int
    note: str = ""
    per_item: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text with its number: shaded, signed and printed, never shaded alone.

    ``step`` is how far the number lies along the scale, from 0 to 4 in fifths; None: no number.
    ``beyond`` says whether it lies beyond the threshold of the block, None where there is none.
    ``note`` says in words what else is known of it, e.g. what carries it.
    """

    text: str
    step: int | None = None
    display: str = ""
    value: float | None = None
    beyond: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in stretches, the number of the whole, and the table of what it rests on.

    ``level`` is the number that nothing shared would give. ``verdict`` is what was decided about
    it and why, ``beyond`` as in `Stretch`. A text without a number has ``note`` to say why.
    """

    label: str
    stretches: tuple[Stretch, ...]
    display: str = ""
    value: float | None = None
    level: float | None = None
    figures: tuple["Fact", ...] = ()
    rests_on: Table | None = None
    beyond: bool | None = None
    verdict: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class MarkedTexts:
    """Texts whose parts are shaded by a number; ``n_texts`` counts all, also those not shown.

    ``steps`` are the words of the five shades. Numbers lie on a scale from 0 to ``limit``;
    ``level`` and ``threshold`` are the words for the two lines that are drawn on it, the second
    at ``cut``, None where there is none.
    """

    title: str
    texts: tuple[MarkedText, ...]
    n_texts: int
    steps: tuple[str, ...]
    limit: float = 1.0
    level: str = ""
    cut: float | None = None
    threshold: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """One condition of one verdict: its numbers, and whether it held (None: not known).

    ``mark`` is a word of caution shown beside it, e.g. ``"few movers"``.
    """

    verdict: str
    clause: str
    numbers: str
    held: bool | None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Clauses:
    """Every condition of every verdict with its numbers; ``given`` is the verdict that came out.

    Rows that follow one another with the same ``verdict`` stand together.
    """

    title: str
    rows: tuple[ClauseRow, ...]
    given: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One named number as printed, with what it rests on: ``proved``, an n, an interval."""

    name: str
    display: str
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Named numbers, each with its denominator, interval or the word *proved*."""

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences under a heading: assumptions, blind spots, protocol, versions.

    ``role`` is ``"assumptions"``, ``"blind_spots"``, ``"protocol"`` or ``"notes"``.
    """

    title: str
    lines: tuple[str, ...]
    role: str = "notes"


Block = (
    Statement
    | Groups
    | Bars
    | IntervalDots
    | SimplexArrows
    | Curve
    | Clauses
    | Table
    | MarkedTexts
    | Facts
    | Notes
)
