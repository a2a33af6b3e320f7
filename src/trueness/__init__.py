"""Tell how often a model's answers agree from how often they are right: proofs, not scores.

>>> import trueness as tr
>>> rows = [{"country": c, "answer": "Paris"} for c in ("France", "Peru", "Chad")]
>>> tr.certify(rows, entity="country", relation="injective").details["certified_errors"]
2
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueness.api import ask as ask
    from trueness.api import certify as certify
    from trueness.api import choose as choose
    from trueness.api import compare as compare
    from trueness.api import measure as measure
    from trueness.api import read as read
    from trueness.api.grounding import ground as ground
    from trueness.contract import Decision as Decision
    from trueness.contract import Reading as Reading
    from trueness.contract.errors import TruenessError as TruenessError
    from trueness.decide.gate import Gate as Gate
    from trueness.decide.withhold import withhold as withhold
    from trueness.report import page as page

_HOME = {
    "ask": "trueness.api",
    "certify": "trueness.api",
    "choose": "trueness.api",
    "compare": "trueness.api",
    "ground": "trueness.api.grounding",
    "measure": "trueness.api",
    "read": "trueness.api",
    "withhold": "trueness.decide.withhold",
    "page": "trueness.report",
    "Decision": "trueness.contract",
    "Gate": "trueness.decide.gate",
    "Reading": "trueness.contract",
    "TruenessError": "trueness.contract.errors",
}

__all__ = [
    "Decision",
    "Gate",
    "Reading",
    "TruenessError",
    "ask",
    "certify",
    "choose",
    "compare",
    "ground",
    "measure",
    "page",
    "read",
    "withhold",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        msg = f"module 'trueness' has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
