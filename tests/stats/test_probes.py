"""Probes: primal and dual agree, refusals, chance where nothing can be read, and permutations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats import probes
from trueness.stats.probes import readers
from trueness.stats.recoverability import recoverability

Floats = NDArray[np.float64]
N_ENTITIES, N_TEMPLATES = 12, 4
ENTITY = np.tile(np.arange(N_ENTITIES), N_TEMPLATES)
TEMPLATE = np.repeat(np.arange(N_TEMPLATES), N_ENTITIES)


def test_one_class_alone_is_no_probe() -> None:
    rng = np.random.default_rng(0)
    read = readers(rng.normal(size=(12, 2, 3)), np.repeat([0, 1, 2], 4))
    found = read.probe(np.zeros(12, np.int64))
    assert found.state is State.NOT_APPLICABLE
    assert found.reason == "one class alone: there is nothing to tell apart"
    assert found.chance is None


def written(seed: int, *, strength: float = 3.0, width: int = 24) -> Floats:
    """States in which the entity is written linearly, under noise."""
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(N_ENTITIES, width))
    return strength * codes[ENTITY] + rng.normal(size=(len(ENTITY), width))


def primal(train: Floats, test: Floats, y: NDArray[np.int64], m: int, ridge: float) -> Floats:
    """Scores of ridge regression in its primal form."""
    mean, scale = train.mean(axis=0), train.std(axis=0)
    scale[scale == 0] = 1.0
    a, b = (train - mean) / scale, (test - mean) / scale
    penalty = ridge * (a**2).sum() / len(a)
    hot = np.eye(m)[y] - 1 / m
    weights = np.linalg.solve(a.T @ a + penalty * np.eye(a.shape[1]), a.T @ hot)
    scores: Floats = b @ weights
    return scores


@settings(deadline=None)
@given(st.integers(0, 999), st.sampled_from([0.01, 0.1, 1.0]))
def test_the_dual_form_reads_what_the_primal_form_reads(seed: int, ridge: float) -> None:
    x = written(seed, width=8)
    x[:, 3] = 7.0  # a constant feature
    found = readers(x, TEMPLATE, ridge=ridge)
    for (train, test), (by,) in zip(found.folds, found.maps, strict=True):
        assert by is not None
        hot = np.eye(N_ENTITIES)[ENTITY[train]] - 1 / N_ENTITIES
        wanted = primal(x[train], x[test], ENTITY[train], N_ENTITIES, ridge)
        np.testing.assert_allclose(by @ hot, wanted, atol=1e-9)


def test_what_is_written_is_read_on_templates_that_were_left_out() -> None:
    found = readers(written(0), TEMPLATE).probe(ENTITY)
    assert found.state is State.MEASURED
    assert found.accuracy[0] > 0.9
    assert (found.chance, found.majority) == (1 / N_ENTITIES, 1 / N_ENTITIES)
    assert (found.n_tested, found.n_unseen) == (len(ENTITY), 0)
    assert found.hits[0].mean() == found.accuracy[0]


def test_all_layers_are_read_at_once_and_each_as_alone() -> None:
    layers = np.stack([written(0), written(1, strength=0.0)], axis=1)
    both = readers(layers, TEMPLATE).probe(ENTITY)
    for layer in range(2):
        alone = readers(layers[:, layer], TEMPLATE).probe(ENTITY)
        assert (both.predicted[layer] == alone.predicted[0]).all()


def test_a_layer_without_the_entity_sits_at_chance() -> None:
    """Layer 0 at the last token holds the template's own word and nothing of the entity."""
    words = np.random.default_rng(0).normal(size=(N_TEMPLATES, 24))
    found = readers(words[TEMPLATE], TEMPLATE).probe(ENTITY)
    assert found.accuracy[0] == pytest.approx(1 / N_ENTITIES)


def test_a_fold_that_trains_on_one_word_alone_is_tested_nowhere_and_the_others_are() -> None:
    """Three of four templates end in the same word: its embedding is all that they have."""
    words = np.random.default_rng(0).normal(size=(2, 24))
    found = readers(words[np.where(TEMPLATE == 3, 1, 0)], TEMPLATE).probe(ENTITY)
    assert not found.tested[0, TEMPLATE == 3].any()
    assert found.tested[0, TEMPLATE != 3].all()
    assert found.n_tested == 3 * N_ENTITIES
    assert found.accuracy[0] == pytest.approx(1 / N_ENTITIES)
    null = readers(words[np.where(TEMPLATE == 3, 1, 0)], TEMPLATE).null(
        ENTITY, rng=np.random.default_rng(0), within=TEMPLATE, n_permutations=50
    )
    assert null.p[0] > 0.2


