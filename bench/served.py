"""What asking over HTTP costs against a bare load generator on the same server, same limits."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from trueness.backends import open_model
from trueness.backends.openai_compatible.window import Window
from trueness.collect import NONE, Quiz, ask

Figure = tuple[str, float, float]
"""(name, value, limit): the value must not exceed the limit."""

N_REQUESTS, WINDOW, LATENCY, REPEATS = 4_000, 32, 0.08, 2
SLOWEST = 1 / 0.95
"""Ninety-five of a hundred requests a second of the bare generator."""


@contextmanager
def server(seconds: float) -> Iterator[str]:
    """The base URL of a server in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("reply_server.py")), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            port = child.stdout.readline() if child.stdout is not None else ""
            yield f"http://127.0.0.1:{int(port)}/v1"
        finally:
            child.kill()


def bare(url: str, n: int = N_REQUESTS) -> float:
    """Seconds of n requests under the same limits, and nothing else."""
    body = {
        "model": "made",
        "messages": [{"role": "user", "content": "The mark of entity 00000 is"}],
        "max_tokens": 8,
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 1,
    }

    async def run() -> None:
        limits = httpx2.Limits(max_connections=WINDOW, max_keepalive_connections=WINDOW)
        window, left, free = Window(WINDOW), n, asyncio.Event()
        async with httpx2.AsyncClient(limits=limits) as client, asyncio.TaskGroup() as group:
            running: set[asyncio.Task[None]] = set()

            async def one() -> None:
                reply = await client.post(f"{url}/chat/completions", json=body)
                reply.json()
                window.succeeded()

            def done(task: asyncio.Task[None]) -> None:
                running.discard(task)
                free.set()

            while left:
                while len(running) >= window.size:
                    free.clear()
                    await free.wait()
                task = group.create_task(one())
                running.add(task)
                task.add_done_callback(done)
                left -= 1

    start = time.perf_counter()
    asyncio.run(run())
    return time.perf_counter() - start


def asked(url: str, n: int = N_REQUESTS) -> float:
    """Seconds of asking n questions, from the first probe to the last row on the disk."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    quiz = Quiz("made", ("The mark of {e} is",), tuple(f"entity {i:05d}" for i in range(n)))
    start = time.perf_counter()
    model = open_model("openai:made", {"base_url": url, "max_connections": str(WINDOW)})
    with tempfile.TemporaryDirectory() as folder:
        summary = ask(quiz, model, [NONE], out=Path(folder) / "a")
    model.close()
    if summary.n_errors or summary.n_rows != n:
        msg = f"{summary.n_rows} rows, {summary.n_errors} errors; wanted {n} answers"
        raise AssertionError(msg)
    return time.perf_counter() - start


def figures() -> list[Figure]:
    """Everything this file measures."""
    with server(LATENCY) as url:
        pairs = [(bare(url), asked(url)) for _ in range(REPEATS)]
    generator, ours = (min(times) for times in zip(*pairs, strict=True))
    return [("asking over HTTP, against a bare load generator", ours / generator, SLOWEST)]


if __name__ == "__main__":
    for name, value, limit in figures():
        print(f"{'ok ' if value <= limit else 'BAD'} {name}: {value:.3g} (limit {limit:.3g})")
