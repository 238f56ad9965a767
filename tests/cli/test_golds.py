"""A benchmark that runs code counts only after its own solutions were judged right, here and now."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from commands import Cli
from sandboxes.conftest import made
from stores.parts import connected

MODEL = """
from pathlib import Path
def answer(text):
    Path("asked").touch()
    return "```python\\ndef add(x): return x + 1\\n```"
"""


@pytest.fixture
def benchmark(home: Path) -> Callable[..., str]:
    made("namespaces")
    Path("asking.py").write_text(MODEL)

    def write(**changes: Any) -> str:
        rows = [
            {
                "task_id": f"add/{number}",
                "prompt": 'def add(x):\n    """Add one."""\n',
                "entry_point": "add",
                "canonical_solution": "    return x + 1\n",
                "test": f"def check(candidate):\n    assert candidate({number}) == {number + 1}\n",
                **changes,
            }
            for number in range(4)
        ]
        Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        Path("adding.yaml").write_text(
            "name: adding\nneeds_sandbox: true\ndataset:\n  source: rows.jsonl\n"
            "  fields:\n    {id: task_id, input: prompt, target: entry_point,\n"
            "     metadata: [prompt, entry_point, canonical_solution, test]}\n"
            "prompt: {user: '{{ input }}'}\nscorers: [humaneval]\n"
        )
        return "adding.yaml"

    return write


def _recorded(home: Path) -> list[dict[str, Any]]:
    with connected(home) as connection:
        rows = connection.execute("SELECT data FROM events WHERE kind = 'golds_checked'").fetchall()
    return [json.loads(data) for (data,) in rows]


def test_solutions_are_tried_before_the_first_request_and_that_is_recorded(
    cli: Cli, benchmark: Callable[..., str], home: Path
) -> None:
    done = cli("run", benchmark(), "-m", "python/asking:answer", "--json")
    assert done.code == 0, done.err
    assert done.json["evaluations"][0]["metrics"]["accuracy"]["value"] == 1.0
    [row] = _recorded(home)
    [checked] = row["checked"]
    assert checked["sandbox"] == "namespaces"
    assert len(checked["samples"]) == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"canonical_solution": "    return x\n"}, "the benchmark's own solution does not pass"),
        ({"test": "def check(candidate):\n    pass\n"}, "an answer that does nothing passes"),
    ],
)
def test_a_benchmark_that_cannot_tell_right_from_wrong_is_refused_before_anything_is_paid_for(
    cli: Cli, benchmark: Callable[..., str], home: Path, changes: dict[str, str], said: str
) -> None:
    done = cli("run", benchmark(**changes), "-m", "python/asking:answer", "--json")
    assert done.code == 2
    assert said in done.err
    assert "sandbox 'namespaces'" in done.err
    assert not Path("asked").exists()


def test_rows_without_a_solution_are_run_and_recorded_as_not_checked(
    cli: Cli, benchmark: Callable[..., str], home: Path
) -> None:
    done = cli("run", benchmark(canonical_solution=None), "-m", "python/asking:answer", "--json")
    assert done.code == 0, done.err
    assert _recorded(home)[0]["checked"][0]["samples"] == []


@pytest.mark.sqlite
def test_code_that_runs_without_a_sandbox_is_warned_of_whoever_runs_it(
    cli: Cli, benchmark: Callable[..., str], caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    done = cli("run", benchmark(), "-m", "python/asking:answer", "--sandbox", "none", "--unsafe-no-sandbox")
    assert done.err.count("WARNING: code written by the model runs on this machine WITHOUT a sandbox") == 1
    heard: list[str] = []
    run = proctor.prepare("adding.yaml", "python/asking:answer", sandbox="none", unsafe_no_sandbox=True)
    run.subscribe("notice_given", lambda notice: heard.append(notice.text))
    capsys.readouterr()
    run.execute()
    assert [text[:21] for text in heard] == ["WARNING: code written"]
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == heard
    assert capsys.readouterr() == ("", "")
