"""Sends a list of requests to a service, one after the other; started in the service's own network.

Reads JSON from standard input: host, port, and requests with method, path, body and headers. Prints how many were
answered with which status.
"""

from __future__ import annotations

import collections
import http.client
import json
import sys
from typing import Any

SECONDS = 10


def send(host: str, port: int, requests: list[dict[str, Any]]) -> dict[str, int]:
    seen: collections.Counter[str] = collections.Counter()
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    for one in requests:
        body = one.get("body")
        try:
            connection.request(
                one["method"], one["path"], None if body is None else body.encode(), one.get("headers") or {}
            )
            reply = connection.getresponse()
            reply.read()
            seen[str(reply.status)] += 1
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            seen[type(error).__name__] += 1
    connection.close()
    return dict(seen)


def main() -> None:
    order = json.load(sys.stdin)
    print(json.dumps(send(order["host"], order["port"], order["requests"])))  # noqa: T201  its answer


if __name__ == "__main__":
    main()
