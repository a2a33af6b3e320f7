"""What a reader found in a log, told for a person."""

from collections.abc import Mapping

import numpy as np

from trueness.contract.blocks import Block, Fact, Facts, Notes, Statement, Table
from trueness.contract.serial import Json, canonical, plain
from trueness.extract.audit import extraction_audit
from trueness.extract.scores import own_scores
from trueness.table import NULL, OUTCOMES, AnswerTable, Outcome
from trueness.table.tallies import by_outcome

_SHOWN = 20
_SAID = {
    "n_read": "records read",
    "n_rows": "rows",
    "n_items": "items",
    "n_draws": "draws",
    "draws_per_item": "draws an item",
    "planned": "draws an item that were planned",
    "n_incomplete": "items with fewer",
    "n_with_target": "items with a known right answer",
    "n_repeated": "exact repeats left out",
    "completed": "read to its end",
    "extractor": "keyed by",
}
"""Facts of a table, as they are told."""
_ERROR = OUTCOMES.index(Outcome.ERROR)


def log_facts(table: AnswerTable) -> dict[str, Json]:
    """Named figures of a table that was read: items, draws, outcomes, protocol.

    Parameters
    ----------
    table : AnswerTable
        Keyed.
    """
    log = table.log
    items, draws = _draws(table)
    return {
        "tool": None if log is None else log.tool,
        "version": None if log is None else log.version,
        "n_read": None if log is None else log.n_read,
        "n_rows": len(table),
        "n_items": len(items),
        "n_draws": table.n_draws,
        "draws_per_item": [int(draws.min()), int(draws.max())] if len(draws) else [0, 0],
        "planned": _planned(table),
        "n_incomplete": _incomplete(table, draws),
        "n_with_target": _with_target(table),
        "n_repeated": table.n_repeated,
        "dropped": {} if log is None else plain(log.dropped),
        "duplicates": [] if log is None else list(log.duplicates),
        "conditions": list(table.conditions),
        "outcomes": plain(by_outcome(table)),
        "completed": table.completed,
        "extractor": table.extractor,
        "audit": plain(extraction_audit(table)),
        "own_scores": plain(own_scores(table)),
        "protocol": {c: dict(p.fields) for c, p in table.protocols.items()},
        "unknown": [] if log is None else list(log.unknown),
        "warnings": [] if log is None else list(log.warnings),
        "notes": [n for n in table.notes if log is None or n not in log.warnings],
    }


def log_blocks(table: AnswerTable, facts: Mapping[str, Json]) -> tuple[Block, ...]:
    """The same, to be drawn: what was read, what became of it, what is not known."""
    return (
        Statement(sentence(facts)),
        Facts(
            "What was read",
            tuple(
                Fact(said, _text(facts[name]))
                for name, said in _SAID.items()
                if facts[name] is not None
            ),
        ),
        _counts("Outcomes", by_outcome(table)),
        *_audit(table),
        *_own_scores(table),
        *_lists(facts),
    )


def _audit(table: AnswerTable) -> tuple[Block, ...]:
    """What the keys unite or keep apart, where there is something to say."""
    found = extraction_audit(table)
    lines = [
        f"item {u.item}: {said} count as one answer"
        for u in found.two_units
        for said in [" and ".join(f"{u.key} {f'in {w}' if w else 'bare'}" for w in u.units)]
    ]
    lines += [
        f"item {p.item}: {p.percent} % and {p.share} are two answers"
        for p in found.percent_and_share
    ]
    for n, what in (
        (found.infrastructure_texts, "texts are messages of the host, so missing data"),
        (
            found.label_text_mismatches,
            "answers name one option and the text of another; the label counts",
        ),
        (found.approximate, "numbers are called approximate"),
    ):
        lines += [f"{n:,} {what}"] if n else []
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return (Notes("What the keys unite and keep apart", (*lines[:_SHOWN], *more)),) if lines else ()


