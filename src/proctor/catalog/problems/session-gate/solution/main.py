"""Starts the service: `python3 main.py`, with PORT and DATA_DIR in the environment."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from gate.accounts import Accounts
from gate.web import Server


def main() -> None:
    """Serve until a TERM signal arrives."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    accounts = Accounts(Path(os.environ["DATA_DIR"]) / "journal.jsonl")
    with Server(int(os.environ["PORT"]), accounts) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
