"""From one or two tables to clouds that share items and classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.sensors.atlas.params import Params
from trueness.sensors.atlas.protocols import Compared, compare_protocols, flat
from trueness.sensors.atlas.rights import Rights, rights_of
from trueness.stats.clouds import Clouds
from trueness.table import NULL, OUTCOMES, AnswerTable, Column, Outcome, Protocol
from trueness.table.tallies import by_outcome

ANSWERED, ERROR = OUTCOMES.index(Outcome.ANSWERED), OUTCOMES.index(Outcome.ERROR)
NO_ANSWER = OUTCOMES.index(Outcome.NO_ANSWER)
UNREAD = "no_candidate"
"""Reason of a draw whose text holds nothing that the rules take for an answer."""
GREEDY = "greedy"
"""Condition under which files keep one greedy answer an item."""
NONE_OUTCOMES = (Outcome.NO_ANSWER.value, Outcome.REFUSED.value, Outcome.TRUNCATED.value)
"""Why there was no answer: one class together, or one each."""
_SHOWN = 3

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """The draws of one checkpoint.

    Parameters
    ----------
    table : AnswerTable
        The rows that were drawn, of one condition.
    clouds : Clouds
        Over the items of the atlas; ``error`` rows are in no count.
    missing : (n_items,) int64
        Draws that failed, or that were planned and are not there.
    greedy : (n_items,) int8 or None
        Role of the greedy answer; -1 where there is none.
    protocol : mapping
        Its fields, flat.
    reasons : mapping of str to int
        Draws without an answer, by outcome and reason.
    stopped_by : str or None
        The rule that stopped draws early, where one did.
    """

    table: AnswerTable
    condition: str
    clouds: Clouds
    missing: Ints
    greedy: NDArray[np.int8] | None
    protocol: Mapping[str, Json]
    reasons: Mapping[str, int]
    stopped_by: str | None

    def take(self, items: NDArray[np.intp]) -> "Arm":
        """The same arm over some of the items."""
        return replace(
            self,
            clouds=self.clouds.take(items),
            missing=self.missing[items],
            greedy=None if self.greedy is None else self.greedy[items],
        )

    @property
    def one_draw(self) -> bool:
        """Whether repeated draws of this arm say nothing: greedy, cached, or declared so."""
        said = self.protocol.get("independent_draws")
        return said is False or self.protocol.get("temperature") == 0

    @property
    def served_from_a_cache(self) -> bool:
        """Every item with several draws got one answer, though they were sampled."""
        several = self.clouds.draws > 1
        per_item = np.bincount(self.clouds.item, minlength=self.clouds.n_items)
        same_key = several.any() and (per_item[several] == 1).all()
        return bool(same_key and _same_texts(self.table))


@dataclass(frozen=True, slots=True, eq=False)
class Atlas:
    """One or two arms over the same items, with their names and groups.

    ``unpaired`` are the items that only one of two tables holds, before and after.
    """

    items: tuple[str, ...]
    arms: tuple[Arm, ...]
    rights: Rights
    group: Ints | None
    n_groups: int
    unpaired: tuple[tuple[str, ...], ...]
    words: "Words"

    @property
    def n_items(self) -> int:
        """Items that every arm holds."""
        return len(self.items)

    def take(self, keep: NDArray[np.bool_]) -> "Atlas":
        """Some of the items."""
        where = np.flatnonzero(keep)
        return replace(
            self,
            items=tuple(self.items[i] for i in where.tolist()),
            arms=tuple(arm.take(where) for arm in self.arms),
            rights=self.rights.take(where),
            group=None if self.group is None else self.group[where],
        )

    @property
    def premise(self) -> bool:
        """Whether no answer is the right outcome of every item."""
        return bool(len(self.items)) and bool(self.rights.premise.all())

    def strata(self) -> tuple["Atlas", "Atlas | None"]:
        """Items whose right outcome is an answer, and those where it is none; never averaged."""
        premise = self.rights.premise
        if not premise.any() or premise.all():
            return self, None
        return self.take(~premise), self.take(premise)


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Texts of the classes that both arms share."""

    columns: tuple[Column[str], ...]
    reasons: tuple[str, ...]

    @property
    def none(self) -> int:
        """Code of the class of no answer."""
        return sum(len(c.words) for c in self.columns)

    @property
    def gold(self) -> int:
        """Code of the class of every item's right answers."""
        return self.none + 1 + len(self.reasons)

    def text(self, code: int) -> str | None:
        """The key of a class; None for no answer."""
        for column in self.columns:
            if code < len(column.words):
                return str(column.words[code])
            code -= len(column.words)
        return None if code == 0 else self.reasons[code - 1]


