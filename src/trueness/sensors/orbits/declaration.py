"""What the caller declares about the truth. Everything certified follows from it."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from numbers import Integral, Real
from typing import Self

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.stats.ceilings import MAX_DELTA
from trueness.table.relations import Relation as RelationFile

Key = Callable[[str], str | None]
"""From text to its canonical answer key; None when nothing is left."""


class Kind(StrEnum):
    """What the question asks for, as a relation between entities and right answers."""

    SINGLE_VALUED = "single_valued"
    INJECTIVE = "injective"
    CAPACITY = "capacity"
    INCREASING = "increasing"
    DECREASING = "decreasing"
    INVOLUTION = "involution"
    METRIC = "metric"


MOST = 10**12
"""No limit or slack is larger; beyond it whole numbers no longer add up safely."""

ORDERED = frozenset({Kind.INCREASING, Kind.DECREASING})
NUMERIC = ORDERED | {Kind.METRIC}
COUNTED = frozenset({Kind.SINGLE_VALUED, Kind.INJECTIVE, Kind.CAPACITY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Assumptions about the right answers, as the caller says them. Nothing is assumed silently.

    Answers stand here as text; the sensor keys them by the rules that keyed the table.

    Parameters
    ----------
    relation : str
        One of `Kind`.
    default_capacity : int, None or "by relation"
        For how many entities an unlisted answer may be right; None is any number. By relation: 1
        if injective, any otherwise.
    capacities : mapping of answer to int
        Upper limits.
    closed : bool
        Unlisted answers are nobody's.
    admissible : collection of answers or None
        Closed list, each answer right for at most one entity.
    golds : collection of answers or None
        All right answers with their multiplicities, unpaired.
    lower : mapping of answer to int
        The answer is right for at least so many of the declared entities, asked or not.
    slack : int
        At most so many entities break the upper limits, the echo or the filler rule.
    candidates : mapping of entity to answers
        The only answers that can be right for it.
    rows_per_entity : int or mapping of entity to int
        How many right answers an entity may have at most.
    identity : "allowed", "never", collection of entities, or None
        Whether an entity may be its own answer, or which may. None: not declared, as allowed.
    filler : collection of answers
        Answers that are nobody's.
    values, strict, low, high :
        Ordered relations: ``"real"`` or ``"integer"``, ties forbidden, limits of the true values.
    same_question : bool or None
        The columns ask the same question. None: taken for granted when they come from a
        template, epoch or model column, and then printed.
    fixed_points : bool
        Involutions: an entity may be its own partner.
    answers_asked_back : collection of answers or None
        The answers that the inverse questions were about.
    separation, tolerance_radius : number or text
        Metric answers: true values are more than ``separation`` apart; right within the radius.
    entities : collection of str or None
        All declared entities in order, asked or not. None: those in the table.
    kind : "exact" or "relaxation"
        Whether the certificate is computed exactly or by its cheaper, sound relaxation.
    delta : float or None
        Answers are independent draws: also give the accuracy they exceed with probability at
        most ``delta / contrasts``, in (0, 1/4). None gives no such ceiling.
    contrasts : int
        How many conditions are compared with ceilings.

    Raises
    ------
    InputError
        For limits or combinations that mean nothing; says which and what to change.
    """

    relation: str = Kind.SINGLE_VALUED
    default_capacity: int | str | None = "by relation"
    capacities: Mapping[str, int] = field(default_factory=dict)
    closed: bool = False
    admissible: Collection[str] | None = None
    golds: Collection[str] | None = None
    lower: Mapping[str, int] = field(default_factory=dict)
    slack: int = 0
    candidates: Mapping[str, Collection[str]] = field(default_factory=dict)
    rows_per_entity: int | Mapping[str, int] = 1
    identity: str | Collection[str] | None = None
    filler: Collection[str] = ()
    values: str = "real"
    strict: bool = True
    low: float | str | None = None
    high: float | str | None = None
    same_question: bool | None = None
    fixed_points: bool = False
    answers_asked_back: Collection[str] | None = None
    separation: float | str | None = None
    tolerance_radius: float | str = 0
    entities: Collection[str] | None = None
    kind: str = "exact"
    delta: float | None = None
    contrasts: int = 1

    def __post_init__(self) -> None:
        _check_names(self)
        _check_lists(self)
        _check_limits(self)
        _check_combinations(self)

    @property
    def unlisted_capacity(self) -> int | None:
        """Upper limit of an answer without a limit of its own; None is any number."""
        if self.is_closed:
            return 0
        if isinstance(self.default_capacity, str):
            return 1 if self.relation == Kind.INJECTIVE else None
        return self.default_capacity

    @property
    def is_closed(self) -> bool:
        """Whether answers outside of the list are nobody's."""
        return self.closed or self.admissible is not None or self.golds is not None

    @property
    def counts_up(self) -> bool:
        """Whether right answers are ordered whole numbers between two limits: a finite list."""
        limited = self.low is not None and self.high is not None
        return self.relation in ORDERED and self.values == "integer" and limited

    @property
    def many_rows(self) -> bool:
        """Whether some entity may have several right answers."""
        rows = self.rows_per_entity
        return rows > 1 if isinstance(rows, int) else any(r > 1 for r in rows.values())

    @property
    def declares_nothing(self) -> bool:
        """Whether no certificate can come out of a single column."""
        return self == Declaration(kind=self.kind, delta=self.delta, contrasts=self.contrasts)

    def opened(self) -> "Declaration":
        """The same without any list of admissible answers: what collisions alone prove."""
        return replace(
            self, closed=False, admissible=None, golds=None, lower={}, capacities=self.capacities
        )

    def said(self) -> dict[str, Json]:
        """The fields that differ from their defaults, as plain JSON, for the protocol."""
        default = Declaration()
        out: dict[str, Json] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if value != getattr(default, f.name):
                out[f.name] = _plain_field(value)
        return out

    @classmethod
    def from_relation(
        cls, relation: RelationFile, *, observable: str = "string", **overrides: object
    ) -> Self:
        """What a relation file declares for an observable; other keyword arguments win."""
        values: dict[str, object] = {
            "relation": _KIND_OF_FILE.get(relation.kind, relation.kind),
            "entities": relation.entities,
        }
        return cls(**{**values, **_from_file(relation, observable), **overrides})  # type: ignore[arg-type]


