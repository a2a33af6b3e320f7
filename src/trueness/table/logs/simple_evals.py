"""Results of simple-evals: ``*_allresults.json`` with conversations and pages, and no ids."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from trueness.contract.errors import InputError
from trueness.table.answers import AnswerTable, Outcome
from trueness.table.logs.draws import Draw, LogReport, TableBuilder
from trueness.table.logs.messages import digest, one_line, said
from trueness.table.logs.sniffing import SIMPLE_EVALS, log_files, written_by
from trueness.table.logs.streamed import JsonStream, members
from trueness.table.sniff import undecodable_note, unreadable

_LISTS = frozenset({"convos", "htmls"})
_OPTION = re.compile(r"^[ \t]*([A-Z])[).][ \t]*", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")
_FACT = r"<p>{}:\s*(.*?)</p>"
_CORRECT, _EXTRACTED, _SCORE = (
    re.compile(_FACT.format(name), re.DOTALL)
    for name in ("Correct Answer", "Extracted Answer", "Score")
)
_HOST_SAYS = frozenset({"No response (bad request).", "No response (bad request)"})
"""What the tool writes in place of a completion when the host refused the request."""


@dataclass(frozen=True, slots=True)
class _Page:
    """What the page of one draw tells: gold, the tool's own answer and score."""

    correct: str | None
    extracted: str | None
    score: str | None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prompt taken apart: its question, and the options in the order in which they stood."""

    question: str
    options: tuple[str, ...]

    @property
    def item(self) -> str:
        """One name for all orders of the same options under the same question."""
        return digest([self.question, *sorted(self.options)]) if self.options else self.prompt

    @property
    def prompt(self) -> str:
        """Name of the prompt as it stands."""
        return digest([self.question, *self.options])


@dataclass(slots=True)
class _Results:
    """What was found in a file."""

    pages: list[_Page] = field(default_factory=list)
    draws: list[tuple[_Asked, str | None]] = field(default_factory=list)
    names: list[object] = field(default_factory=list)
    whole: bool = True
    n_undecodable: int = 0


def sniffs(path: Path) -> bool:
    """Whether a file, or a folder of files, is a result of simple-evals."""
    return written_by(path) == SIMPLE_EVALS


def read(path: Path) -> AnswerTable:
    """The draws of a result, one a conversation.

    The tool shuffles the options of every repeat and gives no ids: the item is the hash of the
    question with the set of its options, whatever their order; the options of each draw are kept
    beside it in their order, and the gold is the option's text.

    Parameters
    ----------
    path : path
        An ``*_allresults.json``, or a folder with one.

    Raises
    ------
    InputError
        When there are not as many pages as conversations, or the file has names for its examples
        and prompts of one name, without options, differ.
    """
    results = _results(_file(path))
    n_pages, n_draws = len(results.pages), len(results.draws)
    if n_pages != n_draws and results.whole:
        msg = (
            f"{path} holds {n_draws} conversations and {n_pages} pages; equally many are wanted, "
            "since only the order says what belongs together. Write the results again."
        )
        raise InputError(msg)
    report = LogReport("simple_evals", n_read=n_draws)
    builder = TableBuilder()
    for draw in _draws(results, report):
        builder.add(draw)
    if not results.whole:
        report.warnings.append("the file was cut off; what is whole was read.")
    if results.n_undecodable:
        report.warnings.append(undecodable_note(results.n_undecodable))
    return builder.table(report, completed=results.whole)


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = log_files(path, SIMPLE_EVALS)
    if len(files) != 1:
        msg = (
            f"the folder {path} holds {len(files)} results of simple-evals; one at a time is "
            f"wanted. Name one: {', '.join(str(p) for p in files[:3])}."
        )
        raise InputError(msg)
    return files[0]


def _results(path: Path) -> _Results:
    results = _Results()
    try:
        with path.open("rb") as file:
            stream = JsonStream(file)
            try:
                for name, value in members(stream, _LISTS):
                    _enter(results, name, value)
            except (ValueError, RecursionError):
                results.whole = False
            results.n_undecodable = stream.n_undecodable
    except OSError as error:
        raise unreadable(path, error) from error
    return results


def _enter(results: _Results, name: str, value: Any) -> None:
    if name == "htmls":
        results.pages.append(_page(value))
    elif name == "convos":
        results.draws.append(_conversation(value))
    elif name == "metadata" and isinstance(value, Mapping):
        named = value.get("example_level_metadata")
        results.names = named if isinstance(named, list) else []


def _page(text: object) -> _Page:
    found = [
        pattern.search(text) if isinstance(text, str) else None
        for pattern in (_CORRECT, _EXTRACTED, _SCORE)
    ]
    return _Page(*(html.unescape(match[1]).strip() if match else None for match in found))


def _conversation(messages: object) -> tuple[_Asked, str | None]:
    """The prompt and the reply: the last message, if the model wrote it."""
    listed = [m for m in messages if isinstance(m, Mapping)] if isinstance(messages, list) else []
    replied = bool(listed) and listed[-1].get("role") == "assistant"
    asked = listed[:-1] if replied else listed
    text = "\n".join(filter(None, (said(m.get("content")) for m in asked)))
    return _taken_apart(text), said(listed[-1].get("content")) if replied else None


def _taken_apart(prompt: str) -> _Asked:
    """Question and options: the last run of lines that begin with "A)", "B)" and so on.

    An option ends where the next one begins, the last one at a blank line.
    """
    marks = list(_OPTION.finditer(prompt))
    starts = [i for i, mark in enumerate(marks) if mark[1] == "A"]
    for start in reversed(starts):
        run = [marks[start]]
        for mark in marks[start + 1 :]:
            if mark[1] != chr(ord("A") + len(run)):
                break
            run.append(mark)
        if len(run) > 1:
            ends = [mark.start() for mark in run[1:]]
            blank = _BLANK.search(prompt, run[-1].end())
            last = blank.start() if blank else len(prompt)
            texts = (prompt[m.end() : end] for m, end in zip(run, [*ends, last], strict=True))
            question = prompt[: run[0].start()] + prompt[last:]
            return _Asked(question.strip(), tuple(text.strip() for text in texts))
    return _Asked(prompt.strip(), ())


def _draws(results: _Results, report: LogReport) -> Iterator[Draw]:
    prompts: dict[str, _Asked] = {}
    n_bare = n_lost = 0
    pairs = zip(results.draws, results.pages, strict=False)
    for (asked, reply), page, name in _with_names(pairs, results.names):
        item = name or asked.item
        first = prompts.setdefault(item, asked)
        if not (first.options and asked.options) and first != asked:
            raise _differ(item)
        n_bare += not asked.options
        target, lost = _gold(asked, page)
        n_lost += lost
        refused = reply is not None and reply.strip() in _HOST_SAYS
        yield Draw(
            item,
            0,
            None if refused else reply,
            outcome=Outcome.ERROR if refused else None,
            reason=one_line(reply) if refused else None,
            target=target,
            extras=_extras(asked, page),
        )
    if n_bare:
        report.warnings.append(
            f"no choices were found in {n_bare} prompts: letters, if any, are kept as they are."
        )
    if n_lost:
        report.warnings.append(
            f"{n_lost} pages name a letter that is none of the draw's choices: no gold there."
        )


def _with_names(
    pairs: Iterator[tuple[tuple[_Asked, str | None], _Page]] | Any, names: list[object]
) -> Iterator[tuple[tuple[_Asked, str | None], _Page, str | None]]:
    for pair, about in zip_longest(pairs, names):
        if pair is None:
            return
        yield (*pair, _name(about))


def _name(about: object) -> str | None:
    """The id that an example's metadata give it."""
    if not isinstance(about, Mapping):
        return None
    found = (about.get(key) for key in ("id", "example_id", "question_id", "item", "idx"))
    value = next((v for v in found if isinstance(v, (str, int)) and not isinstance(v, bool)), None)
    return None if value is None else str(value)


def _differ(item: str) -> InputError:
    msg = (
        f"two prompts of item {item!r} differ and no choices were found in one of them, so its "
        "letters cannot be compared; equal prompts, or lines 'A) …' in each, are wanted. Leave the "
        "item out."
    )
    return InputError(msg)


def _gold(asked: _Asked, page: _Page) -> tuple[tuple[str, ...] | None, bool]:
    """Golds of a draw, and whether one was named that is none of its options."""
    correct = page.correct
    if not correct:
        return None, False
    if not asked.options:
        return (correct,), False
    at = ord(correct) - ord("A") if len(correct) == 1 else -1
    if 0 <= at < len(asked.options):
        return (asked.options[at],), False
    return ((correct,), False) if correct in asked.options else (None, True)


def _extras(asked: _Asked, page: _Page) -> dict[str, str | None]:
    extras = {"tool_answer": page.extracted, "tool_score": page.score}
    if asked.options:
        text = json.dumps(asked.options, ensure_ascii=False)
        extras |= {"choices": text, "choice_order": text}
    return extras
