"""How the answers of an inspect_ai log were obtained, from its header."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from trueness.contract.serial import Json
from trueness.table.logs.runs import known

_DECODING = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "seed",
    "stop_seqs",
    "num_choices",
    "best_of",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "reasoning_effort",
    "reasoning_tokens",
    "effort",
    "system_message",
    "response_schema",
)
"""Settings of a generation that change what is drawn."""


def as_mapping(value: object) -> Mapping[str, Any]:
    """A JSON object, or an empty one where there is none."""
    return value if isinstance(value, Mapping) else {}


def protocol_of(header: Mapping[str, Any]) -> dict[str, Json]:
    """Facts of the protocol; the plan's settings win over those of the model.

    What a log does not tell is left out.
    """
    spec, plan = as_mapping(header.get("eval")), as_mapping(header.get("plan"))
    config = generation(header)
    facts: dict[str, Json] = {
        "model": spec.get("model"),
        "revision": as_mapping(spec.get("model_args")).get("revision"),
        "task": spec.get("task"),
        "task_version": spec.get("task_version"),
        "template": _digest([_steps(plan), spec.get("solver_args"), spec.get("task_args")]),
    }
    facts |= {name: config[name] for name in _DECODING if name in config}
    if not independent(header):
        facts["independent_draws"] = False
    return known(facts)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _steps(plan: Mapping[str, Any]) -> list[list[Any]]:
    """Solvers and their settings; whether answers were cached changes no prompt."""
    steps = [as_mapping(step) for step in _listed(plan.get("steps"))]
    kept = [{k: v for k, v in as_mapping(s.get("params")).items() if k != "cache"} for s in steps]
    return [[step.get("solver"), params] for step, params in zip(steps, kept, strict=True)]


def generation(header: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of every generation: the model's, overridden by the plan's."""
    spec, plan = as_mapping(header.get("eval")), as_mapping(header.get("plan"))
    both = (as_mapping(spec.get("model_generate_config")), as_mapping(plan.get("config")))
    return {k: v for settings in both for k, v in settings.items() if v is not None}


def independent(header: Mapping[str, Any]) -> bool:
    """Whether draws of one item can differ: not at temperature 0, nor from one cached answer.

    The tool's cache keeps epochs apart unless it is told otherwise, for all generations or in a
    step of the plan.
    """
    config = generation(header)
    steps = as_mapping(header.get("plan")).get("steps")
    params = [as_mapping(as_mapping(s).get("params")) for s in _listed(steps)]
    caches = [as_mapping(settings.get("cache")) for settings in (config, *params)]
    shared = any(cache.get("per_epoch") is False for cache in caches)
    return config.get("temperature") != 0 and not shared


def warnings_of(header: Mapping[str, Any], planned: int) -> list[str]:
    """Sentences about settings that change what the draws mean."""
    config = generation(header)
    said = []
    if planned > 1 and not independent(header):
        said.append("repeats drawn without sampling: one effective draw an item.")
    choices = config.get("num_choices")
    if isinstance(choices, int) and choices > 1:
        said.append(f"each sample holds {choices} choices; the first one is its draw.")
    return said


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
