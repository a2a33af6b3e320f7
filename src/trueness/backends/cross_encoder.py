"""A cross-encoder of transformers that judges entailment."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trueness.backends.entailment import Entailment, label_order
from trueness.backends.protocol import require
from trueness.backends.weights import sha256_of
from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json

_STRIDE = 4
"""Windows of a long premise share a quarter of their tokens."""
_SPARE = 8
"""Tokens of a premise that a window has room for, at the least."""
_UNBOUNDED = 1 << 20
"""Libraries write a huge number where a tokenizer has no limit of its own."""


class CrossEncoder:
    """A sequence classifier over (premise, hypothesis), by its name at a hub or a folder.

    Parameters
    ----------
    name : str
    revision : str, optional
        Of the hub; a folder's weights are hashed instead.
    labels : mapping of str to int, optional
        Places of the labels, where the model's own names do not tell.

    Raises
    ------
    MissingExtraError
        Without transformers or torch.
    AmbiguousLabels
        When nothing says which output is entailment.
    BackendError
        When the model cannot be loaded.
    """

    def __init__(
        self,
        name: str,
        *,
        revision: str | None = None,
        labels: Mapping[str, int] | None = None,
    ) -> None:
        library = require("transformers", extra="local", what="an entailment model")
        self._torch = require("torch", extra="local", what="an entailment model")
        try:
            self._tokenizer = library.AutoTokenizer.from_pretrained(name, revision=revision)
            model = library.AutoModelForSequenceClassification.from_pretrained(
                name, revision=revision
            )
        except (OSError, RuntimeError, ValueError) as error:
            msg = f"the entailment model {name!r} cannot be loaded: {error}"
            raise BackendError(msg, hint="Check its name, or give a folder.") from error
        self._order = label_order(model.config.id2label, labels)
        self._model = model.eval()
        self._name = name
        self._revision = revision or _folder_revision(Path(name))
        limits = (self._tokenizer.model_max_length, _positions(model.config))
        self._limit = min(n for n in limits if n is not None)

    @property
    def identity(self) -> Mapping[str, Json]:
        """What two judgements must share."""
        order: dict[str, Json] = {**self._order.to_dict()}
        return {
            "id": f"cross-encoder:{Path(self._name).name}",
            "revision": self._revision,
            "labels": order,
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "max_tokens": self._limit if self._limit < _UNBOUNDED else None,
        }

    @property
    def versions(self) -> Mapping[str, str]:
        """Libraries that computed it."""
        return {name: version(name) for name in ("transformers", "torch")}

    def probabilities(self, premise: str, hypothesis: str) -> Entailment:
        """How likely a premise entails a hypothesis; a long premise is read in windows.

        Raises
        ------
        InputError
            When the hypothesis leaves no room for a premise.
        """
        windows = self._windows(_readable(premise), _readable(hypothesis))
        with self._torch.inference_mode():
            rows = self._model(**windows).logits.double().softmax(dim=-1).numpy()
        best = rows.max(axis=0)
        neutral, contradiction = self._order.neutral, self._order.contradiction
        return Entailment(
            entailment=float(best[self._order.entailment]),
            neutral=None if neutral is None else float(best[neutral]),
            contradiction=None if contradiction is None else float(best[contradiction]),
            n_windows=len(rows),
        )

    def _windows(self, premise: str, hypothesis: str) -> Any:
        together = self._tokenizer("", hypothesis, truncation=False, verbose=False)
        room = self._limit - len(together["input_ids"])
        if room < _SPARE:
            msg = (
                f"the hypothesis leaves room for {max(room, 0)} tokens of a premise; {self._name} "
                f"reads {self._limit}. Split the claim into sentences."
            )
            raise InputError(msg)
        found = self._tokenizer(
            [premise],
            [hypothesis],
            truncation="only_first",
            max_length=min(self._limit, _UNBOUNDED),
            stride=min(room, _UNBOUNDED) // _STRIDE,
            return_overflowing_tokens=True,
            padding=True,
            return_tensors="pt",
        )
        found.pop("overflow_to_sample_mapping", None)
        return found


def _positions(config: Any) -> int | None:
    found = getattr(config, "max_position_embeddings", None)
    if not isinstance(found, int) or found <= 0:
        return None
    offset = getattr(config, "pad_token_id", None) or 0
    shifted = str(getattr(config, "model_type", "")) in {"roberta", "xlm-roberta", "camembert"}
    return found - offset - 1 if shifted else found


def _folder_revision(folder: Path) -> str | None:
    weights = folder / "model.safetensors"
    return sha256_of(weights) if weights.is_file() else None


def _readable(text: str) -> str:
    """Read lone surrogates as U+FFFD."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
