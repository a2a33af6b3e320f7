"""The verbs as Python functions: read, key, measure, decide."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness import sensors
from trueness.contract import Decision, Reading, Verdict
from trueness.contract.errors import InputError
from trueness.extract import check_rule, exact_number, keyed, named, normalise_entity, rule_of
from trueness.sensors.orbits import Declaration, Params, slots
from trueness.table import (
    AnswerTable,
    Relation,
    bundled_relation,
    bundled_relations,
    load_relation,
    read_answers,
)

if TYPE_CHECKING:
    from trueness.collect.summary import AskSummary

_FIELDS = frozenset(f.name for f in fields(Declaration))
_COLUMNS = frozenset(
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
    )
)
_TOKENS = "first_token"


def read(source: object, **columns: str | None) -> AnswerTable:
    """Answers from a file, data frame or list of rows, keyed and ready to measure.

    Parameters
    ----------
    source : path, data frame, list of dicts or AnswerTable
    **columns : str
        Names of columns that are not recognised by themselves: ``entity``, ``answer``,
        ``target``, ``epoch``, ``condition``, ``template`` …

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
    return named(keyed(read_answers(source, **columns)))


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
    table, declared = _prepared(source, given)
    if condition is not None:
        table = table.only(condition)
    elif len(table.conditions) > 1:
        msg = (
            f"the table holds {len(table.conditions)} conditions "
            f"({', '.join(table.conditions[:5])}). Name one with condition=, or use certify_each."
        )
        raise InputError(msg)
    return sensors.orbits.measure(table, _params(table, declared))


def certify_each(source: object, **given: Any) -> dict[str, Reading]:
    """The same for every condition of a table, in order of first appearance."""
    table, declared = _prepared(source, given)
    parts = table.conditions
    if len(parts) == 1:
        return {parts[0]: sensors.orbits.measure(table, _params(table, declared))}
    if declared.delta is not None:  # every ceiling holds, all conditions together
        declared = replace(declared, contrasts=max(declared.contrasts, len(parts)))
    return {
        name: sensors.orbits.measure(part, _params(part, declared))
        for name in parts
        for part in [_with_protocol(table.only(name), name)]
    }


def measure(sensor: str, source: object, **given: Any) -> Reading:
    """The reading of any sensor by name.

    Parameters
    ----------
    sensor : str
        As in `trueness.sensors.SENSORS`.
    source : path, data frame, list of dicts or AnswerTable
    **given
        Columns as in `read`, and the sensor's own parameters.
    """
    module = sensors.find(sensor)
    if module is sensors.orbits:
        return certify(source, **given)
    columns, params = _for_other(module, given)
    reading: Reading = module.measure(read(source, **columns), params)
    return reading


def compare(before: object, after: object, *, sensor: str = "orbits", **given: Any) -> Reading:
    """What changed between two tables, paired by the sensor's own keys."""
    module = sensors.find(sensor)
    if not hasattr(module, "compare"):
        msg = f"the sensor {sensor!r} does not compare two tables; measure each of them."
        raise InputError(msg)
    reading: Reading
    if module is sensors.orbits:
        first, declared = _prepared(before, given)
        second, _ = _prepared(after, given)
        reading = module.compare(first, second, _params(first, declared))
        return reading
    columns, params = _for_other(module, given)
    reading = module.compare(read(before, **columns), read(after, **columns), params)
    return reading


def choose(source: object, *, accept_label_free: bool = False, **given: Any) -> Decision:
    """The condition with provably fewest answers not right, of those in a table, or a decline.

    Parameters
    ----------
    source : path, data frame, list of dicts or AnswerTable
    accept_label_free : bool
        Choose by agreement between wordings alone, which stable distinct garbage wins.
    **given
        As in `certify`; ``baseline`` and ``min_common`` as in
        `trueness.study.choosing.choose_condition`.
    """
    from trueness.study.choosing import (  # noqa: PLC0415 - certifying does not need it
        choose_condition,
        for_choosing,
        lists_answers,
    )

    asked = {k: given.pop(k) for k in ("baseline", "min_common") if k in given}
    table, declared = _prepared(source, given)
    if declared.identity is None and _is_tokens(table):
        declared = replace(declared, identity=_own_beginnings(table))
    declared = for_choosing(declared)
    return choose_condition(
        table,
        measure=lambda part: sensors.orbits.measure(part, _params(part, declared)),
        answer_set=lists_answers(declared),
        accept_label_free=accept_label_free,
        **asked,
    )


