"""From a name to a loaded model: a hub's, a folder's, or one converted from a GGUF file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueness.backends.gguf import read_gguf
from trueness.backends.local.converting import convert, quiet
from trueness.backends.local.tokenizer import LocalTokenizer
from trueness.backends.protocol import require
from trueness.backends.weights import sha256_of, text_sha256
from trueness.contract.errors import BackendError, InputError
from trueness.contract.serial import Json, canonical

ATTENTIONS = ("eager", "sdpa")
"""How attention is computed; eager alone shows its weights and has forward derivatives."""
DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model with its tokenizer and the facts that its protocol records."""

    torch: Any = field(repr=False)
    library: Any = field(repr=False)
    model: Any = field(repr=False)
    tokenizer: LocalTokenizer
    device: str
    facts: Mapping[str, Json]


def load_gguf(
    path: Path, name: str, *, sha256: str | None, device: str | None, dtype: str, attention: str
) -> Loaded:
    """A GGUF file, dequantised; its own rules for BOS and special tokens.

    Raises
    ------
    InputError, MissingExtraError, BackendError
        When the file is none, the extra is missing, or transformers does not know it.
    """
    facts = read_gguf(path)
    require("transformers", extra="local", what=f"model {name!r} in transformers")
    digest = sha256 or sha256_of(path)
    folder = convert(path, digest)
    loaded = _load(str(folder), None, device, dtype, attention)
    tokenizer = LocalTokenizer.of(loaded.tokenizer.library, bos=facts.bos, special=facts.special)
    said: dict[str, Json] = {
        **loaded.facts,
        "model": name if name == "embedded" else f"gguf:{path.name}",
        "file_hash": digest,
        "quantisation": facts.quantisation,
        "tokenizer_hash": facts.tokenizer_hash,
    }
    return Loaded(loaded.torch, loaded.library, loaded.model, tokenizer, loaded.device, said)


def load_named(
    source: str, *, revision: str | None, device: str | None, dtype: str, attention: str
) -> Loaded:
    """A folder, or a name at a hub with its revision.

    Raises
    ------
    MissingExtraError, BackendError
        When the extra is missing or the model cannot be had.
    """
    loaded = _load(source, revision, device, dtype, attention)
    folder = Path(source)
    said: dict[str, Json] = {
        **loaded.facts,
        "model": f"hf:{folder.name if folder.is_dir() else source}",
        **_pinned(loaded.library, source, revision),
        "quantisation": "none" if dtype == "float32" else dtype,
        "tokenizer_hash": loaded.tokenizer.hash,
    }
    return Loaded(loaded.torch, loaded.library, loaded.model, loaded.tokenizer, loaded.device, said)


def _load(
    source: str, revision: str | None, device: str | None, dtype: str, attention: str
) -> Loaded:
    if dtype not in DTYPES or attention not in ATTENTIONS:
        msg = (
            f"dtype={dtype}, attention={attention}; choose among {', '.join(DTYPES)} and among "
            f"{', '.join(ATTENTIONS)}."
        )
        raise InputError(msg)
    library = require("transformers", extra="local", what=f"model {source!r}")
    torch = require("torch", extra="local", what=f"model {source!r}")
    chosen = device or _best_device(torch)
    try:
        with quiet(library):
            tokenizer = library.AutoTokenizer.from_pretrained(source, revision=revision)
            model = library.AutoModelForCausalLM.from_pretrained(
                source,
                revision=revision,
                dtype=getattr(torch, dtype),
                attn_implementation=attention,
            )
            model = model.to(chosen).eval()
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        msg = f"the model {source!r} cannot be loaded: {error}"
        raise BackendError(msg, hint="Check its name, or give a folder.") from error
    for parameter in model.parameters():
        parameter.requires_grad_(False)  # noqa: FBT003 - the library's own signature
    template = getattr(tokenizer, "chat_template", None)
    facts: dict[str, Json] = {
        "backend": "transformers",
        "backend_version": (
            f"{library.__version__}, torch {torch.__version__}, {attention} attention, "
            f"{dtype}, {torch.device(chosen).type}"
        ),
        "chat_template": "raw" if template is None else text_sha256(canonical(template)),
        "dtype": dtype,
    }
    return Loaded(torch, library, model, LocalTokenizer.of(tokenizer), chosen, facts)


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _pinned(library: Any, source: str, revision: str | None) -> dict[str, Json]:
    """What fixes the weights: the hash of a folder's; at a hub the commit behind a revision."""
    if Path(source).is_dir():
        return {"file_hash": _weights_hash(Path(source))}
    stored = str(library.utils.cached_file(source, "config.json", revision=revision))
    commit = re.search(r"snapshots[/\\]([0-9a-f]{40})[/\\]", stored)
    return {"revision": commit[1] if commit else revision}


def _weights_hash(folder: Path) -> str:
    """SHA-256 of the weights of a folder; of the list of their hashes where there are several."""
    files = sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")])
    hashes = [sha256_of(file) for file in files]
    return hashes[0] if len(hashes) == 1 else text_sha256(canonical([*hashes]))
