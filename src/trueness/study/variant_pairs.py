"""Claims against variants of themselves: which of the two a measure ranks as better carried."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from trueness.contract.serial import Json
from trueness.stats.fibres import clopper_pearson
from trueness.stats.multiplicity import holm
from trueness.stats.operating_points import paired_accuracy
from trueness.stats.paired_means import units_of
from trueness.stats.sup_t import resampled_means
from trueness.study.assessed import absent, generator, percentile
from trueness.study.protocol import Floats, Ints, Protocol
from trueness.study.results import Record

CLAIM, WRONG, MADE, REWORDED = "claim", "wrong", "made", "paraphrase"
MEASURES: Mapping[str, float] = {"gain": -1.0, "likelihood": -1.0, "energy": 1.0, "length": 1.0}
"""Which way each gets worse: minus one for what is better when it is higher."""
EVERY = "every_slice"
_ALL = "all"
_HALF = 0.5
Pair = tuple[Record, Record]


def pairs_of(
    table: Sequence[Record], role: str, data: str | None = None, *, own: str = CLAIM
) -> list[Pair]:
    """Every claim, or its rewording, with each of its variants of a role, in the table's order."""
    ours = [r for r in table if data is None or r["data"] == data]
    first = {(r["data"], r["item"]): r for r in ours if r["role"] == own}
    others = [r for r in ours if r["role"] == role and (r["data"], r["item"]) in first]
    return [(first[r["data"], r["item"]], r) for r in others]


def rows_of(table: Sequence[Record]) -> Iterator[Record]:
    """One row for each slice, role and kind, from the rows of the table alone.

    Parameters
    ----------
    table : sequence of mapping
        One row a text: data, source, item, role, kind, and a number or None for every measure.
    """
    slices = list(dict.fromkeys(str(r["data"]) for r in table))
    for data in slices:
        for role in (WRONG, MADE, REWORDED):
            pairs = pairs_of(table, role, data)
            if pairs:
                yield from _by_kind(pairs, data, role)
        yield _without(table, data)
    made = pairs_of(table, MADE)
    if len(slices) > 1 and made:
        yield from _by_kind(made, EVERY, MADE)


def pooled(pairs: Sequence[Pair], measure: str, protocol: Protocol) -> dict[str, Json]:
    """The share of pairs in the right order over all kinds, with resampled sources."""
    found = np.array([_right(pair, measure) for pair in pairs], dtype=np.float64)
    return _resampled(pairs, found, protocol, null=_HALF)


def difference(pairs: Sequence[Pair], one: str, two: str, protocol: Protocol) -> dict[str, Json]:
    """How many more pairs one measure has in the right order than another, on the same pairs."""
    found = np.array([_right(p, one) - _right(p, two) for p in pairs], dtype=np.float64)
    return _resampled(pairs, found, protocol, null=0.0)


def shares(pairs: Sequence[Pair], measure: str) -> dict[str, Json]:
    """Pairs in the right order, ties one half; exact interval and sign test without ties.

    The two bounds count pairs without a number once for and once against.
    """
    worse = [_worse(pair, measure) for pair in pairs]
    known = [pair for pair in worse if pair is not None]
    n, gone = len(known), len(pairs) - len(known)
    if not n:
        return {**absent("no number"), "n_missing": gone, "p_holm": None, "blind": None}
    found = paired_accuracy([w for _, w in known], [r for r, _ in known])
    decided = found.wins + found.losses
    low, high = clopper_pearson(found.wins, decided) if decided else (0.0, 1.0)
    share = float(found.accuracy) if found.accuracy is not None else None
    right = found.wins + found.ties / 2
    return {
        "estimate": share,
        "low": low,
        "high": high,
        "kind": "exact interval of wins among untied pairs",
        "n": n,
        "wins": found.wins,
        "losses": found.losses,
        "ties": found.ties,
        "n_missing": gone,
        "bounds": [right / len(pairs), (right + gone) / len(pairs)] if gone else None,
        "p": float(found.p_two_sided) if decided else None,
        "p_holm": None,
        "blind": low <= _HALF <= high,
    }


