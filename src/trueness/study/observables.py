"""What is compared: the first token, a few tokens as they are, or the extracted answer."""

from dataclasses import replace
from time import monotonic

import numpy as np

from trueness.contract.serial import Json
from trueness.study.asked import Asked, ask_declared, found_of
from trueness.study.found import Found
from trueness.study.partitions import measured, part_of, right_by_entity
from trueness.study.results import Record
from trueness.study.second_model import with_second_model
from trueness.study.spent import Spent
from trueness.study.task import Task
from trueness.table import AnswerTable

FIRST, SHORT, LONG = "first_token", "four_tokens", "extracted"
_WAYS: dict[str, dict[str, object]] = {
    FIRST: {"observable": "first_token"},
    SHORT: {"observable": "string", "max_tokens": 4},
    LONG: {"observable": "string", "max_tokens": 8},
}


@with_second_model
def run(task: Task) -> Found:
    """The same questions read in three ways; what is certified under each, and what is wrong.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many entities of each relation.
    """
    rows: list[Record] = list[Record]()
    tables: dict[str, Asked] = {}
    for way, words in _WAYS.items():
        start = monotonic()
        asked = ask_declared(task, **words)
        if isinstance(asked, Found):
            return asked
        seconds = round(monotonic() - start, 1)
        tables[way] = asked
        for relation in asked.relations:
            rows += [_row(way, asked, relation, name, seconds) for name in asked.table.conditions]
    contrasts: dict[str, Record] = {
        "first_token_above_string": _contrast(tables, FIRST, LONG),
        "four_tokens_above_extracted": _contrast(tables, SHORT, LONG),
    }
    found = found_of(task, tables[LONG], rows, contrasts)
    return _with_all(found, tables)


def _with_all(found: Found, tables: dict[str, Asked]) -> Found:
    every = [{**row, "observable": way} for way, asked in tables.items() for row in asked.rows()]
    return replace(
        found,
        table=tuple(every),
        spent=sum((asked.spent for asked in tables.values()), Spent()),
        protocols=tuple(
            {**p, "observable": way} for way, asked in tables.items() for p in asked.protocols
        ),
    )


def _row(way: str, asked: Asked, relation: str, condition: str, seconds: float) -> Record:
    found = measured(asked, relation, condition)
    part = part_of(asked, relation, condition)
    return {
        **found.row,
        "name": f"{way}_{found.row['name']}",
        "observable": way,
        "n_completions": _completions(part),
        "seconds_of_all_relations": seconds,
    }


def _completions(part: AnswerTable) -> int | None:
    """Distinct texts as they were written."""
    if part.completion is None:
        return None
    return len({text.strip() for text in part.completion.values() if text is not None})


def _contrast(tables: dict[str, Asked], coarse: str, fine: str) -> dict[str, Json]:
    """Rows in which more is certified wrong by one reading than is wrong by the other."""
    above: list[Json] = []
    n = 0
    disagree = 0
    for relation in tables[fine].relations:
        for condition in tables[fine].table.conditions:
            certified = measured(tables[coarse], relation, condition).row["t1_star"]
            entities = tables[fine].relations[relation].entities
            wrong = 1.0 - right_by_entity(part_of(tables[fine], relation, condition), entities)
            other = 1.0 - right_by_entity(part_of(tables[coarse], relation, condition), entities)
            n += 1
            if isinstance(certified, int) and certified > np.nansum(wrong):
                above.append(f"{relation} {condition}")
            disagree += int(np.nansum(np.abs(wrong - other)))
    return {
        "n": n,
        "estimate": len(above),
        "kind": "exact count",
        "graded_otherwise": disagree,
        "where": above,
    }
