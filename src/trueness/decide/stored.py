"""`gate.json`: calibration and policy in one file, each with its hash."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trueness.contract import Reading
from trueness.contract.errors import CannotSerialise, FingerprintMismatch, InputError, PolicyError
from trueness.contract.files import naming
from trueness.contract.serial import Json, RepeatedKeyError, canonical, dumps, once
from trueness.decide.calibration import Calibration
from trueness.decide.columns import Columns, columns_of_reading
from trueness.decide.deciding import check_policy
from trueness.decide.faults import altered, threshold_faults
from trueness.decide.hashing import hash_json
from trueness.decide.policy import Policy, policy_of
from trueness.decide.stored_parts import calibration_of, mapping_of

SCHEMA = "trueness.gate/1"
_REVISION = "embedder.revision"
_TELLING = ("sensor", "embedder.id", _REVISION)
"""Keys that explain why others differ, in the order in which a refusal names them."""


@dataclass(frozen=True, slots=True)
class GateFile:
    """A calibration and the policy that uses it.

    Parameters
    ----------
    calibration : Calibration
    policy : Policy
    sensor : str
        Whose readings it is for, as the calibration's reading said; empty for bare values.
    score : mapping or None
        A saved score that turns several columns into the value.
    calibration_hash, policy_hash : str
        As the file says; equal to what the parts hash to unless the file was changed.
    altered : tuple of str
        Places of the file that say something else than its parts do.
    """

    calibration: Calibration
    policy: Policy
    sensor: str = ""
    score: Mapping[str, Json] | None = None
    calibration_hash: str = ""
    policy_hash: str = ""
    altered: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON."""
        return {
            "schema": SCHEMA,
            "sensor": self.sensor,
            "calibration": self.calibration.to_dict(),
            "calibration_hash": self.calibration.hash,
            "policy": self.policy.to_dict(),
            "policy_hash": self.policy.hash,
            "notes": list(self.notes()),
            "score": None if self.score is None else dict(self.score),
            **({} if self.score is None else {"score_hash": hash_json(dict(self.score))}),
        }

    def notes(self) -> tuple[str, ...]:
        """What must be said beside the promise."""
        found = [*self.calibration.notes, *self.policy.notes()]
        if self.policy.reject is not None and self.calibration.rho is None:
            found.append(
                "the reject threshold was given and carries no promise about supported items"
            )
        if self.calibration.independence == "assumed":
            found.append("no sources were named: that the items are independent is assumed")
        return tuple(found)

    def write(self, path: Path) -> None:
        """Write `gate.json`.

        Raises
        ------
        CannotSerialise
            When the calibration's embedder has no revision: nobody could tell later whether it
            still is the same one.
        """
        prints = self.calibration.fingerprint
        if _REVISION in prints and not prints[_REVISION]:
            msg = (
                f"the embedder {prints.get('embedder.id')!r} has no revision, so nobody can tell "
                "later whether it still is the same one, and the threshold cannot be saved. Give "
                "it one: --revision TEXT, or revision= in Python."
            )
            raise CannotSerialise(msg)
        with naming(path):
            path.write_text(dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    def faults(self) -> tuple[tuple[str, str], ...]:
        """(kind, sentence) of everything in the file that does not fit together."""
        found = []
        for kind, said, made in (
            ("calibration", self.calibration_hash, self.calibration.hash),
            ("policy", self.policy_hash, self.policy.hash),
        ):
            if said and said != made:
                found.append((kind, f"{kind}_hash says {said[:12]} and the {kind} is {made[:12]}"))
        found += [("calibration", f"{place} is not what its parts give") for place in self.altered]
        found += [("threshold", why) for why in threshold_faults(self.calibration, self.policy)]
        return tuple(found)

    def checked(self) -> "GateFile":
        """The same file, if nothing in it contradicts itself.

        Raises
        ------
        InputError
            Otherwise.
        """
        faults = self.faults()
        if faults:
            msg = f"the gate file contradicts itself: {faults[0][1]}. Calibrate again."
            raise InputError(msg)
        return self

    def columns(self, reading: Reading) -> Columns:
        """The reading's items, after its fingerprint and diagnostics were compared.

        Raises
        ------
        FingerprintMismatch
            When the threshold was made under another fingerprint.
        PolicyError
            When the policy limits a diagnostic that no item has.
        """
        compare_fingerprints(self.calibration.fingerprint, identity_of(reading))
        columns = columns_of_reading(reading)
        if columns.direction is not self.calibration.direction:
            msg = f"the value's direction is {columns.direction}; recalibrate with this reading."
            raise PolicyError(msg)
        check_policy(self.policy, columns)
        return columns


def identity_of(reading: Reading) -> dict[str, Json]:
    """What a threshold depends on, key by key: as the reading says, or its whole fingerprint."""
    named: dict[str, Json] = {"sensor": reading.sensor, "direction": reading.direction.value}
    if reading.identity:
        return _flat(reading.identity) | named
    return named | {"fingerprint": reading.fingerprint}


def compare_fingerprints(calibration: Mapping[str, Json], reading: Mapping[str, Json]) -> None:
    """Refuse a reading whose fingerprint differs in any key; a missing key differs.

    Raises
    ------
    FingerprintMismatch
        Naming one key and both values: the sensor where it is another one, then the embedder.

    Examples
    --------
    >>> compare_fingerprints({"a": 1, "b": 2}, {"b": 2, "a": 1})
    """
    left, right = _flat(calibration), _flat(reading)
    differs = tuple(
        key
        for key in sorted(set(left) | set(right), key=_weight)
        if key not in left or key not in right or canonical(left[key]) != canonical(right[key])
    )
    if differs:
        first = differs[0]
        more = "" if len(differs) == 1 else f" ({len(differs)} keys differ)"
        msg = (
            f"this threshold was made with {first} = {_said(left, first)}; this reading has "
            f"{_said(right, first)}{more}; measure with the same options as for the calibration, "
            "or recalibrate. What a foreign threshold is worth: trueness study C7."
        )
        raise FingerprintMismatch(msg, differs=differs)


def _weight(key: str) -> tuple[int, str]:
    """Place of a key in the list of what differs: what explains the others stands first."""
    return (_TELLING.index(key) if key in _TELLING else len(_TELLING), key)


def reading_hash(reading: Reading) -> str:
    """sha256 of the canonical JSON of a reading with all of its items, without what it draws.

    The same reading drawn otherwise, with a threshold in it for one, is the same reading.
    """
    said = reading.to_dict(max_items=None)
    return hash_json({k: v for k, v in said.items() if k not in {"blocks", "statement"}})


def read_gate(path: Path, *, checked: bool = True) -> GateFile:
    """The gate file at a path.

    Parameters
    ----------
    path : Path
    checked : bool
        Refuse a file that contradicts itself; ``replay`` reads it all the same and lists that.

    Raises
    ------
    InputError
        When it is no gate file.
    """
    try:
        data = json.loads(
            path.read_text(encoding="utf-8"), parse_constant=_no_constant, object_pairs_hook=once
        )
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}. Name a file that calibrate wrote."
        raise InputError(msg) from error
    except RepeatedKeyError as error:
        msg = f"{path}: {error}, so it does not say which is meant. Calibrate again."
        raise InputError(msg) from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        msg = f"{path} is no JSON: {error}. Name a file that calibrate wrote."
        raise InputError(msg) from error
    gate = gate_of(data, str(path))
    return gate.checked() if checked else gate


