"""No text costs more than its length: ten times the characters, about ten times the time."""

from time import process_time

import pytest

from trueness.extract import extract
from trueness.extract.settings import Kind

PIECES = ("{", "1,", "**", "1", "(", "$", "\\(", "\\boxed{", "\\frac{", '{"answer": "', "5-", " ")
SHORT, LONG = 10_000, 100_000


def seconds(text: str, kind: Kind) -> float:
    times = []
    for _ in range(3):
        start = process_time()
        extract(text, kind=kind)
        times.append(process_time() - start)
    return min(times)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["number", "option", "text", "set", "tuple", "auto"])
def test_adversarial_texts_are_read_in_linear_time(kind: Kind) -> None:
    for piece in PIECES:
        short, long = (piece * length for length in (SHORT, LONG))
        few = seconds(short[:SHORT], kind)
        assert seconds(long[:LONG], kind) <= 50 * max(few, 1e-3), piece
