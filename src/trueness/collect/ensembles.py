"""Ensembles as views of stored rows: several conditions, wordings or draws become one answer.

Nothing is asked. A view is a condition of its own: its rows stand beside those that it was made
of, with a protocol that names them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from trueness.collect.elections import bare, voted, voted_wordings
from trueness.collect.means import LAW, averaged, law_of
from trueness.contract.errors import InputError, ProtocolError
from trueness.contract.serial import Json, canonical
from trueness.table import AnswerTable, Protocol
from trueness.table.shards import concat

VOTE, WORDINGS, LOGITS, PROBABILITIES = "vote", "wordings", "mean_logits", "mean_probabilities"
KINDS = (VOTE, WORDINGS, LOGITS, PROBABILITIES)
"""Ways to make one answer of several; the last two need `LAW` in every row."""
EVERY, NONE = "*", "none"


@dataclass(frozen=True, slots=True)
class View:
    """One ensemble.

    Parameters
    ----------
    name : str
        The condition that its rows get.
    kind : str
        One of `KINDS`.
    members : tuple of str
        Conditions, or patterns of their names; ``*`` alone is every condition but ``none``.
    """

    name: str
    kind: str
    members: tuple[str, ...]


def parse_view(text: str) -> View:
    """A view as it is typed: ``KIND:CONDITION,CONDITION…``.

    Raises
    ------
    InputError
        For another kind, or no condition.

    Examples
    --------
    >>> parse_view("vote:prose:32@1, prose:32@2").members
    ('prose:32@1', 'prose:32@2')
    """
    kind, _, listed = text.partition(":")
    members = tuple(dict.fromkeys(part.strip() for part in listed.split(",") if part.strip()))
    kind = kind.strip()
    if kind == "assignment":
        msg = (
            "an assignment decode cannot be chosen: its answers obey the declaration by "
            "construction, so nothing can be proved against them. Take vote, or score it against "
            "golds (trueness study ensembles)."
        )
        raise InputError(msg)
    if kind not in KINDS or not members:
        msg = (
            f"{text!r} is no ensemble; wanted KIND:CONDITION,CONDITION with a kind of "
            f"{', '.join(KINDS)}, e.g. vote:* for every condition but none."
        )
        raise InputError(msg)
    return View(f"{kind}:{','.join(members)}", kind, members)


def with_views(table: AnswerTable, views: Iterable[View | str]) -> AnswerTable:
    """The table with the rows of each view after its own.

    Parameters
    ----------
    table : AnswerTable
        Keyed.
    views : iterable of View or str
        As typed, or parsed.

    Raises
    ------
    InputError
        When a condition is absent or has the view's name already, there is a single member and
        nothing to put together, rows stand for several draws, members allow different answers, or
        what a mean needs was not recorded.
    ProtocolError
        When members were not asked alike in everything but the condition.
    """
    made: list[AnswerTable] = []
    for each in views:
        view = parse_view(each) if isinstance(each, str) else each
        _check_name(view, table, made)
        made.append(_viewed(table, view))
    return concat([table, *made]) if made else table


def added_tokens(condition: Mapping[str, Json]) -> int | None:
    """Tokens in front of each question: counted, else the length aimed at; 0 without a prefix.

    Parameters
    ----------
    condition : mapping
        The field ``condition`` of a protocol.

    Returns
    -------
    int or None
        None where it says neither.

    Examples
    --------
    >>> added_tokens({"n_tokens": None, "length": 128}), added_tokens({"kind": "none"})
    (128, 0)
    """
    if condition.get("kind") == NONE:
        return 0
    counted = condition.get("n_tokens")
    found = condition.get("length") if counted is None else counted
    return found if isinstance(found, int) else None


def _check_name(view: View, table: AnswerTable, made: Sequence[AnswerTable]) -> None:
    taken = {*table.conditions, *(name for part in made for name in part.conditions)}
    if view.name in taken:
        msg = f"the condition {view.name!r} is there already; name each ensemble once."
        raise InputError(msg)
    if table.weight is not None and (table.weight > 1).any():
        msg = (
            "rows stand for several draws each, and an ensemble is made of single ones. Write each "
            "draw in a row of its own."
        )
        raise InputError(msg)


def _viewed(table: AnswerTable, view: View) -> AnswerTable:
    names = _members(table, view)
    parts = {name: table.only(name) for name in names}
    _check_several(view, parts)
    if view.kind == VOTE:
        rows = voted(list(parts.values()), view.name)
    elif view.kind == WORDINGS:
        rows = voted_wordings(_together(parts), view.name)
    else:
        rows = averaged(parts, view.name, probabilities=view.kind == PROBABILITIES)
    protocol = _protocol(table, view, names)
    named = {} if protocol is None else {view.name: protocol}
    return replace(rows, protocols=named, planned={}, notes=(), log=None)


def _check_several(view: View, parts: Mapping[str, AnswerTable]) -> None:
    """Refuse a single member that answered each question once: its view would be it again."""
    if view.kind == WORDINGS or len(parts) > 1:
        return  # wordings are counted where they are put together
    ((name, part),) = parts.items()
    if view.kind == VOTE and len(part) > len(np.unique(part.item.codes)):
        return
    more = ", or several draws of it (ask with --epochs)" if view.kind == VOTE else ""
    msg = (
        f"the ensemble {view.name!r} has the single member {name!r}, so there is nothing to put "
        f"together; several conditions are wanted{more}. Name them, e.g. {view.kind}:* for every "
        f"condition but none, or take {name!r} as it is."
    )
    raise InputError(msg)


def _members(table: AnswerTable, view: View) -> tuple[str, ...]:
    """The conditions that patterns name, in the table's order."""
    found: dict[str, None] = {}
    for pattern in view.members:
        hits = [n for n in table.conditions if n == pattern or fnmatchcase(n, pattern)]
        if pattern == EVERY:
            hits = [n for n in hits if n != NONE]
        if not hits:
            msg = (
                f"the ensemble {view.name!r} names {pattern!r}, which is no condition of the "
                f"table; it holds {', '.join(map(repr, table.conditions))}. Name some of these."
            )
            raise InputError(msg)
        found |= dict.fromkeys(hits)
    return tuple(found)


