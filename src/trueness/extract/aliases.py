"""Keys that are declared to be one answer, merged before anything is counted."""

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.serial import canonical
from trueness.table.answers import AnswerTable
from trueness.table.column import NULL, Column, pick
from trueness.table.protocol import Protocol
from trueness.table.singles import SingleWords
from trueness.table.sniff import decoded, unreadable

Aliases = Mapping[str, Mapping[str, str | Sequence[str]]]
"""Item to {alias: representative}, in any spelling; several representatives must be one."""

Key = Callable[[str], str | None]
"""From a text to its answer key by the rules that keyed the table; None where there is none."""

T = TypeVar("T", bound=Hashable)

_SHAPE = '{"item": {"alias": "representative"}}'


def read_aliases(path: str | Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """The alias table in a JSON file: ``{"item": {"alias": "representative"}}``.

    An alias that stands twice, or has a list, keeps all its representatives: whether they are one
    is decided when they are keys.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        When the file cannot be read, is no JSON, has another shape, or names an item twice.
    """
    path = Path(path)
    try:
        text, n_bad = decoded(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error
    if n_bad:
        raise _refused(path, f"holds {n_bad} bytes that are no UTF-8", "Save it as UTF-8.")
    try:
        value = json.loads(text, object_pairs_hook=_Pairs)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _refused(path, f"is no JSON ({error})", f"Write {_SHAPE}.") from error
    if not isinstance(value, _Pairs):
        raise _refused(path, f"holds a {type(value).__name__}", f"Write {_SHAPE}.")
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for item, names in value.pairs:
        if item in found:
            raise _refused(path, f"names the item {item!r} twice", "Put its aliases together.")
        if not isinstance(names, _Pairs):
            raise _refused(path, f"has no object at {item!r}", f"Write {_SHAPE}.")
        found[item] = _representatives(names, f"{path}, item {item!r}")
    return found


def closed_aliases(aliases: Aliases, *, key: Key) -> dict[str, dict[str, str]]:
    """The alias table in keys, every alias beside the last representative of its chain.

    Parameters
    ----------
    aliases : mapping of item to {alias: representative or representatives}
    key : callable
        The rule that keyed the answers.

    Returns
    -------
    dict of item to {alias key: representative key}
        An alias that is its own representative is left out.

    Raises
    ------
    InputError
        When an alias names two representatives, aliases name each other in a circle, or a name
        has no key.

    Examples
    --------
    >>> closed_aliases({"q1": {"NYC": "new york", "The Big Apple": "NYC"}}, key=str.lower)
    {'q1': {'nyc': 'new york', 'the big apple': 'new york'}}
    """
    return {item: _closed(names, item, key) for item, names in aliases.items()}


def merged(table: AnswerTable, aliases: Aliases | None = None, *, key: Key) -> AnswerTable:
    """The table with one key for every class of answers: aliases first, then several golds.

    Every alias becomes its representative, in the answers and in the golds of its item; all
    golds of an item then become its first gold. Completions stay as they are.

    Parameters
    ----------
    table : AnswerTable
        With keys.
    aliases : mapping of item to {alias: representative}, optional
    key : callable
        The rule that keyed the answers.

    Returns
    -------
    AnswerTable
        The same table when there is nothing to merge. Otherwise a note says how many draws
        changed their key, and the hash of the alias table stands in every protocol.

    Raises
    ------
    InputError
        When the table has no keys yet, an item has two different sets of golds, or as
        `closed_aliases` says.
    """
    if table.extractor is None:
        msg = "the table holds completions without keys; keys are wanted. Use keyed(table) first."
        raise InputError(msg)
    closed = closed_aliases(aliases or {}, key=key)
    if closed:
        table = replace(table, target=_in_memory(table.target))
    rules = _rules(table, closed)
    notes = _unknown_items(table, closed)
    if rules:
        answer = _mapped(table.item, table.answer, {i: r.of for i, r in rules.items()})
        notes += _changed(table, answer)
        table = replace(table, answer=answer, target=_gold_classes(table, rules))
    if closed:
        table = replace(table, protocols=_declared(table, closed))
    return replace(table, notes=(*table.notes, *notes)) if notes else table


class _Pairs:
    """A JSON object with its repeated names."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def _refused(where: object, given: str, remedy: str) -> InputError:
    return InputError(f"{where} {given}; an alias table is wanted. {remedy}")


def _representatives(names: _Pairs, where: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for alias, value in names.pairs:
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(v, str) for v in values):
            raise _refused(where, f"has no text for the alias {alias!r}", f"Write {_SHAPE}.")
        found[alias] = (*found.get(alias, ()), *values)
    return found


def _closed(names: Mapping[str, str | Sequence[str]], item: str, key: Key) -> dict[str, str]:
    links: dict[str, list[str]] = {}
    for alias, values in names.items():
        one = _key_of(alias, item, key)
        for value in (values,) if isinstance(values, str) else values:
            other = _key_of(value, item, key)
            if other != one and other not in links.setdefault(one, []):
                links[one].append(other)
    ends: dict[str, str] = {}
    for one, others in links.items():
        if others and one not in ends:
            _follow(one, links, ends, item)
    return ends


def _follow(alias: str, links: Mapping[str, list[str]], ends: dict[str, str], item: str) -> None:
    """Enter where a chain ends for all of its members, so that none is walked twice."""
    chain = {alias: None}
    name = alias
    while len(following := links.get(name, [])) == 1 and following[0] not in chain:
        name = following[0]
        if name in ends:
            break
        chain[name] = None
    if name not in ends and links.get(name):
        name = _last(alias, links, item)
    end = ends.get(name, name)
    ends.update((one, end) for one in chain if one != end)


def _key_of(text: str, item: str, key: Key) -> str:
    found = key(text)
    if found is None:
        msg = (
            f"the alias table of item {item!r} names {text!r}, which has no answer key; answers "
            "are wanted. Take it out."
        )
        raise InputError(msg)
    return found


def _last(alias: str, links: Mapping[str, list[str]], item: str) -> str:
    """Where all chains from an alias end: at one and the same key."""
    reached = [alias]
    for name in reached:  # grows while it is walked
        reached += [other for other in links.get(name, ()) if other not in reached]
    ends = sorted(name for name in reached if not links.get(name))
    if not ends:
        msg = (
            f"aliases of item {item!r} name each other ({', '.join(map(repr, sorted(reached)))}); "
            "one of them must be the representative. Remove one line."
        )
        raise InputError(msg)
    if len(ends) > 1:
        msg = (
            f"alias {alias!r} of item {item!r} names two representatives, "
            f"{' and '.join(map(repr, ends))}; one is wanted. "
            "Remove one, or make one an alias of the other."
        )
        raise InputError(msg)
    return ends[0]


@dataclass(frozen=True, slots=True)
class _Rule:
    """What becomes of the keys of one item."""

    aliases: Mapping[str, str]
    golds: tuple[str, ...]
    """Representatives of its golds; the first one stands for all of them."""

    def of(self, key: str) -> str:
        found = self.aliases.get(key, key)
        return self.golds[0] if found in self.golds else found


def _in_memory(target: Column[tuple[str, ...]] | None) -> Column[tuple[str, ...]] | None:
    """Golds whose words are fetched together, not one by one from a store."""
    if target is None or not isinstance(target.words, SingleWords):
        return target
    base = target.words.base
    return Column(target.codes, tuple((word,) for word in pick(base, range(len(base)))))


def _rules(table: AnswerTable, closed: Mapping[str, Mapping[str, str]]) -> dict[int, _Rule]:
    """A rule for the code of every item that has aliases or several golds."""
    golds = _golds(table, closed)
    named = _codes(table.item, closed)
    return {
        code: _Rule(
            named.get(code, {}),
            tuple(dict.fromkeys(named.get(code, {}).get(g, g) for g in golds.get(code, ()))),
        )
        for code in sorted({*named, *golds})
    }


def _codes(
    item: Column[str], closed: Mapping[str, Mapping[str, str]]
) -> dict[int, Mapping[str, str]]:
    wanted = [name for name, names in closed.items() if names]
    found = Column.of(wanted).codes_in(item.words).tolist()
    return {code: closed[name] for code, name in zip(found, wanted, strict=True) if code != NULL}


def _golds(
    table: AnswerTable, closed: Mapping[str, Mapping[str, str]]
) -> dict[int, tuple[str, ...]]:
    """Golds of every item that has several, or aliases; an item has one set of them."""
    target = table.target
    if target is None or (not closed and _single(target.words)):
        return {}
    pairs, _ = _pairs_of(table.item, target, target.codes != NULL)
    found: dict[int, tuple[str, ...]] = {}
    for code, gold in pairs:
        golds = target.words[gold]
        before = found.setdefault(code, golds)
        if set(before) != set(golds):
            item = table.item.words[code]
            msg = (
                f"item {item!r} has the golds {list(before)} in one row and {list(golds)} "
                "in another; one set is wanted. Give different questions different items."
            )
            raise InputError(msg)
    named = _codes(table.item, closed)
    return {code: golds for code, golds in found.items() if len(golds) > 1 or code in named}


def _single(golds: Sequence[tuple[str, ...]]) -> bool:
    return isinstance(golds, SingleWords) or all(len(several) == 1 for several in golds)


def _pairs_of(
    item: Column[str], column: Column[T], rows: NDArray[np.bool_]
) -> tuple[list[tuple[int, int]], NDArray[np.intp]]:
    """Distinct (item, value) codes of some rows, and which of them each of these rows has."""
    n_words = len(column.words)
    keys = item.codes[rows].astype(np.int64) * n_words + column.codes[rows]
    pairs, place = np.unique(keys, return_inverse=True)
    return [divmod(pair, n_words) for pair in pairs.tolist()], place


def _mapped(
    item: Column[str], column: Column[T], rules: Mapping[int, Callable[[T], T]]
) -> Column[T]:
    """A column in which some items have a rule of their own."""
    rows = np.isin(item.codes, list(rules)) & (column.codes != NULL)
    pairs, place = _pairs_of(item, column, rows)
    values = pick(column.words, [value for _, value in pairs])
    new = Column.of(rules[code](v) for (code, _), v in zip(pairs, values, strict=True))
    known = new.codes_in(column.words)
    words: Sequence[T] = column.words
    if (known == NULL).any():
        known, words = _with_new(new, known, words)
    codes = column.codes.copy()
    codes[rows] = known[place]
    return Column(codes, words)


def _with_new(
    new: Column[T], known: NDArray[np.int32], words: Sequence[T]
) -> tuple[NDArray[np.int32], Sequence[T]]:
    """Codes in the words and, behind them, those that were not there."""
    missing = dict.fromkeys(new.codes[known == NULL].tolist())
    held = (*words, *pick(new.words, missing))
    return new.codes_in(held), held


def _gold_classes(table: AnswerTable, rules: Mapping[int, _Rule]) -> Column[tuple[str, ...]] | None:
    if table.target is None:
        return None
    first = {code: rule.golds[:1] for code, rule in rules.items() if rule.golds}

    def taken(golds: tuple[str, ...]) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
        return lambda _: golds

    return _mapped(table.item, table.target, {code: taken(g) for code, g in first.items()})


def _changed(table: AnswerTable, answer: Column[str]) -> list[str]:
    """How many draws have another key now; words are only added, so codes can be compared."""
    moved = table.answer.codes != answer.codes
    if not moved.any():
        return []
    n_draws = int(moved.sum() if table.weight is None else table.weight[moved].sum())
    n_items = len(np.unique(table.item.codes[moved]))
    return [f"Draws that aliases or golds gave another key: {n_draws}, in items: {n_items}."]


def _unknown_items(table: AnswerTable, closed: Mapping[str, object]) -> list[str]:
    codes = Column.of(closed).codes_in(table.item.words)
    lost = [name for name, code in zip(closed, codes, strict=True) if code == NULL]
    if not lost:
        return []
    shown = ", ".join(map(repr, lost[:3])) + (" …" if len(lost) > 3 else "")  # noqa: PLR2004 - a few
    return [f"Items of the alias table that have no rows here ({len(lost)}): {shown}."]


def _declared(table: AnswerTable, closed: Mapping[str, Mapping[str, str]]) -> dict[str, Protocol]:
    """Protocols that say which alias table the keys went through."""
    kept = {item: dict(names) for item, names in closed.items()}
    digest = hashlib.sha256(canonical(kept).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    protocols = {c: table.protocols.get(c, Protocol()) for c in table.conditions}
    return {
        **table.protocols,
        **{c: Protocol({**p.fields, "aliases": digest}) for c, p in protocols.items()},
    }
