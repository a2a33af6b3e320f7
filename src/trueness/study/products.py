"""Jacobians of blocks along a text or through the depth, and what their products grow like."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.contract.states import State
from trueness.stats.exponents import Growth, Product, growths
from trueness.stats.jacobians import PUBLISHED_WINDOW, JacobianSummary, Tail, jacobian_summary
from trueness.stats.kaplan_yorke import Dimension, filtration_sweep
from trueness.stats.settling import Settling, settling
from trueness.study.results import Record

SHOWN = 33
"""Exponents of a row, at evenly spaced ranks; the table holds all of them."""

Floats: TypeAlias = NDArray[np.float64]
Ids: TypeAlias = tuple[int, ...]


class Derived(Protocol):
    """A white box whose blocks are maps of one row."""

    def row_map(
        self, prompt: Sequence[int], layer: int, position: int, *, causal: bool = ...
    ) -> Any:
        """One block at one position."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Tokens of one text, as they stand or in random order.

    Parameters
    ----------
    number : int
    order : {"prose", "permuted"}
    ids : tuple of int
    """

    number: int
    order: str
    ids: Ids


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """The growth of one product.

    Parameters
    ----------
    kind : {"token", "unmasked", "block", "long"}
        Over the tokens of a text; the same without the mask; over the blocks; over many tokens.
    block : int or None
        None where all blocks are multiplied.
    text : Text
    growth : Growth
        From the first frame.
    settling : Settling
    last, last_published : JacobianSummary
        Of the last factor, with the default window of its tail and with the published one.
    """

    kind: str
    block: int | None
    text: Text
    growth: Growth
    settling: Settling
    last: JacobianSummary
    last_published: JacobianSummary

    @property
    def name(self) -> str:
        """Of its row."""
        where = "" if self.block is None else f"_{self.block}"
        return f"{self.kind}{where}_{self.text.order}_{self.text.number}"

    @property
    def settled(self) -> bool:
        """Whether its dimension may be compared with another's."""
        return self.settling.state is State.MEASURED and self.dimension is not None

    @property
    def dimension(self) -> float | None:
        """Kaplan-Yorke dimension of all steps; None where it is none."""
        return self.growth.dimension.value


def texts_of(
    passages: Sequence[Sequence[int]], *, n_texts: int, n_tokens: int, seed: int
) -> list[Text]:
    """Texts of so many tokens, and each again in random order.

    A passage that is too short goes on with the next one that begins no text.

    Parameters
    ----------
    passages : sequence of ids
    n_texts, n_tokens : int
    seed : int
        Of the orders.

    Raises
    ------
    InputError
        When the passages do not hold as many tokens.

    Examples
    --------
    >>> [t.ids for t in texts_of([(1, 2, 3), (4, 5)], n_texts=1, n_tokens=4, seed=0)][0]
    (1, 2, 3, 4)
    """
    spare = [list(p) for p in passages[n_texts:]]
    found: list[Text] = []
    for number, passage in enumerate(passages[:n_texts]):
        ids = list(passage)
        while len(ids) < n_tokens and spare:
            ids += spare.pop(0)
        if len(ids) < n_tokens:
            break
        prose = tuple(ids[:n_tokens])
        order = np.random.default_rng([seed, number]).permutation(n_tokens)
        found.append(Text(number, "prose", prose))
        found.append(Text(number, "permuted", tuple(prose[i] for i in order)))
    if len(found) < 2 * n_texts:
        msg = (
            f"{len(passages)} passages hold fewer than {n_texts} texts of {n_tokens} tokens. "
            "Declare fewer texts or tokens."
        )
        raise InputError(msg)
    return found


def token_product(
    model: Derived, text: Text, block: int, *, frames: Sequence[int], kind: str = "token"
) -> Grown:
    """Growth of one block's Jacobians over the tokens of a text, from the second one on.

    A product of matrices and the derivative of nothing: each factor starts at another token.

    Parameters
    ----------
    model : Derived
    text : Text
    block : int
    frames : sequence of int
        Seeds; two at least.
    kind : {"token", "unmasked", "long"}
    """
    steps = (
        model.row_map(text.ids, block, t, causal=kind != "unmasked").jacobian()
        for t in range(1, len(text.ids))
    )
    return _grown(steps, Product.TOKEN, kind, block, text, frames=frames)


