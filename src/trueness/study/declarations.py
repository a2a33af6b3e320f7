"""Studies declared as data: what is asked, of what, and which numbers decide.

A declaration is a TOML file. Its hash goes into the result, so that no outcome can be chosen after
looking.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from trueness.contract.errors import InputError
from trueness.study.expressions import blanks_of, paths_of

STATUSES = ("primary", "exploratory")
_KEYS: Mapping[str, frozenset[str]] = {
    "": frozenset(
        {
            "id",
            "question",
            "revisits",
            "status",
            "inputs",
            "protocol",
            "condition",
            "draws",
            "simulation",
            "levels",
            "sensor",
            "contrast",
            "published",
            "reading",
            "also",
            "budget",
        }
    ),
    "inputs": frozenset(
        {
            "items",
            "requires",
            "wants",
            "slices",
            "most",
            "model",
            "relations",
            "templates",
            "second_model",
        }
    ),
    "protocol": frozenset(
        {
            "decoding",
            "classes",
            "orders",
            "margin",
            "level",
            "max_tokens",
            "observable",
            "batch",
            "folds",
            "repeats",
            "resamples",
            "ridge",
        }
    ),
    "condition": frozenset({"name", "class", "laws", "prefix", "system", "noise", "allowed"}),
    "draws": frozenset({"k", "seeds", "temperature", "splits"}),
    "levels": frozenset({"name", "values"}),
    "sensor": frozenset({"name", "params"}),
    "simulation": frozenset({"repeats", "replicates", "resplits", "judged_at", "slack"}),
    "contrast": frozenset({"name", "a", "b", "statistic", "unit", "primary"}),
    "published": frozenset({"figure", "value", "source", "at", "model", "why"}),
    "reading": frozenset({"supported", "refuted", "says", "says_otherwise"}),
    "also": frozenset({"name", "when", "says"}),
    "budget": frozenset({"seconds", "requests"}),
}
_NEEDED = ("id", "question", "revisits", "status", "contrast", "reading", "budget")
_LISTS = ("condition", "levels", "sensor", "contrast", "published", "also")


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two things that are compared, and the statistic that does it."""

    name: str
    a: str
    b: str
    statistic: str
    unit: str
    primary: bool


@dataclass(frozen=True, slots=True)
class Lesser:
    """A finding with a name, declared for where the study is not supported as a whole."""

    name: str
    when: str
    says: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """A study as it was declared.

    Parameters
    ----------
    id, question, revisits, status : str
    requires : tuple of str
        Capabilities of a model; empty where none is asked.
    wants : tuple of str
        Capabilities that are used where they can be had, and gone without where not.
    repeats : int
        Simulated runs of each row; where nothing is simulated, groups of each slice of data.
    slices : tuple of str
        Shipped slices of claims that it runs on.
    seed : int
    contrasts : tuple of Contrast
    supported, refuted : str
        Expressions over fields of the result; neither holds: unresolved.
    also : tuple of Lesser
        Of these the first that holds is said where ``supported`` does not.
    seconds : float
        Estimate on two cores.
    requests : int
    sha256 : str
        Of the file.
    raw : mapping
        Everything in it, checked for unknown keys.
    """

    id: str
    question: str
    revisits: str
    status: str
    requires: tuple[str, ...]
    wants: tuple[str, ...]
    slices: tuple[str, ...]
    repeats: int
    seed: int
    contrasts: tuple[Contrast, ...]
    supported: str
    refuted: str
    also: tuple[Lesser, ...]
    seconds: float
    requests: int
    sha256: str
    raw: Mapping[str, Any]

    def says(self, outcome: str) -> str | None:
        """The sentence for ``supported`` or ``refuted``, with its blanks; None where none is."""
        key = {"supported": "says", "refuted": "says_otherwise"}.get(outcome, "")
        found = self.table("reading").get(key)
        return None if found is None else str(found)

    def table(self, name: str) -> Mapping[str, Any]:
        """One of its tables; empty where it is left out."""
        found: Mapping[str, Any] = self.raw.get(name, {})
        return found


def declared_studies() -> tuple[str, ...]:
    """The ids of the declarations that come along, in alphabetical order."""
    folder = resources.files("trueness").joinpath("data", "studies")
    found = (entry.name for entry in folder.iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in found if n.endswith(".toml")))


def declared_study(name: str) -> Declaration:
    """A declaration that comes along.

    Raises
    ------
    InputError
        If there is none of that id, or it is no valid declaration.
    """
    known = declared_studies()
    if name not in known:
        msg = f"no study is called {name!r}; known are {', '.join(known)}. Name one of them."
        raise InputError(msg)
    source = resources.files("trueness").joinpath("data", "studies", f"{name}.toml")
    found = parse_declaration(source.read_bytes())
    if found.id != name:
        msg = f"the declaration {name}.toml calls itself {found.id!r}; a file is named by its id."
        raise InputError(msg)
    return found


