"""Answers collected for a study: one table for all relations and conditions, and its record."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueness.backends import open_model
from trueness.backends.protocol import Model
from trueness.backends.registry import LOCAL_FILES
from trueness.backends.weights import cache_dir
from trueness.collect import Condition, ask, facts_of, parse_conditions
from trueness.collect.beside import NUMBERS
from trueness.collect.keeping import Progress
from trueness.contract.errors import MissingExtraError
from trueness.contract.serial import Json, plain
from trueness.extract import keyed, named
from trueness.study.assessed import absent
from trueness.study.declarations import Declaration
from trueness.study.found import Found
from trueness.study.published import published_of
from trueness.study.relations import relation_record
from trueness.study.results import Record
from trueness.study.spent import Spent
from trueness.study.task import Task
from trueness.table import AnswerTable, Relation, bundled_relation, read_answers
from trueness.table.native import rows_of

_KEPT = (
    "item", "epoch", "condition", "relation", "entity", "template", "outcome", "answer", "reason",
    "target", "entity_key", "completion", "seam", "nondeterministic", *NUMBERS,
)  # fmt: skip
"""Columns of the table that lies beside a result; what a measurement can depend on."""
_INSIDE = frozenset({"logits", "embeddings_in", "hidden_states"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What was collected.

    Parameters
    ----------
    table : AnswerTable
    relations : mapping of name to Relation
        As they were asked: cut to the limit.
    classes : mapping of condition to class
        As declared; ``none`` is a class of its own.
    model : mapping
    protocols : tuple of mapping
    spent : Spent
    notes : tuple of str
    """

    table: AnswerTable
    relations: Mapping[str, Relation]
    classes: Mapping[str, str]
    model: Record
    protocols: tuple[Record, ...]
    spent: Spent
    notes: tuple[str, ...]

    def rows(self) -> tuple[Record, ...]:
        """The table as it lies beside the result."""
        found = (plain(row) for row in rows_of(self.table))
        return tuple(
            {name: row[name] for name in _KEPT if row.get(name) is not None}
            for row in found
            if isinstance(row, dict)
        )

    def members(self, kind: str) -> tuple[str, ...]:
        """The conditions of one class that have rows, in declared order."""
        held = set(self.table.conditions)
        return tuple(name for name, each in self.classes.items() if each == kind and name in held)


@contextmanager
def opened(task: Task, relations: Sequence[Relation] = ()) -> Iterator[Model]:
    """The model of a run: the one that was named, else the declared one.

    Scripted models are told the first relation's right answers; the others are told nothing.
    A local file is opened for the capabilities that the declaration wants where what they need is
    installed; else without them.
    """
    name = task.inputs.model or str(task.declaration.table("inputs")["model"])
    facts: dict[str, str] = {}
    for relation in relations:
        facts = {**facts_of(relation), **facts}
    with closing(_open(name, task.declaration, facts)) as model:
        yield model


def _open(name: str, declaration: Declaration, facts: Mapping[str, str]) -> Model:
    looked_at = {*declaration.requires, *declaration.wants}
    try:
        return open_model(name, _options(name, looked_at), facts=facts)
    except MissingExtraError:
        if not declaration.wants:
            raise
    return open_model(name, _options(name, declaration.requires), facts=facts)


def _options(name: str, looked_at: Collection[str]) -> dict[str, str] | None:
    """How a local file runs: through transformers where the study looks inside, else llama.cpp."""
    inside = name.partition(":")[0] in LOCAL_FILES and not _INSIDE.isdisjoint(looked_at)
    return {"runtime": "transformers"} if inside else None


def lacking(declaration: Declaration, model: Model) -> str | None:
    """Why a model cannot be asked what a study needs; None when it can.

    Tokens are wanted and not needed: without them `collected` compares texts.
    """
    held = model.capabilities | {"tokens"}
    missing = [name for name in declaration.requires if name not in held]
    if not missing:
        return None
    return (
        f"the study {declaration.id} needs {', '.join(missing)}; model {model.name!r} offers "
        f"{', '.join(sorted(model.capabilities))}"
    )


def declared_relations(declaration: Declaration, most: int) -> dict[str, Relation]:
    """The declared relations by file name, each with at most so many entities."""
    named = declaration.table("inputs")["relations"]
    return {name: bundled_relation(name).first(most) for name in map(str, named)}


def declared_conditions(declaration: Declaration) -> tuple[tuple[Condition, ...], dict[str, str]]:
    """The conditions of a declaration, ``none`` first, and the class of each by name.

    ``prefix``, ``system``, ``noise`` and ``allowed`` of a ``[[condition]]`` hold conditions as
    they are typed for ``ask``, in one text.
    """
    words: list[str] = []
    classes = {"none": "none"}
    for entry in declaration.raw.get("condition", ()):
        for kind in ("prefix", "system", "noise", "allowed"):
            listed = [w.strip() for w in str(entry.get(kind, "")).split(",") if w.strip()]
            words += [word for word in listed if word not in words]
            classes |= {word: str(entry["class"]) for word in listed}
    return parse_conditions(",".join(words)), classes


