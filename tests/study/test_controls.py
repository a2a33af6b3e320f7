"""Controls find what was planted, find nothing where labels were permuted, and say what is absent.

Every number of a control follows from the scores that stand beside its result.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from trueness.backends.registry import open_embedder
from trueness.contract.serial import plain
from trueness.study import embedded_inputs, populations
from trueness.study.assessed import above_half, absent
from trueness.study.carrying_out import decide
from trueness.study.control_ablation import GROUPS, PERMUTED, independent, permuted_within
from trueness.study.control_axes import SECOND, by_size
from trueness.study.control_geometry import choice
from trueness.study.control_leakage import components, disjoint_groups
from trueness.study.control_ranks import ranked
from trueness.study.controls import FAMILIES, control_of, run, scored
from trueness.study.declarations import Declaration, declared_study
from trueness.study.expressions import blanks_of
from trueness.study.found import Found
from trueness.study.inputs import Inputs
from trueness.study.measurable import NothingToMeasureError
from trueness.study.populations import Bench, opened
from trueness.study.protocol import (
    Bools,
    Floats,
    Ints,
    Protocol,
    Scored,
    codes_of,
    fitted,
    scored_from,
    scored_of,
)
from trueness.study.results import Decisive, Outcome
from trueness.study.saying import said
from trueness.study.task import Task
from trueness.study.words import term_weights

CONTROLS = tuple(FAMILIES)
QUICK = Protocol(folds=3, repeats=1, resamples=100)
SOURCES = 32

controls = pytest.mark.parametrize("name", CONTROLS)


def quick(name: str) -> Declaration:
    """The declaration with few folds and resamples."""
    found = declared_study(name)
    protocol = {**found.table("protocol"), "folds": 3, "repeats": 1, "resamples": 100}
    return replace(found, raw={**found.raw, "protocol": protocol})


@cache
def in_world(name: str, sources: int = SOURCES) -> Found:
    return run(
        Task(declaration=quick(name), inputs=Inputs(world="synthetic"), seed=0, repeats=sources)
    )


def bench(name: str, seed: int = 0) -> Bench:
    world = Inputs(world="synthetic")
    return opened(Task(declaration=quick(name), inputs=world, seed=seed, repeats=SOURCES))


@controls
def test_every_control_runs_on_the_made_world_and_fills_every_declared_contrast(name: str) -> None:
    found = in_world(name)
    assert set(found.contrasts) == {c.name for c in declared_study(name).contrasts}
    assert found.rows
    assert len({str(row["name"]) for row in found.rows}) == len(found.rows)
    json.dumps(plain([*found.rows, *found.contrasts.values(), *found.table]), allow_nan=False)
    for record in found.contrasts.values():
        assert {"estimate", "low", "high", "p", "n", "state"} <= set(record)
        assert record["state"] == "MEASURED" or "where" in record or record["n"] == 0


@controls
def test_rows_and_contrasts_follow_from_the_table_alone(name: str) -> None:
    found = in_world(name)
    lines = [json.loads(json.dumps(plain(record))) for record in found.table]
    parts = {part.name: part for part in map(scored_from, lines)}
    again = control_of(name).read(parts, replace(QUICK, seed=0))
    assert plain(list(again.rows)) == plain(list(found.rows))
    for key, record in again.contrasts.items():
        if key in found.contrasts:
            assert plain(record) == plain(found.contrasts[key])


@controls
def test_a_sentence_of_a_declaration_has_blanks_for_fields_that_the_result_has(name: str) -> None:
    declaration = declared_study(name)
    found = in_world(name)
    fields = {"contrasts": [{"name": n, **r} for n, r in found.contrasts.items()], "draws": {}}
    for outcome in (Outcome.SUPPORTED, Outcome.REFUTED):
        (sentence,) = said(declaration, Decisive(outcome, ()), fields)
        assert "{" not in sentence
    assert said(declaration, Decisive(Outcome.UNRESOLVED, ()), fields) == ()
    assert blanks_of(str(declaration.table("reading")["says"]))


@pytest.mark.parametrize("name", [n for n in CONTROLS if n != "C5"])  # its test is exact
def test_too_few_sources_decide_nothing(name: str) -> None:
    declaration, found = quick(name), in_world(name, sources=20)
    assert _outcome(declaration, found.contrasts) is Outcome.UNRESOLVED


def _outcome(declaration: Declaration, contrasts: Mapping[str, object]) -> Outcome:
    filled = {c.name: contrasts.get(c.name) or absent("x") for c in declaration.contrasts}
    fields = [{"p_holm": r["p"], **r, "name": n} for n, r in filled.items()]  # type: ignore[index,dict-item]
    return decide(declaration, {"contrasts": fields, "draws": {}}).outcome


def planted(
    columns: Mapping[str, float], *, n: int = 150, name: str = "labelled", apart: bool = False
) -> Scored:
    """Twins whose unsupported one is shifted in each column; noise is shared unless apart."""
    rng = np.random.default_rng(len(name))
    wrong = np.arange(2 * n) % 2 == 1
    noise = rng.normal(size=2 * n)
    made = {
        key: (rng.normal(size=2 * n) if apart else noise) + shift * wrong
        for key, shift in columns.items()
    }
    items = [f"r{i}" for i in range(2 * n)]
    return scored_of(name, items, [f"g{i // 2}" for i in range(2 * n)], wrong, made)


RIVALS = ("top1", "mean_cosine", "centroid", "best_sin2", "word_overlap", "tf_idf")
COUNTS = {"char_count": 0.0, "sentence_count": 0.0, "paragraph_count": 0.0}


def _scalars(key: str, shift: float) -> dict[str, float]:
    return {key: shift}


def _rivals(energy: float, rival: float) -> dict[str, float]:
    return {"energy": energy, **dict.fromkeys(RIVALS, rival)}


def _bundles(bundle: float, length: float) -> dict[str, float]:
    shifts = {"bundle": bundle, "length": length, "both": max(bundle, length)}
    return {"energy": bundle, **COUNTS, **shifts}


def _ablated(whole: float, without: float) -> dict[str, float]:
    groups = {f"without_{g}": (without if g == "energy" else whole) for g in GROUPS}
    return {"all": whole, **groups}


def _second(energy: float, gap: float) -> dict[str, float]:
    alone = {f"{s}_alone": 0.0 for s in SECOND}
    return {"energy": energy, **dict.fromkeys(SECOND, energy), "cutoff_gap": gap, **alone}


PLANTED: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    "C1": (_scalars("claim", 1.5), _scalars("claim", -1.5)),
    "C2": (_rivals(2.0, 0.5), _rivals(0.5, 0.5)),
    "C3": (_bundles(2.0, 0.2), _bundles(0.2, 2.0)),
    "C4": ({"row": 2.0, "source": 0.5}, {"row": 1.0, "source": 1.0}),
    "C5": (_scalars("energy", 1.5), _scalars("energy", -1.5)),
    "C11": (_ablated(2.0, 0.5), _ablated(1.0, 1.0)),
    "C14": (_second(0.5, 2.5), _second(1.0, 1.0)),
}
"""Shifts under which a control is supported, and refuted."""


def _read(name: str, shifts: Mapping[str, float], *, n: int, apart: bool = False) -> Outcome:
    parts = {p: planted(shifts, n=n, name=p, apart=apart) for p in ("labelled", "nearest")}
    numbers = control_of(name).read(parts, QUICK)
    return _outcome(declared_study(name), numbers.contrasts)


@pytest.mark.parametrize("name", list(PLANTED))
def test_what_was_planted_is_read(name: str) -> None:
    supported, refuted = PLANTED[name]
    assert _read(name, supported, n=150) is Outcome.SUPPORTED
    assert _read(name, refuted, n=150) is Outcome.REFUTED


@pytest.mark.parametrize("name", [n for n in PLANTED if n not in {"C1", "C5"}])
def test_a_difference_lost_in_noise_stays_unresolved(name: str) -> None:
    nothing = dict.fromkeys(PLANTED[name][0], 0.5)
    if name == "C2":
        nothing["energy"] = 0.9  # the best of six rivals is picked on the same rows
    assert _read(name, nothing, n=35, apart=True) is Outcome.UNRESOLVED


@pytest.mark.parametrize("name", ["C1", "C5"])
def test_an_energy_without_any_order_stays_unresolved(name: str) -> None:
    nothing = dict.fromkeys(PLANTED[name][0], 0.0)
    assert _read(name, nothing, n=60) is Outcome.UNRESOLVED


def test_a_better_geometry_is_chosen_on_one_half_and_found_on_the_other() -> None:
    halves = np.repeat(np.arange(150) % 2, 2).astype(np.float64)

    def outcome(cone: float) -> Outcome:
        parts = {}
        for p in ("labelled", "nearest"):
            made = planted({"core": 0.5, "cone": cone, "hull": 0.2}, name=p)
            parts[p] = replace(made, columns={"tried": halves, **made.columns})
        numbers = control_of("C8").read(parts, QUICK)
        assert numbers.contrasts["labelled"]["chosen"] == ("cone" if cone > 0.5 else "core")
        return _outcome(declared_study("C8"), numbers.contrasts)

    assert outcome(2.0) is Outcome.SUPPORTED
    assert outcome(0.4) is Outcome.REFUTED


def test_a_geometry_that_measures_too_little_is_never_chosen() -> None:
    made = planted({"core": 0.5, "affine": 3.0})
    few = np.where(np.arange(300) < 60, np.nan, made.columns["affine"])
    assert choice(replace(made, columns={**made.columns, "affine": few}), ["core", "affine"]) == (
        "core"
    )


def _ranks(cut: float, n: int = 150) -> Outcome:
    parts = {}
    for p, caps in (("labelled", (1,)), ("nearest", (1, 2, 4, 8))):
        cells = ("full", *(f"cap_{c}" for c in caps))
        made = planted({f"energy_sentence_{cell}": 1.5 for cell in cells}, name=p, n=n)
        worse = planted({"w": cut}, name=p, n=n).columns["w"]
        columns = {"sentence_n": np.full(2 * n, 20.0), **made.columns}
        columns["energy_sentence_cap_1"] = worse
        parts[p] = replace(made, columns={k: ranked(v) if k != "sentence_n" else v
                                          for k, v in columns.items()})  # fmt: skip
    return _outcome(declared_study("C6"), control_of("C6").read(parts, QUICK).contrasts)


def test_a_rank_that_matters_is_found_and_one_that_does_not_is_immaterial() -> None:
    assert _ranks(1.5) is Outcome.SUPPORTED
    assert _ranks(0.2) is Outcome.REFUTED
    assert _ranks(1.5, n=20) is Outcome.UNRESOLVED


def _chance(foreign: float, spread: float) -> Outcome:
    rng = np.random.default_rng(5)
    parts = {}
    for p in ("labelled", "nearest"):
        made = planted({"energy": 1.0}, name=p)
        level = foreign + spread * rng.normal(size=300)
        more = {"chance": np.full(300, 0.99), "foreign": level, "n": np.full(300, 3.0)}
        twice = {"relative": made.columns["energy"], "empirical": made.columns["energy"]}
        parts[p] = replace(made, columns={**made.columns, **more, **twice})
    return _outcome(declared_study("C20"), control_of("C20").read(parts, QUICK).contrasts)


def test_a_chance_level_that_is_off_is_found() -> None:
    assert _chance(0.99, 0.001) is Outcome.SUPPORTED
    assert _chance(0.9, 0.001) is Outcome.REFUTED
    assert _chance(0.985, 0.2) is Outcome.UNRESOLVED


def _permuted(energy: float, n: int) -> Outcome:
    parts = {}
    for p in ("labelled", "nearest"):
        features = {f: 0.0 for fs in PERMUTED.values() for f in fs}
        features |= {"mean_sim_top1": 4.0, "max_energy": energy}
        made = planted(features, name=p, n=n, apart=True)
        given = {"sentence_count": np.full(2 * n, 2.0)}
        parts[p] = replace(made, columns={**given, **made.columns})
    return _outcome(declared_study("C12"), control_of("C12").read(parts, QUICK).contrasts)


def test_a_feature_that_the_score_leans_on_is_important_and_noise_is_not() -> None:
    assert _permuted(2.0, 100) is Outcome.SUPPORTED
    assert _permuted(0.0, 200) is Outcome.REFUTED
    assert _permuted(2.0, 20) is Outcome.UNRESOLVED


def _turned(unsupported: Bools, groups: Ints, seed: int) -> Bools:
    """Each source's labels turned round with probability one half."""
    turn = np.random.default_rng(seed).random(int(groups.max()) + 1) < 0.5
    return unsupported ^ turn[groups]


