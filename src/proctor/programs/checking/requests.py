"""Sends a list of requests to a service, one after the other; started in the service's own network.

Reads JSON from the file it is given: host, port, the most bytes of a body, and requests with method, path, body and
headers. Prints each answer as a line of JSON: status, headers, and the body in base 64.
"""

from __future__ import annotations

import base64
import http.client
import json
import sys
from pathlib import Path
from typing import Any

SECONDS = 10


def ask(connection: http.client.HTTPConnection, one: dict[str, Any], most: int) -> dict[str, Any]:
    """One answer; status 0 when there is none. A body is read up to its limit: a service may send for ever."""
    body = one.get("body")
    try:
        connection.request(
            one["method"], one["path"], None if body is None else body.encode(), one.get("headers") or {}
        )
        reply = connection.getresponse()
        content = reply.read(most)
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return {"status": 0, "headers": {}, "body": base64.b64encode(type(error).__name__.encode()).decode()}
    if len(content) == most:
        connection.close()
    headers = {name.lower(): value for name, value in reply.getheaders()}
    return {"status": reply.status, "headers": headers, "body": base64.b64encode(content).decode()}


def main() -> None:
    order = json.loads(Path(sys.argv[1]).read_bytes())
    connection = http.client.HTTPConnection(order["host"], order["port"], timeout=SECONDS)
    for one in order["requests"]:
        print(json.dumps(ask(connection, one, order["most"])))  # noqa: T201  its answer
    connection.close()


if __name__ == "__main__":
    main()
