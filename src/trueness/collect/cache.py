"""Requests that were answered before: the key is the whole request, epoch and seed included."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trueness.backends.cache_file import open_cache
from trueness.backends.protocol import Model, Request, Result
from trueness.backends.weights import text_sha256
from trueness.backends.wire import dump_result, load_result
from trueness.contract.serial import Json, canonical

_SCHEMA = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, result TEXT NOT NULL)"


def cache_key(request: Mapping[str, Json]) -> str:
    """SHA-256 (hexadecimal) of the canonical JSON of a whole request; text as it is."""
    return text_sha256(canonical(request))


def describe(request: Request, model: Model) -> dict[str, Json]:
    """The whole request, as it is hashed."""
    identity = model.identity
    prompt = request.prompt
    item, epoch, condition = request.key
    return {
        "backend": f"{identity.get('backend')}/{identity.get('backend_version')}",
        "model": model.name,
        "revision": identity.get("revision", identity.get("file_hash")),
        "quantisation": identity.get("quantisation"),
        "prompt": prompt if isinstance(prompt, str) else list(prompt),
        "decoding": {
            "temperature": request.temperature,
            "top_p": request.top_p,
            "max_tokens": request.max_tokens,
            "stop": list(request.stop),
        },
        "item": item,
        "condition": condition,
        "seed": request.seed,
        "epoch": epoch,
        **({"system": request.system} if request.system else {}),
        **({"noise": [request.noise, request.noise_scale]} if request.noise else {}),
        **({"allowed": list(request.allowed)} if request.allowed else {}),
        **({"top": request.top} if request.top else {}),
        **({"request": identity["request"]} if "request" in identity else {}),
    }


@dataclass(frozen=True, slots=True)
class RequestCache:
    """Completed answers of earlier runs, in one file.

    k draws can never be served from one: every draw has its own epoch and seed.

    Parameters
    ----------
    path : Path
        Created when it is not there.

    Raises
    ------
    InputError
        When the file cannot be opened as a cache.
    """

    path: Path

    def get(self, requests: Mapping[str, Request]) -> dict[str, Result]:
        """The results that are there, by cache key."""
        with open_cache(self.path, _SCHEMA) as db:
            found = {}
            for key, request in requests.items():
                row = db.execute("SELECT result FROM answers WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = load_result(row[0], request.key)
            return found

    def put(self, results: Mapping[str, Result]) -> None:
        """Store completed answers; failures are never stored."""
        done = [(key, dump_result(r)) for key, r in results.items() if r.error is None]
        with open_cache(self.path, _SCHEMA) as db:
            db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", done)
