"""What an extraction depends on beside the text, and the name that says so: version and hash."""

import hashlib
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from trueness.contract.errors import InputError
from trueness.contract.serial import canonical
from trueness.extract.fingerprint import rules_hash
from trueness.extract.short_answers import KINDS as SHORT_KINDS
from trueness.extract.short_answers import short_name

Kind = Literal["short", "short_cut", "number", "option", "text", "set", "tuple", "auto"]
KINDS: tuple[Kind, ...] = (
    "number", "option", "text", "short", "short_cut", "set", "tuple", "auto",
)  # fmt: skip
Extractor = Literal["declared", "strict", "last_number", "letter_line", "tool"]
EXTRACTORS: tuple[Extractor, ...] = ("declared", "strict", "last_number", "letter_line", "tool")
Units = Literal["ignore", "keep"]
Locale = Literal["en", "eu"]
LOCALES: tuple[Locale, ...] = ("en", "eu")

VERSION = 1
"""Raised with every change of a rule or of a phrase list."""
THINK = (("<think>", "</think>"),)
_MOST_DECIMALS = 100
_UNITS: tuple[Units, ...] = ("ignore", "keep")


@dataclass(frozen=True, slots=True)
class Settings:
    """How keys are made.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    extractor : str
        One of `EXTRACTORS`.
    labels : tuple of str or None
        Labels of the options; None for as many letters as there are choices, A to D if unknown.
    choices : tuple of str or None
        Texts of the options, in the order of the labels.
    locale : {"en", "eu"}
        Whether ``3,14`` is undecided or a decimal.
    units : {"ignore", "keep"}
        Whether a unit joins the key.
    decimals : int or None
        Rational keys are rounded to so many decimals, half away from zero.
    choices_by_text : bool
        The key of an option is its normalised text, not its label.
    reasoning_tags : tuple of (str, str)
        Opening and closing tags of reasoning.

    Raises
    ------
    InputError
        For a setting that is not known.
    """

    kind: Kind
    extractor: Extractor = "declared"
    labels: tuple[str, ...] | None = None
    choices: tuple[str, ...] | None = None
    locale: Locale = "en"
    units: Units = "ignore"
    decimals: int | None = None
    choices_by_text: bool = False
    reasoning_tags: tuple[tuple[str, str], ...] = THINK

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
        _one_of("extractor", self.extractor, EXTRACTORS)
        _one_of("locale", self.locale, LOCALES)
        _one_of("units", self.units, _UNITS)
        if self.decimals is not None and not 0 <= self.decimals <= _MOST_DECIMALS:
            msg = f"decimals is {self.decimals}; it must be from 0 to {_MOST_DECIMALS} or None."
            raise InputError(msg)
        if self.labels and self.choices and len(self.labels) != len(self.choices):
            msg = (
                f"{len(self.labels)} labels and {len(self.choices)} choices were given; there must "
                "be one label for each choice. Leave labels out for A, B, C …"
            )
            raise InputError(msg)

    @property
    def name(self) -> str:
        """Name, version and hash of the rules and settings: ``name@version+hash``.

        >>> Settings("number").name.partition("+")[0], Settings("short").name.partition("+")[0]
        ('declared@1', 'short@1')
        """
        if self.kind in SHORT_KINDS:
            return short_name(self.kind)
        rules = {"rules": rules_hash(), **_plain(self)}
        digest = hashlib.sha256(canonical(rules).encode()).hexdigest()
        return f"{self.extractor}@{VERSION}+{digest[:12]}"


def settings_of(name: str) -> Settings | None:
    """The settings that an extractor's name was made from; None for a name made elsewhere.

    Labels and rounding beyond a few decimals cannot be told from a name.

    >>> settings_of(Settings("number", units="keep").name).units
    'keep'
    """
    return _by_name().get(name) if name.startswith(tuple(f"{x}@" for x in EXTRACTORS)) else None


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Settings]:
    kinds = [kind for kind in KINDS if kind not in SHORT_KINDS]
    choices = product(
        kinds, EXTRACTORS, (None,), (None,), LOCALES, _UNITS, (None, *range(7)), (False, True)
    )
    return {(made := Settings(*choice)).name: made for choice in choices}


def _plain(settings: Settings) -> dict[str, object]:
    """The settings as JSON; choices differ from item to item and are no part of the rules."""
    plain = asdict(settings)
    del plain["choices"]
    return plain


def _one_of(name: str, given: object, known: tuple[str, ...]) -> None:
    if given not in known:
        msg = f"{name} is {given!r}; known are {', '.join(map(repr, known))}. Name one of these."
        raise InputError(msg)
