"""Requests to a service one after the other, sent from its own network by a process with limits."""

from __future__ import annotations

import base64
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.domain.workspace import Reach
from proctor.programs.load_answers import MAX_BODY_BYTES, LoadAnswer, LoadFailedError
from proctor.programs.tools.running import ToolError, run_tool
from proctor.programs.tools.scratch import scratch

_REQUESTS = Path(__file__).parent / "checking" / "requests.py"
SECONDS = 60.0


async def send(reach: Reach, requests: Sequence[Mapping[str, Any]], seconds: float = SECONDS) -> tuple[LoadAnswer, ...]:
    """The answers in the order of the requests; a service that keeps the sender from its end has failed."""
    plain = [{name: one.get(name) for name in ("method", "path", "body", "headers")} for one in requests]
    with scratch() as folder:
        order = folder / "order.json"
        asked = {"host": reach.host, "port": reach.port, "most": MAX_BODY_BYTES, "requests": plain}
        order.write_text(json.dumps(asked), encoding="utf-8")
        command = (*reach.prefix, sys.executable, "-I", "-S", "-B", str(_REQUESTS), str(order))
        try:
            code, out, err = await run_tool((shutil.which(command[0]) or command[0], *command[1:]), folder, seconds)
        except ToolError as error:
            raise LoadFailedError(f"{len(requests)} requests one after the other: {error}") from error
    if code:
        raise LoadFailedError(f"the sender ended with {code}: {err.decode('utf-8', 'replace')[-300:]}")
    return tuple(_answer(place, json.loads(line)) for place, line in enumerate(out.splitlines(), 1))


def _answer(place: int, seen: Mapping[str, Any]) -> LoadAnswer:
    return LoadAnswer(place, int(seen["status"]), seen["headers"], base64.b64decode(seen["body"]))
