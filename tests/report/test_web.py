"""The page: everything escaped, bounded, readable without JavaScript, usable in a browser."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness import report
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
from trueness.contract import blocks as b
from trueness.contract.errors import InputError
from trueness.report.web import MAX_BYTES

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"
COUNTRIES = (
    *("France", "Japan", "Chad", "Peru", "Kenya", "Norway", "Egypt", "Mexico", "Ghana", "Nepal"),
    *("Cuba", "Laos", "Oman", "Fiji", "Malta", "Togo", "Qatar", "Samoa", "Iraq", "Niger"),
)

NOTES = (
    b.Notes(
        "Assumptions",
        (
            "The entities have pairwise different right answers; 19 of the 19 rest on it.",
            "The key does not merge two right answers.",
        ),
        role="assumptions",
    ),
    b.Notes(
        "What it cannot see",
        (
            "The right answers permuted among the entities.",
            "Every error on a single entity with an admissible answer.",
            "Whether the declaration itself is true.",
        ),
        role="blind_spots",
    ),
    b.Notes("Protocol", ("model embedded, greedy, at most 8 tokens", "seed 7"), role="protocol"),
    b.Notes("Versions", ("extractor short-answer 1",)),
)


def collapsed() -> Reading:
    """Twenty entities, one answer."""
    chips = tuple(b.Chip(c, flagged=True) for c in COUNTRIES)
    items = tuple(
        ItemReading(c, State.MEASURED, None, 1.0, {"answer": "Paris", "held_by": 20})
        for c in COUNTRIES
    )
    return Reading(
        sensor="made.up",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.MEASURED,
        reason=None,
        value=0.95,
        low=0.95,
        high=None,
        interval_kind="proved lower bound",
        n_measured=20,
        n_items=20,
        per_item=items,
        flagged=Flagged(tuple(COUNTRIES), 0.95, 1.0),
        details={"certified_errors": 19, "n_no_answer": 0, "accuracy": None},
        fingerprint="4f1d" * 16,
        versions={"trueness": "0.1.0"},
        seed=7,
        blocks=(
            b.Statement(
                "At least 19 of these 20 answers are wrong. No key was consulted.",
                tone="finding",
                follow_up=(
                    "Each entity that shares another's right answer lowers the 19 by one.",
                    "Declare an answer set to count answers that nobody can have.",
                ),
            ),
            b.Groups(
                "Answers and who got them",
                (b.Group("Paris", 20, chips, flagged=True, note="at most 1 of 20 is right"),),
                1,
                "An orbit is the set of entities that got one answer.",
            ),
            b.Bars(
                "Where the slots went",
                (
                    b.Bar(
                        "This condition",
                        (
                            b.Part("proved wrong", 19, "19", "wrong"),
                            b.Part("not decided", 1, "1", "neutral"),
                            b.Part("no answer", 0, "0", "no_answer"),
                        ),
                    ),
                ),
                20,
            ),
            b.Facts(
                "Figures",
                (
                    b.Fact("Certified errors", "19 of 20", "proved"),
                    b.Fact("Error floor", "19/20", "proved, n = 20"),
                    b.Fact("Precision floor of the withheld", "19/20", "proved"),
                    b.Fact("Recall floor", "1", "proved"),
                    b.Fact("Break-even slack", "19", "nothing is left when 19 golds coincide"),
                    b.Fact("No answer", "0", "of 20"),
                ),
            ),
            b.Curve(
                "Guaranteed share of wrong ones, by how many are withheld",
                "entities withheld",
                "share proved wrong",
                (
                    b.Series("precision floor", tuple((t, (t - 1) / t) for t in range(1, 21))),
                    b.Series("recall floor", tuple((t, (t - 1) / 19) for t in range(1, 21))),
                ),
                "Every point is proved for the set of that size.",
            ),
            *NOTES,
        ),
    )


def crowded() -> Reading:
    """Two thousand entities, 37 of which collide, with hostile and very long names."""
    odd = [
        SCRIPT,
        "القاهرة عاصمة مصر",
        "ירושלים",
        "👩‍👩‍👧‍👦 family 🇯🇵",
        "x" * 10_000,
        "lone \ud800 surrogate",
        "bell \x07 and \x1b[31mred",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3,
        "right\u202eto left",
    ]
    groups = [
        b.Group(
            "Lisbon",
            21,
            tuple(b.Chip(f"entity {i}", flagged=True) for i in range(12)),
            flagged=True,
            note="at most 1 of 21 is right",
        ),
        b.Group(
            odd[1],
            10,
            tuple(b.Chip(o, flagged=True) for o in odd[:6]),
            flagged=True,
            note="at most 1 of 10 is right",
        ),
        b.Group(odd[0], 6, tuple(b.Chip(o, flagged=True) for o in odd[3:]), flagged=True),
        b.Group(odd[7], 2, (b.Chip("a"), b.Chip("b")), note="capacity 2"),
        *(b.Group(f"answer {i}", 1, (b.Chip(f"entity {100 + i}"),)) for i in range(46)),
    ]
    rows = tuple(
        (
            f"entity {i}",
            f"answer {i % 1963}",
            i % 9,
            ("answered", "no_answer", "echo")[i % 3],
            odd[i] if i < len(odd) else f"The answer is answer {i}. " * (1 + i % 4),
            i * 0.37,
        )
        for i in range(2_000)
    )
    items = tuple(
        ItemReading(
            f"entity {i}",
            State.MEASURED if i % 7 else State.NO_EVIDENCE,
            None if i % 7 else "the model gave no answer",
            (1.0 if i < 37 else 0.0) if i % 7 else None,
            {
                "answer": odd[i] if i < len(odd) else f"answer {i}",
                "class": "shared" if i < 37 else "alone",
            },
        )
        for i in range(2_000)
    )
    return Reading(
        sensor="made.up",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.MEASURED,
        reason=None,
        value=34 / 2000,
        low=34 / 2000,
        interval_kind="proved lower bound",
        n_measured=2_000,
        n_items=2_000,
        per_item=items,
        flagged=Flagged(tuple(f"entity {i}" for i in range(37)), 34 / 37, 0.4),
        details={"certified_errors": 34, "n_no_answer": 12},
        blocks=(
            b.Statement("At least 34 of these 2,000 answers are wrong.", "finding"),
            b.Groups("Answers and who got them", tuple(groups), 1_966),
            b.Table(
                "Rows as collected",
                ("Entity", "Answer", "Held by", "Class", "Completion", "Seconds"),
                rows,
                2_000,
            ),
            *NOTES,
        ),
    )


def silent() -> Reading:
    """Nothing proved."""
    return Reading(
        sensor="made.up",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.SILENT,
        reason="no two entities share an answer",
        value=None,
        n_measured=20,
        n_items=20,
        details={"certified_errors": 0, "n_no_answer": 0},
        blocks=(
            b.Statement(
                "These answers are consistent with the declaration; that is not evidence that "
                "they are right.",
                "silent",
                ("Declare an answer set.", "Ask paraphrases.", "Ask the inverse question."),
            ),
            b.Groups(
                "Answers and who got them",
                tuple(b.Group(f"City {c}", 1, (b.Chip(c),)) for c in COUNTRIES),
                20,
            ),
            *NOTES,
        ),
    )


def not_applicable() -> Reading:
    """The declaration contradicts itself."""
    return Reading(
        sensor="made.up",
        direction=Direction.HIGHER_IS_WORSE,
        state=State.NOT_APPLICABLE,
        reason="the closed list serves 8 entities and there are 20",
        value=None,
        n_measured=0,
        n_items=20,
        details={"certified_errors": None},
        blocks=(
            b.Statement(
                "Nothing could be measured: the declaration contradicts itself.", "problem"
            ),
            b.Curve("Empty", "x", "y", (b.Series("nothing", ((1.0, None),)),)),
            b.Table("Nobody", ("Entity",), (), 0),
            *NOTES,
        ),
    )


def chosen() -> Decision:
    """A condition that was taken, with everything that was not."""
    return Decision(
        action="choose",
        state=State.MEASURED,
        reason="prose:128 is proved to have fewer answers not right than none: 3/20 below 17/20.",
        verdicts=(
            ItemVerdict("none", Verdict.DECLINE, "17/20"),
            ItemVerdict("prose:128", Verdict.TAKE, "3/20, strictly below the baseline"),
            ItemVerdict("the:128", Verdict.DECLINE, "stopped at ≥ 7/20"),
            ItemVerdict(SCRIPT, Verdict.EXCLUDE, "another answer space"),
        ),
        taken="prose:128",
        details={
            "level": "answer_set",
            "scores": {"none": 0.85, "prose:128": 0.15, "the:128": None},
            "counts": {"none": {"wrong": 17, "no_answer": 0}, "prose:128": {"wrong": 3}},
        },
        trace=({"step": "score", "condition": "none", "value": 0.85}, {"step": "take"}),
    )


def conditions() -> dict[str, Reading]:
    """Several readings by condition."""
    return {
        "none": collapsed(),
        "prose:128": crowded(),
        "shuffled:128": silent(),
        SCRIPT: not_applicable(),
        "مقدمة:128": silent(),
    }


class _Reader(HTMLParser):
    """What a browser would run or fetch, and whether tags are balanced."""

    VOID = frozenset({"meta", "link", "line", "polyline", "input", "br", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.unbalanced: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)


def read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    return reader


def test_hostile_text_never_becomes_a_tag() -> None:
    html = report.page(conditions(), decisions=[chosen()], title=SCRIPT)
    found = read(html)
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not [tag for tag, _ in found.tags if tag in {"img", "iframe", "object", "form"}]
    assert not found.unbalanced
    assert not found.open
    assert "&lt;script&gt;document.title" in html


def test_nothing_is_loaded_and_no_handler_stands_in_an_attribute() -> None:
    for tag, attributes in read(report.page(conditions())).tags:
        assert not any(name.startswith("on") for name in attributes), tag
        for name in ("src", "href", "action", "data"):
            link = attributes.get(name)
            assert link is None or link.startswith("#") or link == "data:,", (tag, link)


def test_ids_are_unique_and_every_reference_has_a_target() -> None:
    tags = read(report.page(conditions(), decisions=[chosen()])).tags
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in tags:
        href = attributes.get("href") or ""
        for target in [attributes.get("aria-labelledby"), href[1:] if href[:1] == "#" else None]:
            assert target is None or target in ids


def test_every_table_has_a_caption_and_scoped_heads() -> None:
    html = report.page(conditions(), decisions=[chosen()], columns={"certified_errors": "Wrong"})
    tags = read(html).tags
    tables = [t for t, _ in tags].count("table")
    assert tables
    assert [t for t, _ in tags].count("caption") == tables
    assert all(a.get("scope") in {"row", "col"} for t, a in tags if t == "th")


def test_control_characters_and_lone_surrogates_are_shown_as_escapes() -> None:
    html = report.page(crowded())
    html.encode("utf-8")
    assert "lone \\ud800 surrogate" in html
    assert "bell \\u0007 and \\u001b[31mred" in html
    assert "right\\u202eto left" in html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", html)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_any_text_at_all_leaves_one_valid_document(words: str) -> None:
    reading = Reading(
        sensor="made.up",
        direction=Direction.NEITHER,
        state=State.NO_EVIDENCE,
        reason=words or "empty",
        value=None,
        n_measured=0,
        n_items=1,
        per_item=(ItemReading(words, State.NO_EVIDENCE, "none", None, {"answer": words}),),
        details={"x": words},
        blocks=(
            b.Statement(words, words, (words,)),
            b.Groups(
                words,
                (b.Group(words, 2, (b.Chip(words, flagged=True),), flagged=True, note=words),),
                3,
            ),
            b.Bars(words, (b.Bar(words, (b.Part(words, 1.0, words, words),)),), 1.0, words),
            b.Curve(words, words, words, (b.Series(words, ((0.0, 1.0), (1.0, None))),), words),
            b.Table(words, (words, "b"), ((words, None),), 1, words),
            b.Facts(words, (b.Fact(words, words, words),)),
            b.Notes(words, (words,), words),
        ),
    )
    html = report.page({words: reading, "other": reading}, title=words, columns={"x": words})
    html.encode("utf-8")
    found = read(html)
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not found.unbalanced
    report.text(reading).encode("utf-8")
    report.markdown({words: reading, "other": reading}).encode("utf-8")


def test_a_page_stays_below_its_limit_and_says_what_it_cut() -> None:
    many = {f"condition {i}": crowded() for i in range(30)}
    html = report.page(many)
    assert len(html.encode("utf-8")) <= MAX_BYTES
    assert "rows shown" in html
    assert "more readings stand in the comparison only" in html
    assert html.count("condition 29") >= 1


def test_the_statement_comes_before_every_block_and_notes_come_last() -> None:
    html = report.page(collapsed())
    places = [
        html.index("At least 19 of these 20"),
        html.index("Answers and who got them"),
        html.index("Every item"),
        html.index("What it cannot see"),
    ]
    assert places == sorted(places)


def test_silence_reads_as_no_pass_and_what_was_not_measured_has_no_number() -> None:
    html = report.page(silent())
    assert "Silent: not a pass" in html
    assert "value <b>" not in html
    assert "the closed list serves 8 entities" in report.page(not_applicable())


def test_the_comparison_shows_the_details_that_were_asked_for() -> None:
    html = report.page(conditions(), columns={"certified_errors": "Proved wrong"})
    assert "Proved wrong" in html
    assert 'href="#r1"' in html
    assert "Proved wrong" not in report.page(conditions(), columns={"nothing": "Nothing"})


def test_no_readings_make_no_page() -> None:
    with pytest.raises(InputError, match="no readings were given"):
        report.page({})


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Any:
    path = tmp_path / "page.html"
    report.write(conditions(), path, decisions=[chosen()], columns={"certified_errors": "Wrong"})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    browser.get(path.as_uri())
    return browser


def resize(browser: Any, width: int) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_a_page_never_scrolls_sideways(shown: Any, width: int) -> None:
    resize(shown, width)
    assert shown.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.browser
def test_a_page_logs_no_error_and_runs_no_text(shown: Any) -> None:
    assert shown.get_log("browser") == []
    assert shown.title == "What these answers show"
    assert SCRIPT.split("<img", maxsplit=1)[0] in shown.find_element("tag name", "body").text


@pytest.mark.browser
def test_a_table_can_be_searched_filtered_and_sorted(shown: Any) -> None:
    resize(shown, 1280)
    table = shown.find_element("css selector", "[aria-labelledby='r2-items'] table")
    section = shown.find_element("css selector", "section[aria-labelledby='r2-items']")

    def visible() -> int:
        return int(
            shown.execute_script(
                "return [...arguments[0].tBodies[0].rows].filter(r => !r.hidden).length", table
            )
        )

    every = visible()
    box = section.find_element("css selector", "input[type=search]")
    box.send_keys("answer 42")
    assert 0 < visible() < every
    assert "match" in section.find_element("tag name", "output").text
    box.clear()
    box.send_keys(" ")
    select = section.find_element("tag name", "select")
    select.send_keys("▲")
    assert visible() == 37
    head = section.find_elements("css selector", "th .sort")[0]
    head.click()
    head.click()
    assert head.find_element("xpath", "..").get_attribute("aria-sort") == "descending"
    assert table.find_element("css selector", "tbody tr:not([hidden]) th").text == "entity 36"


@pytest.mark.browser
def test_a_page_reads_without_javascript(browser: Any, tmp_path: Path) -> None:
    path = report.write(conditions(), tmp_path / "page.html")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(path.as_uri())
    words = browser.find_element("tag name", "body").text
    assert "At least 19 of these 20 answers are wrong" in words
    assert "entity 3" in words
    assert not browser.find_elements("css selector", ".tools")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
