"""The sentence of a declaration that an outcome calls for, its blanks filled from the result."""

from collections.abc import Mapping

from trueness.contract.serial import Json, plain
from trueness.study.declarations import Declaration
from trueness.study.expressions import BLANK, look_up
from trueness.study.results import Outcome

_UNKNOWN = "(not measured)"


def said(
    declaration: Declaration, outcome: Outcome, fields: Mapping[str, object]
) -> tuple[str, ...]:
    """The declared sentence for supported or refuted; none for any other outcome.

    Parameters
    ----------
    declaration : Declaration
        ``says`` and ``says_otherwise`` of its reading, with blanks like
        ``{contrasts.NAME.estimate}``.
    outcome : Outcome
    fields : mapping
        ``contrasts`` and ``draws`` of the result.

    Raises
    ------
    InputError
        When a blank leads to no field.
    """
    text = declaration.says(outcome.value)
    if text is None:
        return ()
    document = plain(fields)
    return (BLANK.sub(lambda blank: _shown(look_up(document, blank[1])), text),)


def _shown(value: Json) -> str:
    if value is None:
        return _UNKNOWN
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
