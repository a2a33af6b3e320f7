"""Tiny transformers models with random weights, made here; skipped where the extra is missing."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trueness.backends import open_white_box

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

N_SURPLUS = 8
"""Rows of the tiny models' unembedding that have no token."""
_WIDTH, _BLOCKS = 16, 3
_COMMON: dict[str, Any] = {
    "hidden_size": _WIDTH,
    "intermediate_size": 32,
    "num_hidden_layers": _BLOCKS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 96,
    "tie_word_embeddings": False,
}
_SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", _COMMON),
    "qwen3": ("Qwen3", {**_COMMON, "head_dim": 4}),
    "gemma2": ("Gemma2", {**_COMMON, "head_dim": 4, "sliding_window": 4}),
    "gpt2": ("GPT2", {"n_embd": _WIDTH, "n_layer": _BLOCKS, "n_head": 4, "n_positions": 96}),
    "bloom": ("Bloom", {"hidden_size": _WIDTH, "n_layer": _BLOCKS, "n_head": 4}),
    "mamba": ("Mamba", {"hidden_size": _WIDTH, "num_hidden_layers": _BLOCKS, "state_size": 4}),
    "neo": (
        "GPTNeo",
        {
            "hidden_size": _WIDTH,
            "num_layers": 2,
            "num_heads": 4,
            "window_size": 4,
            "attention_types": [[["global", "local"], 1]],
            "max_position_embeddings": 96,
        },
    ),
    "neox": ("GPTNeoX", {**_COMMON, "rotary_pct": 0.5}),
}

Make = Callable[..., "LocalModel"]


@pytest.fixture(scope="session")
def checkpoint_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder with a tiny model of an architecture, weights drawn from a fixed seed."""
    torch = pytest.importorskip("torch", reason="the extra 'local' is not installed")
    library = pytest.importorskip("transformers", reason="the extra 'local' is not installed")
    made: dict[str, Path] = {}

    def make(shape: str) -> Path:
        if shape not in made:
            folder = tmp_path_factory.mktemp(shape)
            tokenizer = _tokenizer(library)
            tokenizer.save_pretrained(folder)
            prefix, given = _SHAPES[shape]
            config = getattr(library, f"{prefix}Config")(
                vocab_size=len(tokenizer) + N_SURPLUS, bos_token_id=0, eos_token_id=1,
                pad_token_id=1, **given,
            )  # fmt: skip
            with torch.random.fork_rng():
                torch.manual_seed(0)
                model = library.AutoModelForCausalLM.from_config(config)
                for parameter in model.parameters():  # norms that are not idempotent, for one
                    vector = parameter.ndim == 1
                    torch.nn.init.normal_(parameter, mean=float(vector), std=0.4)
            model.save_pretrained(folder)
            made[shape] = folder
        return made[shape]

    return make


@pytest.fixture(scope="session")
def open_tiny(checkpoint_of: Callable[[str], Path]) -> Make:
    """Open a tiny model by its architecture, with options of ``-M``."""

    def opened(shape: str = "llama", **options: str) -> "LocalModel":
        return open_white_box(f"hf:{checkpoint_of(shape)}", options)

    return opened


@pytest.fixture(scope="session")
def tiny(open_tiny: Make) -> "LocalModel":
    """A Llama of three blocks of width 16."""
    return open_tiny()


@pytest.fixture(scope="session")
def white() -> "LocalModel":
    """The embedded model through transformers; converted the first time."""
    pytest.importorskip("torch", reason="the extra 'local' is not installed")
    return open_white_box("embedded", needs=["logits", "hidden_states"])


def _tokenizer(library: Any) -> Any:
    """UTF-8 bytes, one token each, one merge with a space, and two special tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {text: i for i, text in enumerate(["<s>", "</s>", *alphabet])}
    vocabulary["ĠF"] = len(vocabulary)
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, [("Ġ", "F")]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    marks = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "</s>"}
    return library.PreTrainedTokenizerFast(tokenizer_object=made, **marks)
