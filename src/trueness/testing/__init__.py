"""Assertions for test suites: what fails says what was measured, of how many, how sure.

Each raises ``AssertionError`` when the assertion fails, and `Unmeasured` when nobody can tell: what
could not be measured is neither a failure nor a pass. They work in any test runner; the pytest
plugin offers them as fixtures of the same names.

>>> rows = [{"country": c, "answer": "Paris"} for c in ("France", "Peru", "Chad")]
>>> assert_error_floor(rows, at_most=0.7, entity="country", relation="injective").value
0.6666666666666666
"""

from trueness.testing.answers import assert_error_floor as assert_error_floor
from trueness.testing.answers import assert_no_regression as assert_no_regression
from trueness.testing.claims import assert_grounded as assert_grounded
from trueness.testing.settling import Unmeasured as Unmeasured
