"""Asks a service, again and again, whether it is ready; started in the service's own network, so it imports little."""

from __future__ import annotations

import http.client
import socket
import sys
import time

PAUSE_SECONDS = 0.02


def is_ready(host: str, port: int, path: str, seconds: float) -> bool:
    """Any status below 500; with no path, a connection is enough."""
    if not path:
        try:
            socket.create_connection((host, port), seconds).close()
        except OSError:
            return False
        return True
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main(host: str, port: str, path: str, seconds: str) -> int:
    deadline = time.monotonic() + float(seconds)
    while (left := deadline - time.monotonic()) > 0:
        if is_ready(host, int(port), path, min(left, 2.0)):
            return 0
        time.sleep(PAUSE_SECONDS)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
