"""Ready-made benchmarks of DeepEval as benchmarks: `deepeval:MMLU?tasks=anatomy&n_shots=3`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor import deepeval_benchmarks
from proctor.domain.plan import BenchmarkSpec

PREFIX = "deepeval:"


def definition_of(spec: BenchmarkSpec, data: Path | None) -> Mapping[str, Any]:
    """What a benchmark file would say of it, with its rows; parameters are those DeepEval makes it with."""
    name, arguments = spec.benchmark.removeprefix(PREFIX), dict(spec.parameters)
    found = deepeval_benchmarks.load(name, arguments, data)
    return {
        "name": f"deepeval-{name.lower()}",
        "version": found.version,
        "description": f"{name} of DeepEval {found.version}, with its own prompts and marks.",
        "rows": [
            {
                "id": identity,
                "input": found.prompt(identity),
                "target": golden.expected_output,
                "category": None if task is None else task.value,
            }
            for identity, (task, golden) in found.samples.items()
        ],
        "dataset": {"fields": {"id": "id", "input": "input", "target": "target", "category": "category"}},
        "scorers": [
            {
                "deepeval_benchmark": {
                    "benchmark": name,
                    "arguments": arguments,
                    "data": "" if data is None else str(data.absolute()),
                    "digest": found.digest,
                }
            }
        ],
    }
