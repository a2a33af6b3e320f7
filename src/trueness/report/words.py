"""How names, numbers and states are printed, everywhere alike."""

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

from trueness.contract import Reading, State
from trueness.contract.blocks import Strip
from trueness.contract.errors import InputError

ABSENT = "–"
"""Printed where there is no number."""

SIGNS = "○◔◑◕●"
"""Of the five steps of a shade, so that colour is never needed."""

STATES: Mapping[State, str] = {
    State.MEASURED: "Measured",
    State.SILENT: "Silent: not a pass",
    State.NO_EVIDENCE: "No evidence",
    State.NOT_APPLICABLE: "Not applicable",
    State.DEGENERATE: "Degenerate input",
    State.UNSTABLE: "Unstable",
}

Toward = Literal["nearest", "down", "up"]
Tone = Literal["good", "bad", "absent", "warn", "plain"]

_TONES: Mapping[str, Tone] = {
    **dict.fromkeys(("good", "right", "gold", "keep", "kept", "accept", "correct"), "good"),
    **dict.fromkeys(("bad", "wrong", "error", "errors", "flagged", "finding"), "bad"),
    **dict.fromkeys(("proved", "proved_wrong", "certified", "reject"), "bad"),
    **dict.fromkeys(("absent", "no_answer", "missing", "silent", "none"), "absent"),
    **dict.fromkeys(("withheld", "withhold", "review"), "absent"),
    **dict.fromkeys(("warning", "warn", "echo", "filler"), "warn"),
}

_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}
_DIGITS = 4
_LABEL = 40
_PLAIN_BELOW = 1_000
_SCIENTIFIC_BELOW = 1e-4
_WHOLE_BELOW = 1e15


def visible(text: str) -> str:
    r"""The text with control characters and lone surrogates shown as escapes.

    Also shown are marks that turn the direction of the text after them and marks without width:
    two names that differ only in these look different. Joiners inside emoji and scripts stay.

    Examples
    --------
    >>> visible("Bo\x1b[31mb\n")
    'Bo\\u001b[31mb\\n'
    """
    return _HIDDEN.sub(lambda m: _NAMED.get(m[0], f"\\u{ord(m[0]):04x}"), text)


def prose(text: str) -> str:
    r"""A sentence on one line: line breaks and tabs become spaces, the rest as in `visible`.

    Examples
    --------
    >>> prose("At least 19\nare wrong.")
    'At least 19 are wrong.'
    """
    return visible(" ".join(text.split()))


def clip(text: str, limit: int) -> str:
    """The first characters of a long text, and how many were left out.

    Examples
    --------
    >>> clip("abcdef", 3)
    'abc… (3 more characters)'
    """
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]}… ({left:,} more characters)"


def number(value: float, *, toward: Toward = "nearest") -> str:
    """A number with four digits that never reads as 0 or 1 unless it is.

    Parameters
    ----------
    value : float
        A finite number; whole numbers are printed in full.
    toward : {"nearest", "down", "up"}
        ``"down"`` for a lower bound and ``"up"`` for an upper one, so that the printed number is
        as true as the exact one.

    Examples
    --------
    >>> number(2 / 3), number(2 / 3, toward="down"), number(0.99999), number(1234567)
    ('0.6667', '0.6666', '0.99999', '1,234,567')
    """
    if isinstance(value, int) or (value.is_integer() and abs(value) < _WHOLE_BELOW):
        return f"{int(value):,}"
    exact = Decimal(repr(value))
    for digits in range(_DIGITS, 18):
        rounded = Context(prec=digits, rounding=_ROUNDING[toward]).plus(exact)
        if rounded not in (0, 1) or digits > 16:  # noqa: PLR2004 - all digits of a float
            break
    if _PLAIN_BELOW <= abs(value) < _WHOLE_BELOW:
        return f"{exact.quantize(Decimal(1), rounding=_ROUNDING[toward]):,}"
    if not _SCIENTIFIC_BELOW <= abs(value) < _WHOLE_BELOW:
        return f"{rounded:.3e}"
    return f"{rounded.normalize():f}"


def cell(value: object) -> str:
    """A table cell as printed; an absent value and an empty list are a dash.

    Examples
    --------
    >>> cell(True), cell(None), cell([]), cell(3104), cell("Paris")
    ('yes', '–', '–', '3,104', 'Paris')
    """
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{visible(str(k))}: {cell(v)}" for k, v in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(cell(v) for v in value) or ABSENT
    return strip_text(value) if isinstance(value, Strip) else visible(str(value))


