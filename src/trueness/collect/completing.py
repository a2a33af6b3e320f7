"""One result for each request, whatever a backend returns."""

from collections.abc import Iterable, Iterator, Sequence

from trueness.backends.protocol import Key, Model, Request, Result, Streaming
from trueness.contract.errors import ProtocolError


def completed(model: Model, batch: Sequence[Request]) -> Iterator[Result]:
    """One result for each request of a batch; what is left out becomes a failure.

    Raises
    ------
    ProtocolError
        For a result that was not asked for, or came before.
    """
    left = {request.key for request in batch}
    for result in model.complete(batch):
        _strike(result.key, left, model)
        yield result
    for key in sorted(left):
        yield Result.failed(key, "no_result")


def streamed(model: Streaming, requests: Iterable[Request]) -> Iterator[Sequence[Result]]:
    """Parts of results as they arrive, one result for each request; requests are made when wanted.

    Raises
    ------
    ProtocolError
        For a result that was not asked for, or came before.
    """
    in_flight: set[Key] = set()

    def noted() -> Iterator[Request]:
        for request in given:
            in_flight.add(request.key)
            yield request

    given = iter(requests)
    for part in model.stream(noted()):
        for result in part:
            _strike(result.key, in_flight, model)
        yield part
    never_sent = (request.key for request in given)
    if lost := [Result.failed(key, "no_result") for key in (*sorted(in_flight), *never_sent)]:
        yield lost


def _strike(key: Key, left: set[Key], model: Model | Streaming) -> None:
    """Strike an answered key off what is left."""
    if key not in left:
        name = getattr(model, "name", type(model).__name__)
        msg = (
            f"{name} answered {key!r}, which was not asked or was answered before. "
            "Repair the backend."
        )
        raise ProtocolError(msg)
    left.discard(key)
