"""Benchmark files and data, written for a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.benchmarks.registry import load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.plan import BenchmarkSpec

Write = Callable[..., Path]
Load = Callable[..., Benchmark]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(name, text, bytes, or a list of rows): a file in the test's folder."""

    def make(name: str, content: str | bytes | list[Any]) -> Path:
        path = tmp_path / name
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def load(tmp_path: Path, write: Write) -> Load:
    """load(source, fields, …): a benchmark over a data file of the test's folder."""

    def make(source: str, fields: dict[str, Any] | None = None, **more: Any) -> Benchmark:
        dataset = {"source": source, "fields": fields or {}, **more.pop("dataset", {})}
        values = {"name": "mine", "dataset": dataset, "scorers": ["exact"], **more}
        write("mine.yaml", yaml.safe_dump(values, allow_unicode=True))
        return load_benchmark(BenchmarkSpec(benchmark="mine.yaml"), seed=0, folder=tmp_path)

    return make
