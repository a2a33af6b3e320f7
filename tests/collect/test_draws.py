"""Requests are made when they are wanted: what is held does not grow with the draws."""

import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from trueness.backends import Request, Result
from trueness.backends.scripted import ScriptedModel
from trueness.collect import Quiz, ask
from trueness.collect.draws import Draws
from trueness.collect.prefixes import hash_first, hash_order
from trueness.collect.selfcheck import positions

QUIZ = Quiz("made", ("The mark of {e} is",), tuple(f"entity {i}" for i in range(100)))


def _peak(epochs: int, folder: Path, *, resume: bool = False) -> int:
    """Bytes that asking holds at most."""
    model, out = ScriptedModel("right", {}, 0.0), folder / f"{epochs}.jsonl"
    tracemalloc.start()
    try:
        summary = ask(QUIZ, model, out=out, epochs=epochs, temperature=1.0, resume=resume)
        assert summary.n_rows == 100 * epochs
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_draws(tmp_path: Path) -> None:
    _peak(1, tmp_path)  # what is loaded once is loaded
    few, many = _peak(5, tmp_path), _peak(40, tmp_path)
    assert many - few < 100 * 3_500  # a request alone has more bytes


def test_resuming_holds_keys_and_no_rows(tmp_path: Path) -> None:
    _peak(1, tmp_path)
    few, many = _peak(5, tmp_path), _peak(40, tmp_path)
    few, many = _peak(5, tmp_path, resume=True), _peak(40, tmp_path, resume=True)
    assert many - few < 150 * 3_500  # and so has a row


class _Taking(ScriptedModel):
    """Streams, and never holds more than four requests."""

    n_taken = n_given = most = 0
    remarks: tuple[str, ...] = ()

    def stream(self, requests: Iterable[Request]) -> Iterator[Sequence[Result]]:
        held: list[Request] = []
        for request in requests:
            type(self).n_taken += 1
            held.append(request)
            type(self).most = max(self.most, self.n_taken - self.n_given)
            if len(held) == 4:
                type(self).n_given += 4
                yield list(ScriptedModel.complete(self, held))
                held = []
        yield list(ScriptedModel.complete(self, held))


def test_a_model_that_streams_is_given_requests_as_it_takes_them(tmp_path: Path) -> None:
    summary = ask(QUIZ, _Taking("right", {}, 0.0), out=tmp_path / "t", epochs=3)
    assert (summary.n_rows, summary.n_errors) == (300, 0)
    assert _Taking.most <= 7 + 4  # the self-check is asked at once


class _Stopping(ScriptedModel):
    """Streams, and ends before it was given everything."""

    remarks: tuple[str, ...] = ()

    def stream(self, requests: Iterable[Request]) -> Iterator[Sequence[Result]]:
        few = [request for request, _ in zip(requests, range(12), strict=False)]
        yield list(ScriptedModel.complete(self, few))


def test_what_a_model_never_took_is_a_failure_and_is_asked_again_on_request(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    summary = ask(QUIZ, _Stopping("right", {}, 0.0), out=out)
    assert summary.n_rows == 100
    assert summary.errors == {"no_result": 100 - 6 - 12}
    again = ask(QUIZ, _Taking("right", {}, 0.0), out=out, resume=True, retry_errors=True)
    assert (again.n_asked, again.n_errors) == (82, 0)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.integers(1, 4),
    st.sets(st.integers(0, 23)),
)
def test_draws_are_those_that_are_not_settled(
    sizes: list[int], epochs: int, settled: set[int]
) -> None:
    items = [f"i{n}" for n in range(len(sizes))]
    keys = [(item, epoch, "none") for epoch in range(1, epochs + 1) for item in items]
    done = {key for i, key in enumerate(keys) if i in settled}
    draws = Draws(items, sizes, epochs=epochs, condition="none", settled=done.__contains__)
    left = [key for key in keys if key not in done]
    assert len(draws) == len(left)
    assert draws.n_settled == len(keys) - len(left)
    assert list(draws.sizes()) == [sizes[items.index(item)] for item, _, _ in left]
    size = {item: (n, item) for item, n in zip(items, sizes, strict=True)}
    by_size = [draws.key(place) for place in draws.by_size()]
    assert by_size == sorted(left, key=lambda key: (size[key[0]], key))
    assert sorted(draws.key(place) for place in draws.by_item()) == sorted(left)
    assert [draws.key(place) for place in draws.at(range(0, len(left), 2))] == left[::2]
    for place in list(draws.by_item()):
        draws.strike(place)
    assert len(draws) == 0


@given(st.lists(st.integers(1, 5), max_size=40), st.integers(0, 3), st.integers(0, 5))
def test_positions_are_those_of_the_whole_order(sizes: list[int], random: int, seed: int) -> None:
    assert hash_first(len(sizes), seed, 5) == hash_order(range(len(sizes)), seed)[:5]
    order = range(len(sizes))
    wanted: set[int] = set()
    if sizes:
        wanted = {0, len(sizes) - 1, min(order, key=lambda i: sizes[i])}
        wanted.add(max(order, key=lambda i: (sizes[i], -i)))
        others = [i for i in hash_order(order, seed) if i not in wanted]
        wanted.update(others[:random])
    assert positions(iter(sizes), random=random, seed=seed) == tuple(sorted(wanted))
