"""Relations as data: entities, the questions about them, and what is known of the answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from trueness.contract.errors import InputError
from trueness.table import foreign_relations
from trueness.table.relation_checks import check_relation, fields_of
from trueness.table.sniff import decoded, unreadable

KINDS = ("injective", "many_to_one", "increasing", "decreasing", "involution", "set_valued")
SCHEMA = 1
_FACTS = "trex_"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation file, checked.

    Parameters
    ----------
    name, kind : str
        ``kind`` is one of `KINDS`.
    templates, inverse_templates : tuple of str
        Each template holds ``{e}``, each inverse one ``{a}``.
    entities : (n_entities,) tuple of str
    golds : (n_entities,) tuple of tuple of str
        Accepted answers of each entity; empty when no golds are known.
    identity : mapping of observable to "never", "allowed" or tuple of entities
        Whether an entity may be its own answer, at ``string`` and ``first_token``.
    capacities : mapping of answer to int, or None
        For how many of the entities an answer may be right.
    rows_per_entity : (n_entities,) tuple of int, or None
        How many right answers each entity may have at most; None means one.
    values : mapping, or None
        ``type``, ``strict``, ``low`` and ``high`` of an increasing relation.
    source, notes : str
    """

    name: str
    kind: str
    templates: tuple[str, ...]
    entities: tuple[str, ...]
    golds: tuple[tuple[str, ...], ...] = ()
    inverse_templates: tuple[str, ...] = ()
    identity: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    capacities: Mapping[str, int] | None = None
    rows_per_entity: tuple[int, ...] | None = None
    values: Mapping[str, str | int | float | bool | None] | None = None
    source: str = ""
    notes: str = ""

    def __post_init__(self) -> None:
        check_relation(self, KINDS)

    def __len__(self) -> int:
        return len(self.entities)

    def first(self, most: int) -> "Relation":
        """The first entities, with what is declared of them; capacities follow from their golds.

        >>> len(bundled_relation("probe_capital").first(3))
        3
        """
        if len(self) <= most:
            return self
        kept, rows = self.entities[:most], self.rows_per_entity
        return replace(
            self,
            entities=kept,
            golds=self.golds[:most],
            rows_per_entity=None if rows is None else rows[:most],
            capacities=None,
            identity={
                name: rule if isinstance(rule, str) else tuple(e for e in rule if e in kept)
                for name, rule in self.identity.items()
            },
        )


def load_relation(path: str | Path) -> Relation:
    """The relation of a file: ours, LRE's, or a ParaRel pair of facts and patterns.

    Of ParaRel, name the file of facts (``trex_P36.jsonl``); its patterns
    (``patterns_P36.jsonl``) are looked for beside it.

    Raises
    ------
    InputError
        When the file cannot be read or contradicts itself; says where and what to do.
    """
    path = Path(path)
    try:
        text, _ = decoded(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error
    return _relation(text, path)


def bundled_relations() -> tuple[str, ...]:
    """Names of the relations that come with the package, in alphabetical order.

    >>> "capital" in bundled_relations()
    True
    """
    folder = files("trueness") / "data" / "relations"
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(n.removesuffix(".json") for n in names if n.endswith(".json")))


def wide_relations() -> tuple[str, ...]:
    """Names of the wider relations that come along: LRE's files, and those of ParaRel.

    >>> "pararel/P36" in wide_relations()
    True
    """
    lre = (f"lre/{name.removesuffix('.json')}" for name in _held("lre") if name.endswith(".json"))
    facts = (name for name in _held("pararel") if name.startswith(_FACTS))
    pararel = (f"pararel/{name.removeprefix(_FACTS).removesuffix('.jsonl')}" for name in facts)
    return (*sorted(lre), *sorted(pararel))


def bundled_relation(name: str) -> Relation:
    """A relation that comes with the package; the wider ones by ``lre/NAME`` and ``pararel/NAME``.

    >>> bundled_relation("capital").golds[0]
    ('Paris',)
    >>> bundled_relation("pararel/P36").templates[0]
    'The capital of {e} is'

    Raises
    ------
    InputError
        When there is none of this name; lists those there are.
    """
    known = (*bundled_relations(), *wide_relations())
    if name not in known:
        msg = f"no bundled relation is called {name!r}; there are {', '.join(known)}. Name one."
        raise InputError(msg)
    return load_relation(bundled_file(name))


def bundled_file(name: str) -> Path:
    """Where a relation that comes along stands.

    >>> bundled_file("capital").name, bundled_file("pararel/P36").name
    ('capital.json', 'trex_P36.jsonl')
    """
    folder, slash, stem = name.rpartition("/")
    file = f"{_FACTS}{stem}.jsonl" if folder == "pararel" else f"{stem}.json"
    return Path(str(files("trueness") / "data" / (folder if slash else "relations") / file))


def bundled_conditions() -> Mapping[str, object]:
    """The passages, prefixes, system prompts and grids that come with the package."""
    text = (files("trueness") / "data" / "conditions.json").read_text("utf-8")
    data: dict[str, object] = json.loads(text)
    return data


def _held(folder: str) -> tuple[str, ...]:
    return tuple(entry.name for entry in (files("trueness") / "data" / folder).iterdir())


def _relation(text: str, path: Path) -> Relation:
    data = foreign_relations.parsed(text, path)
    if isinstance(data, list):
        return Relation(**foreign_relations.from_pararel(data, path))  # type: ignore[arg-type] # checked on construction
    if "samples" in data:
        return Relation(**foreign_relations.from_lre(data, path))  # type: ignore[arg-type] # as above
    if data.get("schema") != SCHEMA:
        msg = (
            f"{path} has the schema {data.get('schema')!r}; {SCHEMA} is wanted. "
            'Write "schema": 1 and the fields of a relation file.'
        )
        raise InputError(msg)
    return Relation(**fields_of(data, path))  # type: ignore[arg-type] # as above
