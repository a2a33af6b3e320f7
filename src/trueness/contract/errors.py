"""The exceptions that are raised on purpose; everything else is a defect.

::

    TruenessError
    ├── InputError (ValueError)          what was handed in cannot be used
    │   ├── ShapeError                   lengths or dimensions do not fit
    │   ├── AmbiguousLabels              two meanings, nothing says which
    │   ├── TooFewCalibrationItems       the guarantee needs more items
    │   ├── DependentItems               items are not what the guarantee assumes
    │   ├── NoNegativePossible           no negative example can be made
    │   ├── GuardUnavailable             a guard that was asked for cannot work
    │   ├── InvalidReading               a reading contradicts itself
    │   ├── PolicyError                  a policy cannot be carried out
    │   └── CannotSerialise              no strict JSON for this value
    ├── ProtocolError                    answers were not obtained as declared
    │   └── FingerprintMismatch          two protocols differ where they must not
    ├── MissingExtraError (ImportError)  an optional dependency is not installed
    └── BackendError                     a model or its server failed

Every message says what was given, what was wanted and what to do.
"""


class TruenessError(Exception):
    """Base of every error that is raised on purpose."""


class InputError(TruenessError, ValueError):
    """What was handed in cannot be used as it is."""


class ShapeError(InputError):
    """Lengths or dimensions do not fit together."""


class AmbiguousLabels(InputError):  # noqa: N818 - the tree's names are fixed by the style guide
    """Two readings of the labels are possible and nothing says which is meant."""


class TooFewCalibrationItems(InputError):  # noqa: N818 - as above
    """The guarantee that was asked for needs more items than there are.

    Parameters
    ----------
    message : str
        Given; wanted; do this.
    n, n_needed : int or None
        How many there are, how many it takes.
    smallest_budget : float or None
        What so many could carry.
    """

    def __init__(
        self,
        message: str,
        *,
        n: int | None = None,
        n_needed: int | None = None,
        smallest_budget: float | None = None,
    ) -> None:
        super().__init__(message)
        self.n = n
        self.n_needed = n_needed
        self.smallest_budget = smallest_budget


class DependentItems(InputError):  # noqa: N818 - as above
    """Items are not independent in the way the guarantee assumes."""


class NoNegativePossible(InputError):  # noqa: N818 - as above
    """No negative example can be made from what is there.

    Parameters
    ----------
    message : str
        Given; wanted; do this.
    largest_source : str or None
        The source that stands in the way.
    size, n : int or None
        Its items, of how many.
    """

    def __init__(
        self,
        message: str,
        *,
        largest_source: str | None = None,
        size: int | None = None,
        n: int | None = None,
    ) -> None:
        super().__init__(message)
        self.largest_source = largest_source
        self.size = size
        self.n = n


class GuardUnavailable(InputError):  # noqa: N818 - as above
    """A guard was asked for that cannot work on this input."""


class InvalidReading(InputError):  # noqa: N818 - as above
    """A reading contradicts itself."""


class PolicyError(InputError):
    """A policy cannot be carried out on this reading."""


class CannotSerialise(InputError):  # noqa: N818 - as above
    """A value has no strict JSON form."""


class ProtocolError(TruenessError):
    """Answers were not obtained as the protocol says."""


class FingerprintMismatch(ProtocolError):  # noqa: N818 - as above
    """Two protocols differ in a field that must be equal.

    Parameters
    ----------
    message : str
        Given; wanted; do this.
    differs : tuple of str
        The fields.
    """

    def __init__(self, message: str, *, differs: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.differs = differs


class MissingExtraError(TruenessError, ImportError):
    """An optional dependency is not installed; the message holds the pip line."""


class BackendError(TruenessError):
    """A model, or the server in front of it, failed.

    Parameters
    ----------
    message : str
        Given; wanted; do this.
    retryable : bool
        Whether the same request may succeed later.
    hint : str
        What to do about it.
    """

    def __init__(self, message: str, *, retryable: bool = False, hint: str = "") -> None:
        super().__init__(message if not hint else f"{message} {hint}")
        self.retryable = retryable
        self.hint = hint
