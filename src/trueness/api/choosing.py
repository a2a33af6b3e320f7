"""What is done about a reading: a condition is taken, rows are kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from trueness import sensors
from trueness.api.declared import prepared
from trueness.contract import Decision, Reading, Verdict
from trueness.contract.errors import InputError
from trueness.sensors.orbits import Params, slots
from trueness.study.declared import is_tokens, own_beginnings, params_of
from trueness.table import AnswerTable


def choose(source: object, *, accept_label_free: bool = False, **given: Any) -> Decision:
    """The condition with provably fewest answers not right, of those in a table, or a decline.

    Parameters
    ----------
    source : path, data frame, list of dicts or AnswerTable
    accept_label_free : bool
        Choose by agreement between wordings alone, which stable distinct garbage wins.
    **given
        As in `certify`, ``ensemble`` too; ``baseline`` and ``min_common`` as in
        `trueness.study.choosing.choose_condition`.
    """
    from trueness.study.choosing import (  # noqa: PLC0415 - certifying does not need it
        choose_condition,
        for_choosing,
        lists_answers,
    )

    asked = {k: given.pop(k) for k in ("baseline", "min_common") if k in given}
    table, declared = prepared(source, given)
    if declared.identity is None and is_tokens(table):
        declared = replace(declared, identity=own_beginnings(table))
    declared = for_choosing(declared)
    return choose_condition(
        table,
        measure=lambda part: sensors.orbits.measure(part, params_of(part, declared)),
        answer_set=lists_answers(declared),
        accept_label_free=accept_label_free,
        **asked,
    )


def kept(source: AnswerTable, readings: Mapping[str, Reading]) -> AnswerTable:
    """The rows that no reading withholds: answered, and not singled out.

    Parameters
    ----------
    source : AnswerTable
        The table that was measured; read with ``keep=True``, its rows keep every column.
    readings : mapping of condition to Reading
    """
    from trueness.decide.withhold import withhold  # noqa: PLC0415 - certifying does not need it

    keep = np.zeros(len(source), dtype=np.bool_)
    for name, reading in readings.items():
        rows = np.flatnonzero(_rows_of(source, name))
        part = source.take(rows)
        made = slots.slots_of(part, Params())
        verdicts = withhold(reading).verdicts
        if not len(verdicts):
            msg = (
                f"nothing can be withheld from a reading that is {reading.state}: {reading.reason}."
            )
            raise InputError(msg)
        stays = np.fromiter((v.verdict is Verdict.KEEP for v in verdicts), np.bool_, len(verdicts))
        stood = np.concatenate([made.row, [b.row for b in made.back]]).astype(np.intp)
        keep[rows[stood[stays]]] = True
    return source.take(keep)


def _rows_of(table: AnswerTable, condition: str) -> Any:
    if condition not in table.conditions:
        return np.ones(len(table), dtype=np.bool_)
    return table.condition.codes == list(table.condition.words).index(condition)
