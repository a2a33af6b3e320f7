"""Decisions derived again from their own trace."""

from collections.abc import Mapping
from fractions import Fraction

from trueness.contract import Decision, State
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.decide.contest import Contender, Contest


def replay_choice(decision: Decision | Mapping[str, Json]) -> tuple[str, ...]:
    """What does not follow when a choice is derived again from its trace; empty when all does.

    Parameters
    ----------
    decision : Decision or what its ``to_dict`` wrote
        Of `choose`.

    Raises
    ------
    InputError
        When it is no choice or its trace cannot be read.
    """
    data = decision.to_dict() if isinstance(decision, Decision) else decision
    if data.get("action") != "choose":
        msg = f"action is {data.get('action')!r}; a decision of choose is wanted."
        raise InputError(msg)
    try:
        return _problems(data)
    except (KeyError, TypeError, ValueError, StopIteration, ZeroDivisionError) as error:
        msg = (
            f"the trace cannot be read: {type(error).__name__} at {error}. "
            "Hand in a decision as choose wrote it."
        )
        raise InputError(msg) from error


def _problems(data: Mapping[str, Json]) -> tuple[str, ...]:
    trace = _objects(data["trace"])
    rule = [step for step in trace if step.get("step") in {"take", "decline"}]
    if not rule:
        undecided = data["taken"] is None and data["state"] != State.MEASURED
        return () if undecided else ("no step of the trace takes or declines",)
    read = [step for step in trace if step.get("step") == "read"]
    contest = _contest(read, str(rule[-1]["baseline"]), str(rule[-1]["minimise"]))
    wanted = _said(contest)
    details = _object(data["details"])
    given = {name: data[name] for name in ("taken", "state", "reason", "verdicts")}
    given |= {f"details.{name}": details.get(name) for name in contest.details()}
    given["last step"] = rule[-1]
    return tuple(
        f"{name} is {given[name]!r}; the trace gives {wanted[name]!r}"
        for name in wanted
        if given[name] != wanted[name]
    )


def _said(contest: Contest) -> dict[str, Json]:
    """What a decision says when its trace is this contest."""
    return {
        "taken": contest.taken,
        "state": State.MEASURED.value,
        "reason": contest.reason(),
        "verdicts": [
            {"item": v.item, "verdict": v.verdict.value, "reason": v.reason}
            for v in contest.verdicts()
        ],
        "last step": contest.step(),
        **{f"details.{name}": value for name, value in contest.details().items()},
    }


def _contest(read: list[dict[str, Json]], baseline: str, minimise: str) -> Contest:
    excluded = {str(s["condition"]): str(s["excluded"]) for s in read if s["excluded"] is not None}
    scored = [s for s in read if s["score"] is not None]
    return Contest(
        baseline=baseline,
        minimise=minimise,
        contenders=[_contender(s) for s in scored if s["condition"] not in excluded],
        excluded=excluded,
        excluded_scores={
            str(s["condition"]): Fraction(str(s["score"]))
            for s in scored
            if s["condition"] in excluded
        },
    )


def _contender(step: Mapping[str, Json]) -> Contender:
    tokens = step["added_tokens"]
    return Contender(
        name=str(step["condition"]),
        score=Fraction(str(step["score"])),
        added_tokens=None if tokens is None else int(str(tokens)),
        order=int(str(step["order"])),
    )


def _objects(value: Json) -> list[dict[str, Json]]:
    if not isinstance(value, list):
        msg = f"a list is wanted, {type(value).__name__} was given"
        raise TypeError(msg)
    return [_object(entry) for entry in value]


def _object(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        msg = f"an object is wanted, {type(value).__name__} was given"
        raise TypeError(msg)
    return value
