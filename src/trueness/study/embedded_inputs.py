"""What a control works on, embedded: slices, the embedder, and what the result says of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from trueness.backends.embedder import Embedder
from trueness.backends.vectors import VectorCache
from trueness.backends.weights import cache_dir
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.study.declarations import Declaration
from trueness.study.measurable import check_measurable
from trueness.study.slices import Slice, embedded, embedder_of, slices_of
from trueness.study.task import Progress, Task

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ready:
    """Slices with vectors.

    Parameters
    ----------
    slices : tuple of Slice
    embedder : Embedder
    """

    slices: tuple[Slice, ...]
    embedder: Embedder

    def data(self) -> tuple[dict[str, Json], ...]:
        """What the result says of the slices."""
        return tuple(part.record() for part in self.slices)

    def model(self) -> dict[str, Json]:
        """Identity of the embedder."""
        return dict(self.embedder.identity)


def ready(task: Task, *, more: Sequence[Slice] = (), measured: bool = True) -> Ready:
    """The slices of a run with a vector beside every text.

    Parameters
    ----------
    task : Task
        ``seed``, ``most``: as in `slices_of`.
    more : sequence of Slice
        Further slices, beside the shipped ones alone: a file or a world stands for itself.
    measured : bool
        Whether at least one claim must be measurable.

    Raises
    ------
    InputError
        When a model is named that is not asked.
    NothingToMeasureError
        When no claim can be measured.
    """
    task.only("data", "embedder", "world")
    parts = slices_of(task.declaration.slices, task.inputs, seed=task.seed, most=task.repeats)
    if task.inputs.data is None and task.inputs.world is None:
        parts = (*parts, *more)
    embedder = embedder_of(parts, task.inputs)
    found = tuple(vectors_of(part, embedder, task.progress) for part in parts)
    if measured:
        check_measurable(found)
    return Ready(found, embedder)


def vectors_of(part: Slice, embedder: Embedder, progress: Progress | None) -> Slice:
    """A slice with vectors; passages longer than the embedder reads are cut at sentences."""
    if progress is not None:
        progress(f"embedding {part.name}")
    cache = VectorCache(cache_dir() / "vectors.sqlite") if part.embedder is None else None
    return embedded(part, embedder, cache=cache, window=embedder.max_tokens)


def levels(declaration: Declaration, name: str, kind: type[T]) -> tuple[T, ...]:
    """The declared values of a level.

    Parameters
    ----------
    declaration : Declaration
    name : str
    kind : type
        Of every value.

    Raises
    ------
    InputError
        When it is not declared, or a value is of another kind.
    """
    entries: Sequence[Mapping[str, Sequence[T]]] = declaration.raw.get("levels", ())
    for entry in entries:
        if entry["name"] == name:
            found = tuple(entry["values"])
            if found and all(isinstance(value, kind) for value in found):
                return found
    msg = f"{declaration.id} declares no levels {name} of {kind.__name__}; add [[levels]]."
    raise InputError(msg)
