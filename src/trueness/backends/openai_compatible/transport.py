"""Requests side by side in one thread of their own: limits, time-outs, tries, and no silence."""

import asyncio
import json
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from trueness.backends.openai_compatible import refusals
from trueness.backends.openai_compatible.calls import Answer, Call, Tried, lost, read_reply
from trueness.backends.openai_compatible.endpoint import CONNECT_SECONDS, Endpoint
from trueness.backends.openai_compatible.window import Window, backoff, retry_after
from trueness.backends.protocol import require
from trueness.contract.errors import BackendError

T = TypeVar("T")
Tag = TypeVar("Tag")

LARGEST_REPLY = 64 << 20
"""Bytes of a reply that are read; more is no reply to a question."""
PATIENCE = 600.0
"""Seconds of the longest ``Retry-After`` that is waited for."""
GATHERED = 0.02
"""Seconds in which answers gather, to be handed over and written together; sending goes on."""
IDLE_SECONDS = 2.0
"""An idle connection is used no longer: servers close theirs, often after 5 seconds."""
GONE_AFTER = 4
"""Requests in a row that reach no server, all tries included, before the run is stopped."""
_POLL = 1.0
_CLOSING = 5.0
_REMARKS = 5
_GO_ON = " What was answered is kept; go on with --resume --retry-errors."