def atlas_of(tables: Sequence[AnswerTable], params: Params) -> Atlas:
    """The clouds of one table, or of two paired on their items.

    Raises
    ------
    InputError
        No common item, too few of them, items whose prompt or gold differs, a group or a gold
        that changes inside an item, several conditions and none named, clouds that were stopped
        early.
    """
    drawn = [_drawn(table, params) for table in tables]
    names = [_item_names(table) for _, table in drawn]
    items, unpaired = _paired(names, params.min_overlap)
    rows = [_on_items(table, items) for _, table in drawn]
    words = _words([t for t, _ in rows], params)
    if len(rows) == 2:  # noqa: PLR2004 - a pair
        _same_prompts(rows, items)
    rights = rights_of(rows, words, items)
    group, n_groups = _groups(rows, items)
    arms = tuple(
        _arm(table, name, row, rights=rights, params=params, side=side)
        for side, ((name, _), table, row) in enumerate(zip(drawn, tables, rows, strict=True))
    )
    return Atlas(items, arms, rights, group, n_groups, unpaired, words)


def _drawn(table: AnswerTable, params: Params) -> tuple[str, AnswerTable]:
    """The condition whose draws are the clouds, and its rows."""
    if params.only is not None:
        return params.only, table.only(params.only)
    names = table.conditions
    if len(names) == 1:
        return names[0], table
    asked = {params.greedy_before, params.greedy_after, GREEDY}
    named = [n for n in names if n not in asked]
    for rest in ([n for n in named if not _is_greedy(table, n)], named):
        if len(rest) == 1:
            return rest[0], table.only(rest[0])
    msg = (
        f"the table holds {len(names)} conditions ({', '.join(names[:5])}). "
        "Leave the rows of the one whose draws are meant in the file, or name it where that can be "
        "said: compare --only NAME, measure -P only=NAME."
    )
    raise InputError(msg)


def clouds_of(tables: Sequence[AnswerTable], params: Params) -> tuple[Clouds, ...]:
    """The clouds of tables over the items that all of them hold.

    Raises
    ------
    ProtocolError
        When two tables were not drawn under one protocol.
    InputError
        As `atlas_of`.
    """
    arms = atlas_of(tables, params).arms
    if len(arms) == 2:  # noqa: PLR2004 - a pair
        check_protocols(arms, tables, params)
    return tuple(arm.clouds for arm in arms)


def check_protocols(arms: Sequence[Arm], tables: Sequence[AnswerTable], params: Params) -> Compared:
    """What differs between the protocols of two arms beside the checkpoint.

    Raises
    ------
    ProtocolError
        When a field differs that was not allowed to.
    InputError
        When a field is allowed to differ that neither protocol has.
    """
    return compare_protocols(
        arms[0].protocol,
        arms[1].protocol,
        extractors=(tables[0].extractor, tables[1].extractor),
        allowed=params.allow_differ,
    )


def conditions_of(table: AnswerTable, params: Params) -> dict[str, AnswerTable]:
    """Each condition whose draws are clouds, with its rows; greedy answers go with a single one."""
    names = table.conditions
    if params.only is not None:
        return {params.only: table.only(params.only)}
    rest = [n for n in names if n != GREEDY and not _is_greedy(table, n)]
    if len(rest) == 1 or len(names) == 1:
        return {(rest or list(names))[0]: table}
    return {name: table.only(name) for name in rest or names}


def _is_greedy(table: AnswerTable, condition: str) -> bool:
    return flat(table.protocols.get(condition, Protocol())).get("temperature") == 0


def _item_names(table: AnswerTable) -> dict[str, int]:
    """Items that have rows, in order of first appearance, with their codes."""
    codes, first = np.unique(table.item.codes, return_index=True)
    ordered = codes[np.argsort(first)].tolist()
    return {str(table.item.words[c]): c for c in ordered}


