"""Inverse questions about the model's own answers, where no right ones are declared.

They are asked in a second stage, under each condition about the answers that were given under it.
What was given is read from the table itself, so a run that was interrupted in either stage goes on.
"""

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trueness.backends.protocol import Model
from trueness.collect.binding import Bound
from trueness.collect.planning import Plan
from trueness.collect.questions import inverse_questions
from trueness.contract.errors import InputError
from trueness.extract import extract, normalise_entity
from trueness.table import Outcome


def check_text(plan: Plan, observable: str) -> None:
    """Refuse to ask answers back that are not texts.

    Raises
    ------
    InputError
        When first tokens are the answers.
    """
    if plan.asked_back and observable == "first_token":
        msg = (
            f"relation {plan.asked_back[0].name!r} has no golds, so the model's own answers are "
            "asked back, and a first token is no answer to ask about. Use --observe string, or "
            "leave --inverse out."
        )
        raise InputError(msg)


def back_plan(plan: Plan, bound: Bound, given: Mapping[str, Sequence[str]], model: Model) -> Plan:
    """What is asked back under one condition.

    Parameters
    ----------
    plan : Plan
        Of the run; its ``asked_back`` are the relations without golds.
    bound : Bound
    given : mapping of relation to answers
        As `answers_given` reads them.
    model : Model
    """
    asked = [
        q
        for each in plan.asked_back
        for q in inverse_questions(each, dict.fromkeys(given.get(each.name, ()), ()))
    ]
    items = {question.item: question for question in asked}
    encode = None if model.tokenizer is None else model.tokenizer.encode
    lengths = array("L", (len(encode(q.prompt) if encode else q.prompt) for q in asked))
    return replace(plan, items=items, names=tuple(items), lengths=lengths, bound=(bound,))


def check_readable(plan: Plan, out: Path) -> None:
    """Refuse to ask answers back that could not be read again where they are written.

    Raises
    ------
    InputError
        When the table is written to something that is no regular file.
    """
    if plan.asked_back and out.exists() and not out.is_file():
        msg = (
            f"{out} is no regular file, and the answers that are asked back are read from the "
            "table. Name a file, or leave --inverse out."
        )
        raise InputError(msg)


def answers_given(table: Path, relations: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """The distinct answers under each condition of each relation, as they were written.

    Of several spellings of one answer the first in the order of their characters is taken, so that
    the order in which answers came never matters. Answers that cannot be asked about, of which no
    visible character is left, are left out.

    Parameters
    ----------
    table : path
        Rows as `ask` writes them; the last line is whole.
    relations : sequence of str
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    with table.open("rb") as file:
        for row in map(json.loads, file):
            if row.get("relation") not in relations or row.get("outcome") != Outcome.ANSWERED:
                continue
            by_relation = found.setdefault(row["condition"], {})
            texts = by_relation.setdefault(row["relation"], {})
            text = _written(row.get("completion"), row["answer"])
            key = str(row["answer"])
            texts[key] = min(text, texts.get(key, text))
    return {
        condition: {
            relation: sorted(text for text in texts.values() if _can_be_asked(text))
            for relation, texts in by_relation.items()
        }
        for condition, by_relation in found.items()
    }


def _written(completion: str | None, key: str) -> str:
    """The answer as it stands in a completion; its key where that is not known."""
    raw = extract(completion, kind="short_cut").raw if completion else ""
    return raw.strip() or key


def _can_be_asked(text: str) -> bool:
    return bool(normalise_entity(text)) and text.isprintable()
