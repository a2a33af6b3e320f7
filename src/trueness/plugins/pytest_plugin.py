"""The assertions of `trueness.testing` as pytest fixtures.

pytest loads this in every run of every project where trueness is installed. So nothing is imported
before a fixture is used, and nothing is opened.
"""

import sys
from collections.abc import Callable, Generator
from typing import Any

import pytest

_HOME = "trueness.testing"
_MARK = "trueness_unmeasured"


@pytest.fixture(scope="session")
def assert_error_floor() -> Callable[..., Any]:
    """At most so large a share of answers is proved wrong: `trueness.testing`."""
    from trueness import testing  # noqa: PLC0415 - only where it is used

    return testing.assert_error_floor


@pytest.fixture(scope="session")
def assert_grounded() -> Callable[..., Any]:
    """A gate accepts claims on their evidence: `trueness.testing`."""
    from trueness import testing  # noqa: PLC0415 - only where it is used

    return testing.assert_grounded


@pytest.fixture(scope="session")
def assert_no_regression() -> Callable[..., Any]:
    """Two tables of repeated answers show no regression: `trueness.testing`."""
    from trueness import testing  # noqa: PLC0415 - only where it is used

    return testing.assert_no_regression


@pytest.hookimpl(hookwrapper=True)  # the older form, which every pytest knows
def pytest_runtest_makereport(call: "pytest.CallInfo[None]") -> Generator[None, Any, None]:
    """Mark the report of a test whose assertion could not be measured."""
    outcome = yield
    testing = sys.modules.get(_HOME)
    if testing is not None and call.excinfo is not None:
        found = isinstance(call.excinfo.value, testing.Unmeasured)
        setattr(outcome.get_result(), _MARK, found)  # survives the way from another process


def pytest_report_teststatus(
    report: "pytest.CollectReport | pytest.TestReport",
) -> tuple[str, str, str] | None:
    """Count what could not be measured among the errors, not among the failures."""
    if report.failed and getattr(report, _MARK, False):
        return "error", "E", "ERROR"
    return None
