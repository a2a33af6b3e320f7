"""Binding items made from templates: right and wrong claims that differ in who did what to whom."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, TypeAlias

import numpy as np

from trueness.contract.errors import InputError
from trueness.contract.serial import Json

PER_KIND = 200
"""Items of each kind that are made."""
_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_TRIES = 1_000

Entry: TypeAlias = str | list[str]
"""A word, or several that belong together."""


@dataclass(frozen=True, slots=True)
class Template:
    """Sentences with slots.

    Parameters
    ----------
    kind : str
    number : int
        From 1 within its kind.
    slots : mapping of str to str
        Name of a slot, and the lexicon that fills it.
    evidence : tuple of str
    supported, paraphrase, wrong : str
    """

    kind: str
    number: int
    slots: Mapping[str, str]
    evidence: tuple[str, ...]
    supported: str
    paraphrase: str
    wrong: str


def binding_kinds() -> tuple[str, ...]:
    """The kinds that there are templates for, in their order."""
    return tuple(_templates())


def made_binding_items(
    seed: int = 0, *, per_kind: int = PER_KIND, known: Sequence[str] = ()
) -> tuple[dict[str, Json], ...]:
    """Binding items, the kinds taking turns: no supported sentence stands twice.

    Parameters
    ----------
    seed : int
    per_kind : int
        Items of each kind, at least 1.
    known : sequence of str
        Supported sentences that are not to be made again.

    Returns
    -------
    tuple of dict
        ``id kind template evidence supported control_paraphrase wrong edit word_permutation``, as
        the shipped set has them.

    Raises
    ------
    InputError
        When so many different items cannot be made.

    Examples
    --------
    >>> made = made_binding_items(per_kind=1)
    >>> len(made), made[0]["kind"], made[0]["word_permutation"]
    (12, 'relation_inversion', True)
    """
    if per_kind < 1:
        msg = f"per_kind is {per_kind}; wanted at least 1 item of each kind."
        raise InputError(msg)
    rng, taken = np.random.default_rng(seed), set(known)
    found = []
    for number in range(per_kind):
        for templates in _templates().values():
            template = templates[number % len(templates)]
            found.append(_item(template, number, rng, taken))
    return tuple(found)


def edit_of(supported: str, wrong: str) -> dict[str, Json]:
    """The smallest run of words that leads from one sentence to another, with its places.

    Parameters
    ----------
    supported, wrong : str
        Of one word or more.

    Examples
    --------
    >>> found = edit_of("It is 640 metres long.", "It is 640 kilometres long.")
    >>> found["op"], found["span_supported"], found["before"], found["after"]
    ('replace', [10, 16], 'metres', 'kilometres')
    """
    one, two = list(_WORD.finditer(supported)), list(_WORD.finditer(wrong))
    head = _alike(one, two)
    tail = _alike(one[head:][::-1], two[head:][::-1])
    if head + tail == min(len(one), len(two)):  # an insertion: it takes a word beside it along
        head, tail = (head - 1, tail) if head else (head, tail - 1)
    spans = [_span(words, head, len(words) - tail) for words in (one, two)]
    (a, b), (c, d) = spans
    return {
        "op": "swap" if same_words(supported, wrong) else "replace",
        "span_supported": [a, b],
        "span_wrong": [c, d],
        "before": supported[a:b],
        "after": wrong[c:d],
    }


def same_words(one: str, two: str) -> bool:
    """Whether two sentences use the same words equally often, in any case.

    >>> same_words("Ann saw Bob.", "Bob saw Ann.")
    True
    """
    counts = [Counter(_WORD.findall(text.casefold())) for text in (one, two)]
    return counts[0] == counts[1]


def _item(
    template: Template, number: int, rng: np.random.Generator, taken: set[str]
) -> dict[str, Json]:
    for _ in range(_TRIES):
        words = _words(template, rng)
        supported = _said(template.supported, words)
        if supported not in taken:
            break
    else:
        msg = (
            f"no further item can be made from template {template.number} of {template.kind}; "
            "ask for fewer."
        )
        raise InputError(msg)
    taken.add(supported)
    wrong = _said(template.wrong, words)
    return {
        "id": f"{template.kind}-made-{number + 1}",
        "kind": template.kind,
        "template": template.number,
        "evidence": [_said(text, words) for text in template.evidence],
        "supported": supported,
        "control_paraphrase": _said(template.paraphrase, words),
        "wrong": wrong,
        "edit": edit_of(supported, wrong),
        "word_permutation": same_words(supported, wrong),
    }


def _words(template: Template, rng: np.random.Generator) -> dict[str, Entry]:
    """An entry for every slot, no two slots of one lexicon alike."""
    lexicons = _lexicons()
    found: dict[str, Entry] = {}
    for lexicon in dict.fromkeys(template.slots.values()):
        slots = [slot for slot, name in template.slots.items() if name == lexicon]
        entries = lexicons[lexicon]
        drawn = rng.choice(len(entries), size=len(slots), replace=False)
        found |= {slot: entries[i] for slot, i in zip(slots, drawn.tolist(), strict=True)}
    return found


def _said(text: str, words: Mapping[str, Entry]) -> str:
    """A sentence with its slots filled, beginning with a capital letter."""
    filled = text.format(**words)
    return filled[:1].upper() + filled[1:]


def _alike(one: Sequence[re.Match[str]], two: Sequence[re.Match[str]]) -> int:
    n = 0
    for a, b in zip(one, two, strict=False):
        if a[0] != b[0]:
            break
        n += 1
    return n


def _span(words: Sequence[re.Match[str]], first: int, stop: int) -> tuple[int, int]:
    return words[first].start(), words[stop - 1].end()


@lru_cache(maxsize=1)
def _templates() -> dict[str, list[Template]]:
    found: dict[str, list[Template]] = {}
    for raw in _file()["template"]:
        kind = found.setdefault(raw["kind"], [])
        evidence = tuple(raw["evidence"])
        kind.append(Template(**{**raw, "number": len(kind) + 1, "evidence": evidence}))
    return found


@lru_cache(maxsize=1)
def _lexicons() -> dict[str, list[Entry]]:
    raw = _file()
    found: dict[str, list[Entry]] = dict(raw["lexicon"])
    for table, between in (("joined", " "), ("glued", "")):
        found |= {name: _products(parts, between) for name, parts in raw[table].items()}
    return found


def _products(parts: Sequence[Sequence[str]], between: str) -> list[Entry]:
    first, second = parts
    return [f"{one}{between}{two}" for one in first for two in second]


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    source = resources.files("trueness").joinpath("data", "claims", "binding_templates.toml")
    return tomllib.loads(source.read_text("utf-8"))
