"""The same completions under every extractor: what changes when the rules change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import InputError
from trueness.extract.keying import keyed
from trueness.extract.scores import right_rows
from trueness.extract.settings import EXTRACTORS, Extractor, Kind, Locale, Units
from trueness.table.answers import OUTCOMES, AnswerTable, Outcome
from trueness.table.column import NULL, pick

TAIL = 60
"""So many characters of a text's end are shown."""
SHOWN = 10
"""So many pairs of keys are shown for an extractor."""
_ERROR = OUTCOMES.index(Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Change:
    """A pair of keys that differ, how often, and the end of the first such text.

    ``declared`` and ``other`` are None where that extractor found no answer.
    """

    tail: str
    declared: str | None
    other: str | None
    count: int


@dataclass(frozen=True, slots=True)
class ExtractorShare:
    """What one extractor makes of a table's completions.

    Parameters
    ----------
    extractor : str
        Its name without version.
    table : AnswerTable
        Keyed by it: spectra and verdicts are computed from this.
    n_draws, n_counted : int
        Rows, and rows that are no errors.
    outcomes, reasons : mapping of name to share
        Of all rows.
    accuracy : float or None
        Share of counted draws with a known gold that are right; None where no gold is known.
    n_with_gold, n_correct : int
        What ``accuracy`` is a share of.
    n_changed : int
        Draws whose key differs from that of ``declared``.
    changed : float
        Their share of all rows.
    changes : tuple of Change
        The ten commonest pairs.
    """

    extractor: Extractor
    table: AnswerTable
    n_draws: int
    n_counted: int
    outcomes: Mapping[str, float]
    reasons: Mapping[str, float]
    accuracy: float | None
    n_with_gold: int
    n_correct: int
    n_changed: int
    changed: float
    changes: tuple[Change, ...]


def sensitivity(
    table: AnswerTable,
    *,
    kind: Kind,
    extractors: Sequence[Extractor] | None = None,
    units: Units = "ignore",
    locale: Locale = "en",
    decimals: int | None = None,
    labels: Sequence[str] | None = None,
) -> tuple[ExtractorShare, ...]:
    """The same completions re-extracted with every extractor, beside ``declared``.

    Parameters
    ----------
    table : AnswerTable
        As it was read, not yet keyed.
    kind : str
        As in `keyed`; not a short kind.
    extractors : sequence of str or None
        None for all that apply: ``letter_line`` where options are asked, ``tool`` where the log
        stored the tool's answers.
    units, locale, decimals, labels
        As in `keyed`.

    Returns
    -------
    tuple of ExtractorShare
        In the order asked; golds are keyed by the rules of ``declared`` in all of them.

    Raises
    ------
    InputError
        When the table has no completions, or is keyed already.
    """
    if table.completion is None or table.extractor is not None:
        msg = (
            "a sensitivity report extracts again from completions, and this table holds keys only. "
            "Read the log itself, not a table of keys."
        )
        raise InputError(msg)
    asked = _applicable(table, kind) if extractors is None else tuple(extractors)
    found: dict[Extractor, AnswerTable] = {
        name: keyed(
            table,
            kind=kind,
            extractor=name,
            units=units,
            locale=locale,
            decimals=decimals,
            labels=labels,
        )
        for name in dict.fromkeys(("declared", *asked))
    }
    return tuple(_share(name, found[name], found["declared"]) for name in asked)


def _applicable(table: AnswerTable, kind: Kind) -> tuple[Extractor, ...]:
    left_out = {"last_number"} if kind in ("option", "text") else {"letter_line"}
    if "tool_answer" not in table.extras:
        left_out.add("tool")
    return tuple(name for name in EXTRACTORS if name not in left_out)


def _share(name: Extractor, table: AnswerTable, declared: AnswerTable) -> ExtractorShare:
    n = len(table)
    counted = table.outcome != _ERROR
    with_gold, correct = right_rows(table, counted)
    n_with_gold, n_correct = int(np.count_nonzero(with_gold)), int(np.count_nonzero(correct))
    mine = table.answer.codes
    differs = mine != declared.answer.codes_in(table.answer.words)
    differs |= (mine == NULL) != (declared.answer.codes == NULL)
    n_changed = int(np.count_nonzero(differs))
    return ExtractorShare(
        extractor=name,
        table=table,
        n_draws=n,
        n_counted=int(np.count_nonzero(counted)),
        outcomes=_shares(table.outcome, [str(outcome) for outcome in OUTCOMES]),
        reasons=_shares(table.reason.codes, table.reason.words),
        accuracy=n_correct / n_with_gold if n_with_gold else None,
        n_with_gold=n_with_gold,
        n_correct=n_correct,
        n_changed=n_changed,
        changed=n_changed / n if n else 0.0,
        changes=_changes(table, declared, np.flatnonzero(differs)),
    )


def _shares(codes: NDArray[np.integer], words: Sequence[str]) -> dict[str, float]:
    """How large a part of the rows each word has; words without a row are left out."""
    counts = np.bincount(codes[codes != NULL].astype(np.int64), minlength=len(words))
    n = len(codes)
    return {word: int(c) / n for word, c in zip(words, counts.tolist(), strict=True) if c}


def _changes(
    table: AnswerTable, declared: AnswerTable, rows: NDArray[np.intp]
) -> tuple[Change, ...]:
    pairs = list(
        zip(declared.answer.codes[rows].tolist(), table.answer.codes[rows].tolist(), strict=True)
    )
    common = Counter(pairs).most_common(SHOWN)
    first = {pair: int(rows[pairs.index(pair)]) for pair, _ in common}
    return tuple(
        Change(
            tail=_tail(table, first[pair]),
            declared=None if pair[0] == NULL else declared.answer.words[pair[0]],
            other=None if pair[1] == NULL else table.answer.words[pair[1]],
            count=count,
        )
        for pair, count in common
    )


def _tail(table: AnswerTable, row: int) -> str:
    """The end of a row's text."""
    if table.completion is None or table.completion.codes[row] == NULL:
        return ""
    code = int(table.completion.codes[row])
    return pick(table.completion.words, [code])[0].rstrip()[-TAIL:]
