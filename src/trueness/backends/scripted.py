"""Deterministic models by name, for tests, demonstrations and the traps that real ones fall into.

A script is one row of a small table (`SCRIPTS`): what is answered about an entity, what a repeated
token in front does to it, and how the batch that carries it misbehaves. Nothing is random: a fault
depends on the prompt, or on how often it was asked, alone.
"""

import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trueness.backends.first_law import FirstLaw
from trueness.backends.protocol import Request, Result, Step
from trueness.backends.scoring import Continuation, Scored
from trueness.backends.scripted_scores import FIRST, GAP, scripted_law, scripted_logprob
from trueness.contract.errors import InputError
from trueness.contract.serial import Json, canonical

VERSION = "2"
BOS = 1
_END = 2
_SPECIAL = frozenset({0, BOS, _END})
_BYTE = 3
_SPACED = _BYTE + 256
_WORD = _SPACED + 256
_WORDS = (b" the", b" of", b" is", b" and", b"The", b"What")
_PIECE = re.compile(b"|".join(map(re.escape, _WORDS)) + rb"| .|.", re.DOTALL)
_IDS = {
    **{bytes((byte,)): _BYTE + byte for byte in range(256)},
    **{bytes((ord(" "), byte)): _SPACED + byte for byte in range(256)},
    **{word: _WORD + number for number, word in enumerate(_WORDS)},
}
_REPEATS = 4  # so many equal ids in front are a repeated prefix