class Transport:
    """A server that is asked, as many requests at once as it bears.

    Parameters
    ----------
    endpoint : Endpoint
    what : str
        The model or embedder, as the user named it; stands in errors.

    Raises
    ------
    MissingExtraError
        Without httpx2.
    """

    def __init__(self, endpoint: Endpoint, *, what: str) -> None:
        self.endpoint = endpoint
        self.what = what
        self.window = Window(endpoint.max_connections)
        self._http = require("httpx2", extra="api", what=what)
        self._client = self._http.AsyncClient(
            headers={"User-Agent": "trueness", **endpoint.headers},
            trust_env=not endpoint.is_local,  # no proxy stands between this machine and itself
            timeout=self._http.Timeout(endpoint.timeout, connect=CONNECT_SECONDS),
            limits=self._http.Limits(
                max_connections=endpoint.max_connections,
                max_keepalive_connections=endpoint.max_connections,
                keepalive_expiry=IDLE_SECONDS,
            ),
        )
        self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=self._loop.run_forever, name="requests", daemon=True)
        thread.start()
        self.close = weakref.finalize(self, _end, self._loop, thread, self._client)
        """Ends the thread and the connections; once is enough, and so is letting go of it."""
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._gone = 0
        self._refused: Counter[tuple[str, str]] = Counter()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the server said to refuse requests, most frequent first."""
        return tuple(
            f"{n} requests ended as {reason}; the server said: {said}"
            for (reason, said), n in self._refused.most_common(_REMARKS)
        )

    def ask(self, call: Call, read: Callable[[Mapping[str, Any]], T]) -> Answer[T]:
        """What becomes of one call."""
        (((_, answer),),) = self.stream([(None, call)], read)
        return answer

    def stream(
        self, calls: Iterable[tuple[Tag, Call]], read: Callable[[Mapping[str, Any]], T]
    ) -> Iterator[list[tuple[Tag, Answer[T]]]]:
        """Answers as they arrive, each with its tag; a part holds all that have come by then.

        ``read`` makes an answer of a reply and raises `Malformed` where it holds none.

        Raises
        ------
        BackendError
            Where no further call can succeed; calls in flight are given up.
        """
        arrived: SimpleQueue[tuple[Tag, Answer[T]] | None] = SimpleQueue()
        over = threading.Event()
        running = self._start(self._drive(calls, read, arrived.put, over))
        running.add_done_callback(lambda _: arrived.put(None))
        try:
            ended = False
            while not ended:
                part = _drained(arrived, over)
                ended = part[-1] is None
                if known := [one for one in part if one is not None]:
                    yield known
            running.result()
        finally:
            if not running.done():
                running.cancel()
                over.wait(_CLOSING)

    def _start(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _drive(
        self,
        calls: Iterable[tuple[Tag, Call]],
        read: Callable[[Mapping[str, Any]], T],
        put: Callable[[tuple[Tag, Answer[T]]], None],
        over: threading.Event,
    ) -> None:
        async def one(tag: Tag, call: Call) -> None:
            tried = await self._settled(call, read)
            if not tried.stops:
                put((tag, tried.answer))
            self._check_alive(tried, call)

        try:
            async with asyncio.TaskGroup() as group:
                for tag, call in calls:
                    await self._enter()
                    group.create_task(one(tag, call)).add_done_callback(self._leave)
        except BaseExceptionGroup as many:
            raise many.exceptions[0] from None
        finally:
            over.set()

    async def _enter(self) -> None:
        """Wait for a place in the window."""
        while self._in_flight >= self.window.size:
            place = self._loop.create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                self._wake()  # whoever waits behind may have the place
                raise
        self._in_flight += 1

    def _leave(self, _: object) -> None:
        self._in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        free = self.window.size - self._in_flight
        while self._waiting and free > 0:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1

    async def _settled(self, call: Call, read: Callable[[Mapping[str, Any]], T]) -> Tried[T]:
        """The last of as many attempts as it takes, or as are allowed."""
        content = json.dumps(call.body).encode()
        attempt, retries = 0, self.endpoint.max_retries if call.retries is None else call.retries
        while True:
            attempt += 1
            tried = await self._once(call.path, content, read, attempt)
            self._account(tried)
            useless = call.first and tried.answer.status in {None, refusals.OK}
            if useless or not tried.again or attempt > retries:
                return tried
            wait = tried.wait
            if wait is None:
                wait = backoff(attempt, seed=call.seed, unit=self.endpoint.backoff)
            if wait > PATIENCE:
                return tried
            await asyncio.sleep(wait)

    def _account(self, tried: Tried[T]) -> None:
        if tried.answer.value is not None:
            self.window.succeeded()
        elif tried.loaded:
            self.window.overloaded()
        else:
            self.window.failed()
        if tried.answer.reason != "unreachable":
            self._gone = 0

    async def _once(
        self, path: str, content: bytes, read: Callable[[Mapping[str, Any]], T], attempt: int
    ) -> Tried[T]:
        http = self._http
        try:
            async with asyncio.timeout(self.endpoint.timeout):
                status, headers, raw = await self._exchanged(path, content)
        except (TimeoutError, http.TimeoutException):
            return lost("timeout", attempt)
        except http.ConnectError as error:
            return lost("unreachable", attempt, str(error))
        except http.DecodingError:
            return Tried(Answer(None, "malformed_reply", attempt), again=True)
        except http.TransportError as error:
            return lost("connection_lost", attempt, str(error))
        if status == refusals.OK:
            return read_reply(raw, read, attempt)
        return self._refusal(status, headers, raw, attempt)

    async def _exchanged(self, path: str, content: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and whole body, the key left out should the server send it back."""
        headers = {"Content-Type": "application/json"}
        url = self.endpoint.url(path)
        parts, size = [], 0
        async with self._client.stream("POST", url, content=content, headers=headers) as reply:
            async for part in reply.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > LARGEST_REPLY:
                    break
            raw = b"" if size > LARGEST_REPLY else b"".join(parts)
            return reply.status_code, reply.headers, self.endpoint.scrubbed(raw)

    def _refusal(
        self, status: int, headers: Mapping[str, str], raw: bytes, attempt: int
    ) -> Tried[T]:
        found = refusals.refusal(status, raw)
        said = self.endpoint.without_key(found.said)
        return Tried(
            Answer(None, found.reason, attempt, status, said),
            again=found.again,
            loaded=status in refusals.LOADED,
            stops=found.stops,
            wait=retry_after(headers.get("retry-after"), datetime.now(UTC)),
        )

    def _check_alive(self, tried: Tried[T], call: Call) -> None:
        """Remember a failure; stop everything where nothing else could succeed.

        Raises
        ------
        BackendError
            For a key that is refused, a used-up quota, or a server that is not there any more.
        """
        answer = tried.answer
        if answer.reason is None:
            return
        if tried.stops:
            raise self.refused(answer, api="chat" if "chat" in call.path else "completions")
        if answer.said and answer.status is not None and call.remarked:
            self._refused[answer.reason, answer.said] += 1
        self._gone += answer.reason == "unreachable"
        if self._gone >= GONE_AFTER:
            raise self.refused(answer)

    def refused(self, answer: Answer[Any], *, api: str = "chat") -> BackendError:
        """The error of a call that ends the run, with what to do about it."""
        where, words = self.endpoint.shown, f": {answer.said}" if answer.said else ""
        if answer.reason == "malformed_reply":
            msg = f"{self.what}: what {where} answers is no reply of an OpenAI-compatible server."
            return BackendError(msg, hint="Check the base URL; it mostly ends in /v1.")
        if answer.status is not None:
            msg = f"{self.what}: {where} answered with status {answer.status}{words}."
            return BackendError(msg, hint=refusals.hint(answer.status, api=api))
        asked_before = "" if self._gone < GONE_AFTER else _GO_ON
        why = f"{answer.reason}{words}, tries: {answer.attempts}"
        msg = f"{self.what}: {where} gave no answer: {why}."
        hint = f"Start the server or check --model-base-url.{asked_before}"
        return BackendError(msg, retryable=True, hint=hint)


def _drained(arrived: "SimpleQueue[T]", over: threading.Event) -> list[T]:
    """What arrives within a moment of the first; an interrupt is heard while it waits."""
    part: list[T] = []
    while not part:
        try:
            part.append(arrived.get(timeout=_POLL))
        except Empty:
            continue
    over.wait(GATHERED)
    try:
        while True:
            part.append(arrived.get_nowait())
    except Empty:
        return part


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, client: Any) -> None:
    asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(_CLOSING)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_CLOSING)
    if not thread.is_alive():
        loop.close()
