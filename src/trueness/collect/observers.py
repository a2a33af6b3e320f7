"""What one pass shows behind an answer, recorded beside its row: six numbers of a law, a state.

Each prompt is read once more, alone and whole: the bits of a number must not depend on what else
was in a batch. All draws of an item under a condition have one prompt, so one reading serves them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueness.backends.first_law import ListsLikeliest, ShowsFirstLaw
from trueness.backends.protocol import Key, Model, Request, Result
from trueness.collect.beside import SeesLogits
from trueness.collect.conditions import Condition
from trueness.collect.means import law_text
from trueness.collect.observing import RECORDED
from trueness.contract.errors import BackendError, FingerprintMismatch, InputError
from trueness.contract.serial import Json, canonical
from trueness.stats.observers import NUMBERS, endpoint_bounds, observe_logits
from trueness.table.growing import ALL_DRAWS, GrowingArrays
from trueness.table.sidecar import forget_arrays

ONE_PASS, STATES, ANSWERS = RECORDED
VOCABULARY = 1 << 20
"""So many tokens a model has at most: what a server does not list lies on the rest of them."""
_LOST = "observer_reason"
_POINTS = 4
_REMEMBERED = 1024
"""Readings that are kept for further draws of an item."""
_WHOLE: dict[str, Json] = {"numbers": list[Json](NUMBERS), "law": "of all tokens"}
_LISTED: dict[str, Json] = {
    "numbers": list[Json](NUMBERS[_POINTS:]),
    "intervals": list[Json](NUMBERS[:_POINTS]),
    "law": "of the likeliest tokens, as the server lists them",
    "vocabulary": f"at most {VOCABULARY} tokens",
}
Row = dict[str, Json]
Floats = NDArray[np.float64]


@runtime_checkable
class SeesStates(Protocol):
    """A model that offers ``hidden_states``."""

    def hidden_states(self, prompts: Sequence[Any], positions: Any = (-1,)) -> NDArray[np.float32]:
        """(n, L + 1, P, D): residual states while prompts are read."""
        ...


def check_recorded(wanted: Sequence[str], model: Model, conditions: Sequence[Condition]) -> None:
    """Refuse, before the first request, what this model cannot show of a pass.

    Raises
    ------
    InputError
        Naming the capability that is missing, and what has it.
    """
    noisy = next((c.name for c in conditions if c.noise), None)
    for name in (ONE_PASS, ANSWERS):
        if name not in wanted or _law_of(model) is not None:
            continue
        if name != ONE_PASS or not _n_listed(model):  # a server has part of it
            raise InputError(_refused(name, ("logits", "first_law"), model))
    if STATES not in wanted:
        return
    if STATES not in model.capabilities or not isinstance(model, SeesStates):
        raise InputError(_refused(STATES, (STATES,), model))
    if noisy is not None:
        msg = (
            f"--observe {STATES} reads prompts as they are, and condition {noisy!r} adds noise to "
            f"them. Drop the condition, or record {ONE_PASS} alone."
        )
        raise InputError(msg)


@dataclass(slots=True)
class Observers:
    """Reads what was declared behind rows that are being written.

    Parameters
    ----------
    model : Model
    wanted : sequence of str
        Of `RECORDED`; checked by `check_recorded`.
    answers : mapping of item to ids
        First tokens of the answers that count, where their log-probabilities are wanted.
    """

    model: Model
    wanted: Sequence[str]
    answers: Mapping[str, Sequence[int]] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    """How many readings failed, by reason."""
    _arrays: GrowingArrays | None = None
    _known: dict[tuple[str, str], Row] = field(default_factory=dict)

    @property
    def top(self) -> int:
        """How many log-probabilities every request asks for: a server lists them with answers."""
        if ONE_PASS not in self.wanted or _law_of(self.model) is not None:
            return 0
        return _n_listed(self.model)

    @contextmanager
    def opened(self, table: Path, *, begun: bool) -> Iterator[None]:
        """With the arrays of a table that is ours to write; those of one that is gone go away."""
        if not begun:
            forget_arrays(table)
        if STATES not in self.wanted:
            yield
            return
        with closing(GrowingArrays(table, begun=begun)) as self._arrays:
            yield

    @property
    def doubts(self) -> tuple[str, ...]:
        """What could not be read, a sentence a reason; those rows say so too."""
        return tuple(f"{n} passes could not be observed: {why}" for why, n in self.lost.items())

    @property
    def header(self) -> dict[str, Json]:
        """What the header of the table says of the numbers in its rows; empty without any."""
        return {"observed": self._facts} if self.wanted else {}

    @property
    def _facts(self) -> dict[str, Json]:
        path: Any = getattr(self.model, "code_path", None)
        identity = self.model.identity
        plain = {name: identity.get(name) for name in ("backend", "backend_version", "dtype")}
        parts: dict[str, Json] = {}
        if ONE_PASS in self.wanted:
            parts[ONE_PASS] = {**_LISTED, "n_listed": self.top} if self.top else {**_WHOLE}
        if ANSWERS in self.wanted:
            parts[ANSWERS] = {"of": "first tokens of the relation's right answers", "unit": "nats"}
        if STATES in self.wanted:
            parts[STATES] = {
                "entry": "last block, before the final norm",
                "at": "last prompt token",
            }
        read = "with each answer" if self.top else "each prompt whole and alone"
        return {**parts, "read": read, "code_path": dict(path or plain)}

    def check_begun(self, header: Mapping[str, Json]) -> tuple[str, ...]:
        """Sentences about a table that goes on: its numbers were read otherwise.

        Raises
        ------
        FingerprintMismatch
            When it was begun with other things recorded.
        """
        found = header.get("observed")
        begun: dict[str, Json] = dict(found) if isinstance(found, dict) else {}
        now = self._facts if self.wanted else {}
        path, path_now = begun.pop("code_path", None), now.pop("code_path", None)
        if begun != now:
            names = [name for name in RECORDED if name in begun]
            if names == [name for name in RECORDED if name in now]:
                raise FingerprintMismatch(_read_otherwise(begun, now))
            msg = (
                f"the table was begun with {', '.join(names) or 'nothing'} recorded beside its "
                f"answers, and {', '.join(self.wanted) or 'nothing'} is asked for now. Resume with "
                "the same --observe, or name another file."
            )
            raise FingerprintMismatch(msg)
        if path == path_now:
            return ()
        doubt = (
            f"numbers of one pass were read under {path} before and under {path_now} now: their "
            "last bits can differ"
        )
        return (doubt,)

    def columns(self, answered: Sequence[tuple[Request, Result]]) -> dict[Key, Row]:
        """The columns of every answer's row; states are on the disk when this returns."""
        if n := self.top:  # a drawn token may be listed behind the likeliest, which prove the ends
            return {request.key: self._listed(result.top[:n]) for request, result in answered}
        return {request.key: self._seen(request) for request, _ in answered}

    def _listed(self, top: Sequence[float]) -> Row:
        """What the likeliest tokens alone say: two numbers, and the ends that the others lie in."""
        try:
            found = endpoint_bounds(top, n_tokens=VOCABULARY)
        except InputError as error:  # too few, or no law has these as its largest
            return self._failed(f"log-probabilities of no law: {error}")
        row: Row = {"observer": found.low[_POINTS:].tolist()}
        for name, (low, high) in list(found.to_dict().items())[:_POINTS]:
            row |= {f"{name}_low": low, f"{name}_high": high}
        return row

    def _seen(self, request: Request) -> Row:
        """Read once for all draws of a prompt; under noise each draw is a pass of its own."""
        item, _, condition = request.key
        if request.noise:
            return self._read(replace(request, shared=0))
        place = item, condition
        if place not in self._known:
            if len(self._known) >= _REMEMBERED:  # draws of an item follow each other
                self._known.clear()
            alone = replace(request, key=(item, ALL_DRAWS, condition), shared=0)
            self._known[place] = self._read(alone)
        return self._known[place]

    def _read(self, request: Request) -> Row:
        """One pass: the numbers as columns, the state to its file; a reason where it failed."""
        try:
            if self._arrays is not None and request.key not in self._arrays.keys:
                self._keep_state(request, self._arrays)
            if not {ONE_PASS, ANSWERS} & set(self.wanted):
                return {}
            found = _law_of(self.model)
            law = "no law" if found is None else found(request)
        except (BackendError, InputError) as error:  # an answer is never lost for what is beside it
            law = type(error).__name__ if not str(error) else str(error)
        if isinstance(law, str):
            return self._failed(law)
        row: Row = {}
        if ONE_PASS in self.wanted:
            seen = observe_logits(law)
            row |= {"observer": seen.numbers.tolist(), "observer_greedy": int(seen.greedy)}
        if ANSWERS in self.wanted:
            row[ANSWERS] = law_text(law, self.answers[request.key[0]])
        return row

    def _keep_state(self, request: Request, arrays: GrowingArrays) -> None:
        model: Any = self.model
        state = model.hidden_states([request.prompt])[:, -1, 0]
        arrays.append(STATES, [request.key], state)

    def _failed(self, reason: str) -> Row:
        self.lost[reason] = self.lost.get(reason, 0) + 1
        return {_LOST: reason}


