"""Whatever is said outside can be stored: surrogates, NUL, controls, bidi, and much of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.domain.errors import ModelError
from proctor.domain.json_value import storable_json
from proctor.domain.response import Response, TokenLogprob, ToolCall
from proctor.domain.score import Score
from proctor.domain.text import MAX_MESSAGE_LENGTH, message_of, storable
from proctor.domain.trial import Answer, Trial
from proctor.stores import codec

HOSTILE = "\ud800 half \0 \x1b[2J \x9b \u202e \u2066"
SURROGATES = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
ANY_TEXT = st.text(st.characters() | SURROGATES | st.sampled_from("\0\x1b\x9b\u202e\u2066"), max_size=40)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=10,
)


def is_storable(text: str) -> bool:
    return "\0" not in text and text.encode().decode() == text


@given(ANY_TEXT)
@example(HOSTILE)
def test_any_text_becomes_storable_and_loses_nothing_else(text: str) -> None:
    kept = storable(text)
    assert is_storable(kept)
    assert storable(kept) is kept
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    assert kept == whole


def test_two_halves_that_belong_together_are_the_character() -> None:
    assert storable("\ud83d\ude00") == "\U0001f600"


def test_ten_megabytes_stay_what_they_are() -> None:
    for text in ("a" * 10_000_000, "é" * 10_000_000):
        assert storable(text) is text


@given(ANY_JSON)
@example(10**30)
@example({HOSTILE: [HOSTILE, 10**5000]})
def test_any_value_becomes_json_that_can_be_stored(value: Any) -> None:
    kept = codec.to_json(storable_json(value))
    assert is_storable(kept)
    assert "\\u0000" not in kept.replace("\\\\", "")
    assert storable_json(orjson.loads(kept)) == orjson.loads(kept)


def test_values_that_json_has_no_form_for_are_told_as_text() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError

    deep: list[Any] = []
    for _ in range(3_000):
        deep = [deep]
    assert storable_json({"a": {1}, "b": Broken(), 3: 2j}) == {"a": [1], "b": "Broken", "3": "2j"}
    assert "nested too deeply" in codec.to_json(storable_json(deep))


@given(ANY_TEXT, ANY_TEXT, ANY_JSON)
def test_a_response_holds_nothing_that_cannot_be_stored(text: str, name: str, value: Any) -> None:
    call = ToolCall(name, value, text, text)
    response = Response(
        text,
        reasoning=text,
        tool_calls=(call,),
        files={name: b"\xff", text: b"\0"},
        logprobs=(TokenLogprob(text, -1.0, {name: -1.0}),),
        model=name,
        request_id=text,
        turns=(text, name),
        note=text,
        left_out={name: text},
    )
    assert is_storable(response.text)
    assert is_storable(codec.response_more(response) or "")
    assert len(response.files) + len(response.left_out) >= len({name, text})


@given(ANY_TEXT, st.dictionaries(ANY_TEXT, ANY_JSON, max_size=3))
def test_a_score_holds_nothing_that_cannot_be_stored(text: str, details: Mapping[str, Any]) -> None:
    score = Score("s", 1, text, text, details)
    assert type(score.value) is float
    assert is_storable(score.reason)
    assert is_storable(score.answer or "")
    assert is_storable(codec.to_json(score.details))


@given(ANY_TEXT)
def test_errors_hold_nothing_that_cannot_be_stored(text: str) -> None:
    assert is_storable(str(ModelError(text)))
    assert is_storable(message_of(ValueError(text)))
    assert is_storable(Answer(TRIAL, None, error=text).error or "")


def test_errors_are_of_bounded_length() -> None:
    assert len(str(ModelError("x" * 10_000_000))) == MAX_MESSAGE_LENGTH
    assert len(Answer(TRIAL, None, error="x" * 10_000_000).error or "") == MAX_MESSAGE_LENGTH
    assert len(Score("s", 1.0, reason="x" * 10_000_000).reason) == MAX_MESSAGE_LENGTH


def test_an_exception_that_cannot_say_what_it_is_still_has_a_message() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise ValueError("\ud800")

    assert message_of(SilentError()) == "its message cannot be read: __str__ raised ValueError"


@pytest.mark.parametrize("text", ["plain", "ünï", "漢字"])
def test_sound_texts_and_values_are_the_very_same_objects(text: str) -> None:
    value = json.loads(json.dumps({"a": [text]}))
    assert storable(text) is text
    assert storable_json(value) is value
    assert Response(text).text is text


TRIAL: Trial = None  # type: ignore[assignment]  # not looked at by what is tested here
