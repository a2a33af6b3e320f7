import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness.backends import Entailer
from trueness.backends.entailers import open_entailer
from trueness.backends.entailment import Entailment, judge_pairs, label_order
from trueness.backends.vectors import VectorCache
from trueness.contract.errors import AmbiguousLabels, BackendError, InputError
from trueness.contract.serial import Json

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/energy_sentences.json").read_text("utf-8"))
LABELS = [v for v in GOLDEN if v["name"].startswith("labels_")]


class Scripted:
    """Judges by length, and counts what it is asked."""

    identity: Mapping[str, Json] = {}
    versions: Mapping[str, str] = {}

    def __init__(self, revision: str = "1", neutral: float | None = 0.25) -> None:
        self.identity = {"id": "scripted", "revision": revision}
        self.asked: list[tuple[str, str]] = []
        self._neutral = neutral

    def probabilities(self, premise: str, hypothesis: str) -> Entailment:
        self.asked.append((premise, hypothesis))
        return Entailment(1 / (1 + len(premise)), self._neutral, None, n_windows=2)


@pytest.mark.parametrize("vector", LABELS, ids=lambda v: v["name"])
def test_labels_are_resolved_as_the_vectors_say(vector: dict[str, Any]) -> None:
    wanted = vector["expected"]
    if "raises" in wanted:
        with pytest.raises(AmbiguousLabels, match="LABEL_0") as caught:
            label_order(vector["input"]["id2label"])
        assert 'labels={"entailment": 0' in str(caught.value)
    else:
        assert label_order(vector["input"]["id2label"]).to_dict() == wanted


def test_there_are_three_vectors() -> None:
    assert len(LABELS) == 3


def test_order_and_case_of_the_models_own_names_decide() -> None:
    found = label_order({0: "CONTRADICTION", 1: "Neutral", 2: "entailment"})
    assert found.to_dict() == {"entailment": 2, "neutral": 1, "contradiction": 0}


@pytest.mark.parametrize(
    "names",
    [
        {0: "entailment", 1: "entailment", 2: "neutral"},
        {0: "entailment", 1: "neutral"},
        {0: "yes", 1: "no"},
        {0: "entailment", 1: "neutral", 2: "contradiction", 3: "other"},
        {0: "entailment"},
        {},
    ],
)
def test_duplicate_missing_or_unknown_names_are_refused(names: dict[int, str]) -> None:
    with pytest.raises(AmbiguousLabels, match="exactly one each"):
        label_order(names)


def test_an_explicit_mapping_wins_and_must_be_possible() -> None:
    names = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    labels = {"entailment": 2, "neutral": 1, "contradiction": 0}
    assert label_order(names, labels).to_dict() == labels
    assert label_order(names, {"entailment": 1}).neutral is None
    wrong: list[dict[str, int]] = [
        {"neutral": 0},
        {"entailment": 3},
        {"entailment": 0, "neutral": 0},
        {"entailment": 0, "other": 1},
        {},
    ]
    for given in wrong:
        with pytest.raises(AmbiguousLabels, match="a place of its own"):
            label_order(names, given)


def test_equal_pairs_are_judged_once_and_come_back_from_the_cache(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    entailer = Scripted()
    assert isinstance(entailer, Entailer)
    pairs = [("long", "a"), ("b", "a"), ("long", "a")]
    first = judge_pairs(entailer, pairs, cache=cache)
    again = judge_pairs(entailer, pairs, cache=cache)
    assert entailer.asked == pairs[:2]
    assert first == again
    assert first[0] == first[2] == Entailment(0.2, 0.25, None, 2)
    judge_pairs(Scripted("2"), pairs, cache=cache)
    other = Scripted("2")
    judge_pairs(other, [("a", "b")], cache=cache)
    assert other.asked == [("a", "b")]  # premise and hypothesis are not exchanged


def test_a_probability_that_is_none_is_an_error() -> None:
    for wrong in (1.5, -0.1, float("nan")):
        with pytest.raises(BackendError, match=r"within \[0, 1\]"):
            judge_pairs(Scripted(neutral=wrong), [("a", "b")])


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny cross-encoder with random weights, made here."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("entailer")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "paris", "is", "old", "new", "."]
    (folder / "vocab.txt").write_text("\n".join(words), "utf-8")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=48)
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=48,
        id2label={0: "neutral", 1: "entailment", 2: "contradiction"},
        label2id={"neutral": 0, "entailment": 1, "contradiction": 2},
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertForSequenceClassification(config)
    model.save_pretrained(folder)
    return folder


