from __future__ import annotations

import asyncio

import pytest

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.response import Response, TokenLogprob, ToolCall
from proctor.domain.sample import Sample
from proctor.scorers import instructions, json_schema, logprob, tool_calls

SCHEMA = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}
FUNCTION = {
    "name": "math.area",
    "parameters": {
        "type": "dict",
        "properties": {"base": {"type": "integer"}, "height": {"type": "float"}, "unit": {"type": "string"}},
        "required": ["base", "height"],
    },
}
TRUTH = [{"math.area": {"base": [10], "height": [5.0], "unit": ["square metres", ""]}}]


def _call(response: Response, truth=TRUTH, **options):
    sample = Sample("1", "?", metadata={"ground_truth": truth, "function": [FUNCTION]})
    return asyncio.run(tool_calls.create(**options).score(sample, response))


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"base": 10, "height": 5.0}, 1),
        ({"base": 10, "height": 5}, 1),
        ({"base": 10, "height": 5, "unit": "Square-Metres"}, 1),
        ({"base": 10, "height": 5, "unit": "feet"}, 0),
        ({"base": 10.0, "height": 5}, 0),
        ({"base": "10", "height": 5}, 0),
        ({"base": True, "height": 5}, 0),
        ({"base": 10}, 0),
        ({"base": 10, "height": 5, "colour": "red"}, 0),
        ("not json", 0),
    ],
)
def test_arguments_are_judged_by_name_type_and_allowed_values(arguments, value):
    assert _call(Response("", tool_calls=(ToolCall("math_area", arguments),))).value == value


def test_another_function_or_another_number_of_calls_is_wrong():
    good = ToolCall("math.area", {"base": 10, "height": 5})
    assert _call(Response("", tool_calls=(ToolCall("area", good.arguments),))).value == 0
    assert _call(Response("", tool_calls=(good, good))).value == 0


@pytest.mark.parametrize(
    "text",
    [
        "[math.area(base=10, height=5)]",
        '```json\n[{"name": "math.area", "arguments": {"base": 10, "height": 5}}]\n```',
        '<tool_call>{"name": "math.area", "arguments": {"base": 10, "height": 5}}</tool_call>',
        '{"math.area": {"base": 10, "height": 5}}',
    ],
)
def test_calls_written_as_text_are_read(text):
    assert _call(Response(text)).value == 1


def test_text_is_never_executed():
    assert _call(Response("[math.area(base=__import__('os').getpid(), height=5)]")).is_invalid


def test_parallel_calls_may_come_in_any_order_unless_asked():
    truth = [{"math.area": {"base": [n], "height": [1]}} for n in (1, 2)]
    calls = tuple(ToolCall("math.area", {"base": n, "height": 1}) for n in (2, 1))
    assert _call(Response("", tool_calls=calls), truth).value == 1
    assert _call(Response("", tool_calls=calls), truth, ordered=True).value == 0


def test_objects_inside_arguments_are_judged_key_by_key():
    truth = [{"save": {"info": [{"name": ["Ann"], "age": [3, ""]}]}}]

    def said(info):
        return _call(Response("", tool_calls=(ToolCall("save", {"info": info}),)), truth).value

    assert said({"name": "ann"}) == 1
    assert said({"name": "ann", "age": 3}) == 1
    assert said({"name": "ann", "age": 4}) == 0
    assert said({"age": 3}) == 0
    assert said({"name": "ann", "colour": "red"}) == 0


def test_one_call_cannot_meet_two_expectations():
    truth = [{"math.area": {"base": [1, 2], "height": [1]}}, {"math.area": {"base": [1], "height": [1]}}]
    both = tuple(ToolCall("math.area", {"base": n, "height": 1}) for n in (1, 2))
    assert _call(Response("", tool_calls=both), truth).value == 1
    twice_two = tuple(ToolCall("math.area", {"base": 2, "height": 1}) for _ in range(2))
    assert _call(Response("", tool_calls=twice_two), truth).value == 0


def _schema(text, **options):
    return asyncio.run(
        json_schema.create(**options).score(Sample("1", "?", metadata={"schema": SCHEMA}), Response(text))
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"age": 3}', 1),
        ('```json\n{"age": 3}\n```', 1),
        ('Here you are: {"age": 3}', 1),
        ('{"age": -1}', 0),
        ("{}", 0),
    ],
)
def test_json_is_checked_against_the_schema(text, value):
    assert _schema(text).value == value


def test_what_is_no_json_is_invalid_and_the_first_error_is_named():
    assert _schema("my age is 3").is_invalid
    assert "age" in _schema('{"age": "three"}').reason


def test_a_schema_that_would_fetch_or_is_broken_is_refused():
    with pytest.raises(BenchmarkError, match="nothing is fetched"):
        json_schema.create(schema={"$ref": "http://127.0.0.1:1/schema.json"})
    with pytest.raises(BenchmarkError, match="cannot be used"):
        json_schema.create(schema={"type": "no such type"})
    sample = Sample("1", "?", metadata={"schema": {"type": 5}})
    with pytest.raises(ScorerError):
        asyncio.run(json_schema.create().score(sample, Response("{}")))


def _logprob(*tokens, text="B", **options):
    sample = Sample("1", "?", "B", ("x", "y", "z"))
    return asyncio.run(logprob.create(**options).score(sample, Response(text, logprobs=tokens)))


def test_the_likeliest_label_counts_even_when_another_was_sampled():
    token = TokenLogprob("A", -1.2, {"A": -1.2, " B": -0.7, "the": -0.1})
    said = _logprob(TokenLogprob("So", -0.1), token)
    assert (said.value, said.answer) == (1, "B")
    assert sum(said.details["shares"].values()) == pytest.approx(1)
    assert said.details["unlisted"] == ["C"]
    assert _logprob(token, value="probability").value == pytest.approx(0.6225, abs=1e-3)


def test_without_log_probabilities_nothing_is_scored_and_without_a_label_it_is_invalid():
    assert _logprob().value is None
    # True whether they were asked for or not: a response does not tell.
    for part in (
        "no log-probabilities",
        "only when asked for (logprobs: true)",
        "some endpoints and models never give them",
    ):
        assert part in _logprob().reason
    assert _logprob(TokenLogprob("Hello", -0.1)).is_invalid


def test_a_refusal_counts_although_it_comes_without_log_probabilities():
    for text in ("I cannot answer that.", "No option fits."):
        said = _logprob(text=text)
        assert (said.value, said.reason) == (0, "no token of the response is a label")


def test_instruction_marks_have_both_modes_and_levels():
    metadata = {
        "instruction_id_list": ["punctuation:no_comma", "startend:quotation"],
        "kwargs": [{}, {"unused": None}],
    }
    sample = Sample("1", "?", metadata=metadata)

    def said(**options):
        return asyncio.run(instructions.create(**options).score(sample, Response('Sure, here it is:\n"a dog"')))

    assert said().value == 0
    assert said(level="instruction").value == 0
    assert said(mode="loose").value == 1
    assert said().details["prompt_loose"] is True
    assert said().details["instruction_strict"] == 0


def test_an_unknown_instruction_is_a_fault_of_the_benchmark():
    sample = Sample("1", "?", metadata={"instruction_id_list": ["no:such"], "kwargs": [{}]})
    with pytest.raises(ScorerError, match="No instruction kind"):
        asyncio.run(instructions.create().score(sample, Response("x")))
