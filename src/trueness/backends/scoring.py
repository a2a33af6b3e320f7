"""How likely a model finds a given text after another: what ``scores`` offers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from trueness.backends.protocol import Model
from trueness.contract.errors import InputError

Name = tuple[str, str]
"""What a continuation and its score have in common: (item, what it is for)."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A text whose log-probability after a prompt is wanted.

    Parameters
    ----------
    key : (str, str)
        Comes back with the score; scores are keyed, never positional.
    prompt : str or tuple of int
        What stands before: text, or ids sent as they are. May be empty where the model has a BOS.
    text : str
        Encoded behind the prompt as text of its own, so that prompt and text never fuse.
    """

    key: Name
    prompt: str | tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of one continuation.

    Parameters
    ----------
    key : (str, str)
    logprob : float or None
        Sum of the natural log-probabilities of its tokens; None with an error.
    n_tokens : int
    error : str or None
        ``context_length``, ``non_finite_logits`` or what the backend met.
    """

    key: Name
    logprob: float | None
    n_tokens: int
    error: str | None = None


@runtime_checkable
class Scorer(Protocol):
    """A model that offers ``scores``."""

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """One score for each continuation, in any order, failures included.

        Raises
        ------
        BackendError
            Only where none could be tried at all.
        """
        ...


def scorer_of(model: Model, *, what: str) -> Scorer:
    """The model as a scorer.

    Parameters
    ----------
    what : str
        The thing that needs it, as the user named it.

    Raises
    ------
    InputError
        When the model does not say how likely a given text is.
    """
    if "scores" in model.capabilities and isinstance(model, Scorer):
        return model
    msg = (
        f"{what} needs scores (log-probabilities of a given text); model {model.name!r} offers "
        f"{', '.join(sorted(model.capabilities))}. Use embedded, gguf:, hf:, or an endpoint that "
        "returns prompt log-probabilities."
    )
    raise InputError(msg)
