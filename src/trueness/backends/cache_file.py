"""A cache in one SQLite file: opened for one piece of work, closed whatever happens."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueness.contract.errors import InputError


@contextmanager
def open_cache(path: Path, *schema: str) -> Iterator[sqlite3.Connection]:
    """The database of a cache, made when it is not there; what was done is kept on leaving.

    Parameters
    ----------
    path : Path
    *schema : str
        Statements that make what is missing.

    Raises
    ------
    InputError
        When the file cannot be opened or used as a cache.
    """
    db = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=30)
        for statement in schema:
            db.execute(statement)
        with db:
            yield db
    except (OSError, sqlite3.Error) as error:
        msg = f"cannot use the cache {path}: {error}. Remove it or use --no-cache."
        raise InputError(msg) from error
    finally:
        if db is not None:
            db.close()
