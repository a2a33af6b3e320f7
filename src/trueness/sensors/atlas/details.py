"""The named figures of a comparison."""

from typing import TYPE_CHECKING

from trueness.contract.serial import Json, plain
from trueness.contract.states import State
from trueness.sensors.atlas.figures import COLLISION, Figures, number
from trueness.sensors.atlas.measure import not_split
from trueness.stats.clouds import PARTS
from trueness.stats.paired_slice import Comparison
from trueness.stats.spectrum import rarefied_plugin, slice_mean
from trueness.stats.verdicts import Clause

if TYPE_CHECKING:
    from trueness.sensors.atlas.compare import Change

_FROM_PAIRS = ("tv", "l2", "morisita", "modes_disjoint", "movement", "items_moved")


def details(found: "Change") -> dict[str, Json]:
    """Named figures in every state; None where not measured."""
    params, comparison = found.params, found.comparison
    out: dict[str, Json] = {
        "n_items": found.atlas.n_items,
        "n_paired": found.atlas.n_items,
        "unpaired": {"before": len(found.atlas.unpaired[0]), "after": len(found.atlas.unpaired[1])},
        "n_gold_known": int(found.atlas.rights.known.sum()),
        "n_groups": found.atlas.n_groups or None,
        "orders": list(params.orders),
        "parts": None if comparison is None else _parts(found, comparison),
        "greedy": None if found.greedy is None else found.greedy.details(),
        "votes": {name: _votes(f) for name, f in found.figures},
        "h2": _entropies(found),
        "none_reasons": {name: plain(f.arm.reasons) for name, f in found.figures},
        "arms": {name: f.details() for name, f in found.figures},
        "verdict": None if comparison is None else _verdict(found, comparison),
        "audit": None if found.audit is None else found.audit.details(),
        "missing": None if found.gaps is None else found.gaps.details(),
        "p_contrast": None if comparison is None else _p_contrast(comparison),
        "sequential": None
        if found.watched is None
        else {part: w.details() for part, w in found.watched.items()},
        "critical": None if comparison is None else comparison.critical,
        "protocols": {name: dict(f.arm.protocol) for name, f in found.figures},
        "differs": list(found.protocols.differs),
        "status": "exploratory" if found.protocols.differs else "validated",
        "protocol_unverified": list(found.protocols.unverified),
        "seed": params.seed,
        "replicates": params.replicates if comparison is None else comparison.replicates,
        "sign_flip": None
        if comparison is None
        else {"enumerated": comparison.flips_enumerated, "n": comparison.n_flips},
        "false_premise": None if found.premise is None else details(found.premise),
    }
    measured = {} if found.pairs is None else found.pairs.details()
    return out | {name: measured.get(name) for name in _FROM_PAIRS}


def _parts(found: "Change", comparison: Comparison) -> dict[str, Json]:
    out: dict[str, Json] = {}
    for order in found.params.orders:
        row: dict[str, Json] = {}
        for part in PARTS:
            entry = comparison.entry(order, part)
            if not_split(found.atlas, part):
                row[part] = {"delta": None, "state": State.NOT_APPLICABLE.value}
                continue
            row[part] = {
                "before": paired_mean(found, found.before, order, part),
                "after": paired_mean(found, found.after, order, part),
                "delta": entry.estimate,
                "se": entry.se,
                "se_fixed_slice": entry.se_fixed_slice,
                "fixed_slice_state": entry.fixed_slice_state.value,
                "band": plain(entry.band),
                "pointwise": plain(entry.pointwise),
                "t90": plain(entry.t90),
                "epsilon_star": entry.epsilon_star,
                "p_adjusted": entry.p_adjusted,
                "state": entry.state.value,
                "n": entry.n,
                "n_movers": entry.n_movers,
            }
        out[str(order)] = row
    return out


def paired_mean(found: "Change", figures: Figures, order: int, part: str) -> float | None:
    """Mean over the items measured in both arms, so that the change is their difference."""
    at = found.params.orders.index(order)
    both = found.before.parts[part][:, at] + found.after.parts[part][:, at]
    values = figures.parts[part][:, at].copy()
    values[both != both] = float("nan")  # noqa: PLR0124 - true of nan alone
    return number(slice_mean(values[:, None]).value[0])


def _votes(figures: Figures) -> dict[str, Json]:
    return {name: list(values) for name, values in figures.votes.items()}


def _entropies(found: "Change") -> dict[str, Json]:
    """Plug-in entropies of both arms at the smaller number of draws, so that they compare."""
    if COLLISION not in found.params.orders:
        return {"k0": None, "rarefied_plugin": None}
    at = found.params.orders.index(COLLISION)
    lowest = [f.draws[0] for _, f in found.figures]
    k0 = min(lowest)
    if k0 < 1:
        return {"k0": None, "rarefied_plugin": None}
    means: dict[str, Json] = {
        name: number(slice_mean(rarefied_plugin(f.parts["total"][:, at], k0)[:, None]).value[0])
        for name, f in found.figures
    }
    return {"k0": k0, "rarefied_plugin": means}


def _verdict(found: "Change", comparison: Comparison) -> dict[str, Json]:
    verdict = comparison.verdict
    return {
        "name": verdict.name,
        "reason": verdict.reason,
        "clauses": [_clause(c) for c in verdict.clauses],
        "not_met": [_clause(c) for c in verdict.failed],
        "margin": verdict.margin,
        "margin_was_default": found.params.margin is None,
        "error_rate": verdict.error_rate,
        "notes": list(verdict.notes),
    }


def _p_contrast(comparison: Comparison) -> float | None:
    """P of "no mean moved": the smallest of the adjusted ones, which are adjusted for all."""
    known = [e.p_adjusted for e in comparison.entries if e.p_adjusted is not None]
    return min(known, default=None)


def _clause(clause: Clause) -> Json:
    return {
        "row": clause.row,
        "verdict": clause.verdict,
        "part": clause.part,
        "relation": clause.relation.value,
        "holds": clause.holds,
        "also_at": list(clause.also_at),
        "few_movers": clause.few_movers,
        "numbers": plain(clause.numbers),
    }
