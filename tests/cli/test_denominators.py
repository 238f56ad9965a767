"""Wrong answers stay in the denominator, and a verdict that an answer could forge is marked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from sandboxes.conftest import made

MODEL = """
WRONG = {wrong!r}
def answer(text):
    number = int(text)
    return "```python\\ndef add(x): " + ("return x + 1" if number % 2 else WRONG) + "\\n```"
"""


@pytest.fixture
def run(cli: Cli, home: Path) -> Any:
    made("namespaces")

    def run_with(wrong: str, scorers: str = "[mbpp]") -> dict[str, Any]:
        Path("asking.py").write_text(MODEL.format(wrong=wrong))
        rows = [
            {
                "id": number,
                "text": str(number),
                "code": "def add(x): return x + 1",
                "test_list": [f"assert add({number}) == {number + 1}"],
                "tests": [f"assert add({number}) == {number + 1}"],
                "entry_point": "add",
            }
            for number in range(6)
        ]
        Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        Path("adding.yaml").write_text(
            "name: adding\nneeds_sandbox: true\ndataset:\n  source: rows.jsonl\n"
            "  fields: {id: id, input: text, target: code, metadata: [code, test_list, tests, entry_point]}\n"
            f"prompt: {{user: '{{{{ input }}}}'}}\nscorers: {scorers}\n"
        )
        done = cli("run", "adding.yaml", "-m", "python/asking:answer", "--no-cache", "--json")
        assert done.code == 0, done.err
        evaluation: dict[str, Any] = done.json["evaluations"][0]
        return evaluation

    return run_with


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "wrong",
    [
        "return 0",
        "return 10 ** 5000",
        "raise ValueError(10 ** 5000)",
        "raise ValueError('\\ud800')",
        "__import__('os').kill(1, 2)",
        "__import__('os')._exit(0)",
    ],
)
def test_half_right_is_half_right_whatever_the_wrong_half_does(run: Any, wrong: str) -> None:
    evaluation = run(wrong)
    accuracy = evaluation["metrics"]["accuracy"]
    assert (accuracy["value"], accuracy["n"], evaluation["failed"]) == (0.5, 6, 0)
    assert evaluation["is_forgeable"] is False


@pytest.mark.sqlite
def test_a_verdict_that_objects_of_the_answer_have_a_hand_in_is_marked(run: Any) -> None:
    assert run("return 0", "[tests: {live_objects: true}]")["is_forgeable"] is True
    assert run("return 0", "[tests]")["is_forgeable"] is False
