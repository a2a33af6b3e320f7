"""From verdicts about pairs of answers to classes: no judge is an equivalence by itself."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from trueness.contract.errors import InputError

Judge = Callable[[str, str], bool]
"""Whether the second key says what the first one says: ``judge(one, two)``."""

Mode = Literal["both", "once"]
"""``both``: an edge needs a yes in both directions. ``once``: the judge is declared symmetric and
asked in sorted order only."""

MAX_LISTED = 100
"""So many intransitive triples are named; all are counted."""

Classes = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What a pairwise judge makes of a set of keys. Nothing depends on the order of the keys.

    Parameters
    ----------
    components : tuple of classes
        The finest equivalence that honours every edge. Keys in a class, and classes by their
        first key, are sorted.
    complete_linkage : tuple of classes, or None
        Every pair in a class is an edge; edges are taken in sorted order. None when pairs were
        skipped.
    intransitive_triples : int or None
        Triples of keys with exactly two edges. None when pairs were skipped.
    triples : tuple of (str, str, str)
        The first `MAX_LISTED` of them; the key in the middle has both edges.
    asymmetric_pairs : tuple of (str, str)
        The judge said yes in this direction and no in the other.
    n_calls : int
        How often the judge was asked.
    protocol : mapping of str to str
        ``judge``, ``judge_prompt_hash``, ``judge_mode``: what belongs into the protocol of every
        number that is computed from these classes.
    """

    components: Classes
    complete_linkage: Classes | None
    intransitive_triples: int | None
    triples: tuple[tuple[str, str, str], ...]
    asymmetric_pairs: tuple[tuple[str, str], ...]
    n_calls: int
    protocol: Mapping[str, str]

    @property
    def ambiguous(self) -> bool | None:
        """The two partitions differ, so numbers are given under both; None when one is unknown."""
        return None if self.complete_linkage is None else self.components != self.complete_linkage


def equivalence_from_pairs(
    keys: Iterable[str],
    judge: Judge,
    mode: Mode = "both",
    *,
    judge_name: str = "unknown",
    prompt_hash: str = "unknown",
    skip_connected: bool = False,
) -> Equivalence:
    """Classes of keys from a judge of pairs, and where the judge contradicts itself.

    Parameters
    ----------
    keys : iterable of str
        Answer keys of one item, its golds among them; a gold is a key like any other. Repeats
        are dropped.
    judge : callable
        Asked about every ordered pair of different keys; what it raises is not caught.
    mode : {"both", "once"}
    judge_name, prompt_hash : str
        Identity of the judge and hash of its prompt, for the protocol.
    skip_connected : bool
        Do not ask about keys that are connected already: the components are the same and calls
        are saved, complete linkage and the count of triples are lost.

    Returns
    -------
    Equivalence

    Raises
    ------
    InputError
        For a mode that is not known, a key that is no text, or a verdict that is no bool.

    Examples
    --------
    >>> near = lambda one, two: abs(int(one) - int(two)) <= 1
    >>> found = equivalence_from_pairs(["3", "1", "2"], near, judge_name="within one")
    >>> found.components, found.complete_linkage, found.intransitive_triples
    ((('1', '2', '3'),), (('1', '2'), ('3',)), 1)
    """
    if mode not in get_args(Mode):
        msg = f"mode is {mode!r}; known are 'both' and 'once'. Use 'both' if you do not know."
        raise InputError(msg)
    nodes = _nodes(keys)
    root = {key: key for key in nodes}
    edges: set[tuple[str, str]] = set()
    asymmetric: list[tuple[str, str]] = []
    n_calls = 0
    for one, two in combinations(nodes, 2):
        if skip_connected and _find(root, one) == _find(root, two):
            continue
        forth = _verdict(judge, one, two)
        back = _verdict(judge, two, one) if mode == "both" else forth
        n_calls += 2 if mode == "both" else 1
        if forth and back:
            edges.add((one, two))
            _join(root, one, two)
        elif forth or back:
            asymmetric.append((one, two) if forth else (two, one))
    n_triples, triples = (None, ()) if skip_connected else _intransitive(nodes, edges)
    return Equivalence(
        components=_classes({key: _find(root, key) for key in nodes}),
        complete_linkage=None if skip_connected else _complete_linkage(nodes, edges),
        intransitive_triples=n_triples,
        triples=triples,
        asymmetric_pairs=tuple(sorted(asymmetric)),
        n_calls=n_calls,
        protocol={"judge": judge_name, "judge_prompt_hash": prompt_hash, "judge_mode": mode},
    )


def aliases_of(classes: Classes) -> dict[str, str]:
    """Every key to the first key of its class: an alias table of one item.

    >>> aliases_of((("city of paris", "paris"), ("rome",)))
    {'paris': 'city of paris'}
    """
    return {key: members[0] for members in classes for key in members[1:]}


def _nodes(keys: Iterable[str]) -> list[str]:
    found = set(keys)
    for key in found:
        if not isinstance(key, str):
            msg = f"a key is {key!r}; wanted text. Leave draws without an answer out."
            raise InputError(msg)
    return sorted(found)


def _verdict(judge: Judge, one: str, two: str) -> bool:
    said = judge(one, two)
    if isinstance(said, (bool, np.bool_)):
        return bool(said)
    msg = (
        f"the judge said {said!r} about {one!r} and {two!r}; wanted True or False. Make it decide."
    )
    raise InputError(msg)


def _find(root: dict[str, str], key: str) -> str:
    while root[key] != key:
        root[key] = root[root[key]]
        key = root[key]
    return key


def _join(root: dict[str, str], one: str, two: str) -> None:
    first, second = sorted((_find(root, one), _find(root, two)))
    root[second] = first


def _classes(head: Mapping[str, str]) -> Classes:
    members: dict[str, list[str]] = {}
    for key in sorted(head):
        members.setdefault(head[key], []).append(key)
    return tuple(sorted(tuple(m) for m in members.values()))


def _complete_linkage(nodes: list[str], edges: set[tuple[str, str]]) -> Classes:
    members = {key: [key] for key in nodes}
    head = {key: key for key in nodes}
    for one, two in sorted(edges):
        first, second = head[one], head[two]
        if first == second or not _all_edges(members[first], members[second], edges):
            continue
        members[first] += members.pop(second)
        head.update(dict.fromkeys(members[first], first))
    return _classes(head)


def _all_edges(some: list[str], others: list[str], edges: set[tuple[str, str]]) -> bool:
    return all((min(a, b), max(a, b)) in edges for a in some for b in others)


def _intransitive(
    nodes: list[str], edges: set[tuple[str, str]]
) -> tuple[int, tuple[tuple[str, str, str], ...]]:
    """Paths of two edges whose ends are no edge: how many, and the first ones."""
    near: dict[str, list[str]] = {key: [] for key in nodes}
    for one, two in sorted(edges):
        near[one].append(two)
        near[two].append(one)
    count = 0
    listed: list[tuple[str, str, str]] = []
    for middle in nodes:
        for one, two in combinations(sorted(near[middle]), 2):
            if (one, two) not in edges:
                count += 1
                if len(listed) < MAX_LISTED:
                    listed.append((one, middle, two))
    return count, tuple(listed)
