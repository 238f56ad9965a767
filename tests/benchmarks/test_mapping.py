"""Fields become samples."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.benchmarks.mapping import Mapper
from proctor.benchmarks.schema import Fields
from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Message, Text
from proctor.domain.sample import Sample


def mapped(row: dict[str, Any], **fields: Any) -> Sample:
    return Mapper(Fields.model_validate(fields)).sample(row, 7)


def test_without_a_mapping_fields_are_what_they_are_called() -> None:
    row = {
        "id": 3, "input": "q", "target": ["a", "b"], "category": "c", "group": 9, "follow_ups": ["more"],
        "tags": {"level": 2, "none": None}, "metadata": {"m": 1}, "else": [1],
    }  # fmt: skip
    assert mapped(row) == Sample("3", "q", ("a", "b"), (), "c", "9", ("more",), {"level": "2"}, {"m": 1, "else": [1]})


def test_the_mapping_of_the_design_document() -> None:
    row = {"key": "k", "question": "q", "answer": "a", "region": "r", "note": "n"}
    sample = mapped(row, id="key", input="question", target="answer", category="region")
    assert sample == Sample("k", "q", "a", category="r", metadata={"note": "n"})


def test_nested_fields_are_read_and_the_rest_of_them_kept() -> None:
    row = {"q": {"text": "q", "lang": "en"}, "a": {"b": {"c": "x"}}, "turns": ["one", "two", "three"], "u.v": "w"}
    sample = mapped(
        row, input="q.text", target="a.b.c", follow_ups="turns.1:", category="u.v", tags={"first": "turns.0"}
    )
    assert (sample.input, sample.target, sample.follow_ups, sample.category) == ("q", "x", ("two", "three"), "w")
    assert sample.tags == {"first": "one"}
    assert sample.metadata == {"q": {"lang": "en"}}
    assert row["q"] == {"text": "q", "lang": "en"}


def test_only_the_metadata_that_is_asked_for_is_kept() -> None:
    assert mapped({"input": "q", "a": 1, "b": {"c": 2}}, metadata=["b.c"]).metadata == {"b.c": 2}


@pytest.mark.parametrize(
    ("row", "fields", "target"),
    [
        ({"target": 18}, {}, "18"),
        ({"target": 0}, {}, "0"),
        ({"target": 1.5}, {}, "1.5"),
        ({"target": True}, {}, "true"),
        ({"target": None}, {}, None),
        ({"target": " "}, {}, None),
        ({}, {}, None),
        ({"a": "x #### 1\ny #### 72"}, {"target": {"field": "a", "pattern": r"#### (.+)$"}}, "72"),
        ({"a": "one; two ;"}, {"target": {"field": "a", "separator": ";"}}, ("one", "two")),
    ],
)
def test_targets_are_text(row: dict[str, Any], fields: dict[str, Any], target: object) -> None:
    assert mapped({"input": "q", **row}, **fields).target == target


FOUR = ["0", "4", "2", "6"]


@pytest.mark.parametrize(
    ("row", "fields", "letter"),
    [
        ({"choices": FOUR, "answer": 1}, {"target": "answer"}, "B"),  # mmlu, hellaswag
        ({"choices": FOUR, "answer": "C"}, {"target": "answer"}, "C"),  # jmmlu
        ({"choices": FOUR, "answer": "c "}, {"target": "answer"}, "C"),
        ({"choices": FOUR, "answer": "4"}, {"target": "answer"}, "B"),
        ({"choices": FOUR, "answer": "4"}, {"target": {"field": "answer", "kind": "position"}}, "D"),
        ({"choices": FOUR, "answer": "0"}, {"target": {"field": "answer", "kind": "index"}}, "A"),
        ({"choices": FOUR, "answer": [0, 3]}, {"target": "answer"}, ("A", "D")),
        ({"choices": FOUR, "answer": "4"}, {"target": {"field": "answer", "kind": "plain"}}, "4"),
        (
            {"choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "2"},
            {"choices": "choices.text", "labels": "choices.label", "target": "answerKey"},  # arc
            "B",
        ),
        (
            {"choice1": "x", "choice2": "y", "a": "y"},
            {"choices": {"fields": ["choice1", "choice2"]}, "target": "a"},
            "B",
        ),
        ({"a": "False"}, {"choices": ["True", "False"], "target": "a"}, "B"),  # kobest-boolq
        ({"m": {"x": 0, "y": 1}}, {"choices": {"keys": "m"}, "target": "m"}, ("B",)),  # truthfulqa
        ({"choices": ["B", "A"], "a": "A"}, {"target": {"field": "a", "kind": "letter"}}, "A"),
        ({"choices": ["B", "A"], "a": "A"}, {"target": {"field": "a", "kind": "text"}}, "B"),
    ],
)
def test_the_target_of_a_question_with_choices_is_a_letter(
    row: dict[str, Any], fields: dict[str, Any], letter: object
) -> None:
    assert mapped({"input": "q", **row}, **fields).target == letter


@pytest.mark.parametrize(
    ("row", "fields", "message"),
    [
        ({"choices": FOUR, "answer": 4}, {"target": "answer"}, "not a number from 0 to 3"),
        ({"choices": FOUR, "answer": -1}, {"target": "answer"}, "not a number from 0 to 3"),
        ({"choices": FOUR, "answer": "E"}, {"target": "answer"}, "none of the choices"),
        ({"choices": FOUR, "answer": "1"}, {"target": "answer"}, "say how the target is written with 'kind'"),
        ({"choices": ["x", "x"], "answer": "x"}, {"target": "answer"}, "more than one of the choices"),
        ({"choices": ["B", "A"], "answer": "A"}, {"target": "answer"}, "also a choice's text"),
        ({"choices": FOUR, "answer": {}, "x": 1}, {"target": "answer"}, "list of targets is empty"),
        ({"choices": "x"}, {}, "the choices must be a list, not 'x'"),
        ({"choices": [["x"]]}, {}, "a choice must be text"),
        ({"choices": ["x"] * 27}, {}, "there are 27 choices"),
        ({"a": "x"}, {"target": {"field": "a", "pattern": "#### (.+)"}}, "does not match the pattern"),
        ({"answr": "x"}, {"target": "answer"}, "no field 'answer' for the target. Did you mean 'answr'?"),
        ({"a": {"b": 1}}, {"category": "a.c"}, "no field 'a.c' for the category"),
        ({"follow_ups": "x"}, {}, "follow_ups must be a list"),
    ],
)
def test_what_cannot_be_meant_is_refused(row: dict[str, Any], fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        mapped({"input": "q", **row}, **fields)
    assert message in str(error.value)


def test_an_input_may_be_put_together_from_several_fields() -> None:
    row = {"Body": "Two apples.", "Question": "How many?", "Answer": 2}
    sample = mapped(row, input="{{ Body }} {{ Question }}", target="Answer")
    assert sample.input == "Two apples. How many?"
    with pytest.raises(ValueError, match="'Bdoy'"):
        mapped(row, input="{{ Bdoy }}")
    with pytest.raises(BenchmarkError, match="that is the expected answer"):
        mapped(row, input="{{ Body }} {{ Answer }}", target="Answer")
    with pytest.raises(ValueError, match="Answer"):
        mapped(row, input="{{ Body }} {{ Answer | round }}", target="Answer")


def test_an_input_may_be_a_conversation() -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "text", "text": "b"}]}]
    expected = (Message("user", "a"), Message("assistant", (Text("b"),)))
    assert mapped({"input": messages}).input == expected
    assert mapped({"input": [messages]}).input == expected
    for wrong in ([{"role": "user"}], ["a"], [{"role": "user", "content": 5}], [{"role": "user", "content": [1]}], []):
        with pytest.raises(ValueError, match="input"):
            mapped({"input": wrong})


def test_templates_may_use_the_datas_names_but_not_the_targets() -> None:
    mapper = Mapper(Fields.model_validate({"input": "question", "target": "answer", "choices": "opts"}))
    assert mapper.aliases == {"question": "input", "opts": "choices"}
    assert mapper.hidden == {"answer"}
