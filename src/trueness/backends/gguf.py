"""What a GGUF file says about itself: its vocabulary, its templates and its context length."""

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from trueness.contract.errors import InputError

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_SCALARS[12] = "d"
_STRING, _ARRAY = 8, 9
_NO_TEXT = frozenset({2, 3, 5})  # token types: unknown, control, unused
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 32: "BF16",
}  # fmt: skip

Value = int | float | bool | str | list[object]


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """The part of a file's head that prompts and protocols depend on.

    Parameters
    ----------
    bos : int or None
        The id to start every prompt with; None where the file says that there is no such rule.
    bos_text : str
        How that id is spelled, to find it in a template.
    special : frozenset of int
        Control, unknown and unused ids.
    n_vocabulary, n_context : int
    quantisation : str
    chat_template : str or None
    tokenizer_hash : str
        SHA-256 over the vocabulary, its types and merges.
    """

    bos: int | None
    bos_text: str
    special: frozenset[int]
    n_vocabulary: int
    n_context: int
    quantisation: str
    chat_template: str | None
    tokenizer_hash: str


def read_gguf(path: Path) -> GgufFacts:
    """The facts of a file, from its head alone.

    Raises
    ------
    InputError
        When the file is missing, is no GGUF, or its head is cut off.
    """
    try:
        with path.open("rb") as file:
            return _facts(_head(file, path))
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}. Give the path of a GGUF file."
        raise InputError(msg) from error
    except (struct.error, UnicodeDecodeError, MemoryError, KeyError) as error:
        msg = f"{path} is a damaged or cut off GGUF file. Fetch it again."
        raise InputError(msg) from error


def _head(file: BinaryIO, path: Path) -> Mapping[str, Value]:
    if file.read(4) != _MAGIC:
        msg = f"{path} is no GGUF file: it does not start with 'GGUF'. Give one that does."
        raise InputError(msg)
    _version, _tensors, n_fields = struct.unpack("<IQQ", file.read(20))
    head: dict[str, Value] = {}
    for _ in range(n_fields):
        name = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        head[name] = _value(file, kind)
    return head


def _value(file: BinaryIO, kind: int) -> Value:
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        inner, n = struct.unpack("<IQ", file.read(12))
        if inner in {_STRING, _ARRAY}:
            return [_value(file, inner) for _ in range(n)]
        form = f"<{n}{_SCALARS[inner]}"
        return list(struct.unpack(form, file.read(struct.calcsize(form))))
    form = f"<{_SCALARS[kind]}"
    (scalar,) = struct.unpack(form, file.read(struct.calcsize(form)))
    number: int | float | bool = scalar
    return number


def _text(file: BinaryIO) -> str:
    (n,) = struct.unpack("<Q", file.read(8))
    raw = file.read(n)
    if len(raw) < n:
        raise struct.error
    return raw.decode("utf-8", "replace")


def _facts(head: Mapping[str, Value]) -> GgufFacts:
    tokens = _list(head, "tokenizer.ggml.tokens")
    types = _list(head, "tokenizer.ggml.token_type")
    bos = _number(head, "tokenizer.ggml.bos_token_id")
    # the rule of the runtime: byte-pair vocabularies add no BOS unless the file says so
    adds = bool(head.get("tokenizer.ggml.add_bos_token", head["tokenizer.ggml.model"] == "llama"))
    template = head.get("tokenizer.chat_template")
    return GgufFacts(
        bos=bos if adds else None,
        bos_text=str(tokens[bos]) if adds and bos is not None else "",
        special=frozenset(i for i, kind in enumerate(types) if kind in _NO_TEXT),
        n_vocabulary=len(tokens),
        n_context=_number(head, f"{head['general.architecture']}.context_length") or 0,
        quantisation=_FILE_TYPES.get(_number(head, "general.file_type") or 0, "unknown"),
        chat_template=template if isinstance(template, str) else None,
        tokenizer_hash=_hash(head, tokens, types),
    )


def _hash(head: Mapping[str, Value], tokens: list[object], types: list[object]) -> str:
    digest = hashlib.sha256()
    for part in (head["tokenizer.ggml.model"], head.get("tokenizer.ggml.pre", "")):
        digest.update(f"{part}\0".encode())
    for rows in (tokens, types, _list(head, "tokenizer.ggml.merges")):
        digest.update("\0".join(map(str, rows)).encode("utf-8", "surrogatepass"))
        digest.update(b"\1")
    return digest.hexdigest()


def _list(head: Mapping[str, Value], name: str) -> list[object]:
    value = head.get(name, [])
    return value if isinstance(value, list) else []


def _number(head: Mapping[str, Value], name: str) -> int | None:
    value = head.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
