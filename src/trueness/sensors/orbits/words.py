"""The finding in plain words."""

from trueness.contract import State
from trueness.sensors.orbits.certificate import Certificate
from trueness.sensors.orbits.declaration import COUNTED, Declaration, Kind
from trueness.sensors.orbits.tally import Tally

SILENT_TEXT = (
    "These answers are consistent with the declaration; that is not evidence that they are right."
)


_SPECIAL: dict[str, str] = {
    Kind.INCREASING: "increasing",
    Kind.DECREASING: "decreasing",
    Kind.INVOLUTION: "one another's: b right for a, and a right for b",
    Kind.METRIC: "apart from one another",
}


def statement(state: State, reason: str | None, cert: Certificate | None, t: Tally) -> str:
    """The first sentence a person reads."""
    if state is State.NO_EVIDENCE:
        return f"Nothing could be measured: {reason}."
    if state is State.NOT_APPLICABLE or cert is None:
        return f"The declaration cannot hold: {reason}."
    if state is State.SILENT:
        return f"Nothing is proved about {_all(t.n_answered)}. {SILENT_TEXT}"
    if state is State.UNSTABLE:
        return (
            f"The answers did not repeat ({reason}). Of the recorded ones at least "
            f"{cert.certified_errors:,} of {t.n_answered:,} {_are(cert.certified_errors)} wrong."
        )
    return (
        f"At least {cert.certified_errors:,} of {_these(t.n_answered)} "
        f"{_are(cert.certified_errors)} wrong. "
        f"No key was consulted{_beside(t)}."
    )


def follow_ups(state: State, cert: Certificate | None, t: Tally, d: Declaration) -> tuple[str, ...]:
    """What the finding rests on, and what to declare or ask next, in sentences."""
    out: list[str] = []
    if state is State.MEASURED and cert is not None:
        out.append(_rests(cert, d))
    if state is State.SILENT:
        out.append(_lever(t, d))
    if d.identity is None and t.n_echo:
        out.append(
            f"{t.n_echo:,} answers repeat the name of their own entity. If no entity is its own "
            "answer, declare identity never."
        )
    return tuple(out)


def _beside(t: Tally) -> str:
    """What the sentence is about, where targets stand beside the bound for comparison."""
    return "" if t.true_errors is None else " for this bound"


def _all(n: int) -> str:
    return "the one answer" if n == 1 else f"these {n:,} answers"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _these(n: int) -> str:
    return "this 1 answer" if n == 1 else f"these {n:,} answers"


def _rests(cert: Certificate, d: Declaration) -> str:
    k, even = cert.certified_errors, cert.break_even_slack
    if d.relation not in COUNTED:
        return f"This follows if the right answers are {_SPECIAL[d.relation]}, as declared."
    collides = not cert.breakdown.get("echo") and not cert.breakdown.get("filler")
    if d.unlisted_capacity == 1 and not d.candidates and even == k and collides:
        return (
            "This follows if the entities have pairwise different right answers; each one that "
            f"shares another's lowers the {k:,} by one."
        )
    if even is not None:
        return (
            "This follows from the declaration; nothing is left of it when "
            f"{even:,} {'entity breaks' if even == 1 else 'entities break'} it."
        )
    return "This follows from the declaration alone."


def _lever(t: Tally, d: Declaration) -> str:
    if d.declares_nothing:
        return (
            "Nothing was declared, and one answer for each entity contradicts nothing. Declare "
            "that different entities have different right answers (relation injective), or how "
            "many may share one (capacities), or which answers exist (admissible)."
        )
    levers = []
    if d.relation in COUNTED and not d.is_closed:
        levers.append("declare an answer set")
    if t.n_slots <= t.n_entities:
        levers.append("ask paraphrases")
    levers.append("ask the inverse")
    return f"To prove more: {', '.join(levers)}."
