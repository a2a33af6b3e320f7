"""The main job, end to end, on the embedded model and on a filled-in column."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from trueness import api
from trueness.api.grounding import ground
from trueness.contract import Decision, ItemReading, Reading
from trueness.contract.blocks import Cell, Table
from trueness.contract.errors import BackendError, MissingExtraError
from trueness.table.evidence_reading import read_evidence

CONDITIONS = "none,prose:128,shuffled:128,the:128,random:128,system:helpful"
RELATIONS = ("capital", "language12")
SUMS, TEMPERATURES, DRAWS = "sums", (0.3, 1.0), 8
"""What is asked repeatedly, and how."""
COLUMN = "filled_column.csv"
CLAIMS = "demo.jsonl"
CLAIM_COLUMNS = ("claim", "what was done to it", "energy", "of chance", "state")
CLAIMS_NOTE = (
    "Another subject and a sentence from nowhere stand out; a changed number, swapped roles and "
    "false evidence do not: the energy sees what a claim is about, not what it says of it."
)
COLUMNS = (
    "condition",
    "orbits",
    "floor",
    "floor with the answer set",
    "true error",
    "answered",
)
"""Heads of the small table."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration found.

    ``readings`` are named ``relation · condition`` and, last, the filled-in column; ``agreement``
    is the atlas of repeated answers at two temperatures; ``claims`` the energy of a dozen claims,
    None where its embedder is not there; ``table`` and ``claims_table`` are the small tables;
    ``decisions`` has one choice of a condition for each relation.
    """

    readings: Mapping[str, Reading]
    agreement: Reading
    claims: Reading | None
    decisions: Mapping[str, Decision]
    table: Table
    claims_table: Table | None
    lines: tuple[str, ...]


def run(
    *, model: str = "embedded", seed: int = 0, tell: Callable[[str], None] | None = None
) -> Demo:
    """Ask two relations under six conditions, certify every answer table, choose a condition.

    Parameters
    ----------
    model : str
        As in `trueness.api.ask`.
    seed : int
        Of shuffled and random prefixes.
    tell : callable or None
        Gets a sentence when a step begins or ends.
    """
    say = tell or (lambda _: None)
    readings: dict[str, Reading] = {}
    decisions: dict[str, Decision] = {}
    rows: list[tuple[Cell, ...]] = []
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="trueness-") as folder:
        for relation in RELATIONS:
            say(f"asking {model} about {relation} under {CONDITIONS.replace(',', ', ')}")
            out = Path(folder) / f"{relation}.jsonl"
            summary = api.ask(
                relation,
                model=model,
                out=out,
                conditions=CONDITIONS,
                seed=seed,
                templates=(0,),
            )
            lines += [f"{relation}: {line}" for line in summary.lines()[1:]]
            rows += _certified(relation, out, readings)
            decisions[relation] = api.choose(out, relation_file=relation)
        agreement = _repeated(Path(folder), model, seed, say)
    say("certifying a filled-in column of 2,000 rows")
    readings["filled-in column"] = filled_column()
    table = Table("Two questions to one model, six ways", COLUMNS, tuple(rows), len(rows))
    claims, claims_table = grounded(say)
    return Demo(readings, agreement, claims, decisions, table, claims_table, tuple(lines))


def _repeated(folder: Path, model: str, seed: int, say: Callable[[str], None]) -> Reading:
    """The atlas of one model's sums at two temperatures."""
    tables = []
    for place, temperature in enumerate(TEMPERATURES):
        say(f"asking {model} for twenty sums, {DRAWS} times each, at temperature {temperature:g}")
        out = folder / f"{SUMS}-{temperature:g}.jsonl"
        api.ask(
            SUMS,
            model=model,
            out=out,
            templates=(0,),
            epochs=DRAWS,
            temperature=temperature,
            max_tokens=5,
            seed=seed + place,  # independent arms
        )
        tables.append(out)
    say("comparing what the repeated answers agree about")
    return api.compare(
        *tables,
        allow_differ=("temperature",),
        answer_kind="number",
        extractor="declared",
    )


def grounded(say: Callable[[str], None]) -> tuple[Reading | None, Table | None]:
    """A dozen claims against their evidence, and a table of what was done to each."""
    say("measuring a dozen claims against their evidence")
    try:
        with as_file(files("trueness") / "data" / "claims" / CLAIMS) as path:
            reading = ground(path, label="label")
            kinds = read_evidence(path, label="label").extras["kind"].values()
    except (BackendError, MissingExtraError) as error:
        say(f"no claims were measured: {error}")
        return None, None
    rows = tuple(
        (i.item, kind, *_numbers(i), "measured" if i.value is not None else i.state.value)
        for i, kind in zip(reading.per_item, kinds, strict=True)
    )
    return reading, Table(
        "A dozen claims and what was done to them", CLAIM_COLUMNS, rows, len(rows), note=CLAIMS_NOTE
    )


def _numbers(item: ItemReading) -> tuple[Cell, Cell]:
    """Energy, and energy over that of a random direction."""
    relative = item.extra.get("relative")
    if item.value is None or not isinstance(relative, float):
        return None, None
    return round(item.value, 3), round(relative, 2)


def filled_column() -> Reading:
    """The certificate of the bundled column, in which a known number of answers collide."""
    with column_file() as path:
        return api.certify(path, entity="company", answer="support_email", relation="injective")


@contextmanager
def column_file() -> Iterator[Path]:
    """The bundled column as a file."""
    with as_file(files("trueness") / "data" / COLUMN) as path:
        yield path


def _certified(relation: str, out: Path, readings: dict[str, Reading]) -> list[tuple[Cell, ...]]:
    """The readings of one relation, and its lines of the small table."""
    table = api.read(out)
    found = api.find_relation(relation)
    identity = found.identity.get("string")
    closed = api.certify_each(table, relation_file=relation)
    opened = api.certify_each(table, relation="injective", identity=identity)
    rows: list[tuple[Cell, ...]] = []
    for name, reading in closed.items():
        readings[f"{relation} · {name}"] = reading
        d = reading.details
        rows.append(
            (
                f"{relation} · {name}",
                _of(d["n_orbits"], d["n_answered"]),
                _of(opened[name].details["certified_errors"], d["n_answered"]),
                _of(d["certified_errors"], d["n_answered"]),
                _of(d["true_errors"], d["n_answered"]),
                _of(d["n_answered"], d["n_slots"]),
            )
        )
    return rows


def _of(part: object, whole: object) -> str:
    return "–" if part is None else f"{part} of {whole}"
