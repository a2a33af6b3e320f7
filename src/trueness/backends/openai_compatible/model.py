"""A model behind an OpenAI-compatible server: a `Model` that streams, and a `Scorer`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from trueness.backends.openai_compatible import replies
from trueness.backends.openai_compatible.calls import Answer, Call
from trueness.backends.openai_compatible.dialect import APIS, SCORINGS, Dialect
from trueness.backends.openai_compatible.endpoint import Endpoint
from trueness.backends.openai_compatible.probing import QUESTION, REFUSED, Found, probe
from trueness.backends.openai_compatible.refusals import Malformed
from trueness.backends.openai_compatible.replies import Said
from trueness.backends.openai_compatible.scored import read_scored
from trueness.backends.openai_compatible.transport import Transport
from trueness.backends.protocol import Key, Request, Result
from trueness.backends.scoring import Continuation, Scored
from trueness.contract.errors import InputError
from trueness.contract.serial import Json

VERSION = "1"
OTHER_MODEL = "other_model"
"""The reply names another model than the first one did."""
MOST_TOP = (20, 5)
"""How many log-probabilities of a token servers list, the first that is taken."""
_TOLD = ("auto", "yes", "no")


class OpenAIModel:
    """A model by the name that its server knows it by; each request is a call of its own.

    Parameters
    ----------
    model : str
    endpoint : Endpoint
    api : {"chat", "completions"}
        Questions as turns of a chat, or as raw text that is continued.
    logprobs : {"auto", "yes", "no"}
        Whether log-probabilities are asked for; ``auto`` asks once whether the server gives them.
    scores : {"auto", "no", "echo", "prompt_logprobs"}
        How log-probabilities of a given text are had; ``auto`` tries both, of raw text only.
    ask_first : bool
        Whether short requests find out how the server wants to be asked. Without them the protocol
        does not know what the server calls its model, and ``auto`` means no.
    extra : mapping, optional
        Fields added to every body, e.g. ``{"top_k": 0}``; they stand in the protocol.

    Raises
    ------
    InputError
        For a choice that is none, or scores of a chat.
    MissingExtraError
        Without httpx2.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        api: str = "chat",
        logprobs: str = "auto",
        scores: str = "auto",
        ask_first: bool = True,
        extra: Mapping[str, Json] | None = None,
    ) -> None:
        _check("api", api, APIS)
        _check("logprobs", logprobs, _TOLD)
        _check("scores", scores, ("auto", "no", *SCORINGS))
        if api == "chat" and scores in SCORINGS:
            msg = f"scores={scores} needs raw text, and the api is chat. Add -M api=completions."
            raise InputError(msg)
        self._name = f"openai:{model}"
        self._told = (logprobs, scores)
        self._ask_first = ask_first
        without = ("logprobs",) if _is_off(logprobs, ask_first=ask_first) else ()
        scoring = scores if scores in SCORINGS else None
        self._asked = Dialect(model, api, without=without, scoring=scoring, extra=extra or {})
        self._transport = Transport(endpoint, what=f"model {self._name!r}")
        self._fingerprints: set[str] = set()

    @property
    def name(self) -> str:
        """``openai:`` and the server's name of the model."""
        return self._name

    @property
    def capabilities(self) -> frozenset[str]:
        """Text; what else the server showed that it gives."""
        found = {"text"}
        if self._found.logprobs:
            found |= {"logprobs", "top_logprobs"}
        if self._found.dialect.scoring:
            found.add("scores")
        if self._found.dialect.api == "chat":
            found.add("system_role")
        return frozenset(found)

    @cached_property
    def identity(self) -> Mapping[str, Json]:
        """What stands in the protocol; the server's address does not."""
        chat = self._found.dialect.api == "chat"
        return {
            "model": self._name,
            "revision": self._found.model,
            "quantisation": "unknown",
            "backend": "openai_compatible",
            "backend_version": VERSION,
            "tokenizer_hash": None,
            "chat_template": "the server's" if chat else "raw",
            "dtype": "unknown",
            "request": self._found.dialect.facts,
        }

    @property
    def tokenizer(self) -> None:
        """None: a server of this kind shows no tokenizer."""
        return

    @cached_property
    def most_top(self) -> int:
        """The most log-probabilities that the server lists for a token; 0 where it lists none.

        Raises
        ------
        BackendError
            When the server neither answers nor refuses the request, with all tries.
        """
        if not (self._ask_first and self._found.logprobs):
            return 0
        dialect = self._found.dialect
        for wanted in MOST_TOP:
            call = Call(dialect.path, dialect.body(replace(QUESTION, top=wanted)), remarked=False)
            answer = self._transport.ask(call, replies.read)
            if answer.value is None and answer.status not in REFUSED:
                raise self._transport.refused(answer, api=dialect.api)
            if answer.value is not None and len(answer.value.top) > 1:
                return min(wanted, len(answer.value.top))
        return 0

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the server said to refuse requests, and whether its configuration changed."""
        changed = len(self._fingerprints) > 1
        names = ", ".join(sorted(self._fingerprints))
        note = f"the server's configuration changed between answers (system_fingerprint {names})"
        return (*self._transport.remarks, *((note,) if changed else ()))

    def system_ids(self, text: str) -> None:
        """None: a system prompt goes in its role, as text."""
        del text

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One result for each request, as it arrives."""
        for part in self.stream(requests):
            yield from part

    def stream(self, requests: Iterable[Request]) -> Iterator[list[Result]]:
        """Results as they arrive, with as many requests in flight as the server bears.

        Raises
        ------
        BackendError
            When the server refuses the key, has no quota left, or is not there any more.
        InputError
            For token ids as a chat's turn, or a system prompt to be continued.
        """
        calls = self._calls(requests, self._found.dialect)  # found here: the thread asks nothing
        for part in self._transport.stream(calls, replies.read):
            yield [self._result(key, answer) for key, answer in part]

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """One score for each continuation, as it arrives.

        A text that shares a token with the end of its prompt has none: ``prompt_and_text_fuse``.
        """
        dialect = self._found.dialect
        if dialect.scoring is None:
            msg = f"{self._name} gives no log-probabilities of a given text. Use a local model."
            raise InputError(msg)
        asked = {c.key: c for c in continuations}
        calls = ((c.key, Call(dialect.path, dialect.scored(c))) for c in continuations)
        for part in self._transport.stream(calls, dict):
            for key, answer in part:
                yield _scored(asked[key], answer)

    def close(self) -> None:
        """End the connections."""
        self._transport.close()

    @cached_property
    def _found(self) -> Found:
        logprobs, scores = self._told
        if not self._ask_first:
            return Found(self._asked, None, logprobs == "yes")
        found = probe(self._transport, self._asked, scores=scores == "auto")
        if logprobs == "yes" and not found.logprobs:
            msg = f"{self._name} gives no log-probabilities. Drop -M logprobs=yes."
            raise InputError(msg)
        return found

    def _check_request(self, request: Request) -> None:
        chat = self._found.dialect.api == "chat"
        if chat and not isinstance(request.prompt, str):
            msg = f"{self._name} is asked by chat, which takes text and no ids. Give text."
            raise InputError(msg)
        if request.system and not chat:
            msg = f"{self._name} continues raw text and has no system role. Use -M api=chat."
            raise InputError(msg)
        if request.allowed or request.noise:
            msg = f"{self._name} takes neither allowed answers nor noise. Use a local model."
            raise InputError(msg)

    def _calls(self, requests: Iterable[Request], dialect: Dialect) -> Iterator[tuple[Key, Call]]:
        for request in requests:
            self._check_request(request)
            yield request.key, Call(dialect.path, dialect.body(request), request.seed)

    def _result(self, key: Key, answer: Answer[Said]) -> Result:
        said = answer.value
        if said is None:
            return Result.failed(key, str(answer.reason), attempts=answer.attempts)
        if said.system_fingerprint is not None:
            self._fingerprints.add(said.system_fingerprint)
        if self._found.model is not None and said.model not in {None, self._found.model}:
            return Result.failed(key, OTHER_MODEL, attempts=answer.attempts)
        return said.result(key, answer.attempts)


def _scored(asked: Continuation, answer: Answer[dict[str, Any]]) -> Scored:
    if answer.value is None:
        return Scored(asked.key, None, 0, answer.reason)
    try:
        return read_scored(answer.value, asked)
    except Malformed:
        return Scored(asked.key, None, 0, "malformed_reply")


def _is_off(logprobs: str, *, ask_first: bool) -> bool:
    return logprobs == "no" or (logprobs == "auto" and not ask_first)


def _check(name: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        msg = f"{name}={given!r} is no choice of an openai model; choose {', '.join(known)}."
        raise InputError(msg)
