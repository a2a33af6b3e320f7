"""A key becomes a request, when it is asked and not before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from trueness.backends.protocol import Key, Model, Request
from trueness.collect.binding import Bound
from trueness.collect.cache import cache_key, describe
from trueness.collect.questions import Question
from trueness.collect.seeds import draw_seed
from trueness.collect.tally import Settings

_PROMPTS = 1024
"""So many prompts are kept at hand: an item's draws share one."""


@dataclass(slots=True)
class Requests:
    """The requests of one condition.

    Parameters
    ----------
    model : Model
    bound : Bound
        What stands in front of every prompt.
    settings : Settings
    items : mapping of item to Question
    """

    model: Model
    bound: Bound
    settings: Settings
    items: Mapping[str, Question]
    _prompt: Callable[[str], str | tuple[int, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tokenizer, bound = self.model.tokenizer, self.bound

        def prompt(text: str) -> str | tuple[int, ...]:
            return bound.prompt(text, None if tokenizer is None else tokenizer.encode(text))

        self._prompt = lru_cache(_PROMPTS)(prompt)

    def of(self, key: Key) -> Request:
        """The whole request of a draw; equal keys, equal requests."""
        item, epoch, condition = key
        question, s = self.items[item], self.settings
        return Request(
            key=key,
            prompt=self._prompt(question.prompt),
            max_tokens=self.bound.max_tokens(s.max_tokens),
            temperature=s.temperature,
            top_p=s.top_p,
            seed=draw_seed(
                s.seed, model=self.model.name, condition=condition, item=item, epoch=epoch
            ),
            shared=self.bound.n_shared,
            system=self.bound.system,
            noise=self.bound.noise,
            noise_scale=self.bound.condition.scale,
            allowed=self.bound.allowed(question),
            top=s.top,
        )

    def question(self, key: Key) -> Question:
        """What a draw asks."""
        return self.items[key[0]]

    def cache_key(self, request: Request) -> str:
        """The key under which a cache knows the request."""
        return cache_key(describe(request, self.model))
