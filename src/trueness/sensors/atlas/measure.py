"""The atlas of one table: how often its draws agree, and about what."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version

import numpy as np

from trueness.contract import ItemReading, Reading, Rows, State
from trueness.contract.blocks import Block, Statement
from trueness.contract.serial import Json, canonical
from trueness.sensors import atlas as sensor
from trueness.sensors.atlas import draw, words
from trueness.sensors.atlas.arms import Arm, Atlas, atlas_of, n_unread
from trueness.sensors.atlas.figures import Figures, number
from trueness.sensors.atlas.gaps import gaps_of
from trueness.sensors.atlas.params import Params
from trueness.sensors.atlas.protocols import flat
from trueness.stats.clouds import PARTS
from trueness.table import AnswerTable, Protocol

LINE = 200
FIELDS = 40
"""Of a protocol that are shown."""
SYNTHETIC = "SYNTHETIC"
"""Begins the note of a protocol whose answers no model gave."""


def measure(table: AnswerTable, params: Params | None = None) -> Reading:
    """How often independent draws of one item agree, split by what they agree on.

    Parameters
    ----------
    table : AnswerTable
        Answers keyed; one condition, or one and its greedy answers.
    params : Params or None

    Returns
    -------
    Reading
        ``value`` is the mean over items of the unbiased agreement of the primary order.
        ``NO_EVIDENCE`` when no item has enough draws, ``NOT_APPLICABLE`` when repeated draws of
        this protocol say nothing.

    Raises
    ------
    InputError
        Several conditions and none named, an item with two golds or groups.
    """
    params = params or Params()
    found, premise = atlas_of((table,), params).strata()
    figures = Figures(found.arms[0], params)
    state, reason = state_of((figures,))
    value = figures.mean(params.primary, "total") if state is State.MEASURED else None
    said = _statement(figures, value, reason)
    return Reading(
        sensor=sensor.CONTRACT.sensor,
        direction=sensor.CONTRACT.direction,
        state=state,
        reason=reason,
        value=value,
        n_measured=_measured(figures) if state is State.MEASURED else 0,
        n_items=found.n_items,
        per_item=Rows(found.n_items, _per_item(found, figures, state, reason)),
        details=details(found, figures) | {"false_premise": _premise(premise, params)},
        blocks=_blocks(found, figures, said, state, premise),
        fingerprint=fingerprint(found.arms, params),
        versions=versions(found.arms),
        seed=params.seed,
    )


def state_of(figures: Sequence[Figures], *, pair: bool = False) -> tuple[State, str | None]:
    """Whether agreement can be measured in all arms, and why not.

    One draw an item is no evidence about one arm; a pair with such an arm is another question
    than the one that repeated draws answer, and its greedy answers may still be compared.
    """
    for found in figures:
        if found.draws[1] == 0:
            return State.NO_EVIDENCE, f"no draw came back in condition {found.arm.condition!r}"
    for found in figures:
        arm, most = found.arm, found.draws[1]
        if arm.stopped_by is not None:
            why = (
                f"draws were stopped early by {arm.stopped_by!r}, so their number depends on the "
                "answers; take the first draws of every item with --first"
            )
            return State.NOT_APPLICABLE, why
        if arm.one_draw and (pair or most > 1):
            why = (
                f"condition {arm.condition!r} was not sampled (temperature 0, or served from a "
                "cache): its repeats are one draw"
            )
            return State.NOT_APPLICABLE, why
        if most == 1:
            why = "every item has one draw, and one draw cannot agree with another"
            return (State.NOT_APPLICABLE if pair else State.NO_EVIDENCE), why
        if found.mean(found.params.primary, "total") is None:
            why = f"no item has {found.params.primary} draws, the order that is measured"
            return State.NO_EVIDENCE, why
    return State.MEASURED, None


def details(found: Atlas, figures: Figures) -> dict[str, Json]:
    """Named figures of one arm."""
    orders, gaps = figures.params.orders, gaps_of(figures)
    parts: dict[str, Json] = {
        str(r): {
            "n": _n(figures, r),
            **{p: None if not_split(found, p) else figures.mean(r, p) for p in PARTS},
        }
        for r in orders
    }
    return {
        "n_items": found.n_items,
        "n_gold_known": int(found.rights.known.sum()),
        "orders": list(orders),
        "parts": parts,
        "votes": {name: list(values) for name, values in figures.votes.items()},
        "missing": None if gaps is None else gaps.details(),
        **figures.details(),
    }


def not_split(found: Atlas, part: str) -> bool:
    """Whether a part does not apply: where no answer is right, it is the gold part."""
    return part == "none" and found.premise


def _premise(found: Atlas | None, params: Params) -> Json:
    """The same figures for items whose right outcome is no answer; apart, never averaged."""
    return None if found is None else details(found, Figures(found.arms[0], params))


def _n(figures: Figures, order: int, part: str = "total") -> int:
    return int(figures.means[part].n[figures.params.orders.index(order)])


def _measured(figures: Figures) -> int:
    return _n(figures, figures.params.primary)


def _statement(figures: Figures, value: float | None, reason: str | None) -> str:
    if value is None:
        return f"Agreement could not be measured: {reason}."
    order = figures.params.primary
    parts = {p: figures.mean(order, p) for p in PARTS}
    draws = words.draws_text([figures.draws])
    n, known = _measured(figures), _n(figures, order, "gold")
    return words.single(parts, order, n=n, n_known=known, draws=draws)


def _per_item(
    found: Atlas, figures: Figures, state: State, reason: str | None
) -> Callable[[int], ItemReading]:
    at = figures.params.orders.index(figures.params.primary)
    k, starts = figures.clouds.draws, figures.clouds.starts

    def masses(item: int) -> list[Json]:
        """Recorded shares of the classes, largest first: no estimate of the law's masses."""
        counts = figures.clouds.count[starts[item] : starts[item + 1]]
        return [float(n) for n in np.sort(counts)[::-1] / max(int(k[item]), 1)]

    def entry(item: int) -> ItemReading:
        extra: dict[str, Json] = {
            "draws": int(k[item]),
            "masses": masses(item),
            "missing": int(figures.arm.missing[item]),
            "gold": list(found.rights.golds[item] or ()) or None,
            "parts": {p: number(figures.parts[p][item, at]) for p in PARTS},
            **{name: number(h[item]) for name, h in figures.entropies.items()},
        }
        value = number(figures.parts["total"][item, at])
        if state is not State.MEASURED:
            return ItemReading(found.items[item], state, reason, None, extra)
        if value is None:
            why = f"{int(k[item])} draws are too few"
            return ItemReading(found.items[item], State.NO_EVIDENCE, why, None, extra)
        return ItemReading(found.items[item], State.MEASURED, None, value, extra)

    return entry


