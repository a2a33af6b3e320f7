"""The controls: what a measure of claims is worth beside simpler ones, and where it fails.

Each scores populations of claims out of fold, writes those scores down, and reads every number of
its result from them alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from trueness.study.assessed import absent
from trueness.study.found import Found
from trueness.study.populations import Bench, Population, opened
from trueness.study.protocol import Floats, Protocol, Scored, codes_of
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.task import Task

FAMILIES = {
    "C1": "control_scalars",
    "C2": "control_scalars",
    "C3": "control_bundles",
    "C4": "control_leakage",
    "C5": "control_scalars",
    "C6": "control_ranks",
    "C8": "control_geometry",
    "C11": "control_ablation",
    "C12": "control_ablation",
    "C14": "control_axes",
    "C20": "control_axes",
}
"""Modules with a `Control` of the name of the study."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a control reads from its scores.

    Parameters
    ----------
    rows : sequence of mapping
    contrasts : mapping of str to mapping
        By name; a declared one that is not among them was not run.
    notes : sequence of str
    """

    rows: Sequence[Record]
    contrasts: Mapping[str, Record]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Control:
    """One control.

    Parameters
    ----------
    score : callable
        From a bench to the scores of its populations.
    read : callable
        From those scores by population, and the protocol, to rows and contrasts.
    notes : callable
        What has to be said of a bench, besides.
    """

    score: Callable[[Bench], Sequence[Scored]]
    read: Callable[[Mapping[str, Scored], Protocol], Numbers]
    notes: Callable[[Bench], Sequence[str]] = field(default=lambda _: ())


def run(task: Task) -> Found:
    """One control on the declared slices, a file, or the made world.

    Parameters
    ----------
    task : Task
        ``inputs``: ``data`` and ``embedder``, or ``world``.
        ``seed``: of folds, resamples, foreign evidence and the world.
        ``repeats``: sources of each slice at most.
    """
    bench = opened(task)
    control = control_of(task.declaration.id)
    parts = tuple(control.score(bench))
    bench.task.say("intervals")
    numbers = control.read({part.name: part for part in parts}, bench.protocol)
    rows = tuple(numbers.rows)
    contrasts = {
        c.name: numbers.contrasts.get(c.name) or absent(why_absent(c.name, bench))
        for c in task.declaration.contrasts
    }
    named: list[Record] = [{"name": name, **record} for name, record in contrasts.items()]
    return Found(
        rows=rows,
        contrasts=contrasts,
        draws={
            "repeats": task.repeats,
            "folds": bench.protocol.folds,
            "dealings": bench.protocol.repeats,
            "resamples": bench.protocol.resamples,
        },
        notes=(bench.protocol.text(), *_said(bench), *numbers.notes, *control.notes(bench)),
        published=published_of(task.declaration, {"rows": rows, "contrasts": named}),
        data=bench.data,
        model=bench.embedder.identity,
        table=tuple(part.to_record() for part in parts),
    )


def control_of(name: str) -> Control:
    """The control of an id, its module loaded when it is wanted."""
    module = import_module(f"trueness.study.{FAMILIES[name]}")
    found: Control = getattr(module, name)
    return found


def scored(population: Population, columns: Mapping[str, Floats]) -> Scored:
    """Scores of a population beside its names, sources and labels."""
    return Scored(
        population.name,
        population.data,
        tuple(population.items),
        codes_of(population.groups),
        population.unsupported,
        columns,
    )


def why_absent(contrast: str, bench: Bench) -> str:
    """Why a contrast, named after its population, was not made."""
    name = contrast.partition("_")[0]
    if name in bench.populations:
        return "nothing in these data to compare; see the notes"
    return bench.absent.get(name, f"these data hold no population {name!r}")


def _said(bench: Bench) -> list[str]:
    """How each population came about."""
    lines = []
    for one in bench.populations.values():
        how = one.made.get("population")
        said = f", unsupported: {how}" if how else ""
        lines.append(
            f"{one.name}: {len(one.items)} claims of {one.data}, "
            f"{len(set(one.groups))} sources{said}."
        )
        gone = one.made.get("unmatched")
        if isinstance(gone, dict) and gone:
            lines.append(f"{one.name}: without foreign evidence {gone}.")
    return lines
