"""What is to be done about a risk: thresholds, a band, limits on diagnostics. Data, no code."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from trueness.contract import Verdict
from trueness.contract.errors import PolicyError
from trueness.contract.serial import Json
from trueness.decide.hashing import hash_json

_KEYS = frozenset(
    {"kind", "accept", "reject", "gap", "diagnostics", "on_unmeasured", "low_edge", "high_edge"}
)


class Kind(StrEnum):
    """The policies there are."""

    VALUE_ONLY = "value_only"
    BAND = "band"
    AXES_FIRST = "axes_first"


@dataclass(frozen=True, slots=True)
class Limit:
    """Where a diagnostic may lie; exactly at a limit is within it."""

    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Json]:
        """As a policy file has it."""
        both = (("min", self.low), ("max", self.high))
        return {name: end for name, end in both if end is not None}


@dataclass(frozen=True, slots=True)
class Policy:
    """One way to turn risks into verdicts. Made from a file by `policy_of`.

    Parameters
    ----------
    kind : Kind
    accept : float
        tau: strictly below may be accepted.
    reject : float or None
        rho: at or above is rejected; None rejects nothing.
    gap : float or None
        g of a band.
    low_edge, high_edge : float or None
        tau (1 - g) and tau (1 + g), computed once.
    diagnostics : mapping of name to Limit
    on_unmeasured : Verdict
        ``REVIEW`` or ``REJECT`` for an item that is not measured.
    """

    kind: Kind
    accept: float
    reject: float | None = None
    gap: float | None = None
    low_edge: float | None = None
    high_edge: float | None = None
    diagnostics: Mapping[str, Limit] = field(default_factory=dict)
    on_unmeasured: Verdict = Verdict.REVIEW

    def to_dict(self) -> dict[str, Json]:
        """Plain JSON, as `policy_of` reads it."""
        out: dict[str, Json] = {
            "kind": self.kind.value,
            "accept": self.accept,
            "reject": self.reject,
            "diagnostics": {name: limit.to_dict() for name, limit in self.diagnostics.items()},
            "on_unmeasured": self.on_unmeasured.value,
        }
        if self.kind is Kind.BAND:
            out |= {"gap": self.gap, "low_edge": self.low_edge, "high_edge": self.high_edge}
        return out

    @property
    def hash(self) -> str:
        """sha256 of the canonical JSON."""
        return hash_json(self.to_dict())

    def notes(self) -> tuple[str, ...]:
        """What this policy does not promise, in words."""
        found = []
        if self.kind is Kind.BAND:
            found.append("the band's reject zone carries no promise about supported items")
        if self.on_unmeasured is Verdict.REJECT:
            found.append("items that were not measured are rejected, outside of any promise")
        return tuple(found)


def policy_of(data: Mapping[str, Json], *, accept: float | None = None) -> Policy:
    """The policy that a file describes, checked as a whole.

    Parameters
    ----------
    data : mapping
        ``kind``, ``accept`` (tau), ``reject`` (rho or null), ``gap`` (band), ``diagnostics``
        (``{"max": x}``, ``{"min": x}`` or both by name), ``on_unmeasured``.
    accept : float, optional
        tau of a calibration, for a file that has none.

    Raises
    ------
    PolicyError
        When anything in it cannot be carried out.

    Examples
    --------
    >>> policy_of({"kind": "band", "accept": 0.5, "gap": 0.25}).low_edge
    0.375
    """
    if not isinstance(data, Mapping):
        msg = f"the policy is a {type(data).__name__}; wanted an object with a kind."
        raise PolicyError(msg)
    unknown = sorted(set(data) - _KEYS, key=repr)
    if unknown:
        msg = f"a policy has no key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}."
        raise PolicyError(msg)
    kind = _kind(data.get("kind"))
    tau = _finite("accept", data.get("accept") if data.get("accept") is not None else accept)
    rho = None if data.get("reject") is None else _finite("reject", data["reject"])
    if rho is not None and rho < tau:
        msg = f"reject is {rho} and accept {tau}; reject must be at least accept. Raise reject."
        raise PolicyError(msg)
    gap, low, high = _band(kind, tau, rho, data)
    return Policy(
        kind,
        tau,
        rho,
        gap,
        low,
        high,
        _limits(kind, data.get("diagnostics")),
        _on_unmeasured(data.get("on_unmeasured", "review")),
    )


def _kind(given: Json) -> Kind:
    try:
        return Kind(str(given))
    except ValueError:
        msg = f"policy kind {given!r} is unknown; choose one of {', '.join(Kind)}."
        raise PolicyError(msg) from None


def _finite(name: str, given: Json) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not _is_float(given):
        msg = f"{name} is {given!r}; wanted a finite number. Calibrate, or write the threshold."
        raise PolicyError(msg)
    return float(given)


def _is_float(number: float) -> bool:
    """Whether a number is finite, as a float too."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _band(
    kind: Kind, tau: float, rho: float | None, data: Mapping[str, Json]
) -> tuple[float | None, float | None, float | None]:
    given = [name for name in ("gap", "low_edge", "high_edge") if data.get(name) is not None]
    if kind is not Kind.BAND:
        if given:
            msg = f"{given[0]} stands in a {kind} policy; only a band has one. Leave it out."
            raise PolicyError(msg)
        return None, None, None
    gap = _finite("gap", data.get("gap"))
    if not 0 <= gap < 1:
        msg = f"gap is {gap}; wanted at least 0 and below 1, such as 0.1."
        raise PolicyError(msg)
    if tau <= 0:
        msg = (
            f"a band around accept = {tau} has no sides: it needs a threshold above 0, so it "
            "cannot be used where higher values are better and positive. Use value_only or "
            "axes_first."
        )
        raise PolicyError(msg)
    if rho is not None:
        msg = (
            f"reject is {rho} in a band policy, which rejects from accept (1 + gap). Leave it out."
        )
        raise PolicyError(msg)
    low, high = tau * (1 - gap), tau * (1 + gap)
    for name, edge in (("low_edge", low), ("high_edge", high)):
        if not math.isfinite(edge) or data.get(name) not in (None, edge):
            msg = (
                f"{name} is {data.get(name)!r} and accept and gap give {edge!r}. Leave {name} out: "
                "it is computed."
            )
            raise PolicyError(msg)
    return gap, low, high


