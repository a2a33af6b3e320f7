"""Every movement recomputed on the answers as they were spelled."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trueness.contract.serial import Json
from trueness.sensors.atlas.arms import Arm, Atlas
from trueness.sensors.atlas.figures import number
from trueness.stats.cloud_pairs import CloudPairs, pair_clouds
from trueness.stats.clouds import NONE, WRONG, Clouds
from trueness.stats.spectrum import slice_mean
from trueness.stats.spelling import SpellingAudit, audit_spelling
from trueness.table import NULL, OUTCOMES, Column, Outcome

SPELLING = "spelling"
"""Column with the part of a completion that its key was made from."""
SHOWN = 20
_UNSPELLED = NULL - 1  # answers whose spelling was not kept are one class
_ERROR = OUTCOMES.index(Outcome.ERROR)
_ANSWERED = OUTCOMES.index(Outcome.ANSWERED)


@dataclass(frozen=True, eq=False)
class Audit:
    """Movements as spelled beside movements as keyed."""

    items: tuple[str, ...]
    found: SpellingAudit

    @cached_property
    def vanishes(self) -> NDArray[np.bool_]:
        """(n_items,): moved as spelled, and not at all once keyed."""
        return self.found.vanishes

    def of_item(self, item: int) -> dict[str, Json]:
        """Both readings of one item."""
        raw, keyed = self.found.raw, self.found.canonical
        return {
            "tv_raw": number(raw.tv[item]),
            "tv_keyed": number(keyed.tv[item]),
            "l2_raw": number(raw.l2[item]),
            "u2_raw": [number(raw.u2_before[item]), number(raw.u2_after[item])],
            "u2_keyed": [number(keyed.u2_before[item]), number(keyed.u2_after[item])],
            "vanishes": bool(self.vanishes[item]),
        }

    def details(self) -> dict[str, Json]:
        """Means of both readings, and the items that only moved as spelled."""
        gone = np.flatnonzero(self.vanishes).tolist()
        raw, keyed = self.found.raw, self.found.canonical
        return {
            "tv_raw": _mean(raw.tv),
            "tv_keyed": _mean(keyed.tv),
            "u2_raw": [_mean(raw.u2_before), _mean(raw.u2_after)],
            "u2_keyed": [_mean(keyed.u2_before), _mean(keyed.u2_after)],
            "n_vanishing": len(gone),
            "vanishing": [self.items[i] for i in gone[:SHOWN]],
        }


def audit_of(found: Atlas, canonical: CloudPairs) -> Audit | None:
    """The audit of two arms; None where the spelling of the answers was not kept."""
    columns = [arm.table.extras.get(SPELLING) for arm in found.arms]
    one, two = columns
    if one is None or two is None:
        return None
    position = {name: i for i, name in enumerate(found.items)}
    raw = pair_clouds(
        _spelled(found.arms[0], one, position, base=()),
        _spelled(found.arms[1], two, position, base=tuple(one.words)),
    )
    return Audit(found.items, audit_spelling(raw, canonical))


def _spelled(
    arm: Arm, spelling: Column[str], position: dict[str, int], *, base: tuple[str, ...]
) -> Clouds:
    """The arm's draws by spelling, in codes that both arms share; no answer is one class."""
    table = arm.table
    at = np.array([position.get(str(w), NULL) for w in table.item.words], np.int64)
    item = at[table.item.codes]
    came = (table.outcome != _ERROR) & (item != NULL)
    code = spelling.codes.astype(np.int64)
    if base:
        shared = spelling.codes_in(base).astype(np.int64)
        code = np.where((shared == NULL) & (code != NULL), code + len(base), shared)
    answered = table.outcome == _ANSWERED
    code = np.where(answered & (code == NULL), np.int64(_UNSPELLED), code)
    code = np.where(answered, code, NULL)
    role = np.where(answered, np.int8(WRONG), np.int8(NONE))
    weight = None if table.weight is None else table.weight[came]
    return Clouds.of(item[came], code[came], role[came], n_items=len(position), weight=weight)


def _mean(values: NDArray[np.float64]) -> float | None:
    return number(slice_mean(values[:, None]).value[0])
