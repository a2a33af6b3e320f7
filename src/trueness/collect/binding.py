"""A condition bound to one model: the very ids or text that stand in front of every prompt."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trueness.backends.protocol import Model, Tokenizer, require_capability
from trueness.backends.weights import text_sha256
from trueness.collect.allowing import (
    Answers,
    answers_of,
    check_first_tokens,
    chooser,
    facts_of_answers,
)
from trueness.collect.conditions import MEASURED_BY_LENGTH, Condition
from trueness.collect.prefixes import (
    hash_order,
    passage_prefix,
    random_prefix,
    repeated_prefix,
    shuffled_prefix,
)
from trueness.collect.questions import Question
from trueness.collect.rendering import joined
from trueness.contract.errors import InputError, ProtocolError
from trueness.contract.serial import Json, canonical


@dataclass(frozen=True, slots=True)
class Bound:
    """What a condition sends in front of a prompt.

    Parameters
    ----------
    condition : Condition
    ids : tuple of int or None
        Prefix ids, without BOS; None where text is joined to text.
    text : str
        The prefix as text, where ids is None.
    facts : mapping
        The protocol's field ``condition``: kind, every parameter, hash, length, how it was given.
    tokenizer : Tokenizer or None
    system : str
        A system prompt that goes in a role of its own instead.
    answers : mapping of relation to answers
        What alone may be answered; empty where anything may.
    """

    condition: Condition
    ids: tuple[int, ...] | None
    text: str
    facts: Mapping[str, Json]
    tokenizer: Tokenizer | None = field(repr=False, default=None)
    system: str = ""
    answers: Answers = field(repr=False, default_factory=dict)

    @property
    def noise(self) -> float:
        """Standard deviations added to the embeddings."""
        return self.condition.noise

    def max_tokens(self, usual: int) -> int:
        """The most tokens an answer has: one where a first token is chosen, else as usual.

        A whole text is chosen whole, also where the observable reads its first token alone.
        """
        form = self.condition.allowed
        return 1 if form == "first_token" else max(usual, 2) if form else usual

    def allowed(self, question: Question) -> tuple[str, ...]:
        """The texts of which one is to be written; empty for anything."""
        return tuple(
            joined(question.prompt, name) for name in self.answers.get(question.relation, ())
        )

    def prompt(self, text: str, ids: tuple[int, ...] | None) -> str | tuple[int, ...]:
        """What is sent: [BOS if the model has one] + prefix ids + prompt ids, or joined text."""
        if self.ids is None or ids is None:
            return self.text + text
        return (*self._bos(), *self.ids, *ids)

    @property
    def n_shared(self) -> int:
        """Leading ids that all prompts of the condition have in common."""
        return 0 if self.ids is None else len(self._bos()) + len(self.ids)

    def seam(self, prompt: str) -> str | None:
        """Whether the tokenizer splits joined text as it splits the two parts; None if unknown."""
        if self.tokenizer is None or self.ids is not None:
            return None
        apart = (*self.tokenizer.encode(self.text), *self.tokenizer.encode(prompt))
        return "equal" if self.tokenizer.encode(self.text + prompt) == apart else "differs"

    def _bos(self) -> tuple[int, ...]:
        bos = None if self.tokenizer is None else self.tokenizer.bos
        return () if bos is None else (bos,)


def bind(condition: Condition, model: Model, asked: Sequence[Question] = ()) -> Bound:
    """The condition as this model gets it.

    Parameters
    ----------
    asked : sequence of Question
        Their golds are what a condition with a list of answers allows.

    Raises
    ------
    InputError
        When the passage is too short, a joined text would glue, a repeated token is not one token,
        allowed answers share the token by which one is chosen, or the model lacks what the
        condition needs.
    """
    bound = _bound(condition, model)
    if not (condition.noise or condition.allowed):
        return bound
    cost: dict[str, Json] = {} if condition.has_prefix else {"n_tokens": 0}
    facts = {**bound.facts, **cost, **_facts_of_noise(condition)}
    answers: Answers = {}
    if condition.noise:
        require_capability(model, "embeddings_in", what=f"condition {condition.name!r}")
    if condition.allowed:
        chooser(model, condition)
        answers = answers_of(asked, condition)
        facts |= facts_of_answers(condition, answers)
    if condition.allowed == "first_token":
        check_first_tokens(asked, answers, model.tokenizer, condition.name)
    return replace(bound, facts=facts, answers=answers)


def _bound(condition: Condition, model: Model) -> Bound:
    if not condition.has_prefix:
        ids: tuple[int, ...] | None = None if model.tokenizer is None else ()
        return Bound(condition, ids, "", _facts(condition, ids, "", {}), model.tokenizer)
    if condition.kind == "system":
        return _bind_system(condition, model)
    if condition.kind == "random":
        require_capability(model, "tokens", what=f"condition {condition.name!r}")
    if model.tokenizer is None or (condition.kind == "text" and condition.join == "text"):
        return _bind_text(condition, model)
    ids = _ids(condition, model.tokenizer)
    return Bound(condition, ids, "", _facts(condition, ids, "", {}), model.tokenizer)


def check_bos(prompts: Iterable[str], tokenizer: Tokenizer | None) -> None:
    """Refuse prompts that spell the BOS token which the model is given anyway.

    Raises
    ------
    ProtocolError
        Naming the first such prompt.
    """
    if tokenizer is None or tokenizer.bos is None:
        return
    spelled = tokenizer.decode((tokenizer.bos,))
    for prompt in prompts if spelled else ():
        if prompt.lstrip().startswith(spelled):
            msg = (
                f"two BOS tokens: the prompt {prompt!r} starts with {spelled!r}, and the model is "
                "given one anyway. Remove it from the template."
            )
            raise ProtocolError(msg)


def names_in(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names that stand in a text as words, whatever their case.

    >>> names_in("From Niger to PARIS.", ["Nigeria", "Niger", "Paris"])
    ('Niger', 'Paris')
    """
    folded = _folded(text)
    asked = {name: _folded(name) for name in names if name.strip()} if folded else {}
    return tuple(
        name
        for name, known in asked.items()
        if known in folded and re.search(rf"(?<!\w){re.escape(known)}(?!\w)", folded)
    )


