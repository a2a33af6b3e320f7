"""How much of what moved between answer clouds is spelling: raw answers against canonical keys."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.weights import sha256_of
from trueness.collect.elections import as_wordings
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.extract import keyed
from trueness.extract.completions import SPELLING
from trueness.sensors import atlas, orbits
from trueness.stats.rates import rate
from trueness.stats.spelling import merged_spellings
from trueness.study.cloud_inputs import REPEATED, SOLUTIONS, shipped_clouds
from trueness.study.found import Found
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.task import Task
from trueness.table import NULL, OUTCOMES, AnswerTable, Column, Outcome, read_answers

_KINDS: Mapping[str, Any] = {SOLUTIONS: "number", REPEATED: "auto"}
"""What sort of answer each shipped table holds; a user's own is read by the rules of all sorts."""
ODD, EVEN = "odd draws", "even draws"
_ANSWERED = OUTCOMES.index(Outcome.ANSWERED)
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Moved:
    """Items of one pair that moved as spelled, and those whose movement is spelling alone."""

    spelled: frozenset[str]
    vanishing: frozenset[str]


def run(task: Task) -> Found:
    """Movements, agreement and certificates of tables, as spelled and as keyed.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many items of each table.

    Raises
    ------
    InputError
        When a table of the user's own keeps no completions, or has one draw an item in one
        condition.
    """
    task.only("data")
    params = atlas.Params(
        orders=tuple(task.declaration.table("protocol")["orders"]), seed=task.seed
    )
    rows: list[Record] = []
    data: list[Record] = []
    moved: list[tuple[str, _Moved]] = []
    for name, table, record in _tables(task):
        task.say(f"{name}: {len(table):,} answers as spelled and as keyed")
        data.append(record)
        rows.append(_table_row(name, table))
        for title, before, after in pairs_of(table):
            row, found = _pair_row(f"{name}: {title}", before, after, params)
            rows.append(row)
            moved.append((name, found))
    return Found(
        rows=tuple(rows),
        contrasts=_contrasts(rows, moved, float(task.declaration.table("protocol")["level"])),
        draws={"repeats": task.repeats},
        published=published_of(task.declaration, {"rows": rows}),
        data=tuple(data),
    )


def pairs_of(table: AnswerTable) -> Iterator[tuple[str, AnswerTable, AnswerTable]]:
    """Every two conditions of a table, or the odd against the even draws of a single one.

    Raises
    ------
    InputError
        When there is one condition with one draw an item.
    """
    if len(table.conditions) > 1:
        for one, two in combinations(table.conditions, 2):
            yield f"{one} and {two}", table.only(one), table.only(two)
        return
    odd = table.epoch % 2 == 1
    if odd.all():
        msg = (
            "the table has one condition with one draw an item; nothing can have moved. Give "
            "repeated draws, or two conditions."
        )
        raise InputError(msg)
    yield f"{ODD} and {EVEN}", table.take(odd), table.take(~odd)


def as_spelled(table: AnswerTable) -> AnswerTable:
    """The table with what was written in the place of its canonical keys, and without golds."""
    spelling = table.extras[SPELLING]
    lost = (table.outcome == _ANSWERED) & (spelling.codes == NULL)
    codes = np.where(table.outcome == _ANSWERED, spelling.codes, np.int32(NULL))
    words = spelling.words
    if lost.any():
        words, codes = (*words, ""), np.where(lost, np.int32(len(words)), codes)
    return replace(table, answer=Column(codes.astype(np.int32), words), target=None)


def _tables(task: Task) -> Iterator[tuple[str, AnswerTable, Record]]:
    """Each table keyed, cut to the first items, and what stands in a result about it."""
    if task.inputs.data is not None:
        path = task.inputs.data
        table = keyed(read_answers(path), kind="auto")
        record: Record = {"id": "own", "sha256": sha256_of(path), "licence": "the user's"}
        yield from _cut("own", table, record, task.repeats)
        return
    for name in (SOLUTIONS, REPEATED):
        table, record = shipped_clouds(name)
        yield from _cut(name, keyed(table, kind=_KINDS[name]), record, task.repeats)


def _cut(
    name: str, table: AnswerTable, record: Record, most: int
) -> Iterator[tuple[str, AnswerTable, Record]]:
    if SPELLING not in table.extras:
        msg = (
            f"the answers of {name!r} are keys already and how they were written was not kept; "
            "completions are wanted. Give a table with completions."
        )
        raise InputError(msg)
    codes, first = np.unique(table.item.codes, return_index=True)
    kept = codes[np.argsort(first)][:most]
    used = table.take(np.isin(table.item.codes, kept))
    gone = len(table) - len(used)
    more: Record = {"n_used": len(used), "n_dropped": {"over the limit": gone} if gone else {}}
    yield name, used, {**record, **more}


