"""Blocks of text whose parts are shaded, signed and printed by a number."""

from dataclasses import dataclass

from trueness.contract.blocks.tables import Fact, Table


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
    figures: tuple[Fact, ...] = ()
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
