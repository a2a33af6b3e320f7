"""Answers from anywhere, keyed and ready to measure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from trueness.contract.errors import InputError
from trueness.extract import keyed, named, rule_of
from trueness.table import NULL, OUTCOMES, AnswerTable, Column, Outcome, read_answers

_BY_TEXT = [OUTCOMES.index(o) for o in (Outcome.NO_ANSWER, Outcome.REFUSED)]
"""Outcomes that follow from the text alone, so that other rules may say otherwise."""

COLUMNS = frozenset(
    (
        "item",
        "entity",
        "answer",
        "completion",
        "target",
        "epoch",
        "condition",
        "template",
        "group",
        "model",
        "question",
        "outcome",
        "reason",
        "logprob",
        "weight",
    )
)
"""Columns that can be named."""


EXTRACTION = ("answer_kind", "extractor", "units", "locale", "decimals", "labels", "aliases")
"""Settings of the extraction that can be named."""
VIEWS = "ensemble"
"""Names the ensembles whose rows are added once the table is keyed."""


def read(source: object, **given: Any) -> AnswerTable:
    """Answers from a file, data frame or list of rows, keyed and ready to measure.

    Parameters
    ----------
    source : path, data frame, list of dicts or AnswerTable
        Also the log of another tool: inspect_ai, lm-evaluation-harness, OpenAI evals, HELM,
        simple-evals.
    **given
        Names of columns that are not recognised by themselves: ``entity``, ``answer``,
        ``target``, ``epoch``, ``condition``, ``template`` …; and how completions are keyed:
        ``answer_kind`` (``short``, ``number``, ``option``, ``text``, ``set``, ``tuple``, ``auto``;
        ``auto`` for logs of other tools, else ``short``), ``extractor``, ``units``, ``locale``,
        ``decimals``, ``labels``, and ``aliases``: a JSON file of answers that are one. A named
        extractor keys a table again that already has keys. ``ensemble`` adds conditions that are
        made of the others' rows, such as ``"vote:*"`` (`trueness.collect.ensembles`).
        ``keep=True`` also keeps columns that play no part, so that rows that are written again
        lose nothing.

    Raises
    ------
    InputError
        When the source cannot be read or its rows contradict one another.

    Examples
    --------
    >>> table = read([{"country": "Peru", "answer": "Lima."}], entity="country")
    >>> table.answer.values()
    ['lima']
    """
    given = dict(given)
    aliases, views = given.pop("aliases", None), given.pop(VIEWS, None)
    table, how = before_keys(source, given)
    return _viewed(_merged(named(keyed(table, **how)), aliases), views)


def read_by_rule(source: object, kind: str, **given: Any) -> AnswerTable:
    """The same as `read`, with a sort of answer that nobody chose.

    Parameters
    ----------
    source, given
        As in `read`.
    kind : str
        The sort of answer that a sensor takes for granted, where ``given`` names none.

    Raises
    ------
    InputError
        As `read`; also when texts are there and the rule that nobody chose finds an answer in
        none of them: what agrees then is only that nothing was read.
    """
    if given.get("answer_kind") is not None:
        return read(source, **given)
    table, _ = before_keys(source, {**given, "aliases": None, VIEWS: None})
    was_keyed = table.extractor is not None or table.log is not None
    found = read(table, **{k: given.get(k) for k in (*EXTRACTION, VIEWS)} | {"answer_kind": kind})
    if not was_keyed and _nothing_read(found):
        first = "" if found.completion is None else found.completion[0]
        msg = (
            f"an answer was found in none of {len(found):,} texts (the first is "
            f"{first!r:.80}), because nothing in them marks one; answers are wanted. If a text is "
            "the answer itself, say so: --answer-kind short (or text, option); if they are whole "
            "completions without answers, say --answer-kind auto."
        )
        raise InputError(msg)
    return found


def _nothing_read(table: AnswerTable) -> bool:
    """Whether items have several texts, and in none of all texts an answer was found."""
    is_repeated = len(np.unique(table.item.codes)) < len(table)
    if not is_repeated or "no_candidate" not in table.reason.words:
        return False
    unread = table.reason.codes == table.reason.words.index("no_candidate")
    return bool((unread & (table.outcome == OUTCOMES.index(Outcome.NO_ANSWER))).all())


def _merged(table: AnswerTable, aliases: Any) -> AnswerTable:
    """The table with answers that a file declares one made one, before anything is counted."""
    if aliases is None:
        return table
    from trueness.extract.aliases import merged, read_aliases  # noqa: PLC0415 - seldom needed

    rule = rule_of(table.extractor)
    if rule is None:
        msg = (
            f"aliases were given, and the answers were keyed by {table.extractor!r}, whose rules "
            "cannot be applied to them. Read the table again from its completions."
        )
        raise InputError(msg)
    pairs = aliases if isinstance(aliases, Mapping) else read_aliases(aliases)
    return merged(table, pairs, key=rule)


def _viewed(table: AnswerTable, views: Any) -> AnswerTable:
    """The table with the rows of ensembles after its own."""
    if not views:
        return table
    from trueness.collect.ensembles import with_views  # noqa: PLC0415 - seldom needed

    return with_views(table, (views,) if isinstance(views, str) else views)


def before_keys(
    source: object, given: Mapping[str, Any], *, again: bool = False
) -> tuple[AnswerTable, dict[str, Any]]:
    """A table as it was read, and the settings of `trueness.extract.keyed` for it.

    Parameters
    ----------
    source, given
        As in `read`.
    again : bool
        Forget the keys that the table has, as a named extractor does.
    """
    given = {k: v for k, v in given.items() if v is not None}
    how = {k: given.pop(k) for k in EXTRACTION if k in given}
    how.pop("aliases", None)
    table = read_answers(source, **given)
    if table.extractor is not None and (again or "extractor" in how):
        table = _unkeyed(table, str(how.get("extractor", "any extractor")))
    if "answer_kind" not in how and table.log is not None:
        how["answer_kind"] = "auto"  # a log holds whole completions, not filled-in cells
    if "answer_kind" in how:
        kind = how.pop("answer_kind")
        how["kind"] = "option" if kind == "auto" and _shows_choices(table) else kind
    return table, how


def _shows_choices(table: AnswerTable) -> bool:
    """Whether every row says which options were shown, so that letters can be told apart."""
    shown = [c.codes != NULL for n, c in table.extras.items() if n in ("choices", "choice_order")]
    return bool(shown) and bool(np.logical_or.reduce(shown).all())


def _unkeyed(table: AnswerTable, extractor: str) -> AnswerTable:
    """The table as if nobody had keyed it."""
    if table.completion is None:
        msg = (
            f"the answers were keyed by {table.extractor!r} and their texts were not kept, so "
            f"they cannot be extracted again by {extractor}. Leave the extractor out."
        )
        raise InputError(msg)
    answered = table.outcome == OUTCOMES.index(Outcome.ANSWERED)
    again = answered | np.isin(table.outcome, _BY_TEXT)
    return replace(
        table,
        extractor=None,
        outcome=np.where(again, np.int8(OUTCOMES.index(Outcome.ANSWERED)), table.outcome),
        answer=Column(np.full(len(table), NULL, np.int32), ()),
        named=False,
        entity_key=None,
    )
