"""Two models on one slice of items: what moved, and whether agreement shows it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trueness.contract import Reading
from trueness.contract.errors import MissingExtraError
from trueness.contract.serial import Json
from trueness.sensors import atlas
from trueness.sensors.atlas import Params
from trueness.sensors.atlas.protocols import flat
from trueness.study.asked import Asked
from trueness.study.checkpoint_arms import (
    FIRST,
    GREEDY,
    OTHER,
    SECOND,
    Arm,
    Rows,
    arms_of,
    table_of,
)
from trueness.study.cloud_inputs import SLICES, arithmetic, synthetic, synthetic_records
from trueness.study.declarations import Declaration
from trueness.study.found import Found
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.spent import Spent
from trueness.study.task import Task
from trueness.table import AnswerTable, Protocol

MODELS, DECODINGS = "models", "demonstration_decodings"
DEMONSTRATION = "demonstration"
PARTS = ("total", "gold", "wrong", "none", "semantic")
OF_THE_MODEL = (
    "bos",
    "join",
    "backend",
    "backend_version",
    "dtype",
    "batch_policy",
    "chat_template",
)
"""Fields that follow from which model it is: two models may differ in them, and it is said."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How arms are drawn and compared; from the declaration.

    Parameters
    ----------
    draws : int
        Of each item.
    temperatures : pair of float
        Of the draws, and of the second decoding.
    params : Params
        Of the comparison.
    """

    draws: int
    temperatures: tuple[float, float]
    params: Params

    @classmethod
    def of(cls, declaration: Declaration, seed: int) -> "Settings":
        """As declared."""
        drawn, said = declaration.table("draws"), declaration.table("protocol")
        one, two = map(float, drawn["temperature"])
        params = Params(
            orders=tuple(said["orders"]),
            margin=float(said["margin"]),
            level=float(said["level"]),
            seed=seed,
        )
        return cls(int(drawn["k"]), (one, two), params)


def run(task: Task) -> Found:
    """The change from the first model to the second; synthetic slices and decodings beside it.

    Without a second model nothing is decided, and every heading says ``demonstration``.

    Parameters
    ----------
    task : Task
        ``repeats``: at most so many items.

    Raises
    ------
    MissingExtraError
        When a model that was named cannot be opened; without the declared one the synthetic slices
        are left.
    """
    task.only("model", "second_model")
    settings = Settings.of(task.declaration, task.seed)
    questions, record = arithmetic(task.repeats)
    arms: dict[str, Arm] = {}
    notes: list[str] = []
    try:
        arms = arms_of(
            task,
            questions,
            draws=settings.draws,
            temperatures=settings.temperatures,
            other_draws=max(settings.params.orders),
        )
    except MissingExtraError as error:
        if task.inputs.given():
            raise
        notes.append(f"no model was asked: {error}")
    table = [row for arm in arms.values() for row in arm.rows]
    protocols = {name: arm.protocols for name, arm in arms.items()}
    rows = tuple(rows_of_atlas(table, protocols, settings))
    asked = [each for arm in arms.values() for each in arm.asked]
    marked = {} if SECOND in arms else {"marked": DEMONSTRATION}
    return Found(
        rows=rows,
        contrasts=contrasts_of(rows, task.declaration, settings),
        draws={
            "repeats": task.repeats,
            "k": settings.draws,
            **marked,
        },
        notes=(*notes, *_notes(asked, marked)),
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=sum((each.spent for each in asked), Spent()),
        data=(record, *synthetic_records()),
        model=_identity(arms),
        protocols=tuple(_named_protocols(arms)),
        table=tuple(table),
    )


def rows_of_atlas(
    table: Rows, protocols: Mapping[str, Mapping[str, Mapping[str, Json]]], settings: Settings
) -> Iterator[Record]:
    """Every comparison: one row for its verdict, and one an order and part.

    Parameters
    ----------
    table : sequence of mapping
        Rows with ``arm``, as they lie beside the result.
    protocols : mapping of arm to mapping of condition to fields
    settings : Settings
    """
    for name in SLICES:
        before, after = synthetic(name)
        reading = atlas.compare(before, after, settings.params)
        yield from _rows(f"{DEMONSTRATION}_{name}", reading, label="SYNTHETIC")
    arms = {name: table_of(table, name, of) for name, of in protocols.items()}
    if FIRST in arms and OTHER in arms:
        draws = arms[FIRST].only("none"), arms[OTHER].only("none")
        yield from _rows(DECODINGS, _compared(*draws, settings, "temperature"), label=DEMONSTRATION)
    if FIRST in arms and SECOND in arms:
        found = _compared(arms[FIRST], arms[SECOND], settings, *OF_THE_MODEL)
        yield from _rows(MODELS, found, label=MODELS)


def contrasts_of(
    rows: Sequence[Record], declaration: Declaration, settings: Settings
) -> dict[str, Record]:
    """The declared contrasts, from the rows."""
    by = {str(row["name"]): row for row in rows}
    order = settings.params.primary
    found: dict[str, Record] = {
        part: _part(by.get(f"{MODELS}_r{order}_{part}")) for part in ("gold", "wrong", "none")
    }
    for contrast, name in (
        ("total", MODELS),
        ("demonstration_synthetic", f"{DEMONSTRATION}_inversion"),
        ("demonstration_decodings", DECODINGS),
    ):
        total = _part(by.get(f"{name}_r{order}_total"))
        found[contrast] = {**total, **_equivalence(name, by, settings)}
    found[GREEDY] = _greedy(by.get(MODELS))
    return {c.name: found[c.name] for c in declaration.contrasts}


def _compared(
    before: AnswerTable, after: AnswerTable, settings: Settings, *may_differ: str
) -> Reading:
    """The comparison; fields that may differ are named where either protocol has them."""
    known = {name for t in (before, after) for p in t.protocols.values() for name in flat(p)}
    allowed = tuple(name for name in may_differ if name in known)
    return atlas.compare(before, after, replace(settings.params, allow_differ=allowed))


def _rows(name: str, reading: Reading, *, label: str) -> Iterator[Record]:
    """What a comparison found, as rows of a result."""
    details: Any = reading.details
    kind = MODELS if name == MODELS else DEMONSTRATION
    yield {"name": name, "class": kind, "label": label, **_summary(reading)}
    for order, parts in (details["parts"] or {}).items():
        for part in PARTS:
            found = parts[part]
            low, high = found.get("band") or (None, None)
            yield {
                "name": f"{name}_r{order}_{part}",
                "class": kind,
                "label": label,
                "order": int(order),
                "part": part,
                "before": found.get("before"),
                "after": found.get("after"),
                "delta": found["delta"],
                "low": low,
                "high": high,
                "kind": reading.interval_kind,
                "t90": found.get("t90"),
                "epsilon_star": found.get("epsilon_star"),
                "p_adjusted": found.get("p_adjusted"),
                "n": found.get("n"),
                "n_movers": found.get("n_movers"),
                "state": found["state"],
            }


def _summary(reading: Reading) -> dict[str, Json]:
    """The verdict of a comparison, and what belongs to no part."""
    d: Any = reading.details
    verdict, tv, greedy = d["verdict"] or {}, d["tv"] or {}, d["greedy"] or {}
    right = greedy.get("right") or (None, None)
    arms = d["arms"]
    return {
        "state": reading.state.value,
        "verdict": verdict.get("name"),
        "verdict_reason": verdict.get("reason") or reading.reason,
        "n_items": d["n_items"],
        "draws_per_item": [arms[side]["draws_per_item"] for side in ("before", "after")],
        "none_reasons": {side: arms[side]["none_reasons"] for side in ("before", "after")},
        "n_missing": sum(arms[side]["n_missing"] for side in ("before", "after")),
        "tv": tv.get("mean"),
        "tv_null": tv.get("null_mean"),
        "tv_p": tv.get("permutation_p"),
        "modes_disjoint": d["modes_disjoint"],
        "greedy_n": greedy.get("n"),
        "greedy_before": right[0],
        "greedy_after": right[1],
        "regressed": greedy.get("b"),
        "improved": greedy.get("c"),
        "p_exact": greedy.get("p_exact"),
        "p_mid": greedy.get("p_mid"),
        "differs": d["differs"],
        "status": d["status"],
        "n_vanishing": (d["audit"] or {}).get("n_vanishing"),
    }


def _part(row: Record | None) -> dict[str, Json]:
    """The change of one part at the primary order; nothing where it was not compared."""
    if row is None or row["delta"] is None:
        return {"n": 0, "estimate": None, "low": None, "high": None, "state": "NO_EVIDENCE"}
    return {
        "n": row["n"],
        "estimate": row["delta"],
        "low": row["low"],
        "high": row["high"],
        "kind": row["kind"],
        "p": row["p_adjusted"],
        "before": row["before"],
        "after": row["after"],
        "n_movers": row["n_movers"],
        "state": row["state"],
    }


def _equivalence(name: str, by: Mapping[str, Record], settings: Settings) -> dict[str, Json]:
    """Whether the total stayed within the margin at every order, left it at one, or all parts did.

    What is compared with the margin is the interval that the comparison printed.
    """
    orders, margin = settings.params.orders, settings.params.delta
    totals = [by.get(f"{name}_r{order}_total") for order in orders]
    gone: dict[str, Json] = {
        "equivalent": None,
        "moved": None,
        "unchanged": None,
        "epsilon_star": None,
    }
    if any(row is None or row["t90"] is None for row in totals):
        return gone
    parts = [by[f"{name}_r{order}_{part}"] for order in orders for part in PARTS]
    ends: list[Any] = [row["t90"] for row in totals if row is not None]
    far = [row["epsilon_star"] for row in parts]
    return {
        "equivalent": int(all(-margin < low and high < margin for low, high in ends)),
        "moved": int(any(low >= margin or high <= -margin for low, high in ends)),
        "unchanged": int(all(isinstance(e, float) and e < margin for e in far)),
        "epsilon_star": max(max(-low, high) for low, high in ends),
        "margin": margin,
    }


def _greedy(row: Record | None) -> dict[str, Json]:
    """Greedy answers improved less regressed, as a share of the items."""
    n = None if row is None else row["greedy_n"]
    if row is None or not isinstance(n, int) or not n:
        return {"n": 0, "estimate": None, "state": "NO_EVIDENCE"}
    regressed, improved = row["regressed"], row["improved"]
    change = None
    if isinstance(regressed, int) and isinstance(improved, int):
        change = (improved - regressed) / n
    return {
        "n": n,
        "estimate": change,
        "regressed": regressed,
        "improved": improved,
        "p_exact": row["p_exact"],
        "state": "MEASURED",
    }


def _identity(arms: Mapping[str, Arm]) -> Record | None:
    if FIRST not in arms:
        return None
    second = arms.get(SECOND)
    beside = {} if second is None else {"second_model": dict(second.asked[0].model)}
    return {**arms[FIRST].asked[0].model, **beside}


def _named_protocols(arms: Mapping[str, Arm]) -> Iterator[Record]:
    for arm, found in arms.items():
        for condition, fields in found.protocols.items():
            made = Protocol(fields)
            name = f"{arm}: {condition}"
            yield {"condition": name, "fingerprint": made.fingerprint, "text": dict(fields)}


def _notes(asked: Sequence[Asked], marked: Mapping[str, Json]) -> Iterator[str]:
    if marked:
        yield (
            f"{DEMONSTRATION}: no second model was named, so nothing is said about two "
            "checkpoints; name it with --second-model"
        )
    yield (
        "rows demonstration_inversion, _consolidation and _attractor are SYNTHETIC: made to match "
        "printed aggregates, not the published data"
    )
    if asked:
        yield "batches were checked on the greedy answers; the draws rest on that"
    yield from dict.fromkeys(note for each in asked for note in each.notes)
