"""How strongly candidates for the next token hang on the entity's tokens, to first order."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats: TypeAlias = NDArray[np.float64]

DIRECTION_TOLERANCE = 0.01
"""Relative distance of a gradient from a central difference beyond which it is not believed."""
ZERO = "a gradient has norm 0 on a span: no ratio"
NO_CONTROL = "no token is left for the control span"


@dataclass(frozen=True, slots=True, eq=False)
class Coupling:
    """Norms of the candidates' gradients on the entity and on a control span, in one prompt.

    Parameters
    ----------
    states : tuple of State
        One a candidate: ``DEGENERATE`` where a norm is 0, ``NOT_APPLICABLE`` without a control.
    reasons : tuple of (str or None)
    entity_norm, control_norm : (c,) float64
        Root of the summed squares over the span's tokens; the control's nan without one.
    entity_per_token, control_per_token : (c,) float64
        The same over the root of the number of tokens: what ratios use.
    log_ratio : (c,) float64
        Logarithm of entity over control, per token; nan where there is none.
    """

    states: tuple[State, ...]
    reasons: tuple[str | None, ...]
    entity_norm: Floats
    control_norm: Floats
    entity_per_token: Floats
    control_per_token: Floats
    log_ratio: Floats


def span_norms(gradients: ArrayLike, span: Sequence[int]) -> Floats:
    r"""Norm :math:`N(S) = (\sum_{t \in S} |g_t|^2)^{1/2}` of gradients over a span of tokens.

    Parameters
    ----------
    gradients : (..., T, D) float
    span : sequence of int
        Distinct positions.

    Returns
    -------
    (...) float64

    Raises
    ------
    ShapeError, InputError
        For gradients without tokens, or a span that is empty, repeats or leaves them.

    Examples
    --------
    >>> span_norms([[[3.0, 4.0], [0.0, 0.0], [12.0, 0.0]]], [0, 2]).tolist()
    [13.0]
    """
    g = np.asarray(gradients, dtype=np.float64)
    if g.ndim < 2:  # noqa: PLR2004 - tokens by width
        msg = f"gradients have shape {g.shape}; wanted (..., n_tokens, D)."
        raise ShapeError(msg)
    inside = all(0 <= t < g.shape[-2] for t in span)
    if not len(span) or not inside or len(set(span)) != len(span):
        msg = (
            f"the span is {tuple(span)} of {g.shape[-2]} tokens; wanted distinct positions, at "
            "least one. An empty or truncated span makes the row an error."
        )
        raise InputError(msg)
    picked = g[..., list(span), :]
    scale = np.abs(picked).max(axis=(-2, -1), initial=0.0)
    safe = np.where(scale > 0, scale, 1.0)[..., np.newaxis, np.newaxis]
    norms: Floats = scale * np.sqrt(((picked / safe) ** 2).sum(axis=(-2, -1)))
    return norms


def couple(gradients: ArrayLike, entity: Sequence[int], control: Sequence[int]) -> Coupling:
    """Gradients of candidates on the entity's tokens against a control span.

    A gradient is local: it shows neither what a finite change of the entity does nor that an
    answer is right.

    Parameters
    ----------
    gradients : (c, T, D) float
        Of one score a candidate, with respect to the input embeddings of one prompt.
    entity, control : sequence of int
        Positions; :func:`control_span` makes the latter.

    Raises
    ------
    ShapeError, InputError
        As :func:`span_norms`; an empty control is no error.

    Examples
    --------
    >>> found = couple([[[1.0, 0.0], [3.0, 4.0], [1.0, 0.0]]], [1], [0])
    >>> found.entity_norm.tolist(), found.log_ratio.round(4).tolist()
    ([5.0], [1.6094])
    """
    g = np.asarray(gradients, dtype=np.float64)
    if g.ndim != 3:  # noqa: PLR2004 - candidates, tokens, width
        msg = f"gradients have shape {g.shape}; wanted (n_candidates, n_tokens, D) of one prompt."
        raise ShapeError(msg)
    if set(entity) & set(control):
        msg = f"entity {tuple(entity)} and control {tuple(control)} share a token. Keep them apart."
        raise InputError(msg)
    none = np.full(len(g), np.nan)
    above = span_norms(g, entity)
    below = span_norms(g, control) if len(control) else none
    a, b = above / math.sqrt(len(entity)), below / math.sqrt(max(1, len(control)))
    there = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
    logs = np.log(np.where(there, a, 1.0)) - np.log(np.where(there, b, 1.0))
    found = [_state(x, y, control) for x, y in zip(above.tolist(), below.tolist(), strict=True)]
    return Coupling(
        states=tuple(s for s, _ in found),
        reasons=tuple(r for _, r in found),
        entity_norm=above,
        control_norm=below,
        entity_per_token=a,
        control_per_token=b,
        log_ratio=np.where(there, logs, np.nan),
    )


def control_span(n_tokens: int, entity: Sequence[int]) -> tuple[int, ...]:
    """As many tokens as the entity has, nearest to it, but not the first token and not the last.

    The first token takes up attention whatever it says; the last one is where the score is read.
    Of two equally near the left one; fewer when there are no more, none when none is left.

    Examples
    --------
    >>> control_span(8, [3, 4]), control_span(3, [1])
    ((2, 5), ())
    """
    own = set(entity)
    free = [t for t in range(1, n_tokens - 1) if t not in own]
    near = sorted(free, key=lambda t: (min(abs(t - e) for e in own), t)) if own else []
    return tuple(sorted(near[: len(own)]))


def gradient_matches(
    gradients: ArrayLike, direction: ArrayLike, *, above: float, below: float, step: float
) -> tuple[State, float | None]:
    """Whether a gradient agrees with a central difference of its score along one direction.

    Parameters
    ----------
    gradients, direction : (T, D) float
    above, below : float
        The score at the input plus, and minus, step times the direction.
    step : float, above 0

    Returns
    -------
    (State, float or None)
        ``UNSTABLE`` when they differ by more than `DIRECTION_TOLERANCE` of the larger, and by how
        much; ``DEGENERATE`` when both are 0 or one is not finite: try another direction.

    Raises
    ------
    ShapeError, InputError
        For other shapes, or a step that is not above 0.

    Examples
    --------
    >>> gradient_matches([[2.0]], [[1.0]], above=0.2, below=-0.2, step=0.1)[0].value
    'MEASURED'
    """
    g, u = np.asarray(gradients, np.float64), np.asarray(direction, np.float64)
    if g.shape != u.shape or not 0 < step < math.inf:
        msg = f"the gradient is {g.shape}, the direction {u.shape}, the step {step}; wanted one "
        raise ShapeError(msg + "shape for both and a step above 0.")
    slope, seen = float((g * u).sum()), (above - below) / (2 * step)
    scale = max(abs(slope), abs(seen))
    if not math.isfinite(slope + seen) or scale == 0:
        return State.DEGENERATE, None
    off = abs(slope - seen) / scale
    return (State.MEASURED if off <= DIRECTION_TOLERANCE else State.UNSTABLE), off


def _state(above: float, below: float, control: Sequence[int]) -> tuple[State, str | None]:
    if not len(control):
        return State.NOT_APPLICABLE, NO_CONTROL
    if not math.isfinite(above + below):
        return State.DEGENERATE, "a gradient is not finite"
    if above == 0 or below == 0:
        return State.DEGENERATE, ZERO
    return State.MEASURED, None
