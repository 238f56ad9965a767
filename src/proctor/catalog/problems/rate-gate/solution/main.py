"""Start the gate: PORT comes from the environment."""

from __future__ import annotations

import os
import signal
import sys
import time

from api import routes
from buckets import Gate
from web import Server


def main() -> None:
    """Serve until a TERM signal arrives."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    gate = Gate(time.monotonic)
    with Server(int(os.environ["PORT"]), routes(gate)) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