def _own_scores(table: AnswerTable) -> tuple[Block, ...]:
    """What the log scored beside what our keys say, where it scored."""
    found = own_scores(table)
    if found is None:
        return ()
    n = found.n_scored
    facts = Facts(
        "The log's own scores, beside ours",
        (
            Fact("right by the log", f"{found.n_right_by_log:,} of {n:,}"),
            Fact("right by our keys", f"{found.n_right_here:,} of {n:,}"),
            Fact("scored otherwise", f"{found.n_differ:,}"),
        ),
    )
    if not found.n_differ:
        return (facts,)
    none = "no answer"
    rows = tuple(
        (
            d.item, d.epoch, d.condition, " or ".join(d.golds), d.answer or none,
            d.tool_answer or "", "right" if d.log_says_right else "wrong",
        )
        for d in found.differ
    )  # fmt: skip
    columns = ("item", "epoch", "condition", "gold", "our key", "the log's answer", "the log says")
    return facts, Table("Draws that the log scored otherwise", columns, rows, found.n_differ)


def sentence(facts: Mapping[str, Json]) -> str:
    """One line: which tool, how many items and draws."""
    tool = "" if facts["tool"] is None else f"{facts['tool']} {facts['version'] or ''}".strip()
    low, high = facts["draws_per_item"]  # type: ignore[misc,str-unpack] # a pair, made above
    draws = f"{low}" if low == high else f"{low} to {high}"
    head = f"{tool}: " if tool else ""
    items = f"{facts['n_items']:,} item{'' if facts['n_items'] == 1 else 's'}"
    named = facts["conditions"]
    n = len(named) if isinstance(named, list) else 1
    under = f", {n} conditions" if n > 1 else ""
    return f"{head}{items} × {draws} draw{'' if high == 1 else 's'}{under}."


def _draws(table: AnswerTable) -> tuple[np.ndarray, np.ndarray]:
    """Items that have rows, and how many draws each has that came back."""
    weight = np.ones(len(table), np.int64) if table.weight is None else table.weight
    came = np.where(table.outcome == _ERROR, 0, weight)
    items, where = np.unique(table.item.codes, return_inverse=True)
    width = len(table.condition.words)
    pairs, at = np.unique(where * width + table.condition.codes, return_inverse=True)
    return items, np.bincount(at, came, minlength=len(pairs)).astype(np.int64)


def _planned(table: AnswerTable) -> Json:
    found = set(table.planned.values())
    if len(found) == 1:
        return found.pop()
    return plain(dict(table.planned)) or None


def _incomplete(table: AnswerTable, draws: np.ndarray) -> Json:
    planned = set(table.planned.values())
    return int((draws < planned.pop()).sum()) if len(planned) == 1 else None


def _with_target(table: AnswerTable) -> int:
    if table.target is None:
        return 0
    return len(np.unique(table.item.codes[table.target.codes != NULL]))


def _counts(title: str, counts: Mapping[str, int]) -> Table:
    whole = sum(counts.values())
    rows = tuple(
        (name, n, f"{n / whole:.1%}" if whole else "") for name, n in list(counts.items())[:_SHOWN]
    )
    return Table(title, ("outcome", "draws", "share"), rows, len(counts))


def _lists(facts: Mapping[str, Json]) -> tuple[Block, ...]:
    out: list[Block] = []
    dropped = facts["dropped"]
    if isinstance(dropped, Mapping) and dropped:
        lines = tuple(f"{n}: {reason}" for reason, n in dropped.items())
        out.append(Notes("Records that made no row", lines))
    for title, name in (
        ("Duplicates that were resolved", "duplicates"),
        ("Warnings", "warnings"),
        ("Notes", "notes"),
        ("Not told by the log", "unknown"),
    ):
        said = facts[name]
        if isinstance(said, list) and said:
            more = (f"and {len(said) - _SHOWN} more",) if len(said) > _SHOWN else ()
            out.append(Notes(title, (*map(str, said[:_SHOWN]), *more)))
    protocol = facts["protocol"]
    if isinstance(protocol, Mapping) and protocol:
        fields_said = tuple(
            f"{condition} · {field}: {canonical(value)[:200]}"
            for condition, fields in protocol.items()
            if isinstance(fields, Mapping)
            for field, value in fields.items()
        )
        out.append(Notes("Protocol", fields_said, "protocol"))
    return tuple(out)


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        low, high = value
        return str(low) if low == high else f"{low} to {high}"
    return f"{value:,}" if isinstance(value, int) else str(value)
