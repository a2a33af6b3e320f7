"""What embedding costs: sentences a second, and how much of it is matrix products.

Run: python bench/embedding.py [-o result.json]
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from trueness.backends.minilm import MiniLM
from trueness.backends.weights import KNOWN, fetch, path_of
from trueness.collect.embedding import embed_table
from trueness.collect.passages import Cuts
from trueness.sensors import energy
from trueness.table.evidence_reading import read_evidence

Figure = tuple[str, float, float]
"""(name, value, limit): the value must not exceed the limit."""

N_SENTENCES, MEAN_WORDS, SEED = 300, 28, 20_261_130
TEXT = (
    "the of and in to a was for on with by that from at as his it an were which this had first "
    "their after been who not but also has her one two city year world war state people school "
    "team new between during other there where most under government university season until "
    "south north national company music water system number family history river language study "
    "patients results significantly treatment group associated increased clinical trial outcome"
)
CLAIMS = Path(__file__).parents[1] / "src" / "trueness" / "data" / "claims" / "pubmedqa.jsonl"
SHAPES = ((384, 1152), (384, 384), (384, 1536), (1536, 384))
LAYERS = 6


def sentences() -> list[str]:
    """Made sentences of common words, from a seed, of uneven lengths."""
    draw = np.random.default_rng(SEED)
    lengths = draw.integers(MEAN_WORDS // 3, 2 * MEAN_WORDS - MEAN_WORDS // 3, N_SENTENCES)
    return [" ".join(draw.choice(TEXT.split(), n)).capitalize() + "." for n in lengths]


def measured() -> dict[str, float]:
    """Everything this file measures, by name; times are of the processor, one thread."""
    weights, tokenizer = fetch("minilm"), path_of("minilm", "tokenizer.json")
    minilm = MiniLM(weights, tokenizer, revision=KNOWN["minilm"].sha256, threads=1)
    texts = sentences()
    tokens = minilm.count_tokens(texts, "claim")
    together = _seconds(lambda: minilm.embed(texts, "claim"))
    alone = _seconds(lambda: [minilm.embed([text], "claim") for text in texts])
    count = _seconds(lambda: minilm.count_tokens(texts, "claim"))
    return {
        "sentences": float(len(texts)),
        "tokens a sentence": float(np.mean(tokens)),
        "sentences a second, a core": len(texts) / together,
        "sentences a second, a core, one at a time": len(texts) / alone,
        "tokenizing, share of the time": count / together,
        "against its matrix products alone": together / _products(tokens),
    }


def figures() -> list[Figure]:
    """The ratios that are recorded."""
    found = measured()
    name = "embedding sentences, against their matrix products alone"
    share = "grounding texts, processor time that is not embedding, over all of it"
    return [(name, found["against its matrix products alone"], 3.0), (share, outside(), 0.05)]


def outside(claims: int = 20) -> float:
    """Share of grounding so many conclusions of abstracts that is not the embedder's."""
    weights, tokenizer = fetch("minilm"), path_of("minilm", "tokenizer.json")
    minilm = MiniLM(weights, tokenizer, revision=KNOWN["minilm"].sha256, threads=1)
    table = read_evidence(CLAIMS, limit=claims)
    start = time.process_time()
    embedded = embed_table(table, minilm, cuts=Cuts(window=256))
    between = time.process_time()
    energy.measure(embedded).to_json()
    end = time.process_time()
    return (end - between) / (end - start)


def _products(tokens: Sequence[int]) -> float:
    """Seconds of the products alone, all tokens in one matrix: what cannot be avoided."""
    draw = np.random.default_rng(SEED)
    rows = 512
    pairs = [
        (draw.standard_normal((rows, k), np.float32), draw.standard_normal((k, n), np.float32))
        for k, n in SHAPES
    ]
    once = _seconds(lambda: [left @ right for left, right in pairs])
    return LAYERS * once * sum(tokens) / rows


def _seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of a few runs, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="also write the figures as JSON")
    options = parser.parse_args()
    found = measured()
    for name, value in found.items():
        print(f"{value:10.3g}  {name}")
    if options.output:
        packages = ("numpy", "safetensors", "tokenizers", "trueness")
        versions = {"python": platform.python_version(), **{p: version(p) for p in packages}}
        record = {"figures": found, "versions": versions, "cores": os.cpu_count(), "seed": SEED}
        options.output.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
