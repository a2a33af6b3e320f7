"""One line of a samples file of lm-evaluation-harness, of any of the forms that it has had."""

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trueness.contract.errors import InputError


class LikelihoodsError(Exception):
    """A line holds log-likelihoods of given texts: nothing was sampled."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one line says about its document.

    Parameters
    ----------
    doc : str
        The document's number in its task.
    responses : tuple of str or None
        Every repeat in order; None where there is none.
    settings : mapping
        Settings of the generation.
    filter_name : str or None
        The filter whose result the line holds; older files do not say.
    """

    doc: str
    responses: tuple[str | None, ...]
    settings: Mapping[str, Any]
    filter_name: str | None

    def digest(self) -> int:
        """One number for the responses: equal responses, equal numbers."""
        text = json.dumps(self.responses)
        raw = hashlib.blake2b(text.encode("ascii"), digest_size=8).digest()
        return int.from_bytes(raw, "big")


def record_of(row: Mapping[str, Any], where: str) -> Record:
    """The record of a line.

    Raises
    ------
    LikelihoodsError
        When the line holds no sampled text.
    InputError
        For a form that is not known.
    """
    doc = row.get("doc_id")
    if not isinstance(doc, (int, str)) or "resps" not in row:
        raise _unknown(where, "it has no doc_id or no resps")
    requests = _requests(row.get("arguments"))
    if requests and not all(len(r) > 1 and isinstance(r[1], Mapping) for r in requests):
        raise LikelihoodsError(where)
    name = row.get("filter")
    settings = requests[0][1] if requests else {}
    responses = _responses(row["resps"], f"{where}, doc {doc}")
    return Record(str(doc), responses, settings, name if isinstance(name, str) else None)


def likelihoods_of(row: Mapping[str, Any]) -> tuple[float, ...]:
    """The log-probability of each given text; empty where the line holds none."""
    resps = row.get("resps")
    found: list[float] = []
    for request in resps if isinstance(resps, list) else []:
        first = request[0] if isinstance(request, list) and request else request
        number = first[0] if isinstance(first, list) and first else first
        try:
            found.append(float(number))
        except (TypeError, ValueError):
            return ()
    return tuple(found)


def golds_of(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The golds; a list that was written as text is a list again."""
    target = row.get("target")
    if isinstance(target, str) and target.startswith("["):
        target = _listed(target)
    golds = target if isinstance(target, list) else [target]
    return tuple(str(g) for g in golds if g is not None and g != "") or None


def evidence_of(row: Mapping[str, Any], n_repeats: int) -> list[dict[str, str | None]]:
    """Evidence about each repeat: hashes, and what the tool made of it.

    What the tool says about all repeats together (a vote, the first one) is called
    ``tool_item_answer`` and ``tool_item_score``: it is about none of them.
    """
    shared: dict[str, str | None] = {"doc_hash": doc_hash(row), "prompt_hash": prompt_hash(row)}
    each: list[dict[str, str | None]] = [dict(shared) for _ in range(n_repeats)]
    filtered = row.get("filtered_resps")
    value = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
    score = _score(row)
    whole = "tool_answer" if n_repeats == 1 else "tool_item_answer"
    if isinstance(value, list) and len(value) == n_repeats:
        for extras, one in zip(each, value, strict=True):
            extras["tool_answer"] = _text(one)
    else:
        for extras in each:
            extras[whole] = _text(value)
    for extras in each:
        extras["tool_score" if n_repeats == 1 else "tool_item_score"] = score
    return each


def doc_hash(row: Mapping[str, Any]) -> str | None:
    """What identifies the document wherever it stands; made here where the file has none."""
    found = row.get("doc_hash")
    if isinstance(found, str):
        return found
    if "doc" not in row:
        return None
    return _sha256(json.dumps(row["doc"], indent=2, ensure_ascii=False))


def prompt_hash(row: Mapping[str, Any]) -> str | None:
    """What identifies the rendered prompt; made here where the file has none."""
    found = row.get("prompt_hash")
    if isinstance(found, str):
        return found
    requests = _requests(row.get("arguments"))
    prompt = requests[0][0] if requests and requests[0] else None
    return _sha256(prompt) if isinstance(prompt, str) else None


def _requests(arguments: object) -> list[list[Any]]:
    """Arguments of each request: newer files have objects, older ones lists."""
    each = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    if not isinstance(each, list):
        return []
    return [list(r.values()) if isinstance(r, Mapping) else list(_as_list(r)) for r in each]


def _as_list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _responses(resps: object, where: str) -> tuple[str | None, ...]:
    if not isinstance(resps, list) or not resps:
        raise _unknown(where, f"resps is {_shown(resps)}")
    flat: list[Any] = resps
    if isinstance(resps[0], list):
        if any(isinstance(one, list) for request in resps for one in _as_list(request)):
            raise LikelihoodsError(where)
        if len(resps) > 1:
            msg = (
                f"{where} holds {len(resps)} requests; one prompt a document is wanted, whose "
                "repeats are its draws. Write one document a request."
            )
            raise InputError(msg)
        flat = resps[0]
    texts = [one for one in flat if one is None or isinstance(one, str)]
    if not texts or len(texts) != len(flat):
        raise _unknown(where, f"resps is {_shown(resps)}")
    return tuple(texts)


def _listed(text: str) -> object:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return value
    return text


def _score(row: Mapping[str, Any]) -> str | None:
    metrics = row.get("metrics")
    names = metrics if isinstance(metrics, list) else ["exact_match", "acc"]
    found = next((row[n] for n in names if isinstance(n, str) and n in row), None)
    return _text(found)


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_LONGEST = 60


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _unknown(where: str, what: str) -> InputError:
    msg = (
        f"{where} is no samples line of lm-evaluation-harness in a form that is known: {what}. "
        "doc_id and resps = [[text, …]] are wanted. Check whether the tool is newer than trueness."
    )
    return InputError(msg)
