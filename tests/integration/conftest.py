"""Tests against other tools as they are today: they set these up, so they only run when asked for.

Run: pytest -m integration
"""

import pytest

MARKER = "integration"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if MARKER in (config.option.markexpr or ""):
        return
    left = [item for item in items if item.get_closest_marker(MARKER)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
