"""A model behind a server, from what a user typed."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from trueness.backends.openai_compatible.endpoint import Endpoint
from trueness.backends.openai_compatible.model import OpenAIModel
from trueness.contract.errors import InputError
from trueness.contract.serial import Json

BODY = "body."
NUMBERS: Mapping[str, Callable[[str], float]] = {
    "max_connections": int,
    "max_retries": int,
    "timeout": float,
    "backoff": float,
}
_WORDS = ("api", "logprobs", "scores")
_ASK_FIRST = {"yes": True, "no": False}


def open_served(model: str, options: Mapping[str, str]) -> OpenAIModel:
    """The model, not asked yet.

    Parameters
    ----------
    model : str
        As the server names it.
    options : mapping of str to str
        ``base_url``, ``max_connections``, ``max_retries``, ``timeout``, ``backoff``, ``api``,
        ``logprobs``, ``scores``, ``probe``, and ``body.FIELD`` for fields added to every body.

    Raises
    ------
    InputError
        For an unknown option or a value that is none.

    Examples
    --------
    >>> options = {"base_url": "http://127.0.0.1:9/v1", "api": "completions"}
    >>> model = open_served("tiny", options)
    >>> model.name
    'openai:tiny'
    >>> model.close()
    """
    known = ("base_url", *NUMBERS, *_WORDS, "probe")
    extra = {k.removeprefix(BODY): _json(v) for k, v in options.items() if k.startswith(BODY)}
    given = {k: v for k, v in options.items() if not k.startswith(BODY)}
    if unknown := sorted(set(given) - set(known)):
        msg = (
            f"an openai model has no option {unknown[0]!r}; its options are: {', '.join(known)} "
            f"and {BODY}FIELD."
        )
        raise InputError(msg)
    endpoint = Endpoint.of(given.get("base_url"), **_numbers(given))
    words = {name: given[name] for name in _WORDS if name in given}
    return OpenAIModel(model, endpoint, **words, ask_first=_ask_first(given), extra=extra)


def _numbers(given: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, form in NUMBERS.items():
        if name not in given:
            continue
        try:
            found[name] = form(given[name])
        except ValueError as error:
            msg = f"-M {name}={given[name]} of an openai model is no number. Give one."
            raise InputError(msg) from error
    return found


def _ask_first(given: Mapping[str, str]) -> bool:
    word = given.get("probe", "yes")
    if word not in _ASK_FIRST:
        msg = f"-M probe={word} of an openai model is no choice; choose yes or no."
        raise InputError(msg)
    return _ASK_FIRST[word]


def _json(text: str) -> Json:
    """A value as JSON where it reads as such, else as text."""
    try:
        found: Json = json.loads(text, parse_constant=str)
    except ValueError:
        return text
    return found
