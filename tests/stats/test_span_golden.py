"""The golden vectors of the span measure and of its variants."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueness.contract import errors
from trueness.stats import span_variants
from trueness.stats.span import Span, measure_span, measure_spans
from trueness.stats.span_item import SpanItem
from trueness.stats.span_rules import SpanRules

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "energy.json").read_text(encoding="utf-8")
)
RULES = ("rank", "cap", "q", "dedup", "rank_tol", "embedding_noise")
POWERS = {"centroid_squared": ("centroid", 2)}
RENAMED = {"gap": "cutoff_gap"}
CORE = [v for v in GOLDEN if "sensor" not in v["input"] and "raises" not in v["expected"]]
RAISING = [v for v in GOLDEN if "raises" in v["expected"]]
VARIANTS = [v for v in GOLDEN if "sensor" in v["input"]]


def named(chosen: list[Any]) -> list[Any]:
    return [pytest.param(v, id=v["name"]) for v in chosen]


def number(value: Any) -> Any:
    if isinstance(value, str):
        return float(value) if value in ("nan", "inf") else float(Fraction(value))
    return [number(v) for v in value] if isinstance(value, list) else value


def vectors(given: Any) -> Any:
    return np.zeros(given["shape"]) if isinstance(given, dict) else number(given)


def item(given: dict[str, Any]) -> SpanItem:
    evidence: Any = given.get("evidence", given.get("evidence_flat"))
    texts = evidence["texts"] if isinstance(evidence, dict) and "texts" in evidence else None
    evidence = None if texts else evidence
    return SpanItem(vectors(given["claim"]), vectors(evidence), texts=texts)


def rules_of(params: dict[str, Any]) -> SpanRules:
    return SpanRules(**{k: v for k, v in params.items() if k in RULES})


def found_in(span: Span, name: str) -> Any:
    if name in POWERS:
        axis, power = POWERS[name]
        value = span.axes[axis]
        return None if value is None else value**power
    return span.axes[name] if name in span.axes else getattr(span, RENAMED.get(name, name))


def check(found: Any, wanted: Any, tolerance: Any) -> None:
    if isinstance(wanted, list):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            check(f, w, tolerance)
    elif wanted is None or (isinstance(wanted, str) and wanted[:1].isalpha()):
        assert found == wanted
    elif isinstance(tolerance, dict):
        assert found == pytest.approx(number(wanted), rel=tolerance["relative"], abs=0)
    else:
        assert found == pytest.approx(number(wanted), rel=0, abs=tolerance)


@pytest.mark.parametrize("vector", named(CORE))
def test_a_golden_span_is_met(vector: dict[str, Any]) -> None:
    rules = rules_of(vector["input"].get("params", {}))
    span = measure_spans([item(vector["input"])], rules=rules)[0]
    for name, wanted in vector["expected"].items():
        check(found_in(span, name), wanted, vector["tolerance"])


@pytest.mark.parametrize("vector", named(RAISING))
def test_a_golden_error_is_raised(vector: dict[str, Any]) -> None:
    given = item(vector["input"])
    with pytest.raises(getattr(errors, vector["expected"]["raises"])):
        measure_span(given.claim, given.evidence)


@pytest.mark.parametrize("vector", named(VARIANTS))
def test_a_golden_variant_is_met(vector: dict[str, Any]) -> None:
    given = vector["input"]
    own = {k: v for k, v in given.get("params", {}).items() if k not in RULES}
    own = {k: v if k == "kernel" else vectors(v) for k, v in own.items()}
    measure = getattr(span_variants, given["sensor"].removeprefix("energy."))
    found = measure(item(given), rules_of(given.get("params", {})), **own)
    for name, wanted in vector["expected"].items():
        seen = getattr(found, name) if hasattr(found, name) else found.figures[name]
        check(seen, wanted, vector["tolerance"])


def test_every_vector_is_used() -> None:
    assert len(CORE) + len(RAISING) + len(VARIANTS) == len(GOLDEN)
