"""Any sensor by name: one table, two, or one against several."""

from collections.abc import Mapping
from dataclasses import fields
from types import ModuleType
from typing import Any

from trueness import sensors
from trueness.api.answers import COLUMNS, EXTRACTION, read, read_by_rule
from trueness.contract import Reading
from trueness.contract.errors import InputError
from trueness.table import NULL, AnswerTable
from trueness.table.logs.lm_eval import by_document

DECLARED = "orbits"
"""The sensor that takes a declaration in place of parameters."""


def measure(sensor: str, source: object, **given: Any) -> Reading:
    """The reading of any sensor by name.

    Parameters
    ----------
    sensor : str
        As in `trueness.sensors.SENSORS`.
    source : path, data frame, list of dicts or AnswerTable
    **given
        Columns and settings of the extraction as in `read`, and the sensor's own parameters.
    """
    if sensor == DECLARED:
        from trueness.api.certifying import certify  # noqa: PLC0415 - the others do not need it

        return certify(source, **given)
    module = sensors.find(sensor)
    if getattr(module, "TABLE", "answers") == "evidence":
        from trueness.api.grounding import ground  # noqa: PLC0415 - the others do not need it
        from trueness.table.evidence_reading import has_claims  # noqa: PLC0415 - as above

        if has_claims(source) or not given.keys().isdisjoint({"claim", "evidence"}):
            return ground(source, sensor=sensor, **given)
    reading, params = _for_other(module, given)
    found: Reading = module.measure(_read(module, source, reading), params)
    return found


def compare(
    before: object, after: object = None, *, sensor: str = "atlas", **given: Any
) -> Reading:
    """What moved between two tables of answers to the same questions.

    Parameters
    ----------
    before, after : path, data frame, list of dicts or AnswerTable
        Files, logs of other tools, or tables that were read. Without ``after`` it is the reading
        of ``before`` alone.
    sensor : str
        ``atlas`` pairs repeated draws on their items; ``orbits`` compares what is certified.
    **given
        Columns and settings of the extraction as in `read`, and the sensor's own parameters,
        e.g. ``margin``, ``orders``, ``level``, ``allow_differ``, ``min_overlap``.

    Returns
    -------
    Reading
        Of the atlas: ``value`` is the change of agreement, ``details["verdict"]`` what it means.

    Raises
    ------
    ProtocolError
        When the protocols differ in a field that was not allowed to.
    InputError
        When the tables cannot be paired.

    Examples
    --------
    >>> one = {"answers": ["4", "4", "5", None], "target": "4"}
    >>> draws = [{"item": str(i), **one} for i in range(9)]
    >>> compare(draws, draws, orders=(2,)).details["verdict"]["name"]
    'unresolved'
    """
    module = sensors.find(sensor)
    if after is None:
        return measure(sensor, before, **given)
    if not hasattr(module, "compare"):
        msg = f"the sensor {sensor!r} does not compare two tables; measure each of them."
        raise InputError(msg)
    if sensor == DECLARED:
        from trueness.api.declared import prepared  # noqa: PLC0415 - as above
        from trueness.study.declared import params_of  # noqa: PLC0415 - as above

        first, declared = prepared(before, given)
        second, _ = prepared(after, given)
        made: Reading = module.compare(first, second, params_of(first, declared))
        return made
    reading, params = _for_other(module, given)
    tables = _on_documents(*(_read(module, source, reading) for source in (before, after)))
    found: Reading = module.compare(*tables, params)
    return found


def _on_documents(before: AnswerTable, after: AnswerTable) -> tuple[AnswerTable, AnswerTable]:
    """Both tables with documents' hashes as items where both have them: positions pair nothing."""
    hashes = (before.extras.get("doc_hash"), after.extras.get("doc_hash"))
    if any(column is None or (column.codes == NULL).any() for column in hashes):
        return before, after
    return by_document(before), by_document(after)


def compare_each(
    before: object, afters: Mapping[str, object], *, sensor: str = "atlas", **given: Any
) -> dict[str, Reading]:
    """One table against several: each a declared contrast, corrected for their number.

    Parameters
    ----------
    before : path, data frame, list of dicts or AnswerTable
    afters : mapping of name to the same
    sensor, **given
        As in `compare`.

    Returns
    -------
    dict of name to Reading
        ``details["p_holm"]`` is the contrast's p over all of them.
    """
    from trueness.study.contrasts import corrected  # noqa: PLC0415 - needed for several only

    module = sensors.find(sensor)
    reading, params = _for_other(module, given)
    first = _read(module, before, reading)
    rest = {k: v for k, v in given.items() if k not in reading}
    return corrected(
        {
            name: compare(first, _read(module, after, reading), sensor=sensor, **rest)
            for name, after in afters.items()
        },
        alpha=round(1 - getattr(params, "level", 0.95), 12),
    )


def measure_each(sensor: str, source: object, **given: Any) -> dict[str, Reading]:
    """The reading of every condition of a table that is measured on its own.

    Where a sensor also looks across conditions and the table holds what that needs, its reading
    follows under its own name.
    """
    module = sensors.find(sensor)
    reading, params = _for_other(module, given)
    table = _read(module, source, reading)
    names: Mapping[str, AnswerTable] = module.conditions_of(table, params)
    found = {name: module.measure(part, params) for name, part in names.items()}
    across: Mapping[str, Any] = getattr(module, "ACROSS", {})
    for name, (applies, search) in across.items():
        if applies(table):
            found[name] = search(table, params)
    return found


def _for_other(module: ModuleType, given: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """How a table is read, and the parameters of a sensor that takes no declaration."""
    named = {*COLUMNS, *EXTRACTION}
    reading = {k: v for k, v in given.items() if k in named}
    rest = {k: v for k, v in given.items() if k not in named}
    known = sorted(f.name for f in fields(module.Params))
    if unknown := sorted(set(rest) - set(known)):
        msg = (
            f"{unknown[0]!r} is neither a column nor a parameter of {module.CONTRACT.sensor!r}; "
            f"its parameters are: {', '.join(known) or 'none'}. Name one of these."
        )
        raise InputError(msg)
    return reading, module.Params(**rest)


def _read(module: ModuleType, source: object, reading: Mapping[str, Any]) -> AnswerTable:
    """A table by the settings that were named, and by a sensor's own sort of answer else."""
    kind = getattr(module, "ANSWER_KIND", None)
    return read(source, **reading) if kind is None else read_by_rule(source, kind, **reading)
