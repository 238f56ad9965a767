"""One server for the tests of a worker, with one run in it: starting one costs a second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server.serving import SECRET, Server, serving

PLAN: dict[str, Any] = {
    "name": "first",
    "models": ["demo/strong", "demo/weak"],
    "benchmarks": [{"benchmark": "puzzles", "limit": 12}],
    "seed": 7,
}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("served")
    with serving(folder / "home", folder, PROCTOR_SECRET=SECRET) as found:
        yield found


@pytest.fixture(scope="session")
def finished(server: Server) -> str:
    """The id of a run that is complete."""
    return server.run(PLAN)