def _limits(kind: Kind, given: Json) -> dict[str, Limit]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = (
            f'diagnostics are {given!r}; wanted limits by name, such as {{"spread": {{"max": 6}}}}.'
        )
        raise PolicyError(msg)
    if given and kind is Kind.VALUE_ONLY:
        msg = (
            "a value_only policy looks at no diagnostic; use band or axes_first, or leave them out."
        )
        raise PolicyError(msg)
    return {str(name): _limit(str(name), limit) for name, limit in given.items()}


def _limit(name: str, given: Json) -> Limit:
    if not isinstance(given, Mapping) or not given or set(given) - {"min", "max"}:
        msg = f'the limit of {name} is {given!r}; wanted {{"max": number}} or {{"min": number}}.'
        raise PolicyError(msg)
    low = _finite(f"min of {name}", given["min"]) if "min" in given else None
    high = _finite(f"max of {name}", given["max"]) if "max" in given else None
    if low is not None and high is not None and low > high:
        msg = f"{name} must lie between {low} and {high}, where nothing lies. Exchange them."
        raise PolicyError(msg)
    return Limit(low, high)


def _on_unmeasured(given: Json) -> Verdict:
    if given not in (Verdict.REVIEW.value, Verdict.REJECT.value):
        msg = f"on_unmeasured is {given!r}; wanted 'review' or 'reject': it is never accepted."
        raise PolicyError(msg)
    return Verdict(str(given))
