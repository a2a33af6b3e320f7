"""`ask`: a relation under conditions, to an answer table that survives a kill at any instant."""

import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from trueness.backends.protocol import Model, Streaming
from trueness.collect.allowing import chooser
from trueness.collect.beside import Beside
from trueness.collect.binding import Bound
from trueness.collect.cache import RequestCache
from trueness.collect.checking import Checker, Trust
from trueness.collect.collecting import Collector
from trueness.collect.conditions import NONE, Condition
from trueness.collect.cost import recorded
from trueness.collect.doubts import doubts_of, draws_beyond
from trueness.collect.draws import Draws
from trueness.collect.keeping import Keeper, Progress
from trueness.collect.means import first_tokens
from trueness.collect.observers import ANSWERS, Observers, check_recorded
from trueness.collect.observing import Observable
from trueness.collect.own_answers import answers_given, back_plan, check_readable, check_text
from trueness.collect.planning import Plan, check_distinct, plan_of, protocol_of
from trueness.collect.questions import Questionable
from trueness.collect.requesting import Requests
from trueness.collect.selfcheck import NEAR_TIE, NEAR_TIE_QUANTISED
from trueness.collect.summary import AskSummary
from trueness.collect.tally import Settings, Tally
from trueness.contract.errors import FingerprintMismatch, InputError, TruenessError
from trueness.contract.serial import Json
from trueness.table.journal import AnswerJournal
from trueness.table.protocol import Protocol


def ask(
    relation: Questionable | Sequence[Questionable],
    model: Model,
    conditions: Sequence[Condition] = (NONE,),
    *,
    out: Path,
    epochs: int | None = None,
    templates: Sequence[int] | None = None,
    inverse: bool = False,
    batch_size: int = 8,
    resume: bool = False,
    retry_errors: bool = False,
    seed: int = 0,
    max_tokens: int = 8,
    observable: str = "string",
    temperature: float = 0.0,
    top_p: float = 1.0,
    near_tie: float | None = None,
    cache: Path | None = None,
    checked: Collection[str] | None = None,
    beside: bool = True,
    progress: Progress | None = None,
) -> AskSummary:
    """What the run did; the answers are in the table ``out``.

    Every entity in every chosen template under every condition, ``epochs`` times. On the first use
    of a condition some prompts are asked again alone, before any row of it is written; every row
    is on the disk before ``progress`` hears of it; every failure is a row marked ``error``. The
    empty condition ``none`` is always asked, and asked first.

    Parameters
    ----------
    relation : Questionable, or several
        A relation file as loaded, or anything with its name, templates, entities and golds.
    model : Model
    conditions : sequence of Condition
    out : Path
        Begun with a header; refused when it is there, unless ``resume``.
    epochs : int or None
        Draws of each item, from 1; None asks once, and as often as noise declares draws.
    templates : sequence of int or None
        Indices of wordings; None asks all of them.
    inverse : bool
        Whether answers are asked back, as relation ``NAME^-1``: the golds, or where none are known
        the answers that the model gave under each condition, once they are there.
    batch_size : int
        Requests in one call of the model, and rows in one append. A model that streams gets all
        of them at once, and rows are appended as they arrive.
    resume, retry_errors : bool
        Ask only what has no row yet; with ``retry_errors`` also what failed.
    seed : int
        Of the run; every draw's own seed follows from it.
    max_tokens : int
        The most tokens a completion has; the first-token observable asks for one.
    observable : str
        What is taken as the answer, ``string`` or ``first_token``; with commas also what is
        recorded beside it: ``one_pass``, ``hidden_states``, ``answer_logprobs``.
    temperature, top_p : float
    near_tie : float or None
        In logits; None means the default for the model's number format.
    cache : Path or None
        A file of earlier answers; None neither reads nor writes one.
    checked : collection of str or None
        Conditions on whose first use some prompts are asked again alone; None: all of them. What
        is left out rests on the others: name one of each kind and length.
    beside : bool
        Whether the logits behind each answer are read where the model shows them: the rank of the
        right first token and more, for one more pass an answer.
    progress : callable or None
        Gets (rows that are safe, rows wanted, condition, failures of this run by reason).

    Raises
    ------
    InputError
        For what cannot be asked: named, before the first request.
    ProtocolError
        When a batch changes answers, or the file was begun under another protocol.
    KeyboardInterrupt
        After what had arrived is on the disk; the file can be resumed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from trueness.backends import open_model
    >>> from trueness.collect.questions import Quiz
    >>> quiz = Quiz("capital", ("The capital of {e} is",), ("France", "Peru"), ("Paris", "Lima"))
    >>> model = open_model("scripted:right", facts={"France": "Paris", "Peru": "Lima"})
    >>> with TemporaryDirectory() as folder:
    ...     ask(quiz, model, out=Path(folder) / "t.jsonl").n_rows
    2
    """
    _check(epochs=1 if epochs is None else epochs, batch_size=batch_size, max_tokens=max_tokens)
    _check_decoding(temperature, top_p)
    plan = plan_of(relation, model, conditions, templates, inverse=inverse)
    check_readable(plan, out)
    rule = Observable.of(observable, model)
    observers = _observers(plan, rule, model)
    length = 1 if rule.kind == "first_token" else max_tokens
    tie = _near_tie(model) if near_tie is None else near_tie
    settings = Settings(batch_size, length, temperature, top_p, seed, tie, observers.top)
    protocols = {b.condition.name: protocol_of(b, plan, model, rule, settings) for b in plan.bound}
    check_distinct(protocols)
    start = time.perf_counter()
    with _open(out, protocols, rule, observers, resume=resume) as journal, ExitStack() as at_end:
        tally = Tally(warnings=[*plan.warnings, *journal.notes])
        each = {b.condition.name: b.condition.epochs(epochs) for b in plan.bound}
        tally.warnings.extend(draws_beyond(journal.state.done, each, n_items=len(plan.items)))
        begun = journal.state.header is not None
        at_end.enter_context(recorded(out, tally, begun=begun))
        tally.warnings.extend(observers.check_begun(journal.state.header or observers.header))
        at_end.enter_context(observers.opened(out, begun=begun))
        asking = Asking(
            model,
            plan,
            rule,
            settings,
            journal,
            tally,
            epochs=epochs,
            retry_errors=retry_errors,
            cache=RequestCache(cache) if cache is not None else None,
            progress=progress,
            beside=Beside.of(model, plan.items.values()) if beside else None,
            observers=observers,
        )
        trust = asking.carry_out(checked)
        asking.ask_back(out, checked, trust)
    tally.warnings.extend(observers.doubts)
    tally.warnings.extend(model.remarks if isinstance(model, Streaming) else ())
    tally.warnings.extend(doubts_of(out, temperature, epochs))
    return _summary(out, plan, journal, tally, time.perf_counter() - start)


