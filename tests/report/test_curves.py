"""Curves on logarithmic axes and with bands: geometry, every form, and in a browser."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness import report
from trueness.contract import Direction, Reading, State
from trueness.contract import blocks as b
from trueness.report.curve import Axis, decades, plot

RIGHT = tuple((float(i), 10.0 ** (4 - i)) for i in range(5))
BAND = tuple((x, y / 2, y * 2) for x, y in RIGHT)


def ranks(**changed: Any) -> b.Curve:
    series = (b.Series("right", RIGHT, role="gold", band=BAND), b.Series("other", RIGHT[:2]))
    given = {"y_log": True, "band": "quartiles", "note": "Does not show: more.", **changed}
    return b.Curve("Rank by layer", "layer", "rank", series, **given)


def reading(*blocks: b.Block) -> Reading:
    return Reading(
        sensor="study.x",
        direction=Direction.NEITHER,
        state=State.SILENT,
        reason="unresolved",
        value=None,
        n_measured=0,
        n_items=0,
        blocks=(b.Statement("Layers."), *blocks),
    )


def test_equal_ratios_are_equal_distances_on_a_logarithmic_axis() -> None:
    drawn = plot(ranks())
    assert drawn is not None
    assert [t.label for t in drawn.y_ticks] == [
        "0.1",
        "1",
        "10",
        "100",
        "1,000",
        "10,000",
        "100,000",
    ]
    heights = [float(p.split(",")[1]) for p in drawn.lines[0].pieces[0].split()]
    steps = [round(z - a, 1) for a, z in pairwise(heights)]
    assert len(set(steps)) == 1


def test_a_band_runs_along_its_lower_side_and_back_along_the_upper() -> None:
    drawn = plot(ranks())
    assert drawn is not None
    points = [tuple(map(float, p.split(","))) for p in drawn.lines[0].area.split()]
    assert len(points) == 10
    assert [x for x, _ in points] == [x for x, _ in reversed(points)]
    assert all(low[1] > high[1] for low, high in zip(points[:5], reversed(points[5:]), strict=True))
    assert drawn.lines[1].area == ""


def test_what_is_not_above_zero_is_not_drawn_on_a_logarithmic_axis() -> None:
    broken = b.Series("a", ((0.0, 1.0), (1.0, 0.0), (2.0, 10.0), (3.0, 20.0)))
    drawn = plot(b.Curve("t", "x", "y", (broken,), y_log=True))
    assert drawn is not None
    assert (len(drawn.lines[0].pieces), len(drawn.lines[0].dots)) == (2, 1)
    zero = b.Series("a", ((0.0, 0.0),))
    assert plot(b.Curve("t", "x", "y", (zero,), y_log=True)) is None
    assert plot(b.Curve("t", "x", "y", (b.Series("a", ((0.0, 1.0), (2.0, 1.0))),), x_log=True))


@given(st.floats(1e-12, 1e12), st.floats(1e-12, 1e12))
def test_marks_of_a_logarithmic_axis_cover_its_range(a: float, z: float) -> None:
    low, high = min(a, z), max(a, z)
    found = decades(low, high)
    assert 2 <= len(found) <= 11
    assert list(found) == sorted(set(found))
    assert found[0] <= low * (1 + 1e-6)
    assert found[-1] >= high * (1 - 1e-6)
    axis = Axis(found, log=True)
    assert -0.1 <= axis.place(low) <= axis.place(high) <= 100.1


def test_every_form_shows_the_ends_of_a_band() -> None:
    made = reading(ranks())
    html, md = report.page(made), report.markdown(made)
    assert re.search(r'<polygon class="area r-good solid" points="[\d., ]+"/>', html)
    assert "quartiles" in html
    assert '<td class="num">5,000</td><td class="num">20,000</td>' in html
    assert "| right | 0 | 10,000 | 5,000 | 20,000 |" in md
    assert Reading.from_dict(made.to_dict()) == made
    plain = report.page(reading(ranks(band="")))
    assert "quartiles" not in plain


def test_a_curve_without_bands_has_no_columns_for_them() -> None:
    series = (b.Series("right", RIGHT),)
    made = reading(b.Curve("t", "x", "y", series))
    assert '<th scope="col" class="num">from</th>' not in report.page(made)
    assert "| Line | x | y |" in report.markdown(made)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_bands_and_lines_are_seen_and_fit_the_screen(
    browser: Any, tmp_path: Path, width: int
) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(report.write(reading(ranks()), tmp_path / "page.html").as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    area = browser.find_element("css selector", ".canvas .area").rect
    canvas = browser.find_element("css selector", ".canvas > svg").rect
    assert 20 < area["height"] <= canvas["height"] + 1
    assert canvas["x"] - 1 <= area["x"]
    assert area["x"] + area["width"] <= canvas["x"] + canvas["width"] + 1
    shade = browser.execute_script(
        "const s = getComputedStyle(document.querySelector('.canvas .area'));"
        "return [s.fill, s.opacity, s.stroke]"
    )
    assert shade[0] != "none"
    assert 0 < float(shade[1]) < 0.5
    assert shade[2] == "none"
    assert "Does not show: more." in browser.find_element("css selector", "section.block").text
