"""A calibration as blocks: its promise, the curve, what it did elsewhere, what it rests on."""

from collections.abc import Iterator, Mapping

from trueness.contract import Direction
from trueness.contract.blocks import (
    Block,
    Curve,
    Dot,
    Fact,
    Facts,
    IntervalDots,
    Notes,
    Series,
    Statement,
)
from trueness.contract.serial import Json, canonical
from trueness.decide.calibration import Calibration
from trueness.decide.promise import Error, Unit, share_json
from trueness.decide.stored import GateFile

_ROLES = {"supported": "gold", "unsupported": "wrong"}
_ORDER = ("accepted", "reviewed", "rejected")


def calibration_blocks(gate: GateFile) -> tuple[Block, ...]:
    """What a page shows of a gate file; nothing is computed that the file does not hold.

    The promise in words first, with its n and its population, then the accepted shares of both
    classes against the threshold, then the shares on sources that chose no threshold.
    """
    calibration = gate.calibration
    out: list[Block] = [Statement(calibration.sentence(), "neutral"), _facts(gate)]
    curve = _curve(calibration)
    out += [curve] if curve is not None else []
    out += _evaluation(calibration)
    out += [Notes("Notes", gate.notes(), "notes")] if gate.notes() else []
    lines = tuple(f"{k}: {canonical(v)}" for k, v in sorted(calibration.fingerprint.items()))
    hashes = (f"calibration_hash: {calibration.hash}", f"policy_hash: {gate.policy.hash}")
    versions = tuple(f"{name} {v}" for name, v in calibration.versions.items())
    out.append(Notes("Holds for readings made like this", (*lines, *versions, *hashes), "protocol"))
    return tuple(out)


def _facts(gate: GateFile) -> Facts:
    return Facts("The promise", tuple(_promised(gate.calibration)) + tuple(_counted(gate)))


def _promised(calibration: Calibration) -> Iterator[Fact]:
    promise, rank = calibration.promise, calibration.threshold
    of = "the unsupported accepted"
    if promise.error is Error.ACCEPTED_ERROR:
        of = "the accepted unsupported"
    yield Fact("budget", str(share_json(promise.budget)), f"of {of}, at most")
    higher = calibration.direction is Direction.HIGHER_IS_WORSE
    side = "accept strictly below" if higher else "accept strictly above"
    yield Fact("threshold", _short(calibration.value_threshold), side)
    things = "items" if promise.unit is Unit.ITEM else "sources"
    if calibration.grid is not None:
        grid = calibration.grid
        yield Fact("n", f"{len(grid.risks):,}", f"independent labelled {things}")
        tested = "fixed beforehand, tested from strict to lax; the last that was shown is taken"
        yield Fact("thresholds", f"{len(grid.grid):,}", tested)
    if rank is not None:
        yield Fact("n", f"{rank.n:,}", f"independent unsupported {things}, unit {promise.unit}")
        if rank.k is not None:
            yield Fact("k*", f"{rank.k:,}", "the threshold is their k*-th least risk")
        if rank.guarantee is not None:
            wanted = f"level {share_json(promise.level)} was asked for"
            yield Fact("guarantee", _short(rank.guarantee, toward_one=False), f"proved; {wanted}")
        if rank.expected is not None:
            yield Fact("on average at most", _short(rank.expected), "proved; no confidence level")
    if calibration.rho is not None:
        sign = 1.0 if higher else -1.0
        yield Fact("reject from", _short(sign * calibration.rho), "promise about the supported")
    yield Fact("population", promise.who, "the promise is about no other")
    yield Fact("independence", calibration.independence, "")


def _counted(gate: GateFile) -> Iterator[Fact]:
    counts = gate.calibration.counts
    for who in ("supported", "unsupported"):
        left = counts.get(f"n_{who}_unmeasured", 0)
        yield Fact(f"{who} claims", f"{counts.get(f'n_{who}', 0):,}", f"{left:,} not measured")
    yield Fact("policy", gate.policy.kind.value, f"readings of {gate.sensor or 'bare values'}")