@dataclass(slots=True)
class Asking:
    """What all conditions of a table have in common while they are asked, one after the other."""

    model: Model
    plan: Plan
    rule: Observable
    settings: Settings
    journal: AnswerJournal
    tally: Tally
    epochs: int | None
    retry_errors: bool
    cache: RequestCache | None
    progress: Progress | None
    beside: Beside | None
    observers: Observers
    n_before: int = 0
    """Rows that an earlier stage wanted."""

    def carry_out(self, checked: Collection[str] | None, trust: Trust | None = None) -> Trust:
        """Ask every condition; what one self-check finds holds for those that rest on it."""
        trust = Trust() if trust is None else trust
        for bound in self.plan.bound:
            first_use = checked is None or bound.condition.name in checked
            trust &= self._collect(bound, Trust() if first_use else trust, checked=first_use)
        return trust

    def ask_back(self, table: Path, checked: Collection[str] | None, trust: Trust) -> None:
        """Ask about the answers that were given where no right ones are known, by condition.

        A condition that this run has not checked, its first stage being there already, is checked
        on what is asked back.
        """
        if not self.plan.asked_back:
            return
        given = answers_given(table, [relation.name for relation in self.plan.asked_back])
        n_before = self.n_wanted
        for bound in self.plan.bound:
            name = bound.condition.name
            plan = back_plan(self.plan, bound, given.get(name, {}), self.model)
            back = replace(self, plan=plan, beside=None, n_before=n_before)
            due = name not in self.tally.checks and (checked is None or name in checked)
            trust &= back.carry_out({name} if due else (), trust)
            n_before = back.n_wanted

    def _collect(self, bound: Bound, trust: Trust, *, checked: bool) -> Trust:
        """Ask one condition; what is known of the model then."""
        name, model = bound.condition.name, chooser(self.model, bound.condition)
        draws = self._draws(bound)
        requests = Requests(model, bound, self.settings, self.plan.items)
        keeper = Keeper(
            requests,
            self.rule,
            self.journal,
            self.tally,
            self.n_wanted,
            self.cache,
            self.progress,
            self.beside,
            self.observers,
            deterministic=trust.deterministic,
        )
        checker = Checker(model, self.rule, self.settings, self.tally, name, trust)
        collector = Collector(
            model,
            draws,
            requests,
            self.settings,
            self.tally,
            keeper,
            checker if checked else None,
            shares=trust.shares,
        )
        collector.collect()
        return checker.trust

    def _draws(self, bound: Bound) -> Draws:
        """What is missing of a condition; the rest is held."""
        draws = Draws(
            self.plan.names,
            self.plan.lengths_under(bound),
            epochs=bound.condition.epochs(self.epochs),
            condition=bound.condition.name,
            settled=partial(self.journal.state.settled, retry_errors=self.retry_errors),
        )
        self.tally.n_held += draws.n_settled
        return draws

    @property
    def n_wanted(self) -> int:
        """Rows that this stage and those before it end with."""
        each = (bound.condition.epochs(self.epochs) for bound in self.plan.bound)
        return self.n_before + len(self.plan.items) * sum(each)


