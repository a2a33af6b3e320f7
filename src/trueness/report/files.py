"""Write readings to a file whose suffix says how."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trueness.contract import Decision
from trueness.contract.blocks import Block
from trueness.contract.errors import InputError
from trueness.contract.files import naming
from trueness.report.checks import Check
from trueness.report.machine import Readings, json, json_lines, junit

SUFFIXES = (".html", ".md", ".json", ".jsonl", ".junit.xml")
"""What `write` knows, in the order in which they are offered."""


def write(
    readings: Readings,
    path: str | Path,
    *,
    decisions: Sequence[Decision] = (),
    checks: Iterable[Check] = (),
    title: str = "What these answers show",
    columns: Mapping[str, str] | None = None,
    overview: Sequence[Block] = (),
) -> Path:
    """The path of the file that was written, its form chosen by the suffix.

    ``.html`` is one page, ``.md`` Markdown, ``.json`` everything with all items, ``.jsonl`` one
    line an item, ``.junit.xml`` a test report with the checks. An older file is replaced only
    when the new one is complete.

    Parameters
    ----------
    readings : mapping, sequence or Reading
    path : str or Path
    decisions, checks, title, columns, overview :
        As in `page`, `markdown`, `json` and `junit`; a form without room for one leaves it out.

    Raises
    ------
    InputError
        When the suffix is not known or there are no readings.
    OSError
        When the file cannot be written.
    """
    target = Path(path)
    kind = suffix(target)
    parts: Iterable[str]
    if kind == ".jsonl":
        parts = json_lines(readings)
    elif kind == ".json":
        parts = (json(readings, decisions=decisions, max_items=None), "\n")
    elif kind == ".junit.xml":
        parts = (junit(readings, checks=checks),)
    elif kind == ".md":
        from trueness.report.md import markdown  # noqa: PLC0415 - one form, one import

        parts = (
            markdown(
                readings, decisions=decisions, title=title, columns=columns, overview=overview
            ),
        )
    else:
        from trueness.report.web import page  # noqa: PLC0415 - jinja2 only for a page

        parts = (
            page(readings, decisions=decisions, title=title, columns=columns, overview=overview),
        )
    with naming(target):
        return _replace(target, parts)


def suffix(path: str | Path) -> str:
    """The suffix that decides the form of a file.

    Raises
    ------
    InputError
        When it is not one of `SUFFIXES`.

    Examples
    --------
    >>> suffix("out/run.junit.xml")
    '.junit.xml'
    """
    name = Path(path).name.lower()
    for known in sorted(SUFFIXES, key=len, reverse=True):
        if name.endswith(known):
            return known
    msg = (
        f"{str(path)!r} has no suffix that says what to write; known are {', '.join(SUFFIXES)}. "
        "Rename the file."
    )
    raise InputError(msg)


def _replace(target: Path, parts: Iterable[str]) -> Path:
    if target.exists() and not target.is_file():  # a device or a pipe is written in place
        with target.open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(parts)
        return target
    draft = target.with_name(target.name + ".part")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(parts)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target
