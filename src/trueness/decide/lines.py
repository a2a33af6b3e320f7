"""One decision as one line of strict JSON, hashed in its canonical form."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring

from trueness.contract.errors import CannotSerialise
from trueness.contract.serial import Json
from trueness.decide.hashing import digest
from trueness.decide.policy import Policy
from trueness.decide.promise import share_json
from trueness.decide.stored import GateFile

GENESIS = "0" * 64
"""prev of the first row."""
HASH, MANIFEST = "hash", "manifest"

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)
_TEXT = r'(?:null|"[^"\\\x00-\x1f]*")'
_NO_READING = re.escape('"reading_hash":null')
_ANY_READING = '"reading_hash":(?:null|"[0-9a-f]{64}")'
_NUMBER = r"(null|-?[0-9][-+.e0-9]*)"


@dataclass(frozen=True, slots=True)
class Context:
    """What every line of a trace repeats.

    Parameters
    ----------
    gate : GateFile
    reading_hash : str or None
        Of the reading decided about; None for bare values.
    """

    gate: GateFile
    reading_hash: str | None = None

    def fields(self) -> dict[str, Json]:
        """The repeated fields by name."""
        calibration, policy = self.gate.calibration, self.gate.policy
        promise = calibration.promise
        return {
            "tau": policy.accept,
            "rho": policy.reject,
            "policy_hash": policy.hash,
            "calibration_hash": calibration.hash,
            "fingerprint_hash": calibration.fingerprint_hash,
            "reading_hash": self.reading_hash,
            "population": promise.who,
            "error": promise.error.value,
            "budget": share_json(promise.budget),
            "level": None if promise.in_expectation else share_json(promise.level),
        }


@dataclass(frozen=True, slots=True)
class Template:
    """The canonical text of a line as two formats; the hash stands between them.

    ``head`` takes the texts of `HEAD`, ``tail`` those of `TAIL`.
    """

    head: str
    tail: str

    @classmethod
    def of(cls, context: Context) -> "Template":
        """The template of one run."""
        fixed = {name: _ENCODER.encode(value) for name, value in context.fields().items()}
        texts = {name: text.replace("%", "%%") for name, text in fixed.items()}
        texts |= dict.fromkeys((*HEAD, *TAIL), "%s")
        named = [f"{encode_basestring(name)}:{texts[name]}" for name in sorted(texts)]
        cut = sorted([*texts, HASH]).index(HASH)
        return cls("{" + ",".join(named[:cut]), "," + ",".join(named[cut:]) + "}")

    def pattern(self, *, any_reading: bool) -> re.Pattern[bytes]:
        """What a line of this template looks like, hash included, with the groups of `READ`.

        Text with escapes and nested diagnostics do not match: they are read slowly.

        Parameters
        ----------
        any_reading : bool
            The template was made without a reading and lines of any reading are meant.
        """
        head = tuple(_FORMS.get(name, _TEXT) for name in HEAD)
        tail = tuple(_FORMS.get(name, _TEXT) for name in TAIL)
        cut = ',"hash":"(.{64})"'
        made = re.escape(self.head) % head + cut + re.escape(self.tail) % tail
        if any_reading:
            made = made.replace(_NO_READING, _ANY_READING)
        return re.compile(made.encode())


HEAD = ("diagnostics", "group")
TAIL = (
    "item",
    "prev",
    "reason",
    "risk",
    "route",
    "rule",
    "seq",
    "state",
    "sub",
    "value",
    "verdict",
)
"""Fields that differ from row to row, sorted."""
READ = (
    *("diagnostics", "group", HASH, "item", "prev", "reason", "risk", "rule", "seq", "state"),
    *("sub", "value", "verdict"),
)
"""Groups of a template's pattern."""
_FORMS = {
    **dict.fromkeys(("group", "item", "reason", "sub"), f"({_TEXT})"),
    "diagnostics": r"(\{[^{}\\]*\})",
    "prev": '"(.{64})"',  # as the hash: compared with what it must be
    "rule": '"([a-z_]+)"',
    "state": '"([A-Z_]+)"',
    "verdict": '"([a-z]+)"',
    "route": r"\[\]",
    "seq": "([0-9]+)",
    "risk": _NUMBER,
    "value": _NUMBER,
}


def encoded(value: Json) -> str:
    """Canonical JSON of one value.

    Raises
    ------
    CannotSerialise
        For what strict JSON has no form for.
    """
    try:
        return _ENCODER.encode(value)
    except (ValueError, TypeError) as error:
        msg = f"{value!r} has no strict JSON: {error}. Use null and a state that says why."
        raise CannotSerialise(msg) from error


