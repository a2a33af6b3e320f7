"""Requests and results as one line of JSON, for caches and for other machines."""

import json
from dataclasses import asdict, replace

from trueness.backends.protocol import Key, Request, Result, Step


def dump_request(request: Request) -> str:
    """A request as strict JSON.

    >>> load_request(dump_request(Request(("a", 1, "none"), (5, 6), seed=3))).prompt
    (5, 6)
    """
    return json.dumps(asdict(request), allow_nan=False)


def load_request(text: str) -> Request:
    """The request that `dump_request` wrote."""
    kept = json.loads(text)
    prompt = kept.pop("prompt")
    item, epoch, condition = kept.pop("key")
    return Request(
        key=(item, epoch, condition),
        prompt=prompt if isinstance(prompt, str) else tuple(prompt),
        stop=tuple(kept.pop("stop")),
        allowed=tuple(kept.pop("allowed")),
        **kept,
    )


def dump_result(result: Result) -> str:
    """A result as strict JSON, without its key: whoever keeps it knows what was asked.

    >>> load_result(dump_result(Result(("a", 1, "none"), "Paris")), ("b", 2, "none")).text
    'Paris'
    """
    kept = asdict(result)
    del kept["key"]
    return json.dumps(kept, allow_nan=False)


def load_result(text: str, key: Key) -> Result:
    """The result that `dump_result` wrote, under a key."""
    kept = json.loads(text)
    steps = tuple(Step(**step) for step in kept.pop("steps"))
    top = tuple(kept.pop("top", ()))
    return replace(Result(key, steps=steps, top=top), **kept)
