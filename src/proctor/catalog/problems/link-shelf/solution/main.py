"""Start the shelf: PORT and DATA_DIR come from the environment."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from api import routes
from shelf import Shelf
from web import Server


def main() -> None:
    """Serve until a TERM signal arrives."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    shelf = Shelf(Path(os.environ["DATA_DIR"]) / "links.jsonl")
    with Server(int(os.environ["PORT"]), routes(shelf)) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
