"""Real benchmark rows, and a sandbox to score them in."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from proctor.domain.errors import SandboxError
from proctor.sandboxes.backends import create
from proctor.sandboxes.pool import SandboxPool

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
Item = TypeVar("Item")


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"no {name}.jsonl beside the project")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def chosen(items: list[Item], count: int) -> list[Item]:
    """Always the same few of them, in their order; all of them with `make sweep`."""
    if os.environ.get("PROCTOR_TEST_SWEEP"):
        return items
    return [items[place] for place in sorted(random.Random(20_240_601).sample(range(len(items)), count))]


def with_sandbox(work: Callable[[SandboxPool], Awaitable[Any]]) -> Any:
    try:
        sandbox = create("namespaces")
    except SandboxError as error:
        pytest.skip(str(error))

    async def run() -> Any:
        try:
            return await work(sandbox)
        finally:
            await sandbox.close()

    return asyncio.run(run())