def block_product(model: Derived, text: Text, n_blocks: int, *, frames: Sequence[int]) -> Grown:
    """Growth of the Jacobians of all blocks at the last token: the derivative end to end.

    Parameters
    ----------
    model : Derived
    text : Text
    n_blocks : int
    frames : sequence of int
    """
    last = len(text.ids) - 1
    steps = (model.row_map(text.ids, b, last, causal=True).jacobian() for b in range(n_blocks))
    return _grown(steps, Product.BLOCK, "block", None, text, frames=frames)


def _grown(
    steps: Iterator[NDArray[Any]],
    product: Product,
    kind: str,
    block: int | None,
    text: Text,
    *,
    frames: Sequence[int],
) -> Grown:
    held: list[NDArray[Any]] = [np.zeros((0, 0))]

    def passing() -> Iterator[NDArray[Any]]:
        for j in steps:
            held[0] = j
            yield j

    every = growths(passing(), product=product, seeds=frames)
    last = held[0]
    return Grown(
        kind,
        block,
        text,
        every[0],
        settling(every),
        jacobian_summary(last),
        jacobian_summary(last, window=PUBLISHED_WINDOW),
    )


def row_of(found: Grown) -> Record:
    """What the result says of one product; nothing of it is a dimension of the model."""
    growth, settled = found.growth, found.settling
    return {
        "name": found.name,
        "kind": found.kind,
        "product": growth.product.value,
        "block": found.block,
        "text": found.text.number,
        "order": found.text.order,
        "causal": found.kind != "unmasked",
        "n": growth.n_steps,
        "n_missing": 0,
        "width": settled.width,
        "state": settled.state.value,
        "reason": settled.reason,
        "largest_rate": _first(growth.exponents),
        "largest_rate_by_frame": list(settled.top_by_frame),
        "largest_rate_first_half": settled.first_half,
        "largest_rate_second_half": settled.second_half,
        "last_change": settled.last_change,
        "sum": growth.total,
        "n_expanding": growth.n_expanding,
        "n_dead": growth.n_dead,
        "n_order_violations": growth.n_order_violations,
        "dimension": {name: d.value for name, d in settled.dimension_by_step.items()},
        "dimension_state": growth.dimension.state.value,
        "dimension_by_frame": [d.value for d in settled.dimension_by_frame],
        "frame_spread": spread(settled.dimension_by_frame),
        "embedding_bound": growth.dimension.embedding_bound,
        "metric_entropy": growth.dimension.metric_entropy,
        "steps_to_separate": settled.steps_to_separate,
        "ranks": _ranks(len(growth.exponents)),
        "spectrum": _at_ranks(growth.exponents),
        "filtration": _filtration(growth.exponents),
        "sigma_max": found.last.sigma_max,
        "stable_rank": found.last.stable_rank,
        "tail": _tail(found.last.tail),
        "tail_published": _tail(found.last_published.tail),
    }


def spread(dimensions: Sequence[Dimension]) -> float | None:
    """Largest difference of dimensions from several frames; None where one has none."""
    values = [d.value for d in dimensions]
    known = [v for v in values if v is not None]
    return max(known) - min(known) if values and len(known) == len(values) else None


def _ranks(n: int) -> list[Json]:
    """Ranks from 1 that a row shows."""
    return [*sorted({round(r) for r in np.linspace(1, n, SHOWN).tolist()})] if n else []


def _at_ranks(exponents: Floats) -> list[Json]:
    ranks = np.array(_ranks(len(exponents)), np.int64)
    return [*exponents[ranks - 1].tolist()]


def _first(exponents: Floats) -> float | None:
    return float(exponents[0]) if len(exponents) else None


def _filtration(exponents: Floats) -> list[Json]:
    if not len(exponents):
        return []
    return [
        {
            "tolerance": f.tolerance,
            "n_levels": len(f.levels),
            "entropy": f.entropy,
            "entropy_ratio": f.entropy_ratio,
        }
        for f in filtration_sweep(exponents)
    ]


def _tail(tail: Tail | None) -> Json:
    if tail is None:
        return None
    return {
        "state": tail.state.value,
        "window": list(tail.window),
        "exponent": tail.exponent,
        "low": tail.low,
        "high": tail.high,
        "r2": tail.r2,
        "curvature": tail.curvature,
        "decades": tail.decades,
    }
