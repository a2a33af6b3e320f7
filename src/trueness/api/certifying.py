"""Certified errors of a table, without a key."""

from dataclasses import replace
from typing import Any

from trueness import sensors
from trueness.api.declared import prepared
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.study.declared import params_of
from trueness.table import AnswerTable


def certify(source: object, *, condition: str | None = None, **given: Any) -> Reading:
    """At least how many answers of one condition are wrong, without a key.

    Parameters
    ----------
    source : path, data frame, list of dicts or AnswerTable
    condition : str or None
        Which condition, where the table holds several.
    **given
        Names of columns as in `read`, and the fields of `trueness.Declaration`: ``relation``,
        ``admissible``, ``capacities``, ``candidates``, ``slack``, ``identity``, ``filler``,
        ``kind`` … ``relation_file`` names a file that fills them in; keywords win.
        ``ensemble`` as in `read`.

    Returns
    -------
    Reading
        ``value`` is certified errors over answered rows; ``flagged`` the rows to withhold.

    Raises
    ------
    InputError
        Several conditions and none named; a declaration that means nothing.

    Examples
    --------
    >>> rows = [{"country": c, "answer": "Paris"} for c in ("France", "Peru", "Chad")]
    >>> reading = certify(rows, entity="country", relation="injective")
    >>> reading.summary()
    'At least 2 of these 3 answers are wrong. No key was consulted.'
    """
    table, declared = prepared(source, given)
    if condition is not None:
        table = table.only(condition)
    elif len(table.conditions) > 1:
        msg = (
            f"the table holds {len(table.conditions)} conditions "
            f"({', '.join(table.conditions[:5])}). Name one with condition=, or use certify_each."
        )
        raise InputError(msg)
    return sensors.orbits.measure(table, params_of(table, declared))


def certify_each(source: object, **given: Any) -> dict[str, Reading]:
    """The same for every condition of a table, in order of first appearance."""
    table, declared = prepared(source, given)
    parts = table.conditions
    if len(parts) == 1:
        return {parts[0]: sensors.orbits.measure(table, params_of(table, declared))}
    if declared.delta is not None:  # every ceiling holds, all conditions together
        declared = replace(declared, contrasts=max(declared.contrasts, len(parts)))
    return {
        name: sensors.orbits.measure(part, params_of(part, declared))
        for name in parts
        for part in [_with_protocol(table.only(name), name)]
    }


def _with_protocol(table: AnswerTable, condition: str) -> AnswerTable:
    mine = {k: v for k, v in table.protocols.items() if k == condition}
    return replace(table, protocols=mine)
