"""The contrast of every claim of a table."""

from collections import Counter
from collections.abc import Mapping, Sequence

from trueness.contract import ItemReading, Reading, State
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.sensors import contrast as sensor
from trueness.sensors.claim_reading import Sight, no_claims, reading_of
from trueness.sensors.claims import VERSION, embedder_identity
from trueness.sensors.contrast import draw
from trueness.sensors.contrast.items import NO_CONTRAST, entry
from trueness.sensors.contrast.params import Params
from trueness.table.contrasts import Likelihoods
from trueness.table.evidence import EvidenceTable


def measure(table: EvidenceTable, params: Params | None = None) -> Reading:
    """By how much the evidence favours the claims of a table over their contradictions.

    Parameters
    ----------
    table : EvidenceTable
        With contradictions, vectors and likelihoods; the sensor calls no model.
    params : Params or None

    Returns
    -------
    Reading
        ``value`` is the mean over measured claims. A claim that no rule edits is
        ``NOT_APPLICABLE``, ``no_contrast``. ``route`` of an item names the kinds of binding that
        its energy cannot vouch for.

    Raises
    ------
    InputError
        When the contradictions were not made, not embedded or not scored.
    """
    if not isinstance(table, EvidenceTable):
        return no_claims(sensor.CONTRACT)
    params = params or Params()
    likelihoods = likelihoods_of(table)
    entries = [entry(table, row, likelihoods, params) for row in range(len(table))]
    sight = Sight(
        contract=sensor.CONTRACT,
        items=entries,
        identity={
            "version": VERSION,
            **embedder_identity(table),
            **params.identity(),
            "model": dict(likelihoods.identity),
        },
        details=_details(entries),
    )
    return reading_of(table, sight, params, said=draw.said, draw=lambda r: draw.blocks(r, table))


def likelihoods_of(table: EvidenceTable) -> Likelihoods:
    """The likelihoods beside a table.

    Raises
    ------
    InputError
        When its claims have none.
    """
    if table.likelihoods is None or table.contradicted is None:
        msg = (
            f"the {len(table)} claims have no scored contradictions; a sensor calls no model. "
            "Measure through trueness.ground(..., sensor='contrast', model='embedded')."
        )
        raise InputError(msg)
    return table.likelihoods


def _details(entries: Sequence[ItemReading]) -> dict[str, Json]:
    asked = [e for e in entries if e.state is State.MEASURED or e.reason == NO_CONTRAST]
    without = [e for e in entries if e.reason == NO_CONTRAST]
    why = Counter(str(e.extra.get("why_none")) for e in without)
    n_right = sum((e.value or 0.0) > 0 for e in entries if e.value is not None)
    return {
        "n_contrasts": sum(_whole(e.extra.get("n_contrasts")) for e in entries),
        "n_above_all": n_right,
        "n_without": len(without),
        "share_without": len(without) / len(asked) if asked else None,
        "why_without": dict(why),
        "n_routed": sum(bool(e.extra.get("route")) for e in entries),
        "by_kind": _by_kind(entries),
    }


def _by_kind(entries: Sequence[ItemReading]) -> dict[str, Json]:
    """Of every kind: claims, those above all of their contradictions, those routed."""
    found: dict[str, Counter[str]] = {}
    for e in entries:
        kinds = e.extra.get("kinds")
        for kind, seen in kinds.items() if isinstance(kinds, Mapping) else ():
            if not isinstance(seen, Mapping):
                continue
            value, energy = seen.get("value"), seen.get("energy_margin")
            found.setdefault(kind, Counter()).update(
                n=1,
                n_scored=int(isinstance(value, float)),
                n_above=int(isinstance(value, float) and value > 0),
                n_energy=int(isinstance(energy, float)),
                n_energy_above=int(isinstance(energy, float) and energy > 0),
                n_routed=int(seen.get("routed") is True),
            )
    return {kind: dict(counts) for kind, counts in sorted(found.items())}


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0
