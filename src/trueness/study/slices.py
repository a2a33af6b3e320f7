"""Claims with known labels: the shipped slices, a file of the user's, or the made world."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np

from trueness.backends.embedder import Embedder
from trueness.backends.registry import open_embedder
from trueness.backends.vectors import VectorCache
from trueness.collect.embedding import embed_table
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.study.inputs import Inputs
from trueness.study.worlds import synthetic_world
from trueness.table.evidence import EvidenceTable
from trueness.table.evidence_reading import read_evidence

HALUEVAL, HALUEVAL_ANSWERS, PUBMEDQA, BINDING = (
    "halueval_qa",
    "halueval_answers",
    "pubmedqa",
    "binding",
)
SHIPPED: Mapping[str, str] = {
    HALUEVAL: "MIT",
    HALUEVAL_ANSWERS: "MIT",
    PUBMEDQA: "MIT; abstracts are PubMed's",
    BINDING: "Apache-2.0",
}
"""Names of the shipped slices, and their licences.

``halueval_answers`` are the same twins with the answer alone as the claim.
"""
UNSUPPORTED, SUPPORTED = "unsupported", "supported"


@dataclass(frozen=True, slots=True)
class Slice:
    """Claims of one origin.

    Parameters
    ----------
    name : str
    table : EvidenceTable
        With group and label; without vectors until `embedded`.
    sha256 : str
        Of the file that it was read from, or of the rows of a made world.
    licence : str
    n_dropped : mapping of str to int
        Claims of the file that are not in the table, by reason.
    embedder : Embedder or None
        The one that this slice comes with; None where any can embed it.
    """

    name: str
    table: EvidenceTable
    sha256: str
    licence: str
    n_dropped: Mapping[str, int]
    embedder: Embedder | None = None

    @property
    def unsupported(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(n,) Which claims are labelled unsupported."""
        labels = [] if self.table.label is None else self.table.label.values()
        return np.array([label == UNSUPPORTED for label in labels], dtype=np.bool_)

    @property
    def groups(self) -> list[str]:
        """Source of every claim."""
        column = self.table.group
        return [] if column is None else [str(name) for name in column.values()]

    def record(self) -> dict[str, Json]:
        """What the result file says of it."""
        return {
            "id": self.name,
            "sha256": self.sha256,
            "licence": self.licence,
            "n": len(self.table),
            "n_groups": len(set(self.groups)),
            "n_dropped": dict(self.n_dropped),
        }


def slices_of(names: Sequence[str], inputs: Inputs, *, seed: int, most: int) -> tuple[Slice, ...]:
    """The slices that a study runs on.

    Parameters
    ----------
    names : sequence of str
        Shipped slices that the declaration names.
    inputs : Inputs
        A file or a world takes their place.
    seed : int
        Of the world.
    most : int
        Groups of each slice that are used, in the order of the file: twins stay together.

    Raises
    ------
    InputError
        For an unknown name, or a file without labels or groups.
    """
    if inputs.world is not None:
        world = synthetic_world(seed)
        text = json.dumps(world.rows, ensure_ascii=False).encode()
        return (_slice("synthetic", world.rows, text, "made", most, embedder=world.embedder),)
    if inputs.data is not None:
        return (_own(inputs.data, most),)
    return tuple(_shipped(name, most) for name in names)


def embedder_of(slices: Sequence[Slice], inputs: Inputs) -> Embedder:
    """The embedder of a run: the world's own, the named one, or the embedded default.

    Raises
    ------
    InputError, MissingExtraError, BackendError
        As `open_embedder`.
    """
    own = next((s.embedder for s in slices if s.embedder is not None), None)
    return own or open_embedder(inputs.embedder or "embedded", download=False)


