"""What a study of coupling sees of every item: gradients, a guard on them, attention."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.states import State
from trueness.stats.attention import AttentionMass, attention_mass
from trueness.stats.coupling import Coupling, control_span, couple, gradient_matches
from trueness.stats.couplings import GapSplit, largest_gap_split
from trueness.stats.ranks import gold_ranks
from trueness.study.inside_inputs import Items, WhiteBox

CHOSEN, GOLD, OTHER = range(3)
"""Places of the candidates; the most probable of the remaining tokens follow."""
TOP = 3
SCORES = ("logit", "logprob")
CONTROLS = ("nearest", "first")
"""As many tokens as the entity, nearest to it; or the first ones of the prompt, as published."""
_STEP = 1e-2

Floats: TypeAlias = NDArray[np.float64]


class Differentiable(WhiteBox, Protocol):
    """A white box that gives gradients and attention."""

    def logit_gradients(
        self, prompts: Sequence[str], tokens: Any, *, of: str = ...
    ) -> NDArray[np.float32]:
        """(n, c, T, D)."""
        ...

    def attentions(self, prompts: Sequence[str], query: int = ...) -> NDArray[np.float32]:
        """(n, L, heads, T)."""
        ...

    def embeddings(self, prompt: str) -> NDArray[np.float32]:
        """(T, D)."""
        ...

    def logits_of(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """(V,)."""
        ...

    def token_span(self, prompt: str, start: int, stop: int) -> tuple[int, int]:
        """Half-open interval of tokens."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One item.

    Parameters
    ----------
    unit : str
        Relation and entity: what is resampled as one.
    relation : str
    wrong : bool
    state : State
        ``UNSTABLE`` when the gradient of gold differs from a central difference.
    tokens : tuple of int
        Chosen, gold, another entity's gold, then the next most probable.
    logits : (c,) float64
    couplings : mapping of (score, control) to Coupling
    split : GapSplit
        Of the candidates' norms on the entity.
    attention : (AttentionMass, AttentionMass)
        Over all layers, and over the last third.
    """

    unit: str
    relation: str
    wrong: bool
    state: State
    tokens: tuple[int, ...]
    logits: Floats
    couplings: dict[tuple[str, str], Coupling]
    split: GapSplit
    attention: tuple[AttentionMass, AttentionMass]


def look(model: Differentiable, items: Items, *, seed: int) -> list[Seen]:
    """Gradients and attention of every item.

    Parameters
    ----------
    model : Differentiable
    items : Items
    seed : int
        Of the directions along which gradients are tried.
    """
    logits = model.next_logits(items.requests())
    logits = logits[:, : min(logits.shape[1], model.tokenizer.n_vocabulary)]
    ranked = gold_ranks(logits, items.golds)
    others = items.others()
    found = []
    for i, prompt in enumerate(items.prompts):
        first = (int(ranked.chosen[i]), int(ranked.gold[i]), others[i][0])
        rest = [t for t in np.argsort(-logits[i], kind="stable").tolist() if t not in first]
        tokens = (*first, *rest[:TOP])
        name = items.relation.entities[int(items.entity[i])]
        start = prompt.index(name)
        entity = list(range(*model.token_span(prompt, start, start + len(name))))
        gradients = {
            of: _own(model.logit_gradients([prompt], [list(tokens)], of=of)[0]) for of in SCORES
        }
        n_tokens = gradients[SCORES[0]].shape[1]
        spans = dict(zip(CONTROLS, _controls(n_tokens, entity), strict=True))
        couplings = {
            (of, control): couple(g, entity, span)
            for of, g in gradients.items()
            for control, span in spans.items()
        }
        rng = np.random.default_rng([seed, i])
        weights = model.attentions([prompt])[0]
        found.append(
            Seen(
                unit=f"{items.relation.name}:{name}",
                relation=items.relation.name,
                wrong=first[CHOSEN] not in set(items.golds[i]),
                state=_tried(model, prompt, gradients[SCORES[0]][GOLD], first[GOLD], rng),
                tokens=tokens,
                logits=logits[i, list(tokens)].astype(np.float64),
                couplings=couplings,
                split=largest_gap_split(couplings["logit", "nearest"].entity_per_token),
                attention=attention_mass(weights, entity, spans["nearest"]),
            )
        )
    return found


def _own(gradients: NDArray[np.float32]) -> NDArray[np.float32]:
    """Without the columns that pad a shorter prompt."""
    return gradients[:, ~np.isnan(gradients).all(axis=(0, 2))]


def _controls(n_tokens: int, entity: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    first = tuple(t for t in range(len(entity)) if t not in set(entity))
    return control_span(n_tokens, entity), first


def _tried(
    model: Differentiable,
    prompt: str,
    gradient: NDArray[np.float32],
    token: int,
    rng: np.random.Generator,
) -> State:
    """Whether a gradient agrees with a central difference along a random direction."""
    base = model.embeddings(prompt)
    direction = rng.normal(size=base.shape) * base.std()
    ends = [
        float(model.logits_of((base + sign * _STEP * direction).astype(np.float32))[token])
        for sign in (1, -1)
    ]
    return gradient_matches(gradient, direction, above=ends[0], below=ends[1], step=_STEP)[0]
