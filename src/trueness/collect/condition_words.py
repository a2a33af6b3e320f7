"""Conditions as they are typed: ``none,prose:128,shuffled:128@3#1,prose:128+allowed:string``."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from trueness.collect.conditions import (
    FORMS,
    NONE,
    SCALES,
    Condition,
    catalogue,
    passage,
    with_none,
    with_text,
)
from trueness.collect.prefixes import check_length
from trueness.contract.errors import InputError

GRID = "grid"
"""``noise:grid`` stands for every level of the shipped grid."""
TOKENS: Mapping[str, str] = {"the": " the", "a": " a", "comma": ",", "newline": "\n"}
"""Repeated tokens with a name."""
_PART = re.compile(r"(?P<kind>\w+):(?P<what>[^@#]+)(?:@(?P<at>[^@#]+))?(?:#(?P<seed>\d+))?")


def parse_conditions(text: str, *, seed: int = 0) -> tuple[Condition, ...]:
    """Conditions of a list like ``none,prose:128,shuffled:128@3#1,the:128,system:json,noise:0.4``.

    ==========================  ===============================================================
    ``prose:L``, ``shuffled:L`` the neutral passage; ``@P`` the P-th of eight others
    ``the:L``, ``a:L`` …        ``repeated:L`` with a token of that name; also comma, newline
    ``random:L``                random ids; ``#S`` here and for ``shuffled``: another seed
    ``text:N``, ``text:NAME``   the N-th shipped sentence; a shipped system prompt as plain text
    ``system:NAME``             a shipped system prompt; ``@2``, ``@3`` its paraphrases
    ``noise:σ``                 noise on the embeddings; ``noise:grid`` the shipped levels;
                                ``@table`` in units of the embedding matrix
    ``allowed:FORM``            only the relation's right answers; ``first_token`` or ``string``
    ==========================  ===============================================================

    Noise and allowed answers can be added to a prefix: ``prose:128+allowed:string``. ``none``
    comes first, named or not.

    Raises
    ------
    InputError
        For an unknown kind, a number or name that is none, or a name given twice.

    Examples
    --------
    >>> [c.name for c in parse_conditions("random:16,prose:32@2+noise:0.4")]
    ['none', 'random:16', 'prose:32@2+noise:0.4']
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    return with_none([c for word in words for c in _conditions(word, seed)])


def _conditions(word: str, seed: int) -> Iterator[Condition]:
    """The conditions that a word stands for: one, or one for every level of a grid."""
    if f"noise:{GRID}" not in word:
        yield _one(word, seed)
        return
    for sigma in catalogue()["noise_sigmas"]:
        yield _one(word.replace(f"noise:{GRID}", f"noise:{sigma:g}"), seed)


def _one(word: str, seed: int) -> Condition:
    if word == "none":
        return NONE
    first, *more = (_part(piece, word) for piece in word.split("+"))
    made = _OF.get(first.kind, _by_length)(first, Condition(word, "noise", seed=seed))
    for part in more:
        if part.kind not in {"noise", "allowed"}:
            msg = f"condition {word!r} adds {part.kind!r}; only noise and allowed can be added."
            raise InputError(msg)
        made = _OF[part.kind](part, made)
    return made


@dataclass(frozen=True, slots=True)
class _Part:
    """One piece of a word: ``kind:what@at#seed``."""

    word: str
    kind: str
    what: str
    at: str | None
    seed: int | None

    def whole(self, text: str, what: str) -> int:
        """A whole number from 0."""
        if not re.fullmatch(r"-?\d+", text):
            msg = f"condition {self.word!r} has the {what} {text!r}; give a whole number from 0."
            raise InputError(msg)
        check_length(int(text))
        return int(text)

    def bare(self) -> None:
        """Refuse what this kind has no use for."""
        given = f"@{self.at}" if self.at is not None else f"#{self.seed}"
        if self.at is not None or self.seed is not None:
            msg = f"condition {self.word!r}: {self.kind} takes no {given}; leave it out."
            raise InputError(msg)


def _part(piece: str, word: str) -> _Part:
    found = _PART.fullmatch(piece)
    if found is None:
        msg = f"condition {word!r} is not of the form KIND:L; write prose:128 or system:json."
        raise InputError(msg)
    seed = None if found["seed"] is None else int(found["seed"])
    return _Part(word, found["kind"], found["what"], found["at"], seed)


def _by_length(part: _Part, made: Condition) -> Condition:
    length = part.whole(part.what, "length")
    kind = "repeated" if part.kind in TOKENS else part.kind
    made = replace(made, kind=kind, length=length)
    if part.seed is not None:
        if kind not in {"shuffled", "random"}:
            replace(part, at=None).bare()
        made = replace(made, seed=part.seed)
    if part.at is not None:
        if kind not in {"prose", "shuffled"}:
            part.bare()
        number = part.whole(part.at, "passage")
        return replace(made, text=passage(number, f"condition {part.word!r}"))
    return with_text(replace(made, text=TOKENS.get(part.kind, "")))


def _text(part: _Part, made: Condition) -> Condition:
    if not part.what.lstrip("-").isdigit():
        return replace(made, kind="text", text=_system_prompt(part))
    part.bare()
    sentences, number = catalogue()["one_sentence_prefixes"], int(part.what)
    if not 1 <= number <= len(sentences):
        msg = f"text:{number} is not shipped; there are text:1 to text:{len(sentences)}."
        raise InputError(msg)
    return replace(made, kind="text", text=str(sentences[number - 1]))


def _system(part: _Part, made: Condition) -> Condition:
    return replace(made, kind="system", text=_system_prompt(part))


def _system_prompt(part: _Part) -> str:
    """A shipped system prompt, or one of its paraphrases."""
    prompts, others = catalogue()["system_prompts"], catalogue()["system_paraphrases"]
    if part.what not in prompts:
        msg = f"no system prompt is called {part.what!r}. Shipped: {', '.join(sorted(prompts))}."
        raise InputError(msg)
    if part.seed is not None:
        part.bare()
    forms = (prompts[part.what], *others.get(part.what, ()))
    number = 1 if part.at is None else part.whole(part.at, "paraphrase")
    if not 1 <= number <= len(forms):
        msg = f"condition {part.word!r}: {part.what} has the wordings 1 to {len(forms)}."
        raise InputError(msg)
    return str(forms[number - 1])


def _noise(part: _Part, made: Condition) -> Condition:
    if part.seed is not None or part.at not in {None, *SCALES}:
        msg = (
            f"condition {part.word!r}: noise takes @{' or @'.join(SCALES)} alone. Noise follows "
            "the seed of the run."
        )
        raise InputError(msg)
    try:
        sigma = float(part.what)
    except ValueError as error:
        msg = (
            f"condition {part.word!r} has the noise {part.what!r}; give a number of standard "
            f"deviations from 0, or {GRID}."
        )
        raise InputError(msg) from error
    draws = int(catalogue()["noise_draws"])
    return replace(made, noise=sigma, scale=part.at or SCALES[0], draws=draws)


def _allowed(part: _Part, made: Condition) -> Condition:
    part.bare()
    if part.what not in FORMS:
        msg = f"condition {part.word!r} allows by {part.what!r}; give {' or '.join(FORMS)}."
        raise InputError(msg)
    kind = "allowed" if made.kind == "noise" and not made.noise else made.kind
    return replace(made, kind=kind, allowed=part.what)


_OF: Mapping[str, Callable[[_Part, Condition], Condition]] = {
    "text": _text,
    "system": _system,
    "noise": _noise,
    "allowed": _allowed,
}