def _supported(name: str, parts: Sequence[Scored]) -> bool:
    numbers = control_of(name).read({part.name: part for part in parts}, QUICK)
    return _outcome(declared_study(name), numbers.contrasts) is Outcome.SUPPORTED


@pytest.mark.parametrize("name", ["C1", "C5"])
def test_permuted_labels_show_no_more_than_the_level_says(name: str) -> None:
    parts = [p for p in control_of(name).score(bench(name)) if p.name in ("labelled", "nearest")]
    found = [
        _supported(
            name,
            [replace(p, unsupported=_turned(p.unsupported, p.groups, seed)) for p in parts],
        )
        for seed in range(20)
    ]
    assert sum(found) <= 1  # of 20 at .05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["C2", "C3", "C4", "C8", "C11", "C12", "C14"])
def test_what_is_fitted_to_permuted_labels_shows_no_more_than_the_level_says(name: str) -> None:
    made = bench(name)
    found = []
    for seed in range(20):
        turned = {
            p: replace(one, unsupported=_turned(one.unsupported, codes_of(one.groups), seed))
            for p in ("labelled", "nearest")
            for one in (made.populations[p],)
        }
        found.append(_supported(name, control_of(name).score(replace(made, populations=turned))))
    assert sum(found) <= 1  # of 20 at .05


