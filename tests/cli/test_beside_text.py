"""What a model gives beside its text reaches whoever asked: calls of tools, files, reasoning, what judges said."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import orjson

from commands import Cli

TOOLS = (
    "prompt:\n  tools:\n    - name: weather\n      parameters: "
    "{type: object, properties: {city: {type: string}}, required: [city]}\n"
)
ASKED = "name: mine\ndataset: {source: data.jsonl}\n"


def prepare(more: str) -> None:
    Path("data.jsonl").write_text('{"id": "a", "input": "Rain in Oslo?", "target": "yes"}\n')
    Path("mine.yaml").write_text(ASKED + more)


def test_calls_of_tools_reasoning_and_files_are_shown_and_exported(cli: Cli) -> None:
    prepare(TOOLS + "scorers: [includes]\n")
    Path("agent.py").write_text(
        "from proctor.domain.message import Prompt\n"
        "from proctor.domain.response import Response, ToolCall\n\n\n"
        "def answer(prompt: Prompt) -> Response:\n"
        "    call = ToolCall(prompt.tools[0]['name'], {'city': 5}, problem=\"'city' must be text\")\n"
        "    return Response('yes', tool_calls=(call,), reasoning='It often rains.', files={'log.txt': b'12345'})\n"
    )
    assert cli("run", "mine.yaml", "-m", "python/agent:answer").code == 0
    shown = cli("samples").out
    assert "tool call: weather {\"city\":5} ('city' must be text)" in shown
    assert "reasoning: It often rains." in shown
    assert "files: log.txt (5 bytes)" in shown
    row = orjson.loads(cli("export", "latest", "-f", "jsonl").out)
    assert (row["tool_calls"][0]["name"], row["tool_calls"][0]["problem"]) == ("weather", "'city' must be text")
    assert (row["reasoning"], row["files"]) == ("It often rains.", {"log.txt": 5})
    [line] = csv.DictReader(io.StringIO(cli("export", "latest", "-f", "csv").out))
    assert orjson.loads(line["tool_calls"])[0]["arguments"] == {"city": 5}
    assert line["reasoning"] == "It often rains."


def test_a_model_that_takes_no_tools_or_no_schema_is_not_marked_for_not_using_them(cli: Cli) -> None:
    Path("agent.py").write_text("def answer(text: str) -> str:\n    return 'yes'\n")
    for more, words in (
        (TOOLS, "python/agent:answer takes no tools"),
        ("prompt: {schema: {type: object}}\n", "python/agent:answer cannot be held to a schema"),
    ):
        prepare(more + "scorers: [includes]\n")
        ended = cli("run", "mine.yaml", "-m", "python/agent:answer")
        assert ended.code == 1
        assert words in ended.err


def test_what_a_judge_said_can_be_read_for_each_answer(cli: Cli) -> None:
    prepare("scorers: [judge_rubric]\n")
    Path("agent.py").write_text(
        "import re\n\n\n"
        "def answer(text: str) -> str:\n    return 'yes'\n\n\n"
        "def judge(text: str) -> str:\n"
        "    code = re.search(r'VERDICT ([0-9a-f]+):', text)[1]\n"
        "    return f'It is short, but right.\\nVERDICT {code}: 4'\n"
    )
    assert cli("run", "mine.yaml", "-m", "python/agent:answer", "--judge", "python/agent:judge").code == 0
    row = orjson.loads(cli("export", "latest", "-f", "jsonl").out)
    assert "It is short, but right." in orjson.dumps(row["scores"]["judge_rubric"]["details"]).decode()
    [sample] = cli("samples", "--json").json
    assert sample["scores"]["judge_rubric"]["details"] == row["scores"]["judge_rubric"]["details"]
