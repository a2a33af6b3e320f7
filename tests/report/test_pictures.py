"""Stacked bars, bands, arrows, clauses and count strips: in every form, and in a browser."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueness import report
from trueness.contract import Direction, ItemReading, Reading, State
from trueness.contract import blocks as b
from trueness.report.columns import widths
from trueness.report.curve import plot, scale
from trueness.report.intervals import numbers_of, spread
from trueness.report.simplex import HEIGHT, triangle
from trueness.report.views import extent, kinds, sort_key
from trueness.report.web import MAX_BYTES

SCRIPT = "<script>document.title='owned'</script>"
PARTS = (("gold", "gold"), ("wrong", "wrong"), ("no answer", "none"))


def bars(label: str = "") -> b.Bars:
    values = {(2, "before"): (0.25, 0.03, 0.02), (2, "after"): (0.01, 0.31, 0.0)}
    values |= {(3, "before"): (0.15, 0.01, 0.0), (3, "after"): (0.005, 0.17, 0.0)}
    return b.Bars(
        "How often draws agree" + label,
        tuple(
            b.Bar(
                when + label,
                tuple(
                    b.Part(name + label, v, f"{v:.3f}", role)
                    for (name, role), v in zip(PARTS, shares, strict=True)
                ),
                f"order {order}" + label,
                f"total {sum(shares):.3f}",
            )
            for (order, when), shares in values.items()
        ),
        0.4,
        "a note",
        "probability that all draws agree",
    )


def dots(label: str = "") -> b.IntervalDots:
    return b.IntervalDots(
        "What moved" + label,
        (
            b.Dot("total" + label, 0.027, -0.09, 0.15, inner=(-0.05, 0.1), group="order 2"),
            b.Dot("gold", -0.237, -0.376, -0.098, "gold", group="order 2"),
            b.Dot("wrong", 0.284, 0.149, 0.42, "wrong", "+.284 [.149, .420]", group="order 2"),
            b.Dot("none", 0.0, role="none", group="order 3" + label),
            b.Dot("semantic", None, group="order 3" + label),
        ),
        strip=(-0.1, 0.1),
        note="Bands hold jointly.",
        axis="change" + label,
        band="95 % band",
        inner="90 % interval",
        margin="margin ±.10",
    )


def arrows(n: int = 3, label: str = "") -> b.SimplexArrows:
    moves = (
        ((0.5, 0.5, 0.0), (0.125, 0.875, 0.0)),
        ((0.25, 0.25, 0.5), (0.0, 1.0, 0.0)),
        ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    )
    drawn = tuple(b.Arrow(f"item {i}{label}", *moves[i % 3], "wrong") for i in range(n))
    mean = b.Arrow("mean" + label, (0.58, 0.25, 0.17), (0.375, 0.625, 0.0))
    return b.SimplexArrows(
        "Where the draws went" + label,
        ("gold" + label, "wrong", "no answer"),
        drawn,
        mean,
        n,
        roles=("gold", "wrong", "none"),
    )


def votes(label: str = "") -> b.Curve:
    lines = tuple(
        b.Series(f"{name}, {when}{label}", ((1.0, y), (2.0, y + 0.1), (3.0, None)), dashed, role)
        for (name, role), y in zip(PARTS, (0.5, 0.3, 0.2), strict=True)
        for when, dashed in (("before", True), ("after", False))
    )
    return b.Curve("Votes", "votes", "share", lines)


def clauses(label: str = "") -> b.Clauses:
    return b.Clauses(
        "Which verdict, and why",
        (
            b.ClauseRow("unchanged", "total within the margin", "ε* .146, δ .10", held=False),
            b.ClauseRow("inversion" + label, "gold below 0", "[−.376, −.098]", held=True),
            b.ClauseRow("inversion" + label, "wrong above 0", "none", None, "few movers" + label),
        ),
        "inversion" + label,
        "From top to bottom." + label,
    )


def cloud(i: int, label: str = "") -> b.Strip:
    return b.Strip(
        (("Paris" + label, i % 5, "gold"), (f"Lyon {i}", 7 - i % 5, "wrong"), ("⊥", 1, "none"))
    )


def table(n: int = 12, label: str = "") -> b.Table:
    heads = ("Item", "Gold", "Before", "After", "Δ total", "Δ gold", "p", "Movement", "Spelling")
    rows = tuple(
        (
            f"item {i}{label}",
            "Paris",
            cloud(i, label),
            cloud(i + 3),
            i * 0.0625 - 0.25,
            -0.125 if i % 2 else None,
            0.00016,
            ("still", "identity_moved", "shape_moved")[i % 3],
            i % 4 == 0,
        )
        for i in range(n)
    )
    return b.Table("Items", heads, rows, n, "The least p is .00016.", per_item=True)


def texts(label: str = "") -> b.MarkedTexts:
    passages = b.Table(
        "Passages" + label,
        ("passage", "text", "influence"),
        (("2", "Oslo lies by a fjord." + label, 0.25), ("1", "Bergen is wet.", None)),
        2,
    )
    steps = tuple(
        b.Stretch(f"Sentence {i}.{label}", i, f"0.{i}1 of chance", 0.11 + i / 10, i > 2)
        for i in range(5)
    )
    return b.MarkedTexts(
        "Claims" + label,
        (
            b.MarkedText(
                "norway" + label,
                (*steps, b.Stretch("Left out.", note="a greeting" + label)),
                "energy 0.412" + label,
                0.412,
                0.992,
                (b.Fact("length", "93", "characters" + label),),
                passages,
                beyond=True,
                verdict="review: at or above the threshold" + label,
                note="a note" + label,
            ),
            b.MarkedText("nothing", (b.Stretch("No evidence."),), "NO_EVIDENCE", note="none"),
        ),
        30,
        ("below 0.2" + label, "to 0.4", "to 0.6", "to 0.8", "more"),
        level="chance" + label,
        cut=0.3,
        threshold="the threshold" + label,
    )


def reading(*, n: int = 12, label: str = "") -> Reading:
    return Reading(
        sensor="made.up",
        direction=Direction.NEITHER,
        state=State.MEASURED,
        reason=None,
        value=0.027,
        low=-0.09,
        high=0.15,
        interval_kind="sup-t 95 %",
        n_measured=n,
        n_items=n,
        per_item=tuple(ItemReading(f"item {i}", State.MEASURED, None, 0.1) for i in range(n)),
        blocks=(
            b.Statement("Agreement moved by +.027: unresolved." + label),
            b.Statement("SYNTHETIC" + label, "problem"),
            bars(label),
            dots(label),
            arrows(n, label),
            votes(label),
            clauses(label),
            texts(label),
            table(n, label),
        ),
    )


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Tags()
    parser.feed(html)
    return parser.tags


def test_every_form_shows_the_numbers_of_every_picture() -> None:
    made = reading()
    for form in (report.text(made, width=140), report.markdown(made), report.page(made)):
        words = form.replace("\\", "").replace("&nbsp;", "\xa0")
        for wanted in ("order 2", "0.310", "total 0.300", "+.284 [.149, .420]", "90 % interval"):
            assert wanted in words, wanted
        for wanted in ("-0.237 [-0.376, -0.098]", "margin ±.10", "inversion", "✗ not held"):
            assert wanted in words, wanted
        for wanted in ("✓ held", "– not known", "few movers", "0.58 → 0.375", "gold, before"):
            assert wanted in words, wanted
        assert re.search("Lyon 1(</bdi>)?[\xa0 ]×6", words)


def test_a_table_of_the_items_replaces_the_one_that_is_made_of_them() -> None:
    made = reading()
    for form in (report.text(made), report.markdown(made), report.page(made)):
        assert "Every item" not in form


def test_pictures_survive_a_file(tmp_path: Path) -> None:
    made = reading(label=SCRIPT)
    back = report.load(report.write(made, tmp_path / "r.json")).readings[""]
    assert back == made
    assert report.page(back) == report.page(made)


def test_hostile_labels_stay_text_in_every_picture() -> None:
    html = report.page(reading(label=SCRIPT))
    names = [name for name, _ in tags(html)]
    assert names.count("script") == 1
    assert html.count("<script>document") == 0
    drawn = report.markdown(reading(label="|<b>*x*")).splitlines()
    rows = [line for line in drawn if line.startswith("|")]
    assert not any("<b>" in line.replace("\\<", "") for line in rows)
    assert "\x1b" not in report.text(reading(label="\x1b[31m"))


def test_every_picture_is_named_or_hidden_from_a_screen_reader() -> None:
    found = tags(report.page(reading()))
    ids = {a["id"] for _, a in found if "id" in a}
    named = [a["aria-labelledby"] or "" for name, a in found if a.get("role") == "img"]
    assert len(named) == 1
    assert set(named[0].split()) <= ids
    hidden = [a for name, a in found if name == "svg" and a.get("class") in {"lane", "sample"}]
    assert hidden
    assert all(a["aria-hidden"] == "true" for a in hidden)


def test_texts_of_any_length_stay_within_a_page() -> None:
    big = '&<>"' * 200
    cells = tuple((big, big) for _ in range(12))
    text = b.MarkedText(
        big,
        tuple(b.Stretch(big, i % 5, big, 0.5, i > 2, big) for i in range(30)),
        big,
        0.5,
        0.9,
        tuple(b.Fact(big, big, big) for _ in range(8)),
        b.Table(big, ("a", "b"), cells, 12),
        verdict=big,
        note=big,
    )
    block = b.MarkedTexts("x", (text,) * 24, 10_000, ("a",) * 5)
    html = report.page({}, overview=(block,) * 3)
    assert len(html.encode()) < MAX_BYTES
    assert "of 10,000 shown" in html


def test_a_shade_is_a_sign_and_words_too() -> None:
    text, page, md = (f(reading()) for f in (report.text, report.page, report.markdown))
    for form in (text, md):
        assert "◕ Sentence 3." in form
        assert "▲ beyond the threshold" in form
        assert "▽ within the threshold" in form
        assert "– Left out." in form
    assert text.index("Oslo lies by a fjord.") < text.index("Bergen is wet.")
    assert "and 28 more" in text
    assert "2 of 30 shown" in page
    for said in ("step-4", "▲ beyond the threshold", "chance", "Left out.", "NO\\_EVIDENCE"):
        assert said.replace("\\", "") in page
        assert said.replace("step-4", "●") in md
    signs = [a for n, a in tags(page) if n == "svg" and a.get("class") in {"sign", "rule"}]
    assert len(signs) == 5 + 7 + 1
    assert all(a["aria-hidden"] == "true" for a in signs)


def test_a_held_clause_a_failed_one_and_an_unknown_one_differ_in_words() -> None:
    text = report.block_text(clauses())
    assert "✗ not held   total within the margin" in text
    assert "✓ held       gold below 0" in text
    assert "– not known  wrong above 0" in text
    assert "inversion ← given" in text


def test_a_long_comparison_fits_one_page_with_nothing_cut() -> None:
    made = reading(n=300)
    more = b.SimplexArrows(
        "Five hundred", ("a", "b", "c"), arrows(500).arrows, None, 500, "no mean arrow"
    )
    html = report.page(
        Reading.from_dict(made.to_dict() | {"blocks": blocks_of(made, more)}),
    )
    assert len(html.encode()) < MAX_BYTES
    assert "rows shown" not in html
    assert html.count('class="shaft r-') + html.count('class="still r-') == 800
    assert "500 in all" in html


def blocks_of(made: Reading, *more: b.Block) -> Any:
    inner = Reading(
        sensor="x",
        direction=Direction.NEITHER,
        state=State.NO_EVIDENCE,
        reason="none",
        value=None,
        n_measured=0,
        n_items=0,
        blocks=(*made.blocks, *more),
    )
    return inner.to_dict()["blocks"]


def test_text_keeps_within_its_width_and_breaks_no_word_of_a_table() -> None:
    for width in (60, 80, 100, 140):
        text = report.text(reading(), width=width)
        assert max(map(len, text.splitlines())) <= width
        assert "Movemen\n" not in text
        assert not re.search("^ *×", text, re.MULTILINE)
    narrow = report.text(reading(), width=70)
    assert "columns that a wider terminal or a file shows:" in narrow
    assert "Movement" in narrow


def test_a_comparison_too_wide_for_its_terminal_keeps_every_column_and_word() -> None:
    columns = {f"detail_{i}": f"Heading number {i}" for i in range(9)}
    made = {"condition one": reading(), "condition two": reading()}
    text = report.comparison(made, columns=columns, width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert "condition one\n" in text
    assert "sup-t" in text
    wide = report.comparison(made, columns={"k": "Proved wrong"}, width=100)
    for word in ("Condition", "condition", "State", "Measured", "Interval", "Proved", "wrong"):
        assert re.search(rf"\b{word}\b", wide), word


@given(
    st.lists(
        st.lists(st.text("abc ", max_size=40), min_size=1, max_size=4), min_size=1, max_size=5
    ),
    st.integers(10, 80),
)
def test_columns_fit_their_room_and_hold_their_longest_word(
    found: list[list[str]], room: int
) -> None:
    given_widths = widths(found, room)
    longest = [max((len(w) for c in column for w in c.split()), default=0) for column in found]
    least = sum(min(24, n) or 1 for n in longest) + 2 * (len(found) - 1)
    assert (given_widths is None) == (least > room)
    if given_widths is not None:
        assert sum(given_widths) + 2 * (len(found) - 1) <= room
        assert all(w >= min(24, n) for w, n in zip(given_widths, longest, strict=True))


def test_bands_stand_where_their_numbers_are() -> None:
    found = spread(dots())
    at = {t.label: t.at for t in found.ticks}
    assert found.reference == at["0"]
    strip = found.strip
    assert strip is not None
    assert strip.low < at["0"] < strip.high
    gold = found.rows[1]
    assert gold.band is not None
    assert gold.at is not None
    assert gold.band.low < gold.at < gold.band.high < at["0"]
    assert gold.group == ""
    assert [r.group for r in found.rows] == ["order 2", "", "", "order 3", ""]
    assert found.rows[3].band is None
    assert found.rows[4].at is None
    assert found.rows[4].text == "–"


def test_a_band_that_leaves_a_given_axis_is_cut_and_its_end_is_not_marked() -> None:
    wide = b.IntervalDots("t", (b.Dot("a", 3.0, -9.0, 0.5),), limits=(-1.0, 1.0))
    row = spread(wide).rows[0]
    assert row.at is None
    assert row.band is not None
    assert (row.band.low, row.band.high) == (0.0, 75.0)
    assert (row.band.low_shown, row.band.high_shown) == (False, True)


@given(st.lists(st.tuples(*[st.none() | st.floats(-1e6, 1e6)] * 3), max_size=5))
def test_any_dots_stay_within_the_axis(values: list[tuple[float | None, ...]]) -> None:
    block = b.IntervalDots("t", tuple(b.Dot("a", v, low, high) for v, low, high in values))
    found = spread(block)
    for row in found.rows:
        places = [row.at, *((row.band.low, row.band.high) if row.band else ())]
        assert all(p is None or 0 <= p <= 100 for p in places)
    report.block_text(block)


def test_a_band_is_printed_rounded_to_its_safe_sides() -> None:
    assert numbers_of(b.Dot("a", 0.5, 0.123456, 0.654321)) == "0.5 [0.1234, 0.6544]"


@given(st.text(max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_every_arrow_stays_in_the_triangle_and_keeps_its_direction(
    label: str, u: float, v: float
) -> None:
    end = (u * v, u * (1 - v), 1 - u)
    block = b.SimplexArrows("t", ("a", "b", "c"), (b.Arrow(label, (1, 0, 0), end),), None, 1)
    shaft = triangle(block).shafts[0]
    assert triangle(block) == triangle(block)
    for x, y in ((shaft.x1, shaft.y1), (shaft.x2, shaft.y2)):
        assert -0.01 <= y <= HEIGHT + 0.01
        assert (HEIGHT - y) / HEIGHT * 50 - 0.02 <= x <= 100 - (HEIGHT - y) / HEIGHT * 50 + 0.02
    exact = (100 * end[1] + 50 * end[2], -HEIGHT * end[2])
    assert shaft.x2 - shaft.x1 == pytest.approx(0.9 * exact[0], abs=0.02)
    assert shaft.y2 - shaft.y1 == pytest.approx(0.9 * exact[1], abs=0.02)


def test_equal_arrows_are_seen_apart_and_the_mean_is_not_moved() -> None:
    move = ((0.5, 0.5, 0.0), (0.0, 1.0, 0.0))
    twins = (b.Arrow("one", *move), b.Arrow("two", *move))
    found = triangle(
        b.SimplexArrows("t", ("a", "b", "c"), twins, b.Arrow("m", (1, 0, 0), (0, 0, 1)), 2)
    )
    assert found.shafts[0].x1 != found.shafts[1].x1
    assert found.mean is not None
    assert (found.mean.x1, found.mean.y1) == (0, round(HEIGHT, 2))
    assert (found.mean.x2, found.mean.y2) == (50, 0)


def test_series_of_one_role_share_a_mark_and_differ_by_dashes() -> None:
    drawn = plot(votes())
    assert drawn is not None
    assert [line.dashed for line in drawn.lines] == [True, False] * 3
    assert all(len(line.marks) == 2 for line in drawn.lines)
    html = report.page(reading())
    assert html.count("r-good dashed") == html.count("r-good solid") == 2


def test_the_scale_of_bars_starts_at_zero_and_stays_within_the_limit() -> None:
    marks = scale(0.35)
    assert (marks[0].at, marks[0].label) == (0.0, "0")
    assert marks[-1].at <= 100


def test_a_bar_longer_than_the_limit_stretches_the_scale() -> None:
    long = b.Bars("t", (b.Bar("a", (b.Part("x", 0.5, ".5"), b.Part("y", 0.3, ".3"))),), 0.4)
    assert extent(long) == 0.8
    assert extent(bars()) == 0.4
    assert extent(b.Bars("t", (), 1.0)) == 1.0


def test_columns_are_text_numbers_or_strips_and_sort_as_such() -> None:
    rows = (("a", 1, cloud(1), True, None), ("b", None, None, False, None))
    assert kinds(rows, 5) == ("text", "num", "strips", "text", "num")
    assert sort_key(b.Strip((("x", 3, "gold"), ("y", 1, "wrong")))) == 0.75
    assert sort_key(b.Strip(())) == 0.0
    assert sort_key(2) == 2


def test_late_parts_of_a_strip_are_counted_together_and_none_is_lost() -> None:
    strip = b.Strip(tuple((f"answer {i}", i, "wrong") for i in range(40)))
    words = report.block_text(b.Table("t", ("a",), ((strip,),), 1))
    assert sum(int(n) for n in re.findall("×([0-9]+)", words)) == sum(range(40))
    html = report.page(
        Reading.from_dict(reading().to_dict() | {"blocks": blocks_of(reading(), strips(strip))})
    )
    assert "others</bdi>&nbsp;×702" in html


def strips(strip: b.Strip) -> b.Table:
    return b.Table("Strips", ("One",), ((strip,),), 1)


def show(browser: Any, path: Path, made: Reading, *, width: int = 1280, script: bool = True) -> Any:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(report.write(made, path / "page.html").as_uri())
    return browser


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_pictures_are_seen_and_fit_the_screen(browser: Any, tmp_path: Path, width: int) -> None:
    shown = show(browser, tmp_path, reading(label=SCRIPT + "w" * 120), width=width)
    assert shown.execute_script("return document.documentElement.scrollWidth") <= width
    for picture in (".track .part", ".lane .band", ".simplex svg .mean", ".marks path", ".strip i"):
        box = shown.find_element("css selector", picture).rect
        assert max(box["width"], box["height"]) > 1, picture
    triangle_box = shown.find_element("css selector", ".simplex > svg").rect
    assert 250 < triangle_box["width"] < width


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_without_a_reading_shows_its_blocks(
    browser: Any, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "page.html"
    made = (b.Statement("At most 0.05 are accepted." + "w" * 90), votes(), dots(), texts("w" * 90))
    path.write_text(report.page({}, overview=made, title="A gate"), "utf-8")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.find_element("css selector", ".second").text.startswith("At most 0.05")
    shades = browser.execute_script(
        "return [...document.querySelectorAll('.stretch[class*=step-]')]"
        ".map(e => getComputedStyle(e).backgroundColor)"
    )
    assert len(set(shades)) == 5
    assert "0 readings" not in browser.page_source


@pytest.mark.browser
def test_a_page_of_pictures_runs_no_text_and_loads_nothing(browser: Any, tmp_path: Path) -> None:
    shown = show(browser, tmp_path, reading(label=SCRIPT))
    assert shown.get_log("browser") == []
    assert shown.title == "What these answers show"
    assert shown.execute_script("return performance.getEntriesByType('resource').length") == 0
    words = shown.find_element("tag name", "body").text
    for place in ("order 3", "item 3", "inversion", "mean", "Paris", "change"):
        assert place + SCRIPT[:30] in words, place


@pytest.mark.browser
def test_lines_of_a_curve_are_strokes_and_fill_nothing(browser: Any, tmp_path: Path) -> None:
    shown = show(browser, tmp_path, reading())
    lines = "[...document.querySelectorAll('svg polyline')]"
    found = shown.execute_script(f"return {lines}.map(p => getComputedStyle(p).fill)")
    assert found
    assert set(found) == {"none"}


@pytest.mark.browser
def test_all_bands_stand_on_one_axis_however_long_their_text(browser: Any, tmp_path: Path) -> None:
    long = b.Dot("none", 0.0, role="none", display=".000 no band: the items do not differ")
    block = dots()
    picture = replace(block, dots=(*block.dots, long))
    shown = show(browser, tmp_path, replace(reading(), blocks=(b.Statement("Moved."), picture)))
    lanes = [e.rect for e in shown.find_elements("css selector", ".lane, .dot-axis .x-ticks")]
    assert len(lanes) == len(block.dots) + 2
    assert len({(round(r["x"]), round(r["width"])) for r in lanes}) == 1


@pytest.mark.browser
def test_numbers_stand_on_wide_segments_only(browser: Any, tmp_path: Path) -> None:
    shown = show(browser, tmp_path, reading())
    seen = [
        p.find_element("tag name", "span").rect["y"] < p.rect["y"] + p.rect["height"]
        for p in shown.find_elements("css selector", ".track .part")
    ]
    wide = [p.rect["width"] > 60 for p in shown.find_elements("css selector", ".track .part")]
    assert all(s for s, w in zip(seen, wide, strict=True) if w)
    assert not all(seen)


def press(browser: Any, *keys: str) -> Any:
    from selenium.webdriver.common.action_chains import (  # noqa: PLC0415 - only where a browser is
        ActionChains,
    )

    ActionChains(browser).send_keys(*keys).perform()
    return browser.switch_to.active_element


@pytest.mark.browser
def test_items_are_searched_filtered_and_sorted_by_keyboard(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415 - only where a browser is

    shown = show(browser, tmp_path, reading())
    rows = "[...document.querySelectorAll('table.data tbody tr')].filter(r => !r.hidden)"

    def first_cells() -> list[str]:
        found: list[str] = shown.execute_script(f"return {rows}.map(r => r.cells[0].innerText)")
        return found

    shown.execute_script("document.querySelector('.tools input').focus()")
    press(shown, "lyon 4 ×")
    assert first_cells() == ["item 1", "item 4"]
    press(shown, *[Keys.BACKSPACE] * 8)
    assert len(first_cells()) == 12
    select = press(shown, Keys.TAB)
    assert select.tag_name == "select"
    press(shown, "still")
    assert first_cells() == ["item 0", "item 3", "item 6", "item 9"]
    press(shown, Keys.HOME)
    focus = press(shown, Keys.TAB)
    assert focus.tag_name == "select"
    press(shown, "yes")
    assert first_cells() == ["item 0", "item 4", "item 8"]
    press(shown, Keys.HOME)
    assert len(first_cells()) == 12
    names = []
    for _ in range(10):
        focus = press(shown, Keys.TAB)
        names.append(focus.text)
        if focus.text == "Before":
            break
    assert focus.get_attribute("class") == "sort", names
    press(shown, Keys.SPACE)
    assert first_cells()[:3] == ["item 0", "item 5", "item 10"]
    press(shown, Keys.ENTER)
    assert first_cells()[:2] == ["item 4", "item 9"]


@pytest.mark.browser
def test_pictures_are_seen_without_javascript(browser: Any, tmp_path: Path) -> None:
    shown = show(browser, tmp_path, reading(), script=False)
    assert not shown.find_elements("css selector", ".tools, .sort")
    words = shown.find_element("tag name", "body").text
    for wanted in ("total 0.300", "-0.237 [-0.376, -0.098]", "✗ not held", "item 11", "Paris"):
        assert wanted in words
    assert shown.find_element("css selector", ".simplex .mean").rect["width"] > 20
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_json_of_pictures_is_strict() -> None:
    json.loads(report.json(reading()), parse_constant=pytest.fail)


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=40))
def test_any_label_at_all_leaves_one_valid_page(words: str) -> None:
    made = reading(n=3, label=words)
    html = report.page(made)
    html.encode("utf-8")
    assert [name for name, _ in tags(html)].count("script") == 1
    report.text(made).encode("utf-8")
    report.markdown(made).encode("utf-8")
