"""Local GGUF models in llama.cpp, without a compiler and without torch.

The runtime is a server on the loopback interface, in this process, behind a key that only this
process knows: its native completion call takes token ids, reuses the cache of a shared prefix, and
reports written ids, log-probabilities and why it stopped.
"""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from trueness.backends.gguf import GgufFacts, read_gguf
from trueness.backends.protocol import Request, Result, Step, require
from trueness.backends.weights import sha256_of, text_sha256
from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json

_OK, _TOO_LONG = 200, "exceed_context_size_error"
_SECONDS = 120.0
_SILENT = -1


@dataclass(frozen=True, slots=True)
class _Loopback:
    """Calls to the server in this process."""

    host: str
    port: int
    key: str

    def post(self, path: str, body: Mapping[str, object]) -> tuple[int, Any]:
        connection = HTTPConnection(self.host, self.port, timeout=_SECONDS)
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        try:
            connection.request("POST", path, json.dumps(body), head)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()


@dataclass(frozen=True, slots=True)
class GgufTokenizer:
    """The file's own tokenizer, as the runtime applies it."""

    _server: _Loopback
    _facts: GgufFacts

    @property
    def bos(self) -> int | None:
        """From the file's own rule."""
        return self._facts.bos

    @property
    def n_vocabulary(self) -> int:
        """All ids lie below it."""
        return self._facts.n_vocabulary

    @property
    def special(self) -> frozenset[int]:
        """Control, unknown and unused ids."""
        return self._facts.special

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of a text; special tokens spelled in it are ordinary text.

        Raises
        ------
        InputError
            For lone surrogates, which no vocabulary holds.
        """
        return self._ids(text, special=False)

    def encode_template(self, text: str) -> tuple[int, ...]:
        """Ids of text from the model's own template, where special tokens are meant."""
        return self._ids(text, special=True)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids, special ones spelled out."""
        _, reply = self._call("/detokenize", {"tokens": list(ids)})
        return str(reply["content"])

    def _ids(self, text: str, *, special: bool) -> tuple[int, ...]:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            msg = f"text holds a lone surrogate at {error.start}; the model reads Unicode only."
            raise InputError(msg) from error
        body = {"content": text, "add_special": False, "parse_special": special}
        _, reply = self._call("/tokenize", body)
        return tuple(reply["tokens"])

    def _call(self, path: str, body: Mapping[str, object]) -> tuple[int, Any]:
        try:
            status, reply = self._server.post(path, body)
        except (OSError, HTTPException, ValueError) as error:
            msg = f"the local model's server does not answer {path}: {error}."
            raise BackendError(msg, hint="Run it again.") from error
        if status != _OK:
            msg = f"the local model's server refused {path} with status {status}."
            raise BackendError(msg, hint="Report it.")
        return status, reply


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
    threads: int = 2
    sha256: str | None = None
    _facts: GgufFacts = field(init=False)
    _version: str = field(init=False)
    _holder: Any = field(init=False, repr=False, default=None)
    _server: _Loopback = field(init=False, repr=False)
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
        """Text, tokens and the log-probabilities of what was written."""
        return frozenset({"text", "tokens", "logprobs"})

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
        rendered = str(reply.get("prompt", "")) if status == _OK else ""
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

    def close(self) -> None:
        """Stop the server and give its memory back."""
        self._holder = None

    def _start(self, runtime: Any) -> _Loopback:
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
        return _Loopback(str(address.hostname), int(address.port or 0), key)

    def _one(self, request: Request) -> Result:
        ids = self._prompt_ids(request.prompt)
        if len(ids) + request.max_tokens > self.n_context:
            return Result.failed(request.key, "context_length")
        try:
            status, reply = self._server.post("/completion", _body(request, ids))
        except TimeoutError:
            return Result.failed(request.key, "timeout")
        except (OSError, HTTPException):
            return Result.failed(request.key, "connection_lost")
        except ValueError:
            return Result.failed(request.key, "malformed_reply")
        if status != _OK:
            kind = reply.get("error", {}).get("type") if isinstance(reply, dict) else None
            reason = "context_length" if kind == _TOO_LONG else f"http_{status}"
            return Result.failed(request.key, reason)
        return _result(request, reply)

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