_KIND_OF_FILE = {"many_to_one": Kind.CAPACITY, "set_valued": Kind.CAPACITY}
_OF_ORDER = ("values", "strict", "low", "high")


def _from_file(relation: RelationFile, observable: str) -> dict[str, object]:
    """The declaration that follows from a relation file's kind, golds and limits."""
    golds = [g for accepted in relation.golds for g in accepted]
    out: dict[str, object] = {}
    identity = relation.identity.get(observable)
    if identity is not None and relation.kind != Kind.INVOLUTION:
        out["identity"] = identity
    if relation.kind == Kind.INVOLUTION:
        out["closed"] = bool(golds) and set(golds) <= set(relation.entities)
    elif relation.kind in ORDERED:
        values = relation.values or {}
        out |= {
            "values": values.get("type", "real"),
            "strict": values.get("strict", True),
            "low": values.get("low"),
            "high": values.get("high"),
        }
    elif relation.kind == "set_valued":
        out["rows_per_entity"] = _rows(relation)
        out |= {"capacities": relation.capacities or dict(Counter(golds)), "closed": True}
    elif golds:
        out["golds"] = golds
    return out


def _rows(relation: RelationFile) -> dict[str, int]:
    rows = relation.rows_per_entity or tuple(max(1, len(g)) for g in relation.golds)
    return dict(zip(relation.entities, rows, strict=True))


def _check_names(d: Declaration) -> None:
    if d.relation not in set(Kind):
        msg = f"relation is {d.relation!r}; choose one of {', '.join(Kind)}."
        raise InputError(msg)
    if d.kind not in {"exact", "relaxation"}:
        msg = f"kind is {d.kind!r}; choose exact or relaxation."
        raise InputError(msg)
    if d.values not in {"real", "integer"}:
        msg = f"values is {d.values!r}; choose real or integer."
        raise InputError(msg)
    if isinstance(d.default_capacity, str) and d.default_capacity != "by relation":
        msg = f"default_capacity is {d.default_capacity!r}; give a whole number or None."
        raise InputError(msg)
    if isinstance(d.identity, str) and d.identity not in {"allowed", "never"}:
        msg = (
            f"identity is {d.identity!r}; choose allowed or never, or give a list of the "
            "entities that may be their own answer."
        )
        raise InputError(msg)


_LISTS = ("admissible", "golds", "filler", "answers_asked_back", "entities")