def strip_text(strip: Strip, *, parts: int = 12) -> str:
    r"""The counts of a strip in words; classes not seen are left out, late ones put together.

    Examples
    --------
    >>> cloud = Strip((("Paris", 4, "gold"), ("Lyon", 0, "wrong"), ("no answer", 1, "none")))
    >>> strip_text(cloud), strip_text(cloud, parts=0)
    ('Paris\xa0×4, no answer\xa0×1', 'others\xa0×5')
    """
    return ", ".join(f"{label}\xa0×{n:,}" for label, n in counts_of(strip, parts=parts))


def counts_of(strip: Strip, *, parts: int = 12) -> list[tuple[str, int]]:
    """The first labels of a strip, cut and made visible, each with its count above 0.

    Labels after ``parts`` of them are counted together as others, unless it is only one.
    """
    seen = [(label, n) for label, n, _ in strip.parts if n > 0]
    parts += len(seen) == parts + 1
    late = sum(n for _, n in seen[parts:])
    found = [(clip(visible(label), _LABEL) or "(blank)", n) for label, n in seen[:parts]]
    return [*found, ("others", late)] if late else found


def tone(role: str) -> Tone:
    """The kind of colour and pattern that a role is drawn in.

    Examples
    --------
    >>> tone("gold"), tone("none"), tone("anything else")
    ('good', 'absent', 'plain')
    """
    return _TONES.get(role.lower(), "plain")


def value_of(reading: Reading) -> str:
    """The value as printed, a bound rounded to its safe side; a dash unless measured."""
    value = reading.value
    if value is None:
        return ABSENT
    if value == reading.low:
        return number(value, toward="down")
    return number(value, toward="up" if value == reading.high else "nearest")


def interval_of(reading: Reading) -> str:
    """The interval and what kind of statement it makes, empty where there is none."""
    low, high, kind = reading.low, reading.high, prose(reading.interval_kind or "")
    if low is None and high is None:
        return ""
    if low is not None and high is not None:
        ends = f"{number(low, toward='down')} to {number(high, toward='up')}"
    elif low is not None:
        ends = f"at least {number(low, toward='down')}"
    else:
        ends = f"at most {number(high or 0.0, toward='up')}"
    return f"{ends} ({kind})"


def state_of(reading: Reading) -> str:
    """The state as printed; a study without a value says what it came to, such as unresolved."""
    found = reading.details.get("reading")
    if reading.state is State.SILENT and reading.sensor.startswith("study.") and found:
        return str(found).replace("_", " ").capitalize()
    return STATES[reading.state]


def count_of(reading: Reading) -> str:
    """How many of how many were measured.

    Not a share: numerator and denominator are both printed, always.
    """
    return f"{reading.n_measured:,} of {reading.n_items:,} measured"


def named(
    readings: Mapping[str, Reading] | Sequence[Reading] | Reading, *, beside: Sequence[object] = ()
) -> dict[str, Reading]:
    """Readings by name: one alone has the empty name, a bare sequence is numbered from 1.

    There may be none where something stands ``beside`` them.

    Raises
    ------
    InputError
        When there are none.
    """
    if isinstance(readings, Reading):
        return {"": readings}
    if isinstance(readings, Mapping):
        found = dict(readings)
    elif len(readings) == 1:
        found = {"": readings[0]}
    else:
        found = {f"reading {i}": reading for i, reading in enumerate(readings, start=1)}
    if not found and not beside:
        msg = "no readings were given; at least one is wanted. Measure something first."
        raise InputError(msg)
    return found


def sign(step: int | None) -> str:
    """The sign of a shade; a dash without one.

    >>> sign(0), sign(4), sign(None)
    ('○', '●', '–')
    """
    return ABSENT if step is None else SIGNS[min(max(step, 0), len(SIGNS) - 1)]


def side(beyond: bool | None, threshold: str) -> str:  # noqa: FBT001 - a field, passed on
    """On which side of a threshold a number lies, in a sign and in words; empty without one.

    >>> side(True, "the threshold"), side(None, "the threshold")
    ('▲ beyond the threshold', '')
    """
    if beyond is None or not threshold:
        return ""
    return f"{'▲ beyond' if beyond else '▽ within'} {prose(threshold)}"
