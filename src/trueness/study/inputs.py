"""What a run of a study is given beside its declaration."""

from dataclasses import dataclass
from pathlib import Path

from trueness.contract.errors import InputError

WORLDS = ("synthetic",)
_FILES = frozenset({"gguf", "replay"})


@dataclass(frozen=True, slots=True)
class Inputs:
    """Names of what a study works on; None stands for what the declaration says.

    Parameters
    ----------
    data : Path, optional
        Claims of the user's own, in place of the shipped slices: claim, evidence, label, group.
    embedder, model, second_model : str, optional
        As for `ground` and `ask`.
    world : {"synthetic"}, optional
        A made world of vectors in place of data and embedder.

    Raises
    ------
    InputError
        For an unknown world, or a world beside data or an embedder.
    """

    data: Path | None = None
    embedder: str | None = None
    model: str | None = None
    second_model: str | None = None
    world: str | None = None

    def __post_init__(self) -> None:
        if self.world is None:
            return
        if self.world not in WORLDS:
            msg = (
                f"the world is {self.world!r}; known is {', '.join(WORLDS)}. Leave it out for data."
            )
            raise InputError(msg)
        if self.data is not None or self.embedder is not None:
            msg = "a world has claims and vectors of its own; leave data and embedder out."
            raise InputError(msg)

    def only(self, study: str, *usable: str) -> None:
        """Refuse what a study has no use for.

        Raises
        ------
        InputError
            Naming the first thing that was given in vain.
        """
        vain = [name for name in self.given() if name not in usable]
        if vain:
            flag = "--" + vain[0].replace("_", "-")
            known = ", ".join("--" + name.replace("_", "-") for name in usable) or "none of these"
            msg = f"the study {study} has no use for {flag}; it takes {known}. Leave it out."
            raise InputError(msg)

    def given(self) -> dict[str, str]:
        """What was named, for the record: names only, never a path."""
        named = {
            "data": None if self.data is None else self.data.name,
            "embedder": self.embedder,
            "model": _bare(self.model),
            "second_model": _bare(self.second_model),
            "world": self.world,
        }
        return {name: value for name, value in named.items() if value is not None}


def _bare(model: str | None) -> str | None:
    """A model's name without the folder of its file."""
    kind, _, rest = (model or "").partition(":")
    return f"{kind}:{Path(rest).name}" if kind in _FILES else model
