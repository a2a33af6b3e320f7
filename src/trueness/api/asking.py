"""Putting the questions of a relation to a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueness.contract.errors import InputError
from trueness.table import (
    Relation,
    bundled_relation,
    bundled_relations,
    load_relation,
    wide_relations,
)

if TYPE_CHECKING:
    from trueness.collect.summary import AskSummary


def ask(
    relation: str | Path | Relation,
    *,
    model: str = "embedded",
    out: str | Path,
    conditions: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    limit: int | None = None,
    cache: bool = True,
    engine: str = "local",
    workers: int = 2,
    **given: Any,
) -> "AskSummary":
    """Put the questions of a relation to a model and write the table of answers; resumable.

    Parameters
    ----------
    relation : path, name of a bundled relation, or Relation
    model : str
        ``embedded``, ``gguf:FILE``, ``hf:NAME``, ``openai:NAME``, ``scripted:NAME``,
        ``replay:FILE``.
    out : path
        Where the rows go, as they come.
    conditions : str, path or None
        ``none,prose:128,the:128,…`` or a JSON file.
    options : mapping or None
        Of the model.
    limit : int or None
        Only the first entities.
    cache : bool
        Whether earlier answers to the same request are used.
    engine : {"local", "ray"}
        ``ray`` opens the model once more on every worker of a Ray cluster.
    workers : int
        Of that cluster.
    **given
        As in `trueness.collect.ask`.
    """
    from trueness.backends.registry import open_on  # noqa: PLC0415 - models load when one is asked
    from trueness.backends.weights import cache_dir  # noqa: PLC0415 - as above
    from trueness.collect import ask as run  # noqa: PLC0415 - as above
    from trueness.collect import facts_of  # noqa: PLC0415 - as above

    loaded = _limited(find_relation(relation), limit)
    seed = int(given.get("seed", 0))
    opened = open_on(engine, model, dict(options or {}), facts=facts_of(loaded), workers=workers)
    try:
        return run(
            loaded,
            opened,
            _conditions(conditions, seed),
            out=Path(out),
            cache=cache_dir() / "requests.sqlite" if cache else None,
            **given,
        )
    finally:
        opened.close()


def find_relation(relation: str | Path | Relation) -> Relation:
    """A relation by value, by file, or by the name of one that comes with the package.

    A file of that name comes first; ``capital`` and ``capital.json`` name the same bundled one.
    """
    if isinstance(relation, Relation):
        return relation
    name = str(relation).removesuffix(".json")
    path = Path(relation)
    bundled = name in bundled_relations() or name in wide_relations()
    if path.is_file() or (not bundled and (path.suffix or path.exists())):
        return load_relation(path)
    return bundled_relation(name)


def _conditions(given: str | Path | None, seed: int) -> Any:
    from trueness.collect import NONE, parse_conditions, read_conditions  # noqa: PLC0415 - as in ask

    if given is None:
        return (NONE,)
    if Path(given).is_file():
        return read_conditions(Path(given), seed=seed)
    return parse_conditions(str(given), seed=seed)


def _limited(relation: Relation, limit: int | None) -> Relation:
    if limit is None:
        return relation
    if limit < 1:
        msg = f"limit is {limit}; ask about at least 1 entity."
        raise InputError(msg)
    return relation.first(limit)
