"""The seed of every draw: its own, and independent of order, batch and concurrency."""

import hashlib

from trueness.contract.serial import canonical

_BELOW = 2**31


def draw_seed(seed: int, *, model: str, condition: str, item: str, epoch: int) -> int:
    """A whole number in 0 to 2³¹ − 1 that belongs to one draw alone.

    SHA-256 of the canonical JSON of ``[seed, model, condition, item, epoch]``, modulo 2³¹.

    Parameters
    ----------
    seed : int
        Of the run.
    model : str
        The name as given, so that two checkpoints never share a stream.

    Examples
    --------
    >>> draw_seed(0, model="embedded", condition="none", item="capital|France|0", epoch=1)
    2018297663
    """
    text = canonical([seed, model, condition, item, epoch])
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest) % _BELOW
