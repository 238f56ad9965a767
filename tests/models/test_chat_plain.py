"""Plain answers are read as all others are, only sooner."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.errors import ModelError
from proctor.domain.response import Response
from proctor.models.chat import ChatDialect
from proctor.models.faults import Target
from proctor.models.figures import MAX_TOKENS, sound

DIALECT, TARGET = ChatDialect(), Target("openai/mock")
USUAL = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "mock-2026",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Vier – 4", "refusal": None, "annotations": []},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 80,
        "completion_tokens": 35,
        "total_tokens": 115,
        "prompt_tokens_details": {"cached_tokens": 7, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 3},
    },
    "service_tier": "default",
}


def thoroughly(body: bytes, headers: dict[str, str]) -> Response:
    return sound(DIALECT.read(TARGET, orjson.loads(body), headers, 0.5, None))


def test_the_usual_answer_is_plain_and_read_the_same() -> None:
    body = orjson.dumps(USUAL)
    plain = DIALECT.read_plain(body, {}, 0.5)
    assert plain is not None
    assert plain == thoroughly(body, {})
    assert (plain.text, plain.usage.reasoning_tokens) == ("Vier – 4", 3)


texts = st.text(st.characters(codec="utf-8"), max_size=8)
odd = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.just(MAX_TOKENS + 1), st.just(2**70), st.floats(allow_nan=False),
    texts, st.just([]), st.just({}), st.just(["x"]), st.just({"x": 1}),
)  # fmt: skip
ABSENT = object()


def fields(**known: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Each field as it should be, or missing."""
    made = st.fixed_dictionaries({name: value | st.just(ABSENT) for name, value in known.items()})
    return made.map(lambda found: {name: value for name, value in found.items() if value is not ABSENT})


nothing = st.sampled_from([None, ABSENT])
counts = st.integers(0, 9)
messages = st.builds(
    lambda content, rest: {"content": content, **rest},
    texts,
    fields(refusal=nothing, tool_calls=nothing, reasoning_content=nothing, reasoning=nothing),
)
choices = st.builds(
    lambda message, rest: {"message": message, **rest},
    messages,
    fields(finish_reason=st.sampled_from(["stop", "length", "eos", "new"]), error=nothing, logprobs=nothing),
)
usages = fields(
    prompt_tokens=counts,
    completion_tokens=counts,
    prompt_tokens_details=fields(cached_tokens=counts, cache_write_tokens=counts),
    completion_tokens_details=fields(reasoning_tokens=counts),
    cost=nothing,
)
plain_documents = st.builds(
    lambda choices, rest: {"choices": choices, **rest},
    st.lists(choices, min_size=1, max_size=2),
    fields(usage=usages, model=texts, id=texts, error=nothing),
)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """A plain answer, of which one place or two may hold anything at all."""
    document = draw(plain_documents)
    for _ in range(draw(st.integers(0, 2))):
        inside: Any = document
        name = draw(st.sampled_from([*sorted(inside), "error"]))
        while isinstance(inside.get(name), dict | list) and inside[name] and draw(st.booleans()):
            inside = inside[name] if isinstance(inside[name], dict) else inside[name][0]
            if not isinstance(inside, dict):
                break
            name = draw(st.sampled_from([*sorted(inside), "cost", "refusal", "tool_calls"]))
        if isinstance(inside, dict):
            inside[name] = draw(odd)
    return document


@given(documents(), st.sampled_from([{}, {"x-request-id": "r"}]))
def test_whatever_is_read_as_plain_is_what_the_dialect_reads(document: Any, headers: dict[str, str]) -> None:
    try:
        body = orjson.dumps(document)
    except TypeError:  # a number that no JSON of ours holds
        return
    plain = DIALECT.read_plain(body, headers, 0.5)
    if plain is not None:
        assert plain == thoroughly(body, headers)


@pytest.mark.parametrize(
    "change",
    [
        {"choices": []},
        {"error": {"message": "overloaded"}},
        {"choices": [{"message": {"content": None, "refusal": "No."}}]},
        {"choices": [{"message": {"content": "x", "tool_calls": [{"function": {"name": "f"}}]}}]},
        {"choices": [{"message": {"content": "x"}, "logprobs": {"content": []}}]},
        {"usage": {"prompt_tokens": -1}},
        {"usage": {"cost": 0.5}},
        {"model": 5},
    ],
)
def test_what_is_unusual_is_left_to_the_dialect(change: dict[str, Any]) -> None:
    assert DIALECT.read_plain(orjson.dumps({**USUAL, **change}), {}, 0.5) is None


@pytest.mark.parametrize("ignored", [b'"\xff"', b'"\\ud800"', b"NaN", b"[" * 5000, b"1,}"])
def test_what_is_no_json_is_not_plain_even_where_nobody_reads_it(ignored: bytes) -> None:
    body = b'{"ignored":' + ignored + b"," + orjson.dumps(USUAL)[1:]
    assert DIALECT.read_plain(body, {}, 0.5) is None
    with pytest.raises((orjson.JSONDecodeError, ModelError)):
        thoroughly(body, {})
