import numpy as np
import pytest

from trueness.stats.matchings import Edges, heaviest_matching


def heaviest(ends: list[list[int]], weights: list[int]) -> int:
    """Every matching, edge by edge."""
    if not ends:
        return 0
    (u, v), rest = ends[0], ends[1:]
    apart = [i for i, pair in enumerate(rest) if u not in pair and v not in pair]
    taken = heaviest([rest[i] for i in apart], [weights[1:][i] for i in apart])
    return max(heaviest(rest, weights[1:]), weights[0] + taken)


def drawn(rng: np.random.Generator, n: int, m: int) -> Edges:
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    chosen = rng.choice(len(pairs), size=min(m, len(pairs)), replace=False)
    return Edges(pairs[chosen], rng.integers(1, 5, len(chosen)))


def bridged(rng: np.random.Generator) -> Edges:
    """Two heavy triangles and a light bridge: the linear relaxation takes halves of both."""
    ends = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [2, 3]])
    ends = rng.permutation(6)[ends]
    return Edges(ends, np.array([2, 2, 2, 2, 2, 2, 1]))


@pytest.mark.parametrize("max_exact_edges", [2000, 0])
def test_the_limit_is_never_below_any_matching(max_exact_edges: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(500):
        edges = drawn(rng, 8, int(rng.integers(1, 13)))
        found = heaviest_matching(edges, 8, max_exact_edges=max_exact_edges)
        best = heaviest(edges.ends.tolist(), edges.weights.tolist())
        assert found.right.sum() >= best
        assert found.exact == (weight(edges, found.mates.tolist()) == found.right.sum())
        if max_exact_edges:
            assert found.exact
            assert found.right.sum() == best


def weight(edges: Edges, mates: list[int]) -> int:
    pairs = zip(edges.ends.tolist(), edges.weights.tolist(), strict=True)
    assert all(m == -1 or mates[m] == v for v, m in enumerate(mates))  # a matching
    return sum(w for (u, v), w in pairs if mates[u] == v)


def test_halves_of_two_triangles_are_closed_by_whole_numbers_and_labelled_without() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        edges = bridged(rng)
        loose = heaviest_matching(edges, 6, max_exact_edges=6)
        assert (loose.right.sum(), loose.exact) == (6, False)
        tight = heaviest_matching(edges, 6)
        assert (tight.right.sum(), tight.exact) == (5, True)


def test_no_edges_match_nobody() -> None:
    found = heaviest_matching(Edges(np.zeros((0, 2), np.int64), np.zeros(0, np.int64)), 3)
    assert found.mates.tolist() == [-1, -1, -1]
    assert found.exact
