"""Exit codes, and what each kind of failure looks like to the person at the terminal."""

import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from trueness.contract import Reading
    from trueness.report import Check


class Exit(IntEnum):
    """What a verb ends with."""

    DONE = 0
    ASSERTION_FAILED = 1
    USAGE = 2
    DEFECT = 3
    NOTHING_MEASURED = 5
    INTERRUPTED = 130


def guarded(run: Callable[[], object], argv: list[str]) -> int:
    """The exit code of a run; whatever goes wrong becomes one line on stderr.

    Parameters
    ----------
    run : callable
        Returns an exit code or None.
    argv : list of str
        What the user typed after the command's name, for the command that resumes.
    """
    try:
        code = run()
        sys.stdout.flush()
    except click.UsageError as error:
        return _say(_usage(error), Exit.USAGE)
    except click.ClickException as error:
        return _say(error.format_message(), Exit.USAGE)
    except (click.Abort, KeyboardInterrupt):
        with _deaf():
            return _say(_interrupted(argv), Exit.INTERRUPTED, lead="")
    except Exception as error:  # noqa: BLE001 - the one place where a defect becomes an exit code
        return _raised(error)
    return int(code) if isinstance(code, int) else Exit.DONE


def of_readings(readings: Iterable["Reading"], checks: Iterable["Check"] = ()) -> Exit:
    """The exit code that readings and the assertions about them deserve.

    A failed assertion is 1. Nothing measured at all is 5, and so is an assertion about a reading
    that could not be measured: it neither passed nor failed. A silent reading is done: 0.
    """
    from trueness.api.asserting import USABLE
    from trueness.report import Outcome

    usable = [r.state in USABLE for r in readings]
    made = list(checks)
    if any(c.outcome is Outcome.FAILED for c in made):
        return Exit.ASSERTION_FAILED
    if not any(usable) or (made and not all(usable)):
        return Exit.NOTHING_MEASURED
    return Exit.DONE


def hush_stdout() -> None:
    """Send what is still to be written to nowhere, so that the end of the process is quiet."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _raised(error: Exception) -> int:
    from trueness.contract.errors import TruenessError

    if isinstance(error, BrokenPipeError):
        hush_stdout()
        return Exit.DONE
    _trace(error)
    if isinstance(error, TruenessError):
        return _say(str(error), Exit.USAGE)
    if isinstance(error, OSError):
        hush_stdout()
        return _say(_os_error(error), Exit.USAGE)
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    hint = "" if _debugging() else " Run again with TRUENESS_DEBUG=1 for the traceback."
    return _say(f"internal error, a defect of trueness: {words.rstrip('.')}.{hint}", Exit.DEFECT)


def _say(message: str, code: Exit, *, lead: str = "Error: ") -> int:
    from trueness.report.words import prose

    line = f"{lead}{prose(message)}"
    click.echo(line.encode("utf-8", "backslashreplace") + b"\n", err=True, nl=False)
    return code


@contextmanager
def _deaf() -> Iterator[None]:
    """Another Ctrl-C does not cut short what is said about the first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _usage(error: click.UsageError) -> str:
    message = error.format_message()
    if not error.ctx:
        return message
    name = error.ctx.command_path
    return f"{message} See: {name} --help"


def _os_error(error: OSError) -> str:
    where = error.filename if error.filename is not None else "standard output"
    why = error.strerror or type(error).__name__
    return f"{where}: {why[:1].lower()}{why[1:]}. Name a file that can be read or written."


def _interrupted(argv: list[str]) -> str:
    if argv[:1] == ["study"]:
        return "Interrupted; answers so far are in the request cache. Run it again to go on."
    if argv[:1] != ["ask"]:
        return "Interrupted."
    again = argv if "--resume" in argv else [*argv, "--resume"]
    return f"Interrupted; every answer so far is kept. Go on with: trueness {shlex.join(again)}"


def _debugging() -> bool:
    return os.environ.get("TRUENESS_DEBUG", "") not in {"", "0"}


def _trace(error: BaseException) -> None:
    if _debugging():
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
