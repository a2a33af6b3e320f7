"""The tokenizer of a transformers model, under the rules of the house."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jinja2 import TemplateError

from trueness.backends.weights import text_sha256
from trueness.contract.errors import InputError
from trueness.contract.serial import canonical

_CONTEXT = 8  # tokens before a continuation that are decoded with it


@dataclass(frozen=True, slots=True)
class LocalTokenizer:
    """Text to ids without special tokens, and back.

    Parameters
    ----------
    library : object
        A tokenizer of transformers.
    bos : int or None
        The id that every prompt starts with.
    special : frozenset of int
        Ids that are no text.
    n_vocabulary : int
        Ids lie below it.
    """

    library: Any = field(repr=False)
    bos: int | None
    special: frozenset[int]
    n_vocabulary: int

    @classmethod
    def of(
        cls, library: Any, *, bos: int | None = None, special: frozenset[int] | None = None
    ) -> "LocalTokenizer":
        """The rules of a tokenizer; those of the file it was converted from where they are given.

        Without them a model has a BOS exactly where its tokenizer puts one before a plain text.
        """
        if special is None:
            first = library("a", verbose=False)["input_ids"][:1]
            bos = library.bos_token_id if first == [library.bos_token_id] else None
            marked = {i for i, t in library.added_tokens_decoder.items() if t.special}
            special = frozenset(marked.union(library.all_special_ids))
        return cls(library, bos, special, max(library.get_vocab().values()) + 1)

    @property
    def hash(self) -> str:
        """SHA-256 of the whole tokenizer, or of its vocabulary where no more can be read."""
        fast = getattr(self.library, "backend_tokenizer", None)
        if fast is not None:
            return text_sha256(fast.to_str())
        return text_sha256(canonical(dict(sorted(self.library.get_vocab().items()))))

    @property
    def has_offsets(self) -> bool:
        """Whether it says which characters a token covers."""
        return bool(getattr(self.library, "is_fast", False))

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of a text; special tokens spelled in it are ordinary text.

        Raises
        ------
        InputError
            For lone surrogates, which no vocabulary holds.
        """
        return tuple(self._called(text)["input_ids"])

    def encode_template(self, text: str) -> tuple[int, ...]:
        """Ids of text from the model's own template, where special tokens are meant."""
        return tuple(self.library(text, add_special_tokens=False, verbose=False)["input_ids"])

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids, special ones spelled out."""
        return str(
            self.library.decode(
                list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
        )

    def continued(self, before: Sequence[int], ids: Sequence[int]) -> str:
        """Text of ids as it follows other ids: some vocabularies drop a space at the very start."""
        head = tuple(before[-_CONTEXT:])
        lead, whole = self.decode(head), self.decode((*head, *ids))
        return whole[len(lead) :] if whole.startswith(lead) else self.decode(ids)

    def offsets(self, text: str) -> tuple[tuple[int, int], ...]:
        """Half-open character interval of every token of a text."""
        found = self._called(text, return_offsets_mapping=True)["offset_mapping"]
        return tuple((int(a), int(b)) for a, b in found)

    def system_ids(self, text: str) -> tuple[int, ...] | None:
        """Ids of a system turn in the chat template, less BOS; None where it has no such role."""
        if not getattr(self.library, "chat_template", None):
            return None
        turn = [{"role": "system", "content": text}]
        try:
            rendered = self.library.apply_chat_template(
                turn, tokenize=False, add_generation_prompt=False
            )
        except TemplateError:
            return None  # the template refuses such a turn
        if text.strip() not in rendered or "system" not in rendered:
            return None  # folded into another role
        ids = self.encode_template(rendered)
        return ids[1:] if self.bos is not None and ids[:1] == (self.bos,) else ids

    def _called(self, text: str, **more: bool) -> Any:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            msg = f"text holds a lone surrogate at {error.start}; the model reads Unicode only."
            raise InputError(msg) from error
        return self.library(
            text, add_special_tokens=False, split_special_tokens=True, verbose=False, **more
        )
