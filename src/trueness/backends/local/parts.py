"""Where a transformers model keeps what white-box work needs: blocks, final norm, unembedding."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_BODIES = (
    ("layers", "norm"),
    ("h", "ln_f"),
    ("layers", "final_layer_norm"),
    ("layers", "final_layernorm"),
    ("blocks", "norm_f"),
)
"""(blocks, final norm) as architectures call them."""
_ATTENTIONS = ("self_attn", "attn", "attention", "self_attention")
_MLPS = ("mlp", "feed_forward", "ffn")
_CACHES = ("cache", "past_key_values", "past_key_value", "layer_past")
_KEEPS = ("logits_to_keep", "num_logits_to_keep")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one model, by whatever names its architecture has for them.

    Parameters
    ----------
    embedding, head : module
        Input embedding and unembedding.
    blocks : list of module
    norm : module
        The final one.
    scale : Scale
        From the unembedding's output to logits: soft-capping and constant factors.
    """

    embedding: Any = field(repr=False)
    head: Any = field(repr=False)
    blocks: tuple[Any, ...] = field(repr=False)
    norm: Any = field(repr=False)
    scale: "Scale" = field(repr=False)

    def attention(self, layer: int) -> Any | None:
        """Attention of a block; None where it has no known name."""
        return _first(self.blocks[layer], _ATTENTIONS)

    def mlp(self, layer: int) -> Any | None:
        """Feed-forward part of a block; None where it has no known name."""
        return _first(self.blocks[layer], _MLPS)

    def readout(self, h: Any) -> Any:
        """Logits of residual states, of all rows of the unembedding."""
        return self.scale(self.head(self.norm(h)))


@dataclass(frozen=True, slots=True)
class Scale:
    """Constant factor and soft cap of logits.

    Parameters
    ----------
    torch : module
    factor : float
    cap : float or None
    """

    torch: Any = field(repr=False)
    factor: float
    cap: float | None

    def __call__(self, z: Any) -> Any:
        """Logits of the unembedding's output."""
        z = z * self.factor if self.factor != 1 else z
        return z if self.cap is None else self.cap * self.torch.tanh(z / self.cap)


def find_parts(torch: Any, model: Any) -> Parts | None:
    """The parts of a model; None where its architecture keeps them under unknown names."""
    base = getattr(model, "base_model", None)
    decoder = model.get_decoder() if hasattr(model, "get_decoder") else None
    bodies = (decoder, base, getattr(base, "language_model", None))
    n_blocks = getattr(model.config.get_text_config(), "num_hidden_layers", None)
    for body in bodies:
        for blocks, norm in _BODIES:
            found, last = getattr(body, blocks, None), getattr(body, norm, None)
            if isinstance(found, torch.nn.ModuleList) and last is not None:
                if n_blocks is not None and len(found) != n_blocks:
                    continue
                head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
                if head is None or embedding is None:
                    return None
                return Parts(embedding, head, tuple(found), last, _scale(torch, model.config))
    return None


def cache_name(forward: Callable[..., Any]) -> str | None:
    """What a forward function calls its cache of keys and values: the name changed over time."""
    return _first_name(forward, _CACHES)


def keep_name(forward: Callable[..., Any]) -> str | None:
    """What a forward function calls the number of last places whose logits are wanted."""
    return _first_name(forward, _KEEPS)


def _scale(torch: Any, config: Any) -> Scale:
    text = config.get_text_config()
    cap = getattr(text, "final_logit_softcapping", None)
    factor = float(getattr(text, "logit_scale", None) or 1.0)
    divisor = float(getattr(text, "logits_scaling", None) or 1.0)
    return Scale(torch, factor / divisor, float(cap) if cap else None)


def _first(module: Any, names: tuple[str, ...]) -> Any | None:
    return next((getattr(module, n) for n in names if hasattr(module, n)), None)


def _first_name(forward: Callable[..., Any], names: tuple[str, ...]) -> str | None:
    known = inspect.signature(forward).parameters
    return next((name for name in names if name in known), None)
