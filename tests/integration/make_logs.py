"""Logs that other tools really write, with every trap that a reader must know.

Run in an environment with the tool: python make_logs.py inspect_ai|lm_eval FOLDER
"""

import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

QUESTIONS = {
    "a": ("What is 1000 + 234?", "1,234"),
    "b/2": ("What is 3 - 8?", "-5"),
    "3": ("2 + 2?", "4"),
}
ANSWERS = {
    "a": ("#### 1,234", "#### 1234", "The answer is 12...", "I don't know."),
    "b/2": ("#### -5", "#### −5", "It is -5.", "**5**"),
    "3": ("4", "4.0", "four", ""),
}
LONG = "Let us think about it step by step. " * 400


# --- inspect_ai -------------------------------------------------------------------------------


def inspect_ai(folder: Path) -> None:
    """One folder a situation."""
    plain = _answering(lambda name, epoch: ANSWERS[name][epoch - 1])
    _evaluate(folder / "plain", plain, log_format="eval")
    _evaluate(folder / "plain_json", plain, log_format="json")
    _evaluate(folder / "cold", plain, temperature=0.0)
    _evaluate(folder / "traps", _trapping(), epochs=2, limits=True)
    _evaluate(folder / "scorers", plain, scorers=2)
    _evaluate(folder / "other_model", plain, model="mockllm/other")
    _cached(folder / "cached")
    _retried(folder / "retried")
    _chunked(folder / "chunked", folder / "plain")
    _killed(folder / "killed")


def _answering(text: Any) -> Any:
    """A model that answers by question and epoch."""
    model = import_module("inspect_ai.model")
    epochs = import_module("inspect_ai.model._cache").epoch

    def outputs(messages: Any, _tools: Any, _choice: Any, _config: Any) -> Any:
        name = next(n for n, (q, _) in QUESTIONS.items() if messages[-1].text.endswith(q))
        found = text(name, epochs.get())
        if isinstance(found, str):
            found = model.ModelOutput.from_content("m", found)
        found.usage = model.ModelUsage(input_tokens=9, output_tokens=9, total_tokens=18)
        return found

    return outputs


def _trapping() -> Any:
    model = import_module("inspect_ai.model")

    def said(name: str, epoch: int) -> Any:
        make = model.ModelOutput.from_content
        if name == "a":
            if epoch == 1:
                msg = "the server is down"
                raise RuntimeError(msg)
            return make("m", "The answer is 12", stop_reason="max_tokens")
        if name == "b/2":
            thought = model.ContentReasoning(reasoning="maybe 13")
            text = model.ContentText(text="The answer is -5.")
            both = [thought, text] if epoch == 1 else [thought]
            return make("m", both)
        if epoch == 1:
            return make("m", "", stop_reason="content_filter")
        return make("m", LONG + "The answer is 4.")

    return _answering(said)


def _task(*, epochs: int, scorers: int, limits: bool, solver: Any = None) -> Any:
    tool = import_module("inspect_ai")
    dataset = import_module("inspect_ai.dataset")
    scoring = import_module("inspect_ai.scorer")
    generate = import_module("inspect_ai.solver").generate
    samples = [dataset.Sample(id=n, input=q, target=t) for n, (q, t) in QUESTIONS.items()]
    more = {"fail_on_error": False} if limits else {}
    return tool.Task(
        name="sums",
        dataset=samples,
        epochs=epochs,
        scorer=[scoring.match(numeric=True), scoring.includes()][:scorers],
        solver=solver or generate(),
        **more,
    )


def _evaluate(
    folder: Path,
    outputs: Any,
    *,
    log_format: str = "eval",
    epochs: int = 4,
    temperature: float = 0.7,
    scorers: int = 1,
    limits: bool = False,
    model: str = "mockllm/model",
    solver: Any = None,
) -> Any:
    tool = import_module("inspect_ai")
    get_model = import_module("inspect_ai.model").get_model
    return tool.eval(
        _task(epochs=epochs, scorers=scorers, limits=limits, solver=solver),
        model=get_model(model, custom_outputs=outputs, memoize=False),
        log_dir=str(folder),
        log_format=log_format,
        temperature=temperature,
        display="none",
    )


def _cached(folder: Path) -> None:
    policy = import_module("inspect_ai.model").CachePolicy(per_epoch=False)
    generate = import_module("inspect_ai.solver").generate
    plain = _answering(lambda name, epoch: ANSWERS[name][epoch - 1])
    _evaluate(folder, plain, solver=generate(cache=policy))


def _retried(folder: Path) -> None:
    """A set of evaluations that fails once and is tried again: a log each."""
    tool = import_module("inspect_ai")
    get_model = import_module("inspect_ai.model").get_model
    tries = {"n": 0}

    def said(name: str, epoch: int) -> str:
        if name == "3" and epoch == 4 and tries["n"] == 0:
            tries["n"] = 1
            msg = "once"
            raise RuntimeError(msg)
        return ANSWERS[name][epoch - 1]

    tool.eval_set(
        [_task(epochs=4, scorers=1, limits=False)],
        model=get_model("mockllm/model", custom_outputs=_answering(said), memoize=False),
        log_dir=str(folder),
        max_samples=1,
        retry_attempts=2,
        retry_wait=1,
        retry_cleanup=False,
        retry_immediate=False,
        display="none",
    )


