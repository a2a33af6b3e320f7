"""The one statement of what every policy decides, for one row and for a million."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.contract import Direction, Verdict
from trueness.contract.errors import InvalidReading, PolicyError
from trueness.contract.serial import Json
from trueness.decide.columns import STATES, Columns
from trueness.decide.policy import Kind, Limit, Policy

VERDICTS = (Verdict.ACCEPT, Verdict.REVIEW, Verdict.REJECT)
RULES = (
    "state",
    "routed",
    "diagnostic",
    "below_accept",
    "at_or_above_reject",
    "between",
    "clear_accept",
    "clear_reject",
    "inside_diagnostic",
    "inside_below",
    "inside_above",
)

Bools = NDArray[np.bool_]
_VERDICT = {verdict: code for code, verdict in enumerate(VERDICTS)}
_RULE = {rule: code for code, rule in enumerate(RULES)}


class Ruling(NamedTuple):
    """What happens to one row, and by which rule."""

    verdict: Verdict
    rule: str


@dataclass(frozen=True, slots=True)
class Rulings:
    """What happens to every row: positions in `VERDICTS` and `RULES`."""

    verdict: NDArray[np.int8]
    rule: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.verdict)

    def at(self, row: int) -> Ruling:
        """The ruling of one row."""
        return Ruling(VERDICTS[self.verdict[row]], RULES[self.rule[row]])

    def words(self) -> NDArray[np.str_]:
        """(n,) ``accept``, ``review`` or ``reject``."""
        return np.array([v.value for v in VERDICTS])[self.verdict]

    def counts(self) -> dict[str, int]:
        """How many rows have each verdict."""
        found = np.bincount(self.verdict, minlength=len(VERDICTS)).tolist()
        return {v.value: n for v, n in zip(VERDICTS, found, strict=True)}


def decide(
    policy: Policy,
    row: Mapping[str, Json],
    *,
    direction: Direction = Direction.HIGHER_IS_WORSE,
) -> Ruling:
    """What a policy decides about one row: the first of its clauses that holds.

    Parameters
    ----------
    policy : Policy
    row : mapping
        ``state``, ``value``, and where there are any ``diagnostics`` by name and ``route``, as a
        trace has them.
    direction : Direction
        Which way the value gets worse.

    Raises
    ------
    InvalidReading
        When the row is measured without a finite value, or is no row.

    Examples
    --------
    >>> from trueness.decide.policy import policy_of
    >>> policy = policy_of({"kind": "value_only", "accept": 0.4})
    >>> decide(policy, {"state": "MEASURED", "value": 0.4})
    Ruling(verdict=<Verdict.REVIEW: 'review'>, rule='between')
    """
    return decide_columns(policy, columns_of_rows([row], direction)).at(0)


def decide_columns(policy: Policy, columns: Columns) -> Rulings:
    """What a policy decides about every row; see `decide`."""
    return _decide(policy, columns, columns.risk)


def check_policy(policy: Policy, columns: Columns) -> None:
    """Refuse a policy that asks for a diagnostic that no measured row has.

    Raises
    ------
    PolicyError
        Naming the diagnostic and those there are.
    """
    if not columns.measured.any():
        return
    for name in policy.diagnostics:
        if name not in columns.diagnostics or np.isnan(columns.diagnostics[name]).all():
            known = ", ".join(sorted(columns.diagnostics)) or "none"
            msg = (
                f"the policy limits {name!r}, which no item of this reading has; there are: "
                f"{known}. Measure with that diagnostic, or take the limit out."
            )
            raise PolicyError(msg)


def columns_of_rows(
    rows: Sequence[Mapping[str, Json]], direction: Direction = Direction.HIGHER_IS_WORSE
) -> Columns:
    """Rows as a trace has them, as columns.

    Raises
    ------
    InvalidReading
        When a row's state, value, diagnostics or route is none.
    """
    place = {state.value: code for code, state in enumerate(STATES)}
    try:
        return Columns(
            [str(row.get("item", "")) for row in rows],
            np.fromiter((place[row["state"]] for row in rows), np.int8, len(rows)),  # type: ignore[index] # a wrong key is refused below
            np.array([_number(row.get("value")) for row in rows], dtype=np.float64),
            direction,
            _diagnostics(rows),
            [_route(row.get("route")) for row in rows],
        )
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        msg = (
            f"a row cannot be read: {type(error).__name__} at {error}. Wanted a state, a value or "
            "null, diagnostics by name and a list of route flags."
        )
        raise InvalidReading(msg) from error


def _decide(policy: Policy, columns: Columns, risk: NDArray[np.float64]) -> Rulings:
    verdict = np.full(len(columns), -1, dtype=np.int8)
    rule = np.full(len(columns), -1, dtype=np.int8)
    open_rows = np.ones(len(columns), dtype=np.bool_)
    for name, outcome, holds in _clauses(policy, columns, risk):
        now = open_rows & holds
        verdict[now], rule[now] = _VERDICT[outcome], _RULE[name]
        open_rows &= ~holds
    return Rulings(verdict, rule)


def _clauses(
    policy: Policy, columns: Columns, risk: NDArray[np.float64]
) -> Iterator[tuple[str, Verdict, Bools]]:
    """Rule, verdict and the rows where it holds, in order; the last holds everywhere."""
    everywhere = np.ones(len(columns), dtype=np.bool_)
    yield "state", policy.on_unmeasured, ~columns.measured
    if columns.route is not None:
        yield "routed", Verdict.REVIEW, columns.routed
    if policy.kind is Kind.BAND:
        yield "clear_accept", Verdict.ACCEPT, risk < _edge(policy.low_edge)
        yield "clear_reject", Verdict.REJECT, risk >= _edge(policy.high_edge)
        if policy.diagnostics:
            yield "inside_diagnostic", Verdict.REVIEW, _beyond(policy, columns)
        yield "inside_below", Verdict.ACCEPT, risk < policy.accept
        yield "inside_above", Verdict.REVIEW, everywhere
        return
    if policy.kind is Kind.AXES_FIRST and policy.diagnostics:
        yield "diagnostic", Verdict.REVIEW, _beyond(policy, columns)
    yield "below_accept", Verdict.ACCEPT, risk < policy.accept
    if policy.reject is not None:
        yield "at_or_above_reject", Verdict.REJECT, risk >= policy.reject
    yield "between", Verdict.REVIEW, everywhere


def _beyond(policy: Policy, columns: Columns) -> Bools:
    """Where some diagnostic is beyond its limit or missing."""
    found = np.zeros(len(columns), dtype=np.bool_)
    for name, limit in policy.diagnostics.items():
        values = columns.diagnostics.get(name)
        found |= True if values is None else ~_within(limit, values)
    return found


def _within(limit: Limit, values: NDArray[np.float64]) -> Bools:
    low = -math.inf if limit.low is None else limit.low
    high = math.inf if limit.high is None else limit.high
    within: Bools = (values >= low) & (values <= high)  # a missing one is nan, and not within
    return within


def _edge(edge: float | None) -> float:
    if edge is None:
        msg = "a band policy without edges; make policies with policy_of, which computes them."
        raise PolicyError(msg)
    return edge


def _number(value: Json) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"the value is {value!r}; wanted a number or null."
        raise InvalidReading(msg)
    return float(value)


def _diagnostics(rows: Sequence[Mapping[str, Json]]) -> dict[str, NDArray[np.float64]]:
    found: dict[str, NDArray[np.float64]] = {}
    for place, row in enumerate(rows):
        given = row.get("diagnostics") or {}
        if not isinstance(given, Mapping):
            msg = f"diagnostics are {given!r}; wanted numbers by name."
            raise InvalidReading(msg)
        for name, value in given.items():
            if name not in found:
                found[name] = np.full(len(rows), np.nan)
            found[name][place] = _number(value)
    return found


def _route(given: Json) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, list) and all(isinstance(flag, str) for flag in given):
        return tuple(str(flag) for flag in given)
    msg = f"the route is {given!r}; wanted a list of words."
    raise InvalidReading(msg)
