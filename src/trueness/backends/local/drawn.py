"""Llamas with weights drawn at random, of any width: for what is computed, not for answers."""

from typing import TYPE_CHECKING

from trueness.backends.local.loading import Loaded
from trueness.backends.local.model import LocalModel
from trueness.backends.local.tokenizer import LocalTokenizer
from trueness.backends.protocol import require
from trueness.contract.errors import InputError

if TYPE_CHECKING:
    from trueness.contract.serial import Json

_HEAD = 64
_WHAT = "a Llama of random weights"


def drawn_llama(width: int, *, blocks: int, n_tokens: int = 512, seed: int = 0) -> LocalModel:
    """A Llama of so many blocks, its weights drawn, in float32 on the CPU.

    Heads of 64 (one narrower head below that), inner width 8/3, a vocabulary of so many words that
    mean nothing. Everything about it is fixed by its arguments.

    Parameters
    ----------
    width : int, even
    blocks, n_tokens : int, at least 1
    seed : int

    Raises
    ------
    InputError
        For a width that heads cannot share, or a number below 1.
    MissingExtraError
        Without torch or transformers.
    """
    heads = max(1, width // _HEAD)
    if width < 2 or (width // heads) % 2 or width % heads or min(blocks, n_tokens) < 1:  # noqa: PLR2004 - rotated in pairs
        msg = f"width {width}, {blocks} blocks, {n_tokens} tokens; wanted an even width of whole "
        raise InputError(msg + f"heads (a multiple of {_HEAD}, or less), and numbers from 1.")
    torch = require("torch", extra="local", what=_WHAT)
    library = require("transformers", extra="local", what=_WHAT)
    tokenizers = require("tokenizers", extra="local", what=_WHAT)
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({f"w{i}": i for i in range(n_tokens)}, unk_token="w0")  # noqa: S106 - a word
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    config = library.LlamaConfig(
        hidden_size=width,
        intermediate_size=8 * width // 3,
        num_hidden_layers=blocks,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        vocab_size=n_tokens,
        max_position_embeddings=512,
        tie_word_embeddings=False,
        attn_implementation="eager",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = library.LlamaForCausalLM(config).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)  # noqa: FBT003 - the library's own signature
    name = f"drawn:llama-{width}x{blocks}"
    facts: dict[str, Json] = {
        "backend": "transformers",
        "backend_version": f"{library.__version__}, torch {torch.__version__}, eager attention",
        "model": name,
        "dtype": "float32",
        "seed": seed,
    }
    tokenizer = LocalTokenizer.of(
        library.PreTrainedTokenizerFast(tokenizer_object=words), special=frozenset()
    )
    return LocalModel(name, Loaded(torch, library, model, tokenizer, "cpu", facts))
