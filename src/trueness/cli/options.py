"""Flags that several verbs share."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

Verb = TypeVar("Verb", bound=Callable[..., Any])

COLUMNS = (
    ("item", "the prompt or question"),
    ("entity", "whom the question is about"),
    ("answer", "the answer"),
    ("target", "the right answer, where known"),
    ("epoch", "which draw of the item"),
    ("condition", "how the answer was obtained"),
    ("template", "which wording"),
    ("group", "source or cluster"),
    ("completion", "the raw text"),
    ("outcome", "answered, no_answer, error …"),
    ("weight", "how many equal draws the row stands for"),
)
"""Columns that can be named when they are not recognised."""

DECLARATION = (
    "relation",
    "relation_file",
    "admissible",
    "capacities",
    "candidates",
    "slack",
    "identity",
    "filler",
    "kind",
    "delta",
    "contrasts",
)


def existing_file() -> click.Path:
    """A parameter that must name a file that can be read."""
    return click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


def existing_log() -> click.Path:
    """A parameter that must name a file or a folder, as some tools write their logs."""
    return click.Path(exists=True, readable=True, path_type=Path)


class Finite(click.FloatRange):
    """A number within its range; NaN, which compares with nothing, is refused."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or a usage error."""
        number = float(super().convert(value, param, ctx))
        if number != number:  # noqa: PLR0124 - true of NaN alone
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def columns(verb: Verb) -> Verb:
    """``--item --entity --answer …``: which column is which."""
    for name, meaning in reversed(COLUMNS):
        verb = click.option(f"--{name}", metavar="COLUMN", help=f"Column: {meaning}.")(verb)
    return verb


def declaration(verb: Verb) -> Verb:
    """What is declared about right answers; everything certified follows from it."""
    for option in reversed(
        (
            click.option(
                "--relation",
                metavar="KIND",
                help="single_valued (default), injective, capacity, increasing, decreasing, "
                "involution or metric.",
            ),
            click.option(
                "--relation-file",
                metavar="FILE|NAME",
                help="A relation with its declaration; a file, or one that comes along: capital.",
            ),
            click.option(
                "--admissible",
                type=existing_file(),
                help="The only possible right answers, each right for one entity.",
            ),
            click.option(
                "--capacities",
                type=existing_file(),
                help="For how many entities an answer may be right: answer, limit.",
            ),
            click.option(
                "--candidates",
                type=existing_file(),
                help="The only answers that can be right for an entity: entity, candidate.",
            ),
            click.option(
                "--slack",
                type=click.IntRange(min=0),
                metavar="D",
                help="At most D entities break the limits.",
            ),
            click.option(
                "--identity",
                metavar="allowed|never|FILE",
                help="May an entity be its own answer? A file, or names with commas, lists those "
                "that may.",
            ),
            click.option("--filler", type=existing_file(), help="Answers that are nobody's."),
            click.option(
                "--kind",
                type=click.Choice(["exact", "relaxation"]),
                help="An exact certificate, or a faster sound one.",
            ),
        )
    ):
        verb = option(verb)
    return verb


def extraction(verb: Verb) -> Verb:
    """``--answer-kind --extractor --units --decimals``: how completions become keys."""
    for option in reversed(
        (
            click.option(
                "--answer-kind",
                metavar="KIND",
                help="What an answer is: number, option, text, set, tuple, short, short_cut or "
                "auto.",
            ),
            click.option(
                "--extractor",
                metavar="NAME",
                help="Rules that find it: declared (default), strict, last_number, letter_line "
                "or tool (what the log stored). Also keys a table again.",
            ),
            click.option(
                "--units",
                type=click.Choice(["ignore", "keep"]),
                help="Whether 20, 20 % and $20 are one answer (ignore, the default).",
            ),
            click.option(
                "--locale",
                type=click.Choice(["en", "eu"]),
                help="Whether 3,14 is undecided (en) or a decimal (eu).",
            ),
            click.option(
                "--decimals",
                type=click.IntRange(min=0),
                help="Round numbers to so many decimals before they are compared.",
            ),
            click.option(
                "--aliases",
                type=existing_file(),
                help="Answers that are one, as JSON: {item: {alias: representative}}.",
            ),
        )
    ):
        verb = option(verb)
    return verb


def ceiling(verb: Verb) -> Verb:
    """``--delta`` and ``--contrasts``: a ceiling of the accuracy of sampled answers."""
    verb = click.option(
        "--contrasts",
        type=click.IntRange(min=1),
        metavar="C",
        help="How many conditions are compared by their ceilings (with --delta).",
    )(verb)
    return click.option(
        "--delta",
        type=Finite(min=0, max=0.25, min_open=True, max_open=True),
        help="Answers are independent draws: also the accuracy they exceed with at most this "
        "probability.",
    )(verb)


