"""Local GGUF models in llama.cpp, without a compiler and without torch.

The runtime is a server on the loopback interface, in this process, behind a key that only this
process knows: its native completion call takes token ids, reuses the cache of a shared prefix, and
reports written ids, log-probabilities and why it stopped.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from trueness.backends.first_law import FirstLaw, listed_law
from trueness.backends.forcing import Ids, forced_scores
from trueness.backends.gguf import GgufFacts, read_gguf
from trueness.backends.loopback import OK, GgufTokenizer, Loopback
from trueness.backends.protocol import Request, Result, Step, require
from trueness.backends.scoring import Continuation, Scored
from trueness.backends.weights import sha256_of, text_sha256
from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json

_TOO_LONG = "exceed_context_size_error"
_SILENT = -1
_NOT_UNICODE = "not_unicode"


@dataclass(slots=True)
class GgufModel:
    """A local GGUF file, answering one request at a time unless given more slots.

    Parameters
    ----------
    path : Path
    name : str
        As the user gave it: ``embedded`` or ``gguf:FILE``.
    slots : int
        Requests that run side by side. With more than one, llama.cpp reads prompts of several slots
        in one pass and rounds by how they fell together: near ties can differ from run to run.
    n_context : int
        Tokens a slot can hold, prompt and answer; at most what the file was trained for.
    threads : int
        Several wait for the slowest at every layer: on a busy machine that is many times slower.
    sha256 : str or None
        Of the file where it is already known; computed otherwise.

    Raises
    ------
    InputError
        When the file cannot be read as GGUF or a number is below 1.
    MissingExtraError
        When llama.cpp's package is not installed.
    BackendError
        When the runtime refuses the file.
    """

    path: Path
    name: str
    slots: int = 1
    n_context: int = 1024
    threads: int = 1
    sha256: str | None = None
    _facts: GgufFacts = field(init=False)
    _version: str = field(init=False)
    _holder: Any = field(init=False, repr=False, default=None)
    _server: Loopback = field(init=False, repr=False)
    _tokenizer: GgufTokenizer = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if min(self.slots, self.n_context, self.threads) < 1:
            msg = "slots, n_context and threads must each be at least 1."
            raise InputError(msg)
        self._facts = read_gguf(self.path)
        self.n_context = min(self.n_context, self._facts.n_context or self.n_context)
        if self.sha256 is None:
            self.sha256 = sha256_of(self.path)
        runtime = require("xllamacpp", extra="embedded", what=f"model {self.name!r}")
        self._version = str(runtime.__version__)
        self._server = self._start(runtime)
        self._tokenizer = GgufTokenizer(self._server, self._facts)

    @property
    def capabilities(self) -> frozenset[str]:
        """Text, tokens and log-probabilities: written, given, or of all that could come first."""
        return frozenset({"text", "tokens", "logprobs", "scores", "first_law"})

    @property
    def identity(self) -> Mapping[str, Json]:
        """What stands in the protocol."""
        template = self._facts.chat_template
        return {
            "model": self.name if self.name == "embedded" else f"gguf:{self.path.name}",
            "file_hash": self.sha256,
            "quantisation": self._facts.quantisation,
            "backend": "xllamacpp",
            "backend_version": f"{self._version}, plain attention, slots={self.slots}",
            "tokenizer_hash": self._facts.tokenizer_hash,
            "chat_template": "raw" if template is None else text_sha256(template),
            "dtype": "quantised",
        }

    @property
    def tokenizer(self) -> GgufTokenizer:
        """The file's own."""
        return self._tokenizer

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """Ids of a system turn in the file's chat template; None where it has no such role."""
        if self._facts.chat_template is None:
            return None
        body = {
            "messages": [{"role": "system", "content": text}],
            "add_generation_prompt": False,
        }
        try:
            status, reply = self._server.post("/apply-template", body)
        except (OSError, HTTPException, ValueError) as error:
            msg = f"the chat template of {self.name!r} cannot be applied: {error}."
            raise BackendError(msg) from error
        rendered = str(reply.get("prompt", "")) if status == OK else ""
        if text.strip() not in rendered or "system" not in rendered:
            return None  # refused, or folded into another role
        ids = self._tokenizer.encode_template(rendered)
        bos = self._facts.bos
        return ids[1:] if bos is not None and ids[:1] == (bos,) else ids

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """One result for each request, as its slot finishes."""
        if len(requests) == 1:
            yield self._one(requests[0])
            return
        with ThreadPoolExecutor(self.slots, "answer") as pool:
            for waiting in as_completed([pool.submit(self._one, r) for r in requests]):
                yield waiting.result()

    def score(self, continuations: Sequence[Continuation]) -> Iterator[Scored]:
        """One score for each continuation, prompt by prompt; see `trueness.backends.forcing`."""
        groups: dict[str | Ids, list[Continuation]] = {}
        for continuation in continuations:
            groups.setdefault(continuation.prompt, []).append(continuation)
        with ThreadPoolExecutor(self.slots, "score") as pool:
            for done in as_completed([pool.submit(self._scored, g) for g in groups.values()]):
                yield from done.result()

    def first_laws(self, requests: Sequence[Request]) -> Iterator[FirstLaw]:
        """One law for each request, prompt by prompt, each read anew.

        The runtime lists every token by name: that takes much longer than an answer does.
        """
        for request in requests:
            ids = self._prompt_ids(request.prompt)
            if len(ids) >= self.n_context:
                yield FirstLaw(request.key, None, "context_length")
                continue
            alone = replace(request, max_tokens=1, shared=0, stop=())
            reply = self._asked({**_body(alone, ids), "n_probs": self._facts.n_vocabulary})
            found = reply if isinstance(reply, str) else listed_law(reply, self._facts.n_vocabulary)
            if isinstance(found, str):
                yield FirstLaw(request.key, None, found)
            else:
                yield FirstLaw(request.key, found)

    def close(self) -> None:
        """Stop the server and give its memory back."""
        self._holder = None

    def _start(self, runtime: Any) -> Loopback:
        given = runtime.CommonParams()
        key = secrets.token_hex(16)
        given.model.path = str(self.path)
        given.n_parallel, given.n_ctx = self.slots, self.slots * self.n_context
        given.cpuparams.n_threads = given.cpuparams_batch.n_threads = self.threads
        # flash attention rounds by how many tokens a pass holds: a reused prefix would then change
        # answers (docs/decisions/0002-embedded-determinism.md)
        given.flash_attn_type = runtime.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        given.n_threads_http = self.slots + 1
        given.hostnames, given.port, given.api_keys, given.ui = ["127.0.0.1"], 0, [key], False
        given.verbosity = _SILENT
        try:
            self._holder = runtime.Server(given)
        except (RuntimeError, ValueError) as error:
            msg = f"llama.cpp cannot load {self.path}: {error}."
            raise BackendError(msg, hint="Is it a model this version reads?") from error
        address = urlsplit(self._holder.listening_address)
        server = Loopback(str(address.hostname), int(address.port or 0), key)
        self._pass_through(server)
        return server

    def _pass_through(self, server: Loopback) -> None:
        """Wait until the server's loop takes requests: stopped before that, it never ends."""
        body = {"prompt": [0], "n_predict": 0, "cache_prompt": False}
        try:
            server.post("/completion", body)
        except (OSError, HTTPException, ValueError) as error:
            msg = f"the local model {self.name!r} was loaded and does not answer: {error}."
            raise BackendError(msg, hint="Run it again.") from error

    def _one(self, request: Request) -> Result:
        ids = self._prompt_ids(request.prompt)
        if len(ids) + request.max_tokens > self.n_context:
            return Result.failed(request.key, "context_length")
        reply = self._asked(_body(request, ids))
        return (
            Result.failed(request.key, reply) if isinstance(reply, str) else _result(request, reply)
        )

    def _asked(self, body: Mapping[str, object]) -> Mapping[str, Any] | str:
        """The server's completion, or why there is none."""
        try:
            status, reply = self._server.post("/completion", body)
        except TimeoutError:
            return "timeout"
        except (OSError, HTTPException):
            return "connection_lost"
        except ValueError:
            return "malformed_reply"
        if status != OK:
            kind = reply.get("error", {}).get("type") if isinstance(reply, dict) else None
            return "context_length" if kind == _TOO_LONG else f"http_{status}"
        return reply if isinstance(reply, dict) else "malformed_reply"

    def _scored(self, group: Sequence[Continuation]) -> list[Scored]:
        """Scores of continuations of one prompt."""
        texts = {c.key: self._text_ids(c.text) for c in group}
        prompt = self._text_ids(group[0].prompt)
        if prompt is None:
            return [Scored(c.key, None, 0, _NOT_UNICODE) for c in group]
        if isinstance(group[0].prompt, str) and self._facts.bos is not None:
            prompt = (self._facts.bos, *prompt)
        room = self.n_context - len(prompt)
        fitting = [ids for ids in texts.values() if ids is not None and len(ids) <= room]
        found = forced_scores(
            self._asked,
            prompt,
            fitting,
            plain=self._tokenizer.encode("a")[-1],
            n_vocabulary=self._facts.n_vocabulary,
        )
        return [_score(c, texts[c.key], found) for c in group]

    def _text_ids(self, text: str | Ids) -> Ids | None:
        """Ids of a text; None for one that is no Unicode."""
        if not isinstance(text, str):
            return text
        try:
            return self._tokenizer.encode(text)
        except InputError:
            return None

    def _prompt_ids(self, prompt: str | tuple[int, ...]) -> tuple[int, ...]:
        if not isinstance(prompt, str):
            return prompt
        ids = self._tokenizer.encode(prompt)
        return ids if self._facts.bos is None else (self._facts.bos, *ids)