def kept(source: AnswerTable, readings: Mapping[str, Reading]) -> AnswerTable:
    """The rows that no reading withholds: answered, and not singled out.

    Parameters
    ----------
    source : AnswerTable
        The table that was measured.
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


def ask(
    relation: str | Path | Relation,
    *,
    model: str = "embedded",
    out: str | Path,
    conditions: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    cache: bool = True,
    **given: Any,
) -> "AskSummary":
    """Put the questions of a relation to a model and write the table of answers; resumable.

    Parameters
    ----------
    relation : path, name of a bundled relation, or Relation
    model : str
        ``embedded``, ``gguf:FILE``, ``scripted:NAME``, ``replay:FILE``.
    out : path
        Where the rows go, as they come.
    conditions : str, path or None
        ``none,prose:128,the:128,…`` or a JSON file.
    options : mapping or None
        Of the model.
    limit : int or None
        Only the first entities.
    cache : bool
        Whether earlier answers to the same request are used.
    **given
        As in `trueness.collect.ask`.
    """
    from trueness.backends import open_model  # noqa: PLC0415 - models load when one is asked
    from trueness.backends.weights import cache_dir  # noqa: PLC0415 - as above
    from trueness.collect import ask as run  # noqa: PLC0415 - as above
    from trueness.collect import facts_of  # noqa: PLC0415 - as above

    loaded = _limited(find_relation(relation), limit)
    seed = int(given.get("seed", 0))
    opened = open_model(model, dict(options or {}), facts=facts_of(loaded))
    try:
        return run(
            loaded,
            opened,
            _conditions(conditions, seed),
            out=Path(out),
            cache=cache_dir() / "requests.sqlite" if cache else None,
            **given,
        )
    finally:
        opened.close()


def find_relation(relation: str | Path | Relation) -> Relation:
    """A relation by value, by file, or by the name of one that comes with the package.

    A file of that name comes first; ``capital`` and ``capital.json`` name the same bundled one.
    """
    if isinstance(relation, Relation):
        return relation
    name = str(relation).removesuffix(".json")
    path = Path(relation)
    if path.is_file() or (name not in bundled_relations() and (path.suffix or path.exists())):
        return load_relation(path)
    return bundled_relation(name)


def _conditions(given: str | Path | None, seed: int) -> Any:
    from trueness.collect import NONE, parse_conditions, read_conditions  # noqa: PLC0415 - as in ask

    if given is None:
        return (NONE,)
    if Path(given).is_file():
        return read_conditions(Path(given), seed=seed)
    return parse_conditions(str(given), seed=seed)


def _limited(relation: Relation, limit: int | None) -> Relation:
    if limit is None:
        return relation
    if limit < 1:
        msg = f"limit is {limit}; ask about at least 1 entity."
        raise InputError(msg)
    rows = relation.rows_per_entity
    return replace(
        relation,
        entities=relation.entities[:limit],
        golds=relation.golds[:limit],
        rows_per_entity=None if rows is None else rows[:limit],
        capacities=None,
    )


def _prepared(source: object, given: dict[str, Any]) -> tuple[AnswerTable, Declaration]:
    """The keyed table, and what was declared about it."""
    given = {k: v for k, v in given.items() if v is not None}
    file = given.pop("relation_file", None)
    unknown = sorted(set(given) - _FIELDS - _COLUMNS)
    if unknown:
        msg = (
            f"{unknown[0]!r} is neither a column nor part of a declaration. Columns are "
            f"{', '.join(sorted(_COLUMNS))}; a declaration has {', '.join(sorted(_FIELDS))}."
        )
        raise InputError(msg)
    columns = {k: v for k, v in given.items() if k in _COLUMNS}
    table = read(source, **columns)
    words = {k: v for k, v in given.items() if k in _FIELDS}
    if file is None:
        return table, Declaration(**words)
    relation = find_relation(file)
    if _is_tokens(table) and table.target is not None:
        table = _without_inverse(_overridden(table, relation, words))
        return table, _declared_tokens(table, relation, words)
    return _overridden(table, relation, words), Declaration.from_relation(relation, **words)


def _declared_tokens(
    table: AnswerTable, relation: Relation, words: Mapping[str, Any]
) -> Declaration:
    """What a relation's golds declare about first tokens, whatever its kind.

    First tokens are neither numbers nor names, and several golds may share one: a token may be
    right for as many entities as have a gold that begins with it.
    """
    begun: dict[str, set[str]] = {}
    if table.entity is not None and table.target is not None:
        for name, keys in zip(table.entity.values(), table.target.values(), strict=True):
            if name is not None:
                begun.setdefault(name, set()).update(keys or ())
    said = relation.identity.get(_TOKENS)
    derived: dict[str, Any] = {
        "relation": "capacity",
        "entities": tuple(begun),
        "capacities": dict(Counter(key for keys in begun.values() for key in keys)),
        "closed": True,
        "rows_per_entity": {name: max(1, len(keys)) for name, keys in begun.items()},
    }
    if said is not None:
        named = () if isinstance(said, str) else tuple(map(normalise_entity, said))
        derived["identity"] = said if said == "allowed" else (*named, *_own_beginnings(table))
    return Declaration(**{**derived, **words})


def _own_beginnings(table: AnswerTable) -> tuple[str, ...]:
    """Entities with a right answer that begins as their own name does."""
    if table.entity is None or table.target is None or table.entity_key is None:
        return ()
    rows = zip(table.entity.values(), table.entity_key.values(), table.target.values(), strict=True)
    return tuple(dict.fromkeys(name for name, own, keys in rows if name and own in (keys or ())))


def _without_inverse(table: AnswerTable) -> AnswerTable:
    """The table without questions asked back: a first token does not tell whom it names."""
    forward = slots.forward(table)
    if len(forward) == len(table):
        return table
    note = (
        f"{len(table) - len(forward)} answers to inverse questions are not used: a first token "
        "does not tell whom it names."
    )
    return replace(forward, notes=(*forward.notes, note))


def _overridden(table: AnswerTable, relation: Relation, words: Mapping[str, Any]) -> AnswerTable:
    if "relation" in words:
        _check_kind(relation, str(words["relation"]))
    if not words:
        return table
    note = f"declared by hand, not by the relation file {relation.name!r}: {', '.join(words)}."
    return replace(table, notes=(*table.notes, note))


def _check_kind(relation: Relation, said: str) -> None:
    if said == "injective" and relation.kind != "injective":
        msg = (
            f"relation is declared injective and the relation file {relation.name!r} is of kind "
            f"{relation.kind!r}. Leave one of the two out."
        )
        raise InputError(msg)


def _is_tokens(table: AnswerTable) -> bool:
    return (table.extractor or "").startswith(_TOKENS)


def _params(table: AnswerTable, declared: Declaration) -> Params:
    """The declaration in the keys of a table, whatever rules made them."""
    params = Params.of(
        declared,
        key=_key_rule(table),
        entity=lambda name: normalise_entity(name) or name,
        number=exact_number,
    )
    return _checked_names(table, params)


def _checked_names(table: AnswerTable, params: Params) -> Params:
    """The parameters, unless they name entities that the table does not have."""
    if not params.identity and not params.candidates:
        return params
    named = table.item if table.entity is None else table.entity
    known = {*named.words, *(params.entities or ())}
    there = f"entities are {', '.join(map(repr, named.words[:3]))} …"
    strangers = sorted((params.identity or frozenset()) - known)
    if strangers:
        msg = (
            f"identity names {strangers[0]!r}, which is no entity of the table; {there} Choose "
            "allowed, never, or entities that may be their own answer."
        )
        raise InputError(msg)
    strangers = sorted(set(params.candidates) - known)
    if strangers and len(strangers) == len(params.candidates):
        msg = (
            f"candidates are given for {strangers[0]!r}, and no such entity is in the table; "
            f"{there} Name entities as the table does."
        )
        raise InputError(msg)
    if not strangers:
        return params
    note = (
        f"Candidates of {len(strangers):,} that are no entities of the table, "
        f"{strangers[0]!r} first, are not used."
    )
    return replace(params, notes=(*params.notes, note))


def _key_rule(table: AnswerTable) -> Callable[[str], str | None]:
    if _is_tokens(table):
        return _token_rule(table)
    rule = rule_of(table.extractor)
    return _refused(table.extractor) if rule is None else rule


def _refused(extractor: str | None) -> Callable[[str], str | None]:
    """A rule that says why there is none, once there is something to key."""

    def rule(text: str) -> str | None:
        return check_rule(extractor)(text)

    return rule


def _token_rule(table: AnswerTable) -> Callable[[str], str | None]:
    """First tokens are their own keys; any other text has none without the tokenizer."""

    def rule(text: str) -> str | None:
        return text if text.startswith("tok:") else check_rule(table.extractor)(text)

    return rule


def _with_protocol(table: AnswerTable, condition: str) -> AnswerTable:
    mine = {k: v for k, v in table.protocols.items() if k == condition}
    return replace(table, protocols=mine)


def _rows_of(table: AnswerTable, condition: str) -> Any:
    if condition not in table.conditions:
        return np.ones(len(table), dtype=np.bool_)
    return table.condition.codes == list(table.condition.words).index(condition)


def _for_other(module: ModuleType, given: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Columns, and the parameters of a sensor that takes no declaration."""
    columns = {k: v for k, v in given.items() if k in _COLUMNS}
    rest = {k: v for k, v in given.items() if k not in _COLUMNS}
    known = sorted(f.name for f in fields(module.Params))
    if unknown := sorted(set(rest) - set(known)):
        msg = (
            f"{unknown[0]!r} is neither a column nor a parameter of {module.CONTRACT.sensor!r}; "
            f"its parameters are: {', '.join(known) or 'none'}. Name one of these."
        )
        raise InputError(msg)
    return columns, module.Params(**rest)
