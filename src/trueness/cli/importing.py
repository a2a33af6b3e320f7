"""``trueness import``: the log of another tool as an answer table."""

from pathlib import Path
from typing import Any

import click

from trueness.cli import options
from trueness.cli import output as _output
from trueness.cli.exits import Exit
from trueness.cli.kept import lost
from trueness.cli.verb import Verb


@click.command("import", cls=Verb, short_help="The log of another tool as an answer table.")
@click.argument("log", type=options.existing_log())
@options.columns
@options.extraction
@click.option(
    "--sensitivity",
    is_flag=True,
    help="Key the same completions by every extractor: how much depends on the rules?",
)
@click.option(
    "-o",
    "--output",
    "output",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Table to write (.jsonl, .csv, .parquet); may be repeated.",
)
@click.option(
    "--all-sampling",
    is_flag=True,
    help="OpenAI evals: events of a judge or a follow-up are draws too.",
)
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def import_(
    log: Path,
    *,
    sensitivity: bool,
    all_sampling: bool,
    output: tuple[Path, ...],
    as_json: bool,
    **typed: Any,
) -> int:
    """Read LOG, say what it holds, and write it as an answer table.

    Knows inspect_ai (.eval, .json), lm-evaluation-harness (samples_*.jsonl), OpenAI evals, HELM
    run folders, simple-evals, and tables in CSV, JSON lines, JSON and Parquet. Completions are
    keyed again by our own rules; the tool's answers and scores are kept as evidence beside them.
    """
    from trueness import api, report
    from trueness.contract.serial import dumps
    from trueness.table import write

    how = options.reading(typed)
    how |= {"all_sampling": True} if all_sampling else {}
    table = api.read(log, **{"answer_kind": "auto", **how})
    facts = api.log_facts(table)
    blocks = list(api.log_blocks(table, facts))
    if sensitivity:
        from trueness.api import sensitivity as rules

        found = rules.sensitivity(log, **how)
        facts["sensitivity"] = found.to_dict()
        blocks += found.blocks()
    for path in output:
        write(table, _output.ready(path))
        _output.note(f"wrote {path}: {len(table):,} rows{lost(table, path)}")
    if as_json:
        _output.show(dumps(facts, indent=2))
        return Exit.DONE
    wide, color = _output.width(), _output.in_color()
    _output.show("\n".join(report.block_text(b, width=wide, color=color) for b in blocks))
    return Exit.DONE
