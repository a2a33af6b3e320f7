"""The one hash of the room: sha256 of canonical JSON in UTF-8."""

from hashlib import sha256

from trueness.contract.errors import CannotSerialise
from trueness.contract.serial import canonical


def digest(canonical_text: str) -> str:
    """sha256 of a text in UTF-8.

    Raises
    ------
    CannotSerialise
        When the text holds half a character.
    """
    try:
        return sha256(canonical_text.encode("utf-8")).hexdigest()
    except UnicodeEncodeError as error:
        msg = f"a text holds half a character ({error.reason}); write items in whole characters."
        raise CannotSerialise(msg) from error


def hash_json(value: object) -> str:
    """sha256 of the canonical JSON of a value.

    Raises
    ------
    CannotSerialise
        For what strict JSON has no form for.

    Examples
    --------
    >>> hash_json({"a": 1, "b": 2}) == hash_json({"b": 2, "a": 1})
    True
    """
    return digest(canonical(value))
