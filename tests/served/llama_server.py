"""The real llama.cpp server with the embedded weights, on the loopback interface."""

from collections.abc import Iterator
from contextlib import contextmanager

import xllamacpp

from trueness.backends.weights import fetch, path_of

KEY = "sk-real-0123456789abcdefghij"


@contextmanager
def llama_server(*, slots: int = 2, embeddings: bool = False) -> Iterator[str]:
    """The base URL of a server that runs while the block does; it wants `KEY`."""
    fetch("embedded")
    given = xllamacpp.CommonParams()
    given.model.path = str(path_of("embedded"))
    given.n_parallel, given.n_ctx = slots, slots * 512
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    given.hostnames, given.port, given.api_keys, given.ui = ["127.0.0.1"], 0, [KEY], False
    given.n_threads_http, given.verbosity = 8, -1
    if embeddings:
        given.embedding = True
        given.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(given)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server
