"""Whatever a log holds, reading it ends in a table or in one clear error."""

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trueness.contract.errors import InputError
from trueness.table import read_answers

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["", "4", "text", "reasoning", "attachment://a", "stop", "[", "['a']", "0"])
)


def objects(names: list[str], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from(names), inner, max_size=len(names))


INSPECT = [
    "id",
    "epoch",
    "output",
    "choices",
    "message",
    "content",
    "type",
    "text",
    "role",
    "stop_reason",
    "logprobs",
    "logprob",
    "completion",
    "scores",
    "answer",
    "value",
    "target",
    "attachments",
    "a",
    "error",
    "limit",
    "fallback",
    "model",
    "input",
    "invalidation",
    "metadata",
]
HEADER = [
    "version",
    "status",
    "eval",
    "plan",
    "config",
    "epochs",
    "steps",
    "params",
    "cache",
    "per_epoch",
    "temperature",
    "num_choices",
    "task",
    "task_id",
    "model",
    "created",
    "packages",
    "inspect_ai",
    "model_generate_config",
    "model_args",
    "revision",
    "task_args",
]
LM_EVAL = [
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "exact_match",
    "doc_hash",
    "prompt_hash",
    "gen_args_0",
    "arg_0",
    "arg_1",
    "do_sample",
    "temperature",
    "until",
]
RESULTS = [
    "configs",
    "config",
    "t",
    "versions",
    "n-shot",
    "n-samples",
    "effective",
    "repeats",
    "use_cache",
    "model_name",
    "model",
    "model_args",
    "lm_eval_version",
    "num_fewshot",
    "doc_to_text",
]


def nested(names: list[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | objects(names, inner), max_leaves=12
    )


def read_or_refuse(path: Path) -> None:
    try:
        table = read_answers(path)
    except InputError as error:
        assert str(error)  # noqa: PT017 - either way is right
    else:
        assert len(table) > 0
        assert table.log is not None
        assert all(p.fingerprint for p in table.protocols.values())


patient = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(
    samples=st.lists(
        st.fixed_dictionaries({"id": SCALARS}, optional={n: nested(INSPECT) for n in INSPECT[1:]})
        | nested(INSPECT),
        min_size=1,
        max_size=3,
    ),
    header=st.fixed_dictionaries({}, optional={n: nested(HEADER) for n in HEADER}),
)
@patient
def test_any_inspect_log_is_read_or_refused(
    samples: list[Any], header: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"eval": {}, **header, "samples": samples}))
    read_or_refuse(path)


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"doc_id": SCALARS, "resps": st.lists(st.lists(SCALARS, max_size=3), max_size=2)},
            optional={n: nested(LM_EVAL) for n in LM_EVAL if n != "resps"},
        ),
        min_size=1,
        max_size=3,
    ),
    results=objects(RESULTS, nested(RESULTS)),
)
@patient
def test_any_samples_file_is_read_or_refused(
    rows: list[Any], results: dict[str, Any], tmp_path: Path
) -> None:
    time = "2026-01-01T00-00-00.0"
    path = tmp_path / f"samples_t_{time}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / f"results_{time}.json").write_text(json.dumps(results))
    read_or_refuse(path)


@given(
    data=st.binary(max_size=80),
    start=st.sampled_from([b"PK\x03\x04", b'{"eval": {}, "samples": ', b""]),
)
@patient
def test_any_bytes_are_read_or_refused(data: bytes, start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(start + data)
    try:
        read_answers(path)
    except InputError as error:
        assert str(error)  # noqa: PT017 - either way is right


@given(at=st.integers(0, 26_857), value=st.integers(0, 255), end=st.integers(0, 27_000))
@patient
def test_a_damaged_archive_is_read_or_refused(
    at: int, value: int, end: int, tmp_path: Path
) -> None:
    whole = Path(__file__).parents[1] / "data" / "logs" / "inspect" / "tiny_gsm_zstd.eval"
    data = bytearray(whole.read_bytes())
    data[at] = value
    path = tmp_path / "a.eval"
    path.write_bytes(data[:end])
    try:
        read_answers(path)
    except InputError as error:
        assert str(error)  # noqa: PT017 - either way is right