def _curve(calibration: Calibration) -> Curve | None:
    """Accepted shares against the threshold, the chosen one and the budget marked."""
    curve = calibration.curve
    if not curve:
        return None
    sign = 1.0 if calibration.direction is Direction.HIGHER_IS_WORSE else -1.0
    at = [sign * t for t in _numbers(curve["risks"])]
    wrong, right = _numbers(curve["unsupported"]), _numbers(curve["supported"])
    series = []
    for who, counts in (("supported", right), ("unsupported", wrong)):
        n = _numbers([curve[f"n_{who}"]])[0]
        points = [(t, k / n) for t, k in zip(at, counts, strict=True)] if n else []
        series.append(Series(f"{who} accepted, of {n:,.0f}", _sorted(points), role=_ROLES[who]))
    if calibration.promise.error is Error.ACCEPTED_ERROR:
        shares = [
            (t, w / (w + r) if w + r else None) for t, w, r in zip(at, wrong, right, strict=True)
        ]
        series.append(Series("unsupported among the accepted", _sorted(shares), role="warn"))
    low, high, budget = min(at), max(at), float(calibration.promise.budget)
    tau = calibration.value_threshold
    series += [
        Series(f"budget {budget:g}", ((low, budget), (high, budget)), dashed=True, role="none"),
        Series(f"threshold {tau:.4g}", ((tau, 0.0), (tau, 1.0)), dashed=True),
    ]
    return Curve(
        "Accepted share by threshold",
        "threshold, in the value's units",
        "share of the labelled claims accepted",
        tuple(series),
        note="Claims that the threshold was made from, all of them counted, whatever the unit of "
        "the promise. The guarantee is about other claims of the same population, not about this "
        "curve.",
    )


def _sorted(
    points: list[tuple[float, float]] | list[tuple[float, float | None]],
) -> tuple[tuple[float, float | None], ...]:
    return tuple(sorted(points, key=lambda point: point[0]))


def _evaluation(calibration: Calibration) -> list[Block]:
    """Shares on claims that chose no threshold, with exact intervals; or why there are none."""
    found = calibration.evaluation
    if "supported" not in found:
        why = found.get("why") or "no other sources"
        return [Statement(f"Not looked at on other sources: {why}.".replace("..", "."), "silent")]
    dots = [
        _dot(who, what, rate)
        for who in ("supported", "unsupported")
        for what in _ORDER
        if isinstance(rate := _mapping(found[who]).get(what), Mapping)
    ]
    level = 100 * float(calibration.promise.level)
    price = found.get("reviewed_per_accepted")
    paid = f" Reviewed for each accepted: {price:.2f}." if isinstance(price, float) else ""
    out: list[Block] = [
        IntervalDots(
            "What it does on sources that chose no threshold",
            tuple(dots),
            reference=float(calibration.promise.budget),
            limits=(0.0, 1.0),
            axis="share; the line is the budget",
            band=f"exact {level:g} % interval",
            note=f"{str(found['how']).capitalize()}.{paid}",
        )
    ]
    says = found.get("says")
    return out + ([Statement(f"{says}.", "problem")] if isinstance(says, str) and says else [])


def _dot(who: str, what: str, rate: Mapping[str, Json]) -> Dot:
    role = _ROLES[who] if what == "accepted" else "neutral"
    share, count, of = rate["share"], rate["count"], rate["of"]
    if not isinstance(share, float):
        return Dot(what, None, role=role, display=f"{count} of {of}", group=who)
    low, high = _numbers([rate["low"], rate["high"]])
    said = f"{count} of {of}: {share:.3f} [{low:.3f}, {high:.3f}]"
    return Dot(what, share, low, high, role, said, group=who)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _numbers(value: Json) -> list[float]:
    return (
        [float(v) for v in value if isinstance(v, (int, float))] if isinstance(value, list) else []
    )


def _short(value: float, *, toward_one: bool = True) -> str:
    """Six digits; a probability that is promised is cut, never rounded up."""
    if toward_one:
        return f"{value:.6g}"
    return f"{int(value * 1e4) / 1e4:.4f}"
