"""The parts of a gate file read back: the calibration with the risks that it rests on."""

import math
from collections.abc import Mapping

import numpy as np

from trueness.contract import Direction
from trueness.contract.serial import Json
from trueness.decide.calibration import Calibration, Side
from trueness.decide.grids import Sequenced
from trueness.decide.promise import promise_of
from trueness.decide.ranks import Threshold


def calibration_of(data: Mapping[str, Json]) -> Calibration:
    """The calibration that `Calibration.to_dict` wrote."""
    asked, counts = mapping_of(data["promise"]), mapping_of(data["counts"])
    return Calibration(
        promise=promise_of(**asked),  # type: ignore[arg-type] # checked there
        direction=Direction(str(data["direction"])),
        tau=_float(data["tau"]),
        threshold=_threshold(data["rank"]),
        unsupported=_side(data["unsupported"]),
        grid=_grid(data["grid"]),
        rho=None if data["rho"] is None else _float(data["rho"]),
        reject=_threshold(data["reject_rank"]),
        supported=_side(data["supported_negated"]),
        counts={name: int(str(n)) for name, n in counts.items()},
        independence=str(data["independence"]),
        notes=tuple(str(note) for note in _list(data["notes"])),
        fingerprint=mapping_of(data["fingerprint"]),
        versions={name: str(v) for name, v in mapping_of(data["versions"]).items()},
        evaluation=mapping_of(data["evaluation"]),
        curve=mapping_of(data.get("curve") or {}),
    )


def _threshold(data: Json) -> Threshold | None:
    if data is None:
        return None
    rank = mapping_of(data)
    return Threshold(
        int(str(rank["n"])),
        None if rank["k"] is None else int(str(rank["k"])),
        _float(rank["tau"]),
        None if rank["guarantee"] is None else _float(rank["guarantee"]),
        None if rank["expected_at_most"] is None else _float(rank["expected_at_most"]),
    )


def _side(data: Json) -> Side | None:
    if data is None:
        return None
    side = mapping_of(data)
    sources = side["sources"]
    codes = None if sources is None else np.array(_list(sources), dtype=np.int64)
    risks = _risks(side["risks"])
    if (risks[1:] < risks[:-1]).any() or (
        codes is not None and (codes.shape != risks.shape or codes.min(initial=0) < 0)
    ):
        msg = "stored risks are not in ascending order, or not one source a risk"
        raise ValueError(msg)
    return Side(risks, codes)


def _grid(data: Json) -> Sequenced | None:
    if data is None:
        return None
    grid = mapping_of(data)
    wrong = _list(grid["wrong"])
    thresholds, risks = _risks(grid["thresholds"]), _risks(grid["risks"])
    if len(wrong) != len(risks) or not all(isinstance(w, bool) for w in wrong):
        msg = "the stored grid has not one truth value a risk"
        raise ValueError(msg)
    rising = (thresholds[1:] > thresholds[:-1]).all() and np.isfinite(thresholds).all()
    if not len(thresholds) or not rising or (risks[1:] < risks[:-1]).any():
        msg = "the stored grid or its risks are not in ascending order"
        raise ValueError(msg)
    return Sequenced(thresholds, risks, np.array(wrong, dtype=np.bool_))


def _risks(data: Json) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    numbers = [np.inf if r is None else _float(r) for r in _list(data)]
    return np.array(numbers, dtype=np.float64)


def _float(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"a number is wanted, {value!r} was given"
        raise TypeError(msg)
    if not math.isfinite(value):
        msg = f"a finite number is wanted, {value!r} was given"
        raise ValueError(msg)
    return float(value)


def mapping_of(value: Json) -> dict[str, Json]:
    """The object that a part of the file is.

    Raises
    ------
    TypeError
        When it is none.
    """
    if not isinstance(value, Mapping):
        msg = f"an object is wanted, {type(value).__name__} was given"
        raise TypeError(msg)
    return dict(value)


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        msg = f"a list is wanted, {type(value).__name__} was given"
        raise TypeError(msg)
    return value
