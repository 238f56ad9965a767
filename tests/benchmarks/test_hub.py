"""Data from a hub: a real client against a hub on loopback, each in a process of its own, as a user runs it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.hub_server import HubServer, commit_of
from proctor.benchmarks.hub import HubReference, parse_reference
from proctor.domain.errors import BenchmarkError

pytest.importorskip("huggingface_hub")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def parquet(*rows: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


def question(number: int) -> dict[str, Any]:
    return {"question": f"What is {number} + 1?", "answer": str(number + 1)}
