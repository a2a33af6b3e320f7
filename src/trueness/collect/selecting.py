"""A selection of passages as a person writes it, to the rules that carry it out."""

import re
from typing import Any

from trueness.contract.errors import InputError

FORMS = ("all", "first(m)", "top(m)", "window(tokens)", "window(tokens, overlap)")
_FORM = re.compile(
    r"(all|first|top|window)\s*"
    r"(?:(?:(?P<open>\()|:)\s*(\d+)\s*(?:,\s*(\d+)\s*)?(?(open)\)))?"
)


def parse_selection(text: str) -> dict[str, Any]:
    """What a selection sets: parameters of a sensor, or how passages are cut.

    ``all`` measures every passage, ``first(m)`` and ``top(m)`` so many of them, the latter by
    cosine to the claim; ``window(tokens, overlap)`` cuts passages that are too long. A colon may
    stand for the brackets.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> parse_selection("top(16)"), parse_selection("window:128,1")
    ({'selection': 'top', 'selected': 16}, {'window': 128, 'overlap': 1})
    """
    found = _FORM.fullmatch(text.strip())
    kind, first, second = found.group(1, 3, 4) if found else (None, None, None)
    if kind == "window" and first is not None:
        return {"window": int(first), "overlap": int(second or 0)}
    if kind == "all" and first is None:
        return {"selection": "all"}
    if kind in {"first", "top"} and first is not None and second is None:
        return {"selection": kind, "selected": int(first)}
    msg = f"the selection {text!r} is not known; write one of {', '.join(FORMS)}, m from 1."
    raise InputError(msg)
