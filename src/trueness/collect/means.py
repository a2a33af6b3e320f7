"""Means over stored laws of the first token: the likeliest answer of a set."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness.backends.protocol import Tokenizer
from trueness.collect.elections import one_row_an_item, with_answers
from trueness.collect.questions import Question
from trueness.collect.rendering import joined
from trueness.contract.errors import InputError
from trueness.table import NULL, AnswerTable

LAW = "answer_logprobs"
"""Column with a JSON object: first token of each answer of the set, and its log-probability."""
_TIE = "tie"
_LEAST = -1e9
"""Stands for no mass at all, which JSON has no number for; in nats."""
Floats = NDArray[np.floating[Any]]


def likeliest(laws: Sequence[Floats], *, probabilities: bool = False) -> list[int | None]:
    """Per row the column with the largest mean over all laws; None where two are equal.

    Parameters
    ----------
    laws : sequence of (n, m) float
        Logits or log-probabilities of the same m answers, one array a member. A constant added to
        a row changes no mean of logits; means of probabilities need log-probabilities.
    probabilities : bool
        Whether probabilities are averaged in place of logits.

    Examples
    --------
    >>> laws = [np.log([[0.9, 0.1]]), np.log([[1e-9, 1.0]])]
    >>> likeliest(laws), likeliest(laws, probabilities=True)
    ([1], [1])
    """
    wide = [np.asarray(law, dtype=np.float64) for law in laws]
    together = np.mean([np.exp(z) for z in wide] if probabilities else wide, axis=0)
    top = together.max(axis=1, keepdims=True)
    single = (together == top).sum(axis=1) == 1
    found = together.argmax(axis=1).tolist()
    return [at if one else None for at, one in zip(found, single.tolist(), strict=True)]


def averaged(
    parts: Mapping[str, AnswerTable], name: str, *, probabilities: bool = False
) -> AnswerTable:
    """One row an item: the likeliest answer of the set by the mean of the members' laws.

    Parameters
    ----------
    parts : mapping of condition to AnswerTable
        Rows with `LAW`, of the same table.
    name : str
        The condition of the view.
    probabilities : bool
        Whether probabilities are averaged in place of logits.

    Raises
    ------
    InputError
        When a law was not recorded, cannot be read, or is about other answers than another one.
    """
    laws = {each: _laws(each, part, name) for each, part in parts.items()}
    rows = one_row_an_item(list(parts.values()))
    answers: list[str | None] = []
    reasons: list[str | None] = []
    missing: list[bool] = []
    for item in map(str, rows.item.values()):
        found = [law[item] for law in laws.values() if law.get(item)]
        if len(found) < len(laws):
            answers.append(None)
            reasons.append(f"{LAW} of a member is missing")
            missing.append(True)
            continue
        tokens = sorted(found[0])
        if any(sorted(law) != tokens for law in found):
            msg = (
                f"item {item!r} has {LAW} of other answers in another member of {name!r}; "
                "a mean needs the same answers in each. Ask all members with one relation."
            )
            raise InputError(msg)
        (best,) = likeliest(
            [np.array([[law[token] for token in tokens]]) for law in found],
            probabilities=probabilities,
        )
        answers.append(None if best is None else tokens[best])
        reasons.append(_TIE if best is None else None)
        missing.append(False)
    return with_answers(rows, answers, name, missing=missing, reasons=reasons)


def _laws(name: str, part: AnswerTable, view: str) -> dict[str, dict[str, float]]:
    """Log-probabilities of the answer set by item; refused where none were recorded."""
    column = part.extras.get(LAW)
    if column is None or (column.codes == NULL).all():
        msg = (
            f"{view!r} averages what the first token could have been, and condition {name!r} "
            f"has no {LAW} in its rows. Ask again with --observe first_token,{LAW}, or take "
            "vote, which needs answers alone."
        )
        raise InputError(msg)
    found: dict[str, dict[str, float]] = {}
    for row, (item, text) in enumerate(zip(part.item.values(), column.values(), strict=True)):
        if text is None:
            continue
        law = law_of(text)
        if law is None:
            msg = (
                f"row {int(part.row_number[row])} has the {LAW} {text!r:.80}; wanted a JSON object "
                "from first tokens to finite log-probabilities. Correct it."
            )
            raise InputError(msg)
        if found.setdefault(str(item), law) != law:
            msg = (
                f"item {item!r} has two laws under {name!r}, as noise makes them; a mean of one "
                "law a condition is wanted. Take vote."
            )
            raise InputError(msg)
    return found


def law_text(logits: Floats, tokens: Sequence[int]) -> str:
    """The cell that says how likely each first token was, of the law of all tokens.

    Parameters
    ----------
    logits : (V,) float
        Or log-probabilities.
    tokens : sequence of int

    Examples
    --------
    >>> law_text(np.log([0.5, 0.25, 0.25]), [1])
    '{"tok:1":-1.3862943611198906}'
    """
    z = np.asarray(logits, dtype=np.float64)
    whole = float(np.logaddexp.reduce(z))
    listed = {f"tok:{t}": float(z[t]) - whole for t in dict.fromkeys(tokens)}
    return json.dumps(
        {name: max(value, _LEAST) for name, value in listed.items()},
        separators=(",", ":"),
    )


def first_tokens(
    asked: Mapping[str, Question], tokenizer: Tokenizer | None, what: str
) -> dict[str, tuple[int, ...]]:
    """First tokens of the right answers of every item's relation, as they follow its prompt.

    Parameters
    ----------
    asked : mapping of item to Question
    tokenizer : Tokenizer or None
    what : str
        What wants them, for the error.

    Raises
    ------
    InputError
        Without tokens, or for a relation without golds.
    """
    golds: dict[str, dict[str, None]] = {}
    for question in asked.values():
        golds.setdefault(question.relation, {}).update(dict.fromkeys(question.golds))
    bare = next((name for name, known in golds.items() if not known), None)
    if tokenizer is None or bare is not None:
        lacks = "this model offers no tokens" if tokenizer is None else f"{bare!r} has no golds"
        msg = (
            f"--observe {what} needs the first tokens of right answers, and {lacks}. Leave it out."
        )
        raise InputError(msg)
    found: dict[str, tuple[int, ...]] = {}
    for item, question in asked.items():
        written = (tokenizer.encode(joined(question.prompt, g)) for g in golds[question.relation])
        found[item] = tuple(dict.fromkeys(ids[0] for ids in written if ids))
    return found


def law_of(text: str) -> dict[str, float] | None:
    """The log-probabilities that a cell holds; None where it holds none."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or not found:
        return None
    numbers = [v for v in found.values() if isinstance(v, int | float) and not isinstance(v, bool)]
    fits = len(numbers) == len(found) and all(np.isfinite(numbers))
    return {key: float(value) for key, value in found.items()} if fits else None