def _paired(
    names: Sequence[Mapping[str, int]], least: float
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    if len(names) == 1:
        return tuple(names[0]), ((),)
    one, two = names
    common = tuple(n for n in one if n in two)
    alone = (tuple(n for n in one if n not in two), tuple(n for n in two if n not in one))
    if not common:
        shown = " and ".join(", ".join(map(repr, list(n)[:_SHOWN])) for n in names)
        msg = (
            f"the tables have no item in common: {shown}. Compare answers to the same items; of "
            "tables that are no logs, --item names the column."
        )
        raise InputError(msg)
    larger = max(len(one), len(two))
    if len(common) < least * larger:
        msg = (
            f"{len(common)} items are in both tables, of {len(one)} before and {len(two)} after: "
            f"under {100 * least:g} % of the larger. Check that the items are the same, or lower "
            "--min-overlap."
        )
        raise InputError(msg)
    return common, alone


def _on_items(table: AnswerTable, items: tuple[str, ...]) -> tuple[AnswerTable, Ints]:
    """The rows of some items, and the position of each row's item."""
    position = {name: i for i, name in enumerate(items)}
    lookup = np.array([position.get(str(w), NULL) for w in table.item.words] or [NULL], np.int64)
    at = lookup[table.item.codes]
    keep = at != NULL
    return (table, at) if keep.all() else (table.take(keep), at[keep])


def _words(tables: Sequence[AnswerTable], params: Params) -> Words:
    apart = params.none_classes == "by_reason"
    return Words(tuple(t.answer for t in tables), NONE_OUTCOMES if apart else ())


def _same_prompts(rows: Sequence[tuple[AnswerTable, Ints]], items: tuple[str, ...]) -> None:
    """Raise `InputError` when items have other prompts in the other table."""
    for name in ("prompt_hash", "doc_hash"):
        hashes = [_by_item(t.extras.get(name), at, len(items)) for t, at in rows]
        if hashes[0] is None or hashes[1] is None:
            continue
        pairs = zip(items, hashes[0], hashes[1], strict=True)
        differ = [(i, a, b) for i, a, b in pairs if a and b and a != b]
        if differ:
            shown = "; ".join(f"{i!r}: {a[:16]} and {b[:16]}" for i, a, b in differ[:_SHOWN])
            msg = (
                f"{len(differ)} items have another {name} after than before ({shown}). "
                "Compare answers to the same prompts."
            )
            raise InputError(msg)


def _by_item(column: Column[str] | None, at: Ints, n_items: int) -> list[str | None] | None:
    if column is None:
        return None
    code = np.full(n_items, NULL, np.int64)
    known = column.codes != NULL
    code[at[known]] = column.codes[known]
    return [None if c == NULL else str(column.words[c]) for c in code.tolist()]


def _groups(
    rows: Sequence[tuple[AnswerTable, Ints]], items: tuple[str, ...]
) -> tuple[Ints | None, int]:
    """The group of every item, numbered; None where no table has groups."""
    found: dict[str, int] = {}
    group = np.full(len(items), NULL, np.int64)
    for table, at in rows:
        if table.group is None:
            continue
        lookup = [found.setdefault(str(w), len(found)) for w in table.group.words]
        mine = np.array([*lookup, NULL], np.int64)[table.group.codes]
        known = mine != NULL
        group[at[known]] = mine[known]
        wrong = known & (group[at] != mine)
        if wrong.any():
            row = int(np.argmax(wrong))
            msg = (
                f"item {items[at[row]]!r} stands in two groups, "
                f"{table.group[row]!r} and another; a group holds whole items. Name the column "
                "with --group."
            )
            raise InputError(msg)
    if (group == NULL).all():
        return None, 0
    alone = group == NULL  # an item without a group is a group of its own
    group[alone] = len(found) + np.arange(int(alone.sum()))
    numbers, group = np.unique(group, return_inverse=True)
    return group.astype(np.int64), len(numbers)


def _arm(
    table: AnswerTable,
    condition: str,
    row: tuple[AnswerTable, Ints],
    *,
    rights: Rights,
    params: Params,
    side: int,
) -> Arm:
    kept, at = row
    protocol = flat(table.protocols.get(condition, Protocol()))
    stopped = _stopped_by(kept)
    if params.first is not None:
        _check_first(params.first, stopped, protocol)
        _check_single(kept, params.first)
        early = kept.epoch <= params.first
        kept, at = kept.take(early), at[early]
        stopped = None
    came = kept.outcome != ERROR
    n_items = len(rights.known)
    clouds = Clouds.of(
        at[came],
        rights.classes(side, kept, at)[came],
        rights.roles(side, kept, at)[came],
        n_items=n_items,
        weight=None if kept.weight is None else kept.weight[came],
        gold_known=rights.known,
    )
    greedy_name = (params.greedy_before, params.greedy_after)[side]
    return Arm(
        table=kept,
        condition=condition,
        clouds=clouds,
        missing=_missing(kept, at, clouds, table.planned.get(condition), params.first),
        greedy=_greedy(table, condition, greedy_name, rights, side),
        protocol=protocol,
        reasons=_reasons(kept),
        stopped_by=stopped,
    )


def _stopped_by(table: AnswerTable) -> str | None:
    column = table.extras.get("stopped_by")
    if column is None or (column.codes == NULL).all():
        return None
    return str(column[int(np.argmax(column.codes != NULL))])


def _check_first(first: int, stopped: str | None, protocol: Mapping[str, Json]) -> None:
    """Raise `InputError` when the first draws are no honest sample."""
    if stopped is None:
        return
    least = protocol.get("min_draws")
    if not isinstance(least, int):
        msg = (
            f"draws were stopped early by {stopped!r}, and the protocol does not declare "
            "min_draws, the least number at which that rule can stop. The smallest number seen "
            "is no substitute: it was chosen by the draws. Declare min_draws in the protocol."
        )
        raise InputError(msg)
    if first > least:
        msg = (
            f"--first {first} takes more draws than the {least} at which {stopped!r} can stop; "
            f"the draws beyond were chosen by the answers. Take --first {least} at most."
        )
        raise InputError(msg)


def _check_single(table: AnswerTable, first: int) -> None:
    """Raise `InputError` when rows stand for several draws, whose order is not known."""
    if table.weight is not None and (table.weight > 1).any():
        msg = (
            f"--first {first} needs draws in the order they were drawn; this table counts equal "
            "draws. Give one row a draw, or leave --first out."
        )
        raise InputError(msg)


def _missing(
    table: AnswerTable, at: Ints, clouds: Clouds, planned: int | None, first: int | None
) -> Ints:
    """Failed draws of each item, or as many as were planned and are not there."""
    weight = None if table.weight is None else table.weight[table.outcome == ERROR]
    failed = np.bincount(at[table.outcome == ERROR], weight, minlength=clouds.n_items)
    missing = failed.astype(np.int64)
    if planned is None:
        return missing
    wanted = planned if first is None else min(planned, first)
    return np.maximum(missing, wanted - clouds.draws)


def _greedy(
    table: AnswerTable, condition: str, name: str | None, rights: Rights, side: int
) -> NDArray[np.int8] | None:
    """The role of every item's greedy answer; None where there is no greedy condition."""
    names = table.conditions
    if name is None:
        found = [n for n in names if n == GREEDY] or [n for n in names if _is_greedy(table, n)]
        if not found:
            return None
        name = found[0] if condition not in found else condition
    rows, at = _on_items(table.only(name), rights.items)
    role = np.full(len(rights.known), NULL, np.int8)
    came = np.flatnonzero(rows.outcome != ERROR)
    order = came[np.argsort(-rows.epoch[came], kind="stable")]  # the first draw is written last
    role[at[order]] = rights.roles(side, rows, at)[order]
    return role


def _reasons(table: AnswerTable) -> dict[str, int]:
    """Draws without an answer, by outcome and reason, most frequent first."""
    quiet = (table.outcome != ANSWERED) & (table.outcome != ERROR)
    return by_outcome(table, quiet)


def failures(table: AnswerTable) -> dict[str, int]:
    """Missing draws by reason, most frequent first."""
    return by_outcome(table, table.outcome == ERROR)


def n_unread(arm: Arm) -> int:
    """Draws whose text is there and in which no rule found an answer."""
    table = arm.table
    if table.completion is None:
        return 0
    missed = [str(w) == UNREAD for w in table.reason.words]
    rows = np.array([*missed, False])[table.reason.codes]
    rows &= (table.outcome == NO_ANSWER) & (table.completion.codes != NULL)
    return int(rows.sum() if table.weight is None else table.weight[rows].sum())


def _same_texts(table: AnswerTable) -> bool:
    """Whether every item got one raw text (or key, where no text is kept) in all its draws."""
    column = table.answer if table.completion is None else table.completion
    came = table.outcome != ERROR
    item, text = table.item.codes[came], column.codes[came]
    last = np.full(len(table.item.words), NULL, np.int64)
    last[item] = text
    return bool((last[item] == text).all())
