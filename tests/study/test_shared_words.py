"""Shared words are weighted by the training folds alone, as counted one by one."""

import math
import re
from collections import Counter

import numpy as np
import pytest

from trueness.study.populations import Population
from trueness.study.protocol import Protocol, codes_of, folds_of
from trueness.study.words import cosines, term_weights, word_counts
from trueness.table.evidence_reading import read_evidence

ROWS = [
    ("Oslo is cold.", ["Oslo lies in Norway.", "It is cold."], "a"),
    ("Rome is warm.", ["Oslo lies in Norway.", "It is cold."], "a"),
    ("The Tiber is long.", ["The Tiber flows."], "b"),
    ("Nothing here.", ["The Tiber flows."], "b"),
    ("Paris, Paris!", ["Paris."], "c"),
    ("?!", ["Paris."], "c"),
]


def population() -> Population:
    table = read_evidence(
        [
            {"item": str(i), "claim": claim, "evidence": shown, "group": group}
            for i, (claim, shown, group) in enumerate(ROWS)
        ]
    )
    return Population("labelled", "own", table, np.arange(len(ROWS)) % 2 == 1)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def by_hand(row: int, learnt: list[int]) -> float | None:
    claim, shown = words(ROWS[row][0]), words(" ".join(ROWS[row][1]))
    seen = Counter(w for i in learnt for w in words(" ".join(ROWS[i][1])))
    weight = {w: math.log((1 + len(learnt)) / (1 + seen[w])) + 1 for w in {*claim, *shown}}
    inner = sum(claim[w] * shown[w] * weight[w] ** 2 for w in claim)
    lengths = [math.sqrt(sum((c[w] * weight[w]) ** 2 for w in c)) for c in (claim, shown)]
    return -inner / (lengths[0] * lengths[1]) if all(lengths) else None


def test_every_claim_is_weighed_as_by_hand() -> None:
    protocol = Protocol(folds=3, repeats=1)
    made = population()
    found = term_weights(made, protocol)
    folds = folds_of(codes_of(made.groups), folds=3, seed=[protocol.seed, 0])
    for row, value in enumerate(found.tolist()):
        learnt = [i for i in range(len(ROWS)) if folds[i] != folds[row]]
        # sets of evidence are counted once a row, as they stand in the training folds
        seen = by_hand(row, learnt)
        if seen is None:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(seen, abs=1e-12)


def test_cosines_are_those_of_dense_rows() -> None:
    one, two = word_counts(["a b b", "c", ""]), word_counts(["b b a", "c c", "a"])
    found = cosines(one[:2, :2], two[:2, :2])
    assert found[0] == pytest.approx(4 / 5)
    assert math.isnan(found[1])