def test_permuted_labels_sit_at_chance() -> None:
    null = readers(written(0), TEMPLATE).null(
        ENTITY, rng=np.random.default_rng(1), within=TEMPLATE, n_permutations=300
    )
    assert null.accuracy.mean() == pytest.approx(1 / N_ENTITIES, abs=0.01)
    assert null.p[0] == pytest.approx(1 / 301)


def test_identity_cannot_be_probed_on_entities_that_were_left_out() -> None:
    found = readers(written(0), ENTITY).probe(ENTITY)
    assert (found.state, found.reason) == (State.NOT_APPLICABLE, probes.UNSEEN)
    assert found.n_unseen == len(ENTITY)
    assert np.isnan(found.accuracy).all()


def test_a_label_one_to_one_with_the_entity_is_the_entity_probe_again() -> None:
    answer = (N_ENTITIES - ENTITY) * 3
    found = readers(written(0), TEMPLATE).probe(answer, entities=ENTITY)
    assert (found.state, found.reason) == (State.NOT_APPLICABLE, probes.ALIAS)
    shared = readers(written(0), TEMPLATE).probe(ENTITY // 2, entities=ENTITY)
    assert shared.state is State.MEASURED


def test_a_label_that_entities_share_is_read_on_entities_left_out() -> None:
    continent = ENTITY % 3
    rng = np.random.default_rng(0)
    x = 3 * rng.normal(size=(3, 24))[continent] + rng.normal(size=(len(ENTITY), 24))
    found = readers(x, ENTITY).probe(continent)
    assert found.state is State.MEASURED
    assert found.accuracy[0] > 0.9


def test_items_whose_class_was_never_trained_are_counted_and_in_no_rate() -> None:
    label = np.where(ENTITY == 0, 9, ENTITY % 2)  # 9 has one entity alone
    found = readers(written(0), ENTITY).probe(label)
    assert found.n_unseen == N_TEMPLATES
    assert not found.tested[0, ENTITY == 0].any()
    assert (found.predicted[0, ENTITY == 0] == -1).all()
    assert not (found.predicted[0, ENTITY != 0] == -1).any()


def test_constant_features_are_degenerate_and_one_group_leaves_nothing_to_train_on() -> None:
    flat = np.full((len(ENTITY), 5), 0.1)
    found = readers(flat, TEMPLATE).probe(ENTITY)
    assert (found.state, found.reason) == (State.DEGENERATE, probes.CONSTANT)
    assert np.isnan(found.accuracy[0])
    layers = np.stack([flat, written(0, width=5)], axis=1)
    mixed = readers(layers, TEMPLATE)
    assert np.isnan(mixed.probe(ENTITY).accuracy).tolist() == [True, False]
    null = mixed.null(ENTITY, rng=np.random.default_rng(0), within=TEMPLATE, n_permutations=9)
    assert np.isnan(null.p).tolist() == [True, False]
    assert readers(flat, np.zeros(len(ENTITY), np.int64)).probe(ENTITY).reason == probes.ONE_GROUP


def test_a_best_layer_among_many_pays_for_the_choice() -> None:
    noise = np.random.default_rng(4).normal(size=(len(ENTITY), 40, 6))
    null = readers(noise, TEMPLATE).null(
        ENTITY, rng=np.random.default_rng(0), within=TEMPLATE, n_permutations=99
    )
    assert null.p.min() < 0.05  # some layer looks good
    assert null.p_best > 0.05


def test_rows_of_one_entity_are_no_independent_rows() -> None:
    """Entities are written, their continent is not: permuting rows finds continents too often."""
    trials = 60
    p_rows: list[float] = []
    p_entities: list[float] = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        continent = rng.permutation(np.arange(N_ENTITIES) % 3)[ENTITY]
        made = readers(written(seed, width=6), ENTITY)
        for kept, how in ((p_rows, {"within": TEMPLATE}), (p_entities, {"entities": ENTITY})):
            null = made.null(continent, rng=rng, n_permutations=99, **how)
            kept.append(null.p[0])
    assert np.mean(np.array(p_entities) <= 0.1) <= 0.1 + 3 * np.sqrt(0.09 / trials)
    assert np.mean(np.array(p_rows) <= 0.1) > 0.1 + 3 * np.sqrt(0.09 / trials)


def test_chunks_of_permutations_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made = readers(written(0, strength=0.3), TEMPLATE)
    whole = made.null(ENTITY, rng=np.random.default_rng(0), within=TEMPLATE, n_permutations=20)
    monkeypatch.setattr(probes, "_CELLS", 1)
    parts = made.null(ENTITY, rng=np.random.default_rng(0), within=TEMPLATE, n_permutations=20)
    assert (whole.accuracy == parts.accuracy).all()


def test_what_is_no_probe_is_refused() -> None:
    with pytest.raises(ShapeError, match="n_layers"):
        readers([1.0, 2.0], [0, 1])
    with pytest.raises(InputError, match="not finite"):
        readers([[np.nan], [1.0]], [0, 1])
    with pytest.raises(InputError, match="ridge"):
        readers([[0.0], [1.0]], [0, 1], ridge=0.0)
    made = readers(written(0), TEMPLATE)
    with pytest.raises(ShapeError, match="one an item"):
        made.probe([0, 1])
    with pytest.raises(InputError, match="whole numbers"):
        made.probe(ENTITY - 1)
    with pytest.raises(InputError, match="exactly one way"):
        made.null(ENTITY, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="within an entity"):
        made.null(TEMPLATE, rng=np.random.default_rng(0), entities=ENTITY)


def plain_contrast(
    hits: NDArray[np.bool_], wrong: NDArray[np.bool_], template: NDArray[np.int64]
) -> float | None:
    above = below = 0.0
    for t in set(template.tolist()):
        bad, good = hits[(template == t) & wrong], hits[(template == t) & ~wrong]
        if len(bad) and len(good):
            w = len(bad) * len(good) / (len(bad) + len(good))
            above, below = above + w * (bad.mean() - good.mean()), below + w
    return above / below if below else None


@given(st.integers(0, 9_999))
def test_the_contrast_is_that_of_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    hits, wrong = rng.random(n) < 0.6, rng.random(n) < 0.5
    template, entity = rng.integers(0, 3, n), rng.integers(0, 6, n)
    found = recoverability(hits, wrong, template, entity, rng=rng, n_resamples=20)
    wanted = plain_contrast(hits, wrong, template)
    if wanted is None:
        assert (found.state, found.contrast, found.low) == (State.NO_EVIDENCE, None, None)
    else:
        assert found.contrast == pytest.approx(wanted)
    lone = sum(len(set(wrong[template == t].tolist())) == 1 for t in set(template.tolist()))
    assert found.n_one_class == lone


def test_a_template_with_wrong_items_alone_pulls_the_raw_shares_apart_and_not_the_contrast() -> (
    None
):
    """Template 1 is hard for the probe and all wrong: the raw difference is an artefact."""
    template = np.repeat([0, 1], 20)
    wrong = np.r_[np.tile([True, False], 10), np.ones(20, np.bool_)]
    hits = np.r_[np.ones(20, np.bool_), np.zeros(20, np.bool_)]
    found = recoverability(
        hits, wrong, template, np.tile(np.arange(20), 2), rng=np.random.default_rng(0)
    )
    assert found.accuracy_wrong is not None
    assert found.accuracy_wrong < 0.4
    assert found.accuracy_right == 1.0
    assert (found.contrast, found.n_one_class) == (0.0, 1)


def test_the_interval_covers_a_true_contrast() -> None:
    covered, trials = 0, 80
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        wrong = rng.random(160) < 0.5
        hits = rng.random(160) < np.where(wrong, 0.6, 0.8)
        entity, template = np.tile(np.arange(32), 5), np.repeat(np.arange(5), 32)
        found = recoverability(hits, wrong, template, entity, rng=rng, n_resamples=300)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= -0.2 <= found.high
    assert covered / trials > 0.85


def test_what_is_no_contrast_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ShapeError, match="wanted one"):
        recoverability([True], [True, False], [0, 0], [0, 0], rng=rng)
    with pytest.raises(InputError, match="truth values"):
        recoverability([1, 0], [True, False], [0, 0], [0, 1], rng=rng)
    with pytest.raises(InputError, match="level"):
        recoverability([True], [False], [0], [0], rng=rng, level=1.0)
