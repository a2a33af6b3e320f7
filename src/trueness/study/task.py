"""One run of a study: what every runner is given."""

from collections.abc import Callable
from dataclasses import dataclass, field

from trueness.study.declarations import Declaration
from trueness.study.inputs import Inputs

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a study declares, what this run of it works on, and how much of it.

    Parameters
    ----------
    declaration : Declaration
    inputs : Inputs
        Data, embedder or models in place of the declared ones.
    seed : int
        Of everything that is random in the run.
    repeats : int
        Of simulations; or at most so many groups of each slice, or entities of each relation.
    progress : callable, optional
        Is told what comes next.
    """

    declaration: Declaration
    inputs: Inputs = field(default_factory=Inputs)
    seed: int = 0
    repeats: int
    progress: Progress | None = None

    def only(self, *usable: str) -> None:
        """Refuse inputs that this study has no use for.

        Raises
        ------
        InputError
            Naming the first that was given in vain.
        """
        self.inputs.only(self.declaration.id, *usable)

    def say(self, text: str) -> None:
        """Tell what comes next."""
        if self.progress is not None:
            self.progress(text)