def _blocks(
    found: Atlas, figures: Figures, said: str, state: State, premise: Atlas | None
) -> tuple[Block, ...]:
    measured = state is State.MEASURED
    out: list[Block] = [Statement(said, "neutral" if measured else "problem")]
    out += [*synthetic(found.arms), *unread(found.arms)]
    if measured:
        out.append(draw.stacked([("", figures)], figures.params.orders))
        curve = draw.votes([("", figures)])
        out += [curve] if curve else []
    if figures.draws[1]:
        out.append(draw.arm_table(found, figures))
    gaps = gaps_of(figures)
    out += [gaps.block()] if gaps is not None else []
    if premise is not None:
        out.append(draw.premise(premise.n_items, [Figures(premise.arms[0], figures.params)]))
    out.append(draw.absent([("", figures.arm)]))
    notes = [*notes_of(found.arms)]
    notes += [
        f"No item has {order} draws: order {order} is not measured."
        for order in figures.params.orders
        if measured and figures.mean(order, "total") is None
    ]
    out += draw.closing(protocol_lines(found.arms), sensor.CONTRACT.blind_to, notes)
    return tuple(out)


def synthetic(arms: Sequence[Arm]) -> tuple[Statement, ...]:
    """A banner above draws that were made up."""
    said = [s for arm in arms for s in (arm.protocol.get("note"), *arm.table.notes)]
    made = [s for s in said if isinstance(s, str) and s.startswith(SYNTHETIC)]
    return (Statement(made[0], "problem"),) if made else ()


def unread(arms: Sequence[Arm], names: Sequence[str] = ("",)) -> tuple[Statement, ...]:
    """A warning where the rules found no answer in most texts: they may be the wrong rules."""
    out = []
    for arm, name in zip(arms, names, strict=True):
        n, k = n_unread(arm), int(arm.clouds.draws.sum())
        if 2 * n > k:
            said = f" {name}" if name else ""
            text = (
                f"No answer was found in {n:,} of {k:,} texts{said}, and they count as no answer. "
                "If a text is the answer itself, read it with --answer-kind text, option or short."
            )
            out.append(Statement(text, "problem"))
    return tuple(out)


def notes_of(arms: Sequence[Arm]) -> tuple[str, ...]:
    """What the readers decided, and what the draws themselves give away."""
    lines: list[str] = []
    for arm in arms:
        said = arm.protocol.get("note")
        lines += [said] if isinstance(said, str) else []
        lines += arm.table.notes
        if arm.table.log is not None:
            lines += arm.table.log.warnings
        if not arm.one_draw and arm.served_from_a_cache:
            lines.append(
                f"All draws of every item are identical in condition {arm.condition!r}, though "
                "they were sampled: were they served from a cache?"
            )
    return tuple(dict.fromkeys(lines))


def protocol_lines(arms: Sequence[Arm]) -> tuple[str, ...]:
    """The protocol of every arm in lines; of two arms, what they share once."""
    names = ("before", "after") if len(arms) > 1 else ("",)
    lines = [
        f"{name} condition {arm.condition}, protocol {_protocol(arm).fingerprint[:16]}".lstrip()
        for name, arm in zip(names, arms, strict=True)
    ]
    fields = [flat(_protocol(arm)) for arm in arms]
    for key in list(dict.fromkeys(key for each in fields for key in each))[:FIELDS]:
        values = [canonical(each[key])[:LINE] if key in each else "unknown" for each in fields]
        lines.append(f"{key}: {' → '.join(dict.fromkeys(values))}")
    keyed = [arm.table.extractor or "unknown" for arm in arms]
    lines.append(f"answers keyed by {' → '.join(dict.fromkeys(keyed))}")
    return tuple(lines)


def _protocol(arm: Arm) -> Protocol:
    return arm.table.protocols.get(arm.condition, Protocol())


def fingerprint(arms: Sequence[Arm], params: Params) -> str:
    """Of everything that the numbers follow from."""
    parts: Mapping[str, Json] = {
        "sensor": sensor.CONTRACT.sensor,
        "extractors": [arm.table.extractor for arm in arms],
        "protocols": [_protocol(arm).fingerprint for arm in arms],
        "params": params.said(),
    }
    return hashlib.sha256(canonical(parts).encode("utf-8", "surrogatepass")).hexdigest()


def versions(arms: Sequence[Arm]) -> dict[str, str]:
    """Of what took part."""
    found = {"numpy": np.__version__, "scipy": version("scipy")}
    named = dict.fromkeys(arm.table.extractor for arm in arms if arm.table.extractor)
    if named:
        found["extractor"] = ", ".join(named)
    return found
