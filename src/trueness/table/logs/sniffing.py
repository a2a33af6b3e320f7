"""Which tool wrote a log, told by its content and never by its name."""

import json
import re
import zipfile
from collections.abc import Set as AbstractSet
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from trueness.contract.errors import InputError
from trueness.table.answers import AnswerTable
from trueness.table.logs.streamed import top_level_names
from trueness.table.sniff import HEAD, decoded_json, unreadable

INSPECT = "inspect_ai_log"
LM_EVAL = "lm_eval"
OPENAI_EVALS = "openai_evals"
HELM = "helm"
SIMPLE_EVALS = "simple_evals"
_DOCUMENTS = (
    (frozenset({"eval", "samples"}), INSPECT),
    (frozenset({"request_states"}), HELM),
    (frozenset({"htmls", "convos"}), SIMPLE_EVALS),
)
"""Names at the top of a JSON document, and the tool that writes them."""
_FILES_LOOKED_AT = 200


class Reader(Protocol):
    """What a module that reads one tool's logs offers."""

    def sniffs(self, path: Path) -> bool:
        """Whether a file or folder is a log of this tool."""

    def read(self, path: Path) -> AnswerTable:
        """The draws of the log."""


def log_reader(path: Path) -> Reader | None:
    """The module that reads a log; None when the path is no log of a tool that is known.

    Parameters
    ----------
    path : path
        A file, or a folder that a tool wrote its logs to.

    Raises
    ------
    InputError
        When the path cannot be read, or a folder holds logs of several tools.
    """
    name = written_by(path)
    return None if name is None else cast("Reader", import_module(f"{__package__}.{name}"))


def written_by(path: Path) -> str | None:
    """The name of the reader of a file or folder; None for anything else."""
    try:
        if path.is_dir():
            return _folder(path)
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from error
    if head.startswith(b"PK"):
        return INSPECT if _is_inspect_zip(path) else None
    return _text(head, path)


def log_files(folder: Path, name: str) -> list[Path]:
    """The files of a folder, and of the folders in it, that one reader takes; in order of name."""
    return [p for p in _candidates(folder) if written_by(p) == name]


def _folder(folder: Path) -> str | None:
    if (folder / "scenario_state.json").is_file():
        return HELM
    names: dict[str, Path] = {}
    for path in _candidates(folder)[:_FILES_LOOKED_AT]:
        found = written_by(path)
        if found is not None:
            names.setdefault(found, path)
    if len(names) > 1:
        listed = " and ".join(str(p) for p in names.values())
        msg = (
            f"the folder {folder} holds logs of several tools ({listed}); one at a time is "
            "wanted. Name one file, or a folder of one tool."
        )
        raise InputError(msg)
    return next(iter(names), None)


def _candidates(folder: Path) -> list[Path]:
    suffixes = {".eval", ".json", ".jsonl"}
    found = (p for p in folder.rglob("*") if p.suffix.lower() in suffixes and p.is_file())
    return sorted(found)


def _is_inspect_zip(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return _has_inspect_member(path)
    return any(n == "header.json" or n.startswith("_journal/") for n in names)


def _has_inspect_member(path: Path) -> bool:
    """An archive without its directory, as a crash leaves it: its first member tells."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return (
        re.match(rb"PK\x03\x04.{26}(_journal/|samples/|header\.json)", head, re.DOTALL) is not None
    )


def _text(head: bytes, path: Path) -> str | None:
    text = decoded_json(head)[0].lstrip()
    if not text.startswith("{"):
        return None
    line = text.split("\n", maxsplit=1)[0]
    first = _first_object(line)
    if first is not None:
        names = frozenset(first)
        if "spec" in names and isinstance(first["spec"], dict):
            return OPENAI_EVALS
        if _is_lm_eval(names):
            return LM_EVAL
        return next((tool for wanted, tool in _DOCUMENTS if wanted <= names), None)
    return _document(path)


def _first_object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _document(path: Path) -> str | None:
    names: set[str] = set()
    for name in top_level_names(path):
        names.add(name)
        for wanted, tool in _DOCUMENTS:
            if wanted <= names:
                return tool
    return LM_EVAL if _is_lm_eval(names) else None


def _is_lm_eval(names: AbstractSet[str]) -> bool:
    return "doc_id" in names and not names.isdisjoint({"resps", "filtered_resps"})
