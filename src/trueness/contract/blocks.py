"""What a page can draw. A sensor fills blocks; a report draws them and computes nothing.

Every block is frozen, holds plain JSON types, and is bounded: a sensor cuts long lists and says
how many entries were left out.
"""

from dataclasses import dataclass

Cell = str | int | float | bool | None


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
    """One coloured stretch of a bar. ``role`` picks the colour, ``display`` is printed."""

    label: str
    value: float
    display: str
    role: str = "neutral"


@dataclass(frozen=True, slots=True)
class Bar:
    """A labelled row of parts, stacked. The parts' values add up to what the bar shows."""

    label: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars on one scale from 0 to ``limit``."""

    title: str
    bars: tuple[Bar, ...]
    limit: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a curve: points (x, y) in order of x; ``y`` is None where undefined."""

    label: str
    points: tuple[tuple[float, float | None], ...]


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
    """Rows and columns; ``n_rows`` counts all of them, also those not shown."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_rows: int
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


Block = Statement | Groups | Bars | Curve | Table | Facts | Notes
