"""A llama.cpp server with the embedded model, until Ctrl-C: python llama_server.py [PORT]."""  # noqa: INP001 - an example

import sys
import threading

import xllamacpp

from trueness.backends.weights import fetch, path_of


def main(port: int) -> None:
    """Fetch the weights where they are missing, serve them on the loopback, say where."""
    fetch("embedded")
    given = xllamacpp.CommonParams()
    given.model.path = str(path_of("embedded"))
    given.hostnames, given.port, given.ui = ["127.0.0.1"], port, False
    given.n_parallel, given.n_ctx = 1, 1024  # one question at a time: the same answer every time
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1  # several wait for each other
    given.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    given.verbosity = -1
    server = xllamacpp.Server(given)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 8080)
    except KeyboardInterrupt:
        sys.exit(130)
