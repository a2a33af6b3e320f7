"""Where the last token's attention goes: mass on spans, without the first token."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError

Floats = NDArray[np.float64]
_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class AttentionMass:
    """Attention of the last query in one prompt, averaged over heads and over some layers.

    Parameters
    ----------
    layers : (int, int)
        First and one past the last layer.
    first_token : float
        Mass on the first token, which takes up attention whatever it says; in nothing else.
    entity, control : float or None
        Mass on the spans; None for an empty control.
    entity_per_token, control_per_token : float or None
    entropy : float or None
        Of the mass off the first token, in nats, its sum taken as 1; None when there is none.

    Notes
    -----
    Where attention goes is no evidence of what an answer hangs on.
    """

    layers: tuple[int, int]
    first_token: float
    entity: float
    control: float | None
    entity_per_token: float
    control_per_token: float | None
    entropy: float | None


def attention_mass(
    weights: ArrayLike, entity: Sequence[int], control: Sequence[int]
) -> tuple[AttentionMass, AttentionMass]:
    """Mass on the entity and a control span, over all layers and over the last third of them.

    Parameters
    ----------
    weights : (L, heads, T) float
        Of the last query of one prompt; each head's sum to 1. Trailing columns of nan are no
        tokens: padding of shorter prompts.
    entity, control : sequence of int
        Positions, without the first token; the control may be empty.

    Raises
    ------
    ShapeError
        When the weights have another shape.
    InputError
        For weights that are no shares, or a span that is empty, repeats, leaves the prompt or
        holds the first token.

    Examples
    --------
    >>> whole, last = attention_mass([[[0.5, 0.25, 0.15, 0.1]]], [1], [2])
    >>> whole.first_token, whole.entity, whole.control
    (0.5, 0.25, 0.15)
    """
    a = np.asarray(weights, dtype=np.float64)
    if a.ndim != 3 or not a.size:  # noqa: PLR2004 - layers, heads, tokens
        msg = f"attention has shape {a.shape}; wanted (n_layers, n_heads, n_tokens) of one query."
        raise ShapeError(msg)
    there = np.flatnonzero(~np.isnan(a).all(axis=(0, 1)))
    a = a[..., : int(there[-1]) + 1 if len(there) else 1]
    off = np.abs(a.sum(axis=-1) - 1).max()
    if not np.isfinite(a).all() or (a < 0).any() or off > _SUM_TOLERANCE:
        msg = "attention weights are no shares that sum to 1; wanted those after the softmax."
        raise InputError(msg)
    _check(entity, a.shape[-1], "entity")
    if len(control):
        _check(control, a.shape[-1], "control")
    n = len(a)
    return _mass(a, 0, entity, control), _mass(a, n - math.ceil(n / 3), entity, control)


def _mass(a: Floats, first: int, entity: Sequence[int], control: Sequence[int]) -> AttentionMass:
    mean = a[first:].mean(axis=(0, 1))
    rest = mean[1:]
    whole = math.fsum(rest.tolist())
    law = rest[rest > 0] / whole if whole > 0 else np.zeros(0)
    on, beside = float(mean[list(entity)].sum()), float(mean[list(control)].sum())
    return AttentionMass(
        layers=(first, len(a)),
        first_token=float(mean[0]),
        entity=on,
        control=beside if len(control) else None,
        entity_per_token=on / len(entity),
        control_per_token=beside / len(control) if len(control) else None,
        entropy=0.0 - math.fsum((law * np.log(law)).tolist()) if len(law) else None,
    )


def _check(span: Sequence[int], n_tokens: int, what: str) -> None:
    inside = all(1 <= t < n_tokens for t in span)
    if not len(span) or not inside or len(set(span)) != len(span):
        msg = (
            f"the {what} span is {tuple(span)} of {n_tokens} tokens; wanted distinct positions "
            "from 1 on, at least one. The first token is in no span."
        )
        raise InputError(msg)
