"""Do growth rates of products settle? Those that do: prose against shuffled words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from trueness.backends.protocol import Tokenizer
from trueness.collect.conditions import passages
from trueness.contract.errors import InputError
from trueness.stats.paired_means import equivalence_intervals, paired_means
from trueness.study.asked import not_applicable
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.inside_inputs import opened
from trueness.study.products import Grown, block_product, row_of, texts_of, token_product
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.spent import Spent
from trueness.study.task import Task

_TWO_SIDED = 0.025
_PRODUCT = (
    "A token product is a product of matrices and the derivative of nothing: each factor starts "
    "again at another token. The block product is the derivative end to end, and no cocycle."
)
_FINITE = (
    "Growth rates are means of logarithms of one finite product. It does not show exponents or a "
    "dimension of a model: no invariant measure, cocycle identity or integrability is shown."
)
_UNMASKED = (
    "Rows without the mask are of a block that reads what comes later: another function than the "
    "model's, kept because the published figures were made so."
)
_LENGTH = (
    "A product of fewer steps than the state is wide counts as unsettled whatever its numbers do; "
    "unsettled rows are in no comparison. One long text on one block shows what more steps do."
)
NOTES = (_PRODUCT, _FINITE, _UNMASKED, _LENGTH)


def run(task: Task) -> Found:
    """Growth of token products, block products and products without the mask.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of the orders of words.
        ``repeats``: at most so many blocks.
    """
    task.only("model")
    (n_blocks,), (n_texts,), (n_tokens,), (n_long,), (n_unmasked,) = (
        levels(task.declaration, name, int)
        for name in ("blocks", "texts", "tokens", "long", "unmasked")
    )
    frames = levels(task.declaration, "frames", int)
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        white: Any = model
        pages = encoded(white.tokenizer)
        texts = texts_of(pages, n_texts=n_texts, n_tokens=n_tokens, seed=task.seed)
        depth = white.hidden_states([texts[0].ids]).shape[1] - 1
        blocks = spread_blocks(min(n_blocks, task.repeats), depth)
        found: list[Grown] = []
        for text in texts:
            task.say(f"{text.order} {text.number}: block product")
            found.append(block_product(white, text, depth, frames=frames))
            for block in blocks:
                task.say(f"{text.order} {text.number}: block {block}")
                found.append(token_product(white, text, block, frames=frames))
                if text.number < n_unmasked:
                    grown = token_product(white, text, block, frames=frames, kind="unmasked")
                    found.append(grown)
        if n_long > 1 and task.repeats >= n_blocks:
            (long, _) = texts_of(pages, n_texts=1, n_tokens=n_long, seed=task.seed)
            task.say(f"{n_long} tokens: block {depth // 2}")
            found.append(token_product(white, long, depth // 2, frames=frames, kind="long"))
        identity = dict(model.identity)
    rows = tuple(row_of(one) for one in found)
    return Found(
        rows=rows,
        contrasts=contrasts_of(found),
        draws={
            "repeats": task.repeats,
            "blocks": list(blocks),
            "n_texts": n_texts,
            "n_steps": n_tokens - 1,
        },
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=len(texts) + 1),
        model=identity,
        notes=NOTES,
        table=tuple(
            {"name": one.name, "exponents": one.growth.exponents.tolist()} for one in found
        ),
    )


def encoded(tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """Tokens of the passages that come along."""
    return [tuple(tokenizer.encode(text)) for text in passages()]


def spread_blocks(n: int, depth: int) -> tuple[int, ...]:
    """So many blocks, evenly over the depth, the first and the last among them.

    Raises
    ------
    InputError
        Without a block.

    Examples
    --------
    >>> spread_blocks(6, 30), spread_blocks(1, 30), spread_blocks(6, 3)
    ((0, 6, 12, 17, 23, 29), (15,), (0, 1, 2))
    """
    if n < 1 or depth < 1:
        msg = f"{n} blocks of {depth}; wanted one at least. Declare another number."
        raise InputError(msg)
    if n == 1:
        return (depth // 2,)
    return tuple(sorted({round(x) for x in np.linspace(0, depth - 1, n).tolist()}))


def contrasts_of(found: Sequence[Grown]) -> dict[str, Record]:
    """How many products have settled, and prose against permuted words among those."""
    own = [one for one in found if one.kind != "unmasked"]
    settled = [one for one in own if one.settled]
    delta = differences(found)
    by_kind: Any = {
        kind: {
            "n": sum(one.kind == kind for one in own),
            "n_settled": sum(one.kind == kind for one in settled),
        }
        for kind in dict.fromkeys(one.kind for one in own)
    }
    blocks = sorted({one.block for one in own if one.block is not None})
    return {
        "settled": {
            "n": len(own),
            "n_settled": len(settled),
            "estimate": len(settled) / len(own) if own else None,
            "by_kind": by_kind,
            "by_block": {str(b): sum(one.block == b for one in settled) for b in blocks},
        },
        "prose_minus_permuted": _difference(delta),
    }


def differences(found: Sequence[Grown]) -> dict[int, float]:
    """For each text the mean difference of dimensions over width, over its settled blocks."""
    placed = {
        (one.text.number, one.block, one.text.order): one
        for one in found
        if one.kind == "token" and one.settled
    }
    by_text: dict[int, list[float]] = {}
    for (number, block, order), prose in placed.items():
        other = placed.get((number, block, "permuted"))
        if order == "prose" and other is not None:
            above, below = prose.dimension, other.dimension
            if above is not None and below is not None:
                by_text.setdefault(number, []).append((above - below) / prose.settling.width)
    return {number: float(np.mean(values)) for number, values in by_text.items()}


def _difference(delta: dict[int, float]) -> Record:
    kind = "Student's interval over texts"
    if not delta:
        return {"n": 0, "estimate": None, "low": None, "high": None, "kind": kind}
    means = paired_means(np.array([[d] for d in delta.values()]))
    low, high = equivalence_intervals(means, alpha=_TWO_SIDED)[0].tolist()
    known = len(delta) > 1
    return {
        "n": len(delta),
        "estimate": float(means.estimate[0]),
        "low": low if known else None,
        "high": high if known else None,
        "kind": kind,
    }
