"""How answers were obtained, and the fingerprint that says whether two tables are comparable."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from trueness.contract.serial import Json, canonical


@dataclass(frozen=True, slots=True)
class Protocol:
    """Named facts about how one condition's answers were obtained.

    ``fields`` holds model, revision or file hash, quantisation, backend and version, tokenizer and
    chat template hashes, decoding, condition, join and BOS rules, templates, seed, dtype, batch
    policy and extractor. Host, time, concurrency and cache state do not belong here.
    """

    fields: Mapping[str, Json] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) of the canonical JSON of the fields."""
        return hashlib.sha256(canonical(self.fields).encode("utf-8", "surrogatepass")).hexdigest()

    def differences(self, other: "Protocol") -> tuple[str, ...]:
        """Names of the fields in which two protocols differ, in alphabetical order."""
        names = sorted({*self.fields, *other.fields})
        return tuple(n for n in names if self.fields.get(n) != other.fields.get(n))
