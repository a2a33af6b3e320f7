"""Blocks of words: the finding, groups of items, sentences under a heading."""

from dataclasses import dataclass


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
class Notes:
    """Sentences under a heading: assumptions, blind spots, protocol, versions.

    ``role`` is ``"assumptions"``, ``"blind_spots"``, ``"protocol"`` or ``"notes"``.
    """

    title: str
    lines: tuple[str, ...]
    role: str = "notes"
