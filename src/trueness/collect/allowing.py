"""Answers from a list: which texts are allowed, and who chooses among them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trueness.backends.protocol import Model, Request, Result, Step, Tokenizer
from trueness.backends.scoring import Continuation, Scored, Scorer
from trueness.collect.conditions import Condition
from trueness.collect.questions import Question
from trueness.collect.rendering import joined
from trueness.contract.errors import InputError
from trueness.contract.serial import Json

Answers = Mapping[str, tuple[str, ...]]
"""The allowed answers of each relation, as names."""


def answers_of(asked: Iterable[Question], condition: Condition) -> Answers:
    """The distinct right answers of every relation that is asked about.

    Raises
    ------
    InputError
        For a relation without golds: nothing says what is allowed there.
    """
    found: dict[str, dict[str, None]] = {}
    for question in asked:
        found.setdefault(question.relation, {}).update(dict.fromkeys(question.golds))
    bare = [name for name, golds in found.items() if not golds]
    if bare:
        msg = (
            f"condition {condition.name!r} allows the right answers of a relation, and "
            f"{bare[0]!r} has no golds. Give them, or drop the condition."
        )
        raise InputError(msg)
    return {name: tuple(golds) for name, golds in found.items()}


def check_first_tokens(
    asked: Iterable[Question], answers: Answers, tokenizer: Tokenizer | None, name: str
) -> None:
    """Refuse to choose by first tokens among answers that share one.

    Raises
    ------
    InputError
        Naming the answers, or because there are no tokens to look at.
    """
    if tokenizer is None:
        msg = f"condition {name!r} needs tokens, which this model does not offer; allow 'string'."
        raise InputError(msg)
    written = {
        (q.relation, answer, joined(q.prompt, answer))
        for q in asked
        for answer in answers[q.relation]
    }
    first: dict[tuple[str, int], str] = {}
    for relation, answer, text in sorted(written):
        ids = tokenizer.encode(text)
        if not ids:
            msg = f"condition {name!r}: the answer {answer!r} of {relation!r} has no token."
            raise InputError(msg)
        other = first.setdefault((relation, ids[0]), answer)
        if other != answer:
            msg = (
                f"condition {name!r}: the answers {other!r} and {answer!r} of {relation!r} start "
                "with the same token, which cannot tell them apart. Allow 'string' instead."
            )
            raise InputError(msg)


def facts_of_answers(condition: Condition, answers: Answers) -> dict[str, Json]:
    """What the protocol says of allowed answers; nothing where any answer is."""
    if not condition.allowed:
        return {}
    listed: dict[str, Json] = {name: list[Json](texts) for name, texts in answers.items()}
    return {"allowed": {"form": condition.allowed, "answers": listed}}


def chooser(model: Model, condition: Condition) -> Model:
    """The model, able to choose among allowed answers: by itself, or by scores of all of them.

    Raises
    ------
    InputError
        When it can do neither.
    """
    if not condition.allowed or "allowed_answers" in model.capabilities:
        return model
    if isinstance(model, Scorer) and "scores" in model.capabilities:
        return ByScores(model)
    msg = (
        f"condition {condition.name!r} needs allowed_answers or scores; model {model.name!r} "
        f"offers {', '.join(sorted(model.capabilities))}. Use a local model or drop the condition."
    )
    raise InputError(msg)


@dataclass(frozen=True, slots=True)
class ByScores:
    """A model that scores texts, choosing the one with the largest sum of log-probabilities.

    With one token to write, the first tokens of the texts are scored instead. Ties and numbers
    that are not finite are errors, never answers.
    """

    model: Model

    @property
    def name(self) -> str:
        """The model's own."""
        return self.model.name

    @property
    def capabilities(self) -> frozenset[str]:
        """The model's own, and the choice."""
        return self.model.capabilities | {"allowed_answers"}

    @property
    def identity(self) -> Mapping[str, Json]:
        """The model's own."""
        return self.model.identity

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The model's own."""
        return self.model.tokenizer

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """The model's own."""
        return self.model.system_ids(text)

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One choice for each request."""
        for request in requests:
            yield self._choose(request)

    def close(self) -> None:
        """The model is closed by whoever opened it."""

    def _choose(self, request: Request) -> Result:
        if not isinstance(self.model, Scorer):
            return Result.failed(request.key, "no_scores")
        texts = {text: self._said(text, request.max_tokens == 1) for text in request.allowed}
        wanted = [
            Continuation((request.key[0], text), request.prompt, said)
            for text, said in texts.items()
        ]
        scored = {found.key[1]: found for found in self.model.score(wanted)}
        return self._best(request, scored, texts)

    def _said(self, text: str, first: bool) -> str:  # noqa: FBT001 - private
        tokenizer = self.model.tokenizer
        return tokenizer.decode(tokenizer.encode(text)[:1]) if first and tokenizer else text

    def _best(
        self, request: Request, scored: Mapping[str, Scored], texts: Mapping[str, str]
    ) -> Result:
        failed = [s.error for s in scored.values() if s.error is not None]
        if failed or len(scored) < len(texts):
            return Result.failed(request.key, failed[0] if failed else "no_result")
        ranked = sorted(((s.logprob or 0.0, text) for text, s in scored.items()), reverse=True)
        if len(ranked) > 1 and ranked[0][0] == ranked[1][0]:
            return Result.failed(request.key, "tie")
        total, best = ranked[0]
        gap = total - ranked[1][0] if len(ranked) > 1 else None
        tokenizer = self.model.tokenizer
        ids = () if tokenizer is None else tokenizer.encode(texts[best])
        alone = total if len(ids) == 1 else None
        steps = tuple(Step(i, alone, gap) for i in ids)
        return Result(request.key, best, "stop", steps, n_written=len(ids))
