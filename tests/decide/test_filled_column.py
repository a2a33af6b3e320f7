"""The made column: its bytes, its known counts, and what is withheld of it against the truth."""

import csv
import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np

from trueness.contract import Direction, Flagged, ItemReading, Reading, State
from trueness.contract.blocks import Statement
from trueness.decide.withhold import withhold
from trueness.extract.keying import keyed
from trueness.extract.short import short_key
from trueness.table import AnswerTable, Column

ROOT = Path(__file__).parents[2]
COLUMN = ROOT / "src" / "trueness" / "data" / "filled_column.csv"
TRUTH = ROOT / "tests" / "data" / "filled_column_truth.csv"
KNOWN = {
    "rows": 2000,
    "empty": 80,
    "refused": 120,
    "answered": 1800,
    "distinct": 1337,
    "collisions": 463,
    "shared": 552,
    "largest": 234,
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def generator() -> ModuleType:
    where = ROOT / "bench" / "make_filled_column.py"
    spec = importlib.util.spec_from_file_location("make_filled_column", where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def truly_wrong() -> set[str]:
    """Companies with an answer that is not theirs."""
    truth = {r["company"]: r["support_email"] for r in rows(TRUTH)}
    kind = {r["company"]: r["kind"] for r in rows(TRUTH)}
    return {
        r["company"]
        for r in rows(COLUMN)
        if kind[r["company"]] not in {"empty", "refused"}
        and short_key(r["support_email"]) != truth[r["company"]]
    }


def table() -> AnswerTable:
    cells = rows(COLUMN)
    n = len(cells)
    said = Column.of(r["support_email"] for r in cells)
    return keyed(
        AnswerTable(
            item=Column.of(r["company"] for r in cells),
            epoch=np.ones(n, dtype=np.int32),
            condition=Column.of(["none"] * n),
            outcome=np.zeros(n, dtype=np.int8),
            answer=Column.of([None] * n),
            reason=Column.of([None] * n),
            row_number=np.arange(1, n + 1),
            completion=said,
            epochs_numbered=True,
        )
    )


def test_the_files_are_what_the_generator_writes() -> None:
    column, truth = generator().make()
    assert COLUMN.read_text("utf-8") == column
    assert TRUTH.read_text("utf-8") == truth


def test_the_known_counts_hold() -> None:
    counts = generator().counts(COLUMN.read_text("utf-8"))
    assert {name: counts[name] for name in KNOWN} == KNOWN
    assert len({r["support_email"] for r in rows(TRUTH)}) == KNOWN["rows"]


def test_collisions_never_exceed_the_true_errors() -> None:
    assert len(truly_wrong()) == 650 >= KNOWN["collisions"]


def test_the_source_file_tells_the_counts() -> None:
    text = (COLUMN.parent / "SOURCE-filled_column.md").read_text("utf-8")
    for count in (*KNOWN.values(), 650):
        assert f"{count:,}" in text


def test_the_extractor_sees_the_known_outcomes() -> None:
    seen = table()
    outcomes = Counter(seen.outcome.tolist())
    assert outcomes == {0: 1800, 1: 80, 2: 120}
    assert len({a for a in seen.answer.values() if a is not None}) == KNOWN["distinct"]


def reading() -> Reading:
    """Shared answers flagged, as plain counting proves them."""
    seen = table()
    pairs = list(zip(seen.item.values(), seen.answer.values(), strict=True))
    size = Counter(a for _, a in pairs if a is not None)
    items = tuple(
        ItemReading(str(i), State.NO_EVIDENCE if a is None else State.SILENT) for i, a in pairs
    )
    flagged = tuple(str(i) for i, a in pairs if a is not None and size[a] > 1)
    k = sum(size.values()) - len(size)
    groups = sum(s > 1 for s in size.values())
    recall = k / (sum(size.values()) - groups)
    return Reading(
        "plain.count",
        Direction.HIGHER_IS_WORSE,
        State.MEASURED,
        None,
        k / sum(size.values()),
        sum(size.values()),
        len(items),
        (Statement(f"At least {k} are wrong."),),
        per_item=items,
        flagged=Flagged(flagged, k / len(flagged), recall),
        details={"collisions": k},
    )


def test_what_is_withheld_keeps_its_floors_against_the_truth() -> None:
    seen = reading()
    assert seen.details["collisions"] == KNOWN["collisions"]
    decision = withhold(seen)
    assert decision.details["n_withheld"] == KNOWN["shared"]
    assert decision.details["n_withheld_by_outcome"] == KNOWN["empty"] + KNOWN["refused"]
    wrong = truly_wrong()
    caught = len(set(seen.flagged.items) & wrong)
    precision, recall = (decision.details[f"{n}_floor"] for n in ("precision", "recall"))
    assert isinstance(precision, float)
    assert isinstance(recall, float)
    assert 0 < precision <= caught / KNOWN["shared"]
    assert 0 < recall <= caught / len(wrong)