def blind_kinds(rows: Iterable[Record], role: str, measure: str = "gain") -> list[str]:
    """Kinds of a role whose interval covers one half, over all slices where there are several."""
    ours = [r for r in rows if r.get("role") == role and r.get("kind") != _ALL]
    over_all = [r for r in ours if r["data"] == EVERY] or ours
    entries: list[tuple[Record, Any]] = [(r, r[measure]) for r in over_all]
    return [str(r["kind"]) for r, entry in entries if entry["blind"] is True]


def _by_kind(pairs: Sequence[Pair], data: str, role: str) -> Iterator[Record]:
    """A row a kind with Holm's p over the kinds, then one over all of them."""
    kinds = list(dict.fromkeys(str(other["kind"]) for _, other in pairs))
    rows: list[dict[str, Any]] = []
    for kind in sorted(kinds) if role != REWORDED else []:
        ours = [pair for pair in pairs if pair[1]["kind"] == kind]
        rows.append(_row(ours, data, role, kind))
    for measure in MEASURES:
        tested = [row[measure] for row in rows if row[measure]["p"] is not None]
        corrected = holm([float(entry["p"]) for entry in tested])
        for entry, p in zip(tested, corrected, strict=True):
            entry["p_holm"] = float(p)
    yield from rows
    yield _row(pairs, data, role, _ALL)


def _row(pairs: Sequence[Pair], data: str, role: str, kind: str) -> dict[str, Json]:
    return {
        "name": f"{data}_{role}_{kind}",
        "data": data,
        "role": role,
        "kind": kind,
        "n": len(pairs),
        "n_sources": len({str(claim["source"]) for claim, _ in pairs}),
        **{measure: shares(pairs, measure) for measure in MEASURES},
    }


def _without(table: Sequence[Record], data: str) -> dict[str, Json]:
    """Claims that no rule edits, with the reasons."""
    claims = [r for r in table if r["data"] == data and r["role"] == CLAIM]
    none = [r for r in claims if r["why_none"] is not None]
    low, high = clopper_pearson(len(none), len(claims))
    return {
        "name": f"{data}_without",
        "data": data,
        "role": "without a contrast",
        "kind": _ALL,
        "n": len(claims),
        "n_without": len(none),
        "estimate": len(none) / len(claims),
        "low": low,
        "high": high,
        "reasons": dict(Counter(str(r["why_none"]) for r in none)),
    }


def _resampled(
    pairs: Sequence[Pair], values: Floats, protocol: Protocol, *, null: float
) -> dict[str, Json]:
    """The mean of known values, and that of resampled sources."""
    known = np.isfinite(values)
    size: dict[str, Json] = {"unit": "source", "n_missing": int((~known).sum())}
    sources = _codes([f"{c['data']} {c['source']}" for c, _ in pairs])[known]
    n = len(np.unique(sources))
    if n < 2:  # noqa: PLR2004 - one source has no spread
        return {**absent("fewer than two sources"), **size}
    units = units_of(values[known][:, None], sources)
    means = resampled_means(units, replicates=protocol.resamples, rng=generator(protocol))[:, 0]
    estimate = math.fsum(values[known].tolist()) / int(known.sum())
    found = percentile(means, estimate, null, protocol)
    return {**found, **size, "n": n, "n_pairs": int(known.sum())}


def _codes(names: Sequence[str]) -> Ints:
    known = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.int64)


def _right(pair: Pair, measure: str) -> float:
    """1 where the claim is ranked as better carried, one half for a tie, nan without a number."""
    found = _worse(pair, measure)
    if found is None:
        return math.nan
    own, other = found
    return _HALF if own == other else float(own < other)


def _worse(pair: Pair, measure: str) -> tuple[float, float] | None:
    """How bad claim and variant are by a measure; None where one has no number."""
    sign = MEASURES[measure]
    numbers = [side[measure] for side in pair]
    known = [sign * float(v) for v in numbers if isinstance(v, int | float)]
    return (known[0], known[1]) if len(known) == len(numbers) else None
