"""How much a result depends on the rules that made the keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trueness import sensors
from trueness.api.answers import COLUMNS, EXTRACTION, before_keys
from trueness.api.measuring import compare
from trueness.contract import Reading
from trueness.contract.blocks import Block, Cell, Statement, Table
from trueness.contract.serial import Json, plain
from trueness.extract.sensitivity import Change, ExtractorShare
from trueness.extract.sensitivity import sensitivity as extracted
from trueness.stats.clouds import PARTS

SENSOR = "atlas"
_COLUMNS = (
    "extractor", "answered", "no answer", "missing", "right", "changed", "U2 total", "U2 gold",
    "U2 wrong", "U2 no answer",
)  # fmt: skip

_MOVED = {"agreement": "total", "gold": "gold", "wrong": "wrong", "no answer": "none"}


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One table under every extractor."""

    shares: tuple[ExtractorShare, ...]
    agreement: Mapping[str, Mapping[str, float | None]]

    def to_dict(self) -> list[Json]:
        """Plain JSON types, an object an extractor."""
        return [
            {
                "extractor": s.extractor,
                "name": s.table.extractor,
                "outcomes": plain(s.outcomes),
                "reasons": plain(s.reasons),
                "accuracy": s.accuracy,
                "n_correct": s.n_correct,
                "n_with_gold": s.n_with_gold,
                "n_changed": s.n_changed,
                "changed": s.changed,
                "u2": dict(self.agreement[s.extractor]),
                "changes": plain(s.changes),
            }
            for s in self.shares
        ]

    def blocks(self) -> tuple[Block, ...]:
        """Shares, agreement, and the commonest changes with the end of a text."""
        rows = tuple(self._row(s) for s in self.shares)
        table = Table("The same completions under every extractor", _COLUMNS, rows, len(rows))
        found = [_changes(s) for s in self.shares if s.changes]
        return (table, *found)

    def _row(self, s: ExtractorShare) -> tuple[Cell, ...]:
        u2 = self.agreement[s.extractor]
        quiet = sum(s.outcomes.get(o, 0.0) for o in ("no_answer", "refused", "truncated"))
        right = "" if not s.n_with_gold else f"{s.n_correct:,} of {s.n_with_gold:,}"
        figures = [None if u2[p] is None else round(u2[p] or 0.0, 4) for p in PARTS[:4]]
        answered, missing = (s.outcomes.get(o, 0.0) for o in ("answered", "error"))
        shares = (f"{x:.1%}" for x in (answered, quiet, missing))
        changed = f"{s.n_changed:,} ({s.changed:.1%})"
        return s.extractor, *shares, right, changed, *figures


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One comparison under every extractor."""

    readings: Mapping[str, Reading]

    @property
    def names(self) -> dict[str, str]:
        """The verdict of each; ``not measured`` where there is none."""
        return {name: _verdict(reading) for name, reading in self.readings.items()}

    @property
    def agree(self) -> bool:
        """Whether all are the same."""
        return len(set(self.names.values())) == 1

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON types: the verdict of each extractor, and whether all are the same."""
        return {"verdicts": dict(self.names), "agree": self.agree}

    def blocks(self) -> tuple[Block, ...]:
        """The verdicts side by side, and what follows if they differ."""
        rows = tuple((name, _verdict(r), *_moves(r)) for name, r in self.readings.items())
        said = (
            "The verdict is the same under every extractor."
            if self.agree
            else "The verdict is not the same under every extractor: it depends on the rules that "
            "made the keys."
        )
        table = Table(
            "The verdict under every extractor",
            ("extractor", "verdict", "reason", *(f"Δ {part}" for part in _MOVED)),
            rows,
            len(rows),
        )
        return Statement(said, "neutral" if self.agree else "problem"), table


def sensitivity(source: object, **how: Any) -> Sensitivity:
    """The same completions keyed by every extractor.

    Parameters
    ----------
    source : path, data frame, list of dicts or AnswerTable
        With completions.
    **how
        Columns and settings of the extraction as in `trueness.read`; ``extractor`` is left out.

    Raises
    ------
    InputError
        When there are no completions.
    """
    given = {"answer_kind": "auto"} | {k: v for k, v in how.items() if k != "extractor"}
    table, settings = before_keys(source, given, again=True)
    shares = extracted(table, **settings)
    module = sensors.find(SENSOR)
    params = module.Params(orders=(2,))
    return Sensitivity(shares, {s.extractor: _agreement(module, s, params) for s in shares})


def verdicts(before: object, after: object, *, sensor: str = SENSOR, **given: Any) -> Verdicts:
    """One comparison under every extractor that applies to both tables.

    Parameters
    ----------
    before, after : as in `trueness.compare`
    sensor, **given
        As in `trueness.compare`; ``extractor`` is left out.
    """
    given = {k: v for k, v in given.items() if k != "extractor"}
    one, two = (
        {s.extractor: s.table for s in sensitivity(x, **_how(given)).shares}
        for x in (before, after)
    )
    params = {k: v for k, v in given.items() if k not in _how(given)}
    return Verdicts(
        {
            name: compare(one[name], two[name], sensor=sensor, **params)
            for name in one
            if name in two
        }
    )


def _how(given: Mapping[str, Any]) -> dict[str, Any]:
    """What says how a table is read."""
    return {k: v for k, v in given.items() if k in {*COLUMNS, *EXTRACTION}}


def _agreement(module: Any, share: ExtractorShare, params: Any) -> dict[str, float | None]:
    """Parts of the agreement of two draws, mean over items and conditions."""
    found = [module.measure(t, params) for t in module.conditions_of(share.table, params).values()]
    means: dict[str, float | None] = {}
    for part in PARTS[:4]:
        values = [r.details["parts"]["2"][part] for r in found]
        known = [v for v in values if v is not None]
        means[part] = sum(known) / len(known) if known else None
    return means


def _verdict(reading: Reading) -> str:
    verdict = reading.details.get("verdict")
    return str(verdict["name"]) if isinstance(verdict, Mapping) else "not measured"


def _moves(reading: Reading) -> tuple[Cell, ...]:
    """Why there is no named verdict, and by how much the parts moved."""
    details: Any = reading.details
    if not isinstance(details.get("verdict"), Mapping):
        return reading.reason, *(None for _ in _MOVED)
    found = details["parts"][str(details["orders"][0])]
    deltas = [found[part]["delta"] for part in _MOVED.values()]
    return details["verdict"]["reason"], *(None if d is None else round(d, 4) for d in deltas)


def _changes(share: ExtractorShare) -> Table:
    rows = tuple(map(_change, share.changes))
    draws = "1 draw" if share.n_changed == 1 else f"{share.n_changed:,} draws"
    title = f"{share.extractor}: {draws} whose key is not that of declared"
    return Table(title, ("draws", "declared", share.extractor, "end of the text"), rows, len(rows))


def _change(change: Change) -> tuple[Cell, ...]:
    none = "no answer"
    return change.count, change.declared or none, change.other or none, change.tail