def gate_of(data: object, where: str = "this object") -> GateFile:
    """The gate that `GateFile.to_dict` wrote.

    Raises
    ------
    InputError
        When it is none.
    """
    if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
        given = data.get("schema") if isinstance(data, Mapping) else type(data).__name__
        msg = f"{where} has schema {given!r}; wanted {SCHEMA!r}. Hand in what calibrate wrote."
        raise InputError(msg)
    try:
        gate = GateFile(
            calibration_of(data["calibration"]),
            policy_of(data["policy"]),
            str(data["sensor"]),
            None if data["score"] is None else mapping_of(data["score"]),
            str(data["calibration_hash"]),
            str(data["policy_hash"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        msg = (
            f"{where} cannot be read: {type(error).__name__} at {error}. Hand in what calibrate "
            "wrote."
        )
        raise InputError(msg) from error
    return replace(gate, altered=tuple(altered(data, gate.to_dict())))


def _flat(nested: Mapping[str, Json], lead: str = "") -> dict[str, Json]:
    """Nested keys joined by dots, so that a difference is named where it is."""
    out: dict[str, Json] = {}
    for key, value in nested.items():
        if isinstance(value, Mapping) and value:
            out |= _flat(value, f"{lead}{key}.")
        else:
            out[f"{lead}{key}"] = value
    return out


def _said(values: Mapping[str, Json], key: str) -> str:
    return canonical(values[key]) if key in values else "no such key"


def _no_constant(name: str) -> float:
    msg = f"the file holds {name}, which strict JSON has no form for. Calibrate again."
    raise InputError(msg)
