"""Options in the order in which each row showed them: what a letter stood for."""

import json

import numpy as np

from trueness.contract.errors import InputError
from trueness.table.answers import AnswerTable
from trueness.table.column import NULL, Column

CHOICES, ORDER = "choices", "choice_order"


def shown_choices(table: AnswerTable) -> Column[str] | None:
    """A JSON list of option texts for every row that has one; None where no row has.

    ``choices`` holds the options; where a row also has ``choice_order``, that is the order it
    showed: the texts themselves, or positions in ``choices`` from 0.

    Raises
    ------
    InputError
        For an order that is neither.

    Examples
    --------
    >>> from trueness.table import read_answers
    >>> row = {"item": "q", "completion": "B", "choices": ["x", "y"], "choice_order": [1, 0]}
    >>> shown_choices(read_answers([row])).words
    ('["y", "x"]',)
    """
    choices, order = table.extras.get(CHOICES), table.extras.get(ORDER)
    if order is None or choices is order:
        return choices
    given = np.full(len(table), NULL, dtype=np.int32) if choices is None else choices.codes
    pairs, where = np.unique(np.stack([given, order.codes]), axis=1, return_inverse=True)
    shown = [
        _shown(
            None if choices is None or c == NULL else choices.words[c],
            None if o == NULL else order.words[o],
        )
        for c, o in pairs.T.tolist()
    ]
    return Column.of(shown).take(where.reshape(-1))


def _shown(choices: str | None, order: str | None) -> str | None:
    """One list of options in its order."""
    if order is None or order == choices:
        return choices
    found = [str(x) for x in listed(order, ORDER)]
    known = found if choices is None else [str(x) for x in listed(choices, CHOICES)]
    if sorted(found) == sorted(known):
        return json.dumps(found, ensure_ascii=False)
    if sorted(found) == sorted(map(str, range(len(known)))):
        return json.dumps([known[int(x)] for x in found], ensure_ascii=False)
    msg = (
        f"choice_order is {order[:80]}, and choices are {str(choices)[:80]}. Give the same options "
        "in the order shown, or every position once, from 0."
    )
    raise InputError(msg)


def listed(text: str, name: str) -> list[object]:
    """A JSON list that is not empty.

    Raises
    ------
    InputError
        When the text is none.
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not found:
        msg = (
            f"{name} are {text[:80]!r}; wanted is a JSON list of the options' texts in the order "
            "in which they were shown. Write one such list a row."
        )
        raise InputError(msg)
    return found
