"""Names that other tools give to our columns, as one table, and the rules for choosing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueness.contract.errors import InputError

ALIASES: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "id", "sample_id", "doc_id", "prompt_id", "question_id", "idx"),
    "entity": ("entity",),
    "question": ("question", "prompt", "prompts", "input", "user_input", "query", "problem"),
    "completion": (
        "completion",
        "response",
        "responses",
        "output",
        "actual_output",
        "generated_answer",
        "resps",
        "text",
    ),
    "draws": ("sampled_responses", "samples", "completions", "generations", "code"),
    "answer": ("pred",),
    "answers": ("answers",),
    "target": (
        "target",
        "targets",
        "reference",
        "expected_output",
        "expected",
        "gold",
        "golds",
        "gt",
        "ground_truth",
        "label",
    ),
    "epoch": ("epoch", "repeat", "sample_index", "trial"),
    "condition": ("condition",),
    "relation": ("relation",),
    "template": ("template",),
    "group": ("group", "cluster", "passage_id", "document"),
    "model": ("model",),
    "entity_key": ("entity_key",),
    "outcome": ("outcome",),
    "reason": ("reason",),
    "logprob": ("logprob", "logprobs", "avg_logprob"),
    "greedy": ("greedy",),
    "observer": ("observer",),
    "weight": ("weight",),
}
"""Ours → what is accepted for it, in any case. ``answer`` itself is decided by `resolve`."""

COUNTS = ("count", "counts", "n", "multiplicity")
"""May say how often a row was drawn, where nothing numbers the draws."""

CLAIMS = frozenset({"claim", "claims"})
"""Beside one of these, ``label`` says whether the claim holds: no gold of an answer."""

EVIDENCE: Mapping[str, str] = {
    "pred": "tool_answer",
    "score": "tool_score",
    "tool_answer": "tool_answer",
    "tool_score": "tool_score",
    "stop_reason": "stop_reason",
    "stopped_by": "stopped_by",
    "status": "status",
    "cached": "cached",
    "attempts": "attempts",
    "is_correct": "is_correct",
    "expected_outcome": "expected_outcome",
    "spelling": "spelling",
    "prompt_hash": "prompt_hash",
    "doc_hash": "doc_hash",
    "choices": "choices",
    "choice_order": "choice_order",
}
"""Columns kept beside a completion as evidence about the row, and the names they get."""


_SHOWN = 30
_KNOWN = frozenset({"answer", *EVIDENCE, *(name for known in ALIASES.values() for name in known)})


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column of a source plays which part.

    ``columns`` maps our names to the source's; ``evidence`` maps names of extras to the source's;
    ``notes`` says what had to be decided; columns in ``guessed`` play their part only if what they
    hold fits it.
    """

    columns: Mapping[str, str]
    evidence: Mapping[str, str]
    notes: tuple[str, ...] = ()
    guessed: frozenset[str] = frozenset()

    def __contains__(self, role: str) -> bool:
        return role in self.columns


def resolve(
    names: Sequence[str],
    explicit: Mapping[str, str | None],
    *,
    native: bool = False,
    keep: bool = False,
) -> Roles:
    """The part that every column plays.

    Parameters
    ----------
    names : sequence of str
        Columns of the source.
    explicit : mapping of our name to column name or None
        What the caller named; these win over every alias.
    native : bool
        Whether the source is a table that we wrote: then ``answer`` is a key.
    keep : bool
        Whether columns that play no part are kept too, as evidence under their own names; under
        ``source_NAME`` where the name would be recognised as something else.

    Raises
    ------
    InputError
        When a named column is absent, when two columns mean the same, or when there is neither
        an answer nor anything that says what was asked.

    Examples
    --------
    >>> resolve(["Country", "answer"], {"entity": "country"}).columns["completion"]
    'answer'
    """
    given = {role: _named(names, role, name) for role, name in explicit.items() if name is not None}
    native = native or "outcome" in {n.casefold() for n in names}
    if "answer" in given and "completion" not in given and not native:
        given["completion"] = given.pop("answer")
    notes: list[str] = []
    free = [n for n in names if n not in given.values()]
    found = {role: _found(free, role) for role in ALIASES if role not in given}
    _place_answer(free, found, given, native=native, notes=notes)
    _place_counts(free, found, given, native=native, notes=notes)
    if CLAIMS & {n.casefold() for n in names}:
        found["target"] = [n for n in found.get("target", []) if n.casefold() != "label"]
    if not native and ("completion" in given or found.get("completion")):
        found.pop("answer", None)  # what a tool extracted is evidence beside a completion
    columns = dict(given)
    for role, columns_found in found.items():
        if columns_found and _wanted(role, columns, found):
            columns[role] = _only(role, columns_found)
    _check_enough(names, columns)
    guessed = {n for n in (columns.get("weight"),) if n and n.casefold() in COUNTS}
    evidence = _evidence(free, columns, native=native)
    evidence |= _others(names, columns, evidence) if keep else {}
    return Roles(columns, evidence, tuple(notes), frozenset(guessed - set(given.values())))


