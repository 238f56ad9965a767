"""Data sets people know, in the form they are published in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.benchmarks.check import check_benchmark
from proctor.domain.benchmark import Benchmark

DATA = (Path(__file__).resolve().parents[2] / "../shared/data").resolve()
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the published data sets are not on this machine")

Load = Callable[..., Benchmark]

ARC = {"choices": "choices.text", "labels": "choices.label"}
SPREAD = {"fields": ["choice1", "choice2", "choice3", "choice4"]}
SETS: list[tuple[str, int, dict[str, Any]]] = [
    ("mmlu", 14042, {"input": "question", "target": "answer", "category": "subject"}),
    ("jmmlu", 7097, {"input": "question", "target": {"field": "answer", "kind": "letter"}, "category": "subject"}),
    ("arc-challenge", 1172, {"input": "question", "target": "answerKey", **ARC}),
    ("hellaswag", 10042, {"id": "ind", "input": "activity_ctx", "choices": "endings", "target": "label"}),
    ("gsm8k", 1319, {"input": "question", "target": {"field": "answer", "pattern": r"#### (.+)$"}}),
    ("svamp", 1000, {"id": "ID", "input": "{{ Body }} {{ Question }}", "target": "Answer", "category": "Type"}),
    ("bbh", 6511, {"category": "task"}),
    ("truthfulqa-mc", 817, {"input": "question", "choices": {"keys": "mc1_targets"}, "target": "mc1_targets"}),
    ("kobest-hellaswag", 500, {"input": "context", "choices": SPREAD, "target": {"field": "label", "kind": "index"}}),
    ("mt-bench", 80, {"id": "question_id", "input": "turns.0", "follow_ups": "turns.1:"}),
    ("bfcl-simple", 400, {"input": "question"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "count", "fields"), SETS, ids=[name for name, _, _ in SETS])
def test_a_published_data_set_is_read_whole(name: str, count: int, fields: dict[str, Any], load: Load) -> None:
    scorers = ["exact"] if "target" in fields or name == "bbh" else ["puzzle"]
    benchmark = load(str(DATA / f"{name}.jsonl"), fields, scorers=scorers)
    report = check_benchmark(benchmark)
    assert report.count == count
    if "choices" in fields or name in ("mmlu", "jmmlu"):
        for sample in benchmark.samples:
            assert all(target in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(sample.choices)] for target in sample.targets)
            assert sample.choices
    if name == "mmlu":
        assert len(report.categories) == 57
