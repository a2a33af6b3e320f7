"""From a name and the options of ``-M`` to a `LocalModel`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from trueness.backends.local.loading import Loaded, load_gguf, load_named
from trueness.backends.local.model import LocalModel
from trueness.contract.errors import InputError

OPTIONS = ("attention", "batch", "device", "dtype", "n_context", "revision", "threads")
"""What ``-M`` takes for a model of transformers."""


def open_gguf(
    path: Path, name: str, options: Mapping[str, str], *, sha256: str | None = None
) -> LocalModel:
    """A GGUF file through transformers; the first time it is converted, which takes a while.

    Raises
    ------
    InputError, MissingExtraError, BackendError
        As `load_gguf`, and for an unknown option.
    """
    _check(options, [o for o in OPTIONS if o != "revision"])
    loaded = load_gguf(
        path,
        name,
        sha256=sha256,
        device=options.get("device"),
        dtype=options.get("dtype", "float32"),
        attention=options.get("attention", "eager"),
    )
    return _made(name, loaded, options)


def open_hf(source: str, options: Mapping[str, str]) -> LocalModel:
    """A folder, or a model at a hub, under the name ``hf:SOURCE``.

    Raises
    ------
    InputError, MissingExtraError, BackendError
        As `load_named`, and for an unknown option.
    """
    _check(options, OPTIONS)
    loaded = load_named(
        source,
        revision=options.get("revision"),
        device=options.get("device"),
        dtype=options.get("dtype", "float32"),
        attention=options.get("attention", "eager"),
    )
    return _made(f"hf:{source}", loaded, options)


def _made(name: str, loaded: Loaded, options: Mapping[str, str]) -> LocalModel:
    if (threads := _number(options, "threads")) is not None:
        loaded.torch.set_num_threads(threads)
    batch = _number(options, "batch")
    return LocalModel(
        name,
        loaded,
        batch_size=32 if batch is None else batch,
        n_context=_number(options, "n_context"),
    )


def _number(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        msg = f"-M {name}={text}: give a whole number from 1."
        raise InputError(msg)
    return int(text)


def _check(options: Mapping[str, str], known: Sequence[str]) -> None:
    if unknown := sorted(set(options) - set(known)):
        msg = (
            f"a model of transformers has no option {unknown[0]!r}; its options are: "
            f"{', '.join(known)}."
        )
        raise InputError(msg)
    for name in ("threads", "batch", "n_context"):
        _number(options, name)
