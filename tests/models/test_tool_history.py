"""Conversations in which tools were called: calls and results go out as each provider writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.provider import FakeProvider
from models.asking import ask
from models.hosted import HOSTED, Hosted
from proctor.benchmarks.messages import read_messages
from proctor.domain.message import Message, Prompt, Text, ToolResult, ToolUse
from proctor.stores.codec import prompt_text, read_prompt

CITY = {"city": "Zürich"}
TOOLS = ({"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},)
CALL_A, CALL_B = ToolUse("call_a", "weather", CITY), ToolUse("call_b", "weather", {"city": "Bern"})
HISTORY = Prompt(
    (
        Message("system", "Be brief."),
        Message("user", "Where is it warmer?"),
        Message("assistant", (Text("I look."), CALL_A, CALL_B)),
        Message("tool", (ToolResult("call_a", "weather", "12 degrees"),)),
        Message("tool", (ToolResult("call_b", "weather", "9 degrees"),)),
    ),
    tools=TOOLS,
)
ARGUMENTS_A, ARGUMENTS_B = '{"city":"Zürich"}', '{"city":"Bern"}'
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is it warmer?"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS_A}},
            {"id": "call_b", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS_B}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_a", "content": "12 degrees"},
    {"role": "tool", "tool_call_id": "call_b", "content": "9 degrees"},
]
RESPONSES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is it warmer?"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
    {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": ARGUMENTS_A},
    {"type": "function_call", "call_id": "call_b", "name": "weather", "arguments": ARGUMENTS_B},
    {"type": "function_call_output", "call_id": "call_a", "output": "12 degrees"},
    {"type": "function_call_output", "call_id": "call_b", "output": "9 degrees"},
]
ANTHROPIC = [
    {"role": "user", "content": "Where is it warmer?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "call_a", "name": "weather", "input": CITY},
            {"type": "tool_use", "id": "call_b", "name": "weather", "input": {"city": "Bern"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "call_a", "content": "12 degrees"},
            {"type": "tool_result", "tool_use_id": "call_b", "content": "9 degrees"},
        ],
    },
]
GOOGLE = [
    {"role": "user", "parts": [{"text": "Where is it warmer?"}]},
    {
        "role": "model",
        "parts": [
            {"text": "I look."},
            {"functionCall": {"id": "call_a", "name": "weather", "args": CITY}},
            {"functionCall": {"id": "call_b", "name": "weather", "args": {"city": "Bern"}}},
        ],
    },
    *(
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": call, "name": "weather", "response": {"output": result}}}],
        }
        for call, result in (("call_a", "12 degrees"), ("call_b", "9 degrees"))
    ),
]
WANTED = {
    "openai-responses": ("input", RESPONSES),
    "anthropic": ("messages", ANTHROPIC),
    "google": ("contents", GOOGLE),
}


@pytest.mark.parametrize("hosted", HOSTED, ids=lambda hosted: hosted.name)
def test_every_provider_gets_calls_and_results_in_its_own_form(hosted: Hosted) -> None:
    with hosted.server() as server:
        server.reply = lambda _: _reply()
        assert ask(hosted.model(server), HISTORY).text == "Zürich"
        field, wanted = WANTED.get(hosted.name, ("messages", CHAT))
        sent = server.requests[-1].json
        assert sent[field] == wanted
        assert sent["tools"]


def _reply() -> Any:
    from fakes.dialect import Reply

    return Reply("Zürich")


def test_the_sdks_types_allow_what_is_sent() -> None:
    pydantic = pytest.importorskip("pydantic")
    openai = pytest.importorskip("openai")
    anthropic = pytest.importorskip("anthropic")
    assert openai.types.chat
    checks = [
        (openai.types.chat.ChatCompletionMessageParam, CHAT),
        (openai.types.responses.ResponseInputItemParam, RESPONSES[3:]),
        (anthropic.types.MessageParam, ANTHROPIC),
    ]
    for kind, items in checks:
        adapter = pydantic.TypeAdapter(kind)
        for item in items:
            adapter.validate_python(item)


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
def test_googles_types_allow_what_is_sent() -> None:
    types = pytest.importorskip("google.genai.types")
    for item in GOOGLE:
        read = types.Content.model_validate(item)
        assert len(read.parts) == len(item["parts"])


def test_a_message_without_words_has_none(provider: FakeProvider) -> None:
    openai = next(hosted for hosted in HOSTED if hosted.name == "vllm")
    turns = (Message("user", "hi"), Message("assistant", (CALL_A,)), HISTORY.messages[3])
    ask(openai.model(provider, base_url=provider.url + "/v1"), Prompt(turns))
    assert provider.requests[-1].json["messages"][1]["content"] is None


WRITTEN = [
    {"role": "user", "content": "Where is it warmer?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_a", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS_A}}],
    },
    {"role": "tool", "tool_call_id": "call_a", "content": "12 degrees"},
]


def test_data_is_read_as_chat_completions_write_it_and_kept_exactly() -> None:
    messages = read_messages(WRITTEN)
    assert messages[1] == Message("assistant", (CALL_A,))
    assert messages[2] == Message("tool", (ToolResult("call_a", "weather", "12 degrees"),))
    prompt = Prompt(messages)
    assert read_prompt(prompt_text(prompt)) == prompt
    assert '[call of weather: {"city": "Zürich"}]\n\n[result of weather: 12 degrees]' in prompt.text


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "user", "content": "x", "tool_calls": [{}]}, "only an assistant's message"),
        ({"role": "assistant", "tool_calls": [{"id": "a"}]}, "a tool call is"),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]},
            "are JSON",
        ),
        ({"role": "tool", "content": "x"}, "a tool's result is"),
        ({"role": "tool", "tool_call_id": "nobody", "content": "x"}, "without that call before it"),
    ],
)
def test_a_history_with_a_mistake_is_refused(message: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_messages([{"role": "user", "content": "hi"}, message])


def test_a_benchmark_may_ask_what_a_model_says_once_its_tools_have_answered(cli: Cli, provider: FakeProvider) -> None:
    Path("calls.jsonl").write_text(json.dumps({"id": "1", "input": WRITTEN, "target": "ANSWER"}) + "\n")
    Path("calls.yaml").write_text("name: calls\ndataset: {source: calls.jsonl}\nscorers: [includes]\n")
    model = f"openai/test?base_url={provider.url}/v1"
    ended = cli("run", "calls.yaml", "-m", model, "--json")
    assert ended.code == 0, ended.err
    assert provider.requests[-1].json["messages"] == [
        WRITTEN[0],
        {**WRITTEN[1], "tool_calls": CHAT[2]["tool_calls"][:1]},  # type: ignore[dict-item, index]
        WRITTEN[2],
    ]
    again = cli("run", "calls.yaml", "-m", model, "--json").json["evaluations"][0]
    assert again["cached"] == 1