def ask_declared(task: Task, **given: Any) -> Asked | Found:
    """The declared relations under the declared conditions; a record where a model cannot be asked.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    **given
        As `collected`.
    """
    task.only("model")
    relations = declared_relations(task.declaration, task.repeats)
    try:
        with opened(task, list(relations.values())) as model:
            if (missing := lacking(task.declaration, model)) is not None:
                return not_applicable(task, missing)
            return collected(task, model, relations, **given)
    except MissingExtraError as error:
        return not_applicable(task, str(error))


def found_of(
    task: Task, asked: Asked, rows: Sequence[Record], contrasts: Mapping[str, Record], **draws: Json
) -> Found:
    """What was found on a table that was asked, with where it came from."""
    return Found(
        rows=tuple(rows),
        contrasts=contrasts,
        draws={"repeats": task.repeats, **draws},
        notes=asked.notes,
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=asked.spent,
        data=tuple(relation_record(name, relation) for name, relation in asked.relations.items()),
        model=asked.model,
        protocols=asked.protocols,
        table=asked.rows(),
    )


def not_applicable(task: Task, why: str) -> Found:
    """The record of a study that cannot be answered here, with the reason at every contrast."""
    return Found(
        rows=(),
        contrasts={c.name: absent(why) for c in task.declaration.contrasts},
        draws={"repeats": task.repeats},
        notes=(why,),
        published=published_of(task.declaration, {"rows": []}),
        not_applicable=why,
    )


def collected(
    task: Task,
    model: Model,
    relations: Mapping[str, Relation],
    *,
    conditions: Sequence[Condition] | None = None,
    **given: Any,
) -> Asked:
    """Every relation under every declared condition, asked into one table.

    What an interrupted run had asked comes out of the request cache.

    Parameters
    ----------
    task : Task
    conditions : sequence of Condition, optional
        In place of the declared ones.
    **given
        As `trueness.collect.ask`; ``checked`` defaults to the first condition of each class.
    """
    declared, classes = declared_conditions(task.declaration)
    used, given, deviates = _without_tokens(
        model,
        declared if conditions is None else tuple(conditions),
        {**_protocol(task.declaration), **given},
    )
    classes = {c.name: classes.get(c.name, c.name) for c in used}
    first = {kind: name for name, kind in reversed(classes.items())}
    given = {"checked": frozenset(first.values()), **given}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "table.jsonl"
        cache = cache_dir() / "requests.sqlite"
        cache.parent.mkdir(parents=True, exist_ok=True)
        done = ask(
            tuple(relations.values()),
            model,
            used,
            out=out,
            seed=task.seed,
            cache=cache,
            progress=_steps(task.progress),
            **given,
        )
        table = named(keyed(read_answers(out)))
    checked = [name for name in classes if name in given["checked"]]
    named_ones = ", ".join(checked)
    few = f"of {len(classes)} conditions these are checked when first asked: {named_ones}"
    return Asked(
        table=table,
        relations=relations,
        classes=classes,
        model=dict(model.identity),
        protocols=_protocols(table),
        spent=Spent(
            requests=done.n_asked + done.n_checks,
            cache_hits=done.n_cached,
            tokens_in=done.tokens_in,
            tokens_out=done.tokens_out,
        ),
        notes=(*deviates, *done.warnings, *((few,) if len(checked) < len(classes) else ())),
    )


def _without_tokens(
    model: Model, conditions: tuple[Condition, ...], given: dict[str, Any]
) -> tuple[tuple[Condition, ...], dict[str, Any], tuple[str, ...]]:
    """What is asked of a model behind text alone, and how that deviates."""
    if model.tokenizer is not None:
        return conditions, given, ()
    used = tuple(c for c in conditions if c.kind != "random")
    dropped = [c.name for c in conditions if c.kind == "random"]
    notes = ["no token ids here: answers are compared as texts, prefixes are words"]
    notes += [f"not asked without token ids: {', '.join(dropped)}"] if dropped else []
    return used, {**given, "observable": "string"}, tuple(notes)


def _protocol(declaration: Declaration) -> dict[str, Any]:
    """Decoding as declared, in the words of `ask`."""
    said = declaration.table("protocol")
    named = {"observable": "observable", "max_tokens": "max_tokens", "batch": "batch_size"}
    found: dict[str, Any] = {to: said[name] for name, to in named.items() if name in said}
    templates = declaration.table("inputs").get("templates")
    return found if templates is None else {**found, "templates": tuple(templates)}


def _protocols(table: AnswerTable) -> tuple[Record, ...]:
    """Fingerprint and text of the protocol without a prefix; of the others what differs."""
    base = table.protocols.get("none")
    found: list[Record] = []
    for name, protocol in table.protocols.items():
        text: Mapping[str, Json] = protocol.fields
        if base is not None and name != "none":
            text = {k: v for k, v in text.items() if base.fields.get(k) != v}
        found.append({"condition": name, "fingerprint": protocol.fingerprint, "text": dict(text)})
    return tuple(found)


def _steps(progress: Callable[[str], None] | None) -> Progress | None:
    """One line a condition, not one a batch."""
    if progress is None:
        return None
    said: set[str] = set()

    def step(done: int, wanted: int, name: str, _errors: Mapping[str, int]) -> None:
        if name not in said:
            said.add(name)
            progress(f"{name}: {done} of {wanted} rows")

    return step
