"""Tasks of Inspect as benchmarks: `inspect:path/task.py@name`, or `inspect:package/name`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor import inspect_tasks
from proctor.domain.plan import BenchmarkSpec

PREFIX = "inspect:"


def definition_of(spec: BenchmarkSpec, folder: Path) -> Mapping[str, Any]:
    """What a benchmark file would say of the task, with its rows; parameters are the task's arguments."""
    reference, arguments = spec.benchmark.removeprefix(PREFIX), dict(spec.parameters)
    task = inspect_tasks.load(reference, arguments, folder)
    prompts = task.prompts()
    return {
        "name": task.name,
        "version": task.task_version,
        "description": f"The task {reference} of Inspect {inspect_tasks.inspect_version()}.",
        "rows": [_row(identity, prompts[identity], task) for identity in task.samples],
        "dataset": {"fields": {"id": "id", "input": "input", "target": "target", "category": "category"}},
        "scorers": [
            {
                "inspect": {
                    "task": reference,
                    "arguments": arguments,
                    "place": place,
                    "label": name,
                    "folder": str(folder.absolute()),
                    "digest": task.digest,
                }
            }
            for place, name in enumerate(task.names)
        ],
    }


def _row(identity: str, prompt: list[dict[str, str]], task: inspect_tasks.InspectTask) -> dict[str, Any]:
    sample = task.samples[identity]
    target = list(sample.target) if isinstance(sample.target, list) else sample.target
    category = (sample.metadata or {}).get("category")
    return {
        "id": identity,
        "input": prompt,
        "target": target or None,
        "category": category if isinstance(category, str) else None,
    }
