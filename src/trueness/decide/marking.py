"""A reading with the threshold of a gate drawn into it, and what the gate decides."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from trueness.contract import Decision, Direction, ItemVerdict, Reading
from trueness.contract.blocks import Bars, Block, MarkedText, MarkedTexts
from trueness.decide.calibrating import apply_gate
from trueness.decide.stored import GateFile

THRESHOLD = "the gate's threshold"


def marked(
    gate: GateFile, reading: Reading, *, trace: Path | None = None, key: bytes | None = None
) -> tuple[Reading, Decision]:
    """The reading, its texts marked on which side of the threshold they lie, and the decision.

    A part of a text is marked for orientation only: the promise is about the value of the whole.

    Parameters
    ----------
    gate : GateFile
    reading : Reading
    trace, key :
        As in `trueness.decide.calibrating.apply_gate`.

    Raises
    ------
    FingerprintMismatch
        When the threshold was made under another fingerprint.
    PolicyError, InvalidReading, InputError
        As `trueness.decide.calibrating.apply_gate`.
    """
    decision = apply_gate(gate, reading, trace=trace, key=key)
    wanted = {t.label for b in reading.blocks if isinstance(b, MarkedTexts) for t in b.texts}
    verdicts = {v.item: v for v in decision.verdicts if v.item in wanted}
    blocks = tuple(_marked(b, gate, verdicts) for b in reading.blocks)
    return replace(reading, blocks=blocks), decision


def _marked(block: Block, gate: GateFile, verdicts: Mapping[str, ItemVerdict]) -> Block:
    if isinstance(block, MarkedTexts):
        return _block(block, gate, verdicts)
    if isinstance(block, Bars) and block.edges:
        sign = 1.0 if gate.calibration.direction is Direction.HIGHER_IS_WORSE else -1.0
        return _binned(block, sign * gate.policy.accept)
    return block


def _binned(block: Bars, cut: float) -> Bars:
    """The bars with a mark at the bin that holds the threshold; the last edge is in the last."""
    n = len(block.bars)
    at = next((i for i in range(n) if block.edges[i] <= cut < block.edges[i + 1]), None)
    if at is None and n and cut == block.edges[n]:
        at = n - 1
    bars = tuple(
        replace(bar, display="  ".join(filter(None, (bar.display, f"◂ {THRESHOLD}"))))
        if i == at
        else bar
        for i, bar in enumerate(block.bars)
    )
    return replace(block, bars=bars)


def _block(block: MarkedTexts, gate: GateFile, verdicts: Mapping[str, ItemVerdict]) -> Block:
    sign = 1.0 if gate.calibration.direction is Direction.HIGHER_IS_WORSE else -1.0
    tau = gate.policy.accept

    def beyond(value: float | None) -> bool | None:
        return None if value is None else not sign * value < tau

    def text(found: MarkedText) -> MarkedText:
        verdict = verdicts.get(found.label)
        return replace(
            found,
            stretches=tuple(replace(s, beyond=beyond(s.value)) for s in found.stretches),
            beyond=beyond(found.value),
            verdict="" if verdict is None else verdict.reason,
        )

    note = (
        f"{block.note} The gate decides about the claim; its sentences are marked for orientation."
    )
    return replace(
        block,
        texts=tuple(text(t) for t in block.texts),
        cut=sign * tau,
        threshold=THRESHOLD,
        note=note.strip(),
    )
