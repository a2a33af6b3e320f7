"""A server on the loopback interface that answers as it is told, well or badly."""

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdefghij"
FACTS = {"France": "Paris", "Peru": "Lima", "Japan": "Tokyo", "Cuba": "Havana", "Chile": "Santiago"}


@dataclass(frozen=True, slots=True)
class Act:
    """One reply: what is sent, how slowly, and whether it is cut off.

    ``length`` promises another length than is sent; ``drip`` waits so many seconds between bytes;
    ``hang_up`` sends nothing at all.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    length: int | None = None
    drip: float = 0.0
    hang_up: bool = False


Behave = Callable[["Script", Mapping[str, Any]], Act]


@dataclass(slots=True)
class Script:
    """What a server does, and what it saw."""

    behave: Behave
    seen: list[dict[str, Any]] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    now: int = 0
    most: int = 0
    url: str = ""
    open: set[socket.socket] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def nth(self, body: Mapping[str, Any]) -> int:
        """How often this question was asked, this time included."""
        return self.asked[question(body)]


def question(body: Mapping[str, Any]) -> str:
    """What is asked; the probe's own question is another one."""
    if "messages" in body:
        return str(body["messages"][-1]["content"])
    return str(body.get("prompt", body.get("input")))


def is_probe(body: Mapping[str, Any]) -> bool:
    """Whether the server is only asked what it can do."""
    return body.get("max_tokens", body.get("max_completion_tokens")) in {0, 1} or (
        "prompt_logprobs" in body
    )


def text_for(asked: str) -> str:
    """The right answer to a question about one of `FACTS`."""
    known = [answer for name, answer in FACTS.items() if name in asked]
    return f" {known[0]}" if known else f" answer {len(asked)}"


def chat(text: str | None, **more: Any) -> Act:
    """A well-formed reply of a chat; ``more`` overrides what the choice holds."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
        **more,
    }
    return as_json({"model": "tiny", "choices": [choice], "usage": {"prompt_tokens": 5}})


def completion(text: str, **more: Any) -> Act:
    """A well-formed reply of completions."""
    choice = {"index": 0, "finish_reason": "stop", "text": text, **more}
    return as_json({"model": "tiny", "choices": [choice], "usage": {"prompt_tokens": 5}})


def as_json(body: object, status: int = 200, **headers: str) -> Act:
    """A reply that is JSON."""
    return Act(status, json.dumps(body).encode(), headers)


def good(script: Script, body: Mapping[str, Any]) -> Act:
    """The right answer, in the shape of the call."""
    del script
    text = text_for(question(body))
    return chat(text) if "messages" in body else completion(text)


@contextmanager
def serving(behave: Behave = good, *, port: int = 0) -> Iterator[Script]:
    """A server that runs while the block does."""
    script = Script(behave)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            script.open.add(self.connection)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(raw)
            with script.lock:
                script.seen.append({"path": self.path, **body})
                script.heads.append(dict(self.headers.items()))
                script.times.append(time.monotonic())
                script.asked[question(body)] += 1
                script.now += 1
                script.most = max(script.most, script.now)
            try:
                self._act(script.behave(script, body))
            except OSError:
                self.close_connection = True
            finally:
                with script.lock:
                    script.now -= 1

        def _act(self, act: Act) -> None:
            time.sleep(act.delay)
            if act.hang_up:
                self.close_connection = True
                return
            self.send_response(act.status)
            length = len(act.body) if act.length is None else act.length
            for name, value in {"Content-Length": str(length), **act.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            step = 1 if act.drip else max(len(act.body), 1)
            for at in range(0, len(act.body), step):
                self.wfile.write(act.body[at : at + step])
                self.wfile.flush()
                time.sleep(act.drip)
            self.close_connection = self.close_connection or act.length is not None

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        for connection in script.open:  # as a killed process would
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        thread.join()
