"""Whether the entity is read worse on wrong items than on right ones, within one wording."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TemplateContrast:
    """Hits of a probe on the wrong and the right items of one template."""

    template: int
    n_wrong: int
    hits_wrong: int
    n_right: int
    hits_right: int

    @property
    def difference(self) -> float | None:
        """Accuracy on wrong minus accuracy on right; None without both classes."""
        if not self.n_wrong or not self.n_right:
            return None
        return self.hits_wrong / self.n_wrong - self.hits_right / self.n_right


@dataclass(frozen=True, slots=True)
class Recoverability:
    """Accuracy of a probe on wrong items, on right ones, and their difference within templates.

    Parameters
    ----------
    state : State
        ``NO_EVIDENCE`` when no template has both wrong and right items.
    reason : str or None
    contrast, low, high : float or None
        Weighted difference within templates and its percentile interval over entities.
    accuracy_wrong, accuracy_right : float or None
        Over all templates; a template with wrong items alone pulls these apart by itself.
    low_wrong, high_wrong, low_right, high_right : float or None
        Percentile intervals over entities.
    templates : tuple of TemplateContrast
    n_one_class : int
        Templates without both classes: they contribute nothing to the contrast.
    n_entities, n_resamples, n_lost : int
        Lost: resamples in which no template had both classes.
    """

    state: State
    reason: str | None
    contrast: float | None
    low: float | None
    high: float | None
    accuracy_wrong: float | None
    accuracy_right: float | None
    low_wrong: float | None
    high_wrong: float | None
    low_right: float | None
    high_right: float | None
    templates: tuple[TemplateContrast, ...]
    n_one_class: int
    n_entities: int
    n_resamples: int
    n_lost: int


def recoverability(
    hits: ArrayLike,
    wrong: ArrayLike,
    templates: ArrayLike,
    entities: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    n_resamples: int = 2000,
) -> Recoverability:
    r"""Difference of a probe's accuracy between wrong and right items, within templates.

    :math:`\Delta = \sum_t w_t(acc_{wrong,t} - acc_{right,t})` with :math:`w_t \propto
    n_{wrong}n_{right}/(n_{wrong}+n_{right})`; entities are resampled, all their rows together.

    Parameters
    ----------
    hits, wrong : (n,) bool
        Of the probe; of the model's answers.
    templates, entities : (n,) int
    rng : numpy.random.Generator
    level : float in (0, 1)
    n_resamples : int, at least 1

    Raises
    ------
    ShapeError
        When lengths differ.
    InputError
        For labels that are no truth values, or a number out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = recoverability([True, True, False, True], [True, False, True, True],
    ...                        [0, 0, 0, 1], [0, 1, 2, 0], rng=rng)
    >>> found.contrast, found.n_one_class
    (-0.5, 1)
    """
    hit, bad, template, entity = _checked(hits, wrong, templates, entities)
    if not 0 < level < 1 or n_resamples < 1:
        msg = f"level is {level}, n_resamples {n_resamples}; wanted a level in (0, 1), a resample."
        raise InputError(msg)
    names = np.unique(template)
    codes = np.unique(template, return_inverse=True)[1]
    people = np.unique(entity, return_inverse=True)[1]
    n_entities = int(people.max(initial=-1)) + 1
    table = np.zeros((4, n_entities, len(names)))  # wrong, its hits, right, its hits
    for part, rows in enumerate((bad, bad & hit, ~bad, ~bad & hit)):
        np.add.at(table[part], (people[rows], codes[rows]), 1)
    counts = table.sum(axis=1)
    shown = tuple(
        TemplateContrast(int(t), *(int(x) for x in counts[:, i])) for i, t in enumerate(names)
    )
    drawn = rng.multinomial(n_entities, np.full(n_entities, 1 / max(n_entities, 1)), n_resamples)
    resampled = np.stack([drawn @ part for part in table], axis=0)  # 4, resamples, templates
    point, parts = _numbers(counts[:, np.newaxis]), _numbers(resampled)
    tail = (1 - level) / 2
    (contrast, wrong_mean, right_mean) = (_known(p) for p in point)
    ends = [_ends(p, tail) for p in parts]
    n_lost = int(np.isnan(parts[0]).sum())
    none = contrast is None
    return Recoverability(
        state=State.NO_EVIDENCE if none else State.MEASURED,
        reason="no template has both wrong and right items" if none else None,
        contrast=contrast,
        low=None if none else ends[0][0],
        high=None if none else ends[0][1],
        accuracy_wrong=wrong_mean,
        accuracy_right=right_mean,
        low_wrong=ends[1][0],
        high_wrong=ends[1][1],
        low_right=ends[2][0],
        high_right=ends[2][1],
        templates=shown,
        n_one_class=sum(t.difference is None for t in shown),
        n_entities=n_entities,
        n_resamples=n_resamples,
        n_lost=n_lost,
    )


def _numbers(counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Contrast, accuracy on wrong and on right items, of (4, b, templates) counts; nan without."""
    n_wrong, hits_wrong, n_right, hits_right = counts
    both = (n_wrong > 0) & (n_right > 0)
    weight = np.where(both, n_wrong * n_right / np.where(both, n_wrong + n_right, 1), 0.0)
    difference = np.where(
        both,
        hits_wrong / np.where(both, n_wrong, 1) - hits_right / np.where(both, n_right, 1),
        0.0,
    )
    contrast = _over((weight * difference).sum(axis=1), weight.sum(axis=1))
    return (
        contrast,
        _over(hits_wrong.sum(axis=1), n_wrong.sum(axis=1)),
        _over(hits_right.sum(axis=1), n_right.sum(axis=1)),
    )


def _over(above: Floats, below: Floats) -> Floats:
    share: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return share


def _known(values: Floats) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def _ends(values: Floats, tail: float) -> tuple[float | None, float | None]:
    there = values[~np.isnan(values)]
    if not len(there):
        return None, None
    low, high = np.quantile(there, [tail, 1 - tail]).tolist()
    return low, high


def _checked(
    hits: ArrayLike, wrong: ArrayLike, templates: ArrayLike, entities: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.generic], NDArray[np.generic]]:
    hit, bad = np.asarray(hits), np.asarray(wrong)
    template, entity = np.asarray(templates), np.asarray(entities)
    shapes = {a.shape for a in (hit, bad, template, entity)}
    if len(shapes) != 1 or hit.ndim != 1 or not len(hit):
        msg = f"hits, wrong, templates and entities have shapes {sorted(shapes)}; wanted one (n,)."
        raise ShapeError(msg)
    if hit.dtype != np.bool_ or bad.dtype != np.bool_:
        msg = (
            f"hits are {hit.dtype} and wrong {bad.dtype}; wanted truth values. Leave out untested."
        )
        raise InputError(msg)
    return hit, bad, template, entity
