"""A reading and a decision in a notebook: drawn, escaped, and without a trace outside of itself."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from trueness.contract import (
    Decision,
    Direction,
    Flagged,
    ItemReading,
    ItemVerdict,
    Reading,
    State,
    Verdict,
)
from trueness.contract.blocks import Chip, Group, Groups, Notes, Statement, Table
from trueness.report import fragment

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\ud800"
READING = Reading(
    sensor="orbits",
    direction=Direction.HIGHER_IS_WORSE,
    state=State.MEASURED,
    reason=EVIL,
    value=0.5,
    n_measured=2,
    n_items=2,
    blocks=(
        Statement(f"At least 1 is wrong {EVIL}", follow_up=(EVIL,)),
        Groups("Groups", (Group(EVIL, 2, (Chip(EVIL), Chip("b"))),), 1, note=EVIL),
        Table(EVIL, (EVIL, "n"), ((EVIL, 1),), 1, note=EVIL),
        Notes("Blind to", (EVIL,)),
    ),
    per_item=(
        ItemReading(EVIL, State.MEASURED, None, 0.5, {EVIL: EVIL}),
        ItemReading("b", State.NO_EVIDENCE, EVIL),
    ),
    flagged=Flagged((EVIL,), 0.5, 0.5),
)
DECISION = Decision(
    action="choose",
    state=State.MEASURED,
    reason=EVIL,
    verdicts=(ItemVerdict(EVIL, Verdict.TAKE, EVIL),),
    taken=EVIL,
    details={EVIL: EVIL, "by_name": {EVIL: {EVIL: 1}}},
    trace=({"step": EVIL},),
)


class Seen(HTMLParser):
    """Elements, attributes and names of parts of a fragment; whether every element ends."""

    VOID = frozenset({"br", "img", "input", "wbr", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("shown", [READING, DECISION], ids=["reading", "decision"])
def test_every_text_is_escaped_and_nothing_runs_or_loads(shown: Reading | Decision) -> None:
    html = shown._repr_html_()
    assert html == fragment(shown)
    seen = Seen(html)
    assert seen.open == []
    assert not {"script", "img", "iframe", "link", "object", "html", "body"} & set(seen.tags)
    assert not [name for name in seen.attributes if name.startswith("on") or name == "src"]
    assert len(set(seen.ids)) == len(seen.ids)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "\\ud800" in html
    html.encode("utf-8")


def test_the_finding_the_blocks_and_the_items_are_drawn() -> None:
    html = READING._repr_html_()
    for said in ("At least 1 is wrong", "Measured", "2 of 2", "Blind to", "Groups", "Every item"):
        assert said in html
    decided = DECISION._repr_html_()
    assert "Taken: " in decided
    assert "Verdicts" in decided


def test_the_style_ends_at_the_edge_of_the_output() -> None:
    html = READING._repr_html_()
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style.strip().startswith("@scope {")
    assert style.count("{") == style.count("}")
    assert not re.search(r"(?m)^\s*(:root|html|body)\b", style)


def test_several_outputs_share_no_names_of_parts() -> None:
    other = replace(READING, value=0.25)
    one, two = (set(Seen(r._repr_html_()).ids) for r in (READING, other))
    assert one
    assert not one & two
    assert READING._repr_html_() == READING._repr_html_()


def test_a_long_reading_stays_small_and_says_what_it_leaves_out() -> None:
    items = tuple(
        ItemReading(f"item {k}", State.MEASURED, None, 0.5, {"answer": "x" * 400})
        for k in range(20_000)
    )
    html = replace(READING, per_item=items, n_items=20_000, n_measured=20_000)._repr_html_()
    assert "20 of 20,000 rows shown" in html
    assert len(html) < 100_000


@pytest.mark.browser
def test_a_page_around_the_output_keeps_its_own_looks(browser: Any, tmp_path: Path) -> None:
    outside = '<h3 id="outside">mine</h3><ul><li>one</li></ul>'
    look = (
        "const s = getComputedStyle(document.getElementById('outside')), "
        "b = getComputedStyle(document.body); "
        "return [s.font, s.margin, s.color, b.backgroundColor, b.font, b.margin];"
    )
    seen = []
    for name, inside in (("bare", ""), ("with", READING._repr_html_())):
        path = tmp_path / f"{name}.html"
        page = f'<!DOCTYPE html><meta charset="utf-8"><body>{outside}{inside}</body>'
        path.write_text(page, "utf-8")
        browser.get(path.as_uri())
        seen.append(browser.execute_script(look))
    assert seen[0] == seen[1]
    inside = "return getComputedStyle(document.querySelector('.trueness .card')).borderRadius;"
    assert browser.execute_script(inside) == "14px"
    wide = "return document.documentElement.scrollWidth - window.innerWidth;"
    assert browser.execute_script(wide) <= 0
