"""An embedder that counts words: blind to their order, and it says so by construction."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.embedder import Role
from trueness.contract.serial import Json

_WORD = re.compile(r"\w+(?:[.,'-]\w+)*")


class BagOfWords:
    """Lower-cased word counts over the words of some texts."""

    max_tokens = None
    exact = True

    def __init__(self, texts: Sequence[str]) -> None:
        words = sorted({w for text in texts for w in _words(text)})
        self._place = {word: i for i, word in enumerate(words)}

    @property
    def identity(self) -> Mapping[str, Json]:
        return {
            "id": "bag of words",
            "revision": None,
            "dtype": "float64",
            "dimension": len(self._place),
            "max_tokens": None,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        return {}

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[None, ...]:
        del role
        return (None,) * len(texts)

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float64]:
        del role
        found = np.zeros((len(texts), len(self._place)))
        for row, text in enumerate(texts):
            for word in _words(text):
                if word in self._place:
                    found[row, self._place[word]] += 1
        return found


def bag_of(rows: Sequence[Mapping[str, Any]]) -> BagOfWords:
    """Of all texts of some rows."""
    return BagOfWords([text for row in rows for text in (row["claim"], *row["evidence"])])


def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
