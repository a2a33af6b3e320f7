"""A made world of vectors in which it is known which claims lie outside their evidence.

Topics, sources, passages and claims are random unit vectors; texts are only their names, so that a
study runs on it exactly as on data with an embedder.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.backends.embedder import Role
from trueness.contract.errors import InputError
from trueness.contract.serial import Json

Floats: TypeAlias = NDArray[np.float64]

DIMENSION, SOURCES, TOPICS, PASSAGES = 64, 200, 20, 4
NOVEL, NEIGHBOUR, BINDING = "novel", "neighbour", "binding"
KINDS = (NOVEL, NEIGHBOUR, BINDING)
"""Ways of being unsupported: new content, a neighbour's evidence, the same content recombined."""
_WORDS = {"": "claim", NOVEL: "fresh", BINDING: "mixed"}
"""Names of claims are equally long, so that their texts tell nothing."""
_TOPIC, _PASSAGE, _SUPPORTED, _NEW = 0.8, 0.7, 0.15, 0.6


@dataclass(frozen=True, slots=True)
class World:
    """Claims of the made world, and the embedder that knows their vectors.

    Parameters
    ----------
    rows : list of mapping
        ``item group claim evidence label kind``, as `read_evidence` takes them.
    embedder : WorldEmbedder
    """

    rows: list[dict[str, Json]]
    embedder: "WorldEmbedder"


class WorldEmbedder:
    """Gives each name of the made world its vector.

    Parameters
    ----------
    vectors : mapping of str to (d,) float64
    seed : int
        Of the world; its revision.
    """

    max_tokens = None
    exact = True

    def __init__(self, vectors: Mapping[str, Floats], seed: int) -> None:
        self._vectors = vectors
        self._seed = seed

    @property
    def identity(self) -> Mapping[str, Json]:
        """Named by the world's seed."""
        return {
            "id": "world:synthetic",
            "revision": f"seed {self._seed}",
            "prefix": {"claim": "", "evidence": ""},
            "pooling": None,
            "normalised": True,
            "dtype": "float64",
            "dimension": DIMENSION,
            "max_tokens": None,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """None but numpy's, which the table records anyway."""
        return {}

    def count_tokens(self, texts: Sequence[str], role: Role) -> tuple[int | None, ...]:
        """Names have no tokens."""
        del role
        return (None,) * len(texts)

    def embed(self, texts: Sequence[str], role: Role) -> Floats:
        """The vectors of names; any other text lies anywhere, always at the same place."""
        del role
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Floats:
        known = self._vectors.get(text)
        if known is not None:
            return known
        drawn = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        return _unit(np.random.default_rng([self._seed, drawn]))


def synthetic_world(seed: int = 0, *, sources: int = SOURCES) -> World:
    """Claims of which it is known how they lie to their evidence.

    A topic is a random unit vector t, a source unit(t + .8 z), a passage unit(s + .7 z); a
    supported claim is a random mixture of its passages with .15 z; ``novel`` adds .6 z to it,
    ``neighbour`` stands against another source of its topic, ``binding`` is another mixture of the
    same passages.

    Parameters
    ----------
    seed : int
    sources : int
        At least two a topic are wanted: 2 * `TOPICS`.

    Raises
    ------
    InputError
        When there are too few sources.

    Examples
    --------
    >>> world = synthetic_world(sources=40)
    >>> len(world.rows), [row["kind"] for row in world.rows[:4]]
    (160, ['supported', 'novel', 'neighbour', 'binding'])
    """
    if sources < 2 * TOPICS:
        msg = f"{sources} sources; wanted at least {2 * TOPICS}: two for each of {TOPICS} topics."
        raise InputError(msg)
    rng = np.random.default_rng(seed)
    topics = [_unit(rng) for _ in range(TOPICS)]
    vectors: dict[str, Floats] = {}
    for number in range(sources):
        source = _toward(topics[number % TOPICS], _TOPIC, rng)
        passages = [_toward(source, _PASSAGE, rng) for _ in range(PASSAGES)]
        vectors |= zip(_passages(number), passages, strict=True)
        claim = _mixture(passages, rng)
        vectors[_claim(number)] = claim
        vectors[_claim(number, NOVEL)] = _toward(claim, _NEW, rng)
        vectors[_claim(number, BINDING)] = _mixture(passages, rng)
    rows = [row for number in range(sources) for row in _rows(number, sources)]
    return World(rows, WorldEmbedder(vectors, seed))


def _rows(number: int, sources: int) -> Iterator[dict[str, Json]]:
    group = f"source {number}"
    yield _row(group, "supported", _claim(number), _passages(number))
    yield _row(group, NOVEL, _claim(number, NOVEL), _passages(number))
    yield _row(group, NEIGHBOUR, _claim(number), _passages((number + TOPICS) % _full(sources)))
    yield _row(group, BINDING, _claim(number, BINDING), _passages(number))


def _row(group: str, kind: str, claim: str, passages: list[str]) -> dict[str, Json]:
    return {
        "item": f"{group} {kind}",
        "group": group,
        "claim": claim,
        "evidence": list[Json](passages),
        "label": "supported" if kind == "supported" else "unsupported",
        "kind": kind,
    }


def _full(sources: int) -> int:
    """Sources in whole rounds of topics: a neighbour is of the same topic then."""
    return sources - sources % TOPICS


def _claim(number: int, kind: str = "") -> str:
    return f"source {number} {_WORDS[kind]}"


def _passages(number: int) -> list[str]:
    return [f"source {number} passage {j}" for j in range(PASSAGES)]


def _mixture(passages: Sequence[Floats], rng: np.random.Generator) -> Floats:
    shares = rng.dirichlet(np.ones(len(passages)))
    return _toward(_scaled(shares @ np.stack(passages)), _SUPPORTED, rng)


def _toward(vector: Floats, share: float, rng: np.random.Generator) -> Floats:
    """A unit vector near another one."""
    return _scaled(vector + share * _unit(rng))


def _unit(rng: np.random.Generator) -> Floats:
    return _scaled(rng.standard_normal(DIMENSION))


def _scaled(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector))
