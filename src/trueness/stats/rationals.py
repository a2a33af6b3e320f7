"""Exact numbers: what order and distance are decided in."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from trueness.contract.errors import InputError, ShapeError

Number = int | Fraction | Decimal
"""What is accepted as an exact number; floats are not: they are rounded already."""

Exact = int | Fraction
"""What comparisons are made in."""


def rational(value: Number, where: str = "value") -> Exact:
    """The same number as a whole number or a fraction.

    Parameters
    ----------
    value : int, Fraction or Decimal
    where : str
        Name of the place, for the error.

    Raises
    ------
    InputError
        For a float, a truth value, text, or a decimal that is not finite.

    Examples
    --------
    >>> rational(Decimal("2.50")), rational(7)
    (Fraction(5, 2), 7)
    """
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, Decimal)):
        msg = (
            f"{where} is {value!r} of type {type(value).__name__}; exact numbers are int, Fraction "
            "or Decimal. Parse the text as a decimal, or pass None for what is no number."
        )
        raise InputError(msg)
    if isinstance(value, Decimal):
        if not value.is_finite():
            msg = f"{where} is {value}; it must be finite. Pass None for what is no number."
            raise InputError(msg)
        return _lowest(Fraction(value))
    return _lowest(value) if isinstance(value, Fraction) else value


def rational_table(
    values: Sequence[Sequence[Number | None]], where: str = "values"
) -> list[list[Exact | None]]:
    """Every number of an entity-by-column table made exact; ``None`` stays ``None``.

    Raises
    ------
    ShapeError
        If the rows differ in length.
    InputError
        As :func:`rational`.
    """
    widths = {len(row) for row in values}
    if len(widths) > 1:
        msg = (
            f"the rows of {where} hold {sorted(widths)} columns; every entity needs the same "
            "number of columns. Fill the gaps with None."
        )
        raise ShapeError(msg)
    return [
        [None if v is None else rational(v, f"{where}[{e}][{t}]") for t, v in enumerate(row)]
        for e, row in enumerate(values)
    ]


def _lowest(value: Fraction) -> Exact:
    return value.numerator if value.denominator == 1 else value
