"""Keys that stand twice in the objects of a column, looked for where DuckDB holds them as JSON."""

from collections.abc import Sequence

from trueness.table.parquet import quoted
from trueness.table.stored import TextStore

_OBJECT, _LIST = 123, 91
"""Codes of the characters that an object and a list begin with."""
_FEW = 10_000
"""Lists of keys that come into memory; more of them are counted where they are."""


def says_twice(store: TextStore, table: str, names: Sequence[str]) -> bool:
    """Whether an object in a column, or in a list there, says a key twice.

    Objects within these are not looked at: taking values apart level by level costs far more.
    DuckDB itself refuses a row that says one of its own keys twice.

    Parameters
    ----------
    store : TextStore
    table : str
        With a row a line and a column a key, all of them JSON.
    names : sequence of str
        Of the columns.
    """
    holds = [f"bool_or({_holds(n, b)})" for n in names for b in (_OBJECT, _LIST)]
    found = store.rows(f"SELECT {', '.join(holds)} FROM {table}")[0]  # noqa: S608 - quoted
    return any(
        (objects and _twice(store, f"SELECT DISTINCT json_keys({quoted(name)}) AS k FROM {table}"))  # noqa: S608 - quoted
        or (lists and _twice(store, _of_lists(name, table)))
        for name, objects, lists in zip(names, found[::2], found[1::2], strict=True)
    )


def _holds(name: str, begins: int) -> str:
    """Whether a value begins so and has an object in it."""
    word = f"{quoted(name)}::VARCHAR"
    return f"(ascii({word}) = {begins} AND contains({word}, '{{'))"


def _of_lists(name: str, table: str) -> str:
    listed = f"SELECT DISTINCT json_keys({quoted(name)}, '$[*]') AS l FROM {table}"  # noqa: S608 - quoted
    return f"SELECT DISTINCT unnest(l) AS k FROM ({listed})"  # noqa: S608 - as above


def _twice(store: TextStore, keys: str) -> bool:
    """Whether one of some distinct lists of keys has one twice."""
    few = store.rows(f"{keys} LIMIT {_FEW + 1}")
    if len(few) <= _FEW:
        return any(len(set(listed)) < len(listed) for (listed,) in few if listed)
    wrong = "SELECT count(*) FROM listed WHERE len(k) <> list_unique(k)"
    return bool(store.rows(f"WITH listed AS MATERIALIZED ({keys}) {wrong}")[0][0])
