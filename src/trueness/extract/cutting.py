"""Where the payload of a phrase ends: at its sentence, or where it begins to explain."""

import re

from trueness.extract.rules import CUT_WORDS

SENTENCE_END = re.compile(
    r"(?<!approx)(?<!\bca)(?<!\bNo)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)[.!?](?=[*_\"'”’)\]]*(?:\s|$))"
    r"|[。！？]",
    re.IGNORECASE,
)
_CUT = re.compile(rf"(?<![^\W_])(?:{'|'.join(CUT_WORDS)})(?![^\W_])", re.IGNORECASE)


def cut_at(payload: str) -> int:
    """Where the answer in a phrase's payload ends at the latest.

    >>> cut_at(" 18 because 16 + 2 = 18"), cut_at(" 18. I used 3 steps")
    (4, 3)
    """
    end = len(payload)
    if m := SENTENCE_END.search(payload):
        end = m.start()
    if m := _CUT.search(payload, 0, end):
        end = m.start()
    return end