def _chunked(folder: Path, plain: Path) -> None:
    convert = import_module("inspect_ai.log._recorders.chunked").convert_eval_logs_to_chunked
    folder.mkdir(parents=True, exist_ok=True)
    convert(str(next(plain.glob("*.eval"))), output_dir=str(folder), overwrite=True)


def _killed(folder: Path) -> None:
    """The process ends in the middle of the run, without a word."""
    if os.fork() == 0:

        def said(name: str, epoch: int) -> str:
            if name == "3" and epoch == 4:
                time.sleep(3)
                os._exit(9)
            return ANSWERS[name][epoch - 1]

        tool = import_module("inspect_ai")
        get_model = import_module("inspect_ai.model").get_model
        model = get_model("mockllm/model", custom_outputs=_answering(said), memoize=False)
        task = _task(epochs=4, scorers=1, limits=False)
        tool.eval(
            task, model=model, log_dir=str(folder), log_buffer=1, max_samples=1, display="none"
        )
        os._exit(0)
    os.wait()


# --- lm-evaluation-harness --------------------------------------------------------------------

TASK = """
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: {kind}
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_target: {target}
repeats: {repeats}
num_fewshot: 0
generation_kwargs: {settings}
metric_list:
  - metric: exact_match
filter_list:
  - name: "strict-match"
    filter:
      - function: "regex"
        regex_pattern: "#### (\\\\-?[0-9\\\\.\\\\,]+)"
      - function: "take_first"
  - name: "vote"
    filter:
      - function: "majority_vote"
      - function: "take_first"
metadata:
  version: 2.0
"""
CHOICE = """
task: choice
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: ["-5", "4", "1,234"]
doc_to_target: "{{{{answer}}}}"
metadata:
  version: 1.0
"""
HOT = {"do_sample": True, "temperature": 0.7, "until": ["Question:"], "max_gen_toks": 64}
SILENT = 65
"""A task with this limit is not answered once."""
TASKS: dict[str, dict[str, Any]] = {
    "hot": HOT,
    "cold": {"until": ["Question:"]},
    "warm": {"temperature": 0.7},
}


def lm_eval(folder: Path) -> None:
    """Folders of runs, through the tool's own command line."""
    tasks = folder / "tasks"
    tasks.mkdir(parents=True)
    data = tasks / "data.jsonl"
    rows = [{"question": q, "answer": t, "many": [t, "x"]} for q, t in QUESTIONS.values()]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name, settings in TASKS.items():
        _declare(tasks, name, data, settings)
    _declare(tasks, "many", data, {**HOT, "max_gen_toks": SILENT}, target="many")
    (tasks / "choice.yaml").write_text(CHOICE.format(data=data), encoding="utf-8")
    _register()
    cache = ["--use_cache", str(folder / "cache")]
    _run(folder / "all", *TASKS, "many", "choice")
    for name in ("cached", "cached_again"):
        _run(folder / name, "hot", "warm", more=cache)
    _run(folder / "dummy", "hot", model="dummy")


def _declare(
    tasks: Path, name: str, data: Path, settings: dict[str, Any], *, target: str = "answer"
) -> None:
    told = target if target == "many" else '"{{answer}}"'
    text = TASK.format(
        name=name,
        data=data,
        kind="generate_until",
        target=told,
        repeats=4,
        settings=json.dumps(settings),
    )
    (tasks / f"{name}.yaml").write_text(text, encoding="utf-8")


def _register() -> None:
    """A model that answers by question and repeat, and once not at all."""
    import_module("lm_eval.models.dummy")
    base: Any = import_module("lm_eval.api.model").LM

    class Mock(base):  # type: ignore[misc] # the tool is not there where this is checked
        def __init__(self, **_: Any) -> None:
            super().__init__()
            self.asked: dict[str, int] = {}

        def generate_until(self, requests: Any, **_: Any) -> list[Any]:
            return [self._one(*r.args) for r in requests]

        def _one(self, prompt: str, settings: dict[str, Any]) -> str | None:
            name = next(n for n, (q, _) in QUESTIONS.items() if q in prompt)
            self.asked[name] = self.asked.get(name, 0) + 1
            repeat = (self.asked[name] - 1) % 4
            fails = (name, repeat) == ("3", 2) and settings.get("max_gen_toks") == SILENT
            return None if fails else ANSWERS[name][repeat]

        def loglikelihood(self, requests: Any, **_: Any) -> list[tuple[float, bool]]:
            return [(-float(len(r.args[1])), False) for r in requests]

        def loglikelihood_rolling(self, requests: Any, **_: Any) -> list[float]:
            return [-1.0 for _ in requests]

    import_module("lm_eval.api.registry").register_model("mocked")(Mock)


def _run(folder: Path, *names: str, model: str = "mocked", more: list[str] | None = None) -> None:
    command = ["lm_eval", "run", "--model", model, "--tasks", ",".join(names), "--log_samples"]
    command += ["--include_path", str(folder.parent / "tasks"), *(more or [])]
    sys.argv = [*command, "--output_path", str(folder)]
    import_module("lm_eval.__main__").cli_evaluate()


if __name__ == "__main__":
    makers = {"inspect_ai": inspect_ai, "lm_eval": lm_eval}
    makers[sys.argv[1]](Path(sys.argv[2]))