def test_a_split_of_rows_flatters_where_features_know_the_source() -> None:
    rng = np.random.default_rng(0)
    groups = np.arange(200) // 5
    wrong = (rng.random(40) < 0.5)[groups]
    columns: list[Floats] = list(rng.normal(size=(30, 40))[:, groups])
    by_row = fitted(columns, wrong, np.arange(200), Protocol(repeats=1))
    by_source = fitted(columns, wrong, groups, Protocol(repeats=1))
    names = [f"r{i}" for i in range(200)]
    part = scored_of("labelled", names, [f"g{g}" for g in groups], wrong,
                     {"row": by_row, "source": by_source})  # fmt: skip
    numbers = control_of("C4").read({"labelled": part}, Protocol(repeats=1, resamples=200))
    low = numbers.contrasts["labelled"]["low"]
    assert isinstance(low, float)
    assert low > 0.1


@controls
@pytest.mark.parametrize("sources", [1, 2])
def test_one_or_two_sources_give_a_result_that_decides_nothing(name: str, sources: int) -> None:
    found = run(
        Task(declaration=quick(name), inputs=Inputs(world="synthetic"), seed=0, repeats=sources)
    )
    json.dumps(plain([*found.rows, *found.contrasts.values()]), allow_nan=False)
    assert _outcome(quick(name), found.contrasts) is Outcome.UNRESOLVED


