"""How likely a scripted model finds a text: it reads words and their neighbours, nothing else."""

import math
import re
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+|[^\w\s]")
NEXT_TO, THERE, NEW = -1.0, -2.0, -4.0
"""Nats of a word that stands in the prompt behind the same word, elsewhere in it, or not at all."""

FIRST, GAP = -0.125, 4.0
"""Log-probability of a token that a script writes, in nats, and its distance to the next one."""


def scripted_law(token: int, n_tokens: int) -> NDArray[np.float64]:
    """(n_tokens,) log-probabilities at a token that is written; what is left is spread evenly.

    >>> law = scripted_law(7, 20)
    >>> int(law.argmax()), round(float(np.exp(law).sum()), 9)
    (7, 1.0)
    """
    rest = 1.0 - math.exp(FIRST) - math.exp(FIRST - GAP)
    law = np.full(n_tokens, math.log(rest / (n_tokens - 2)))
    law[token], law[token + 1 if token + 1 < n_tokens else 0] = FIRST, FIRST - GAP
    return law


def scripted_logprob(prompt: str, text: str) -> tuple[float, int]:
    """Log-probability of a text behind a prompt, in nats, and its words.

    Not a probability law: a table of three numbers, enough to tell who did what to whom.

    >>> seen = "Ann hired Bob."
    >>> scripted_logprob(seen, "Ann hired Bob."), scripted_logprob(seen, "Bob hired Ann.")
    ((-5.0, 4), (-8.0, 4))
    """
    known = _WORD.findall(prompt)
    words = _WORD.findall(text)
    pairs = set(pairwise(known))
    there = set(known)
    total = 0.0
    for before, word in zip([None, *words], words, strict=False):
        total += NEXT_TO if (before, word) in pairs else THERE if word in there else NEW
    return total, len(words)
