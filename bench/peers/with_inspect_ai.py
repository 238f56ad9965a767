"""The same benchmark in Inspect: a task with its own solver and scorer, its log written as it writes it by default."""

from __future__ import annotations

import json
import os
import sys

url, items, concurrency, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
os.environ |= {"MOCK_API_KEY": "none", "MOCK_BASE_URL": f"{url}/v1", "INSPECT_DISABLE_TELEMETRY": "1"}

from inspect_ai import Task, eval  # noqa: A004, E402
from inspect_ai.dataset import FieldSpec, json_dataset  # noqa: E402
from inspect_ai.scorer import match  # noqa: E402
from inspect_ai.solver import generate, system_message  # noqa: E402

task = Task(
    dataset=json_dataset(items, FieldSpec(input="question", target="answer", id="id")),
    solver=[system_message("Solve the problem. End with 'ANSWER: <number>'."), generate()],
    scorer=match(numeric=True),
)
(log,) = eval(
    task,
    model="openai-api/mock/mock",
    max_connections=concurrency,
    max_samples=concurrency,
    temperature=0,
    max_tokens=256,
    log_dir=folder,
    display="none",
)
print(json.dumps({"accuracy": log.results.scores[0].metrics["accuracy"].value}))
