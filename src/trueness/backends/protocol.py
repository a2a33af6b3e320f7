"""What a model is to the rest of the house: a few methods, and what it says it can do."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from trueness.contract.errors import InputError, MissingExtraError
from trueness.contract.serial import Json

CAPABILITIES = frozenset(
    {
        "text",
        "logprobs",
        "tokens",
        "logits",
        "first_law",
        "top_logprobs",
        "embeddings_in",
        "allowed_answers",
        "hidden_states",
        "readout",
        "attentions",
        "logit_gradients",
        "row_map",
        "intervene",
        "token_span",
        "scores",
        "system_role",
    }
)
"""Everything that a condition or a study may ask of a model."""

Key = tuple[str, int, str]
"""(item, epoch, condition): what a request, its result and its row have in common."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question put to a model.

    Parameters
    ----------
    key : (item, epoch, condition)
        Comes back with the result; results are keyed, never positional.
    prompt : str or tuple of int
        Text, or token ids sent as they are.
    max_tokens : int
        The most tokens the model may write.
    temperature, top_p : float
        Temperature 0 is greedy.
    stop : tuple of str
        Texts that end the completion.
    seed : int
        Of this draw.
    shared : int
        How many leading ids this request shares with its batch; 0 forbids reuse of their cache.
    noise : float
        Standard deviations of the prompt's own embedding block that are added to the embeddings,
        drawn from the seed; anything but 0 needs ``embeddings_in``.
    noise_scale : {"prompt", "table"}
        Whose standard deviation that is: of the prompt's own block, or of all embeddings.
    allowed : tuple of str
        Texts one of which is to be written; empty for anything. Needs ``allowed_answers``.
    system : str
        System prompt, given in the chat's own role; anything but "" needs ``system_role``.
    top : int
        How many log-probabilities of the first token are wanted; anything but 0 needs
        ``top_logprobs``.
    """

    key: Key
    prompt: str | tuple[int, ...]
    max_tokens: int = 8
    temperature: float = 0.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    seed: int = 0
    shared: int = 0
    noise: float = 0.0
    noise_scale: str = "prompt"
    allowed: tuple[str, ...] = ()
    system: str = ""
    top: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One written token.

    ``logprob`` is its natural log-probability; ``gap`` the distance of the two likeliest tokens at
    its place (log-probabilities, so logits too); None where the model does not say. ``token`` is
    its text, from servers that number no tokens: ``id`` is None there.
    """

    id: int | None
    logprob: float | None = None
    gap: float | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one request.

    Parameters
    ----------
    key : (item, epoch, condition)
    text : str
        What was written.
    finish : str
        ``stop``, ``length`` (hit the token limit), ``refused`` (by the model) or ``error``.
    steps : tuple of Step
        The written tokens; empty where the model does not report them.
    n_prompt, n_written : int or None
        Tokens in and out, as the model counts them.
    n_reused : int
        Prompt tokens whose work was reused from a shared prefix.
    error : str or None
        Why there is no answer; the row is missing data then.
    attempts : int
    system_fingerprint : str or None
        The configuration that answered, as a server names it.
    top : tuple of float
        Log-probabilities of the likeliest first tokens, descending; empty where none came.
    """

    key: Key
    text: str = ""
    finish: str = "stop"
    steps: tuple[Step, ...] = ()
    n_prompt: int | None = None
    n_written: int | None = None
    n_reused: int = 0
    error: str | None = None
    attempts: int = 1
    system_fingerprint: str | None = None
    top: tuple[float, ...] = ()

    @classmethod
    def failed(cls, key: Key, reason: str, *, attempts: int = 1) -> "Result":
        """A result that holds no answer, with its reason."""
        return cls(key, finish="error", error=reason, attempts=attempts)

    @property
    def logprob(self) -> float | None:
        """Sum of the log-probabilities of the written tokens; None where one is unknown."""
        known = [s.logprob for s in self.steps if s.logprob is not None]
        return sum(known) if known and len(known) == len(self.steps) else None


@runtime_checkable
class Tokenizer(Protocol):
    """Text to token ids and back, without special tokens unless they are spelled out."""

    @property
    def bos(self) -> int | None:
        """The id that every prompt starts with; None where the model has no such rule."""
        ...

    @property
    def n_vocabulary(self) -> int:
        """Ids lie in 0 to this, exclusive."""
        ...

    @property
    def special(self) -> frozenset[int]:
        """Ids that are no text: control, unknown and unused tokens."""
        ...

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of a text; special tokens spelled in it are ordinary text, and no BOS is added."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids."""
        ...


@runtime_checkable
class Model(Protocol):
    """Something that completes prompts and says beforehand what else it can do."""

    @property
    def name(self) -> str:
        """The name it was opened by; part of every draw's seed."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """A subset of `CAPABILITIES`."""
        ...

    @property
    def identity(self) -> Mapping[str, Json]:
        """Protocol fields: model, file hash, quantisation, backend and version, template hash."""
        ...

    @property
    def tokenizer(self) -> Tokenizer | None:
        """Present exactly where ``tokens`` is offered."""
        ...

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """Ids of a system turn in the model's own chat template; None where it has no such role."""
        ...

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One result for each request, in any order, failures included.

        Raises
        ------
        BackendError
            Only where no request could be tried at all.
        """
        ...

    def close(self) -> None:
        """Give back what the model holds."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A model that takes requests as it can send them: so many in flight as its server bears.

    Each request is on its own: there is no batch that could change an answer.
    """

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know of the replies so far, a sentence each."""
        ...

    def stream(self, requests: Iterable[Request]) -> Iterator[Sequence[Result]]:
        """Results as they arrive: each part holds all that have come since the part before.

        Requests are made as they are taken; a thread of the model's own may take them.

        Raises
        ------
        BackendError
            Where no further request can succeed: after the results that had arrived.
        """
        ...


def require_capability(model: Model, capability: str, *, what: str) -> None:
    """Refuse, before the first request, what a model cannot do.

    Parameters
    ----------
    what : str
        The thing that needs it, as the user named it: ``condition 'noise 0.4'``.

    Raises
    ------
    InputError
        When the capability is missing; names those that are there.
    """
    if capability in model.capabilities:
        return
    msg = (
        f"{what} needs {capability}; model {model.name!r} offers "
        f"{', '.join(sorted(model.capabilities))}. Use a local model or drop {_dropped(what)}."
    )
    raise InputError(msg)


def require(module: str, *, extra: str, what: str) -> Any:
    """Import an optional dependency where it is used, or say how to get it.

    Raises
    ------
    MissingExtraError
        When the package is not there; the message holds the pip line.

    Examples
    --------
    >>> require("json", extra="embedded", what="this example").dumps(1)
    '1'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # the package is there and broken: do not hide that
        msg = f"{what} needs {module}, which is not installed. Run: pip install 'trueness[{extra}]'"
        raise MissingExtraError(msg) from error


def _dropped(what: str) -> str:
    return f"the {what.partition(' ')[0]}"
