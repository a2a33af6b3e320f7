"""Many machines give what one process gives, also when a worker dies."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from trueness.api import ask
from trueness.api.grounding import ground
from trueness.backends import open_model
from trueness.backends.clusters import Opening, RayEmbedder, RayModel, start
from trueness.backends.protocol import Request, Result
from trueness.backends.registry import open_embedder
from trueness.backends.weights import is_present
from trueness.contract.errors import InputError
from trueness.table import read_answers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")

FACTS = {f"E{i}": f"A{i}" for i in range(48)}
REQUESTS = [
    Request((f"q{i}", 1, "none"), f"The answer of E{i} is", seed=i) for i in range(len(FACTS))
]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Two workers on this machine."""
    start()
    yield
    ray.shutdown()


def streamed(model: RayModel) -> list[Result]:
    return sorted((r for part in model.stream(REQUESTS) for r in part), key=lambda r: r.key)


def alone(script: str) -> list[Result]:
    found = open_model(f"scripted:{script}", facts=FACTS).complete(REQUESTS)
    return sorted(found, key=lambda r: r.key)


def test_every_request_is_answered_once_and_as_in_one_process() -> None:
    model = RayModel(Opening("scripted:right", {}, FACTS))
    assert model.identity == open_model("scripted:right", facts=FACTS).identity
    assert streamed(model) == alone("right")


def workers() -> list[int]:
    """Process ids of the workers of this machine's cluster that map rows."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::MapWorker"):
            found.append(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc").exists(), reason="workers are found in /proc")
def test_a_worker_that_is_killed_in_the_middle_loses_nothing() -> None:
    model = RayModel(Opening("scripted:slow", {"seconds": "0.4"}, FACTS))
    killed: list[int] = []

    def kill() -> None:
        for _ in range(600):
            if found := workers():
                time.sleep(0.5)
                os.kill(found[0], signal.SIGKILL)
                killed.append(found[0])
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    found = streamed(model)
    killer.join()
    assert killed
    assert found == alone("slow")


def test_a_table_that_was_asked_on_the_cluster_is_the_table_of_one_process(tmp_path: Path) -> None:
    paths = {engine: tmp_path / f"{engine}.jsonl" for engine in ("local", "ray")}
    for engine, path in paths.items():
        ask(
            "capital",
            model="scripted:collapse",
            conditions="none,the:8",
            out=path,
            cache=False,
            engine=engine,
        )
    one, two = (
        sorted(zip(t.item.values(), t.condition.values(), t.answer.values(), strict=True))
        for t in map(read_answers, paths.values())
    )
    assert one == two
    assert len(one) > 100


@pytest.mark.skipif(not is_present("minilm"), reason="the embedded embedder is not fetched")
def test_vectors_of_the_cluster_are_those_of_one_process_to_the_bit() -> None:
    texts = [f"Sentence number {i} is about {i * i} things." for i in range(130)]
    one = open_embedder("embedded").embed(texts, "claim")
    assert np.array_equal(RayEmbedder("embedded").embed(texts, "claim"), one)
    rows = [{"claim": t, "evidence": [texts[i - 1], texts[i - 2]]} for i, t in enumerate(texts)]
    here, there = ground(rows), ground(rows, embedder=RayEmbedder("embedded"))
    assert there.to_dict() == here.to_dict()


def test_fewer_than_one_worker_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        RayModel(Opening("scripted:right", {}, FACTS), workers=0)
