"""One hash of everything that decides a key: phrase lists, and every pattern of every module."""

import hashlib
import re
from functools import lru_cache
from importlib import import_module

from trueness.contract.serial import canonical
from trueness.extract.rules import RULES

MODULES = (
    "amounts", "answering", "compounds", "cutting", "formulas", "lists", "markers", "members",
    "mixed", "number_payloads", "number_words", "numerals", "options", "prepare", "quantities",
    "texts", "trimming", "unit_words", "units", "unmarked", "wrappers",
)  # fmt: skip
"""Where patterns stand, in this package."""


@lru_cache(maxsize=1)
def rules_hash() -> str:
    """SHA-256 (hexadecimal) of the phrase lists and patterns.

    A module's code is not covered: a change of it raises the version by hand.
    """
    return hashlib.sha256(canonical({"rules": RULES, **patterns()}).encode()).hexdigest()


def patterns() -> dict[str, list[str]]:
    """Every compiled pattern of the modules, by module.

    >>> len(patterns()["cutting"])
    2
    """
    return {
        name: sorted(
            value.pattern
            for value in vars(import_module(f"trueness.extract.{name}")).values()
            if isinstance(value, re.Pattern)
        )
        for name in MODULES
    }
