"""The whole law of the first token behind a prompt: what ``first_law`` offers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueness.backends.forcing import UNDERFLOW
from trueness.backends.protocol import Key, Request


@dataclass(frozen=True, slots=True, eq=False)
class FirstLaw:
    """What one pass says of the first token of an answer, before anything is drawn.

    Parameters
    ----------
    key : (item, epoch, condition)
        Comes back with the law; laws are keyed, never positional.
    logprobs : (V,) float64 or None
        Of every token, in nats, at temperature 1; ``-inf`` where there is no mass. Single precision
        may leave their sum some thousandths off 1. None with an error.
    error : str or None
        ``context_length``, ``non_finite_logits`` or what the backend met.
    """

    key: Key
    logprobs: NDArray[np.float64] | None
    error: str | None = None


@runtime_checkable
class ShowsFirstLaw(Protocol):
    """A model that offers ``first_law``."""

    def first_laws(self, requests: Sequence[Request]) -> Iterator[FirstLaw]:
        """One law for each request, failures included; nothing but its prompt matters."""
        ...


@runtime_checkable
class ListsLikeliest(Protocol):
    """A model that offers ``top_logprobs`` with every answer."""

    @property
    def most_top(self) -> int:
        """The most log-probabilities of a token that it lists; 0 where it lists none after all."""
        ...


def listed_law(reply: Mapping[str, Any], n_tokens: int) -> NDArray[np.float64] | str:
    """(V,) log-probabilities by id out of a list of all tokens, or why there are none.

    >>> tops = [{"id": 1, "logprob": -0.5}, {"id": 0, "logprob": -1.0}]
    >>> listed_law({"completion_probabilities": [{"top_logprobs": tops}]}, 2).tolist()
    [-1.0, -0.5]
    """
    place: Mapping[str, Any] = (reply.get("completion_probabilities") or ({},))[0]
    law = np.full(n_tokens, np.nan)
    for top in place.get("top_logprobs", ()):
        value = top.get("logprob")
        if not isinstance(value, float | int) or math.isnan(value):
            return "non_finite_logits"
        law[int(top["id"])] = -np.inf if value < UNDERFLOW else value
    return "token_not_reported" if np.isnan(law).any() else law
