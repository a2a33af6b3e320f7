"""The sentences of a declaration that an outcome calls for, blanks filled from the result."""

from collections.abc import Iterator, Mapping

from trueness.contract.serial import Json, plain
from trueness.study.declarations import Declaration
from trueness.study.expressions import BLANK, look_up
from trueness.study.results import Decisive

_UNKNOWN = "(not measured)"
_NO_INTERVAL = f"{_UNKNOWN} [{_UNKNOWN}, {_UNKNOWN}]"


def said(
    declaration: Declaration, reading: Decisive, fields: Mapping[str, object]
) -> tuple[str, ...]:
    """The declared sentences: for supported or refuted, and the first lesser finding that holds.

    A sentence about contrasts of which some have no number says which, and that the others decide.

    Parameters
    ----------
    declaration : Declaration
        ``says`` and ``says_otherwise`` of its reading, with blanks like
        ``{contrasts.NAME.estimate}``; the same in each of ``also``.
    reading : Decisive
        Its expressions beyond the first two are those of ``also``, in order.
    fields : mapping
        ``contrasts`` and ``draws`` of the result.

    Raises
    ------
    InputError
        When a blank leads to no field.
    """
    lesser = zip(declaration.also, reading.expressions[2:], strict=False)
    found = next((f"{each.name}: {each.says}" for each, tried in lesser if tried.holds), None)
    texts = [declaration.says(reading.outcome.value), found]
    document = plain(fields)
    return tuple(_filled(text, document) for text in texts if text is not None)


def _filled(text: str, document: Json) -> str:
    made = BLANK.sub(lambda blank: _shown(look_up(document, blank[1])), text)
    missing = "; ".join(dict.fromkeys(_missing(text, document)))
    made = made.replace(_NO_INTERVAL, _UNKNOWN)
    return f"{made} Not measured, and no part of this: {missing}." if missing else made


def _missing(text: str, document: Json) -> Iterator[str]:
    """Contrasts that a sentence speaks of and that have no number, each with its reason."""
    for path in BLANK.findall(text):
        parts = path.split(".")
        if (
            parts[0] != "contrasts"
            or parts[-1] != "estimate"
            or look_up(document, path) is not None
        ):
            continue
        contrast = look_up(document, ".".join(parts[:-1]))
        where = contrast.get("where") if isinstance(contrast, dict) else None
        why = where.removeprefix("not run: ") if isinstance(where, str) and where else ""
        yield f"{parts[1]} ({why})" if why else parts[1]


def _shown(value: Json) -> str:
    if value is None:
        return _UNKNOWN
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