def _together(parts: Mapping[str, AnswerTable]) -> AnswerTable:
    listed = list(parts.values())
    if len(listed) == 1:
        return listed[0]
    return concat([bare(part) for part in listed])


def _protocol(table: AnswerTable, view: View, names: Sequence[str]) -> Protocol | None:
    """How the view came about: as its members were asked, and what was made of them."""
    known = {name: table.protocols[name] for name in names if name in table.protocols}
    if len(known) < len(names):
        return None
    first = known[names[0]]
    for name, other in known.items():
        differs = [f for f in first.differences(other) if f != "condition"]
        if differs:
            msg = (
                f"{names[0]!r} and {name!r} were not asked alike: {', '.join(differs)} differ. An "
                "ensemble is made of conditions of one run."
            )
            raise ProtocolError(msg)
    said = {name: _condition(p) for name, p in known.items()}
    condition: dict[str, Json] = {
        "kind": "ensemble",
        "way": view.kind,
        "members": {name: known[name].fingerprint for name in names},
        **_space(view, said, table),
        **_tokens(said.values()),
    }
    return Protocol({**first.fields, "condition": condition})


def _condition(protocol: Protocol) -> Mapping[str, Json]:
    found = protocol.fields.get("condition")
    return found if isinstance(found, Mapping) else {}


def _space(
    view: View, said: Mapping[str, Mapping[str, Json]], table: AnswerTable
) -> dict[str, Json]:
    """Which answers the view allows: its members' own space, or the set that a mean is over."""
    spaces = {name: fields.get("allowed") for name, fields in said.items()}
    first = next(iter(spaces.values()))
    other = next((n for n, s in spaces.items() if canonical(s) != canonical(first)), None)
    if other is not None:
        msg = (
            f"{next(iter(spaces))!r} and {other!r} do not allow the same answers; an ensemble of "
            f"them would be neither free nor constrained. Leave one out of {view.name!r}."
        )
        raise InputError(msg)
    if view.kind in {LOGITS, PROBABILITIES}:
        tokens = sorted({key for text in table.extras[LAW].words for key in law_of(text) or {}})
        return {"allowed": {"form": "first_token", "answers": list[Json](tokens)}}
    return {} if first is None else {"allowed": first}


def _tokens(said: Iterable[Mapping[str, Json]]) -> dict[str, Json]:
    """Tokens in front of all members together: an answer of the view needs one of each."""
    lengths = [added_tokens(fields) for fields in said]
    whole = [n for n in lengths if n is not None]
    return {"n_tokens": sum(whole)} if len(whole) == len(lengths) else {}