def parse_declaration(text: bytes) -> Declaration:
    """A declaration from the bytes of its file.

    Raises
    ------
    InputError
        For a key that is unknown or missing, a value of another kind, a primary study without a
        primary contrast, a contrast of one thing, or an expression that cannot be read.
    """
    try:
        raw = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"a declaration of a study is no TOML ({error}). Correct the file."
        raise InputError(msg) from error
    _check_keys(raw)
    found = Declaration(
        id=_get(raw, "id", str),
        question=_get(raw, "question", str),
        revisits=_get(raw, "revisits", str),
        status=_get(raw, "status", str),
        requires=tuple(map(str, raw.get("inputs", {}).get("requires", ()))),
        wants=tuple(map(str, raw.get("inputs", {}).get("wants", ()))),
        slices=tuple(map(str, raw.get("inputs", {}).get("slices", ()))),
        repeats=_repeats(raw),
        seed=int((raw.get("draws", {}).get("seeds") or [0])[0]),
        contrasts=tuple(_contrast(entry) for entry in raw["contrast"]),
        supported=_get(raw["reading"], "supported", str),
        refuted=_get(raw["reading"], "refuted", str),
        also=tuple(_lesser(entry) for entry in raw.get("also", ())),
        seconds=float(_get(raw["budget"], "seconds", (int, float))),
        requests=_get(raw["budget"], "requests", int),
        sha256=hashlib.sha256(text).hexdigest(),
        raw=raw,
    )
    _check_meaning(found)
    return found


def _repeats(raw: Mapping[str, Any]) -> int:
    """What a limit counts: repeats of a simulation, or groups of data."""
    simulated, data = raw.get("simulation", {}), raw.get("inputs", {})
    if ("repeats" in simulated) == ("most" in data):
        msg = (
            "a declaration needs either repeats in [simulation] or most in [inputs]: how often "
            "rows are simulated, or how many groups of data are used. Give one of them."
        )
        raise InputError(msg)
    found: int = _get(simulated, "repeats", int) if simulated else _get(data, "most", int)
    return found


def _lesser(entry: Mapping[str, Any]) -> Lesser:
    return Lesser(**{name: _get(entry, name, str) for name in ("name", "when", "says")})


def _contrast(entry: Mapping[str, Any]) -> Contrast:
    words = {name: _get(entry, name, str) for name in ("name", "a", "b", "statistic", "unit")}
    return Contrast(**words, primary=_get(entry, "primary", bool))


def _check_keys(raw: Mapping[str, Any]) -> None:
    _known("", raw)
    missing = [name for name in _NEEDED if name not in raw]
    if missing:
        msg = f"a declaration lacks {', '.join(missing)}; wanted {', '.join(_NEEDED)}. Add them."
        raise InputError(msg)
    for name, value in raw.items():
        if name not in _KEYS:
            continue
        entries = value if name in _LISTS else [value]
        if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
            kind = f"[[{name}]]" if name in _LISTS else f"[{name}]"
            msg = f"{name} is {value!r}; wanted the table {kind}. Correct the declaration."
            raise InputError(msg)
        for entry in entries:
            _known(name, entry)


def _known(name: str, entry: Mapping[str, Any]) -> None:
    unknown = sorted(set(entry) - _KEYS[name])
    if unknown:
        where = f"[{name}]" if name else "a declaration"
        msg = (
            f"{where} has the key {unknown[0]!r}; known are {', '.join(sorted(_KEYS[name]))}. "
            "Correct the name, or leave it out."
        )
        raise InputError(msg)


def _check_meaning(found: Declaration) -> None:
    if found.status not in STATUSES:
        msg = f"status is {found.status!r}; wanted {' or '.join(STATUSES)}. Declare which."
        raise InputError(msg)
    if found.status == "primary" and not any(c.primary for c in found.contrasts):
        msg = "status is primary and no contrast is; wanted one or more. Mark it primary = true."
        raise InputError(msg)
    for contrast in found.contrasts:
        if contrast.a == contrast.b:
            msg = f"the contrast {contrast.name!r} compares {contrast.a!r} with itself; name two."
            raise InputError(msg)
    if found.repeats < 1:
        msg = f"repeats is {found.repeats}; wanted at least 1."
        raise InputError(msg)
    names = {contrast.name for contrast in found.contrasts}
    said = [found.says(outcome) or "" for outcome in ("supported", "refuted")]
    blanks = (path for text in (*said, *(a.says for a in found.also)) for path in blanks_of(text))
    decisive = (found.supported, found.refuted, *(a.when for a in found.also))
    for path in (*(p for text in decisive for p in paths_of(text)), *blanks):
        head, _, rest = path.partition(".")
        if head != "draws" and (head != "contrasts" or rest.partition(".")[0] not in names):
            msg = (
                f"the reading names {path!r}; wanted a field of draws or of a declared contrast "
                f"({', '.join(sorted(names))}). Correct the path."
            )
            raise InputError(msg)


def _get(entry: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    value = entry.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        words = " or ".join(k.__name__ for k in kinds)
        msg = f"{name} is {value!r} in a declaration; wanted {words}. Correct it."
        raise InputError(msg)
    return value