def _logits(folder: Path, premise: str, hypothesis: str) -> Any:
    import torch  # noqa: PLC0415 - only where it exists
    import transformers  # noqa: PLC0415 - the same

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        found = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits
        return found.double().softmax(-1).numpy()[0]


def test_a_real_cross_encoder_reads_its_labels_from_its_own_configuration(
    checkpoint: Path,
) -> None:
    from trueness.backends.cross_encoder import CrossEncoder  # noqa: PLC0415 - needs the extra

    entailer = CrossEncoder(str(checkpoint))
    assert isinstance(entailer, Entailer)
    found = entailer.probabilities("paris is old .", "paris is new .")
    plain = _logits(checkpoint, "paris is old .", "paris is new .")
    got = [found.neutral, found.entailment, found.contradiction]
    assert np.abs(np.array(got, float) - plain).max() < 1e-6
    assert found.n_windows == 1
    assert entailer.identity["labels"] == {"entailment": 1, "neutral": 0, "contradiction": 2}
    assert len(str(entailer.identity["revision"])) == 64
    assert entailer.identity["max_tokens"] == 48


def test_a_long_premise_is_read_in_windows_and_a_long_hypothesis_refused(checkpoint: Path) -> None:
    from trueness.backends.cross_encoder import CrossEncoder  # noqa: PLC0415 - needs the extra

    entailer = CrossEncoder(str(checkpoint))
    found = entailer.probabilities("paris is old . " * 40, "paris is new .")
    assert found.n_windows > 1
    with pytest.raises(InputError, match="leaves room"):
        entailer.probabilities("paris", "is " * 60)
    entailer.probabilities("", "\ud800")


def test_generic_labels_are_refused_until_they_are_given(checkpoint: Path, tmp_path: Path) -> None:
    from trueness.backends.cross_encoder import CrossEncoder  # noqa: PLC0415 - needs the extra

    for file in checkpoint.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    config |= {"id2label": {str(i): f"LABEL_{i}" for i in range(3)}}
    config |= {"label2id": {f"LABEL_{i}": i for i in range(3)}}
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(AmbiguousLabels, match="LABEL_1"):
        CrossEncoder(str(tmp_path))
    given = CrossEncoder(str(tmp_path), labels={"entailment": 2})
    assert given.identity["labels"] == {"entailment": 2, "neutral": None, "contradiction": None}
    assert given.probabilities("paris", "paris").neutral is None


def test_a_model_that_is_not_there_is_one_clear_error(checkpoint: Path, tmp_path: Path) -> None:
    from trueness.backends.cross_encoder import CrossEncoder  # noqa: PLC0415 - needs the extra

    assert checkpoint.is_dir()
    with pytest.raises(BackendError, match="cannot be loaded"):
        CrossEncoder(str(tmp_path))


def test_an_entailer_is_opened_by_name_with_its_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, object]] = []

    class Stub:
        def __init__(self, name: str, *, revision: str | None, labels: object) -> None:
            made.append((name, (revision, labels)))

    monkeypatch.setattr("trueness.backends.cross_encoder.CrossEncoder", Stub)
    found = open_entailer("cross-encoder:org/name", revision="r", labels={"entailment": 0})
    assert isinstance(found, Stub)
    assert made == [("org/name", ("r", {"entailment": 0}))]
    ready = Scripted()
    assert open_entailer(ready) is ready
    for name in ("cross-encoder:", "nli", "hf:x"):
        with pytest.raises(InputError, match="known is cross-encoder:NAME_OR_FOLDER"):
            open_entailer(name)