CLAIMS = ("claim", "evidence", "embedder", "model")


def claims(verb: Verb) -> Verb:
    """``--claim --evidence --embedder --model``: for sensors of claims, read like `ground` does."""
    for option in reversed(
        (
            click.option("--claim", metavar="COLUMN", help="Column: the claim."),
            click.option("--evidence", metavar="COLUMN", help="Column: its passages."),
            click.option("--embedder", metavar="NAME", help="Of sensors of claims (embedded)."),
            click.option("--model", metavar="NAME", help="Of the sensor contrast (embedded)."),
        )
    ):
        verb = option(verb)
    return verb


def about_claims(options: Mapping[str, Any]) -> dict[str, Any]:
    """What sensors of claims are given, only what was typed."""
    return {k: v for k, v in given(options).items() if k in CLAIMS}


def ensembles(verb: Verb) -> Verb:
    """``--ensemble vote:A,B``: conditions that are made of other conditions' rows."""
    return click.option(
        "--ensemble",
        multiple=True,
        metavar="KIND:NAME,NAME",
        help="Add a condition made of others, e.g. vote:*; may be repeated.",
    )(verb)


def outputs(verb: Verb) -> Verb:
    """``-o PATH`` (repeatable) and ``--json``."""
    verb = click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")(verb)
    return click.option(
        "-o",
        "--output",
        "output",
        multiple=True,
        type=click.Path(dir_okay=False, path_type=Path),
        help="Also write a file, its form by suffix; may be repeated.",
    )(verb)


def engine(verb: Verb) -> Verb:
    """``--engine --workers``: where a model or embedder runs."""
    verb = click.option("--workers", type=click.IntRange(min=1), help="Copies on a cluster (2).")(
        verb
    )
    return click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        help="ray: on the workers of the cluster that RAY_ADDRESS names, or of one made here.",
    )(verb)


SERVER = ("base_url", "max_connections", "max_retries", "timeout")


def server(verb: Verb) -> Verb:
    """``--model-base-url --max-connections --max-retries --timeout``: an ``openai:`` model."""
    for option in reversed(
        (
            click.option(
                "--model-base-url",
                "base_url",
                metavar="URL",
                help="Server of an openai: model, e.g. http://127.0.0.1:8080/v1; the default is "
                "OPENAI_BASE_URL, the key OPENAI_API_KEY.",
            ),
            click.option(
                "--max-connections",
                "-j",
                type=click.IntRange(min=1),
                help="Most requests in flight at a server (32); it may bear fewer.",
            ),
            click.option(
                "--max-retries",
                type=click.IntRange(min=0),
                help="Tries after the first that a server does not answer (5).",
            ),
            click.option(
                "--timeout",
                type=Finite(min=0, min_open=True),
                metavar="SECONDS",
                help="Of one try at a server, from first byte to last (120).",
            ),
        )
    ):
        verb = option(verb)
    return verb


def of_model(pairs: Mapping[str, str], typed: dict[str, Any]) -> dict[str, str]:
    """Options of the model: those of ``-M``, and those about a server taken out of ``typed``.

    Raises
    ------
    BadParameter
        When one is given in both ways.
    """
    found = dict(pairs)
    for name in SERVER:
        value = typed.pop(name)
        if value is None:
            continue
        if name in found:
            msg = f"{name} is given by -M and by a flag; give it once."
            raise click.BadParameter(msg, param_hint="-M")
        found[name] = str(value)
    return found


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were typed: None and empty tuples are left out."""
    return {name: value for name, value in values.items() if value not in (None, ())}


def declaring(options: Mapping[str, Any]) -> dict[str, Any]:
    """What was declared about right answers, only what was typed."""
    return {k: v for k, v in given(options).items() if k in DECLARATION}


NAMES = tuple(name for name, _ in COLUMNS)
EXTRACTION = ("answer_kind", "extractor", "units", "locale", "decimals", "aliases")


def reading(options: Mapping[str, Any]) -> dict[str, Any]:
    """How a table is read: columns and extraction, only what was typed."""
    names = {*EXTRACTION, *NAMES, "ensemble"}
    return {k: v for k, v in given(options).items() if k in names}


def assignments(pairs: tuple[str, ...], *, flag: str) -> dict[str, Any]:
    """``key=val`` texts as a mapping; a value that reads as JSON is taken as such.

    Raises
    ------
    BadParameter
        When a text has no equals sign or a key stands twice.
    """
    import json

    out: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or key in out:
            msg = f"{pair!r}: give each parameter once, as name=value."
            raise click.BadParameter(msg, param_hint=flag)
        try:
            out[key] = json.loads(value)
        except ValueError:
            out[key] = value
    return out