def _body(request: Request, ids: tuple[int, ...]) -> dict[str, object]:
    return {
        "prompt": list(ids),
        "n_predict": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "repeat_penalty": 1.0,
        "samplers": ["temperature", "top_p"],
        "seed": request.seed,
        "stop": list(request.stop),
        "n_probs": 2,
        "return_tokens": True,
        "cache_prompt": request.shared > 0,
    }


def _result(request: Request, reply: Mapping[str, Any]) -> Result:
    written = [_step(place) for place in reply.get("completion_probabilities", ())]
    if any(s is None for s in written):
        return Result.failed(request.key, "non_finite_logits")
    if not written:  # a character that is not whole yet is written without its probabilities
        written = [Step(int(i)) for i in reply.get("tokens", ())]
    ends = reply.get("stop_type") != "limit"
    return Result(
        key=request.key,
        text=str(reply["content"]),
        finish="stop" if ends else "length",
        steps=tuple(s for s in written if s is not None),
        n_prompt=int(reply["tokens_evaluated"]),
        n_written=int(reply["tokens_predicted"]),
        n_reused=int(reply.get("timings", {}).get("cache_n", 0)),
    )


def _score(continuation: Continuation, ids: Ids | None, found: Mapping[Ids, float | str]) -> Scored:
    if ids is None:
        return Scored(continuation.key, None, 0, _NOT_UNICODE)
    value = found.get(ids, "context_length")
    if isinstance(value, str):
        return Scored(continuation.key, None, len(ids), value)
    return Scored(continuation.key, value, len(ids))


def _step(place: Mapping[str, Any]) -> Step | None:
    """One written token; None where the runtime could not make a finite number of it."""
    logprob = place.get("logprob")
    tops = [top.get("logprob") for top in place.get("top_logprobs", ())]
    if not isinstance(logprob, float | int) or not all(isinstance(t, float | int) for t in tops):
        return None
    if logprob != logprob:  # noqa: PLR0124 - the test for NaN
        return None
    gap = float(tops[0] - tops[1]) if len(tops) > 1 else None
    return Step(int(place["id"]), float(logprob), gap)