@controls
@pytest.mark.parametrize("kind", ["supported", "unsupported"])
def test_data_of_one_kind_are_counted_and_decide_nothing(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {
            "claim": f"Topic {i}",
            "evidence": [f"Topic {i} is here.", "So it is."],
            "label": kind,
            "group": f"g{i}",
        }
        for i in range(4)
    ]
    found = run(
        Task(declaration=quick(name), inputs=own(rows, tmp_path, monkeypatch), seed=0, repeats=1000)
    )
    assert _outcome(quick(name), found.contrasts) is Outcome.UNRESOLVED


@controls
def test_claims_without_any_evidence_are_nothing_to_measure(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = ("supported", "unsupported", "unsupported", "unsupported")
    rows = [
        {"claim": f"Topic {i}", "evidence": [], "label": label, "group": f"g{i}"}
        for i, label in enumerate(labels)
    ]
    inputs = own(rows, tmp_path, monkeypatch)
    with pytest.raises(NothingToMeasureError, match=r"none of 4 claims .*: 4 no_evidence"):
        run(Task(declaration=quick(name), inputs=inputs, seed=0, repeats=1000))


def test_sources_that_share_a_name_stay_together_and_one_large_set_cannot_be_dealt() -> None:
    joined = components([0, 0, 1, 2], [frozenset("a"), frozenset("b"), frozenset("b"), frozenset()])
    assert joined.tolist() == [0, 0, 0, 1]
    made = bench("C4").populations["labelled"]
    apart, why = disjoint_groups(made, folds=3)
    assert apart is None
    assert "no named entity" in why


@pytest.mark.parametrize("declared", [True, False])
def test_folds_without_a_shared_entity_are_built_where_the_data_allow_it(
    declared: bool,  # noqa: FBT001 - a case
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows: list[dict[str, object]] = []
    for source in range(60):
        name = f"Anna Number{source // 2}" if not declared else "someone"
        shown = [f"{name} is in group {source}.", f"She has the number {source}."]
        for claim, label in ((shown[0], "supported"), ("Quite another thing.", "unsupported")):
            more = {"entity": f"e{source // 2}"} if declared else {}
            rows.append(
                {"claim": claim, "evidence": shown, "label": label, "group": f"s{source}", **more}
            )
    inputs = own(rows, tmp_path, monkeypatch)
    made = opened(Task(declaration=quick("C4"), inputs=inputs, seed=0, repeats=1000)).populations[
        "labelled"
    ]
    apart, why = disjoint_groups(made, folds=3)
    assert apart is not None, why
    assert len(set(apart.tolist())) == 30
    found = run(Task(declaration=quick("C4"), inputs=inputs, seed=0, repeats=1000))
    assert isinstance(found.contrasts["labelled_entity"]["estimate"], float)


def test_the_made_world_without_its_labels_tells_nothing() -> None:
    made = opened(
        Task(declaration=quick("C1"), inputs=Inputs(world="synthetic"), seed=0, repeats=1000)
    )
    for part in control_of("C1").score(made):
        turned = replace(part, unsupported=_turned(part.unsupported, part.groups, 1))
        found = above_half(turned, "claim", replace(QUICK, resamples=400))
        low, high = found["low"], found["high"]
        assert isinstance(low, float)
        assert isinstance(high, float)
        assert low <= 0.5 <= high


def test_a_combination_of_other_features_is_left_out_and_a_constant_too() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30))
    holed = np.where(np.arange(30) < 3, np.nan, x - y)
    assert independent(["x", "y", "gap", "k"], [x, y, holed, np.ones(30)]) == ("x", "y")


