"""Evidence and claims cut into what is embedded: passages, windows of passages, sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trueness.backends.embedder import Embedder
from trueness.contract.errors import InputError
from trueness.contract.serial import Json
from trueness.extract.sentences import SPLITTER, split_sentences
from trueness.table.column import Column
from trueness.table.evidence import EvidenceTable, Marked


@dataclass(frozen=True, slots=True)
class Cuts:
    """How texts are cut; all of it belongs into a fingerprint.

    Parameters
    ----------
    split : {"sentences", "none"}
        What becomes of evidence that is one text and no list.
    window : int, optional
        Passages longer than the embedder reads are cut at sentences into windows of at most so
        many tokens; without it they are refused.
    overlap : int
        Sentences that a window shares with the one before.

    Raises
    ------
    InputError
        When a field is out of its range, or an overlap has no window or fills it.
    """

    split: Literal["sentences", "none"] = "sentences"
    window: int | None = None
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.split not in ("sentences", "none"):
            msg = f"split is {self.split!r}; choose sentences or none."
            raise InputError(msg)
        for name, least in (("window", 1), ("overlap", 0)):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if value is not None and not (whole and value >= least):
                msg = f"{name} is {value!r}; give a whole number from {least}."
                raise InputError(msg)
        if self.overlap and self.window is None:
            msg = f"overlap is {self.overlap} and there is no window; give a window, or neither."
            raise InputError(msg)
        if self.window is not None and self.overlap >= self.window:
            msg = (
                f"overlap is {self.overlap} sentences and a window holds at most {self.window} "
                "tokens; give a smaller overlap."
            )
            raise InputError(msg)

    def said(self) -> dict[str, Json]:
        """All of it as plain JSON, with the name of the splitter."""
        return {
            "splitter": SPLITTER,
            "evidence": self.split,
            "window": self.window,
            "overlap": self.overlap,
        }


def cut(table: EvidenceTable, cuts: Cuts, embedder: Embedder | None) -> EvidenceTable:
    """The table with its evidence in passages and its claims in sentences.

    Evidence that came as a list is kept as it is but for windows. Every text of one text of
    evidence is in a passage.
    """
    passages = [
        _split(table.passages(row)) if whole and cuts.split == "sentences" else table.passages(row)
        for row, whole in enumerate(table.whole.tolist())
    ]
    long = _too_long({t for texts in passages for t in texts}, embedder) if cuts.window else {}
    windows = {
        text: windows_of(text, embedder, cuts.window, cuts.overlap)
        for text in sorted(long)
        if embedder is not None and cuts.window is not None
    }
    if windows and table.weights is not None:
        msg = (
            f"{len(windows)} weighted passages are longer than the embedder reads; windows have no "
            "weights. Cut and weigh them beforehand."
        )
        raise InputError(msg)
    cut_up = [tuple(w for t in texts for w in windows.get(t, (t,))) for texts in passages]
    notes = table.notes
    if windows:
        n = sum(map(len, windows.values()))
        notes += (f"{len(windows)} passages that are longer than the embedder reads became {n}.",)
    return replace(
        table,
        evidence=Column.of(texts or None for texts in cut_up),
        whole=table.whole & False,
        sentences=Column.of(
            None if claim is None else sentences_of(claim) for claim in table.claim.values()
        ),
        notes=notes,
    )


def sentences_of(claim: str) -> tuple[Marked, ...] | None:
    """Sentences of a claim with their marks; None for a blank one.

    >>> sentences_of("Hello! She won.")
    (('Hello!', 'greeting'), ('She won.', None))
    """
    found = tuple((s.text, None if s.mark is None else str(s.mark)) for s in split_sentences(claim))
    return found or None


def windows_of(text: str, embedder: Embedder, size: int, overlap: int) -> tuple[str, ...]:
    """A text cut at sentences into parts of at most ``size`` tokens.

    A sentence that is longer alone stays whole: the embedder refuses it.
    """
    sentences = split_sentences(text)
    parts: list[str] = []
    start = 0
    while start < len(sentences):
        end = start + 1
        while end < len(sentences) and _fits(
            text[sentences[start].start : sentences[end].end], embedder, size
        ):
            end += 1
        parts.append(text[sentences[start].start : sentences[end - 1].end])
        if end == len(sentences):
            break
        start = max(end - overlap, start + 1)
    return tuple(parts) or (text,)


def _split(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(s.text for text in texts for s in split_sentences(text))


def _fits(text: str, embedder: Embedder, size: int) -> bool:
    count = embedder.count_tokens([text], "evidence")[0]
    return count is None or count <= size


def _too_long(texts: set[str], embedder: Embedder | None) -> Mapping[str, int]:
    """Texts that have more tokens than the embedder reads."""
    if embedder is None or embedder.max_tokens is None:
        return {}
    return dict(over_limit(sorted(texts), embedder))


def over_limit(texts: Sequence[str], embedder: Embedder) -> Iterator[tuple[str, int]]:
    """Passages with more tokens than the embedder reads, and their tokens."""
    limit = embedder.max_tokens
    if limit is None or not texts:
        return
    for text, count in zip(texts, embedder.count_tokens(texts, "evidence"), strict=True):
        if count is not None and count > limit:
            yield text, count
