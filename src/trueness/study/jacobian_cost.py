"""What a block's Jacobian costs against five passes of its model, by width."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trueness.backends.local.drawn import drawn_llama
from trueness.contract.errors import MissingExtraError
from trueness.contract.serial import Json
from trueness.stats.block_power import TopValues
from trueness.study.asked import not_applicable
from trueness.study.embedded_inputs import levels
from trueness.study.found import Found
from trueness.study.inside_inputs import opened
from trueness.study.prices import Calls, Price, price_of
from trueness.study.published import published_of
from trueness.study.results import Record
from trueness.study.spent import Spent
from trueness.study.task import Task

ENOUGH = 10.0
"""How much cheaper than the whole sequence's derivative the row's has to be."""
_TIMES = (
    "Processor seconds of all threads on one machine; their ratios move with depth, vocabulary, "
    "prompt length and the number of threads. A drawn Llama has few words, so its pass is cheaper "
    "than that of a trained model of its width."
)
_WORTH = (
    "A price does not say what a Jacobian is worth: none of its summaries says whether a map is "
    "one-to-one or an answer right."
)


def run(task: Task) -> Found:
    """Times of the named model, and of Llamas of random weights, one width after the other.

    Parameters
    ----------
    task : Task
        ``inputs``: ``model``.
        ``seed``: of prompts and weights.
        ``repeats``: at most so many widths.
    """
    task.only("model")
    widths = levels(task.declaration, "width", int)[: task.repeats]
    (blocks,), (n_tokens,), (k,), (forwards,) = (
        levels(task.declaration, name, int) for name in ("blocks", "tokens", "values", "forwards")
    )
    calls = Calls(*levels(task.declaration, "calls", int))
    rng = np.random.default_rng(task.seed)
    prices = []
    with opened(task) as model:
        if isinstance(model, str):
            return not_applicable(task, model)
        given: Any = model
        identity = dict(model.identity)
        prompt = rng.integers(model.tokenizer.n_vocabulary, size=n_tokens).tolist()
        task.say(str(identity["model"]))
        prices.append(price_of("model", given, prompt, k=k, calls=calls))
    try:
        for width in widths:
            task.say(f"Llama of width {width}")
            drawn: Any = drawn_llama(width, blocks=blocks, seed=task.seed)
            prompt = rng.integers(drawn.tokenizer.n_vocabulary, size=n_tokens).tolist()
            prices.append(price_of(f"llama_{width}", drawn, prompt, k=k, calls=calls))
    except MissingExtraError as error:
        return not_applicable(task, str(error))
    rows = tuple(_row(price, n_tokens, forwards) for price in prices)
    return Found(
        rows=rows,
        contrasts={
            "jacobian_against_forwards": _crossing(prices[1:], forwards),
            "row_against_sequence": _faster(prices),
        },
        draws={"repeats": task.repeats, "calls": calls.cheap, "dear_calls": calls.dear},
        notes=(_TIMES, _WORTH),
        published=published_of(task.declaration, {"rows": list(rows)}),
        spent=Spent(forwards=len(prices) * (calls.cheap + 3)),
        model=identity,
        table=tuple(_table(prices)),
    )


def _row(price: Price, n_tokens: int, forwards: int) -> Record:
    second = price.median
    middle, low, high = price.against_forwards(forwards)
    return {
        "name": price.name,
        "n": sum(map(len, price.seconds.values())),
        "n_missing": 0,
        "width": price.width,
        "blocks": price.blocks,
        "n_tokens": n_tokens,
        "milliseconds": {
            what: {
                "n": len(spent),
                "median": _short(1000 * second(what)),
                "quartiles": [_short(1000 * q) for q in price.quartiles(what)],
            }
            for what, spent in price.seconds.items()
        },
        "price": _short(middle),
        "price_low": _short(low),
        "price_high": _short(high),
        "sequence_to_row": _short(second("sequence_jacobian") / second("row_jacobian")),
        "sequence_to_block": _short(second("sequence_jacobian") / second("block")),
        "jacobian_to_block": _short(second("row_jacobian") / second("block")),
        "jacobian_to_row_map": _short(second("row_jacobian") / second("row_map")),
        "block_to_row_map": _short(second("block") / second("row_map")),
        "power_to_jacobian": _short(second("power") / second("row_jacobian")),
        "power_to_block": _short(second("power") / second("block")),
        "bidiagonal_to_jacobian": _short(second("bidiagonal") / second("row_jacobian")),
        "row_off_sequence": price.difference,
        "power": _values(price, price.power),
        "bidiagonal": _values(price, price.bidiagonal),
    }


def _values(price: Price, found: TopValues) -> dict[str, Json]:
    """How an iteration ended, and how far its values are from those of the whole Jacobian."""
    off = None
    if found.sigma is not None:
        exact = price.sigma[: len(found.sigma)]
        off = float(np.abs(found.sigma - exact).max() / exact[0])
    return {
        "state": found.state.value,
        "reason": found.reason,
        "steps": found.steps,
        "residual": found.residual,
        "error": off,
    }


def _crossing(prices: Sequence[Price], forwards: int) -> dict[str, Json]:
    """At which widths a Jacobian with its spectrum costs more, and less, than so many passes."""
    each = [(p.width, *p.against_forwards(forwards)) for p in sorted(prices, key=lambda p: p.width)]
    dearer = [width for width, _, low, _ in each if low > 1]
    cheaper = [width for width, _, _, high in each if high < 1]
    ordered = not dearer or not cheaper or max(cheaper) < min(dearer)
    return {
        "n": len(each),
        "estimate": _short(each[-1][1]),
        "low": _short(each[-1][2]),
        "high": _short(each[-1][3]),
        "kind": "ratio of medians at the greatest width; ends from quartiles of the calls",
        "n_dearer": len(dearer),
        "n_cheaper": len(cheaper),
        "open": len(each) - len(dearer) - len(cheaper),
        "ordered": int(ordered),
        "crossover_width": dearer[0] if dearer and ordered else None,
        "largest_cheaper": cheaper[-1] if cheaper else None,
    }


def _faster(prices: Sequence[Price]) -> dict[str, Json]:
    """How much cheaper the row's Jacobian is than the whole sequence's, and how unlike."""
    ratios = [p.median("sequence_jacobian") / p.median("row_jacobian") for p in prices]
    return {
        "n": len(ratios),
        "estimate": _short(min(ratios)),
        "beyond": sum(ratio < ENOUGH for ratio in ratios),
        "largest_difference": max(p.difference for p in prices),
    }


def _table(prices: Sequence[Price]) -> list[Record]:
    return [
        {"name": p.name, "what": what, "seconds": [_short(s) for s in spent]}
        for p in prices
        for what, spent in p.seconds.items()
    ]


def _short(value: float) -> float:
    """Four digits: no time is known better."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, 3 - math.floor(math.log10(abs(value))))
