"""Answer keys for a whole table, made once for every distinct text."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.extract.naming import VERBATIM
from trueness.extract.settings import Extractor, Kind, Locale, Settings, Units
from trueness.extract.short import short_rule
from trueness.extract.short_answers import KINDS as SHORT_KINDS
from trueness.extract.short_answers import Kind as ShortKind
from trueness.extract.short_answers import key_rule, reason_rule, short_name
from trueness.extract.shown_choices import CHOICES, ORDER
from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.column import NULL, Column
from trueness.table.singles import SingleWords

SHUFFLED = "shuffled_choices"
"""Field of a protocol that says that every draw saw the options in an order of its own."""
_ANSWERED, _NO_ANSWER, _REFUSED, _ERROR = (
    OUTCOMES.index(o) for o in (Outcome.ANSWERED, Outcome.NO_ANSWER, Outcome.REFUSED, Outcome.ERROR)
)


def keyed(
    table: AnswerTable,
    *,
    kind: Kind = "short",
    fold_case: bool = True,
    extractor: Extractor = "declared",
    units: Units = "ignore",
    locale: Locale = "en",
    decimals: int | None = None,
    labels: Sequence[str] | None = None,
) -> AnswerTable:
    """The table with outcome, key and reason of every row, and golds through the same rules.

    A table that already records its extractor is returned as it is. Rows whose outcome was
    recorded as something else than ``answered`` keep it. Every distinct text is read once.

    Answers that were handed in as keys stay as they are, golds too; for the short kinds they go
    through the rules of the key, so that they can be compared with a declaration's. Where the rows
    of an option question carry ``choices`` (a JSON list of the options in the order shown) or
    ``choice_order`` (the order shown, where it is another), the key is the option's text.

    Parameters
    ----------
    table : AnswerTable
        As it was read.
    kind : {"number", "option", "text", "short", "short_cut", "set", "tuple", "auto"}
        What sort of key the answers have.
    fold_case : bool
        For the short kinds: whether upper and lower case are one key.
    extractor : {"declared", "strict", "last_number", "letter_line", "tool"}
        Which rules; ``tool`` takes what the log stored.
    units, locale, decimals, labels
        As in `extract`.

    Returns
    -------
    AnswerTable
        With ``extractor`` set, and notes about golds that have no key. ``extras`` gain ``unit``,
        ``flag`` and ``spelling`` (the text that a key was made from) where there are any.

    Raises
    ------
    InputError
        For a setting that is not known.
    """
    if table.extractor is not None:
        return table
    settings = Settings(
        kind=kind,
        extractor=extractor,
        labels=None if labels is None else tuple(labels),
        locale=locale,
        units=units,
        decimals=decimals,
        choices_by_text=kind == "option" and bool({CHOICES, ORDER} & set(table.extras)),
    )
    _check_order(table)
    if kind in SHORT_KINDS:
        return _short(table, kind, fold_case=fold_case)
    if _holds_keys(table):
        return replace(table, extractor=VERBATIM, target=_without_blank(table.target))
    from trueness.extract.completions import keyed_completions, keyed_golds  # noqa: PLC0415 - slow to load, and the short kinds need none of it

    table, notes = keyed_golds(table, settings)
    table = keyed_completions(table, settings)
    return replace(table, notes=(*table.notes, *notes), extractor=settings.name)


def _check_order(table: AnswerTable) -> None:
    """Raise `InputError` where options were shuffled and nothing says in which order."""
    shuffled = [c for c, p in table.protocols.items() if p.fields.get(SHUFFLED)]
    if shuffled and not {CHOICES, ORDER} & set(table.extras):
        msg = (
            f"the protocol of condition {shuffled[0]!r} says {SHUFFLED}, and no column {CHOICES!r} "
            "or choice_order says in which order a draw was shown them; letters cannot be "
            "compared. Record the order of every draw."
        )
        raise InputError(msg)


def _holds_keys(table: AnswerTable) -> bool:
    """Whether the answers were handed in as keys."""
    return table.completion is None or bool((table.answer.codes != NULL).any())


def _without_blank(
    target: Column[tuple[str, ...]] | None,
) -> Column[tuple[str, ...]] | None:
    """Golds as they are; a blank one, such as an empty cell, is no gold."""
    if target is None:
        return None
    return target.map(lambda golds: tuple(gold for gold in golds if gold.strip()) or None)


def _short(table: AnswerTable, kind: ShortKind, *, fold_case: bool) -> AnswerTable:
    target, notes = _keyed_targets(table.target, kind, fold_case=fold_case)
    table = replace(
        table,
        target=target,
        notes=(*table.notes, *notes),
        extractor=short_name(kind, fold_case=fold_case),
    )
    if table.completion is None or _holds_keys(table):
        return _answers_as_keys(table, fold_case=fold_case)
    key = table.completion.map(key_rule(kind, fold_case=fold_case))
    missing = table.completion.codes == NULL
    if np.array_equal(key.codes == NULL, missing):
        reason: Column[str] = Column(np.broadcast_to(np.int32(NULL), (len(table),)), ())
    else:
        reason = table.completion.map(reason_rule(kind))
    return _with_keys(table, missing, key, reason)


def _with_keys(
    table: AnswerTable, missing: NDArray[np.bool_], key: Column[str], reason: Column[str]
) -> AnswerTable:
    open_rows = table.outcome == _ANSWERED
    no_answer = reason.codes != NULL
    if open_rows.all() and not no_answer.any() and not missing.any():
        return replace(table, answer=key)
    outcome = table.outcome.copy()
    names = [str(word) for word in reason.words]
    refused = np.isin(reason.codes, [i for i, w in enumerate(names) if w == "refusal"])
    outcome[open_rows & no_answer] = _NO_ANSWER
    outcome[open_rows & refused] = _REFUSED
    outcome[open_rows & missing] = _ERROR
    codes = np.where(outcome == _ANSWERED, key.codes, np.int32(NULL))
    return replace(
        table,
        outcome=outcome,
        answer=Column(codes, key.words),
        reason=_reasons(table, reason, open_rows=open_rows, missing=missing),
    )


def _reasons(
    table: AnswerTable,
    found: Column[str],
    *,
    open_rows: NDArray[np.bool_],
    missing: NDArray[np.bool_],
) -> Column[str]:
    """Recorded reasons where the outcome was recorded, the extractor's everywhere else."""
    words = tuple(dict.fromkeys([*table.reason.words, *found.words, "missing_completion"]))
    at = {word: np.int32(i) for i, word in enumerate(words)}
    recorded = np.array([at[w] for w in table.reason.words] + [NULL], dtype=np.int32)
    extracted = np.array([at[w] for w in found.words] + [NULL], dtype=np.int32)
    codes = np.where(open_rows, extracted[found.codes], recorded[table.reason.codes])
    codes[open_rows & missing] = at["missing_completion"]
    return Column(codes, words)


def _answers_as_keys(table: AnswerTable, *, fold_case: bool) -> AnswerTable:
    key = table.answer.map(short_rule(fold_case=fold_case))
    none = (key.codes == NULL) & (table.outcome == _ANSWERED)
    empty = Column(np.where(none, np.int32(0), np.int32(NULL)).astype(np.int32), ("empty",))
    return _with_keys(table, np.zeros(len(table), dtype=np.bool_), key, empty)


def _keyed_targets(
    target: Column[tuple[str, ...]] | None, kind: ShortKind, *, fold_case: bool
) -> tuple[Column[tuple[str, ...]] | None, tuple[str, ...]]:
    if target is None:
        return None, ()
    rule = key_rule(kind, fold_case=fold_case)
    if isinstance(target.words, SingleWords):
        single = Column(target.codes, target.words.base).map(rule)
        new = Column(single.codes, SingleWords(single.words))
    else:
        new = target.map(lambda golds: tuple(dict.fromkeys(filter(None, map(rule, golds)))) or None)
    lost = int(np.count_nonzero((new.codes == NULL) & (target.codes != NULL)))
    note = f"{lost} rows have a target without a key (gold_unparsed): they count as without gold."
    return new, (note,) if lost else ()