def hash_of(row: Mapping[str, Json]) -> str:
    """sha256 of the canonical JSON of a row without its hash.

    Examples
    --------
    >>> hash_of({"b": 1.0, "a": 1e-07, "hash": "any"}) == hash_of({"a": 1e-07, "b": 1.0})
    True
    """
    return digest(encoded({name: value for name, value in row.items() if name != HASH}))


def why(row: Mapping[str, Json], policy: Policy | None = None) -> str:
    """One sentence that says why, from the fields of a trace line.

    Parameters
    ----------
    row : mapping
        A line of a trace.
    policy : Policy, optional
        Adds the limit that a diagnostic is beyond.

    Examples
    --------
    >>> why({"verdict": "accept", "rule": "below_accept", "risk": 0.25, "tau": 0.4})
    'accepted: risk 0.25 is below 0.4'
    """
    verdict = {"accept": "accepted", "review": "reviewed", "reject": "rejected"}
    lead = verdict.get(str(row["verdict"]), str(row["verdict"]))
    return f"{lead}: {_because(row, policy)}"


_WORDS = {
    "routed": "a check sends it to a person ({flags})",
    "diagnostic": "{diagnostic}",
    "inside_diagnostic": "inside the band, {diagnostic}",
    "below_accept": "{risk} is {below} {tau}",
    "at_or_above_reject": "{risk} is at or {above} {rho}",
    "between": "{risk} is not {below} {tau}",
    "clear_accept": "{risk} is {below} the band around {tau}",
    "clear_reject": "{risk} is at or {above} the band around {tau}",
    "inside_below": "inside the band, {risk} is {below} {tau}",
    "inside_above": "inside the band, {risk} is not {below} {tau}",
}


def _because(row: Mapping[str, Json], policy: Policy | None) -> str:
    if row["rule"] == "state":
        return f"{row['state']}" + (f", {row['reason']}" if row.get("reason") else "")
    words = _WORDS.get(str(row["rule"]), "by a rule that is not known, {rule}")
    if row["rule"] == "between" and row.get("rho") is not None:
        words += ", nor at or {above} {rho}"
    return words.format(
        rule=row["rule"],
        **_compared(row),
        flags=", ".join(map(str, _flags(row))),
        diagnostic=_diagnostic(row, policy) if "diagnostic" in words else "",
    )


def _compared(row: Mapping[str, Json]) -> dict[str, str]:
    """Risk and thresholds as a person reads them: the value's own sign, and few digits.

    The risk of a value that is better when higher is minus the value; it is turned back here.
    """
    risk, value = row.get("risk", row.get("value")), row.get("value")
    turned = value is not None and str(value) != str(risk)
    named = {"risk": risk, "tau": row.get("tau"), "rho": row.get("rho")}
    given = {
        name: -number if turned else number
        for name, number in named.items()
        if isinstance(number, (int, float))
    }
    said = {name: str(named[name]) for name in named} | _short(given)
    said["risk"] = f"{'value' if turned else 'risk'} {said['risk']}"
    below, above = ("above", "below") if turned else ("below", "above")
    return {**said, "below": below, "above": above}


def _short(given: Mapping[str, float]) -> dict[str, str]:
    """The numbers at six digits, or at as many as tell those apart that differ."""
    for digits in range(6, 17):
        said = {name: f"{number:.{digits}g}" for name, number in given.items()}
        if len(set(said.values())) == len(set(given.values())):
            return said
    return {name: repr(number) for name, number in given.items()}


def _flags(row: Mapping[str, Json]) -> Sequence[Json]:
    given = row.get("route")
    return given if isinstance(given, list) else []


def _diagnostic(row: Mapping[str, Json], policy: Policy | None) -> str:
    given = row.get("diagnostics")
    values = given if isinstance(given, dict) else {}
    if policy is None:
        return (
            "a diagnostic is beyond its limit ("
            + ", ".join(f"{name} {value}" for name, value in values.items())
            + ")"
        )
    for name, limit in policy.diagnostics.items():
        value = values.get(name)
        if not isinstance(value, (int, float)):
            return f"{name} is missing"
        for word, end in (("above", limit.high), ("below", limit.low)):
            if end is not None and (value > end if word == "above" else value < end):
                said = _short({"value": value, "end": end})
                return f"{name} {said['value']} {word} {said['end']}"
    return "a diagnostic is beyond its limit"


def number_text(value: float) -> str:
    """Canonical JSON of a float, null for nan."""
    return "null" if math.isnan(value) else float.__repr__(value)
