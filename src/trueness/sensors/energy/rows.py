"""What is written down of one claim: its span as plain JSON."""

from collections.abc import Sequence
from typing import Any

from trueness.contract import ItemReading
from trueness.contract.serial import Json
from trueness.sensors.energy.sentences import carried_by
from trueness.stats.span import Span
from trueness.stats.span_axes import AXES

_NUMBERS = (
    "explained", "rank", "n", "chance", "relative", "cutoff_gap",
    "influence",
    "r", "d", "cap", "closure", "noise_bound", "bracket", "tol_range",
    "lift", "null_quantile", "chance_basis", "influence_reason", "support",
    "clusters", "solo", "cosines", "sigma", "deletion_reasons", "dropped", "bad_rows",
    "n_available", "n_selected", "n_blank", "n_zero", "n_merged",
)  # fmt: skip
"""Fields of a span in the order in which they are written."""


def entry(item: str, span: Span, more: dict[str, Json]) -> ItemReading:
    """The item of a reading: state and value, then everything else that was seen.

    Lists a passage are lists a cluster, in the order of ``clusters``, whose members are numbers
    of the passages as given; what was not computed is None.
    """
    extra: dict[str, Json] = {name: _plain(getattr(span, name)) for name in _NUMBERS}
    extra["carried_by"] = carried_by(span)
    extra |= {name: span.axes.get(name) for name in AXES}
    return ItemReading(item, span.state, span.reason, span.energy, extra | more)


def _plain(value: Any) -> Json:
    """Lists for tuples; None for an empty one."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(v) for v in value] or None
    plain: Json = value
    return plain