def _named(names: Sequence[str], role: str, name: str) -> str:
    exact = [n for n in names if n == name] or [n for n in names if n.casefold() == name.casefold()]
    if exact:
        return _only(role, exact)
    msg = (
        f"{_flag(role)} names the column {name!r}, which is not there; the columns are "
        f"{_list(names)}. Name one of these."
    )
    raise InputError(msg)


def _found(names: Sequence[str], role: str) -> list[str]:
    return [n for n in names if n.casefold() in ALIASES[role]]


def _place_answer(
    names: Sequence[str],
    found: dict[str, list[str]],
    given: Mapping[str, str],
    *,
    native: bool,
    notes: list[str],
) -> None:
    """A column called answer: a key in our own tables, a gold beside a generated answer, a text."""
    answer = [n for n in names if n.casefold() == "answer"]
    if not answer:
        return
    folded = {n.casefold() for n in names}
    if native:
        found["answer"] = answer
    elif {"question", "generated_answer"} <= folded:
        if "target" not in given:
            found["target"] = [*found["target"], *answer]
            notes.append("'answer' stands beside 'generated_answer' and was taken as the target.")
    elif "completion" not in given:
        found["completion"] = [*found["completion"], *answer]


def _place_counts(
    names: Sequence[str],
    found: dict[str, list[str]],
    given: Mapping[str, str],
    *,
    native: bool,
    notes: list[str],
) -> None:
    """How often a row was drawn: a column of counts in a table of nothing but answers.

    Beside whole texts, lists of draws, or columns that are not known, a count counts anything.
    """
    several = any(role in given or found.get(role) for role in ("epoch", "draws", "answers"))
    texts = {n.casefold() for n in found.get("completion", ())} - {"answer"}
    counts = [n for n in names if n.casefold() in COUNTS]
    others = {n.casefold() for n in names if n not in counts} - _KNOWN
    if native or several or texts or others or "weight" in given or found["weight"]:
        return
    if len(counts) == 1:
        found["weight"] = counts
    elif counts:
        notes.append(
            f"Columns {_list(counts)} may both say how often a row was drawn: neither was used. "
            "Name one as weight."
        )


def _wanted(role: str, columns: Mapping[str, str], found: Mapping[str, list[str]]) -> bool:
    """The question's text only matters where nothing else says what was asked."""
    if role != "question":
        return True
    others = ("item", "entity")
    return not any(o in columns or found.get(o) for o in others)


def _only(role: str, columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return columns[0]
    listed = ", ".join(columns)
    msg = (
        f"two columns both mean {role}: {listed}. One was wanted; "
        f"say which with {_flag(role)} {columns[0]}."
    )
    raise InputError(msg)


def _check_enough(names: Sequence[str], columns: Mapping[str, str]) -> None:
    if not {"completion", "draws", "answer", "answers", "outcome"} & set(columns):
        known = ", ".join(("answer", *ALIASES["completion"], *ALIASES["draws"]))
        msg = (
            f"no column holds answers; the columns are {_list(names)} and known names are {known}. "
            "Name it with --answer COLUMN."
        )
        raise InputError(msg)
    if not {"item", "entity", "question"} & set(columns):
        known = ", ".join((*ALIASES["item"], *ALIASES["entity"], *ALIASES["question"]))
        msg = (
            f"no column says what was asked; the columns are {_list(names)} and known names are "
            f"{known}. Name it with --entity COLUMN or --item COLUMN."
        )
        raise InputError(msg)


def _evidence(names: Sequence[str], columns: Mapping[str, str], *, native: bool) -> dict[str, str]:
    taken = set(columns.values())
    free = [n for n in names if n not in taken]
    if native:
        others = {a for role in ALIASES for a in ALIASES[role] if role in columns}
        return {n: n for n in free if n.casefold() not in others and n != "question"}
    return {EVIDENCE[n.casefold()]: n for n in free if n.casefold() in EVIDENCE}


def _others(
    names: Sequence[str], columns: Mapping[str, str], evidence: Mapping[str, str]
) -> dict[str, str]:
    """Columns that the table has no other place for; a question is one, item or not."""
    held = {c for role, c in columns.items() if role != "question"} | set(evidence.values())
    left = [n for n in names if n not in held]
    return {f"source_{n}" if _means_other(n) else n: n for n in left}


def _means_other(name: str) -> bool:
    """Whether a column of this name would be taken for something when it is read again."""
    known = name.casefold() in _KNOWN or name.casefold() in COUNTS
    return known and name.casefold() not in ALIASES["question"]


def _flag(role: str) -> str:
    return f"--{role.replace('_', '-')}"


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
