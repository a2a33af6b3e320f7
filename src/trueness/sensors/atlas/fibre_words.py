"""What a search of fibres found, as blocks: the finding, the counts, the pairs, what is open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueness.contract import State
from trueness.contract.blocks import Block, Cell, Fact, Facts, Notes, Statement, Table
from trueness.sensors.atlas import words
from trueness.sensors.atlas.draw import MAX_ROWS, cut
from trueness.sensors.atlas.fibre_truths import Truths, table_of
from trueness.stats.cloud_pairs import MOVEMENTS, STILL
from trueness.stats.fibres import FibreCounts, Share

if TYPE_CHECKING:
    from trueness.sensors.atlas.fibres import FibrePair

RECORDED = "for these recorded clouds; nothing is said about the laws that they were drawn from"
_SHOWS_NOT = (
    "Why answers moved: another condition is another prompt, whatever the numbers say.",
    "Which of the two answers is right, where no right answers are known.",
    "Anything about an observer that reads more than the recorded numbers.",
)


@dataclass(frozen=True, slots=True)
class Search:
    """What was found.

    Parameters
    ----------
    counts : FibreCounts
        Of cells beside the first condition of their item.
    pairs : tuple of FibrePair
        Auditable ones first, the farthest apart first.
    near : float or None
        How far numbers may lie apart; None: equal to the byte.
    nearest : float or None
        Of two conditions of an item; known where no pair was found.
    missing : mapping of str to int
        What is missing of the provenance, in how many cells.
    alpha : float
    needed : int or None
        Draws a cell from which as many pairs can be told from chance.
    truths : Truths
        Of items within a condition.
    """

    counts: FibreCounts
    pairs: "tuple[FibrePair, ...]"
    near: float | None
    nearest: float | None
    missing: Mapping[str, int]
    alpha: float
    needed: int | None
    truths: Truths

    @property
    def moved(self) -> Share:
        """Flat cells that moved; with a tolerance pairs, which have no interval."""
        if self.near is None:
            return self.counts.moved
        whole = [pair for pair in self.pairs if pair.auditable]
        moved = sum(pair.movement != MOVEMENTS[STILL] for pair in whole)
        return Share(moved, len(whole), None, None)

    @property
    def n_told(self) -> int:
        """Pairs whose clouds are told from one cloud split in two, after Holm over all pairs."""
        return sum(pair.p_holm is not None and pair.p_holm <= self.alpha for pair in self.pairs)

    @property
    def can_tell(self) -> bool:
        """Whether any pair could have been, with so many draws and pairs."""
        floors = [pair.floor for pair in self.pairs if pair.p is not None]
        return bool(floors) and min(floors) * len(floors) <= self.alpha


def blocks_of(state: State, reason: str | None, found: Search) -> tuple[Block, ...]:
    """Everything that a page shows of a search."""
    tone = "neutral" if state is State.MEASURED else "problem"
    head = Statement(_said(state, reason, found), tone, tuple(_next(state, found)))
    pairs = (_table(found), Notes("What these draws can tell", tuple(_power(found))))
    return (
        head,
        _facts(found),
        *(pairs if found.pairs else ()),
        *((table_of(found.truths),) if found.truths.n_pairs else ()),
        Notes("Does not show", _SHOWS_NOT, "blind_spots"),
    )


def _said(state: State, reason: str | None, found: Search) -> str:
    truths = found.truths.said()
    if state is not State.MEASURED:
        return f"No fibre of the observer could be searched: {reason}. {truths}".strip()
    moved = found.moved
    where = (
        "cells whose observer stood still to the byte"
        if found.near is None
        else f"pairs of conditions whose numbers lie within {found.near:g} of one another"
    )
    said = f"Answers moved in {moved.count} of {moved.of} {where} ({RECORDED}). {_told(found)}"
    return f"{said} {truths}".strip()


def _told(found: Search) -> str:
    """How many pairs are more than one law drawn twice."""
    tested = [pair for pair in found.pairs if pair.p is not None]
    if not tested:
        return "Nothing is tested: greedy answers are one answer, however often."
    if not found.can_tell:
        return f"No pair of {_draws(tested)} can be told from one law drawn twice."
    return f"{found.n_told} of {len(tested)} pairs are told from one law drawn twice."


def _draws(pairs: "Sequence[FibrePair]") -> str:
    counts = sorted({n for pair in pairs for n in pair.draws})
    return f"{counts[0]} draws" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} draws"


def _next(state: State, found: Search) -> Iterator[str]:
    if state is not State.MEASURED and found.nearest is not None:
        yield (
            f"The nearest two conditions of an item differ by {found.nearest:.4g} in some number; "
            "--near X searches pairs within X."
        )


def _power(found: Search) -> Iterator[str]:
    tested = [pair for pair in found.pairs if pair.p is not None]
    greedy = len(found.pairs) - len(tested)
    if greedy:
        yield (
            f"{greedy} of {len(found.pairs)} pairs hold greedy answers: many of them are one "
            "answer, and nothing is tested. Ask with --temperature and --epochs."
        )
    if not tested:
        return
    least = min(pair.floor for pair in tested)
    if found.can_tell:
        yield (
            f"{found.n_told} of {len(tested)} pairs are told from one law drawn twice: exact "
            f"permutation of their draws, Holm over all pairs, p at most {found.alpha:.3g}. The "
            f"least p that such clouds can give is {least:.2g}."
        )
    else:
        more = f"; {found.needed} draws of each would do" if found.needed else ""
        yield (
            f"No pair can be told from one law drawn twice: the least p of {_draws(tested)} is "
            f"{least:.2g}, and over {len(tested)} pairs that is no evidence{more}."
        )


def _table(found: Search) -> Table:
    near, told = found.near is not None, any(pair.rights is not None for pair in found.pairs)
    heads = ["item", "one condition", "another", *(["distance"] if near else [])]
    heads += ["TV", "movement", "p", "p (Holm)", "least p", "error floor"]
    heads += ["right", "right beyond these draws"] if told else []
    heads.append("audit")
    rows = tuple(tuple(_row(pair, near=near, told=told)) for pair in found.pairs[:MAX_ROWS])
    who = "whoever tells numbers so near apart by nothing" if near else "whoever reads them alone"
    note = (
        f"Error floor: half the distance. By at least so much {who} errs on one of the two, "
        f"{RECORDED}."
    )
    if told:
        note += (
            " Right: shares of right draws, and half of what they differ by at least beyond these "
            "draws, 0 where their intervals overlap."
        )
    title = "Pairs within the tolerance" if near else "Pairs in one fibre"
    return Table(title, tuple(heads), rows, len(found.pairs), note, per_item=True)


def _row(pair: "FibrePair", *, near: bool, told: bool) -> Iterator[Cell]:
    yield cut(pair.item)
    yield from map(cut, pair.conditions)
    if near:
        yield _rounded(pair.distance)
    yield _rounded(pair.tv)
    yield pair.movement
    yield from (_rounded(p) for p in (pair.p, pair.p_holm, pair.floor, pair.error_floor))
    if told:
        yield None if pair.rights is None else " and ".join(f"{share:.3g}" for share in pair.rights)
        yield None if pair.gap is None else _rounded(pair.gap / 2)
    yield "whole" if pair.auditable else "incomplete"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _facts(found: Search) -> Facts:
    counts = found.counts
    facts = [Fact("cells", str(counts.n_cells), "conditions beside the first, over all items")]
    facts.append(Fact("incomplete", str(counts.incomplete), "in no rate"))
    facts += [Fact(f"without {part}", f"{n:,}", "cells") for part, n in found.missing.items()]
    for name in ("flat", "moved", "shape", "identity"):
        share: Share = getattr(counts, name)
        ends = None if share.low is None or share.high is None else (share.low, share.high)
        facts.append(Fact(name, f"{share.count} of {share.of}", words.interval(ends)))
    return Facts("What became of the cells", tuple(facts))
