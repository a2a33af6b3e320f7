"""Answers from a recorded table: what was not recorded is an error, never a guess."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueness.backends.protocol import Key, Request, Result, Step, Tokenizer
from trueness.contract.errors import InputError
from trueness.contract.serial import Json

_FINISH = {"truncated": "length", "refused": "refused"}


@dataclass(slots=True)
class ReplayModel:
    """Recorded completions by key (item, epoch, condition).

    The prompt is not compared: a table keeps answers, not prompts. The file's hash stands in the
    protocol, so two recordings are two models.

    Raises
    ------
    InputError
        When the file cannot be read, a line is no JSON object, or no row holds a completion.
    """

    path: Path
    tokenizer: Tokenizer | None = None
    _rows: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    _hash: str = ""

    def __post_init__(self) -> None:
        try:
            raw = self.path.read_bytes()
        except OSError as error:
            msg = f"cannot read {self.path}: {error.strerror}. Give a recorded answer table."
            raise InputError(msg) from error
        self._hash = hashlib.sha256(raw).hexdigest()
        lines = raw.decode("utf-8", "replace").split("\n")
        for number, line in enumerate(lines, start=1):
            self._read(line, number, torn=number == len(lines))
        if not self._rows:
            msg = f"{self.path} holds no completed row; record one with `trueness ask` first."
            raise InputError(msg)

    @property
    def name(self) -> str:
        """``replay:`` and the file's name."""
        return f"replay:{self.path.name}"

    @property
    def capabilities(self) -> frozenset[str]:
        """Text, and log-probabilities where a row has one."""
        return frozenset({"text"})

    @property
    def identity(self) -> Mapping[str, Json]:
        """What stands in the protocol."""
        return {
            "model": self.name,
            "file_hash": self._hash,
            "quantisation": "unknown",
            "backend": "replay",
            "backend_version": "1",
            "tokenizer_hash": None,
            "chat_template": "raw",
            "dtype": "unknown",
        }

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """None: a recording has no chat template."""
        del text
        return None

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """The recorded completion of each key, or an error."""
        for request in requests:
            row = self._rows.get(request.key)
            yield Result.failed(request.key, "not_recorded") if row is None else _result(row)

    def close(self) -> None:
        """Nothing is held."""

    def _read(self, line: str, number: int, *, torn: bool) -> None:
        if not line.strip():
            return
        try:
            row = json.loads(line)
        except ValueError as error:
            if torn:
                return  # the last line of an interrupted run
            msg = f"{self.path}, line {number}, is no JSON. Give an answer table as JSON lines."
            raise InputError(msg) from error
        if not isinstance(row, dict) or not isinstance(row.get("completion"), str):
            return  # the header line, and rows that hold no completion
        if row.get("outcome") == "error":
            return
        key = (str(row.get("item")), int(row.get("epoch", 1)), str(row.get("condition", "none")))
        self._rows[key] = row


def _result(row: Mapping[str, Any]) -> Result:
    key = (str(row["item"]), int(row.get("epoch", 1)), str(row.get("condition", "none")))
    finish = _FINISH.get(str(row.get("outcome")), "stop")
    answer, logprob = row.get("answer"), row.get("logprob")
    steps: tuple[Step, ...] = ()
    if isinstance(answer, str) and answer.startswith("tok:"):
        steps = (Step(int(answer.removeprefix("tok:")), logprob),)
    return Result(
        key, row["completion"], finish, steps, row.get("tokens_in"), row.get("tokens_out")
    )
