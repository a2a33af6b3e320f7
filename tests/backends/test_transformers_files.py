"""How a model of transformers is opened, named and pinned, and how a relation is asked of it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trueness.backends import open_model, open_white_box
from trueness.collect import NONE, Quiz, ask, parse_conditions
from trueness.contract.errors import BackendError, InputError, MissingExtraError

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

Make = Callable[..., "LocalModel"]
QUIZ = Quiz(
    "capital",
    ("The capital of {e} is", "{e} has the capital"),
    ("France", "Japan", "Cuba", "日本", "Papua New Guinea"),
    ("Paris", "Tokyo", "Havana", "Tokyo", "Port Moresby"),
)


def test_opening_by_name_loads_no_torch_before_it_is_needed() -> None:
    code = (
        "import sys, trueness.backends, trueness.backends.local, trueness.backends.local.opening;"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_extra_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trueness\[local\]'"):
        open_model("hf:some/model")


def test_a_model_without_a_view_inside_names_what_is_missing() -> None:
    with pytest.raises(BackendError, match=r"offers no logit_gradients.*hf: or gguf:") as caught:
        open_white_box("openai:some-model", needs=["logit_gradients"])
    assert not caught.value.retryable


def test_a_capability_that_is_not_there_is_named(checkpoint_of: Callable[[str], Path]) -> None:
    name = f"hf:{checkpoint_of('llama')}"
    assert open_white_box(name, needs=["row_map", "attentions"]).name == name
    with pytest.raises(BackendError, match="not attentions"):
        open_white_box(name, {"attention": "sdpa"}, needs=["attentions"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"slots": "2"}, "no option 'slots'"),
        ({"batch": "0"}, "a whole number from 1"),
        ({"threads": "x"}, "a whole number from 1"),
        ({"dtype": "int8"}, "choose among float32"),
        ({"attention": "other"}, "eager, sdpa"),
    ],
)
def test_an_option_that_cannot_be_is_refused(
    checkpoint_of: Callable[[str], Path], options: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        open_model(f"hf:{checkpoint_of('llama')}", options)


def test_a_runtime_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"llama\.cpp or in transformers"):
        open_model("gguf:/nowhere.gguf", {"runtime": "other"})


def test_a_folder_is_known_by_the_hash_of_its_weights(open_tiny: Make) -> None:
    llama, other = open_tiny(), open_tiny("gpt2")
    assert llama.identity["file_hash"] != other.identity["file_hash"]
    assert "revision" not in llama.identity
    assert llama.identity == open_tiny().identity
    half = open_tiny(dtype="bfloat16")
    assert half.identity["dtype"] == half.identity["quantisation"] == "bfloat16"
    assert not {"hidden_states", "row_map"} & half.capabilities


def test_a_folder_that_holds_no_model_is_one_clear_error(
    checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    assert checkpoint_of("llama").is_dir()
    with pytest.raises(BackendError, match="cannot be loaded"):
        open_model(f"hf:{tmp_path}")


def test_a_model_at_a_hub_is_known_by_its_revision(
    checkpoint_of: Callable[[str], Path], tmp_path: Path
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    stored = tmp_path / "models--some--model"
    shutil.copytree(checkpoint_of("llama"), stored / "snapshots" / commit)
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text(commit)
    code = (
        "from trueness.backends import open_model;"
        "identity = open_model('hf:some/model').identity;"
        "print(identity['model'], identity['revision'], 'file_hash' in identity)"
    )
    offline = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=offline
    )
    assert ran.stdout.split() == ["hf:some/model", commit, "False"]


def test_a_relation_is_asked_with_prefixes_noise_and_allowed_answers(
    tiny: "LocalModel", tmp_path: Path
) -> None:
    wanted = "none,prose:32,noise:0.4,prose:32+allowed:string"
    done = ask(
        QUIZ,
        tiny,
        parse_conditions(wanted),
        out=tmp_path / "t.jsonl",
        epochs=1,
        batch_size=4,
    )
    assert done.n_errors == 0
    assert done.prefix_tokens["prose:32"] == 32
    for check in done.checks.values():
        assert check.deterministic
        assert check.n_near_tie == 0
        assert (check.largest_difference or 0.0) < 1e-3
    assert not done.warnings
    assert done.tokens_reused > 0


def test_a_prefix_whose_reuse_moves_probabilities_is_not_reused(
    open_tiny: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_tiny()
    engine = model._engine
    begin = type(engine).begin

    def shifted(self: Any, rows: Any, *, prefix: int = 0) -> Any:
        flow, known = begin(self, rows, prefix=prefix)
        if prefix:
            flow.logits = flow.logits * 1.01  # the same answers, other probabilities
        return flow, known

    monkeypatch.setattr(type(engine), "begin", shifted)
    done = ask(QUIZ, model, [NONE, *parse_conditions("prose:32")[1:]], out=tmp_path / "t.jsonl")
    assert any("switched off" in warning for warning in done.warnings)
    assert done.n_errors == 0


def test_a_conversion_that_is_killed_leaves_nothing_that_is_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("torch", "transformers", "gguf", "accelerate"):
        pytest.importorskip(module, reason="the extra 'local' is not installed")
    code = """
import os, signal
from pathlib import Path
from trueness.backends.local import converting

def write(library, path, folder):
    (folder / "config.json").write_text("{}")
    os.kill(os.getpid(), signal.SIGKILL)

converting._write = write
converting.convert(Path("x.gguf"), "abc")
"""
    environment = {**os.environ, "TRUENESS_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", code], check=False, env=environment)
    assert ran.returncode == -signal.SIGKILL
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path))
    from trueness.backends.local import converting  # noqa: PLC0415 - as others

    (left,) = (tmp_path / "converted").iterdir()
    assert left.name.startswith("making-")
    os.utime(left, (0, 0))  # so old that nobody can be writing it
    written: list[Path] = []

    def write(library: object, path: Path, folder: Path) -> None:
        assert library is not None
        written.append(path)
        (folder / "complete").write_text("")

    monkeypatch.setattr(converting, "_write", write)
    for _ in range(2):
        place = converting.convert(Path("x.gguf"), "abc")
    assert written == [Path("x.gguf")]  # the second time it is there
    assert list((tmp_path / "converted").iterdir()) == [place]
