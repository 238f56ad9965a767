"""Start the desk: PORT and DATA_DIR come from the environment."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from api import routes
from desk import Desk
from journal import Journal
from web import Server


def main() -> None:
    """Serve until a TERM signal arrives."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    desk = Desk(Journal(Path(os.environ["DATA_DIR"]) / "jobs.jsonl"), time.time)
    with Server(int(os.environ["PORT"]), routes(desk)) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
