"""A million claims against their evidence in one process, with flat memory.

Pairs are generated in chunks from a seed, measured, and written as they come. Peak memory after
all of them must be at most 1.1 times that after a tenth, and the numbers must not depend on the
size of the chunks.

Run: python bench/energy_stream.py [--pairs 1000000] [--out out/energy_stream.jsonl]
"""

import argparse
import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray

from trueness.stats.span_columns import SpanColumns, measure_columns
from trueness.stats.span_rules import SpanRules

Floats = NDArray[np.float64]

N, D = 4, 384
BLOCK = 1_000
"""Pairs that one seed makes; chunks are whole blocks."""
CHUNKS = (1_000, 7_000, 20_000)
RULES = SpanRules(embedding_noise=1e-12)
GROWTH_LIMIT = 1.1
SAME = 1e-13


def block(number: int) -> tuple[Floats, Floats]:
    """Claims and evidence of one block."""
    rng = np.random.default_rng([number, N, D])
    return rng.standard_normal((BLOCK, D)), rng.standard_normal((BLOCK, N, D))


def measured(pairs: int, chunk: int) -> Iterator[SpanColumns]:
    """Columns of one chunk after another."""
    blocks = -(-pairs // BLOCK)
    for start in range(0, blocks, chunk // BLOCK):
        made = [block(b) for b in range(start, min(start + chunk // BLOCK, blocks))]
        claims = np.concatenate([c for c, _ in made])[: pairs - start * BLOCK]
        rows = np.concatenate([r for _, r in made])[: pairs - start * BLOCK]
        yield measure_columns(claims, rows, rules=RULES, influence=True)


def written(columns: SpanColumns, first: int) -> str:
    """One strict JSON line a pair."""
    quantiles = columns.null_quantile[:, 0]
    lines = [
        {"pair": first + i, "state": state[0], "value": energy, "null_quantile": quantile}
        for i, (state, energy, quantile) in enumerate(
            zip(columns.states(), columns.energy[:, 0].tolist(), quantiles.tolist(), strict=True)
        )
    ]
    return "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def streamed(pairs: int, out: Path) -> dict[str, float]:
    """Measure and write all; peak memory after a tenth and at the end, and the time."""
    early, done, start = 0.0, 0, process_time()
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file:
        for columns in measured(pairs, BLOCK):
            file.write(written(columns, done))
            done += len(columns.energy)
            if not early and done >= pairs / 10:
                early = peak_mb()
    seconds = process_time() - start
    return {
        "pairs": done,
        "peak_mb_after_a_tenth": early,
        "peak_mb": peak_mb(),
        "growth": peak_mb() / early,
        "microseconds_a_pair": seconds / done * 1e6,
    }


def chunk_error(pairs: int) -> float:
    """Largest difference of any number between sizes of chunks."""
    found = []
    for chunk in CHUNKS:
        columns = list(measured(pairs, chunk))
        energies = np.concatenate([c.energy[:, 0] for c in columns])
        influences = np.concatenate([c.influence[:, 0] for c in columns if c.influence is not None])
        found.append(np.column_stack([energies, influences]))
    return max(float(np.abs(f - found[0]).max()) for f in found[1:])


def main() -> int:
    """Print what was found; 1 when memory grew or chunks matter."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("out/energy_stream.jsonl"))
    options = parser.parse_args()
    found = streamed(options.pairs, options.out)
    found["chunk_error"] = chunk_error(min(options.pairs, CHUNKS[-1]))
    print(json.dumps(found, indent=1))
    good = found["growth"] <= GROWTH_LIMIT and found["chunk_error"] <= SAME
    print(f"{'all met' if good else 'MISSED'}; {options.out.stat().st_size} bytes written")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
