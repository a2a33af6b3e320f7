"""Where a row stands in the file decides nothing, inverse questions included."""

from pathlib import Path

import numpy as np
import pytest
from orbit_tables import answer_table, declared

from trueness import api
from trueness.contract import Verdict
from trueness.contract.errors import InputError
from trueness.decide.withhold import withhold
from trueness.sensors.orbits import measure
from trueness.table import AnswerTable, write

NAMES = ("France", "Italy", "Chad")


def tables() -> tuple[AnswerTable, AnswerTable]:
    """The inverse questions last, as they are asked, and first."""
    last = answer_table(
        NAMES,
        [["Paris"], ["Paris"], ["N'Djamena"]],
        golds=["Paris", "Rome", "N'Djamena"],
        inverse={"Paris": "France", "Rome": "Italy"},
    )
    return last, last.take(np.roll(np.arange(len(last)), 2))


def test_items_keep_their_names_when_inverse_rows_stand_first() -> None:
    last, first = tables()
    params = declared(relation="injective")
    seen = [
        {i.extra.get("entity", i.item): i.item for i in measure(t, params).per_item}
        for t in (last, first)
    ]
    asked = {f"r^-1|{answer}|0": f"r^-1|{answer}|0" for answer in ("Paris", "Rome")}
    assert seen[0] == seen[1] == {name: f"r|{name}|0" for name in NAMES} | asked
    assert measure(first, params).details == measure(last, params).details


def test_kept_rows_are_those_that_were_not_withheld(tmp_path: Path) -> None:
    for table in tables():
        reading = measure(table, declared(relation="injective"))
        kept = api.kept(table, {"none": reading})
        stays = {v.item for v in withhold(reading).verdicts if v.verdict is Verdict.KEEP}
        assert set(kept.item.values()) == stays == {"r|Chad|0", "r^-1|Paris|0", "r^-1|Rome|0"}
        write(kept, tmp_path / "kept.csv")


def test_counted_draws_are_refused_where_single_answers_are_certified() -> None:
    rows = [
        {"entity": "a", "answer": "x", "weight": 3},
        {"entity": "b", "answer": "x", "weight": 1},
    ]
    with pytest.raises(InputError, match="row 1 stands for 3 draws"):
        api.certify(rows, relation="injective")
