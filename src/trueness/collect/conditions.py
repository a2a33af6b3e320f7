"""Conditions as data: what stands in front of the question, what is done to it, by name."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from trueness.collect.prefixes import check_length
from trueness.contract.errors import InputError
from trueness.contract.serial import once

KINDS = (
    "none", "prose", "shuffled", "repeated", "random", "text", "system", "noise", "allowed",
)  # fmt: skip
MEASURED_BY_LENGTH = frozenset({"prose", "shuffled", "repeated", "random"})
WITHOUT_PREFIX = frozenset({"none", "noise", "allowed"})
SCALES = ("prompt", "table")
FORMS = ("first_token", "string")
"""How an answer is chosen among those that are allowed."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One intervention, or none: a prefix, noise, a list of allowed answers, or several of them.

    Parameters
    ----------
    name : str
        The value of the column ``condition``.
    kind : str
        One of `KINDS`; ``noise`` and ``allowed`` have no prefix.
    length : int
        Tokens of a prefix, for the kinds that are measured by length.
    text : str
        The passage, the repeated token's text, the free text or the system prompt.
    seed : int
        For ``shuffled`` and ``random``.
    tile : bool
        Whether a short passage is repeated.
    join : {"ids", "text"}
        Whether a free text is joined as ids (no glue) or as text.
    exclude : tuple of int
        Ids that ``random`` never draws.
    noise : float
        What is added to the prompt's embeddings, in standard deviations; 0 is none.
    scale : {"prompt", "table"}
        Whose standard deviation: of the prompt's own embeddings, or of the embedding matrix.
    draws : int
        Draws of the noise, each a row, where the number of epochs does not say otherwise.
    allowed : {"", "first_token", "string"}
        Whether only the relation's right answers may be given, and how one is chosen: by the
        likeliest first token, or by the largest sum of log-probabilities of the whole text.
    """

    name: str
    kind: str
    length: int = 0
    text: str = ""
    seed: int = 0
    tile: bool = False
    join: str = "ids"
    exclude: tuple[int, ...] = ()
    noise: float = 0.0
    scale: str = "prompt"
    draws: int = 1
    allowed: str = ""

    def __post_init__(self) -> None:
        self._check_words()
        if not self.name:
            msg = "a condition has no name; give each one a name of its own."
            raise InputError(msg)
        check_length(self.length)
        if not 0.0 <= self.noise < math.inf or self.draws < 1:
            msg = (
                f"condition {self.name!r} has noise {self.noise} and {self.draws} draws; give a "
                "finite noise from 0, and at least 1 draw."
            )
            raise InputError(msg)
        if (self.kind == "none") != (self.name == "none") or (
            self.kind == "none" and (self.noise or self.allowed)
        ):
            msg = (
                f"condition {self.name!r} of kind {self.kind!r}: 'none' names the empty one alone."
            )
            raise InputError(msg)
        if (self.kind == "allowed") > bool(self.allowed):
            msg = f"condition {self.name!r} allows no form; give allowed: {' or '.join(FORMS)}."
            raise InputError(msg)

    def _check_words(self) -> None:
        known = {
            "kind": KINDS,
            "join": ("ids", "text"),
            "scale": SCALES,
            "allowed": ("", *FORMS),
        }
        for name, words in known.items():
            given = getattr(self, name)
            if given not in words:
                wanted = ", ".join(word for word in words if word)
                msg = f"condition {self.name!r} has {name} {given!r}; {name}s are {wanted}."
                raise InputError(msg)

    @property
    def has_prefix(self) -> bool:
        """Whether anything stands in front of the question."""
        if self.kind in WITHOUT_PREFIX:
            return False
        return bool(self.length if self.kind in MEASURED_BY_LENGTH else self.text)

    @property
    def is_empty(self) -> bool:
        """Whether it asks exactly what ``none`` asks."""
        return not (self.has_prefix or self.noise or self.allowed)

    def epochs(self, given: int | None) -> int:
        """How often each question is asked: as given, else once, or once a draw of the noise."""
        if given is not None:
            return given
        return self.draws if self.noise else 1


NONE = Condition("none", "none")


@cache
def catalogue() -> Mapping[str, Any]:
    """The shipped passage, one-sentence prefixes, system prompts and grids."""
    return _shipped("conditions.json")


@cache
def passages() -> tuple[str, ...]:
    """Eight coherent passages on unrelated topics, without any name of a built-in relation."""
    return tuple(str(p["text"]) for p in _shipped("passages.json")["passages"])


def passage(number: int, what: str) -> str:
    """A shipped passage by its number from 1.

    Raises
    ------
    InputError
        When there is none of that number; ``what`` is what asked for it.
    """
    if 1 <= number <= len(passages()):
        return passages()[number - 1]
    msg = f"{what} names passage {number}; there are 1 to {len(passages())}."
    raise InputError(msg)


def read_conditions(path: Path, *, seed: int = 0) -> tuple[Condition, ...]:
    """Conditions of a JSON file: a list of objects, or an object that holds it as ``conditions``.

    Each object has ``name`` and ``kind`` and what the kind needs; ``text`` left out means the
    shipped one, or with ``passage`` the shipped passage of that number.

    Raises
    ------
    InputError
        When the file cannot be read or holds something else.
    """
    try:
        found = json.loads(path.read_text("utf-8"), object_pairs_hook=once)
    except (OSError, ValueError) as error:
        msg = f"cannot read conditions from {path}: {error}. Give a JSON list of objects."
        raise InputError(msg) from error
    rows = found.get("conditions") if isinstance(found, dict) else found
    if not isinstance(rows, list):
        msg = f"{path} holds no list of conditions; give a JSON list of objects."
        raise InputError(msg)
    return with_none([_from_row(row, path, seed) for row in rows])


def with_none(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions with ``none`` first, each name once."""
    listed = [c for c in conditions if c.name != "none"]
    names = [c.name for c in listed]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        msg = f"two conditions are called {twice[0]!r}; give each one a name of its own."
        raise InputError(msg)
    return (NONE, *listed)


