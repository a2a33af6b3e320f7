"""Where does what is compared merge distinct right answers? Every tokenizer, every relation.

A model is opened for its tokenizer alone; it is asked nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from trueness.backends import open_model
from trueness.backends.protocol import Model, Tokenizer
from trueness.collect.observing import Observable
from trueness.collect.questions import Question, Quiz, questions
from trueness.contract.serial import Json
from trueness.sensors.orbits import GoldCollisions, gold_collisions
from trueness.study.declarations import Declaration
from trueness.study.found import Found
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.task import Task
from trueness.table import Relation, bundled_relation, bundled_relations, wide_relations

_SHOWN = 5
_WHERE = 12

_Key = Callable[[Question], str | None]


def run(task: Task) -> Found:
    """Distinct right answers of each relation, and how many remain under each encoding.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model`` and ``second_model`` name whose tokenizers are audited.
        ``seed``: nothing is random here.
        ``repeats``: at most so many relations, in alphabetical order, those of the wide sets last.
    """
    task.only("model", "second_model")
    names = [
        n for n in (task.inputs.model or _declared(task.declaration), task.inputs.second_model) if n
    ]
    files = (*bundled_relations(), *wide_relations())[: task.repeats]
    relations = [bundled_relation(file) for file in files]
    rows: list[Record] = []
    for name in names:
        task.say(f"tokenizer of {name.rpartition('/')[2]}")
        with closing(open_model(name)) as model:
            # of a file its name is recorded, never its folder
            called = str(model.identity["model"]) if name.startswith("gguf:") else name
            rows += [_row(called, model, relation) for relation in relations]
    read = [row for row in rows if row["first_token"] is not None]
    return Found(
        rows=tuple(rows),
        contrasts={
            "first_token_against_string": _contrast(read, "first_token"),
            "key_against_string": _contrast(rows, "key"),
        },
        draws={"repeats": len(relations), "tokenizers": len(names), "n_tokenized": len(read)},
        notes=_notes(rows),
        published=published_of(task.declaration, {"rows": rows}),
        data=tuple(map(relation_record, files)),
    )


def _declared(declaration: Declaration) -> str:
    return str(declaration.table("inputs")["model"])


def _row(name: str, model: Model, relation: Relation) -> Record:
    """One relation: its distinct right answers as texts, and under each encoding."""
    asked = {gold: _asked(relation, gold) for gold in _golds(relation)}
    found: dict[str, Json] = {
        "name": re.sub(r"\W+", "_", f"{name}_{relation.name}"),
        "tokenizer": name,
        "relation": relation.name,
        "kind": relation.kind,
        "n": len(relation),
        "n_strings": len(asked),
        "key": _encoded(asked, _key_of(Observable("string", None))),
        "first_token": None,
        "first_token_moved_by_the_prompt": None,
    }
    tokenizer = model.tokenizer
    if tokenizer is not None:
        found["first_token"] = _encoded(asked, _key_of(Observable("first_token", tokenizer)))
        found["first_token_moved_by_the_prompt"] = _moved(list(asked.values()), tokenizer)
    return found


def _golds(relation: Relation) -> list[str]:
    return list(dict.fromkeys(gold for golds in relation.golds for gold in golds))


def _asked(relation: Relation, gold: str) -> Question:
    """The first question about an entity of which this is a right answer, with it alone."""
    owner = next(i for i, golds in enumerate(relation.golds) if gold in golds)
    quiz = Quiz(
        relation.name, relation.templates[:1], relation.entities[owner : owner + 1], (gold,)
    )
    return questions(quiz)[0]


def _key_of(rule: Observable) -> _Key:
    def key(question: Question) -> str | None:
        return next(iter(rule.targets(question)), None)

    return key


def _encoded(asked: Mapping[str, Question], key: _Key) -> Json:
    """How many answers are left distinct, and which are merged."""
    keyed = {gold: found for gold, question in asked.items() if (found := key(question))}
    merged: GoldCollisions = gold_collisions({gold: gold for gold in keyed}, keyed.__getitem__)
    largest = sorted(merged.groups, key=len)[::-1][:_SHOWN]
    shown: list[Json] = [list[Json](group[:_SHOWN]) for group in largest]
    return {
        "n_distinct": len(merged.capacities),
        "n_without": len(asked) - len(keyed),
        "n_merged": len(keyed) - len(merged.capacities),
        "n_pairs": merged.n_pairs,
        "largest": max(map(len, merged.groups), default=1 if keyed else 0),
        "groups": shown,
    }


def _moved(asked: Sequence[Question], tokenizer: Tokenizer) -> int:
    """Answers whose first token is another one when prompt and answer are read as one text."""
    moved = 0
    for question in asked:
        joint = question.golds[0] if question.prompt[-1:].isspace() else f" {question.golds[0]}"
        apart = (*tokenizer.encode(question.prompt), *tokenizer.encode(joint)[:1])
        moved += tokenizer.encode(question.prompt + joint)[: len(apart)] != apart
    return moved


def _contrast(rows: Sequence[Record], encoding: str) -> dict[str, Json]:
    """Relations in which the encoding merges answers that are different texts."""
    merged = [row for row in rows if _number(row[encoding], "n_merged") > 0]
    return {
        "n": len(rows),
        "estimate": len(merged),
        "low": len(merged),
        "high": len(merged),
        "kind": "exact count",
        "merged_answers": sum(_number(row[encoding], "n_merged") for row in rows),
        "of_answers": sum(int(str(row["n_strings"])) for row in rows),
        "where": list[Json](str(row["name"]) for row in merged[:_WHERE]),
    }


def _number(record: Json, name: str) -> int:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, int) else 0


def _notes(rows: Sequence[Record]) -> tuple[str, ...]:
    bare = sorted({str(row["tokenizer"]) for row in rows if row["first_token"] is None})
    return tuple(f"{name} has no tokenizer: its strings alone are read." for name in bare)