def _summary(
    out: Path, plan: Plan, journal: AnswerJournal, tally: Tally, seconds: float
) -> AskSummary:
    return AskSummary(
        path=out,
        n_rows=len(journal.state.done) + tally.n_new,
        n_asked=tally.n_asked,
        n_kept=len(journal.state.done),
        n_cached=tally.n_cached,
        errors=dict(tally.errors),
        n_checks=tally.n_checks,
        tokens_in=tally.tokens_in,
        tokens_out=tally.tokens_out,
        tokens_reused=tally.tokens_reused,
        seconds=seconds,
        checks=tally.checks,
        reuse=tally.reuse,
        prefix_tokens={b.condition.name: None if b.ids is None else len(b.ids) for b in plan.bound},
        aliases=plan.aliases,
        warnings=tuple(tally.warnings),
    )


def _observers(plan: Plan, rule: Observable, model: Model) -> Observers:
    """What is recorded beside the answers, where all of it can be."""
    check_text(plan, rule.kind)
    check_recorded(rule.recorded, model, [bound.condition for bound in plan.bound])
    wanted = ANSWERS in rule.recorded
    begun_by = first_tokens(plan.items, model.tokenizer, ANSWERS) if wanted else {}
    return Observers(model, rule.recorded, begun_by)


def _near_tie(model: Model) -> float:
    """Below what a batch may decide; dequantised weights are computed with exactly."""
    said = model.identity
    exact = said.get("quantisation") == "none" or said.get("dtype") == "float32"
    return NEAR_TIE if exact else NEAR_TIE_QUANTISED


def _open(
    out: Path,
    protocols: Mapping[str, Protocol],
    rule: Observable,
    observers: Observers,
    *,
    resume: bool,
) -> AnswerJournal:
    try:
        package = version("trueness")
    except PackageNotFoundError:
        package = "unknown"
    versions = dict[str, Json](trueness=package, python=".".join(map(str, sys.version_info[:3])))
    journal = AnswerJournal(
        out,
        protocols=protocols,
        resume=resume,
        extractor=rule.extractor,
        facts={"versions": versions, **observers.header},
    )
    try:
        _check_begun(journal, protocols)
    except TruenessError:
        journal.close()
        raise
    return journal


def _check_begun(journal: AnswerJournal, protocols: Mapping[str, Protocol]) -> None:
    """Refuse to continue a file that has no header of ours, or lacks a condition's protocol."""
    header = journal.state.header
    if header is None:
        if journal.state.done:
            msg = f"{journal.path} has rows and no header; only a file that `ask` began goes on."
            raise InputError(msg)
        return
    begun = header.get("protocols")
    known = begun if isinstance(begun, dict) else {}
    if new := [name for name in protocols if name not in known]:
        msg = (
            f"{journal.path} was begun with the conditions {', '.join(known)}; {new[0]!r} is not "
            "among them. Ask the new conditions into another file."
        )
        raise FingerprintMismatch(msg)


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            msg = f"{name} is {number}; give a whole number from 1."
            raise InputError(msg)


def _check_decoding(temperature: float, top_p: float) -> None:
    if not 0.0 <= temperature < float("inf") or not 0.0 < top_p <= 1.0:
        msg = (
            f"temperature {temperature} and top_p {top_p}; give a temperature from 0 and a top_p "
            "above 0 and up to 1."
        )
        raise InputError(msg)
