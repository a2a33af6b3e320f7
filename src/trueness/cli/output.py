"""What a verb prints and the files it writes."""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueness.cli.exits import hush_stdout

if TYPE_CHECKING:
    from trueness.contract import Decision, Reading
    from trueness.contract.blocks import Block
    from trueness.report import Check

PAGES = (".html", ".md")
"""Suffixes of what a person reads."""
TABLES = (".csv", ".parquet")
"""Suffixes that only tables have; ``.jsonl`` is either, by verb."""
_PLAIN_WIDTH = 100
_WIDEST = 120


def width() -> int:
    """Columns to print in: the terminal's, within reason, or a hundred for a file or pipe."""
    if not sys.stdout.isatty():
        return _PLAIN_WIDTH
    return min(shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns, _WIDEST)


def in_color() -> bool:
    """Whether colours may be printed."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def show(text: str) -> None:
    """Print UTF-8 to standard output; a reader that has gone away is no error."""
    try:
        click.echo(text.rstrip("\n").encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        hush_stdout()


def note(text: str) -> None:
    """One line on stderr, beside what is printed."""
    click.echo(text.encode("utf-8", "backslashreplace"), err=True)


def show_readings(
    readings: Mapping[str, "Reading"],
    *,
    as_json: bool,
    full: bool = False,
    columns: Mapping[str, str] | None = None,
    decisions: Sequence["Decision"] = (),
) -> None:
    """Print readings, and decisions about them, for a person or as strict JSON."""
    from trueness import report

    if as_json:
        found = readings if len(readings) > 1 else next(iter(readings.values()))
        show(report.json(found, decisions=decisions))
        return
    wide, color = width(), in_color()
    parts = []
    if len(readings) > 1:
        shown = {name or "none": reading for name, reading in readings.items()}
        parts.append(report.comparison(shown, columns=columns, width=wide, color=color))
    parts += [report.decision_text(d, width=wide, color=color) for d in decisions]
    for name, reading in readings.items():
        brief = not full and len(readings) > 1
        head = f"[{name or 'none'}]\n" if len(readings) > 1 else ""
        parts.append(head + report.text(reading, width=wide, color=color, brief=brief))
    show("\n".join(parts))


def apart(paths: Sequence[Path], *, what: str) -> tuple[Path | None, tuple[Path, ...]]:
    """The one file that a verb is about, and the pages beside it.

    Raises
    ------
    InputError
        When two such files are named.
    """
    from trueness.contract.errors import InputError

    pages = tuple(p for p in paths if p.suffix.lower() in PAGES)
    rest = [p for p in paths if p not in pages]
    if len(rest) > 1:
        msg = (
            f"two {what}s were named, {rest[0]} and {rest[1]}; name one, and pages by the "
            f"suffixes {' and '.join(PAGES)}."
        )
        raise InputError(msg)
    return (rest[0] if rest else None), pages


def show_blocks(blocks: Sequence["Block"]) -> None:
    """Print blocks that belong to no reading."""
    from trueness import report

    show("\n".join(report.block_text(b, width=width(), color=in_color()) for b in blocks))


def check_paths(paths: Sequence[Path], *, tables: bool = False) -> None:
    """Refuse a file name whose suffix no writer knows, before any work is done.

    Raises
    ------
    InputError
        Names the suffixes that are known.
    """
    from trueness.contract.errors import InputError
    from trueness.report import SUFFIXES, suffix

    for path in paths:
        if tables and path.suffix.lower() in TABLES:
            continue
        try:
            suffix(path)
        except InputError as error:
            known = (*SUFFIXES, *TABLES) if tables else SUFFIXES
            msg = (
                f"{str(path)!r} has no suffix that this verb can write; "
                f"known are {', '.join(known)}. Rename the file."
            )
            raise InputError(msg) from error


def check_writable(paths: Sequence[Path]) -> None:
    """Refuse a place that cannot be written before long work is done, and leave nothing there.

    Raises
    ------
    OSError
        Of the system, with the file's name.
    """
    for path in paths:
        there, missing = path.exists(), [p for p in path.absolute().parents if not p.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            pass
        if not there:
            path.unlink()
        with suppress(OSError):  # somebody else put something there meanwhile
            for folder in missing:
                folder.rmdir()


def write_readings(
    readings: Mapping[str, "Reading"],
    paths: Sequence[Path],
    *,
    title: str,
    columns: Mapping[str, str] | None = None,
    decisions: Sequence["Decision"] = (),
    checks: Sequence["Check"] = (),
    overview: Sequence["Block"] = (),
) -> None:
    """Write readings to each file that is not a table, in the form its suffix names."""
    from trueness import report

    found = next(iter(readings.values())) if len(readings) == 1 else readings
    for path in paths:
        if path.suffix.lower() in TABLES:
            continue
        ready(path)
        report.write(
            found,
            path,
            title=title,
            columns=columns,
            decisions=decisions,
            checks=checks,
            overview=overview,
        )
        note(f"wrote {path}")


def check_inputs(outputs: Sequence[Path], inputs: Iterable[Path | None]) -> None:
    """Refuse to write a result over a file that it is made from.

    Raises
    ------
    InputError
        Names the file.
    """
    from trueness.contract.errors import InputError

    for path in outputs:
        if path.is_file() and any(i is not None and _holds(i, path) for i in inputs):
            msg = f"{path} is read here and would be overwritten. Name another file with -o."
            raise InputError(msg)


def _holds(read: Path, path: Path) -> bool:
    """Whether an existing file is the one that is read, by any name, or stands in its folder."""
    if os.path.isdir(read):  # noqa: PTH112 - false, no error, for a text that is no path
        return path.resolve().is_relative_to(read.resolve())
    return os.path.exists(read) and path.samefile(read)  # noqa: PTH110 - as above


def ready(path: Path) -> Path:
    """The path, its folder made if it was not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def log_dir() -> Path | None:
    """The folder for results that no file was named for: ``TRUENESS_LOG_DIR``; None if not set.

    Raises
    ------
    InputError
        When it is set to something that is no folder and cannot become one.
    """
    from trueness.contract.errors import InputError

    given = os.environ.get("TRUENESS_LOG_DIR")
    if not given:
        return None
    folder = Path(given).expanduser()
    there = next(p for p in (folder, *folder.parents, Path()) if p.exists())
    if there.is_dir():
        return folder
    what = "is no folder" if there == folder else f"lies below {there}, which is no folder"
    msg = (
        f"TRUENESS_LOG_DIR is {given!r}, which {what}; a folder is wanted, which is made where it "
        "is not there. Name one, or name a file with -o."
    )
    raise InputError(msg)
