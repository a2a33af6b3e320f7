"""The verbs as Python functions: read, key, measure, decide. Loaded by name when first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueness.api.answers import read as read
    from trueness.api.asking import ask as ask
    from trueness.api.asking import find_relation as find_relation
    from trueness.api.certifying import certify as certify
    from trueness.api.certifying import certify_each as certify_each
    from trueness.api.choosing import choose as choose
    from trueness.api.choosing import kept as kept
    from trueness.api.importing import log_blocks as log_blocks
    from trueness.api.importing import log_facts as log_facts
    from trueness.api.measuring import compare as compare
    from trueness.api.measuring import compare_each as compare_each
    from trueness.api.measuring import measure as measure
    from trueness.api.measuring import measure_each as measure_each

_HOME = {
    "read": "answers",
    "ask": "asking",
    "find_relation": "asking",
    "certify": "certifying",
    "certify_each": "certifying",
    "choose": "choosing",
    "kept": "choosing",
    "log_blocks": "importing",
    "log_facts": "importing",
    "compare": "measuring",
    "compare_each": "measuring",
    "measure": "measuring",
    "measure_each": "measuring",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        msg = f"module 'trueness.api' has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module(f"trueness.api.{_HOME[name]}"), name)
    globals()[name] = value
    return value
