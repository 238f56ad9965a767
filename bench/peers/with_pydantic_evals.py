"""The same benchmark in pydantic-evals: a dataset of cases, the OpenAI client, a report written at the end."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from openai import AsyncOpenAI
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, EvaluatorContext
from pydantic_evals.reporting import EvaluationReportAdapter

url, items, concurrency, folder = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
SYSTEM = "Solve the problem. End with 'ANSWER: <number>'."
client = AsyncOpenAI(api_key="none", base_url=f"{url}/v1")


async def ask(question: str) -> str:
    answer = await client.chat.completions.create(
        model="mock",
        temperature=0,
        max_tokens=256,
        messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}],
    )
    return answer.choices[0].message.content or ""


@dataclass
class Numeric(Evaluator[str, str]):
    def evaluate(self, ctx: EvaluatorContext[str, str]) -> bool:
        found = re.search(r"ANSWER: (-?\d+)", ctx.output)
        return found is not None and found[1] == ctx.expected_output


rows = [json.loads(line) for line in items.read_text().splitlines()]
cases = [Case(name=str(row["id"]), inputs=row["question"], expected_output=row["answer"]) for row in rows]
dataset = Dataset(name="items", cases=cases, evaluators=[Numeric()])
report = dataset.evaluate_sync(ask, max_concurrency=concurrency, progress=False)
(folder / "report.json").write_bytes(EvaluationReportAdapter.dump_json(report))
averages = report.averages()
print(json.dumps({"accuracy": averages.assertions if averages else None}))
