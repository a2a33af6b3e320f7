"""Which code ran, and on what."""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from trueness.contract.serial import Json

PACKAGES = ("numpy", "scipy", "trueness")
_MEGA = 1 << 10  # kilobytes


@dataclass(frozen=True, slots=True)
class Code:
    """A commit, and whether the code differs from it; None where there is no checkout."""

    commit: str | None
    dirty: bool | None


def code_of(folder: Path | None = None) -> Code:
    """The commit of the code that runs.

    Files that are not tracked count as a difference inside of the package. Result files never do:
    they come out of a study and none reads them.

    Parameters
    ----------
    folder : Path, optional
        A folder of the package; this one when left out.
    """
    here = folder or Path(__file__).parents[1]
    if _git(here, "ls-files", "--error-unmatch", "__init__.py") is None:
        return Code(None, None)
    changed = _git(here, "status", "--porcelain", "-uno", "--", ":/", ":(exclude,top)results")
    added = _git(here, "status", "--porcelain", "--", ".")
    return Code(_git(here, "rev-parse", "HEAD"), bool(changed) or bool(added))


def versions() -> dict[str, str]:
    """Of Python and of the packages that do the arithmetic."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def machine() -> dict[str, Json]:
    """Cores and device; nothing that names this one."""
    return {"cores": os.cpu_count(), "device": "cpu"}


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def peak_megabytes() -> float | None:
    """The most memory that this process has held; None where the system does not tell."""
    if find_spec("resource") is None:
        return None
    import resource  # noqa: PLC0415 - not on every system

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (_MEGA**2 if platform.system() == "Darwin" else _MEGA), 1)


def _git(folder: Path, *words: str) -> str | None:
    """What git says; None where it cannot."""
    git = shutil.which("git")
    if git is None:
        return None
    done = subprocess.run(  # noqa: S603 - fixed words
        [git, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None
