"""Changes inside a pass, by what they can do to its observer; and their answers, fully recorded."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.backends.protocol import Request, Result
from trueness.contract.serial import Json
from trueness.extract.short_answers import Kind, short_answer, short_name
from trueness.stats.observer_gradients import Slopes, mass_slope
from trueness.stats.observers import Observed, observe_logits
from trueness.study.fibre_charts import Readout, Walked, walked
from trueness.study.inside_inputs import WhiteBox
from trueness.table.answers import Outcome

CLASSES = ("random", "inert", "unreached", "permuted", "kernel")
OTHER = "other"
"""Built as one class, and found not to be of it."""
KIND: Kind = "short_cut"
NEEDED = (
    "model", "weights", "tokens", "site", "delta", "seeds", "code_path", "dtype", "threads",
    "extractor", "baseline", "completions",
)  # fmt: skip
"""What a cell must say of itself to be audited."""

Floats: TypeAlias = NDArray[np.float64]


class Changeable(WhiteBox, Protocol):
    """A white box that can be changed while it answers."""

    @property
    def code_path(self) -> Mapping[str, Json]:
        """What equal bits depend on."""
        ...

    def ids_of(self, prompt: str) -> tuple[int, ...]:
        """What is sent."""
        ...

    def complete(self, requests: Sequence[Request]) -> Iterator[Result]:
        """Answers."""
        ...

    def intervene(
        self, site: str, *, positions: Sequence[int] = ..., steps: str = ..., delta: Any
    ) -> AbstractContextManager[None]:
        """Until it ends, every pass is changed."""
        ...

    def exact_readout(self) -> Readout:
        """Final norm and unembedding in double precision."""
        ...


@dataclass(frozen=True, slots=True)
class Strengths:
    """Two of each class, as declared.

    Parameters
    ----------
    random, unreached : tuple of float
        Length of the change, as a share of the state's.
    inert : tuple of float
        The change, as a multiple of the state itself.
    permuted : tuple of int
        Rank of the token that changes places with the second one.
    kernel : tuple of float
        Change of the third token's probability at which a walk ends.
    """

    random: tuple[float, ...]
    inert: tuple[float, ...]
    unreached: tuple[float, ...]
    permuted: tuple[int, ...]
    kernel: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What is done to one prompt.

    Parameters
    ----------
    built : str
        One of `CLASSES`: what it was built as.
    strength : float
    site : str
    positions : tuple of int
    steps : {"prefill", "every"}
    delta : array
        Empty where a walk did not get anywhere.
    walk : Walked or None
    """

    built: str
    strength: float
    site: str
    positions: tuple[int, ...]
    steps: str
    delta: NDArray[Any]
    walk: Walked | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What came of one prompt, changed or not.

    Parameters
    ----------
    logits : (V,) float32
        At the last token of the prompt.
    observed : Observed or None
        None where a logit is not finite.
    shared, independent : tuple of Result
        Draws with the seeds of the baseline; with seeds of their own.
    """

    logits: NDArray[np.float32]
    observed: Observed | None
    shared: tuple[Result, ...]
    independent: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """How answers are drawn."""

    k: int
    temperature: float
    max_tokens: int
    seed: int

    def requests(self, prompt: str, item: int, arm: int) -> list[Request]:
        """The same requests every time: arm 0 is the baseline's, any other has its own seeds."""
        first = np.random.SeedSequence([self.seed, item, arm]).generate_state(self.k)
        return [
            Request(
                (str(item), d + 1, str(arm)),
                prompt,
                max_tokens=self.max_tokens,
                temperature=self.temperature,
                seed=int(seed),
            )
            for d, seed in enumerate(first)
        ]