def check_glue(text: str) -> None:
    """Refuse a text prefix that would fuse with the first word of the prompt."""
    if text and not text[-1].isspace():
        end = text[-20:]
        msg = f"prefix must end in whitespace: {end!r} would fuse with the prompt. Add a space."
        raise InputError(msg)


def _ids(condition: Condition, tokenizer: Tokenizer) -> tuple[int, ...]:
    c = condition
    if c.kind == "random":
        excluded = tokenizer.special | frozenset(c.exclude)
        return random_prefix(0, tokenizer.n_vocabulary, c.length, seed=c.seed, excluded=excluded)
    ids = tokenizer.encode(c.text)
    if c.kind == "prose":
        return passage_prefix(ids, c.length, tile=c.tile)
    if c.kind == "shuffled":
        return shuffled_prefix(ids, c.length, seed=c.seed, tile=c.tile)
    if c.kind == "repeated":
        if len(ids) != 1:
            msg = (
                f"condition {c.name!r} repeats {c.text!r}, which is {len(ids)} tokens for this "
                "model; give the text of one token."
            )
            raise InputError(msg)
        return repeated_prefix(ids[0], c.length)
    return ids


def _bind_system(condition: Condition, model: Model) -> Bound:
    ids = model.system_ids(condition.text)
    if ids is not None:
        facts = _facts(condition, ids, "", {"given_as": "chat_system_role"})
        return Bound(condition, ids, "", facts, model.tokenizer)
    if "system_role" in model.capabilities:
        facts = _facts(condition, None, condition.text, {"given_as": "chat_system_role"})
        return Bound(condition, None, "", facts, system=condition.text)
    given = {"given_as": "text_prefix"}
    if model.tokenizer is None:
        check_glue(condition.text)
        facts = _facts(condition, None, condition.text, given)
        return Bound(condition, None, condition.text, facts)
    ids = model.tokenizer.encode(condition.text)
    return Bound(condition, ids, "", _facts(condition, ids, "", given), model.tokenizer)


def _bind_text(condition: Condition, model: Model) -> Bound:
    """Joined text: the length is a target in words then, and 'exactly' is not claimed."""
    text = condition.text
    extra: dict[str, Json] = {}
    if condition.kind in MEASURED_BY_LENGTH:
        text, extra = _words(condition), {"length_is": "target"}
    check_glue(text)
    return Bound(condition, None, text, _facts(condition, None, text, extra), model.tokenizer)


def _words(condition: Condition) -> str:
    if condition.kind == "repeated":
        return f"{condition.text.strip()} " * condition.length
    words = condition.text.split()
    places = passage_prefix(range(len(words)), condition.length, tile=condition.tile)
    if condition.kind == "shuffled":
        places = tuple(places[i] for i in hash_order(range(condition.length), condition.seed))
    return "".join(f"{words[i]} " for i in places)


def _facts(
    condition: Condition, ids: tuple[int, ...] | None, text: str, extra: Mapping[str, Json]
) -> Mapping[str, Json]:
    c = condition
    if not c.has_prefix:
        return {"kind": "none"}
    sent = canonical(list(ids)) if ids is not None else text
    facts: dict[str, Json] = {
        "kind": c.kind,
        "sha256": text_sha256(sent),
        "n_tokens": None if ids is None else len(ids),
        "join": "text" if ids is None else "ids",
        **extra,
    }
    if c.kind in MEASURED_BY_LENGTH:
        facts["length"] = c.length
    if c.kind in {"prose", "shuffled"}:
        facts["tile"] = c.tile
    if c.kind in {"shuffled", "random"}:
        facts["seed"] = c.seed
    if c.kind == "random":
        facts["exclude"] = list(c.exclude)
    if c.text:
        facts["text_sha256"] = text_sha256(c.text)
    return facts


def _facts_of_noise(condition: Condition) -> dict[str, Json]:
    c = condition
    return {"noise": {"sigma": c.noise, "scale": c.scale}} if c.noise else {}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