def with_text(condition: Condition) -> Condition:
    """The condition with the shipped text where it needs one and has none."""
    if condition.text or condition.kind not in {"prose", "shuffled", "repeated"}:
        return condition
    name = "repeated_token" if condition.kind == "repeated" else "neutral_passage"
    return replace(condition, text=str(catalogue()[name]))


_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "name": str,
    "kind": str,
    "text": str,
    "length": int,
    "seed": int,
    "draws": int,
    "passage": int,
    "noise": (int, float),
    "scale": str,
    "allowed": str,
    "join": str,
}


def _from_row(row: object, path: Path, seed: int) -> Condition:
    known = {f.name for f in fields(Condition)} | {"passage"}
    if not isinstance(row, dict) or not {"name", "kind"} <= set(row) or not set(row) <= known:
        msg = (
            f"{path} holds the condition {row!r}; give an object with name, kind and some of "
            f"{', '.join(sorted(known - {'name', 'kind'}))}."
        )
        raise InputError(msg)
    given = {"seed": seed, **row, "exclude": tuple(row.get("exclude", ()))}
    for name, kind in _TYPES.items():
        if name in given and (not isinstance(given[name], kind) or isinstance(given[name], bool)):
            wanted = kind.__name__ if isinstance(kind, type) else "a number"
            msg = (
                f"{path}: {name} of condition {row['name']!r} is {given[name]!r}; {wanted} wanted."
            )
            raise InputError(msg)
    number = given.pop("passage", None)
    if number is not None:
        given["text"] = passage(number, f"condition {row['name']!r}")
    if given.get("noise") and "draws" not in given:
        given["draws"] = int(catalogue()["noise_draws"])
    return with_text(Condition(**given))


def _shipped(file: str) -> Mapping[str, Any]:
    source = resources.files("trueness").joinpath("data", file)
    loaded: dict[str, Any] = json.loads(source.read_text("utf-8"))
    return loaded
