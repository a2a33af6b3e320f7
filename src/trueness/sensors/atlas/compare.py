"""Two checkpoints on one slice: what moved, how sure that is, and what it amounts to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueness.contract import ItemReading, Reading, Rows, State
from trueness.contract.blocks import Block, Notes, Statement
from trueness.contract.errors import InputError
from trueness.sensors import atlas as sensor
from trueness.sensors.atlas import draw, words
from trueness.sensors.atlas.arms import Atlas, atlas_of, check_protocols
from trueness.sensors.atlas.audit import Audit, audit_of
from trueness.sensors.atlas.details import details, paired_mean
from trueness.sensors.atlas.figures import Figures, as_matrix, number
from trueness.sensors.atlas.gaps import Gaps, gaps_of
from trueness.sensors.atlas.greedy import Greedy, greedy_of
from trueness.sensors.atlas.measure import (
    fingerprint,
    notes_of,
    protocol_lines,
    state_of,
    synthetic,
    unread,
    versions,
)
from trueness.sensors.atlas.pair_table import pair_table
from trueness.sensors.atlas.pairs import Pairs, pairs_of
from trueness.sensors.atlas.params import Params
from trueness.sensors.atlas.protocols import Compared
from trueness.sensors.atlas.sequential import ORDER_NOTE, Watched, watch
from trueness.sensors.atlas.sequential import facts as watched_facts
from trueness.stats.cloud_pairs import pair_clouds
from trueness.stats.clouds import PARTS
from trueness.stats.paired_slice import Comparison, compare_deltas
from trueness.stats.spectrum_variance import variance_hat
from trueness.table import AnswerTable

if TYPE_CHECKING:
    from trueness.contract.serial import Json

Arrays = NDArray[np.float64]
BANNER = "These protocols differ ({}): a difference may come from that, not from the checkpoint."
MOST_DRAWS = 20_000
"""Of an item in one arm; more draws say hardly more, and tests would overflow."""
SYMMETRY = (
    "Adjusted p of the parts come from flipping signs of whole items or groups: exact if the arms "
    "are exchangeable within items, otherwise a test that changes are symmetric about 0."
)
SEEDS = ("seed", "seeds")
SHARED_SEED = "both arms declare the same seed, so they may not be independent draws"


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Everything found about two arms."""

    atlas: Atlas
    before: Figures
    after: Figures
    protocols: Compared
    state: State
    reason: str | None
    pairs: Pairs | None
    comparison: Comparison | None
    greedy: Greedy | None
    audit: Audit | None
    gaps: Gaps | None
    watched: dict[str, Watched] | None
    params: Params
    premise: "Change | None" = None

    @property
    def figures(self) -> tuple[tuple[str, Figures], tuple[str, Figures]]:
        """Both arms by name."""
        return (("before", self.before), ("after", self.after))


def compare(before: AnswerTable, after: AnswerTable, params: Params | None = None) -> Reading:
    """What moved between two checkpoints, paired on the items.

    Parameters
    ----------
    before, after : AnswerTable
        Answers keyed by the same rules, drawn under one protocol.
    params : Params or None

    Returns
    -------
    Reading
        ``value`` is the change of agreement at the primary order, mean over the items that both
        hold; ``details["verdict"]`` is what all parts together amount to.

    Raises
    ------
    ProtocolError
        When the protocols differ in a field that was not allowed to.
    InputError
        No item in common or too few; other prompts or golds for the same item.
    """
    params = params or Params()
    both = atlas_of((before, after), params)
    _check_sizes(both)
    compared = check_protocols(both.arms, (before, after), params)
    main, premise = both.strata()
    found = _change(main, compared, params, None)
    if premise is not None:
        found = _change(main, compared, params, _change(premise, compared, params, None))
    return _reading(found)


def _check_sizes(found: Atlas) -> None:
    """Raise `InputError` when a cloud is too large for tests in whole numbers of 64 bits."""
    for arm in found.arms:
        draws = arm.clouds.draws
        if len(draws) and draws.max() > MOST_DRAWS:
            item = found.items[int(np.argmax(draws))]
            msg = (
                f"item {item!r} has {int(draws.max()):,} draws; two clouds of an item are compared "
                f"up to {MOST_DRAWS:,} draws each. Compare a random sample of its draws."
            )
            raise InputError(msg)


