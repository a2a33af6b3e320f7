"""``trueness ask``: put questions to a model and keep every answer."""

import re
from pathlib import Path
from typing import Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import Exit
from trueness.cli.verb import Verb

_OTHER_FORMS = (".html", ".md", ".xml", *_output.TABLES)


@click.command(cls=Verb, short_help="Ask a model; every answer becomes a row.")
@click.option(
    "--relation-file",
    required=True,
    metavar="FILE|NAME",
    help="What to ask about whom: a file, or one that comes along, e.g. capital.",
)
@click.option(
    "--model",
    envvar="TRUENESS_MODEL",
    default="embedded",
    show_default=True,
    help="embedded, gguf:FILE, hf:NAME, openai:NAME, scripted:NAME or replay:FILE.",
)
@click.option("-M", "model_option", multiple=True, metavar="KEY=VALUE", help="Option of the model.")
@click.option(
    "--conditions",
    metavar="LIST|FILE",
    help="Prefixes to compare, e.g. none,prose:128,the:128; `none` is always asked.",
)
@click.option("--templates", metavar="LIST", help="Only these wordings, by number from 0.")
@click.option(
    "--inverse",
    is_flag=True,
    help="Ask answers back as well: the golds, or the model's own where there are none.",
)
@click.option(
    "--epochs", "-n", "--repeat", type=click.IntRange(min=1), help="Draws of each question."
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first entities.")
@click.option("--temperature", type=options.Finite(min=0), help="0 is greedy (default).")
@click.option("--top-p", type=options.Finite(0, 1), help="Mass that is sampled from.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Longest answer.")
@click.option("--seed", type=int, help="Of every draw.")
@click.option(
    "--observe",
    "observable",
    metavar="WHAT",
    help="What is taken as the answer, e.g. string; beside it one_pass, hidden_states, "
    "answer_logprobs.",
)
@click.option("--batch-size", type=click.IntRange(min=1), help="Requests in one call.")
@options.server
@options.engine
@click.option("--cache/--no-cache", default=None, help="Use the request cache.")
@click.option("--resume", is_flag=True, help="Ask only what the file does not hold yet.")
@click.option("--retry-errors", is_flag=True, help="With --resume: ask failed rows again too.")
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Answer table to write (.jsonl); RELATION-MODEL.jsonl in TRUENESS_LOG_DIR if left out.",
)
def ask(
    *,
    relation_file: str,
    model_option: tuple[str, ...],
    templates: str | None,
    out: Path | None,
    no_progress: bool,
    as_json: bool,
    **typed: Any,
) -> int:
    """Ask a model about every entity of a relation; each answer is a row, nothing is lost.

    Rows are written as they come. Interrupt with Ctrl-C and go on with `--resume`.
    """
    from trueness import api
    from trueness.backends.registry import parse_options
    from trueness.cli.progress import bar
    from trueness.contract.serial import dumps

    out = _default(relation_file, typed["model"]) if out is None else out
    _check_suffix(out)
    for name in ("inverse", "resume", "retry_errors"):
        typed[name] = typed[name] or None
    of_model = options.of_model(parse_options(model_option), typed)
    typed |= {"options": of_model or None, "templates": _numbers(templates)}
    with bar(wanted=not no_progress) as progress:
        summary = api.ask(
            relation_file, out=_output.ready(out), progress=progress, **options.given(typed)
        )
    _output.show(dumps(summary.to_dict(), indent=2) if as_json else "\n".join(summary.lines()))
    return Exit.NOTHING_MEASURED if summary.measured_nothing else Exit.DONE


def _check_suffix(out: Path) -> None:
    """Refuse a name that says another form: a table that is asked for is JSON lines."""
    from trueness.contract.errors import InputError

    if out.name.lower().endswith(_OTHER_FORMS):
        msg = (
            f"{out.name!r} is named like another form, and answers are written as JSON lines. Name "
            f"it {out.stem}.jsonl; export and report make other forms of it."
        )
        raise InputError(msg)


def _default(relation: str, model: str) -> Path:
    """The table of a relation and a model in the folder for logs; the same when it is resumed."""
    folder = _output.log_dir()
    if folder is None:
        msg = "no file is named for the answers; give -o FILE, or set TRUENESS_LOG_DIR to a folder."
        raise click.UsageError(msg)
    kind, _, rest = model.partition(":")
    names = [_stem(relation), kind, _stem(rest)]
    return folder / f"{'-'.join(filter(None, names))}.jsonl"


def _stem(name: str) -> str:
    """A name as part of a file's: of a file its own without suffix, of others every word."""
    said = Path(name).stem if Path(name).is_file() else name
    return re.sub(r"[^\w.]+", "-", said).strip("-")


def _numbers(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        msg = f"{text!r} is no list of whole numbers; write e.g. 0,2,3."
        raise click.BadParameter(msg, param_hint="--templates") from error
