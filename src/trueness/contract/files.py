"""Files that are written: a failure names the file that it is about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """While a file is written: an error that names none, as on a full disk, names it.

    Parameters
    ----------
    path : Path

    Raises
    ------
    OSError
        As it came, with the file's name.

    Examples
    --------
    >>> with naming(Path("page.html")):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'page.html'
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
