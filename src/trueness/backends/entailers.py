"""Entailers by name."""

from collections.abc import Mapping

from trueness.backends.entailment import Entailer
from trueness.contract.errors import InputError

ENTAILERS = ("cross-encoder:NAME_OR_FOLDER",)
"""Forms of a name: a sequence classifier of transformers, at a hub or in a folder."""


def open_entailer(
    name: str | Entailer,
    *,
    revision: str | None = None,
    labels: Mapping[str, int] | None = None,
) -> Entailer:
    """An entailer that is ready to use; one that is handed in is given back as it is.

    Parameters
    ----------
    name : str or Entailer
        One of `ENTAILERS`.
    revision : str, optional
        Of a model at a hub.
    labels : mapping of str to int, optional
        Places of the labels, where the model's own names do not tell.

    Raises
    ------
    InputError
        For an unknown name; the message lists those that are known.
    AmbiguousLabels, MissingExtraError, BackendError
        As `trueness.backends.cross_encoder.CrossEncoder`.
    """
    if isinstance(name, Entailer):
        return name
    if not isinstance(name, str):
        msg = f"the entailer is a {type(name).__name__}; name {', '.join(ENTAILERS)}."
        raise InputError(msg)
    kind, _, rest = name.partition(":")
    if kind == "cross-encoder" and rest:
        from trueness.backends.cross_encoder import CrossEncoder  # noqa: PLC0415 - where it is used

        return CrossEncoder(rest, revision=revision, labels=labels)
    msg = f"no entailer is called {name!r}; known is {', '.join(ENTAILERS)}. Name one of these."
    raise InputError(msg)