_PAIRS = {
    "capacities": "from each answer to a whole number",
    "lower": "from each answer to a whole number",
    "candidates": "from each entity to the list of its candidates",
}
_YES_OR_NO = ("closed", "strict", "fixed_points")


def _check_lists(d: Declaration) -> None:
    for name, wanted in _PAIRS.items():
        _check_pairs(name, getattr(d, name), wanted)
    for name in _LISTS:
        if getattr(d, name) is not None:
            _check_texts(name, getattr(d, name))
    if d.identity is not None and not isinstance(d.identity, str):
        _check_texts("identity", d.identity)
    for entity, answers in d.candidates.items():
        _check_texts(f"candidates[{entity!r}]", answers)
    for name in _YES_OR_NO:
        if not isinstance(getattr(d, name), bool):
            msg = f"{name} is {getattr(d, name)!r}; True or False is wanted."
            raise InputError(msg)


def _check_pairs(name: str, value: object, wanted: str) -> None:
    if not isinstance(value, Mapping):
        msg = f"{name} is a {type(value).__name__}; a mapping {wanted} is wanted."
        raise InputError(msg)
    for key in value:
        if not isinstance(key, str):
            msg = f"{name} names {key!r}; every name must be text."
            raise InputError(msg)


def _check_texts(name: str, value: object) -> None:
    if isinstance(value, str):
        msg = f"{name} is the text {value!r}; a list of texts is wanted: [{value!r}]."
        raise InputError(msg)
    if not isinstance(value, Collection):
        msg = f"{name} is {value!r}; a list of texts is wanted."
        raise InputError(msg)
    for position, entry in enumerate(value):
        if not isinstance(entry, str):
            msg = f"{name}[{position}] is {entry!r}; every entry must be text."
            raise InputError(msg)


def _check_limits(d: Declaration) -> None:
    for name in ("capacities", "lower"):
        for answer, limit in getattr(d, name).items():
            _check_whole(f"{name}[{answer!r}]", limit)
    _check_whole("slack", d.slack)
    _check_whole("contrasts", d.contrasts, least=1)
    _check_delta(d.delta)
    if not isinstance(d.default_capacity, str) and d.default_capacity is not None:
        _check_whole("default_capacity", d.default_capacity)
    rows = d.rows_per_entity
    each: Mapping[str, int] = rows if isinstance(rows, Mapping) else {"": rows}
    for entity, r in each.items():
        _check_whole(f"rows_per_entity of {entity!r}" if entity else "rows_per_entity", r, least=1)


def _check_delta(delta: object) -> None:
    if delta is None:
        return
    is_number = isinstance(delta, Real) and not isinstance(delta, bool)
    if not is_number or not 0 < delta < MAX_DELTA:  # type: ignore[operator] # it is a number
        msg = (
            f"delta is {delta!r}; a number above 0 and below 1/4 is wanted, where the ceiling is "
            "proved. Use 0.05."
        )
        raise InputError(msg)


def _check_whole(name: str, value: object, least: int = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        msg = f"{name} is {value!r}; a whole number of at least {least} is wanted."
        raise InputError(msg)
    if int(value) > MOST:
        msg = f"{name} is {value!r}; at most {MOST} is wanted. More entities than that never come."
        raise InputError(msg)


def _check_combinations(d: Declaration) -> None:
    if d.slack and d.lower:
        msg = "slack together with lower limits proves nothing definite; declare one of them."
        raise InputError(msg)
    if d.lower and d.many_rows:
        msg = (
            "lower limits need one right answer per entity; leave them out or set "
            "rows_per_entity to 1."
        )
        raise InputError(msg)
    if d.slack and d.relation not in COUNTED:
        msg = f"slack has no meaning for a relation that is {d.relation}; leave it at 0."
        raise InputError(msg)
    if d.relation == Kind.METRIC and d.separation is None:
        msg = "a metric relation needs separation: how far apart two true values are at least."
        raise InputError(msg)
    given = [n for n in ("admissible", "golds") if getattr(d, n) is not None]
    if len(given) > 1:
        msg = "admissible and golds both list the right answers; give one of them."
        raise InputError(msg)


def _plain_field(value: object) -> Json:
    if isinstance(value, Mapping):
        return {str(k): _plain_field(v) for k, v in value.items()}
    if isinstance(value, Collection) and not isinstance(value, str):
        return [_plain_field(v) for v in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)
