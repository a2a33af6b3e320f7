"""The read-out of a residual state in double precision, where single precision is too coarse."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.backends.local.passes import Engine
from trueness.backends.local.seeing import parts_of
from trueness.contract.errors import BackendError, ShapeError

Floats = NDArray[np.float64]

TOLERANCE = 1e-4
"""Of the largest logit: how far the model's own read-out, in its own precision, may be off."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactReadout:
    r"""Final norm, unembedding and capping as one function of a residual state, in float64.

    :math:`z = c(W (g \odot u / r + b) + b')` with :math:`u = h`, or h less its mean, and
    :math:`r = \sqrt{|u|^2/D + \varepsilon}`.

    Parameters
    ----------
    gain, norm_bias : (D,) float64
    eps : float
    centred : bool
        Whether the norm takes the mean off.
    unembed : (V, D) float64
    bias : (V,) float64
    factor : float
        On the unembedding's output.
    cap : float or None
        Soft cap.
    """

    gain: Floats = field(repr=False)
    norm_bias: Floats = field(repr=False)
    eps: float
    centred: bool
    unembed: Floats = field(repr=False)
    bias: Floats = field(repr=False)
    factor: float = 1.0
    cap: float | None = None

    def __call__(self, h: ArrayLike) -> Floats:
        """Logits (V,) of a state (D,)."""
        return self.chart(h, np.zeros((1, len(self.gain)))).logits(np.zeros(1))

    def vjp(self, h: ArrayLike, weights: ArrayLike) -> Floats:
        """Rows wᵀ · dz/dh (s, D) for gradients in logits (s, V)."""
        state = self._state(h)
        u, r = self._length(state)
        rows = np.asarray(weights, np.float64) * self.slope(self._raw(u / r))
        v = (rows @ self.unembed) * self.gain
        found = v / r - np.outer(v @ u, u) / (len(u) * r**3)
        if self.centred:
            found = found - found.mean(axis=1, keepdims=True)
        pulled: Floats = found
        return pulled

    def chart(self, h: ArrayLike, basis: ArrayLike) -> "Chart":
        """The read-out on the states h + y·basis, for many points of few coordinates.

        Parameters
        ----------
        h : (D,) float
        basis : (m, D) float
        """
        state, b = self._state(h), np.asarray(basis, np.float64)
        u, directions = self._off_mean(state), self._off_mean(b)
        return Chart(
            self,
            self.unembed @ (self.gain * u),
            (self.unembed @ (self.gain * directions).T),
            self.unembed @ self.norm_bias + self.bias,
            np.array([u @ u]),
            directions @ u,
            directions @ directions.T,
        )

    def _state(self, h: ArrayLike) -> Floats:
        state = np.asarray(h, np.float64)
        if state.shape != self.gain.shape or not np.isfinite(state).all():
            msg = (
                f"a state of shape {state.shape}; ({len(self.gain)},) of finite numbers is wanted."
            )
            raise ShapeError(msg)
        return state

    def _off_mean(self, h: Floats) -> Floats:
        off: Floats = h - h.mean(axis=-1, keepdims=True) if self.centred else h
        return off

    def _length(self, h: Floats) -> tuple[Floats, float]:
        u = self._off_mean(h)
        return u, float(np.sqrt(u @ u / len(u) + self.eps))

    def _raw(self, unit: Floats) -> Floats:
        raw: Floats = self.unembed @ (self.gain * unit + self.norm_bias) + self.bias
        return raw

    def scaled(self, raw: Floats) -> Floats:
        """Logits of the unembedding's output."""
        z: Floats = raw * self.factor
        return z if self.cap is None else self.cap * np.tanh(z / self.cap)

    def slope(self, raw: Floats) -> Floats:
        """Derivative of each logit in the unembedding's output (V,)."""
        if self.cap is None:
            return np.full(len(raw), self.factor)
        slope: Floats = self.factor / np.cosh(raw * self.factor / self.cap) ** 2
        return slope


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A read-out on the states h + y·basis."""

    of: ExactReadout = field(repr=False)
    _at: Floats = field(repr=False)
    _along: Floats = field(repr=False)
    _constant: Floats = field(repr=False)
    _square: Floats = field(repr=False)
    _cross: Floats = field(repr=False)
    _gram: Floats = field(repr=False)

    def logits(self, y: ArrayLike) -> Floats:
        """Logits (V,) at coordinates y (m,)."""
        moved, r = self._moved(np.asarray(y, np.float64))
        return self.of.scaled(moved / r + self._constant)

    def pulled(self, y: ArrayLike, weights: ArrayLike) -> Floats:
        """Rows wᵀ · dz/dy (s, m) for gradients in logits (s, V)."""
        at = np.asarray(y, np.float64)
        moved, r = self._moved(at)
        rows = np.asarray(weights, np.float64) * self.of.slope(moved / r + self._constant)
        turned = self._cross + self._gram @ at
        width = len(self.of.gain)
        found: Floats = (rows @ self._along) / r - np.outer(rows @ moved, turned) / (width * r**3)
        return found

    def _moved(self, y: Floats) -> tuple[Floats, float]:
        square = float(self._square[0] + 2 * self._cross @ y + y @ self._gram @ y)
        r = float(np.sqrt(max(square, 0.0) / len(self.of.gain) + self.of.eps))
        return self._at + self._along @ y, r


def exact_readout(engine: Engine) -> ExactReadout:
    """A model's read-out in double precision, checked against its own.

    Raises
    ------
    BackendError
        When the final norm is neither an RMS norm nor a layer norm.
    """
    parts, torch = parts_of(engine), engine.torch
    norm, head = parts.norm, parts.head
    weight = getattr(norm, "weight", None)
    eps = getattr(norm, "variance_epsilon", getattr(norm, "eps", None))
    made = []
    if weight is not None and eps is not None:
        gain = _double(engine, weight)
        unembed = _double(engine, head.weight[: engine.n_rows])
        zeros = np.zeros(len(gain)), np.zeros(len(unembed))
        shift = getattr(norm, "bias", None)
        bias = getattr(head, "bias", None)
        given: dict[str, Any] = {
            "norm_bias": zeros[0] if shift is None else _double(engine, shift),
            "eps": float(eps),
            "unembed": unembed,
            "bias": zeros[1] if bias is None else _double(engine, bias)[: engine.n_rows],
            "factor": parts.scale.factor,
            "cap": parts.scale.cap,
        }
        forms = ((gain, False), (1.0 + gain, False), (gain, True))
        made = [ExactReadout(gain=g, centred=c, **given) for g, c in forms]
        states = np.random.default_rng(0).normal(size=len(gain)) + 0.5
        with torch.inference_mode():
            tensor = torch.from_numpy(states.astype(np.float32)).to(engine.device)
            wanted = engine.numpy(parts.readout(tensor)[: engine.n_rows])
        for one in made:
            if np.abs(one(states) - wanted).max() <= TOLERANCE * np.abs(wanted).max():
                return one
    msg = f"the final norm {type(norm).__name__} has no known form, so no read-out in float64."
    raise BackendError(msg, hint="Use a model with an RMS norm or a layer norm at its end.")


def _double(engine: Engine, tensor: Any) -> Floats:
    return engine.numpy(tensor).astype(np.float64)
