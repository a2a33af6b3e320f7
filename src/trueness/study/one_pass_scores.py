"""What one pass, and one block's derivative, say of the answers that a partition is judged on.

The scores are those of a wording: the law of the first token, how far the prompt's state lies from
other prompts', how the block that reads the state squeezes it, and how the chosen token hangs on
the entity. None is told a right answer, and the direction of each is fixed here.
"""

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness.backends.protocol import Model, Request
from trueness.collect.binding import Bound, bind
from trueness.collect.conditions import Condition
from trueness.collect.questions import Question, questions
from trueness.contract.errors import BackendError
from trueness.contract.serial import Json
from trueness.stats.coupling import control_span, couple
from trueness.stats.jacobians import jacobian_summary
from trueness.stats.observers import NUMBERS, observe_logits
from trueness.stats.state_distances import Fitted, fit_spread, fit_subspace, left_out
from trueness.study.results import Record
from trueness.table import Relation

Floats: TypeAlias = NDArray[np.float64]
Place = tuple[str, str, str]
"""Relation, as its file is named; condition; entity."""

LAW = ("entropy", *NUMBERS[1:])
DISTANCES = ("mahalanobis", "pca_residual")
GEOMETRY = ("sigma_max", "stable_rank", "log_volume", "tail_exponent")
COUPLING = "coupling"
BASELINES = (*LAW, *DISTANCES, *GEOMETRY, COUPLING)
_SURE = frozenset({"max_p", "margin", "stable_rank", "log_volume", COUPLING})
"""Scores of which a low one is suspected; of the others a high one."""
FOLDS = 10


def suspicion(name: str, values: Floats) -> Floats:
    """Values so turned that high is meant to point to wrong.

    An unsure law, a state far from others, a block that squeezes, a token that does not hang on
    the entity are suspected.

    >>> suspicion("margin", np.array([0.25])).tolist()
    [-0.25]
    >>> suspicion("renyi2", np.array([2.0])).tolist()
    [2.0]
    """
    return -values if name in _SURE else values


