"""Metrics and scorers for inspect_ai: agreement, no answer, a certified floor, grounding.

inspect_ai finds them by its entry point and names them ``trueness/…``. In Python they are imported
from here, and inspect_ai is loaded with the first of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueness.plugins.inspect_ai.metrics import agreement_spectrum as agreement_spectrum
    from trueness.plugins.inspect_ai.metrics import certified_floor as certified_floor
    from trueness.plugins.inspect_ai.metrics import no_answer_mass as no_answer_mass
    from trueness.plugins.inspect_ai.scorers import answers as answers
    from trueness.plugins.inspect_ai.scorers import gated as gated
    from trueness.plugins.inspect_ai.scorers import grounding as grounding

_HOME = {
    "agreement_spectrum": "metrics",
    "certified_floor": "metrics",
    "no_answer_mass": "metrics",
    "answers": "scorers",
    "gated": "scorers",
    "grounding": "scorers",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from trueness.backends.protocol import require  # noqa: PLC0415 - only where it is used

    require("inspect_ai", extra="inspect", what=f"{name} of trueness")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
