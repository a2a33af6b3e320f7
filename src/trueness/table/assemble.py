"""From the columns of a source to a table: keys, epochs, repeats, outcomes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.table.aliases import Roles
from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.cells import Source
from trueness.table.column import NULL, Column
from trueness.table.jsonlines import FORMAT
from trueness.table.keys import epochs_of, number_epochs, row_keys, without_repeats
from trueness.table.protocol import Protocol
from trueness.table.shapes import GREEDY, NO_CONDITION, with_greedy

_LABELS = ("relation", "entity", "template", "group", "model", "entity_key")
_PLANNED = ("epochs", "draws", "k", "planned")
"""Under one of these names the protocol of a grouped file may say how many draws were wanted."""


def assemble(source: Source, roles: Roles) -> AnswerTable:
    """The table that a source holds.

    Raises
    ------
    InputError
        When a row has no item, an unknown outcome, an epoch that is no whole number, or the key
        of another row with other text.
    """
    n = source.n_rows
    labels = {role: source.text(roles.columns[role]) for role in _LABELS if role in roles}
    item = _items(source, roles, labels)
    completion = source.answers(roles.columns["completion"]) if "completion" in roles else None
    outcome, answer, reason = _outcomes(source, roles, completion)
    condition = _conditions(source, roles)
    notes = [*source.notes, *roles.notes, *_notes_of(source.header)]
    epoch = epochs_of(source.text(roles.columns["epoch"]), notes) if "epoch" in roles else None
    table = AnswerTable(
        item=item,
        epoch=np.ones(n, dtype=np.int32) if epoch is None else epoch,
        condition=condition,
        outcome=outcome,
        answer=answer,
        reason=reason,
        row_number=np.asarray(source.row_numbers, dtype=np.int64),
        completion=completion,
        target=source.golds(roles.columns["target"]) if "target" in roles else None,
        logprob=_floats(source.numbers(roles.columns["logprob"])) if "logprob" in roles else None,
        observer=_observers(source, roles),
        weight=_weights(source, roles, notes),
        extras=_extras(source, roles),
        completed=source.completed and (source.header or {}).get("completed") is not False,
        extractor=_extractor(source.header),
        relation=labels.get("relation"),
        entity=labels.get("entity"),
        template=labels.get("template"),
        group=labels.get("group"),
        model=labels.get("model"),
        entity_key=labels.get("entity_key"),
    )
    table = _drawn(table, notes)
    table = replace(
        table,
        protocols=_protocols(source.header, table.conditions),
        planned=_planned(source.header, table.conditions),
        observed=_observed(source.header),
    )
    last_wins = source.header is not None and FORMAT in source.header
    table = _with_epochs(table, notes, numbered=epoch is not None, last_wins=last_wins)
    return replace(table, notes=tuple(notes))


def _with_epochs(
    table: AnswerTable, notes: list[str], *, numbered: bool, last_wins: bool
) -> AnswerTable:
    """One row a key: epochs are counted where there are none, repeats dropped where there are."""
    keys = row_keys(table)
    if numbered:
        return without_repeats(table, keys, last_wins=last_wins)
    numbers = number_epochs(keys)
    if numbers is not None:
        notes.append("The source has no epochs: rows of one item were numbered in file order.")
        table = replace(table, epoch=numbers)
    return replace(table, epochs_numbered=True)


def _drawn(table: AnswerTable, notes: list[str]) -> AnswerTable:
    """The rows that were drawn at least once."""
    if table.weight is None or table.weight.all():
        return table
    notes.append(f"{np.count_nonzero(table.weight == 0)} rows were drawn 0 times and are left out.")
    if not table.weight.any():
        msg = "every row was drawn 0 times; at least one draw is wanted. Check the counts."
        raise InputError(msg)
    return table.take(table.weight > 0)


def _items(source: Source, roles: Roles, labels: Mapping[str, Column[str]]) -> Column[str]:
    if "item" in roles:
        return _complete(source.text(roles.columns["item"]), roles.columns["item"])
    if "entity" in labels:
        parts = [labels[role] for role in ("relation", "entity", "template") if role in labels]
        _complete(labels["entity"], roles.columns["entity"])
        return parts[0] if len(parts) == 1 else _joined(parts)
    question = _complete(source.text(roles.columns["question"]), roles.columns["question"])
    return question.map(_digest)


def _complete(column: Column[str], name: str) -> Column[str]:
    if (column.codes == NULL).any():
        row = int(np.argmax(column.codes == NULL)) + 1
        msg = (
            f"row {row} has nothing in column {name!r}; every row needs it to say what was asked. "
            "Fill it or remove the row."
        )
        raise InputError(msg)
    return column


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _joined(parts: list[Column[str]]) -> Column[str]:
    """One label of several: ``relation|entity|template``."""
    distinct, codes = np.unique(
        np.stack([p.codes for p in parts], axis=1), axis=0, return_inverse=True
    )
    words = [
        "|".join("" if c == NULL else p.words[c] for p, c in zip(parts, row, strict=True))
        for row in distinct.tolist()
    ]
    again = Column.of(words)
    return Column(again.codes[codes.reshape(-1)], again.words)


def _conditions(source: Source, roles: Roles) -> Column[str]:
    if "condition" not in roles:
        return constant(source.n_rows, NO_CONDITION)
    column = source.text(roles.columns["condition"])
    if not (column.codes == NULL).any():
        return column
    words = (*column.words, NO_CONDITION)
    at = words.index(NO_CONDITION)
    return Column(np.where(column.codes == NULL, np.int32(at), column.codes), words)


def constant(n_rows: int, word: str | None) -> Column[str]:
    """A column with one word, or with nothing, in every row; it takes no memory."""
    code = np.int32(NULL if word is None else 0)
    return Column(np.broadcast_to(code, (n_rows,)), () if word is None else (word,))


def _outcomes(
    source: Source, roles: Roles, completion: Column[str] | None
) -> tuple[NDArray[np.int8], Column[str], Column[str]]:
    """Recorded outcomes; without them, answered where there is something, else why not."""
    n = source.n_rows
    empty = constant(n, None)
    answer = source.answers(roles.columns["answer"]) if "answer" in roles else empty
    reason = source.text(roles.columns["reason"]) if "reason" in roles else empty
    if "outcome" in roles:
        outcome = _recorded(source.text(roles.columns["outcome"]))
        answered = outcome == OUTCOMES.index(Outcome.ANSWERED)
        _check_answered(answered, answer, completion, source.header)
        codes = np.where(answered, answer.codes, np.int32(NULL))
        reason = Column(np.where(answered, np.int32(NULL), reason.codes), reason.words)
        return outcome, Column(codes, answer.words), reason
    content = completion if completion is not None else answer
    missing = content.codes == NULL
    if not missing.any():
        return np.zeros(n, dtype=np.int8), answer, empty
    what = Outcome.ERROR if completion is not None else Outcome.NO_ANSWER
    why = "missing_completion" if completion is not None else "no_candidate"
    outcome = np.where(missing, OUTCOMES.index(what), 0).astype(np.int8)
    return outcome, answer, Column(np.where(missing, 0, NULL).astype(np.int32), (why,))


def _recorded(column: Column[str]) -> NDArray[np.int8]:
    known = {o.value: i for i, o in enumerate(OUTCOMES)}
    used = np.unique(column.codes)
    lookup = np.zeros(len(column.words), dtype=np.int8)
    for code in used.tolist():
        word = None if code == NULL else column.words[code].strip().lower()
        if word not in known:
            row = int(np.argmax(column.codes == code)) + 1
            msg = (
                f"row {row} has the outcome {word!r}; {', '.join(known)} are known. "
                "Use one of these, or leave the column out."
            )
            raise InputError(msg)
        lookup[code] = known[word]
    return lookup[column.codes]


def _check_answered(
    answered: NDArray[np.bool_],
    answer: Column[str],
    completion: Column[str] | None,
    header: Mapping[str, Json] | None,
) -> None:
    keyed = header is not None and header.get("extractor") is not None
    bare = answered & (answer.codes == NULL)
    if completion is not None and not keyed and (answer.codes == NULL).all():
        bare &= completion.codes == NULL
    if bare.any():
        msg = (
            f"row {int(np.argmax(bare)) + 1} is answered and holds no answer. "
            "Write the answer, or the outcome that it had."
        )
        raise InputError(msg)


def _floats(column: Column[str]) -> NDArray[np.float64]:
    values = np.full(len(column.words) + 1, np.nan)
    for i, word in enumerate(column.words):
        try:
            values[i] = float(word) if word else np.nan
        except ValueError:
            row = int(np.argmax(column.codes == i)) + 1
            msg = (
                f"row {row} has the log-probability {word!r}; a number is wanted. "
                "Write a number, or nothing where it is not known."
            )
            raise InputError(msg) from None
    return values[column.codes]


def _observers(source: Source, roles: Roles) -> Column[tuple[float, ...]] | None:
    return source.vectors(roles.columns["observer"]) if "observer" in roles else None


def _weights(source: Source, roles: Roles, notes: list[str]) -> NDArray[np.int64] | None:
    """How often each row was drawn; a column that only may say so must hold whole numbers."""
    if "weight" not in roles:
        return None
    name = roles.columns["weight"]
    weights = source.wholes(name)
    if weights is not None:
        if name in roles.guessed:
            notes.append(f"Column {name!r} was taken as how often each row was drawn.")
        return weights
    if name in roles.guessed:
        return None
    msg = (
        f"column {name!r} holds something else than whole numbers from 0; how often each row was "
        "drawn is wanted there. Repair it, or rename the column."
    )
    raise InputError(msg)


def _extras(source: Source, roles: Roles) -> dict[str, Column[str]]:
    return {name: source.evidence(column) for name, column in roles.evidence.items()}


def _protocols(header: Mapping[str, Json] | None, conditions: Sequence[str]) -> dict[str, Protocol]:
    protocols = (header or {}).get("protocols")
    if isinstance(protocols, dict):
        return {c: Protocol(f) for c, f in protocols.items() if isinstance(f, dict)}
    one = (header or {}).get("protocol")
    if not isinstance(one, dict):
        return {}
    fields = {name: value for name, value in one.items() if name not in {"note", *_PLANNED}}
    return {c: Protocol(with_greedy(fields) if _is_greedy(c) else fields) for c in conditions}


def _planned(header: Mapping[str, Json] | None, conditions: Sequence[str]) -> dict[str, int]:
    planned = (header or {}).get("planned")
    if isinstance(planned, dict):
        return {c: k for c, k in planned.items() if type(k) is int}
    one = (header or {}).get("protocol")
    named = [one.get(name) for name in _PLANNED] if isinstance(one, dict) else []
    draws = next((k for k in named if type(k) is int), None)
    if draws is None:
        return {}
    return {c: 1 if _is_greedy(c) else draws for c in conditions}


def _is_greedy(condition: str) -> bool:
    return condition == GREEDY or condition.startswith(f"{GREEDY}:")


def _observed(header: Mapping[str, Json] | None) -> dict[str, Json]:
    found = (header or {}).get("observed")
    return dict(found) if isinstance(found, dict) else {}


def _notes_of(header: Mapping[str, Json] | None) -> list[str]:
    """Sentences that a header carries: a note about the data, and what was decided before."""
    one = (header or {}).get("protocol")
    note = one.get("note") if isinstance(one, dict) else None
    notes = (header or {}).get("notes")
    earlier = notes if isinstance(notes, list) else []
    return [n for n in (note, *earlier) if isinstance(n, str)]


def _extractor(header: Mapping[str, Json] | None) -> str | None:
    name = (header or {}).get("extractor")
    return name if isinstance(name, str) else None
