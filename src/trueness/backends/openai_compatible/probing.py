"""What a server can do, asked once before the first question; nothing is assumed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from trueness.backends.openai_compatible import replies
from trueness.backends.openai_compatible.calls import Answer, Call
from trueness.backends.openai_compatible.dialect import SCORINGS, Dialect
from trueness.backends.openai_compatible.refusals import Malformed
from trueness.backends.openai_compatible.replies import Said
from trueness.backends.openai_compatible.scored import read_scored
from trueness.backends.openai_compatible.transport import Transport
from trueness.backends.protocol import Request
from trueness.backends.scoring import Continuation

QUESTION = Request(("probe", 1, "none"), "The capital of France is", max_tokens=1)
_SCORED = Continuation(("probe", "probe"), "The capital of France", " is Paris.")
REFUSED = frozenset({400, 422})
"""The server does not take the request as it is; another form of it may be taken."""
_FORMS = 6


@dataclass(frozen=True, slots=True)
class Found:
    """What the probe showed.

    Parameters
    ----------
    dialect : Dialect
        The form that the server takes.
    model : str or None
        Who answered, as the server says.
    logprobs : bool
        Whether log-probabilities came.
    """

    dialect: Dialect
    model: str | None
    logprobs: bool


def probe(transport: Transport, dialect: Dialect, *, scores: bool) -> Found:
    """The form that the server takes, found with one or a few short requests.

    Parameters
    ----------
    scores : bool
        Whether to find out how log-probabilities of a given text are had.

    Raises
    ------
    BackendError
        When the server is not there, refuses the key, the model or every form.
    """
    dialect, said = _answered(transport, dialect)
    if scores and dialect.api == "completions":
        dialect = _scoring(transport, dialect)
    return Found(dialect, said.model, bool(said.steps) and "logprobs" not in dialect.without)


def _answered(transport: Transport, dialect: Dialect) -> tuple[Dialect, Said]:
    question = QUESTION
    for _ in range(_FORMS):
        answer = transport.ask(_call(dialect.body(question), dialect), replies.read)
        if answer.value is not None:
            return dialect, answer.value
        if "temperature" in answer.said and not question.temperature:
            question = replace(question, temperature=1.0)  # some models are never greedy
            continue
        other = dialect.adapted(answer.said) if _may_adapt(answer) else None
        if other is None:
            raise transport.refused(answer, api=dialect.api)
        dialect = other
    raise transport.refused(answer, api=dialect.api)


def _may_adapt(answer: Answer[Said]) -> bool:
    """Whether another form may help: fields are refused, or what they bring cannot be read."""
    return answer.status in REFUSED or answer.reason == "malformed_reply"


def _scoring(transport: Transport, dialect: Dialect) -> Dialect:
    for name in SCORINGS:
        tried = replace(dialect, scoring=name)

        call = Call(tried.path, tried.scored(_SCORED), first=True, retries=0, remarked=False)
        if transport.ask(call, _read_score).value is not None:
            return tried
    return dialect


def _read_score(reply: Mapping[str, Any]) -> float:
    """The score of the probe's text; a reply without one is none."""
    found = read_scored(reply, _SCORED).logprob
    if found is None:
        raise Malformed
    return found


def _call(body: Mapping[str, object], dialect: Dialect) -> Call:
    return Call(dialect.path, body, first=True, remarked=False)
