"""How the answers of an lm-evaluation-harness run were obtained: its results file and requests."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trueness.contract.serial import Json
from trueness.table.logs.runs import known
from trueness.table.sniff import decoded_json

_NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d:.\-]+)\.jsonl")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_TEMPLATE = (
    "doc_to_text",
    "description",
    "target_delimiter",
    "fewshot_delimiter",
    "fewshot_config",
    "gen_prefix",
)
_RENDERING = ("chat_template_sha", "system_instruction_sha", "fewshot_as_multiturn")
_LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_length")
_DECODING = ("temperature", "do_sample", "top_p", "top_k", "min_p", "repetition_penalty", "seed")


def named(path: Path) -> tuple[str, str]:
    """Task and time that the tool wrote into a file's name; empty where it has another name."""
    match = _NAME.fullmatch(path.name)
    return (match[1], match[2]) if match else ("", "")


def results_beside(path: Path) -> Mapping[str, Any]:
    """The results of the run that wrote a samples file; empty where none are beside it.

    Those with the same time in their name, else the only ones that know the task.
    """
    task, time = named(path)
    same = path.with_name(f"results_{time}.json")
    found = [same] if time and same.is_file() else sorted(path.parent.glob("results_*.json"))
    known = [r for r in map(_loaded, found) if r and (not task or task in _part(r, "configs"))]
    return known[0] if len(known) == 1 else {}


def task_of(path: Path, results: Mapping[str, Any]) -> str:
    """The task of a samples file; empty where nothing tells it."""
    task, _ = named(path)
    configs = list(_part(results, "configs"))
    return task or (str(configs[0]) if len(configs) == 1 else "")


def protocol_of(
    results: Mapping[str, Any], task: str, settings: Sequence[Mapping[str, Any]]
) -> dict[str, Json]:
    """Facts of the protocol; what neither the results nor all requests agree on is left out.

    Parameters
    ----------
    results : mapping
        As `results_beside` gives them.
    task : str
    settings : sequence of mappings
        The distinct settings of the requests.
    """
    config, mine = _part(results, "config"), _part(_part(results, "configs"), task)
    facts: dict[str, Json] = {
        "model": model_of(results),
        "revision": _revision(config),
        "task": task or None,
        "task_version": _part(results, "versions").get(task),
        "num_fewshot": _part(results, "n-shot").get(task, mine.get("num_fewshot")),
        "template": _template(results, mine),
    }
    agreed = _agreed(settings)
    facts |= {name: agreed.get(name) for name in _DECODING}
    facts["max_tokens"] = next((agreed[n] for n in _LENGTHS if n in agreed), None)
    facts["stop"] = agreed.get("until")
    if any(not sampled(one, cached=cached(results)) for one in settings):
        facts["independent_draws"] = False
    return known(facts)


def model_of(results: Mapping[str, Any]) -> str | None:
    """The model; the tool makes a name up where its arguments name none."""
    config = _part(results, "config")
    named_by = ("model_name", "model") if config.get("model_args") else ("model", "model_name")
    found = (config.get(n) if n == "model" else results.get(n) for n in named_by)
    return next((name for name in found if isinstance(name, str) and name), None)


def sampled(settings: Mapping[str, Any], *, cached: bool | None) -> bool:
    """Whether repeats of a request can differ.

    Without ``do_sample`` and without a temperature the tool decodes greedily, and serves repeats
    from its cache of requests where that is on.
    """
    temperature, sample = settings.get("temperature"), settings.get("do_sample")
    if sample is False or temperature in (0, "0", "0.0"):
        return False
    if sample is None:
        return temperature is not None and cached is not True
    return True


def warnings_of(
    results: Mapping[str, Any], settings: Sequence[Mapping[str, Any]], n_repeats: int
) -> list[str]:
    """Sentences about settings that change what repeats mean."""
    if n_repeats < 2 or not settings:  # noqa: PLR2004 - one draw repeats nothing
        return []
    known = cached(results)
    if any(not sampled(one, cached=known) for one in settings):
        return ["repeats drawn without sampling: one effective draw an item."]
    said = []
    if known is None and any(one.get("do_sample") is None for one in settings):
        said.append(
            "a temperature was set without do_sample: repeats may have been served from the cache "
            "of requests."
        )
    if any(one.get("temperature") is None for one in settings):
        said.append("sampling was asked for without a temperature: which one was used is unknown.")
    return said


def repeats_planned(results: Mapping[str, Any], task: str) -> int | None:
    """Repeats that the task asks for."""
    repeats = _part(_part(results, "configs"), task).get("repeats")
    return repeats if isinstance(repeats, int) and repeats > 0 else None


def documents_planned(results: Mapping[str, Any], task: str) -> int | None:
    """Documents that the run was to ask."""
    effective = _part(_part(results, "n-samples"), task).get("effective")
    return effective if isinstance(effective, int) else None


def tool_version(results: Mapping[str, Any]) -> str | None:
    """The version that wrote the results."""
    version = results.get("lm_eval_version")
    return version if isinstance(version, str) else None


def cached(results: Mapping[str, Any]) -> bool | None:
    """Whether answers were cached; None where the results do not say."""
    config = _part(results, "config")
    return bool(config["use_cache"]) if "use_cache" in config else None


def _loaded(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(decoded_json(path.read_bytes())[0])
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _part(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = value.get(name)
    return part if isinstance(part, Mapping) else {}


def _revision(config: Mapping[str, Any]) -> Json:
    arguments = config.get("model_args")
    if isinstance(arguments, str):
        pairs = (one.partition("=") for one in arguments.split(","))
        arguments = {name.strip(): value for name, _, value in pairs}
    given = arguments.get("revision") if isinstance(arguments, Mapping) else None
    return config.get("model_sha") or given or config.get("model_revision")


def _template(results: Mapping[str, Any], mine: Mapping[str, Any]) -> str | None:
    if not mine:
        return None
    parts = [mine.get(name) for name in _TEMPLATE] + [results.get(name) for name in _RENDERING]
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
    return f"sha256:{hashlib.sha256(_ADDRESS.sub('', text).encode()).hexdigest()}"


def _agreed(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not settings:
        return {}
    first, *others = settings
    return {k: v for k, v in first.items() if all(o.get(k) == v for o in others)}
