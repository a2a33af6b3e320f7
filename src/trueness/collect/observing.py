"""What of a completion is the answer, its short text or its first token, and what else is kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from trueness.backends.protocol import Model, Result, Tokenizer, require_capability
from trueness.collect.questions import Question
from trueness.collect.rendering import joined
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.extract import extract, extractor_name

OBSERVABLES = ("string", "first_token")
RECORDED = ("one_pass", "hidden_states", "answer_logprobs")
_RULE = "first_token@1"
Row = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Observable:
    """The rule from a result to a row; golds go through the same rule.

    Parameters
    ----------
    kind : {"string", "first_token"}
        The text written, cut at the first line end, then at the first comma or sentence end; or
        the id of the first token written.
    tokenizer : Tokenizer or None
        Needed for first tokens.
    recorded : tuple of str
        What of the pass behind it is recorded beside it: ``one_pass``, ``hidden_states``,
        ``answer_logprobs``.
    """

    kind: str
    tokenizer: Tokenizer | None
    recorded: tuple[str, ...] = ()

    @classmethod
    def of(cls, wanted: str, model: Model) -> "Observable":
        """The rule for a model, refused where the model cannot show it.

        Parameters
        ----------
        wanted : str
            With commas: one rule of `OBSERVABLES` at most, ``string`` where none is named, and what
            is recorded beside it.
        model : Model
        """
        names = [name.strip() for name in wanted.split(",")]
        kinds = [name for name in names if name in OBSERVABLES]
        recorded = tuple(name for name in RECORDED if name in names)
        unknown = [name for name in names if name not in (*OBSERVABLES, *RECORDED)]
        if unknown or len(kinds) > 1 or len(set(names)) < len(names):
            msg = (
                f"observable {wanted!r} is not known; choose 'string' or 'first_token', and beside "
                f"it {' or '.join(map(repr, RECORDED))}, with commas."
            )
            raise InputError(msg)
        kind = kinds[0] if kinds else OBSERVABLES[0]
        if kind == "first_token":
            require_capability(model, "tokens", what="observable 'first_token'")
        return cls(kind, model.tokenizer, recorded)

    @property
    def extractor(self) -> str:
        """Name and version of the rule, for the protocol."""
        return _RULE if self.kind == "first_token" else extractor_name("short_cut")

    def key(self, result: Result) -> str | None:
        """The answer key of a completed result; None where it holds no answer."""
        if self.kind == "first_token":
            first = result.steps[0].id if result.steps else None
            return None if first is None or self._ends(first) else f"tok:{first}"
        return extract(result.text, kind="short_cut").key

    def row(self, question: Question, result: Result) -> Row:
        """The row of one draw: outcome, key, reason, evidence, golds."""
        item, epoch, condition = result.key
        outcome, reason, key = self._outcome(result)
        row: Row = {
            "item": item,
            "epoch": epoch,
            "condition": condition,
            "relation": question.relation,
            "entity": question.entity,
            "template": question.template,
            "completion": None if result.error else result.text,
            "outcome": outcome,
            "answer": key if outcome == "answered" else None,
            "reason": reason,
            "logprob": result.logprob,
            "stop_reason": result.finish,
            "attempts": result.attempts,
            "tokens_in": result.n_prompt,
            "tokens_out": result.n_written,
        }
        if result.system_fingerprint is not None:
            row["system_fingerprint"] = result.system_fingerprint
        if question.golds:
            row["target"] = list(self.targets(question))
        if self.kind == "first_token":
            row["entity_key"] = self._first(question, question.entity)
        return row

    def targets(self, question: Question) -> tuple[str, ...]:
        """Golds through the same rule; those without a key are left out."""
        if self.kind == "first_token":
            keys = [self._first(question, gold) for gold in question.golds]
        else:
            keys = [extract(gold, kind="short_cut").key for gold in question.golds]
        return tuple(dict.fromkeys(key for key in keys if key is not None))

    def single_token_golds(self, questions: Mapping[str, Question]) -> tuple[int, int]:
        """How many distinct (template, gold) pairs are one token, of how many."""
        if self.tokenizer is None:
            return 0, 0
        pairs = {(joined(q.prompt, gold)) for q in questions.values() for gold in q.golds}
        return sum(len(self.tokenizer.encode(text)) == 1 for text in pairs), len(pairs)

    def _ends(self, token: int) -> bool:
        """Whether an id is no text: the model ended before it wrote anything."""
        return self.tokenizer is not None and token in self.tokenizer.special

    def _first(self, question: Question, name: str) -> str | None:
        if self.tokenizer is None:
            return None
        ids = self.tokenizer.encode(joined(question.prompt, name))
        return f"tok:{ids[0]}" if ids else None

    def _outcome(self, result: Result) -> tuple[str, str | None, str | None]:
        """Outcome, reason and key of a result."""
        if result.error is not None:
            return "error", result.error, None
        if result.finish == "refused":
            return "refused", "refusal", None
        if self.kind == "first_token":
            key = self.key(result)
            return ("no_answer", "empty", None) if key is None else ("answered", None, key)
        found = extract(result.text, kind="short_cut")
        if found.reason == "empty" and result.finish == "length":
            return "truncated", "token_limit", None
        return str(found.outcome), found.reason, found.key
