"""The server process of `local/…`: loads the weights, says where it listens, and ends with the last who uses it.

Run as `python -m proctor.models.local_server USERS PATH THREADS PARALLEL CONTEXT`. Whoever uses it holds a lock on the
file USERS: when the last of them goes, however he goes, this process gets the lock, and ends.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from proctor.models.shared_server import wait_until_unused


def main() -> None:
    import xllamacpp

    users, path = sys.argv[1:3]
    threads, parallel, context = map(int, sys.argv[3:6])
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
    wait_until_unused(Path(users))
    # The library joins its own threads for ever when it is told to go while a request runs.
    os._exit(0)


if __name__ == "__main__":
    main()
