"""The relations that a study asks about, and the record of where they came from."""

from trueness.backends.weights import sha256_of
from trueness.study.results import Record
from trueness.table import Relation, bundled_file, bundled_relation

_LICENCES = {"lre": "MIT", "pararel": "MIT"}
OWN = "Apache-2.0"


def relation_record(name: str, asked: Relation | None = None) -> Record:
    """What stands in a result about one relation: id, sha256 of its file, licence, entities used.

    Parameters
    ----------
    name : str
        As `trueness.table.bundled_relation` takes it.
    asked : Relation, optional
        What was left of it; all when left out.

    Examples
    --------
    >>> relation_record("capital")["n_used"]
    20
    """
    whole = len(bundled_relation(name))
    used = whole if asked is None else len(asked)
    return {
        "id": name,
        "sha256": sha256_of(bundled_file(name)),
        "licence": _LICENCES.get(name.partition("/")[0], OWN),
        "n_used": used,
        "n_dropped": {"over the limit": whole - used} if used < whole else {},
    }
