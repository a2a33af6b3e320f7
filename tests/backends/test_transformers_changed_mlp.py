"""Feed-forward matrices changed for a while: what is scored changes, and comes back to the bit."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from trueness.backends.protocol import Request
from trueness.contract.errors import InputError, ShapeError

pytest.importorskip("transformers", reason="the extra 'local' is not installed")
pytest.importorskip("torch", reason="the extra 'local' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")

if TYPE_CHECKING:
    from trueness.backends.local.model import LocalModel

REQUESTS = [Request(("0", 1, "none"), "some words")]


def test_a_change_holds_inside_and_is_gone_behind_it(tiny: "LocalModel") -> None:
    before = tiny.next_logits(REQUESTS)
    seen: list[tuple[tuple[int, ...], int]] = []

    def nothing(w: Any, place: int) -> Any:
        seen.append((w.shape, place))
        return np.zeros_like(w)

    with tiny.changed_mlp(1, nothing) as n:
        inside = tiny.next_logits(REQUESTS)
    assert n == 3
    assert [place for _, place in seen] == [0, 1, 2]
    assert not np.array_equal(before, inside)
    assert np.array_equal(before, tiny.next_logits(REQUESTS))
    with tiny.changed_mlp(1, lambda w, _: w):
        assert np.array_equal(before, tiny.next_logits(REQUESTS))


def test_it_comes_back_after_an_exception_and_after_a_bad_matrix(tiny: "LocalModel") -> None:
    before = tiny.next_logits(REQUESTS)
    with pytest.raises(ZeroDivisionError), tiny.changed_mlp(0, lambda w, _: 0 * w):
        raise ZeroDivisionError
    assert np.array_equal(before, tiny.next_logits(REQUESTS))
    for bad in (lambda w, _: w[:1], lambda w, place: w * (np.nan if place else 0)):
        with pytest.raises(ShapeError, match="finite numbers"), tiny.changed_mlp(0, bad):
            pass
        assert np.array_equal(before, tiny.next_logits(REQUESTS))


def test_a_block_that_is_not_there_is_refused(tiny: "LocalModel") -> None:
    with (
        pytest.raises(InputError, match="give one from 0 to 2"),
        tiny.changed_mlp(3, lambda w, _: w),
    ):
        pass
