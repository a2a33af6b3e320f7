"""What a server is sent: one body for each request, in the form that the server takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trueness.backends.protocol import Request
from trueness.backends.scoring import Continuation
from trueness.contract.serial import Json

PATHS = {"chat": "/chat/completions", "completions": "/completions"}
APIS = tuple(PATHS)
SCORINGS = ("echo", "prompt_logprobs")
_TOP = 2
"""Likeliest tokens that are asked for at each place: their distance is the gap."""
_OPTIONAL = ("logprobs", "seed", "top_p")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a server wants to be asked.

    Parameters
    ----------
    model : str
        As the server names it.
    api : {"chat", "completions"}
    limit : str
        Name of the field that limits the answer: newer services refuse ``max_tokens``.
    without : tuple of str
        Of ``logprobs``, ``seed`` and ``top_p``: those that are not sent.
    scoring : {"echo", "prompt_logprobs"} or None
        How log-probabilities of a given text are had; None where they are not.
    extra : mapping
        Fields added to every body.
    """

    model: str
    api: str = "chat"
    limit: str = "max_tokens"
    without: tuple[str, ...] = ()
    scoring: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Below the base URL."""
        return PATHS[self.api]

    @property
    def facts(self) -> dict[str, Json]:
        """What stands in the protocol."""
        facts: dict[str, Json] = {"api": self.api, "not_sent": list(self.without)}
        return {**facts, "extra": dict(self.extra)} if self.extra else facts

    def body(self, request: Request) -> dict[str, object]:
        """The body of a request; one choice, never streamed."""
        body: dict[str, object] = {
            "model": self.model,
            **self._asked(request),
            self.limit: request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            **({"stop": list(request.stop)} if request.stop else {}),
            **self._logprobs(request.top),
        }
        kept = {name: value for name, value in body.items() if name not in self.without}
        return {**kept, **self.extra}

    def scored(self, continuation: Continuation) -> dict[str, object]:
        """The body that asks for the log-probabilities of prompt and text; writes next to nothing.

        ``echo`` gives them in the answer's place, ``prompt_logprobs`` beside it.
        """
        prompt = f"{continuation.prompt}{continuation.text}"
        body: dict[str, object] = {"model": self.model, "prompt": prompt, "temperature": 0.0}
        if self.scoring == "echo":
            return {**body, "max_tokens": 0, "echo": True, "logprobs": 1, **self.extra}
        return {**body, "max_tokens": 1, "prompt_logprobs": 0, **self.extra}

    def adapted(self, said: str) -> "Dialect | None":
        """The form to try after a refusal in these words; None when there is no other."""
        if "max_completion_tokens" in said and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        left = [name for name in _OPTIONAL if name not in self.without]
        named = next((name for name in left if name in said), None)
        dropped = named or ("logprobs" if "logprobs" in left else None)
        return replace(self, without=(*self.without, dropped)) if dropped else None

    def _asked(self, request: Request) -> dict[str, object]:
        if self.api == "completions":
            prompt = request.prompt
            return {"prompt": prompt if isinstance(prompt, str) else list(prompt)}
        front = [{"role": "system", "content": request.system}] if request.system else []
        return {"messages": [*front, {"role": "user", "content": request.prompt}]}

    def _logprobs(self, wanted: int) -> dict[str, object]:
        if "logprobs" in self.without:
            return {}
        most = max(_TOP, wanted)
        if self.api == "completions":
            return {"logprobs": most}
        return {"logprobs": True, "top_logprobs": most}