def _table_row(name: str, table: AnswerTable) -> Record:
    """Spellings that became one, and what is certified of all draws from each sort of key."""
    spelling, answered = table.extras[SPELLING], table.outcome == _ANSWERED
    told = answered & (spelling.codes != NULL)
    merged = merged_spellings(
        table.item.codes[told], spelling.codes[told], table.answer.codes[told]
    )
    raw, canonical = _certified(as_spelled(table)), _certified(table)
    return {
        "name": name,
        "class": "table",
        "n_items": len(np.unique(table.item.codes)),
        "n_answered": int(answered.sum()),
        "n_merged_spellings": len(merged.item),
        "n_items_with_merged": len(np.unique(merged.item)),
        "merged": _examples(table, merged.item, merged.canonical, merged.raw),
        "certified_as_spelled": raw,
        "certified_as_keyed": canonical,
        "falsely_certified": None if raw is None or canonical is None else raw - canonical,
    }


def _examples(
    table: AnswerTable, item: NDArray[Any], key: NDArray[Any], raw: NDArray[Any]
) -> list[Json]:
    """The commonest groups of spellings that are one answer."""
    groups: dict[tuple[int, int], list[str]] = {}
    words = table.extras[SPELLING].words
    for i, k, r in zip(item.tolist(), key.tolist(), raw.tolist(), strict=True):
        groups.setdefault((i, k), []).append(str(words[r]))
    seen: dict[str, int] = {}
    for spelled in groups.values():
        seen[" = ".join(sorted(spelled))] = seen.get(" = ".join(sorted(spelled)), 0) + 1
    return list[Json](sorted(seen, key=lambda text: (-seen[text], text))[:_SHOWN])


def _certified(table: AnswerTable) -> int | None:
    """Errors that differing answers to one question prove, all draws as ways of asking it."""
    parts = {name: table.only(name) for name in table.conditions}
    together = replace(as_wordings(parts, "all"), epochs_numbered=False, entity=None)
    reading = orbits.measure(together, orbits.Params())
    found = reading.details["certified_errors"]
    return found if isinstance(found, int) else None


def _pair_row(
    name: str, before: AnswerTable, after: AnswerTable, params: atlas.Params
) -> tuple[Record, _Moved]:
    reading = atlas.compare(before, after, params)
    audits = [(r.item, r.extra["audit"]) for r in reading.per_item if "audit" in r.extra]
    told: list[tuple[str, Any]] = [(item, audit) for item, audit in audits if audit is not None]
    spelled = {item for item, audit in told if (audit["tv_raw"] or 0) > 0}
    as_keyed = {item for item, audit in told if (audit["tv_keyed"] or 0) > 0}
    vanishing = {item for item, audit in told if audit["vanishes"]}
    audit: Any = reading.details["audit"]
    row: Record = {
        "name": name,
        "class": "pair",
        "n_items": reading.n_items,
        "n_moved_as_spelled": len(spelled),
        "n_moved_as_keyed": len(as_keyed),
        "n_vanishing": len(vanishing),
        "share_vanishing": len(vanishing) / len(spelled) if spelled else None,
        "vanishing": list[Json](sorted(vanishing)[:_SHOWN]),
        "tv_as_spelled": audit["tv_raw"],
        "tv_as_keyed": audit["tv_keyed"],
        **_spectra("as_spelled", (as_spelled(before), as_spelled(after)), params),
        **_spectra("as_keyed", (before, after), params),
    }
    return row, _Moved(frozenset(spelled), frozenset(vanishing))


def _spectra(how: str, arms: Sequence[AnswerTable], params: atlas.Params) -> dict[str, Json]:
    """Agreement of each arm at every order; None where its items have too few draws."""
    found: dict[str, Json] = {}
    for side, table in zip(("before", "after"), arms, strict=True):
        parts: Any = atlas.measure(table, params).details["parts"]
        found[f"agreement_{side}_{how}"] = [parts[str(r)]["total"] for r in params.orders]
    return found


def _contrasts(
    rows: Sequence[Record], moved: Sequence[tuple[str, _Moved]], level: float
) -> dict[str, Record]:
    """Items once, however often they moved: pairs of one table share their items."""
    spelled = {(name, item) for name, found in moved for item in found.spelled}
    vanishing = {(name, item) for name, found in moved for item in found.vanishing}
    share = rate(len(vanishing), len(spelled), level=level)
    tables = [row for row in rows if row["class"] == "table"]
    false = [row["falsely_certified"] for row in tables]
    counts = [n for n in false if isinstance(n, int)]
    return {
        "vanishing": {
            **share.to_dict(),
            "n": share.of,
            "estimate": share.share,
            "kind": f"Clopper-Pearson {100 * level:g}%",
        },
        "false_certificates": {"n": len(tables), "estimate": sum(counts) if counts else None},
    }
