"""Sampled answers: how accurate they can be, with a stated probability of being wrong about it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trueness.contract import State
from trueness.contract.blocks import Block, Fact, Facts
from trueness.contract.serial import Json
from trueness.sensors.orbits.assumptions import Assumption
from trueness.sensors.orbits.declaration import Declaration
from trueness.sensors.orbits.finding import Finding
from trueness.sensors.orbits.slots import Slots
from trueness.sensors.orbits.tally import Tally
from trueness.stats.ceilings import corrected_ceiling
from trueness.table import AnswerTable

KIND = "corrected Clopper-Pearson"
CONDITIONS = (
    "for the ceiling: the number of draws of each entity was fixed before any was seen",
    "for the ceiling: draws are independent given the prompt, nothing shared or cached",
    "for the ceiling: the right answers are fixed, whatever was drawn",
    "for the ceiling: it is about the draw-weighted accuracy, over draws that returned",
)
SAME_DRAWS = 4
"""Items with at least so many draws tell whether draws differ at all."""
SAME_SHARE = 0.9
"""From this share of such items without any variation, independence is doubtful."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The ceiling asked for, or why there is none; all None when it was not asked for."""

    value: float | None = None
    level: float | None = None
    reason: str | None = None
    contrasts: int = 1

    def details(self) -> dict[str, Json]:
        """Named figures, present in every state."""
        there = self.value is not None
        return {
            "accuracy_ceiling": self.value,
            "ceiling_kind": KIND if there else None,
            "ceiling_level": self.level if there else None,
            "ceiling_reason": self.reason,
        }

    def assumptions(self) -> tuple[Assumption, ...]:
        """The conditions under which the ceiling holds."""
        return tuple(map(Assumption, CONDITIONS)) if self.value is not None else ()

    def blocks(self) -> tuple[Block, ...]:
        """One block, where a ceiling was asked for."""
        if self.value is None:
            shown = Fact("accuracy at most", "no ceiling", self.reason or "")
            return (Facts("Accuracy of sampled answers", (shown,)),) if self.reason else ()
        shared = f", divided by {self.contrasts} contrasts" if self.contrasts > 1 else ""
        how = f"{KIND}, fails with probability at most {1 - (self.level or 0):.4g}{shared}"
        shown = Fact("accuracy at most", f"{self.value:.4f}", how)
        return (Facts("Accuracy of sampled answers", (shown,)),)


def ceiling_of(
    table: AnswerTable, slots: Slots, declared: Declaration, *, counts: Tally, finding: Finding
) -> Ceiling:
    """The accuracy that draws of these answers exceed with probability at most delta.

    With A = answered slots less certified errors and N = slots that returned, answered or not,
    the corrected limit of `trueness.stats.ceilings.corrected_ceiling` at delta / contrasts.
    """
    if declared.delta is None:
        return Ceiling()
    reason = _why_none(table, slots, finding) or (
        None if counts.n_answered + counts.n_no_answer else "no draw returned"
    )
    if reason is not None or finding.certificate is None:
        return Ceiling(reason=reason or finding.reason)
    delta = declared.delta / declared.contrasts
    value = corrected_ceiling(
        counts.n_answered - finding.certificate.certified_errors,
        counts.n_answered + counts.n_no_answer,
        delta=delta,
    )
    return Ceiling(value, 1.0 - delta, None, declared.contrasts)


def _why_none(table: AnswerTable, slots: Slots, finding: Finding) -> str | None:
    if finding.state in {State.NOT_APPLICABLE, State.UNSTABLE}:
        return finding.reason
    if not table.completed or _marked(table, "stopped_early"):
        return "the table stopped early, so the number of draws may depend on what was seen"
    if _marked(table, "doubtful") or _draws_repeat(table):
        return "nearly all draws repeat one another, so their independence is doubtful"
    if table.epochs_numbered and (slots.n_repeats or table.n_repeated):
        return (
            "equal rows of one entity were taken as one slot, so the number of draws is not "
            "known; name the column of draws"
        )
    if any(_temperature(p.fields) == 0 for p in table.protocols.values()):
        return "answers at temperature 0 are not draws; ask at a temperature"
    return None


def _marked(table: AnswerTable, name: str) -> bool:
    return any(bool(p.fields.get(name)) for p in table.protocols.values())


def _temperature(fields: Mapping[str, Json]) -> Json:
    decoding = fields.get("decoding")
    return decoding.get("temperature") if isinstance(decoding, Mapping) else None


def _draws_repeat(table: AnswerTable) -> bool:
    """Whether nearly every item with several draws has one completion only."""
    said = table.completion
    if said is None or not (table.epoch > 1).any():
        return False
    there = said.codes >= 0
    pairs = table.item.codes[there].astype(np.int64) * (len(said.words) + 1) + said.codes[there]
    n_draws = np.bincount(table.item.codes[there], minlength=len(table.item.words))
    n_texts = np.bincount(np.unique(pairs) // (len(said.words) + 1), minlength=len(n_draws))
    full = n_draws >= SAME_DRAWS
    return bool(full.any()) and float((n_texts[full] == 1).mean()) >= SAME_SHARE
