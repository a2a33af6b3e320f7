"""What is tried when a model is opened, before anybody looks inside it."""

import numpy as np

from trueness.backends.local.batch import Row
from trueness.backends.local.passes import Engine
from trueness.backends.local.row_map import METHODS, row_map
from trueness.backends.local.seeing import hidden_states, parts_of
from trueness.contract.errors import BackendError

_READOUT = 1e-4


def check_inside(engine: Engine, ids: tuple[int, ...]) -> None:
    """Refuse a model whose parts, called alone, are not the model.

    The final norm must be applied once: the readout of the last state is the model's logits. A
    block must be called with its mask and positions: a row at an interior position comes out as the
    model had it, for the first, a middle and the last block. Where the row alone does not, the
    whole sequence may.

    Raises
    ------
    BackendError
        Naming what differs, and by how much.
    """
    parts, last = parts_of(engine), len(ids) - 1
    logits = engine.numpy(engine.read([Row(ids)], keep=1)[0, -1])
    state = hidden_states(engine, [ids], np.array([[last]]), 1)[0, -1, 0]
    with engine.torch.inference_mode():
        made = parts.readout(engine.torch.from_numpy(state).to(engine.device))
    wrong = float(np.abs(engine.numpy(made)[: engine.n_rows] - logits).max())
    largest = float(np.abs(logits).max())
    if not wrong <= _READOUT * largest:
        msg = (
            f"the readout of the last state differs from the model's logits by {wrong:.2g} where "
            f"{largest:.2g} is the largest: the final norm or a factor is applied otherwise here."
        )
        raise BackendError(msg, hint="Use an architecture that is known, such as Llama or Qwen.")
    calls = engine.calls(ids)
    tried = [calls[layer] for layer in sorted({0, len(calls) // 2, len(calls) - 1})]
    for method in METHODS:
        try:
            for call in tried:
                row_map(engine.torch, call, last // 2, method=method)
        except BackendError:
            if method == METHODS[-1]:
                raise
        else:
            engine.row_method = method
            return