def _read_otherwise(begun: Mapping[str, Json], now: Mapping[str, Json]) -> str:
    """What is wrong where the same is recorded, and read in another way."""
    name = next(name for name in now if begun.get(name) != now[name])
    return (
        f"{name} was read of {canonical(begun.get(name))} when the table was begun, and of "
        f"{canonical(now[name])} now. Resume with the model that began it, or name another file."
    )


def _law_of(model: Model) -> Callable[[Request], Floats | str] | None:
    """How the log-probabilities of all first tokens are had of a model; None where they are not."""
    if "logits" in model.capabilities and isinstance(model, SeesLogits):
        return lambda request: _finite(model.next_logits([request])[0])
    if "first_law" in model.capabilities and isinstance(model, ShowsFirstLaw):
        return lambda request: _first(model, request)
    return None


def _n_listed(model: Model) -> int:
    """How many log-probabilities a model lists with an answer; 0 where it lists none."""
    if "top_logprobs" in model.capabilities and isinstance(model, ListsLikeliest):
        return model.most_top
    return 0


def _first(model: ShowsFirstLaw, request: Request) -> Floats | str:
    law = next(iter(model.first_laws([request])))
    return law.error or "no law" if law.logprobs is None else _finite(law.logprobs)


def _finite(logits: NDArray[np.floating]) -> Floats | str:
    z = np.asarray(logits, dtype=np.float64)
    broken = np.isnan(z).any() or not np.isfinite(z.max(initial=-np.inf))
    return "non_finite_logits" if broken else z


def _refused(what: str, needs: tuple[str, ...], model: Model) -> str:
    if set(needs) & model.capabilities:  # it can, and is asked through something that cannot
        return (
            f"--observe {what} looks into the model itself, which workers of a cluster do not "
            "offer. Ask without --engine ray."
        )
    offered = ", ".join(sorted(model.capabilities))
    return (
        f"--observe {what} needs {' or '.join(needs)}; model {model.name!r} offers {offered}. "
        f"{_HAVE_IT[what]}"
    )


_HAVE_IT = {
    ANSWERS: "embedded, gguf:FILE (extra embedded) and hf:NAME (extra local) have it.",
    ONE_PASS: "embedded, gguf:FILE (extra embedded) and hf:NAME (extra local) have it; a server "
    "that lists log-probabilities has part of it.",
    STATES: "hf:NAME has it, and -M runtime=transformers of a local file: "
    "pip install 'trueness[local]'.",
}
"""Which models do, by what is to be observed."""