@dataclass(frozen=True, slots=True)
class ScriptedTokenizer:
    """UTF-8 bytes, a byte behind a space, and a few words: small, and exact in both directions.

    A Chinese character costs three ids, so the shortest text is not the shortest prompt.

    >>> tokenizer = ScriptedTokenizer()
    >>> len(tokenizer.encode(" the")), tokenizer.decode(tokenizer.encode("Côte d'Or"))
    (1, "Côte d'Or")
    """

    bos: int | None = BOS
    n_vocabulary: int = _WORD + len(_WORDS)
    special: frozenset[int] = _SPECIAL

    def encode(self, text: str) -> tuple[int, ...]:
        """Longest piece first: a listed word, a space with its next byte, a byte."""
        raw = text.encode("utf-8", "surrogatepass")
        return tuple(map(_IDS.__getitem__, _PIECE.findall(raw)))

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; special ones read as nothing, broken bytes as U+FFFD."""
        raw = b"".join(_bytes_of(i) for i in ids)
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return raw.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Script:
    """One row of the table: what is said, and what goes wrong.

    Parameters
    ----------
    says : str
        ``right``, ``echo``, ``garbage`` (stable, distinct for each entity) or a literal text.
    says_repeated : str or None
        Said behind a repeated token instead; ``one`` is the first answer that the model knows,
        right for one entity and wrong for the others.
    padding : str
        ``right``: in a batch of unequal lengths, all but the longest prompts go wrong.
    order : str
        ``reversed``: texts come back in reverse under the keys in order.
    fails : int
        Of one prompt in so many the first attempt fails; 0 means none.
    seconds : float
        Waited for each batch, however large.
    restless : bool
        The same prompt is answered differently each time.
    """

    says: str = "right"
    says_repeated: str | None = None
    padding: str = "left"
    order: str = "kept"
    fails: int = 0
    seconds: float = 0.0
    restless: bool = False


SCRIPTS: Mapping[str, Script] = {
    "right": Script(),
    "collapse": Script(says_repeated="one"),
    "echo": Script(says="echo"),
    "refuse": Script(says=" I'm sorry, but I cannot answer that."),
    "empty": Script(says=""),
    "garbage": Script(says="garbage"),
    "right-padding": Script(padding="right"),
    "reversed": Script(order="reversed"),
    "flaky": Script(fails=3),
    "slow": Script(says_repeated="one", seconds=0.01),
    "restless": Script(restless=True),
}


def check_script(name: str) -> None:
    """Refuse a name that is not in the table.

    Raises
    ------
    InputError
        Lists those that are.
    """
    if name not in SCRIPTS:
        known = ", ".join(sorted(SCRIPTS))
        msg = f"no scripted model is called {name!r}. Choose one of: {known}."
        raise InputError(msg)


@dataclass(slots=True)
class ScriptedModel:
    """A model that follows one script.

    Parameters
    ----------
    script : str
        A name in `SCRIPTS`.
    facts : mapping of str to str
        What the model knows: entity to answer, and answer to entity for questions asked back. An
        entity it was not told of is answered with stable garbage.
    seconds : float or None
        Instead of the script's own latency for a batch.
    n_context : int
        The longest prompt it reads, in tokens.

    Raises
    ------
    InputError
        For a name that is not in the table.

    Examples
    --------
    >>> model = ScriptedModel("right", {"France": "Paris"})
    >>> [r.text for r in model.complete([Request(("q", 1, "none"), "The capital of France is")])]
    [' Paris']
    """

    script: str
    facts: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    n_context: int = 1 << 20
    asked: Counter[object] = field(default_factory=Counter)
    """How often each prompt was asked, for tests that count."""
    _known: tuple[str, ...] = ()
    _tokenizer: ScriptedTokenizer = field(default_factory=ScriptedTokenizer)

    def __post_init__(self) -> None:
        check_script(self.script)
        self._known = tuple(sorted(self.facts, key=lambda name: (-len(name), name)))

    @property
    def name(self) -> str:
        """``scripted:`` and the name of the script."""
        return f"scripted:{self.script}"

    @property
    def capabilities(self) -> frozenset[str]:
        """Text, tokens and log-probabilities of what is written, is given or could come first."""
        return frozenset({"text", "logprobs", "tokens", "scores", "first_law"})

    @property
    def identity(self) -> Mapping[str, Json]:
        """What stands in the protocol; the facts by their hash."""
        facts = hashlib.sha256(canonical(dict(self.facts)).encode("utf-8", "surrogatepass"))
        return {
            "model": self.name,
            "file_hash": facts.hexdigest(),
            "quantisation": "none",
            "backend": "scripted",
            "backend_version": VERSION,
            "tokenizer_hash": f"scripted/{VERSION}",
            "chat_template": "raw",
            "dtype": "none",
        }

    @property
    def tokenizer(self) -> ScriptedTokenizer:
        """The trivial one."""
        return self._tokenizer

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """None: a scripted model has no chat template."""
        del text
        return None

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One result for each request, after the batch's latency."""
        script = SCRIPTS[self.script]
        time.sleep(script.seconds if self.seconds is None else self.seconds)
        prompts = [self._ids(request.prompt) for request in requests]
        longest = max(map(len, prompts), default=0)
        pads = [script.padding == "right" and len(p) < longest for p in prompts]
        results = [self._one(r, p, pad) for r, p, pad in zip(requests, prompts, pads, strict=True)]
        if script.order == "reversed":
            results = [_rekeyed(a, b) for a, b in zip(results, results[::-1], strict=True)]
        yield from results

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """One score for each continuation, by the words that its prompt holds."""
        for c in continuations:
            ids = self._ids(c.prompt)
            if len(ids) > self.n_context:
                yield Scored(c.key, None, 0, "context_length")
            else:
                yield Scored(c.key, *scripted_logprob(self._tokenizer.decode(ids), c.text))

    def first_laws(self, requests: Sequence[Request]) -> Iterator[FirstLaw]:
        """One law for each request: always the same numbers, around the token that comes first.

        So sure is the script of right and wrong answers alike: an observer that stands still.
        """
        script = SCRIPTS[self.script]
        for request in requests:
            ids = self._ids(request.prompt)
            if len(ids) > self.n_context:
                yield FirstLaw(request.key, None, "context_length")
            else:
                first = self._tokenizer.encode(self._says(script, ids))[:1] or (_END,)
                yield FirstLaw(request.key, scripted_law(first[0], self._tokenizer.n_vocabulary))

    def close(self) -> None:
        """Nothing is held."""

    def _ids(self, prompt: str | tuple[int, ...]) -> tuple[int, ...]:
        return self._tokenizer.encode(prompt) if isinstance(prompt, str) else prompt

    def _one(self, request: Request, ids: tuple[int, ...], pad: bool) -> Result:  # noqa: FBT001 - private
        script = SCRIPTS[self.script]
        self.asked[ids] += 1
        if len(ids) > self.n_context:
            return Result.failed(request.key, "context_length")
        if script.fails and _digest(ids) % script.fails == 0 and self.asked[ids] == 1:
            return Result.failed(request.key, "timeout")
        text = " of of of" if pad else self._says(script, ids)
        if script.restless:
            text = f"{text} {self.asked[ids]}"
        if request.temperature > 0 and _draw(request.seed) < min(request.temperature / 4, 1):
            text = _garbage(request.seed)
        return self._result(request, ids, text)

    def _says(self, script: Script, ids: tuple[int, ...]) -> str:
        said = script.says
        body = tuple(i for i in ids if i != BOS)
        repeated = len(body) > _REPEATS and len(set(body[:_REPEATS])) == 1
        if script.says_repeated is not None and repeated:
            return self._one_answer() if script.says_repeated == "one" else script.says_repeated
        if said not in {"right", "echo", "garbage"}:
            return said
        text = self._tokenizer.decode(body)
        entity = self._entity(text)
        if said == "garbage" or entity is None:
            return _garbage(_digest(tuple(body[-24:])) if entity is None else entity)
        return f" {entity if said == 'echo' else self.facts[entity]}"

    def _one_answer(self) -> str:
        known = next(iter(self.facts.values()), None)
        return _garbage("one") if known is None else f" {known}"

    def _entity(self, text: str) -> str | None:
        found = [(text.rfind(name) + len(name), name) for name in self._known if name in text]
        return max(found, key=lambda pair: (pair[0], len(pair[1])))[1] if found else None

    def _result(self, request: Request, ids: tuple[int, ...], text: str) -> Result:
        written = self._tokenizer.encode(text)
        finish = "length" if len(written) > request.max_tokens else "stop"
        # a word-level model would write this in a few tokens: bytes are not held to the limit,
        # one token is (the first-token observable reads no further)
        kept = written[: 1 if request.max_tokens == 1 else None]
        text = self._tokenizer.decode(kept) if request.max_tokens == 1 else text
        finish = finish if request.max_tokens == 1 else "stop"
        steps = tuple(Step(i, logprob=FIRST, gap=GAP) for i in kept)
        return Result(request.key, text, finish, steps, len(ids), len(kept))


def _bytes_of(i: int) -> bytes:
    if i >= _WORD:
        return _WORDS[i - _WORD]
    if i >= _SPACED:
        return bytes((ord(" "), i - _SPACED))
    return bytes((i - _BYTE,)) if i >= _BYTE else b""


def _rekeyed(kept: Result, other: Result) -> Result:
    return Result(
        kept.key,
        other.text,
        other.finish,
        other.steps,
        kept.n_prompt,
        other.n_written,
        error=other.error,
    )


def _digest(value: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).digest())


def _draw(seed: int) -> float:
    return (_digest(("draw", seed)) % 10_000) / 10_000


def _garbage(value: object) -> str:
    """A pronounceable word that is nobody's answer, the same for the same value."""
    number, word = _digest(("garbage", value)), ""
    for _ in range(5):
        number, a = divmod(number, 17)
        number, b = divmod(number, 5)
        word += "bdfgklmnprstvzxqj"[a] + "aeiou"[b]
    return f" {word}"
