"""The sentences of a declaration that an outcome calls for, blanks filled from the result."""

from collections.abc import Mapping

from trueness.contract.serial import Json, plain
from trueness.study.declarations import Declaration
from trueness.study.expressions import BLANK, look_up
from trueness.study.results import Decisive

_UNKNOWN = "(not measured)"


def said(
    declaration: Declaration, reading: Decisive, fields: Mapping[str, object]
) -> tuple[str, ...]:
    """The declared sentences: for supported or refuted, and the first lesser finding that holds.

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
    return tuple(
        BLANK.sub(lambda blank: _shown(look_up(document, blank[1])), text)
        for text in texts
        if text is not None
    )


def _shown(value: Json) -> str:
    if value is None:
        return _UNKNOWN
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
