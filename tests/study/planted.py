"""Models with a planted truth, and studies run on them."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trueness.backends.protocol import Request, Result, Step
from trueness.backends.scoring import Continuation, Scored
from trueness.backends.scripted import BOS, ScriptedModel
from trueness.collect import facts_of
from trueness.study import asked as asking
from trueness.study import carrying_out, constrained, ensembles
from trueness.study.asked import declared_relations
from trueness.study.carrying_out import Carried, carry_out
from trueness.study.declarations import Declaration, declared_study
from trueness.study.inputs import Inputs

Says = Callable[[Request, str, str | None], str | None]
"""From (request, text without BOS, right answer) to what is said; None: nothing comes back."""


@dataclass
class Words:
    """A word with the white space in front of it is one token, numbered by its hash."""

    bos: int | None = BOS
    n_vocabulary: int = 1 << 16
    special: frozenset[int] = frozenset({0, BOS, 2})
    seen: dict[str, int] = field(default_factory=dict)

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(self.seen.setdefault(w, _number(w)) for w in _WORD.findall(text))

    def decode(self, ids: Sequence[int]) -> str:
        back = {i: w for w, i in self.seen.items()}
        return "".join(back.get(i, f" w{i}") for i in ids)


def _number(word: str) -> int:
    return 3 + int.from_bytes(hashlib.sha256(word.encode()).digest()[:5]) % (2**16 - 3)


_WORD = re.compile(r"\s*\S+|\s+")


@dataclass(slots=True)
class Planted(ScriptedModel):
    """Answers by a rule that sees the condition, the text and the right answer.

    The rightful relation is told by the words of its first template before the entity.
    """

    rule: Says = lambda _request, _text, right: right or "nothing"
    known: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    n_asked: int = 0
    words: Words = field(default_factory=Words)
    sure: Callable[[Request], float] = lambda _request: 1.0
    finds: Callable[[str, str], float] = lambda _text, _answer: -1.0

    @property
    def tokenizer(self) -> Words:  # type: ignore[override] # words in place of bytes
        return self.words

    def _ids(self, prompt: str | tuple[int, ...]) -> tuple[int, ...]:
        return self.words.encode(prompt) if isinstance(prompt, str) else prompt

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text", "logprobs", "tokens", "logits", "scores", "embeddings_in"})

    def next_logits(self, requests: Sequence[Request]) -> NDArray[np.float32]:
        """A peak at the first token of what is said, as high as the rule `sure` says."""
        out = np.zeros((len(requests), self.words.n_vocabulary), np.float32)
        for i, (request, result) in enumerate(zip(requests, self.complete(requests), strict=True)):
            out[i, result.steps[0].id] = self.sure(request)
        return out

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        for one in continuations:
            ids = self._ids(one.prompt)
            text = self.words.decode([i for i in ids if i != BOS])
            yield Scored(one.key, self.finds(text, one.text.strip()), 1)

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        for request in requests:
            self.n_asked += 1
            ids = self._ids(request.prompt)
            text = self.words.decode([i for i in ids if i != BOS])
            answer = self.rule(request, text, self.right(request))
            if answer is None:
                yield Result.failed(request.key, "timeout")
                continue
            said = " " + answer.strip()
            written = self.words.encode(said)
            kept = written[: 1 if request.max_tokens == 1 else None]
            steps = tuple(Step(i, logprob=-0.125, gap=4.0) for i in kept)
            yield Result(request.key, self.words.decode(kept), "stop", steps, len(ids), len(kept))

    def right(self, request: Request) -> str | None:
        relation, entity, _ = request.key[0].rsplit("|", 2)
        return self.known.get(relation, {}).get(entity)


class TextOnly(Planted):
    """The same behind an endpoint that takes and gives text alone."""

    @property
    def tokenizer(self) -> None:  # type: ignore[override] # none
        return None

    @property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"text"})

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        for request in requests:
            assert isinstance(request.prompt, str)
            self.n_asked += 1
            said = self.rule(request, request.prompt, self.right(request))
            yield Result(request.key, f" {said}", "stop")


def run_on(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
    study: str,
    rule: Says,
    *,
    limit: int | None = None,
    seed: int = 0,
    relations: Sequence[str] | None = None,
    kind: type[Planted] = Planted,
    second: Says | None = None,
    cut: Mapping[str, Mapping[str, Any]] | None = None,
    **more: Any,
) -> Carried:
    """A study on a planted model, or on two; its requests cached in a folder of the test.

    ``cut`` holds keys of tables of the declaration, or of its conditions by name, and less of them;
    under the empty key fields of it.
    """
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    declaration = _cut(declared_study(study), cut or {})
    if cut is not None:
        monkeypatch.setattr(carrying_out, "declared_study", lambda _name: declaration)
    most = limit or declaration.repeats
    asked = declared_relations(declaration, most)
    if relations is not None:
        asked = {name: asked[name] for name in relations}
    known = {r.name: facts_of(r) for r in asked.values()}

    def opened(name: str, _options: object = None, **_given: object) -> Planted:
        if second is not None and name == "hf:second":
            return kind("echo", {"x": "y"}, rule=second, known=known, **more)
        return kind("garbage", {"x": "y"}, rule=rule, known=known, **more)

    for module in (asking, constrained, ensembles):
        if hasattr(module, "declared_relations") and relations is not None:
            monkeypatch.setattr(module, "declared_relations", lambda *_: asked)
    monkeypatch.setattr(asking, "open_model", opened)
    inputs = Inputs(model="planted", second_model=None if second is None else "hf:second")
    return carry_out(study, inputs=inputs, seed=seed, limit=limit)


def _cut(declaration: Declaration, cut: Mapping[str, Mapping[str, Any]]) -> Declaration:
    raw = dict(declaration.raw)
    for name in cut.keys() & raw.keys():
        raw[name] = {**raw[name], **cut[name]}
    raw["condition"] = [{**c, **cut.get(c["name"], {})} for c in raw.get("condition", ())]
    return replace(declaration, raw=raw, **cut.get("", {}))
