"""Where a server is, what it is sent beside every request, and what is never shown of it."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from trueness.contract.errors import InputError

HOSTED = "https://api.openai.com/v1"
KEY, BASE = "OPENAI_API_KEY", "OPENAI_BASE_URL"
CONNECT_SECONDS = 10.0
_LONG_KEY = 16
_KEYLIKE = re.compile(r"\b(?:sk|pk|key|gsk|hf)[-_][\w*.-]{4,}|(?i:bearer)\s+\S+")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server and the manners of asking it.

    Parameters
    ----------
    base_url : str
        Ends where ``/chat/completions`` follows, mostly in ``/v1``.
    key : str
        Sent as a bearer token; "" sends none. Never shown, never written.
    max_connections : int
        The most requests in flight, from 1.
    max_retries : int
        Tries after the first, from 0.
    timeout : float
        Seconds of one attempt from the first byte sent to the last one read.
    backoff : float
        Unit of the waits between attempts, in seconds.

    Raises
    ------
    InputError
        For a URL that is none, a number out of range, or a key that no header can hold.
    """

    base_url: str
    key: str = field(default="", repr=False)
    max_connections: int = 32
    max_retries: int = 5
    timeout: float = 120.0
    backoff: float = 1.0

    def __post_init__(self) -> None:
        _check_url(self.base_url)
        if self.max_connections < 1 or self.max_retries < 0:
            msg = (
                f"max_connections is {self.max_connections} and max_retries {self.max_retries}; "
                "give whole numbers from 1 and from 0."
            )
            raise InputError(msg)
        if not (0.0 < self.timeout < float("inf") and 0.0 <= self.backoff < float("inf")):
            msg = f"timeout is {self.timeout} and backoff {self.backoff}; give finite seconds."
            raise InputError(msg)
        if not (self.key.isascii() and self.key.isprintable()) or " " in self.key:
            msg = f"the key in {KEY} has a character that no HTTP header can hold. Copy it anew."
            raise InputError(msg)

    @classmethod
    def of(cls, base_url: str | None = None, **given: float) -> "Endpoint":
        """The endpoint of a URL, or of the environment; the key is the environment's.

        Raises
        ------
        InputError
            When the hosted service is meant and there is no key.
        """
        url = base_url or os.environ.get(BASE) or HOSTED
        key = os.environ.get(KEY, "").strip()
        if not key and url.rstrip("/") == HOSTED:
            msg = (
                f"{HOSTED} needs a key; set {KEY}. For a server of your own give "
                f"--model-base-url or set {BASE}, e.g. http://127.0.0.1:8080/v1."
            )
            raise InputError(msg)
        return cls(url, key, **given)  # type: ignore[arg-type]  # numbers, by field

    @property
    def headers(self) -> Mapping[str, str]:
        """What is sent with every request."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        return urlsplit(self.base_url).hostname in {"127.0.0.1", "::1", "localhost"}

    @property
    def shown(self) -> str:
        """The URL without a user, a password or a query."""
        parts = urlsplit(self.base_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else str(parts.hostname)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"

    def url(self, path: str) -> str:
        """The address of a call; a query of the base URL stays behind the path."""
        front, mark, query = self.base_url.partition("?")
        return f"{front.rstrip('/')}{path}{mark}{query}"

    def without_key(self, text: str) -> str:
        """What a server said, without the key and without whatever looks like one."""
        if self.key:
            text = text.replace(self.key, "[key]")
        return _KEYLIKE.sub("[key]", text)

    def scrubbed(self, raw: bytes) -> bytes:
        """The bytes of a reply without the key, should a server send it back.

        Short keys, such as the placeholders that local servers take, are words that an answer may
        hold: they are left where they stand.
        """
        key = self.key.encode()
        return raw.replace(key, b"[key]") if len(key) >= _LONG_KEY and key in raw else raw


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isascii() or any(c.isspace() for c in url):
        msg = (
            "the base URL of the model is no http:// or https:// address. "
            "Give one such as http://127.0.0.1:8080/v1."
        )
        raise InputError(msg)
