"""What messages of a log say, and short names for long texts."""

import hashlib
import json
from collections.abc import Mapping


def said(content: object) -> str | None:
    """The text of a message's content: itself, or the text blocks of a list, joined.

    None where there is nothing of the sort.

    >>> said([{"type": "text", "text": "It is "}, {"type": "image"}, {"text": "4."}])
    'It is 4.'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    blocks = [b.get("text") if isinstance(b, Mapping) else b for b in content]
    texts = [b for b in blocks if isinstance(b, str)]
    return "".join(texts) if texts else None


def digest(value: object) -> str:
    """SHA-256 (hexadecimal) of a text, or of the JSON of any other value.

    >>> digest("4")[:8], digest(["4"]) == digest("4")
    ('4b227777', False)
    """
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def one_line(value: object, longest: int = 200) -> str:
    """A value as one short line, for a reason or an error."""
    text = " ".join(str(value).split())
    return text if len(text) <= longest else text[:longest] + "…"