def test_rows_are_permuted_only_among_their_like() -> None:
    strata = np.array([[0.0], [1.0], [0.0], [1.0], [0.0]])
    seen = set()
    for seed in range(100):
        order = permuted_within(strata, np.random.default_rng(seed))
        assert sorted(order.tolist()) == [0, 1, 2, 3, 4]
        assert (strata[order] == strata).all()
        seen.add(tuple(order.tolist()))
    assert len(seen) == 12  # 3! times 2!: all of them in 100 draws


def test_the_level_of_a_size_leaves_the_own_source_out() -> None:
    level = np.array([0.9, 0.8, 0.7, np.nan])
    found = by_size(level, np.array([2.0, 2.0, 3.0, 2.0]), np.array([0, 1, 1, 0]))
    assert found.tolist()[:2] == [0.8, 0.9]
    assert np.isnan(found[2])
    assert found[3] == 0.8


def test_rare_words_weigh_more_and_are_counted_on_other_sources_alone() -> None:
    made = bench("C2").populations["labelled"]
    found = term_weights(made, QUICK)
    assert np.isfinite(found).all()
    assert (found <= 0).all()
    assert scored(made, {"w": found}).columns["w"] is found


def _letters(texts: list[str]) -> Floats:
    """How often each of some letters stands in each text, and one more."""
    return np.array([[1.0, *(t.count(x) for x in "etaoinshrdlu")] for t in texts])


def own(
    rows: Sequence[Mapping[str, object]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Inputs:
    """A file of claims, embedded by their letters."""
    path = folder / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    letters = open_embedder(_letters)
    monkeypatch.setattr(populations, "embedder_of", lambda *_: letters)
    monkeypatch.setattr(embedded_inputs, "cache_dir", lambda: folder)
    return Inputs(data=path, embedder="own")


def test_a_file_of_ones_own_takes_the_place_of_the_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[dict[str, object]] = []
    for source in range(32):
        shown = [f"Topic {source} begins in year {source}.", f"Item {source} is number {source}."]
        for claim, label in ((shown[0], "supported"), ("Quite another thing.", "unsupported")):
            rows.append({"claim": claim, "evidence": shown, "label": label, "group": f"s{source}"})
    found = run(
        Task(declaration=quick("C1"), inputs=own(rows, tmp_path, monkeypatch), seed=0, repeats=1000)
    )
    assert found.data[0]["id"] == "own"
    assert {str(row["population"]) for row in found.rows} == {"labelled", "nearest", "random"}
    assert "not run" in str(found.contrasts["bare"]["where"])
    assert isinstance(found.contrasts["labelled"]["estimate"], float)
