"""The server process of `local/…`: loads the weights, says where it listens, and ends when its parent does.

Run as `python -m proctor.models.local_server PATH THREADS PARALLEL CONTEXT`. The parent holds the other end of
standard input: when it goes, however it goes, reading ends, and so does this process.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    import xllamacpp

    path, threads, parallel, context = sys.argv[1], *map(int, sys.argv[2:5])
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.port = 0
    parameters.n_ctx = context * parallel
    parameters.n_parallel = parallel
    parameters.n_gpu_layers = 0
    parameters.verbosity = 0
    for settings in (parameters.cpuparams, parameters.cpuparams_batch):
        settings.n_threads = threads
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)  # noqa: T201 - what the parent waits for
    sys.stdin.read()
    # The library joins its own threads for ever when it is told to go while a request runs.
    os._exit(0)


if __name__ == "__main__":
    main()
