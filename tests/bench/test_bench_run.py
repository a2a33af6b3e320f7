"""The runner of the benchmarks compares, retries, fails and records as it says."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    spec = importlib.util.spec_from_file_location("bench_run", ROOT / "bench" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_run", module)
    spec.loader.exec_module(module)
    return module


def test_a_value_above_its_limit_fails(bench: ModuleType, tmp_path: Path) -> None:
    record = tmp_path / "bench.json"
    assert bench.run([lambda: [("a", 3.1, 3.0)]], record=record, write=False) == 1
    assert bench.run([lambda: [("a", 3.0, 3.0)]], record=record, write=False) == 0
    assert not record.exists()


def test_a_value_that_is_no_number_fails(bench: ModuleType) -> None:
    assert bench.Row("a", float("nan"), 3.0, "ratio").fault({}) is not None


def test_a_ratio_twice_as_bad_as_recorded_fails(bench: ModuleType, tmp_path: Path) -> None:
    record = tmp_path / "results" / "bench.json"
    assert bench.run([lambda: [("a", 1.0, 9.0)]], record=record, write=True) == 0
    assert bench.run([lambda: [("a", 2.0, 9.0)]], record=record, write=False) == 0
    assert bench.run([lambda: [("a", 2.1, 9.0)]], record=record, write=False) == 1


def test_memory_is_held_to_its_limit_only(bench: ModuleType) -> None:
    assert bench.unit_of("csv 1e6: certify, MB resident") == "MB"
    assert bench.Row("x, MB resident", 300.0, 700.0, "MB").fault({"x, MB resident": 100.0}) is None


def test_a_failing_figure_is_measured_once_more_and_said(
    bench: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = iter([5.0, 1.0])
    group = [lambda: [("a", next(values), 3.0)]]
    assert bench.run(group, record=tmp_path / "b.json", write=True) == 0
    assert "measured twice: a, 5 then 1" in capsys.readouterr().out
    assert json.loads((tmp_path / "b.json").read_text())["notes"] == ["measured twice: a, 5 then 1"]


def test_the_record_says_what_was_measured_where(bench: ModuleType, tmp_path: Path) -> None:
    record = tmp_path / "b.json"
    bench.run([lambda: [("a", 1.0, 3.0)]], record=record, write=True)
    found = json.loads(record.read_text())
    assert set(found) == {"commit", "dirty", "versions", "cores", "utc", "notes", "rows"}
    assert found["rows"] == [{"name": "a", "value": 1.0, "limit": 3.0, "unit": "ratio"}]


def test_every_recorded_figure_is_within_its_limit(bench: ModuleType) -> None:
    path = ROOT / "results" / "bench.json"
    if not path.exists():
        return
    for row in json.loads(path.read_text())["rows"]:
        assert bench.Row(**row).fault({}) is None, row["name"]
