"""Unsupported claims made of supported ones: each against another source's evidence."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from trueness import sensors
from trueness.api.labelling import said
from trueness.api.means import check_read, means_of
from trueness.contract import Reading
from trueness.contract.errors import DependentItems, InputError
from trueness.decide.labels import unsupported_codes
from trueness.decide.promise import Unit
from trueness.study.populations import against, foreign_evidence
from trueness.study.slices import Slice
from trueness.table.evidence import EvidenceTable
from trueness.table.evidence_reading import read_evidence

Made = Literal["nearest", "random"]
_NAMES = ("claim", "evidence", "item", "group", "weights", "limit")


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Supported claims with their own evidence, and the same with another source's.

    Parameters
    ----------
    reading : Reading
        Of both; the latter are named ``claim ~ whose evidence``.
    labels : dict of str to str
        By item.
    population : str
        How the unsupported were made, in the words that stand beside a budget.
    """

    reading: Reading
    labels: dict[str, str]
    population: str


def exchanged(
    source: object,
    how: Made,
    *,
    sensor: str,
    label: str | None = None,
    positive: str | None = None,
    seed: int = 0,
    **given: Any,
) -> Exchanged:
    """Supported claims measured against their own and against another source's evidence.

    Parameters
    ----------
    source : path, data frame, list of dicts, or EvidenceTable
        Of supported claims with groups; those that are labelled otherwise are left out.
    how : {"nearest", "random"}
        The evidence whose centroid lies nearest to the claim, or any, dealt by the seed. A claim
        never gets evidence of its own source.
    sensor : str
    label, positive : str, optional
        As in `trueness.api.gating.calibrate`.
    seed : int
    **given
        As in `trueness.api.ground`.

    Raises
    ------
    InputError
        When there are no sources, or the sensor reads no vectors.
    NoNegativePossible
        When there is no foreign evidence.
    """
    if how not in ("nearest", "random"):
        msg = f"unsupported is {how!r}; choose labelled, nearest or random."
        raise InputError(msg)
    names = {name: given.pop(name, None) for name in _NAMES}
    table = _supported(read_evidence(source, label=label, **names), positive)
    if table.group is None:
        msg = (
            "the claims name no sources, and foreign evidence is another source's. Name their "
            "column: --group COLUMN."
        )
        raise InputError(msg)
    check_read(sensors.find(sensor), weights=names["weights"])
    means = means_of(sensor, **{k: v for k, v in given.items() if v is not None})
    if means.model is not None:
        msg = (
            f"{sensor} compares a claim with its own contradictions, which exchanged evidence has "
            "none of. Label unsupported claims, or use another sensor."
        )
        raise InputError(msg)
    table = means.embedded(table)
    if table.vectors is None and how == "nearest":
        msg = (
            f"{sensor} reads no vectors, so no evidence is nearest. Use random, or another sensor."
        )
        raise InputError(msg)
    own = Slice("given", table, "", "", {})
    made = foreign_evidence(own, nearest=how == "nearest", seed=seed)
    if not len(made.matched):
        why = ", ".join(f"{n} {what}" for what, n in made.unmatched.items()) or "none was there"
        msg = (
            f"no claim has foreign evidence ({why}): evidence of its own source, and evidence that "
            "shares a passage with its own, is none. Add claims about other subjects."
        )
        raise InputError(msg)
    both = against(own, made, how, own.name)
    items = [str(name) for name in both.table.item.values()]
    words = ["unsupported" if wrong else "supported" for wrong in both.unsupported.tolist()]
    labels = dict(zip(items, words, strict=True))
    return Exchanged(means.measured(both.table), labels, made.population)


def unit_of(asked: str | None) -> str:
    """The unit of a promise about claims that were made of others: one of each source.

    Raises
    ------
    DependentItems
        For single items: a made claim is of the same source as the claim that it was made of.
    """
    if asked == Unit.ITEM:
        msg = (
            f"unit is {asked!r}, and unsupported claims that are made of supported ones share "
            "their source with them, so items are never independent here. Leave unit out, which "
            "is 'source_one' then, or use 'source_worst' or 'grouped_conformal'."
        )
        raise DependentItems(msg)
    return Unit.SOURCE_ONE.value if asked is None else asked


def _supported(table: EvidenceTable, positive: str | None) -> EvidenceTable:
    """The claims that are labelled supported, or all of them where there is no label."""
    if table.label is None:
        return table
    codes = unsupported_codes([said(word) for word in table.label.values()], positive=positive)
    kept = codes == 0
    if not kept.any():
        msg = f"none of the {len(table)} claims is labelled supported. Name the column: --label."
        raise InputError(msg)
    return table.take(np.flatnonzero(kept))