def _change(found: Atlas, compared: Compared, params: Params, premise: Change | None) -> Change:
    before, after = (Figures(arm, params) for arm in found.arms)
    state, reason = state_of((before, after), pair=True)
    comparison = pairs = watched = None
    if state is State.MEASURED:
        rng = np.random.default_rng(params.seed)
        pairs = pairs_of(before, after, params, rng)
        watched = watch(before, after, np.random.default_rng(params.seed))
        comparison = _compared(found, before, after, params=params, pairs=pairs, rng=rng)
        if comparison.entry(params.primary, "total").estimate is None:
            comparison = pairs = watched = None
            state = State.NO_EVIDENCE
            reason = f"no item has {params.primary} draws in both arms"
    return Change(
        found,
        before,
        after,
        compared,
        state,
        reason,
        pairs,
        comparison,
        greedy_of(found),
        audit_of(found, pair_clouds(before.clouds, after.clouds)),
        gaps_of(before, after),
        watched,
        params,
        premise,
    )


def _compared(
    found: Atlas,
    before: Figures,
    after: Figures,
    *,
    params: Params,
    pairs: Pairs,
    rng: np.random.Generator,
) -> Comparison:
    variance = None
    if not seeds_shared(found):
        one, two = (as_matrix(variance_hat(f.clouds, params.orders)) for f in (before, after))
        variance = (one, two)
    return compare_deltas(
        after.matrix - before.matrix,
        orders=params.orders,
        rng=rng,
        groups=found.group,
        variance=variance,
        margin=params.delta,
        level=params.level,
        replicates=params.replicates,
        strict=params.strict,
        gold_known=bool(found.rights.known.any()),
        omnibus_p=pairs.omnibus_p,
    )


def seeds_shared(found: Atlas) -> bool:
    """Whether both arms declare one seed, which voids what assumes independent arms."""
    one, two = (arm.protocol for arm in found.arms)
    return any(one.get(name) is not None and one[name] == two.get(name) for name in SEEDS)


def _reading(found: Change) -> Reading:
    measured = found.state is State.MEASURED and found.comparison is not None
    primary = found.params.primary
    entry = found.comparison.entry(primary, "total") if measured and found.comparison else None
    band = None if entry is None else entry.band
    return Reading(
        sensor=sensor.CONTRACT.sensor,
        direction=sensor.CONTRACT.direction,
        state=found.state,
        reason=found.reason,
        value=None if entry is None else entry.estimate,
        low=None if band is None else band[0],
        high=None if band is None else band[1],
        interval_kind=None if band is None else f"sup-t {_percent(found)}",
        n_measured=0 if entry is None else entry.n,
        n_items=found.atlas.n_items,
        per_item=Rows(found.atlas.n_items, _per_item(found)),
        details=details(found),
        blocks=_blocks(found),
        fingerprint=fingerprint(found.atlas.arms, found.params),
        versions=versions(found.atlas.arms),
        seed=found.params.seed,
    )


def _percent(found: Change) -> str:
    level = found.comparison.level if found.comparison is not None else found.params.level
    return f"{100 * level:g}%"


def _per_item(found: Change) -> Callable[[int], ItemReading]:
    at = found.params.orders.index(found.params.primary)
    before, after = found.before, found.after
    draws = [f.clouds.draws for f in (before, after)]

    def entry(item: int) -> ItemReading:
        extra: dict[str, Json] = {
            "before": {p: number(before.parts[p][item, at]) for p in PARTS},
            "after": {p: number(after.parts[p][item, at]) for p in PARTS},
            "draws": [int(k[item]) for k in draws],
            "missing": [int(f.arm.missing[item]) for f in (before, after)],
            "gold": list(found.atlas.rights.golds[item] or ()) or None,
            **{
                name: [number(f.entropies[name][item]) for f in (before, after)]
                for name in before.entropies
            },
        }
        if found.pairs is not None:
            extra |= found.pairs.of_item(item)
        if found.audit is not None:
            extra["audit"] = found.audit.of_item(item)
        name = found.atlas.items[item]
        if found.state is not State.MEASURED:
            return ItemReading(name, found.state, found.reason, None, extra)
        delta = number(after.parts["total"][item, at] - before.parts["total"][item, at])
        if delta is None:
            why = "too few draws in one of the arms"
            return ItemReading(name, State.NO_EVIDENCE, why, None, extra)
        return ItemReading(name, State.MEASURED, None, delta, extra)

    return entry


