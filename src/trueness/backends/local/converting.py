"""A GGUF file for transformers: converted once for a user, whole or not there at all."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trueness.backends.protocol import require
from trueness.backends.weights import cache_dir
from trueness.contract.errors import BackendError

_FORM = 1
"""Of the folder; a new form makes a new folder."""
_DONE = "complete"
_ABANDONED = 24 * 3600.0


def converted_dir(sha256: str) -> Path:
    """Where the float32 weights made from a file are, or will be."""
    return cache_dir() / "converted" / f"{sha256}-{_FORM}"


def convert(path: Path, sha256: str) -> Path:
    """Folder of float32 safetensors and tokenizer made from a GGUF file.

    It is written beside its place and moved there when it is whole, so that a kill at any instant
    leaves nothing that would be taken for it.

    Raises
    ------
    MissingExtraError
        Without transformers, torch, gguf or accelerate.
    BackendError
        When the architecture is unknown to transformers, or nothing can be written.
    """
    place = converted_dir(sha256)
    if (place / _DONE).is_file():
        return place
    library = require("transformers", extra="local", what=f"reading {path.name}")
    for module in ("gguf", "accelerate"):
        require(module, extra="local", what=f"reading {path.name}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place.parent)
        scratch = Path(tempfile.mkdtemp(prefix="making-", dir=place.parent))
        try:
            with quiet(library):
                _write(library, path, scratch)
            _move(scratch, place)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        msg = f"cannot convert {path} into {place.parent}: {error}."
        raise BackendError(msg, hint="Free some room or set TRUENESS_CACHE_DIR.") from error
    return place


@contextmanager
def quiet(library: Any) -> Iterator[None]:
    """No progress bars of transformers while it loads or writes."""
    log = library.utils.logging
    shown = log.is_progress_bar_enabled()
    log.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            log.enable_progress_bar()


def _write(library: Any, path: Path, folder: Path) -> None:
    torch = require("torch", extra="local", what=f"reading {path.name}")
    given = {"gguf_file": path.name}
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(path.parent, **given)
        model = library.AutoModelForCausalLM.from_pretrained(
            path.parent, dtype=torch.float32, **given
        )
    except (ValueError, KeyError, RuntimeError) as error:
        msg = f"transformers cannot read {path}: {error}."
        raise BackendError(msg, hint="Open it without runtime=transformers.") from error
    # what was dequantised is not quantised any more; saving refuses otherwise
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / _DONE).write_text(f"{path.name}\n", "utf-8")
    for file in folder.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())


def _move(scratch: Path, place: Path) -> None:
    try:
        scratch.rename(place)
    except OSError:
        if not (place / _DONE).is_file():  # another process was faster otherwise
            raise


def _sweep(folder: Path) -> None:
    """Remove what killed conversions left behind, once nobody can be writing it any more."""
    for old in folder.glob("making-*"):
        if time.time() - old.stat().st_mtime > _ABANDONED:
            shutil.rmtree(old, ignore_errors=True)
