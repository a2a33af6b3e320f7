"""The result of a study as a reading: what a page shows of it, what disagrees first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trueness.contract.blocks import (
    Bars,
    Block,
    Cell,
    Curve,
    Dot,
    Fact,
    Facts,
    IntervalDots,
    Notes,
    Statement,
    Table,
)
from trueness.contract.errors import InputError
from trueness.contract.reading import Reading
from trueness.contract.serial import Json
from trueness.contract.states import Direction, State
from trueness.study.declarations import Declaration, declared_study
from trueness.study.pictures import pictures_of
from trueness.study.results import Outcome, Record, Result

_TONES = {
    Outcome.SUPPORTED: "neutral",
    Outcome.REFUTED: "neutral",
    Outcome.UNRESOLVED: "silent",
    Outcome.NOT_APPLICABLE: "problem",
}
_MOST_ROWS, _MOST_COLUMNS = 200, 14
_HIDDEN = frozenset({"a", "b", "name"})
_SAID_ONCE = ("statistic", "kind", "unit")


def reading_of(result: Result) -> Reading:
    """A result as every report draws it.

    The value is the estimate of the first primary contrast that has one, or its count of rows
    beyond their level. An unresolved study is ``SILENT``: its estimates stand in the tables and
    decide nothing.

    Parameters
    ----------
    result : Result
    """
    declaration = _declaration(result)
    outcome = result.reading.outcome
    decided = outcome in {Outcome.SUPPORTED, Outcome.REFUTED}
    main = _main(result) if decided else None
    measured = main is not None
    low, high = (_number(main, "low"), _number(main, "high")) if main else (None, None)
    return Reading(
        sensor=f"study.{result.study}",
        direction=Direction.NEITHER,
        state=State.MEASURED if measured else _without_value(outcome),
        reason=None if measured else _reason(result),
        value=_value(main),
        low=low,
        high=high,
        interval_kind=_kind(main) if low is not None or high is not None else None,
        n_measured=_n_measured(result, measured=measured),
        n_items=len(result.contrasts),
        blocks=tuple(_headed(block, result.mark) for block in _blocks(result, declaration)),
        details={
            "reading": outcome.value,
            "citable": result.citable,
            "partial": result.partial,
            "dirty": result.dirty,
            "commit": result.commit,
            "declaration_changed": _changed(result, declaration),
        },
        fingerprint=result.declaration_sha256,
        versions=result.versions,
        seed=result.seeds[0] if result.seeds else None,
    )


def _declaration(result: Result) -> Declaration | None:
    try:
        return declared_study(result.study)
    except InputError:
        return None  # a study of another version: its result can still be read


def _changed(result: Result, declaration: Declaration | None) -> bool | None:
    return None if declaration is None else declaration.sha256 != result.declaration_sha256


def _without_value(outcome: Outcome) -> State:
    return State.NOT_APPLICABLE if outcome is Outcome.NOT_APPLICABLE else State.SILENT


def _reason(result: Result) -> str:
    if result.reading.outcome is Outcome.NOT_APPLICABLE:
        return next(iter(result.notes), "not applicable")
    if result.reading.outcome is Outcome.UNRESOLVED:
        return "what was declared decides neither way"
    return "no primary number"


def _main(result: Result) -> Record | None:
    primary = [c for c in result.contrasts if c.get("primary") is True]
    return next((c for c in primary if _value(c) is not None), None)


def _n_measured(result: Result, *, measured: bool) -> int:
    """All contrasts of a decided study; of any other those with a number."""
    if measured:
        return len(result.contrasts)
    return sum(_value(contrast) is not None for contrast in result.contrasts)


def _value(record: Record | None) -> float | None:
    estimate = _number(record, "estimate")
    return _number(record, "beyond") if estimate is None else estimate


def _blocks(result: Result, declaration: Declaration | None) -> Iterator[Block]:
    outcome = result.reading.outcome
    question = declaration.question if declaration else f"study {result.study}"
    yield Statement(
        f"{outcome.value.replace('_', ' ')}: {question}",
        _TONES[outcome],
        tuple(_cautions(result, declaration)),
    )
    apart = [p for p in result.published if p.get("agrees") is False]
    rest = [p for p in result.published if p.get("agrees") is not False]
    if apart:
        yield _table("Published figures that did not come out", apart)
    yield from pictures_of(result)
    dots = tuple(_dots(result.contrasts))
    if dots:
        yield IntervalDots(
            "Contrasts with their intervals", dots, band="interval, of the kind that the table says"
        )
    if result.contrasts:
        yield _table("Declared contrasts", result.contrasts)
    if result.rows:
        yield _table("Rows", result.rows)
    if rest:
        yield _table("Published figures beside ours", rest)
    yield Facts("What decided", tuple(_decisive(result)))
    yield Facts("Run", tuple(_run(result)))
    if result.data:
        yield _table("Data", result.data)
    if result.notes:
        yield Notes("Notes", tuple(result.notes))


def _headed(block: Block, mark: str) -> Block:
    """The block with the mark of its result at the head."""
    if not mark:
        return block
    if isinstance(block, Statement):
        return replace(block, text=f"{mark}{block.text}")
    if isinstance(block, Bars | Curve | Table | IntervalDots | Facts | Notes):
        return replace(block, title=f"{mark}{block.title}")
    return block


def _cautions(result: Result, declaration: Declaration | None) -> Iterator[str]:
    if _changed(result, declaration):
        yield "Declaration changed: this result was decided by another text of it. Run it again."
    if declaration is None:
        yield "No declaration of this name comes along any more."
    if result.partial:
        yield "Partial: it was cut short and may not be cited."
    if result.dirty:
        yield "The code differed from its commit; it may not be cited."
    if result.commit is None:
        yield "No commit is known of the code that ran; it may not be cited."


def _dots(contrasts: Sequence[Record]) -> Iterator[Dot]:
    for contrast in contrasts:
        value = _number(contrast, "estimate")
        if value is not None:
            name = str(contrast["name"]).replace("_", " ")
            yield Dot(name, value, _number(contrast, "low"), _number(contrast, "high"))


def _decisive(result: Result) -> Iterator[Fact]:
    for name, found in zip(
        ("supported if", "refuted if"), result.reading.expressions, strict=False
    ):
        values = ", ".join(f"{path} = {value}" for path, value in found.values.items())
        yield Fact(
            name, found.expression, f"{'holds' if found.holds else 'does not hold'}: {values}"
        )


def _run(result: Result) -> Iterator[Fact]:
    yield Fact("commit", result.commit or "none known")
    yield Fact("at", result.utc)
    yield Fact("seeds", ", ".join(map(str, result.seeds)))
    for name, value in (result.model or {}).items():
        yield Fact(f"model {name}", str(value))
    for name, value in {**result.draws, **result.cost}.items():
        yield Fact(name.replace("_", " "), str(value))


def _table(title: str, records: Sequence[Record]) -> Table:
    """Records as rows; what is no single value is written as text.

    What kind of number stands in all of the rows is said once, beneath them.
    """
    shared = _shared(records)
    hidden = _HIDDEN | shared.keys()
    names = [n for n in dict.fromkeys(k for r in records for k in r) if n not in hidden]
    lead = ["name"] if any("name" in r for r in records) else []
    columns = (*lead, *names[: _MOST_COLUMNS - len(lead)])
    gone = len(names) + len(lead) - len(columns)
    rows = tuple(tuple(_cell(r.get(c)) for c in columns) for r in records[:_MOST_ROWS])
    said = [f"{name.capitalize()}: {value}." for name, value in shared.items()]
    if gone:
        said.append(f"{gone} further columns stand in the result file.")
    shown = tuple(c.replace("_", " ") for c in columns)
    return Table(title, shown, rows, len(records), " ".join(said))


def _shared(records: Sequence[Record]) -> dict[str, str]:
    """The texts about numbers that are the same in each of several records."""
    if len(records) <= 1:
        return {}
    first = {name: records[0].get(name) for name in _SAID_ONCE}
    return {
        name: value
        for name, value in first.items()
        if isinstance(value, str) and all(r.get(name) == value for r in records)
    }


def _cell(value: Json) -> Cell:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    return ", ".join(f"{k}: {v}" if isinstance(value, dict) else str(v) for k, v in entries)


def _kind(record: Record | None) -> str:
    return str((record or {}).get("kind") or "as declared")


def _number(record: Record | None, name: str) -> float | None:
    value = (record or {}).get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