def _blocks(found: Change) -> tuple[Block, ...]:
    orders, figures = found.params.orders, found.figures
    arms = found.atlas.arms
    out: list[Block] = [_statement(found), *synthetic(arms), *unread(arms, ("before", "after"))]
    if found.protocols.differs:
        out.append(Statement(BANNER.format(", ".join(found.protocols.differs)), "problem"))
    if found.comparison is not None and found.pairs is not None:
        out.append(draw.stacked(figures, orders, partial(paired_mean, found)))
        out.append(draw.deltas(found.comparison, orders, found.params.delta))
        arrows = draw.triangle(found.atlas, found.before, found.after)
        curve = draw.votes(figures)
        out += [block for block in (arrows, curve) if block is not None]
        out.append(draw.clauses(found.comparison))
        out.append(found.pairs.facts())
    out += [watched_facts(found.watched)] if found.watched else []
    if found.greedy is not None:
        out.append(found.greedy.facts())
    out.append(
        pair_table(found.atlas, found.before, found.after, pairs=found.pairs, audit=found.audit)
    )
    out += [found.gaps.block()] if found.gaps is not None else []
    if found.premise is not None:
        out.append(_premise(found.premise))
    out.append(draw.absent([(name, f.arm) for name, f in figures]))
    if any(found.atlas.unpaired):
        out.append(_unpaired(found.atlas))
    out += draw.closing(
        (*protocol_lines(found.atlas.arms), f"seed {found.params.seed}"),
        sensor.CONTRACT.blind_to,
        notes(found),
    )
    return tuple(out)


def _premise(found: Change) -> Block:
    """The stratum of false premises, in short."""
    said = None if found.comparison is None else words.outcome(found.comparison.verdict)
    arms = [found.before, found.after]
    return draw.premise(
        found.atlas.n_items, arms, partial(paired_mean, found), said or found.reason
    )


def _statement(found: Change) -> Statement:
    if found.comparison is None or found.state is not State.MEASURED:
        text = f"The change of agreement could not be measured: {found.reason}."
        if found.greedy is not None:
            text = f"{text} {found.greedy.sentence}"
        return Statement(text, "problem")
    draws = words.draws_text([f.draws for _, f in found.figures])
    text = words.change(found.comparison, found.params.primary, draws)
    named = found.comparison.verdict.reason is None
    return Statement(text, "finding" if named else "neutral")


def notes(found: Change) -> tuple[str, ...]:
    """What readers decided, what could not be verified, and what was found by accident."""
    lines = list(notes_of(found.atlas.arms))
    if found.protocols.unverified:
        lines.append(
            "Not known on either side, so not verified: " + ", ".join(found.protocols.unverified)
        )
    if found.comparison is not None:
        lines.append(SYMMETRY)
        lines += [
            f"No item has {order} draws in both arms: order {order} is not measured, so nothing "
            "is shown to be equivalent at every order."
            for order in found.params.orders
            if found.comparison.entry(order, "total").estimate is None
        ]
    if seeds_shared(found.atlas):
        lines.append(f"No standard error for this fixed slice: {SHARED_SEED}.")
    if found.audit is not None and found.audit.vanishes.any():
        n = words.counted(int(found.audit.vanishes.sum()), "item")
        lines.append(f"{n} moved as spelled and not at all once keyed: spelling only.")
    if found.watched:
        lines.append(ORDER_NOTE)
    return tuple(dict.fromkeys(lines))


def _unpaired(found: Atlas) -> Block:
    sides: Sequence[tuple[str, tuple[str, ...]]] = tuple(
        zip(("before", "after"), found.unpaired, strict=True)
    )
    lines = [
        f"only {side}: {words.counted(len(names), 'item')} ({', '.join(names[:20])}{' …' if len(names) > 20 else ''})"  # noqa: E501, PLR2004 - a line of a list
        for side, names in sides
        if names
    ]
    return Notes("Items in one table only, in no figure", tuple(lines))
