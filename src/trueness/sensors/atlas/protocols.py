"""Which protocols may be compared, and in which fields they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueness.contract.errors import InputError, ProtocolError
from trueness.contract.serial import Json, canonical
from trueness.table import Protocol

CHECKPOINT = frozenset(
    ("model", "revision", "seed", "seeds", "file_hash", "quantisation", "tokenizer_hash", "note")
)
"""What two checkpoints may differ in: the model itself, and the seed."""
EXPECTED = ("temperature", "top_p", "max_tokens", "template", "condition", "extractor")
"""Fields without which it is not known whether two tables were made alike."""
DERIVED = frozenset(("independent_draws", "min_draws", "draws"))
"""Facts about how often was drawn; they are dealt with where the draws are counted."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Fields that differ and were allowed to, and expected ones unknown on both sides."""

    differs: tuple[str, ...]
    unverified: tuple[str, ...]


def flat(protocol: Protocol) -> dict[str, Json]:
    """The fields of a protocol, those of ``decoding`` beside the others.

    >>> flat(Protocol({"model": "m", "decoding": {"temperature": 0.7}}))
    {'model': 'm', 'temperature': 0.7}
    """
    out: dict[str, Json] = {}
    for name, value in protocol.fields.items():
        if name == "decoding" and isinstance(value, Mapping):
            out |= dict(value)
        else:
            out[name] = value
    return out


def compare_protocols(
    before: Mapping[str, Json],
    after: Mapping[str, Json],
    *,
    extractors: tuple[str | None, str | None] = (None, None),
    allowed: Sequence[str] = (),
) -> Compared:
    """What differs between two protocols beside the checkpoint.

    Parameters
    ----------
    before, after : mapping of field to value
        As `flat` makes them.
    extractors : tuple of str or None
        What keyed the two tables; these win over what the protocols say.
    allowed : sequence of str
        Fields that may differ.

    Raises
    ------
    InputError
        When a field is allowed to differ that neither protocol has.
    ProtocolError
        When a field differs, or is known on one side only, and was not allowed to; names it and
        both values.
    """
    one, two = _with(before, extractors[0]), _with(after, extractors[1])
    _check_names(allowed, {*one, *two, *EXPECTED, *CHECKPOINT, *DERIVED})
    names = sorted({*one, *two} - CHECKPOINT - DERIVED)
    differs = [n for n in names if canonical(one.get(n)) != canonical(two.get(n))]
    for name in differs:
        if name not in allowed:
            raise ProtocolError(_message(name, one, two))
    unverified = tuple(n for n in EXPECTED if one.get(n) is None and two.get(n) is None)
    return Compared(tuple(differs), unverified)


def _check_names(allowed: Sequence[str], known: set[str]) -> None:
    """Raise `InputError` for a field that may differ and that no protocol has."""
    strange = [name for name in allowed if name not in known]
    if strange:
        msg = (
            f"--allow-differ names {strange[0]!r}, which neither protocol has; they have "
            f"{', '.join(sorted(known - CHECKPOINT - DERIVED))}. Name one of these."
        )
        raise InputError(msg)


def _with(fields: Mapping[str, Json], extractor: str | None) -> dict[str, Json]:
    known: dict[str, Json] = {k: v for k, v in fields.items() if v is not None}
    if extractor is not None:
        known["extractor"] = extractor
    return known


def _message(name: str, one: Mapping[str, Json], two: Mapping[str, Json]) -> str:
    values = " before and ".join(
        "unknown" if side.get(name) is None else canonical(side[name])[:200] for side in (one, two)
    )
    if name == "extractor":
        return (
            f"the answers were extracted by different rules: {values} after. "
            "Re-extract both with --extractor, or pass --allow-differ extractor."
        )
    return (
        f"the protocols differ in {name}: {values} after. Compare answers drawn under one "
        f"protocol, or pass --allow-differ {name}."
    )