def changes(
    model: Changeable,
    readout: Readout,
    prompt: str,
    strengths: Strengths,
    *,
    max_tokens: int,
    rng: np.random.Generator,
) -> list[Change]:
    """Two changes of each class for one prompt.

    Parameters
    ----------
    model : Changeable
    readout : Readout
    prompt : str
    strengths : Strengths
    max_tokens : int
        So many written positions can be reached.
    rng : numpy.random.Generator
    """
    states = model.hidden_states([prompt])[0, :, 0].astype(np.float64)
    last = states.shape[0] - 2
    h, middle = states[-1], states[last // 2 + 1]
    end, inside = f"resid_out({last})", f"resid_out({last // 2})"
    n = len(model.ids_of(prompt))
    order = np.argsort(-readout(h), kind="stable")
    made = [Change("random", s, end, (-1,), "prefill", _drawn(h, s, rng)) for s in strengths.random]
    made += [Change("inert", s, end, (-1,), "prefill", s * h) for s in strengths.inert]
    written = tuple(range(n, n + max_tokens))
    made += [
        Change("unreached", s, inside, written, "every", _drawn(middle, s, rng))
        for s in strengths.unreached
    ]
    for rank in strengths.permuted:
        pair = np.array([[order[1], order[min(rank, len(order)) - 1]]], np.int64)
        made.append(Change("permuted", rank, "unembed_rows", (-1,), "prefill", pair))
    for goal in strengths.kernel:
        found = walked(readout, h, _third(int(order[2])), tokens=(), goal=goal)
        delta = found.delta if found.walk.n_steps else np.zeros(0)
        made.append(Change("kernel", goal, end, (-1,), "prefill", delta, found))
    return made


def answered(
    model: Changeable, prompt: str, change: Change | None, asking: Asking, *, item: int, arm: int
) -> Answers:
    """Logits and both arms of draws of one prompt under a change.

    All draws of an arm are one batch of equal rows, so that every run takes one code path.

    Parameters
    ----------
    model : Changeable
    prompt : str
    change : Change or None
    asking : Asking
    item : int
    arm : int, at least 1
        Of the independent draws.
    """
    shared, own = asking.requests(prompt, item, 0), asking.requests(prompt, item, arm)
    acting: AbstractContextManager[None] = nullcontext()
    if change is not None:
        acting = model.intervene(
            change.site, positions=change.positions, steps=change.steps, delta=change.delta
        )
    with acting:
        logits = model.next_logits(shared)[0]
        draws = [
            tuple(sorted(model.complete(requests), key=lambda r: r.key))
            for requests in (shared, own)
        ]
    finite = bool(np.isfinite(logits).all())
    seen = observe_logits(logits) if finite else None
    return Answers(logits, seen, draws[0], draws[1])


def keyed(result: Result) -> tuple[str, str | None]:
    """Outcome and canonical key of a draw."""
    if result.error is not None:
        return Outcome.ERROR.value, None
    found = short_answer(result.text, kind=KIND)
    return found.outcome.value, found.key


def provenance(
    model: Changeable, prompt: str, change: Change, found: Answers, asking: Asking, *, arm: int
) -> dict[str, Json]:
    """All that an audit of one cell needs.

    Parameters
    ----------
    model : Changeable
    prompt : str
    change : Change
    found : Answers
    asking : Asking
    arm : int
    """
    path = dict(model.code_path)
    item = int(found.shared[0].key[0]) if found.shared else 0
    return {
        "model": model.identity.get("model"),
        "weights": model.identity.get("file_hash") or model.identity.get("revision"),
        "tokens": list(model.ids_of(prompt)),
        "site": change.site,
        "delta": hashlib.sha256(np.ascontiguousarray(change.delta).tobytes()).hexdigest()
        if change.delta.size
        else None,
        "seeds": {
            name: [r.seed for r in asking.requests(prompt, item, a)]
            for name, a in (("shared", 0), ("independent", arm))
        },
        "code_path": path.get("backend_version"),
        "dtype": path.get("dtype"),
        "threads": path.get("threads"),
        "extractor": short_name(KIND),
        "baseline": f"{item}:none",
        "completions": {
            name: [_completion(r) for r in draws]
            for name, draws in (("shared", found.shared), ("independent", found.independent))
        },
    }


def missing(record: Mapping[str, Json], *, k: int) -> tuple[str, ...]:
    """What an audit of a cell lacks, by name; a draw that failed is a completion that is missing.

    Parameters
    ----------
    record : mapping
        As `provenance` gives it.
    k : int
        Draws of each arm.
    """
    gone = [name for name in NEEDED if record.get(name) in (None, "", [], {})]
    arms = record.get("completions")
    if isinstance(arms, Mapping):
        whole = all(
            isinstance(draws, list)
            and len(draws) == k
            and all(isinstance(d, Mapping) and d.get("text") is not None for d in draws)
            for draws in arms.values()
        )
        if not whole:
            gone.append("completions")
    return tuple(dict.fromkeys(gone))


def class_of(  # noqa: PLR0911 - the classes in order
    change: Change, *, n_prompt: int, last: str, raw_equal: bool, flat: bool, still: float
) -> str:
    """What a change is, by what it did; a change that came to nothing is what it was built as.

    Parameters
    ----------
    change : Change
    n_prompt : int
        Tokens of the prompt.
    last : str
        Site behind the last block.
    raw_equal, flat : bool
        Logits, and the canonical observer, are those of the baseline to the byte.
    still : float
        Difference of the observer in double precision that counts as none.
    """
    if not change.delta.size:
        return change.built
    if change.steps == "every" and all(p >= n_prompt for p in change.positions):
        return "unreached"
    if change.steps == "prefill" and change.site == last and change.positions == (-1,):
        if raw_equal:
            return "inert"
        if change.built == "random":
            return "random"
        walk = change.walk
        if walk is not None and walk.off <= still and walk.same_greedy and walk.walk.n_steps:
            return "kernel"
    if change.site == "unembed_rows" and flat:
        return "permuted"
    return OTHER


def _drawn(h: Floats, share: float, rng: np.random.Generator) -> Floats:
    direction = rng.normal(size=h.shape)
    drawn: Floats = share * np.linalg.norm(h) * direction / np.linalg.norm(direction)
    return drawn


def _third(token: int) -> Any:
    def slope(z: Floats) -> Slopes:
        return mass_slope(z, [token])

    return slope


def _completion(result: Result) -> Json:
    outcome, key = keyed(result)
    text = None if result.error is not None else result.text
    return {"text": text, "outcome": outcome, "answer": key}
