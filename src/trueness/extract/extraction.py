"""One text to one result: a key, or no answer with its reason. Any text has exactly one."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from trueness.extract.result import Extraction
from trueness.extract.settings import Extractor, Kind, Locale, Settings, Units
from trueness.extract.short_answers import Kind as ShortKind
from trueness.extract.short_answers import short_answer, short_name
from trueness.table.answers import Outcome

if TYPE_CHECKING:
    from trueness.extract.answering import Answerer

_HOST_STOPS = frozenset({"content_filter", "error"})


def extract(
    text: str | None,
    *,
    kind: Kind = "short",
    labels: Sequence[str] | None = None,
    choices: Sequence[str] | None = None,
    stop_reason: str | None = None,
    locale: Locale = "en",
    units: Units = "ignore",
    decimals: int | None = None,
    extractor: Extractor = "declared",
    fold_case: bool = True,
) -> Extraction:
    r"""The result of one completion.

    Parameters
    ----------
    text : str or None
        None is missing data (``error``), blank text is an answer of the model (``no_answer``).
    kind : {"number", "option", "text", "short", "short_cut", "set", "tuple", "auto"}
        What sort of key the answer has.
    labels : sequence of str or None
        Labels of the options; by default as many letters as there are choices, else A to D.
    choices : sequence of str or None
        Texts of the options.
    stop_reason : str or None
        Why the model stopped; ``length`` and its synonyms mean that it was cut off,
        ``content_filter`` and ``error`` that the host has no answer.
    locale : {"en", "eu"}
        Whether ``3,14`` is undecided or a decimal.
    units : {"ignore", "keep"}
        Whether a unit joins the key.
    decimals : int or None
        Round rational keys to so many decimals, half away from zero.
    extractor : {"declared", "strict", "last_number", "letter_line", "tool"}
        Which rules.
    fold_case : bool
        For the short kinds: whether upper and lower case are one key.

    Raises
    ------
    InputError
        For a kind or a setting that is not known.

    Examples
    --------
    >>> extract("The answer is $26.00.", kind="number").key
    '26'
    >>> extract(r"So \boxed{\frac12}.", kind="number").span
    (10, 17)
    >>> extract("Answer: A or B", kind="option").reason
    'ambiguous'
    >>> extract("Paris. It is", kind="short_cut").key
    'paris'
    >>> extract("I don't know").reason, extract("").reason, extract(None).reason
    ('declined', 'empty', 'missing_completion')
    """
    if kind in ("short", "short_cut"):
        return _short(text, stop_reason, kind, fold_case=fold_case)
    settings = Settings(
        kind=kind,
        extractor=extractor,
        labels=None if labels is None else tuple(labels),
        choices=None if choices is None else tuple(choices),
        locale=locale,
        units=units,
        decimals=decimals,
    )
    return answerer(settings).extraction(text, stop_reason)


@lru_cache(maxsize=256)
def answerer(settings: Settings) -> "Answerer":
    """The rules for some settings, made once."""
    from trueness.extract.answering import Answerer  # noqa: PLC0415 - slow to load, and the short kinds need none of it

    return Answerer(settings)


def extractor_name(
    kind: Kind = "short", *, fold_case: bool = True, extractor: Extractor = "declared"
) -> str:
    """Name, version and hash of the rules: ``name@version+hash``.

    >>> extractor_name().partition("@")[0], extractor_name("number").partition("@")[0]
    ('short', 'declared')
    """
    settings = Settings(kind=kind, extractor=extractor)
    if kind in ("short", "short_cut"):
        return short_name(kind, fold_case=fold_case)
    return settings.name


def _short(
    text: str | None, stop_reason: str | None, kind: ShortKind, *, fold_case: bool
) -> Extraction:
    if text is None:
        return Extraction(Outcome.ERROR, reason="missing_completion")
    if stop_reason in _HOST_STOPS:
        return Extraction(Outcome.ERROR, reason=stop_reason)
    return short_answer(text, kind=kind, fold_case=fold_case)