@dataclass(slots=True)
class Looked:
    """Scores of answers, and what they cost.

    Parameters
    ----------
    values : mapping of place to scores
        None where a score does not exist for an answer.
    seconds : mapping of str to list of float
        Processor seconds of one prompt: ``state`` is one whole pass.
    n_passes : int
        Of whole prompts, for the laws.
    lost : mapping of str to int
        Readings that failed, by reason.
    """

    values: dict[Place, dict[str, float | None]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    n_passes: int = 0
    lost: dict[str, int] = field(default_factory=dict)

    def prices(self) -> dict[str, Json]:
        """Median cost of a prompt in whole passes over it; empty where none was timed."""
        unit = self.seconds.get("state")
        if not unit or not np.median(unit):
            return {}
        return {
            name: round(float(np.median(spent) / np.median(unit)), 2)
            for name, spent in self.seconds.items()
        }

    def notes(self) -> tuple[str, ...]:
        """A sentence for each reason for which something could not be read."""
        return tuple(f"{n} answers could not be looked at: {why}" for why, n in self.lost.items())

    def of(self, relation: str, condition: str, entities: Sequence[str]) -> dict[str, Floats]:
        """(n_entities,) by score, nan where there is none; scores that nobody has are left out."""
        seen = [self.values.get((relation, condition, name), {}) for name in entities]
        found = {
            name: np.array([_number(each.get(name)) for each in seen], np.float64)
            for name in BASELINES
        }
        return {name: values for name, values in found.items() if not np.isnan(values).all()}

    @classmethod
    def again(cls, table: Sequence[Record], relations: Mapping[str, Relation]) -> "Looked":
        """What stood beside the rows of a table."""
        files = {relation.name: file for file, relation in relations.items()}
        found = cls()
        for row in table:
            seen = row.get("seen")
            if isinstance(seen, dict):
                place = (files[str(row["relation"])], str(row["condition"]), str(row["entity"]))
                found.values[place] = {n: _maybe(seen.get(n)) for n in BASELINES}
        return found

    def beside(self, row: Record, relations: Mapping[str, Relation]) -> Record:
        """A row of the table with the scores of its answer, where it is of the scored wording."""
        file = next((f for f, r in relations.items() if r.name == row["relation"]), "")
        seen = self.values.get((file, str(row["condition"]), str(row.get("entity"))))
        if seen is None or row.get("template") != relations[file].templates[0]:
            return row
        return {**row, "seen": {name: value for name, value in seen.items() if value is not None}}


def look(
    model: Model,
    relations: Mapping[str, Relation],
    conditions: Sequence[Condition],
    *,
    deep: Collection[tuple[str, str]],
    depth: float,
    say: Callable[[str], None],
) -> Looked:
    """Scores of every relation's first wording under every condition.

    Parameters
    ----------
    model : Model
        Gives the law from its logits, the whole law, or the two likeliest tokens; the states,
        derivatives and gradients where it has them.
    relations : mapping of file to Relation
    conditions : sequence of Condition
        With token ids or text in front of a prompt; what is in no prompt is not seen here.
    deep : collection of (file, condition)
        Where a white box is looked into beyond the law: each prompt is read whole.
    depth : float in [0, 1)
        Which block, as a share of all: its input is the state, its derivative the geometry.
    say : callable
        Is told what comes next.
    """
    found = Looked()
    for condition in conditions:
        bound = bind(condition, model)
        say(f"looking at {condition.name}")
        for file, relation in relations.items():
            prompts = _Prompts.of(model, relation, bound)
            laws = _laws(model, prompts.requests(bound), found)
            inside: list[dict[str, float | None]] = [{} for _ in prompts.ids]
            if (file, condition.name) in deep and bound.ids is not None:
                inside = _inside(model, prompts, depth, found)
            for question, law, more in zip(prompts.asked, laws, inside, strict=True):
                found.values[file, condition.name, question.entity] = {**law, **more}
    return found


@dataclass(frozen=True, slots=True)
class _Prompts:
    """The first wording of a relation behind a prefix."""

    asked: tuple[Question, ...]
    ids: tuple[Any, ...]
    spans: tuple[tuple[int, int], ...]
    n_before: int

    @classmethod
    def of(cls, model: Any, relation: Relation, bound: Bound) -> "_Prompts":
        asked = tuple(questions(relation, (0,)))
        encode = None if model.tokenizer is None else model.tokenizer.encode
        ids = tuple(bound.prompt(q.prompt, encode(q.prompt) if encode else None) for q in asked)
        spans: tuple[tuple[int, int], ...] = ()
        if "token_span" in model.capabilities:
            spans = tuple(_span(model, q) for q in asked)
        return cls(asked, ids, spans, bound.n_shared)

    def requests(self, bound: Bound) -> list[Request]:
        name = bound.condition.name
        return [
            Request(
                (q.item, 1, name), ids, max_tokens=1, shared=bound.n_shared, system=bound.system
            )
            for q, ids in zip(self.asked, self.ids, strict=True)
        ]


def _span(model: Any, question: Question) -> tuple[int, int]:
    """Tokens of the entity, counted from the first token of the prompt, without BOS."""
    start = question.prompt.index(question.entity)
    first, last = model.token_span(question.prompt, start, start + len(question.entity))
    skipped = 0 if model.tokenizer.bos is None else 1
    return first - skipped, last - skipped


def _laws(model: Any, requests: Sequence[Request], found: Looked) -> list[dict[str, float | None]]:
    """The six numbers of each prompt's law; of an endpoint's two likeliest tokens two of them."""
    found.n_passes += len(requests)
    if "logits" in model.capabilities:
        return [_six(z, found) for z in model.next_logits(requests)]
    if "first_law" in model.capabilities:
        laws = {law.key: law for law in model.first_laws(requests)}
        return [_six(laws[r.key].logprobs, found, laws[r.key].error) for r in requests]
    steps = {r.key: r.steps[:1] for r in model.complete(requests)}
    return [_two(steps.get(r.key, ())) for r in requests]


def _six(logits: Any, found: Looked, error: str | None = None) -> dict[str, float | None]:
    z = np.full(1, np.nan) if logits is None else np.asarray(logits, np.float64)
    if np.isnan(z).any() or not np.isfinite(z.max(initial=-np.inf)):
        why = error or "non_finite_logits"
        found.lost[why] = found.lost.get(why, 0) + 1
        return {}
    return dict(zip(LAW, observe_logits(z).numbers.tolist(), strict=True))


def _two(steps: Sequence[Any]) -> dict[str, float | None]:
    """Largest probability, and its distance to the next where the gap of both is known."""
    if not steps or steps[0].logprob is None:
        return {}
    top = float(np.exp(steps[0].logprob))
    gap = steps[0].gap
    return {"max_p": top, "margin": None if gap is None else top * -float(np.expm1(-gap))}


def _inside(
    model: Any, prompts: _Prompts, depth: float, found: Looked
) -> list[dict[str, float | None]]:
    """Distances, geometry and coupling of prompts read whole."""
    out: list[dict[str, float | None]] = [{} for _ in prompts.ids]
    held = model.capabilities
    if "hidden_states" not in held:
        return out
    states = []
    for ids in prompts.ids:
        with _timed(found, "state"):
            states.append(model.hidden_states([ids])[0, :, 0])
    block = int(depth * (len(states[0]) - 1))
    for name, values in _distances(np.array(states)[:, block], prompts.asked).items():
        for each, value in zip(out, values.tolist(), strict=True):
            each[name] = _maybe(value)
    for i, ids in enumerate(prompts.ids):
        try:
            if "row_map" in held:
                with _timed(found, "geometry"):
                    out[i] |= _geometry(model, ids, block)
            if "logit_gradients" in held and prompts.spans:
                with _timed(found, COUPLING):
                    chosen = int(model.readout(states[i][-1]).argmax())
                    out[i][COUPLING] = _coupled(model, prompts, i, chosen)
        except BackendError as error:
            found.lost[str(error)] = found.lost.get(str(error), 0) + 1
    return out


def _distances(states: NDArray[np.float32], asked: Sequence[Question]) -> dict[str, Floats]:
    """Squared distances of each state from what those of other entities' parts gave."""
    parts = [_part(question.entity) for question in asked]
    fits: tuple[Callable[[Floats], Fitted], ...] = (fit_spread, fit_subspace)
    named = zip(DISTANCES, fits, strict=True)
    return {name: left_out(states, parts, fit)[0] for name, fit in named}


def _part(entity: str) -> int:
    """By the name, so that no order of entities moves it."""
    digest = hashlib.sha256(entity.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % FOLDS


def _geometry(model: Any, ids: Any, block: int) -> dict[str, float | None]:
    """Summaries of the derivative of a block's output by its input, at the last prompt token."""
    summary = jacobian_summary(model.row_map(ids, block, -1).jacobian())
    tail = None if summary.tail is None else summary.tail.exponent
    seen = (summary.sigma_max, summary.stable_rank, summary.log_volume, tail)
    return dict(zip(GEOMETRY, seen, strict=True))


def _coupled(model: Any, prompts: _Prompts, i: int, chosen: int) -> float | None:
    """Log ratio of the chosen logit's gradient on the entity over that on tokens beside it."""
    gradient = model.logit_gradients([prompts.ids[i]], [[chosen]])[0]
    own = gradient[:, prompts.n_before : len(prompts.ids[i])]
    entity = list(range(*prompts.spans[i]))
    log_ratio = couple(own, entity, control_span(own.shape[1], entity)).log_ratio[0]
    return _maybe(float(log_ratio))


@contextmanager
def _timed(found: Looked, name: str) -> Iterator[None]:
    """Processor seconds of a block, kept under a name."""
    start = time.process_time()
    yield
    found.seconds.setdefault(name, []).append(time.process_time() - start)


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _maybe(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else None
