"""What a run will ask, before anything is: questions, bound conditions, and their protocols."""

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueness.backends.protocol import Model, Streaming
from trueness.collect.binding import Bound, bind, check_bos, names_in
from trueness.collect.conditions import NONE, Condition, with_none
from trueness.collect.observing import Observable
from trueness.collect.questions import Question, Questionable, questions
from trueness.collect.selfcheck import N_RANDOM
from trueness.collect.tally import Settings
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.extract import normalise_entity
from trueness.table.protocol import Protocol

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be asked, before anything is.

    Parameters
    ----------
    items : mapping of item to Question
    names : sequence of str
        The items in order.
    lengths : sequence of int
        Of each item's prompt without a prefix: in tokens, or in characters where there are none.
    bound : tuple of Bound
        The conditions as the model gets them, ``none`` first.
    aliases : mapping of condition to condition
        Those that ask exactly what another one asks.
    warnings : tuple of str
    asked_back : tuple of Questionable
        Relations without golds, whose answers as the model gives them are asked back.
    """

    items: Mapping[str, Question]
    names: Sequence[str]
    lengths: Sequence[int]
    bound: tuple[Bound, ...]
    aliases: Mapping[str, str]
    warnings: tuple[str, ...]
    asked_back: tuple[Questionable, ...] = ()

    def lengths_under(self, bound: Bound) -> Sequence[int]:
        """Lengths by which the prompts of a condition are ordered: in characters for joined text.

        A prefix is equally long for all of them and left out.
        """
        if bound.ids is not None:
            return self.lengths
        return array("L", (len(question.prompt) for question in self.items.values()))


def plan_of(
    relation: Questionable | Sequence[Questionable],
    model: Model,
    conditions: Sequence[Condition],
    templates: Sequence[int] | None,
    *,
    inverse: bool,
) -> Plan:
    """The questions of one relation or several, and the conditions bound to a model.

    Raises
    ------
    InputError
        For what cannot be asked: named, before the first request.
    """
    relations = relation if isinstance(relation, Sequence) else (relation,)
    own = tuple(r for r in relations if inverse and r.inverse_templates and not r.golds)
    asked = [
        q
        for each in relations
        for q in questions(each, templates, inverse=inverse and each not in own)
    ]
    items = {question.item: question for question in asked}
    if twice := [item for item, n in Counter(q.item for q in asked).items() if n > 1]:
        msg = f"{twice[0]!r} is asked twice; list each entity and each relation once."
        raise InputError(msg)
    _check_visible(asked, model)
    listed = with_none(conditions)
    bound = tuple(bind(c, model, asked) for c in listed if c is NONE or not c.is_empty)
    check_bos((q.prompt for q in asked), model.tokenizer)
    encode = None if model.tokenizer is None else model.tokenizer.encode
    return Plan(
        items,
        tuple(items),
        array("L", (len(encode(q.prompt) if encode else q.prompt) for q in asked)),
        bound,
        {c.name: "none" for c in listed if c is not NONE and c.is_empty},
        tuple(_leaks(asked, bound)),
        own,
    )


def _check_visible(asked: Sequence[Question], model: Model) -> None:
    """Refuse a name of which nothing is left to read: its prompt would ask about nobody."""
    for kind, text in dict.fromkeys(
        pair for q in asked for pair in (("template", q.template), ("entity", q.entity))
    ):
        _check_control(kind, text)
    encode = None if model.tokenizer is None else model.tokenizer.encode
    for name in dict.fromkeys(q.entity for q in asked):
        if name.isascii() and name.isprintable() and name.strip():
            continue
        if not normalise_entity(name) or (encode is not None and not encode(name)):
            points = " ".join(f"U+{ord(c):04X}" for c in name)
            msg = (
                f"the entity {name!r} ({points}) has no token and no visible character; a prompt "
                "would ask about nobody. Name it, or remove it."
            )
            raise InputError(msg)


def _check_control(kind: str, text: str) -> None:
    """Refuse characters that some models stop reading at and terminals obey."""
    if not text.isprintable() and (found := _CONTROL.search(text)):
        msg = (
            f"the {kind} {text!r} holds the control character U+{ord(found[0]):04X} at position "
            f"{found.start()}; visible text, spaces, tabs and line ends are wanted. Remove it."
        )
        raise InputError(msg)


def _leaks(asked: Sequence[Question], bound: Sequence[Bound]) -> list[str]:
    names = [name for q in asked for name in (q.entity, *q.golds)]
    found = ((b.condition.name, names_in(b.condition.text, names)) for b in bound)
    return [
        f"condition {name!r} names {', '.join(map(repr, hits))}: answers can come from its text"
        for name, hits in found
        if hits
    ]


def protocol_of(
    bound: Bound, plan: Plan, model: Model, rule: Observable, settings: Settings
) -> Protocol:
    """How the answers under one condition come about, as its fingerprint is taken from it."""
    names = sorted({q.entity for q in plan.items.values()})
    back = [text for relation in plan.asked_back for text in relation.inverse_templates]
    has_bos = model.tokenizer is not None and model.tokenizer.bos is not None
    fields: dict[str, Json] = {
        **model.identity,
        "decoding": {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": settings.max_tokens,
            "stop": [],
            "observable": rule.kind,
            "extractor": rule.extractor,
        },
        "condition": {**bound.facts, **_named(bound, names, plan)},
        "join": "text" if bound.ids is None else "ids",
        "bos": "prepended" if has_bos and bound.ids is not None else "none",
        "templates": list(dict.fromkeys([*(q.template for q in plan.items.values()), *back])),
        **({"inverse": "own answers"} if back else {}),
        "seed": settings.seed,
        "batch_policy": {
            "size": 1 if isinstance(model, Streaming) else settings.batch_size,
            "order": "token length",
            "shared_prefix": "where the self-check agrees",
            "self_check_random": N_RANDOM,
            "near_tie": settings.near_tie,
        },
    }
    return Protocol(fields)


def _named(bound: Bound, names: Sequence[str], plan: Plan) -> dict[str, Json]:
    """Names of the relation that stand in the condition's text, where any do."""
    golds = [gold for q in plan.items.values() for gold in q.golds]
    hits = names_in(bound.condition.text, [*names, *golds])
    return {"names_in_text": list(hits)} if hits else {}


def check_distinct(protocols: Mapping[str, Protocol]) -> None:
    """Raise `InputError` where two conditions ask exactly the same."""
    seen: dict[str, str] = {}
    for name, protocol in protocols.items():
        other = seen.setdefault(protocol.fingerprint, name)
        if other != name:
            msg = f"conditions {other!r} and {name!r} ask exactly the same; drop one of them."
            raise InputError(msg)
