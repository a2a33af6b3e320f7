"""Looking inside a local model: states, readout, attention, gradients, row maps, interventions."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.backends.local import seeing
from trueness.backends.local.asking import Asker
from trueness.backends.local.exact_readout import ExactReadout, exact_readout
from trueness.backends.local.interventions import Site, intervene
from trueness.backends.local.mlp_matrices import Changed, changed_mlp
from trueness.backends.local.passes import Engine
from trueness.backends.local.row_map import METHODS, RowMap, row_map
from trueness.backends.local.seeing import Places, places
from trueness.contract.errors import InputError

Prompt = str | Sequence[int]
"""A text, encoded behind BOS where the model has one; or ids, sent as they are."""
INSIDE = frozenset({"hidden_states", "readout", "logit_gradients", "row_map", "intervene"})
"""Capabilities of every model whose parts are known."""
_PAIR = 2


@dataclass(slots=True)
class Inside:
    """The white-box half of a local model."""

    _engine: Engine = field(init=False, repr=False)
    _asker: Asker = field(init=False, repr=False)

    def hidden_states(
        self, prompts: Sequence[Prompt], positions: Places = (-1,)
    ) -> NDArray[np.float32]:
        """Residual states while prompts are read.

        Parameters
        ----------
        prompts : sequence of str or ids
        positions : sequence of int, or one such for each prompt
            From 0 at the first token, BOS included; negative from the end.

        Returns
        -------
        (n, L + 1, P, D) float32
            Entry 0 are embeddings, entry l the output of block l, entry L that of the last block,
            before the final norm.

        Raises
        ------
        InputError
            For a prompt that is empty or too long, or a position outside it.
        BackendError
            Where the architecture's parts are not known.
        """
        ids = self._read(prompts)
        at = places(positions, [len(p) for p in ids])
        return seeing.hidden_states(self._engine, ids, at, self._asker.batch_size)

    def readout(self, h: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits (…, V) of residual states (…, D): final norm, unembedding, capping.

        Raises
        ------
        BackendError
            Where the architecture's parts are not known.
        """
        parts, torch = seeing.parts_of(self._engine), self._engine.torch
        with torch.inference_mode():
            states = torch.from_numpy(np.array(h, np.float32)).to(self._engine.device)
            return self._engine.numpy(parts.readout(states)[..., : self._engine.n_rows])

    def exact_readout(self) -> ExactReadout:
        """The function of `readout` in double precision; holds the unembedding once more.

        Raises
        ------
        BackendError
            Where the final norm is of no known form.
        """
        return exact_readout(self._engine)

    def attentions(self, prompts: Sequence[Prompt], query: int = -1) -> NDArray[np.float32]:
        """Weights of one query's attention.

        Parameters
        ----------
        prompts : sequence of str or ids
        query : int
            Position of the query; negative from the end of each prompt.

        Returns
        -------
        (n, L, heads, T) float32
            T is the longest prompt; nan beyond a prompt's own tokens. Rows sum to 1.

        Raises
        ------
        BackendError
            Unless attention is eager.
        """
        return seeing.attentions(self._engine, self._read(prompts), query, self._asker.batch_size)

    def logit_gradients(
        self, prompts: Sequence[Prompt], tokens: ArrayLike, *, of: str = "logit"
    ) -> NDArray[np.float32]:
        """Gradients of candidates' scores at the last position, by the input embeddings.

        Parameters
        ----------
        prompts : sequence of str or ids
        tokens : (n, c) int
            Candidates of each prompt.
        of : {"logit", "logprob"}
            The score: z_c, or log p_c.

        Returns
        -------
        (n, c, T, D) float32
            T is the longest prompt; nan beyond a prompt's own tokens.

        Raises
        ------
        InputError
            For tokens that are none, or another shape.
        """
        ids, chosen = self._read(prompts), np.asarray(tokens)
        wrong = chosen.ndim != _PAIR or len(chosen) != len(ids) or not chosen.size
        if wrong or chosen.min() < 0 or chosen.max() >= self._engine.n_rows:
            msg = (
                f"tokens of shape {chosen.shape} for {len(ids)} prompts: give (n, c) ids from 0 to "
                f"{self._engine.n_rows - 1}."
            )
            raise InputError(msg)
        whole = chosen.astype(np.int64)
        return seeing.logit_gradients(
            self._engine, ids, whole, of=of, batch_size=self._asker.batch_size
        )

    def logit_vjp(
        self, prompt: Prompt, layer: int, weights: ArrayLike, *, position: int = -1
    ) -> NDArray[np.float32]:
        """Derivatives of functions of the next-token logits, by one residual state.

        For f with gradient w in logits, row wᵀ · dz/dh is the derivative of f by h: what one
        reverse pass gives.

        Parameters
        ----------
        prompt : str or ids
        layer : int
            The state enters this block; L, the number of blocks, for the one before the final norm.
        weights : (s, V) float
            Gradients in logits, a row a function.
        position : int
            Of the state; negative from the end.

        Returns
        -------
        (s, D) float32

        Raises
        ------
        InputError
            For another shape, a layer or a position that is not there.
        """
        ids, rows = self._read([prompt])[0], np.array(weights, np.float32)
        parts = seeing.parts_of(self._engine)
        shape = (len(rows), self._engine.n_rows)
        if not 0 <= layer <= len(parts.blocks) or rows.shape != shape or not len(rows):
            msg = (
                f"layer {layer}, weights of shape {rows.shape}; give a layer from 0 to "
                f"{len(parts.blocks)} and weights (s, {self._engine.n_rows})."
            )
            raise InputError(msg)
        at = int(places([position], [len(ids)])[0, 0])
        return seeing.logit_vjp(self._engine, ids, layer, at, rows)

    def embeddings(self, prompt: Prompt) -> NDArray[np.float32]:
        """Input embeddings (T, D) of a prompt."""
        return self._engine.embed(self._read([prompt])[0])

    def logits_of(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits (V,) at the last of the input embeddings (T, D): for finite differences."""
        return self._engine.logits_of(np.array(block, np.float32))

    def row_map(
        self,
        prompt: Prompt,
        layer: int,
        position: int,
        *,
        method: str | None = None,
        causal: bool = True,
    ) -> RowMap:
        """One block as a map of the row at a position, everything else frozen.

        Parameters
        ----------
        prompt : str or ids
        layer : int
            The block, from 0.
        position : int
            Negative from the end.
        method : {"row", "sequence"} or None
            The row alone behind frozen keys and values, or the whole sequence, which costs more;
            None takes the row wherever the architecture's blocks can be called for one.
        causal : bool
            False drops the mask, so that the row reads what comes after it: another function than
            the model's, kept to revisit figures that were made so.

        Returns
        -------
        RowMap
            With ``jvp``, ``vjp`` and ``jacobian(chunk=64)``.

        Raises
        ------
        BackendError
            When the map does not give back what the model had.
        """
        ids = self._read([prompt])[0]
        at = int(places([position], [len(ids)])[0, 0])
        parts = seeing.parts_of(self._engine)
        if not 0 <= layer < len(parts.blocks) or method not in (*METHODS, None):
            msg = (
                f"layer {layer}, method {method!r}; give a block from 0 to "
                f"{len(parts.blocks) - 1} and one of {', '.join(METHODS)}."
            )
            raise InputError(msg)
        engine = self._engine
        call, chosen = engine.calls(ids)[layer], method or engine.row_method
        return row_map(
            engine.torch, call, at, method=chosen, causal=causal, forward=engine.is_eager
        )

    def intervene(
        self,
        site: Site | str,
        *,
        positions: Sequence[int] = (-1,),
        steps: str = "prefill",
        delta: ArrayLike,
    ) -> AbstractContextManager[None]:
        """Until the block ends, every pass of the model is changed; shared prefixes are not used.

        Results of `complete` and `score` come as they are taken: take them inside the block.

        Parameters
        ----------
        site : Site or str
            ``resid_in(l)``, ``attn_out(l)``, ``mlp_out(l)``, ``resid_out(l)`` or ``unembed_rows``.
        positions : sequence of int
            From 0 at the first token, those of written text included; negative from the end of the
            prompt.
        steps : {"prefill", "every"}
            Only while prompts are read; or also at written tokens, where -1 is each newest one.
        delta : (D,) or (P, D) float, or (k, 2) int
            Added to the states at the positions; for ``unembed_rows`` pairs of tokens whose rows
            are exchanged for what is read there.

        Raises
        ------
        InputError
            For an unknown site, steps or shape.
        BackendError
            Where the architecture has no such part.
        """
        return intervene(self._engine, site, positions=positions, steps=steps, delta=delta)

    def changed_mlp(self, layer: int, change: Changed) -> AbstractContextManager[int]:
        """Until it ends, each feed-forward matrix of a block is what ``change`` makes of it.

        Parameters
        ----------
        layer : int
            The block, from 0.
        change : callable
            From a matrix and its place in the block to another one of its shape.

        Raises
        ------
        InputError
            For a block that is not there, or another shape.
        BackendError
            Where the architecture has no such matrices.
        """
        return changed_mlp(self._engine, layer, change)

    def token_span(self, prompt: str, start: int, stop: int) -> tuple[int, int]:
        """Half-open interval of the tokens that overlap characters ``start`` to ``stop``.

        Positions as in `hidden_states`: BOS counts. Offsets are of the whole prompt: tokenising a
        part of it would give other tokens.

        Raises
        ------
        InputError
            When no token overlaps, or the interval is not in the prompt.
        """
        if not 0 <= start < stop <= len(prompt):
            msg = f"characters {start} to {stop} of a prompt of {len(prompt)}: the span is empty."
            raise InputError(msg)
        shift = 0 if self._asker.tokenizer.bos is None else 1
        spans = self._asker.tokenizer.offsets(prompt)
        hit = [i + shift for i, (a, b) in enumerate(spans) if a < stop and b > start]
        if not hit:
            msg = f"no token covers {prompt[start:stop]!r}."
            raise InputError(msg)
        return hit[0], hit[-1] + 1

    def _read(self, prompts: Sequence[Prompt]) -> list[tuple[int, ...]]:
        """Ids of prompts, none of them empty or too long."""
        return self._asker.readable(prompts)
