"""Pictures of a study's result, declared as data: which fields are drawn, and what none shows.

A declaration decides, so its hash is in the result; what a page draws of the result decides nothing
and lies in a file of its own, which may change without a study being run again.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import resources
from typing import Any

from trueness.contract.blocks import (
    Bar,
    Bars,
    Block,
    Cell,
    Curve,
    Dot,
    IntervalDots,
    Notes,
    Part,
    Series,
    Table,
)
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.study.expressions import look_up
from trueness.study.results import Record, Result

SHOWS_NOT = "Does not show"
_PLACE = re.compile(r"(\d+)\D*$")
_MOST = 200
Picture = Mapping[str, Any]


def pictures_of(result: Result) -> tuple[Block, ...]:
    """The declared pictures of a result, each with what it does not show; none where none are.

    A picture of which nothing can be drawn, as of a run that was cut short, is named in the notes.

    Parameters
    ----------
    result : Result
    """
    declared = declared_pictures(result.study)
    if declared is None or not result.rows:
        return ()
    made, gone = [], []
    for picture in declared["picture"]:
        try:
            made.append(drawn(picture, result))
        except InputError as error:
            gone.append(f"{picture['title']}: not drawn, for {error}")
    lines = (*declared["shows_not"], *gone)
    return (*made, Notes(SHOWS_NOT, tuple(lines), "blind_spots"))


def declared_pictures(study: str) -> Mapping[str, Any] | None:
    """The file of a study's pictures; None where there is none.

    Raises
    ------
    InputError
        For a picture without a title, of no known kind, or one that does not say what it does not
        show.
    """
    source = resources.files("trueness").joinpath("data", "pictures", f"{study}.toml")
    if not source.is_file():
        return None
    found = tomllib.loads(source.read_text("utf-8"))
    for picture in found.get("picture", ()):
        if not picture.get("title") or picture.get("kind") not in _KINDS:
            msg = f"a picture of {study} has no title or no kind of {', '.join(_KINDS)}."
            raise InputError(msg)
        if not picture.get("shows_not"):
            msg = f"the picture {picture['title']!r} of {study} has no shows_not; say it there."
            raise InputError(msg)
    if set(found) != {"shows_not", "picture"}:
        msg = f"pictures of {study} have {sorted(found)}; wanted shows_not and picture."
        raise InputError(msg)
    return found


def drawn(picture: Picture, result: Result) -> Block:
    """One picture of a result.

    Raises
    ------
    InputError
        When a row or field that it names is not there, or holds no number.
    """
    return _KINDS[str(picture["kind"])](picture, result)


def _note(picture: Picture) -> str:
    said = str(picture.get("note", ""))
    return f"{said} {SHOWS_NOT}: {picture['shows_not']}.".strip()


def _curve(picture: Picture, result: Result) -> Curve:
    return Curve(
        title=str(picture["title"]),
        x_label=str(picture["x"]),
        y_label=str(picture["y"]),
        series=tuple(_series(line, result) for line in picture["series"]),
        note=_note(picture),
        x_log=bool(picture.get("x_log", False)),
        y_log=bool(picture.get("y_log", False)),
        band=str(picture.get("band", "")),
    )


def _series(line: Picture, result: Result) -> Series:
    """A line along one list of one row, or over one field of many rows."""
    if "row" in line:
        row = _rows(result, str(line["row"]))[0]
        values = {part: _list(row, str(line[part])) for part in _ENDS if part in line}
        places = _places(row, line, len(values["at"]))
    else:
        rows = _rows(result, str(line["rows"]))
        values = {p: [_number(r, str(line[p])) for r in rows] for p in _ENDS if p in line}
        places = [_place(row, line.get("x_at")) for row in rows]
    ends = zip(places, values.get("low", ()), values.get("high", ()), strict=False)
    return Series(
        label=str(line["label"]),
        points=tuple(zip(places, values["at"], strict=True)),
        dashed=bool(line.get("dashed", False)),
        role=str(line.get("role", "")),
        band=tuple((x, a, z) for x, a, z in ends if a is not None and z is not None),
    )


_ENDS = ("at", "low", "high")


def _places(row: Record, line: Picture, n: int) -> list[float]:
    """Where the entries of a list stand: at another list of the row, or counted on."""
    if "xs" not in line:
        return [float(line.get("from", 0)) + i for i in range(n)]
    found = [x for x in _list(row, str(line["xs"])) if x is not None]
    if len(found) != n:
        msg = f"{line['xs']!r} of {row.get('name')!r} has {len(found)} numbers for {n}."
        raise InputError(msg)
    return found


def _dots(picture: Picture, result: Result) -> IntervalDots:
    """A dot for each path into the result, at an object with a value and its ends."""
    document: Json = {
        "rows": [dict(row) for row in result.rows],
        "contrasts": [dict(contrast) for contrast in result.contrasts],
    }
    dots = []
    for dot in picture["dot"]:
        found = look_up(document, str(dot["at"]))
        record = found if isinstance(found, dict) else {}
        value, low, high = (
            _number(record, str(picture.get(p, p))) for p in ("value", "low", "high")
        )
        n = record.get("n")
        dots.append(
            Dot(
                label=str(dot["label"]),
                value=value,
                low=low,
                high=high,
                role=str(dot.get("role", "neutral")),
                group=str(dot.get("group", "")) + (f" (n = {n})" if "group" in dot and n else ""),
            )
        )
    return IntervalDots(
        title=str(picture["title"]),
        dots=tuple(dots),
        reference=float(picture.get("reference", 0.0)),
        note=_note(picture),
        axis=str(picture.get("axis", "")),
        band=str(picture.get("band", "")),
    )


def _bars(picture: Picture, result: Result) -> Bars:
    """A bar for each row, stacked of some of its counts."""
    bars = []
    for row in _rows(result, str(picture["rows"])):
        counts = [_number(row, str(part["at"])) or 0.0 for part in picture["part"]]
        parts = tuple(
            Part(str(part["label"]), n, f"{n:,.0f}", str(part.get("role", "neutral")))
            for part, n in zip(picture["part"], counts, strict=True)
        )
        bars.append(Bar(_label(row, picture), parts, display=f"of {sum(counts):,.0f}"))
    longest = max(sum(part.value for part in bar.parts) for bar in bars)
    return Bars(
        title=str(picture["title"]),
        bars=tuple(bars),
        limit=longest,
        note=_note(picture),
        axis=str(picture.get("axis", "")),
    )


def _table(picture: Picture, result: Result) -> Table:
    """A row for each row, of some of its fields."""
    rows = _rows(result, str(picture["rows"]))
    cells = tuple(
        tuple(_cell(_field(row, str(path))) for path in picture["columns"].values())
        for row in rows[:_MOST]
    )
    columns = tuple(map(str, picture["columns"]))
    return Table(str(picture["title"]), columns, cells, len(rows), _note(picture))


_KINDS: Mapping[str, Callable[[Picture, Result], Block]] = {
    "curve": _curve,
    "dots": _dots,
    "bars": _bars,
    "table": _table,
}


def _rows(result: Result, names: str) -> Sequence[Record]:
    """Rows whose name fits one of the patterns, in the order of the patterns."""
    patterns = names.split()
    found = [r for p in patterns for r in result.rows if fnmatchcase(str(r.get("name")), p)]
    if not found:
        msg = f"no row of {result.study} is called {names!r}. Run the study again."
        raise InputError(msg)
    return found


def _label(row: Record, picture: Picture) -> str:
    named = row.get(str(picture.get("label_at", "name")))
    return str(named).replace("_", " ")


def _place(row: Record, x_at: object) -> float:
    """Where a row stands: at a field of its own, or at the number that its name ends with."""
    if x_at is not None:
        found = _number(row, str(x_at))
        if found is not None:
            return found
    elif place := _PLACE.search(str(row.get("name"))):
        return float(place[1])
    msg = f"the row {row.get('name')!r} has no number to stand at. Name another field."
    raise InputError(msg)


def _field(row: Record, path: str) -> Json:
    """What stands in a row at a path; None where something on the way is null."""
    front, _, last = path.rpartition(".")
    here: Json = _field(row, front) if front else dict(row)
    return None if here is None else look_up(here, last)


def _number(row: Record, path: str) -> float | None:
    """A number of a row, or the first less the others: ``flat.count - moved.count``."""
    first, *others = (_one(row, part) for part in path.split(" - "))
    if first is None or None in others:
        return None
    return first - math.fsum(other for other in others if other is not None)


def _one(row: Record, path: str) -> float | None:
    value = _field(row, path)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        msg = f"{path!r} of {row.get('name')!r} is {value!r} and no number."
        raise InputError(msg)
    return None if value is None else float(value)


def _list(row: Record, path: str) -> list[float | None]:
    values = _field(row, path)
    if not isinstance(values, list):
        msg = f"{path!r} of {row.get('name')!r} is no list."
        raise InputError(msg)
    return list(_numbers(values))


def _numbers(values: Sequence[Json]) -> Iterator[float | None]:
    for value in values:
        known = isinstance(value, int | float) and not isinstance(value, bool)
        yield float(value) if known else None  # type: ignore[arg-type] # known


def _cell(value: Json) -> Cell:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {n}" for name, n in value.items())
    return value
