"""Conditions as data: what stands in front of the question, declared by name."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from trueness.collect.prefixes import check_length
from trueness.contract.errors import InputError

KINDS = ("none", "prose", "shuffled", "repeated", "random", "text", "system")
MEASURED_BY_LENGTH = frozenset({"prose", "shuffled", "repeated", "random"})
_NAMED = {"the": "repeated"}


@dataclass(frozen=True, slots=True)
class Condition:
    """One intervention, or none.

    Parameters
    ----------
    name : str
        The value of the column ``condition``.
    kind : str
        One of `KINDS`.
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
    """

    name: str
    kind: str
    length: int = 0
    text: str = ""
    seed: int = 0
    tile: bool = False
    join: str = "ids"
    exclude: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            msg = f"condition {self.name!r} has kind {self.kind!r}; kinds are {', '.join(KINDS)}."
            raise InputError(msg)
        if self.join not in {"ids", "text"}:
            msg = f"condition {self.name!r} has join {self.join!r}; it is 'ids' or 'text'."
            raise InputError(msg)
        if not self.name:
            msg = "a condition has no name; give each one a name of its own."
            raise InputError(msg)
        check_length(self.length)
        if (self.kind == "none") != (self.name == "none"):
            msg = (
                f"condition {self.name!r} of kind {self.kind!r}: 'none' names the empty one alone."
            )
            raise InputError(msg)

    @property
    def is_empty(self) -> bool:
        """Whether it asks exactly what ``none`` asks."""
        by_length = self.kind in MEASURED_BY_LENGTH
        return self.kind == "none" or (not self.length if by_length else not self.text)


NONE = Condition("none", "none")


@cache
def catalogue() -> Mapping[str, Any]:
    """The shipped passage, one-sentence prefixes and system prompts."""
    source = resources.files("trueness").joinpath("data", "conditions.json")
    loaded: dict[str, Any] = json.loads(source.read_text("utf-8"))
    return loaded


def parse_conditions(text: str, *, seed: int = 0) -> tuple[Condition, ...]:
    """Conditions of a list like ``none,prose:128,shuffled:128,the:128,random:128,system:json``.

    ``the`` is ``repeated`` with its default token; ``text:N`` is the N-th shipped one-sentence
    prefix; ``system:NAME`` a shipped system prompt. ``none`` comes first, named or not.

    Raises
    ------
    InputError
        For an unknown kind, a length that is no whole number from 0, or a name given twice.

    Examples
    --------
    >>> [c.name for c in parse_conditions("random:16")]
    ['none', 'random:16']
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    return with_none([_parse(word, seed) for word in words])


def read_conditions(path: Path, *, seed: int = 0) -> tuple[Condition, ...]:
    """Conditions of a JSON file: a list of objects, or an object that holds it as ``conditions``.

    Each object has ``name`` and ``kind`` and what the kind needs; ``text`` left out means the
    shipped one.

    Raises
    ------
    InputError
        When the file cannot be read or holds something else.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
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


def _parse(word: str, seed: int) -> Condition:
    if word == "none":
        return NONE
    kind, colon, rest = word.partition(":")
    if not colon or not rest:
        msg = f"condition {word!r} is not of the form KIND:L; write prose:128 or system:json."
        raise InputError(msg)
    if kind == "system":
        return Condition(word, "system", text=_shipped_system(rest))
    number = _whole(rest, word)
    if kind == "text":
        return Condition(word, "text", text=_shipped_sentence(number))
    return _with_text(Condition(word, _NAMED.get(kind, kind), number, seed=seed))


def _from_row(row: object, path: Path, seed: int) -> Condition:
    known = {f.name for f in fields(Condition)}
    if not isinstance(row, dict) or not {"name", "kind"} <= set(row) or not set(row) <= known:
        msg = (
            f"{path} holds the condition {row!r}; give an object with name, kind and some of "
            f"{', '.join(sorted(known - {'name', 'kind'}))}."
        )
        raise InputError(msg)
    given = {"seed": seed, **row, "exclude": tuple(row.get("exclude", ()))}
    for f, kind in (("name", str), ("kind", str), ("text", str), ("length", int), ("seed", int)):
        if f in given and (not isinstance(given[f], kind) or isinstance(given[f], bool)):
            msg = (
                f"{path}: {f} of condition {row['name']!r} is {given[f]!r}; {kind.__name__} wanted."
            )
            raise InputError(msg)
    return _with_text(Condition(**given))


def _with_text(condition: Condition) -> Condition:
    if condition.text or condition.kind not in {"prose", "shuffled", "repeated"}:
        return condition
    name = "repeated_token" if condition.kind == "repeated" else "neutral_passage"
    return replace(condition, text=str(catalogue()[name]))


def _shipped_system(name: str) -> str:
    prompts = catalogue()["system_prompts"]
    if name in prompts:
        return str(prompts[name])
    msg = f"no system prompt is called {name!r}. Shipped: {', '.join(sorted(prompts))}."
    raise InputError(msg)


def _shipped_sentence(number: int) -> str:
    sentences = catalogue()["one_sentence_prefixes"]
    if 1 <= number <= len(sentences):
        return str(sentences[number - 1])
    msg = f"text:{number} is not shipped; there are text:1 to text:{len(sentences)}."
    raise InputError(msg)


def _whole(text: str, word: str) -> int:
    try:
        number = int(text)
    except ValueError as error:
        msg = f"condition {word!r} has the length {text!r}; give a whole number from 0."
        raise InputError(msg) from error
    check_length(number)
    return number