def embedded(
    part: Slice, embedder: Embedder, *, cache: VectorCache | None = None, window: int | None = None
) -> Slice:
    """The slice with a vector beside every distinct text.

    Parameters
    ----------
    part : Slice
    embedder : Embedder
    cache : VectorCache, optional
    window : int, optional
        As for `ground`: passages longer than the embedder reads are cut.
    """
    from trueness.collect.passages import Cuts  # noqa: PLC0415 - stands beside its use

    cuts = Cuts(window=window)
    return replace(part, table=embed_table(part.table, embedder, cuts=cuts, cache=cache))


def binding_items() -> tuple[dict[str, Json], ...]:
    """The shipped binding set as it was made, one record an item."""
    return tuple(_rows(_text(BINDING)))


def binding_rows(item: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """The three claims of a binding item, each against its evidence."""
    for part, label in (
        ("supported", SUPPORTED),
        ("control_paraphrase", SUPPORTED),
        ("wrong", UNSUPPORTED),
    ):
        yield {
            "item": f"{item['id']}.{part}",
            "group": item["id"],
            "claim": item[part],
            "evidence": item["evidence"],
            "label": label,
            "kind": item["kind"],
            "template": str(item["template"]),
            "part": part,
        }


def _own(path: Path, most: int) -> Slice:
    table = read_evidence(path)
    for name in ("label", "group"):
        if getattr(table, name) is None:
            msg = (
                f"{path.name} has no column {name}; a study needs claim, evidence, label "
                "(supported or unsupported) and group. Add it."
            )
            raise InputError(msg)
    gone = [row for row in range(len(table)) if table.group is None or not table.group[row]]
    if gone:
        msg = (
            f"{path.name} names no group in {len(gone):,} of its {len(table):,} rows, first row "
            f"{table.row_number[gone[0]]}; a study keeps sources whole. Fill the column."
        )
        raise InputError(msg)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return _limited(Slice("own", table, digest, "the user's", {}), most)


def _shipped(name: str, most: int) -> Slice:
    if name not in SHIPPED:
        msg = f"no slice is called {name!r}; shipped are {', '.join(SHIPPED)}. Name one of them."
        raise InputError(msg)
    text = _text(HALUEVAL if name == HALUEVAL_ANSWERS else name)
    rows = _rows(text)
    if name == BINDING:
        rows = [row for item in rows for row in binding_rows(item)]
    if name == HALUEVAL_ANSWERS:
        rows = [{**row, "claim": row["answer"]} for row in rows]
    return _slice(name, rows, text, SHIPPED[name], most)


def _slice(
    name: str,
    rows: Sequence[Mapping[str, Json]],
    text: bytes,
    licence: str,
    most: int,
    *,
    embedder: Embedder | None = None,
) -> Slice:
    table = read_evidence([dict(row) for row in rows])
    digest = hashlib.sha256(text).hexdigest()
    return _limited(Slice(name, table, digest, licence, {}, embedder), most)


def _limited(part: Slice, most: int) -> Slice:
    """The claims of the first groups; labels are the two words."""
    labels = [] if part.table.label is None else part.table.label.values()
    odd = sorted({str(label) for label in labels} - {SUPPORTED, UNSUPPORTED})
    if odd:
        msg = (
            f"{part.name}: a label is {odd[0]!r}; wanted {SUPPORTED!r} or {UNSUPPORTED!r} for "
            "every claim. Write the words out."
        )
        raise InputError(msg)
    kept = set(list(dict.fromkeys(part.groups))[:most])
    rows = np.array([group in kept for group in part.groups], dtype=np.bool_)
    gone = int(len(rows) - rows.sum())
    if not gone:
        return part
    return replace(part, table=part.table.take(rows), n_dropped={"over the limit": gone})


def _rows(text: bytes) -> list[dict[str, Json]]:
    return [json.loads(line) for line in text.decode().rstrip("\n").split("\n")]


def _text(name: str) -> bytes:
    return resources.files("trueness").joinpath("data", "claims", f"{name}.jsonl").read_bytes()
