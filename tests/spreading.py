"""Which tests go to the same worker: those that share something costly, which the first of them makes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = (  # those for which the parts in parentheses are the same
    # Every program and every forgery is run for the first test of a backend, in a sandbox that was made for it.
    re.compile(
        r"(tests/sandboxes/test_(?:hostile|forgeries|supervised_programs|supervision)\.py)::.*"
        r"\[(namespaces|bubblewrap|firejail|nsjail|none)\b"
    ),
    # One engine at a time: two of them starve each other.
    re.compile(r"(tests/sandboxes/).*[\[-](?:docker|podman|kubernetes)\b"),
    # One load at a time, on the whole machine: another worker would only wait for its turn.
    re.compile(r"(tests/programs/)test_(?:earned_performance|marking)\.py"),
    # Libraries to compare with that take seconds to import.
    re.compile(r"(tests/)(?:models/test_(?:official_sdks|more_sdks|tool_history)|batches/test_batch_apis)\.py"),
    re.compile(r"(tests/metrics/)test_(?:agreement|classification|compare|intervals|power)\.py"),
    # One proof of the problem that agents work at.
    re.compile(r"(tests/runs/test_programs\.py)::test_(?:an_agent_builds|what_an_agent_does)"),
    # One server of S3, which one of them stops and starts again.
    re.compile(r"(tests/stores/artifacts/)"),
    # One copy of each data set.
    re.compile(r"(tests/catalog/test_catalog\.py)"),
)
CHEAP = frozenset(
    {
        "tests/models/test_trust.py",
        "tests/sandboxes/workspaces/test_looking.py",
        "tests/scorers_code/test_extraction.py",
    }
)
"""Each worker may make what these share for itself: it takes milliseconds."""
ROOT = Path(__file__).resolve().parents[1]
_SHARED = re.compile(r'^@pytest\.fixture\(.*scope="module"', re.MULTILINE)


@cache
def shares(file: str) -> bool:
    """Whether the tests of a file share what takes a while to make: a server, a database, a browser."""
    return file not in CHEAP and _SHARED.search((ROOT / file).read_text(encoding="utf-8")) is not None


class Spreading(LoadScopeScheduling):
    """One test after the other to whoever is free, in the order they are in; some go together."""

    def __init__(self, config: Any, log: Any) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        found = (pattern.match(nodeid) for pattern in TOGETHER)
        named = next((" ".join(one.groups()) for one in found if one), None)
        file = nodeid.partition("::")[0]
        return named or (file if shares(file) else nodeid)
