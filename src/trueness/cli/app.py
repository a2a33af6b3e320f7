"""The group of verbs and the function that the command calls."""

import sys
from collections.abc import Sequence

import click

from trueness.cli.ask import ask
from trueness.cli.calibrate import calibrate
from trueness.cli.certify import certify
from trueness.cli.choose import choose
from trueness.cli.compare import compare
from trueness.cli.demo import demo
from trueness.cli.doctor import doctor
from trueness.cli.exits import Exit, guarded
from trueness.cli.export import export
from trueness.cli.gate import gate, replay
from trueness.cli.ground import ground
from trueness.cli.importing import import_
from trueness.cli.measure import measure
from trueness.cli.plan import plan
from trueness.cli.report import report
from trueness.cli.study import study


class _InOrder(click.Group):
    """Lists verbs in the order of use, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.commands)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click calls it so
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"trueness {version('trueness')}")
        ctx.exit()


@click.group(
    cls=_InOrder,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 an assertion failed, 2 usage or input, 3 a defect, "
    "5 nothing could be measured, 130 interrupted.",
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version,
    help="Print the version and leave.",
)  # fmt: skip
@click.pass_context
def verbs(ctx: click.Context) -> int:
    """Tell how often answers agree from how often they are right.

    First time here: `trueness demo`. With answers of your own: `trueness certify FILE`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(Exit.USAGE)
    return Exit.DONE


for _verb in (
    ask,
    certify,
    choose,
    compare,
    ground,
    calibrate,
    gate,
    replay,
    plan,
    measure,
    report,
    study,
    import_,
    export,
    demo,
    doctor,
):
    verbs.add_command(_verb)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of one command line; the process's own when none is given."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return guarded(
        lambda: verbs.main(args=arguments, prog_name="trueness", standalone_mode=False), arguments
    )
