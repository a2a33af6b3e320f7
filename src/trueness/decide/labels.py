"""Labels read one way only: what is wrong must be said, never guessed."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueness.contract.errors import AmbiguousLabels, InputError, ShapeError

UNSUPPORTED, SUPPORTED = "unsupported", "supported"
UNKNOWN = -1
"""Code of an item without a label."""

Codes = NDArray[np.int8]
Positive = Literal["supported", "unsupported"]


def unsupported_codes(labels: object, *, positive: str | None = None) -> Codes:
    """1 for unsupported, 0 for supported, -1 without a label.

    Parameters
    ----------
    labels : sequence or array
        Truth values that mean *unsupported*, the words ``supported`` and ``unsupported``, or,
        with ``positive``, the numbers 0 and 1. None is no label.
    positive : ``"supported"`` or ``"unsupported"``, optional
        What the number 1 stands for.

    Raises
    ------
    AmbiguousLabels
        For 0 and 1 without ``positive``, or labels of several kinds.
    InputError
        For any other label.
    ShapeError
        For an array that is not one label an item.

    Examples
    --------
    >>> unsupported_codes(["supported", "unsupported", None]).tolist()
    [0, 1, -1]
    >>> unsupported_codes([0, 1], positive="supported").tolist()
    [1, 0]
    """
    _check_positive(positive)
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        msg = f"labels have shape {labels.shape}; wanted one label an item: (n,)."
        raise ShapeError(msg)
    if isinstance(labels, np.ma.MaskedArray):
        labels = labels.tolist()  # None where it is masked
    if isinstance(labels, np.ndarray) and labels.dtype == np.bool_:
        return labels.astype(np.int8)
    if isinstance(labels, (str, bytes)) or not isinstance(labels, (Sequence, np.ndarray)):
        msg = (
            f"labels are a {type(labels).__name__}; wanted a list or an array with one label an "
            "item. Pass True for unsupported, or the words supported and unsupported."
        )
        raise InputError(msg)
    given = labels.tolist() if isinstance(labels, np.ndarray) else labels
    kinds = {_kind(place, label) for place, label in enumerate(given)} - {"none"}
    if len(kinds) > 1:
        msg = f"labels mix {' and '.join(sorted(kinds))}; wanted one kind. Write them all as words."
        raise AmbiguousLabels(msg)
    if kinds == {"numbers"} and positive is None:
        msg = (
            "labels are the numbers 0 and 1 and published data sets disagree on which is "
            "supported; wanted what 1 means. Say --positive supported or --positive unsupported "
            "(in Python positive=…), or write the words."
        )
        raise AmbiguousLabels(msg)
    flip = kinds == {"numbers"} and positive == SUPPORTED
    codes = np.fromiter((_code(label) for label in given), np.int8, len(given))
    return np.where(codes >= 0, 1 - codes, codes).astype(np.int8) if flip else codes


def _check_positive(positive: str | None) -> None:
    if positive not in {None, SUPPORTED, UNSUPPORTED}:
        msg = f"positive is {positive!r}; wanted 'supported' or 'unsupported': what 1 stands for."
        raise InputError(msg)


def _kind(place: int, label: object) -> str:
    if label is None:
        return "none"
    if isinstance(label, (bool, np.bool_)):
        return "truth values"
    if isinstance(label, str) and label in {SUPPORTED, UNSUPPORTED}:
        return "words"
    if isinstance(label, (int, float)) and label in {0, 1}:
        return "numbers"
    msg = (
        f"the label of row {place + 1} is {label!r}; wanted the word supported or unsupported, "
        "true (unsupported) or false (supported), or nothing where there is no label. Replace "
        "the labels by these words, or by 0 and 1 with --positive (in Python positive=…)."
    )
    raise InputError(msg)


def _code(label: object) -> int:
    if label is None:
        return UNKNOWN
    return int(label == UNSUPPORTED) if isinstance(label, str) else int(bool(label))
