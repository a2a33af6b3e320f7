"""Readings as one HTML file: no network, readable without JavaScript, bounded in size."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from trueness.contract import Decision, Reading, blocks
from trueness.contract.serial import dumps
from trueness.report import views
from trueness.report.curve import banded, ends, plot, scale
from trueness.report.intervals import spread
from trueness.report.machine import Readings
from trueness.report.simplex import triangle
from trueness.report.words import (
    STATES,
    cell,
    clip,
    count_of,
    counts_of,
    interval_of,
    named,
    number,
    prose,
    side,
    state_of,
    tone,
    value_of,
    visible,
)

MAX_BYTES = 1_000_000
"""No page is larger: long tables and texts are cut harder until it fits, and the page says so."""

_COMPARED = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of long lists and texts a page shows.

    Parameters
    ----------
    rows : int
        Of a table.
    items : int
        Of the table of every item.
    text : int
        Characters of one name, cell or sentence.
    readings : int
        Drawn in full; all are in the comparison.
    """

    rows: int
    items: int
    text: int
    readings: int


_TRIES = (
    Limits(1_000, 500, 4_000, 200),
    Limits(300, 200, 1_000, 200),
    Limits(100, 60, 300, 100),
    Limits(40, 20, 200, 40),
    Limits(20, 10, 120, 10),
    Limits(10, 5, 80, 2),
)


def page(
    readings: Readings,
    *,
    decisions: Sequence[Decision] = (),
    title: str = "What these answers show",
    columns: Mapping[str, str] | None = None,
    overview: Sequence[blocks.Block] = (),
) -> str:
    """One HTML document about readings and what was decided from them.

    Parameters
    ----------
    readings : mapping, sequence or Reading
        Several, by name, are first compared in one table.
    decisions : sequence of Decision
        Shown after the comparison.
    title : str
        Of the document.
    columns : mapping of str to str, optional
        Names of ``details`` that the comparison shows, and the heading of each.
    overview : sequence of Block
        Drawn before the readings, e.g. bars that show all conditions at one glance.

    Returns
    -------
    str
        At most `MAX_BYTES` in UTF-8. What was cut is said where it was cut.

    Raises
    ------
    InputError
        When there are no readings and nothing else either.
    """
    found = named(readings, beside=overview)
    for limits in _TRIES:
        html = _render(
            found,
            decisions,
            title=title,
            columns=columns or {},
            overview=overview,
            limits=limits,
        )
        if len(html.encode("utf-8")) <= MAX_BYTES:
            break
    return html


def _render(
    readings: Mapping[str, Reading],
    decisions: Sequence[Decision],
    *,
    title: str,
    columns: Mapping[str, str],
    overview: Sequence[blocks.Block],
    limits: Limits,
) -> str:
    env = environment()
    style, script = asset("style.css"), asset("script.js")
    html = env.get_template("page.html").render(
        title=title,
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        readings=list(sections(readings, limits)),
        n_readings=len(readings),
        compared=_compared(readings, columns) if len(readings) > 1 else None,
        decisions=[decided(d, limits) for d in decisions],
        overview=[(type(b).__name__, b) for b in overview],
        limits=limits,
        versions=_versions(readings),
    )
    return valid(html)


@cache
def environment() -> Environment:
    """Our templates, with everything escaped that reaches them."""
    env = Environment(
        loader=PackageLoader("trueness.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    env.globals.update(flag=views.FLAG, held=views.HELD, side=side)
    env.filters.update(cell=cell, clip=clip, number=number, prose=prose, state=state_of, tone=tone)
    env.filters.update(kinds=views.kinds, by_verdict=views.by_verdict, sort_key=views.sort_key)
    env.filters.update(counts_of=counts_of, extent=views.extent)
    env.filters.update(plot=plot, banded=banded, ends=ends, scale=scale)
    env.filters.update(spread=spread, triangle=triangle)
    return env


def _shown(value: object) -> object:
    """Every text that reaches a page passes here, whatever a template forgot."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


@cache
def asset(name: str) -> str:
    """The text of a style sheet or script of ours."""
    env = environment()
    source = PackageLoader("trueness.report", "templates").get_source(env, name)[0]
    return source.strip() + "\n"


def valid(html: str) -> str:
    """Nothing but UTF-8 leaves: a surrogate that came in by a way unknown becomes a mark."""
    return html.encode("utf-8", "replace").decode("utf-8")


def sections(
    readings: Mapping[str, Reading], limits: Limits, *, prefix: str = "r"
) -> Iterator[dict[str, object]]:
    """What the templates draw of each reading; ``prefix`` begins the names of its parts."""
    for i, (name, reading) in enumerate(readings.items(), start=1):
        if i > limits.readings:
            return
        first = reading.blocks[0]
        yield {
            "id": f"{prefix}{i}",
            "name": name,
            "reading": reading,
            "tone": first.tone if isinstance(first, blocks.Statement) else "neutral",
            "follow_up": first.follow_up if isinstance(first, blocks.Statement) else (),
            "value": value_of(reading),
            "interval": interval_of(reading),
            "count": count_of(reading),
            "blocks": [(type(b).__name__, b) for b in reading.blocks[1:]],
            "items": views.items(reading, limit=limits.items),
        }


def _compared(readings: Mapping[str, Reading], columns: Mapping[str, str]) -> dict[str, object]:
    rows = [
        {
            "name": name,
            "href": f"#r{i}",
            "state": r.state,
            "said": state_of(r),
            "value": value_of(r),
            "share": r.value if r.value is not None and 0 <= r.value <= 1 else None,
            "interval": interval_of(r),
            "n_measured": r.n_measured,
            "n_items": r.n_items,
            "details": [_detail(r, key) for key in columns],
        }
        for i, (name, r) in enumerate(readings.items(), start=1)
    ]
    return {
        "rows": rows[:_COMPARED],
        "n_rows": len(rows),
        "columns": list(columns.values()),
        "share": all(row["share"] is not None for row in rows if row["value"] != cell(None)),
    }


def _detail(reading: Reading, key: str) -> blocks.Cell:
    value = reading.details.get(key)
    plain = value is None or isinstance(value, (str, int, float, bool))
    return value if plain else cell(value)  # type: ignore[return-value] # narrowed by `plain`


def decided(decision: Decision, limits: Limits) -> dict[str, object]:
    """What the templates draw of a decision."""
    facts, tables = views.figures(decision)
    return {
        "action": decision.action,
        "outcome": views.outcome(decision),
        "reason": decision.reason,
        "state": STATES[decision.state],
        "taken": decision.taken,
        "verdicts": views.verdicts(decision, limit=limits.items),
        "facts": facts,
        "tables": tables,
        "trace": [clip(dumps(step), limits.text) for step in decision.trace[: limits.items]],
    }


def _versions(readings: Mapping[str, Reading]) -> dict[str, str]:
    return {name: v for r in readings.values() for name, v in r.versions.items()}
