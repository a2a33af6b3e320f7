"""What the run of a study asked of models."""

from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True)
class Spent:
    """Counts that add up over models and stages.

    Parameters
    ----------
    forwards : int
        Passes in which something inside was read.
    requests : int
        Sent to a model, self-checks and scored continuations among them.
    cache_hits : int
        Answers that the request cache held; nothing was sent for them.
    tokens_in, tokens_out : int
        Of the requests that were sent and answered, as the model counts them; those of scored
        continuations are not counted.
    """

    forwards: int = 0
    requests: int = 0
    cache_hits: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        """Both together.

        >>> Spent(requests=2) + Spent(requests=1, tokens_in=9)
        Spent(forwards=0, requests=3, cache_hits=0, tokens_in=9, tokens_out=0)
        """
        names = [f.name for f in fields(self)]
        return Spent(*(getattr(self, name) + getattr(other, name) for name in names))

    def to_dict(self) -> dict[str, int]:
        """The counts by name."""
        return asdict(self)
