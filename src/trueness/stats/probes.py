"""Can a label be read linearly from hidden states? Ridge read-outs on groups that were left out."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness.contract.errors import InputError, ShapeError
from trueness.contract.states import State
from trueness.stats.probe_labels import (
    Ints,
    codes_of,
    labels_of,
    one_to_one,
    permuted_across,
    permuted_within,
)

Floats: TypeAlias = NDArray[np.float64]

RIDGE = 0.1
"""Share of the mean training variance that is added; 0.01 and 1 are shown beside it, never
chosen."""
UNSEEN = "every test class is absent from its training fold"
CONSTANT = "all features constant"
ALIAS = "the label is one-to-one with the entity: this is the entity probe again"
ONE_GROUP = "one group alone leaves no training fold"
ONE_CLASS = "one class alone: there is nothing to tell apart"
N_PERMUTATIONS = 200
_CELLS = 1 << 22  # training labels held at once


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """What read-outs of a label hit on groups that they were not fitted on.

    Parameters
    ----------
    state : State
        ``NOT_APPLICABLE`` when the folds cannot test this label; ``DEGENERATE`` when every layer
        is constant in every training fold.
    reason : str or None
    predicted : (n_layers, n) int64
        Labels; -1 where an item was not tested.
    hits : (n_layers, n) bool
    tested : (n_layers, n) bool
        Items whose class was in their training fold, in layers that vary over that fold.
    accuracy : (n_layers,) float64
        Hits over tested items; nan where there is none.
    n_tested, n_unseen, n_classes : int
        Items tested in some layer; items whose class their training fold lacks, in no rate.
    chance, majority : float or None
        1 over the number of classes; share of the commonest class among tested items.

    Notes
    -----
    A hit shows that a linear map can find the label, not that the model uses it.
    """

    state: State
    reason: str | None
    predicted: Ints
    hits: NDArray[np.bool_]
    tested: NDArray[np.bool_]
    accuracy: Floats
    n_tested: int
    n_unseen: int
    n_classes: int
    chance: float | None
    majority: float | None


@dataclass(frozen=True, slots=True, eq=False)
class ProbeNull:
    """How often permuted labels are read as well as the true ones.

    Parameters
    ----------
    p : (n_layers,) float64
        :math:`(1 + b)/(1 + m)`, b permutations at least as accurate; nan in a constant layer.
    p_best : float
        The same for the most accurate layer of each: what choosing a best layer needs.
    accuracy : (n_permutations, n_layers) float64
        Under permutation.
    """

    p: Floats
    p_best: float
    accuracy: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """For each fold and layer the map from training labels to read-outs of the test items.

    It depends on no label, so permutations cost one product each. Make it with `readers`.

    Parameters
    ----------
    n, n_layers : int
    folds : tuple of (train, test)
        Positions of items.
    maps : tuple of tuple of ((n_test, n_train) float64 or None)
        By fold, then layer; None where all training features are constant.
    """

    n: int
    n_layers: int
    folds: tuple[tuple[Ints, Ints], ...]
    maps: tuple[tuple[Floats | None, ...], ...]

    def probe(self, labels: ArrayLike, *, entities: ArrayLike | None = None) -> Probe:
        """Hits of the read-outs of a label.

        Parameters
        ----------
        labels : (n,) int
            Not negative.
        entities : (n,) int, optional
            Given where the label is meant to say something else than the entity while every
            entity stands in every fold: a label one-to-one with it is refused.

        Raises
        ------
        ShapeError
            When there is not one label an item.
        InputError
            For a label that is no whole number of at least 0.
        """
        y, classes, codes = labels_of(labels, self.n)
        if entities is not None and one_to_one(codes, codes_of(entities, self.n, "entities")):
            return self._refused(ALIAS, len(classes))
        if len(classes) == 1:
            return self._refused(ONE_CLASS, 1)
        seen = self._seen(codes)
        if not self.folds or not seen.any():
            return self._refused(UNSEEN if self.folds else ONE_GROUP, len(classes))
        found = self._read(codes[np.newaxis], len(classes))[0]
        tested = seen & self._varies()
        predicted = np.where(tested, classes[found], -1)
        hits = tested & (predicted == y)
        constant = not tested.any()
        return Probe(
            state=State.DEGENERATE if constant else State.MEASURED,
            reason=CONSTANT if constant else None,
            predicted=predicted,
            hits=hits,
            tested=tested,
            accuracy=_share(hits.sum(axis=1), tested.sum(axis=1)),
            n_tested=int(tested.any(axis=0).sum()),
            n_unseen=int((~seen).sum()),
            n_classes=len(classes),
            chance=1 / len(classes),
            majority=float(np.bincount(codes[seen]).max() / seen.sum()),
        )

    def null(
        self,
        labels: ArrayLike,
        *,
        rng: np.random.Generator,
        within: ArrayLike | None = None,
        entities: ArrayLike | None = None,
        n_permutations: int = N_PERMUTATIONS,
    ) -> ProbeNull:
        """Accuracies under permuted labels, the same permutation in all layers.

        Parameters
        ----------
        labels : (n,) int
        rng : numpy.random.Generator
        within : (n,) int, optional
            Labels move within these groups: the templates, for folds without common templates.
        entities : (n,) int, optional
            Labels move from entity to entity, all rows of one together: for folds without common
            entities, whose rows are no independent ones. Exactly one of the two.
        n_permutations : int, at least 1

        Raises
        ------
        InputError
            When not exactly one of the two is given, or a label differs within an entity.
        """
        _, classes, codes = labels_of(labels, self.n)
        if (within is None) == (entities is None) or n_permutations < 1:
            msg = (
                f"within is {'not ' * (within is None)}given, entities "
                f"{'not ' * (entities is None)}given, n_permutations {n_permutations}; wanted "
                "exactly one way to permute, and a permutation. Give the templates, or entities."
            )
            raise InputError(msg)
        if within is not None:
            strata = codes_of(within, self.n, "within")
            draws = [permuted_within(codes, strata, rng) for _ in range(n_permutations)]
        else:
            units = codes_of(entities if entities is not None else (), self.n, "entities")
            draws = [permuted_across(codes, units, rng) for _ in range(n_permutations)]
        every = np.array([codes, *draws])
        found = self._accuracies(every, len(classes))
        observed, permuted = found[0], found[1:]
        p = (1 + (permuted >= observed).sum(axis=0)) / (1 + n_permutations)
        best = _best(found)
        return ProbeNull(
            p=np.where(np.isnan(observed), np.nan, p),
            p_best=float((1 + (best[1:] >= best[0]).sum()) / (1 + n_permutations)),
            accuracy=permuted,
        )

    def _varies(self) -> NDArray[np.bool_]:
        """(n_layers, n): the layer varies over the items on which the item's read-out is fitted."""
        found = np.zeros((self.n_layers, self.n), np.bool_)
        for (_, test), maps in zip(self.folds, self.maps, strict=True):
            found[:, test] = np.array([m is not None for m in maps])[:, np.newaxis]
        return found

    def _seen(self, codes: Ints) -> NDArray[np.bool_]:
        """(n,): the item's class is in its training fold."""
        seen = np.zeros(self.n, np.bool_)
        for train, test in self.folds:
            seen[test] = np.isin(codes[test], codes[train])
        return seen

    def _accuracies(self, every: Ints, n_classes: int) -> Floats:
        """(n_labellings, n_layers): shares of hits among tested items."""
        step = max(1, _CELLS // (self.n * n_classes))
        shares, varies = [], self._varies()
        for some in (every[at : at + step] for at in range(0, len(every), step)):
            tested = np.array([self._seen(codes) for codes in some])[:, np.newaxis] & varies
            right = self._read(some, n_classes) == some[:, np.newaxis]
            shares.append(_share((right & tested).sum(axis=2), tested.sum(axis=2)))
        return np.concatenate(shares)

    def _read(self, every: Ints, n_classes: int) -> Ints:
        """(n_labellings, n_layers, n): classes read out, each labelling fitted on its own."""
        found = np.full((len(every), self.n_layers, self.n), -1, np.int64)
        for (train, test), maps in zip(self.folds, self.maps, strict=True):
            hot = np.eye(n_classes)[every[:, train]]  # labellings, train, classes
            absent = ~hot.any(axis=1)
            wide = (hot - 1 / n_classes).transpose(1, 0, 2).reshape(len(train), -1)
            for layer, by in enumerate(maps):
                if by is None:
                    continue
                scores = (by @ wide).reshape(len(test), len(every), n_classes)
                scores[:, absent] = -np.inf
                found[:, layer, test] = scores.argmax(axis=2).T
        return found

    def _refused(self, reason: str, n_classes: int) -> Probe:
        none = np.zeros((self.n_layers, self.n), np.bool_)
        return Probe(
            state=State.NOT_APPLICABLE,
            reason=reason,
            predicted=np.full(none.shape, -1, np.int64),
            hits=none,
            tested=none,
            accuracy=np.full(self.n_layers, np.nan),
            n_tested=0,
            n_unseen=self.n,
            n_classes=n_classes,
            chance=None,
            majority=None,
        )


def readers(states: ArrayLike, groups: ArrayLike, *, ridge: float = RIDGE) -> Readers:
    r"""Ridge read-outs in dual form for every group left out in turn.

    Centred and scaled by training statistics (a constant feature by 1), with A the training and B
    the test rows: :math:`B A^T (A A^T + aI)^{-1}` with
    :math:`a = \lambda\,\mathrm{tr}(AA^T)/n_{train}`.

    Parameters
    ----------
    states : (n, D) or (n, n_layers, D) float
    groups : (n,) int
        Templates, every entity in each; or entities, for labels that several of them share.
    ridge : float, above 0
        Lambda, fixed beforehand.

    Raises
    ------
    ShapeError
        When the arrays do not fit.
    InputError
        For a state that is not finite or a ridge out of range.

    Examples
    --------
    >>> made = readers([[0.0], [1.0], [0.1], [1.1]], [0, 0, 1, 1])
    >>> made.probe([0, 1, 0, 1]).accuracy.tolist()
    [1.0]
    """
    h = np.asarray(states)
    h = h[:, np.newaxis] if h.ndim == 2 else h  # noqa: PLR2004 - one layer
    if h.ndim != 3 or not h.size:  # noqa: PLR2004 - items, layers, width
        msg = f"states have shape {np.shape(states)}; wanted (n, D) or (n, n_layers, D)."
        raise ShapeError(msg)
    codes = codes_of(groups, len(h), "groups")
    if not np.isfinite(h).all() or not 0 < ridge < np.inf:
        msg = f"a state is not finite, or ridge {ridge} is not above 0. Leave such items out."
        raise InputError(msg)
    n_groups = int(codes.max()) + 1
    folds = tuple(
        (np.flatnonzero(codes != g), np.flatnonzero(codes == g))
        for g in range(n_groups if n_groups > 1 else 0)
    )
    maps = tuple(
        tuple(_map(h[train, layer], h[test, layer], ridge) for layer in range(h.shape[1]))
        for train, test in folds
    )
    return Readers(len(h), h.shape[1], folds, maps)


def _map(train: NDArray[np.floating], test: NDArray[np.floating], ridge: float) -> Floats | None:
    """From training labels to read-outs of the test rows; None when no feature varies."""
    constant = (train == train[0]).all(axis=0)
    a, b = np.asarray(train, np.float64), np.asarray(test, np.float64)
    mean, spread = a.mean(axis=0), a.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    a = np.where(constant, 0.0, (a - mean) / scale)
    b = (b - np.where(constant, train[0], mean)) / scale
    k = a @ a.T
    trace = float(np.trace(k))
    if trace == 0:
        return None
    k[np.diag_indices_from(k)] += ridge * trace / len(a)
    found: Floats = np.linalg.solve(k, a @ b.T).T
    return found


def _share(hits: NDArray[np.integer], of: NDArray[np.integer]) -> Floats:
    share: Floats = np.divide(hits, of, out=np.full(hits.shape, np.nan), where=of > 0)
    return share


def _best(accuracies: Floats) -> Floats:
    """The largest of each row; -1 where a row has none."""
    best: Floats = np.where(np.isnan(accuracies), -1.0, accuracies).max(axis=1)
    return best
