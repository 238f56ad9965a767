"""Rows that take more than naming their fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks.transforms import bbh_worked, instruction, json_schema, last_boxed, mgsm


def test_an_instruction_is_taken_apart() -> None:
    head = "Please choose the correct answer to the question: What is it: a?"
    text = f"{head}\n\nAnswer1: one Answer2: two: 2\n\nAnswer format: answer1/answer2"
    assert instruction({"instruction": text, "answer": "answer2"}) == {
        "question": "What is it: a?",
        "choices": ["one", "two: 2"],
        "answer": 1,
    }


def test_a_question_may_itself_speak_of_numbered_options() -> None:
    text = "Pick one: Is option1: x better?\n\nOption1: yes Option2: no Answer format: option1/option2"
    made = instruction({"instruction": text, "answer": "option1"})
    assert made["choices"] == ["yes", "no"]
    assert made["question"] == "Is option1: x better?"


@given(
    question=st.text(alphabet="abc ?", min_size=1).map(str.strip).filter(bool),
    choices=st.lists(st.text(alphabet="xyz :,12", min_size=1).map(str.strip).filter(bool), min_size=2, max_size=5),
    place=st.integers(0, 4),
)
def test_any_instruction_gives_back_its_parts(question: str, choices: list[str], place: int) -> None:
    listed = " ".join(f"Solution{number}: {text}" for number, text in enumerate(choices, start=1))
    row = {
        "instruction": f"Please choose: {question}\n\n{listed}\n\nAnswer format: x/y",
        "answer": f"solution{place + 1}",
    }
    if place >= len(choices):
        with pytest.raises(ValueError, match="none of the"):
            instruction(row)
    else:
        assert instruction(row) == {"question": question, "choices": choices, "answer": place}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so \boxed{2}", "2"),
        (r"\boxed{1} and then \boxed{\frac{a}{b}}.", r"\frac{a}{b}"),
        (r"it is \fbox{x+1}", "x+1"),
        (r"$\boxed 7$ is it", "7"),
        (r"\boxed{\text{(A)}}", r"\text{(A)}"),
    ],
)
def test_the_last_box_is_the_answer(text: str, answer: str) -> None:
    assert last_boxed(text) == answer


@pytest.mark.parametrize("text", ["no box", r"\boxed{never closed"])
def test_a_solution_without_a_box_is_a_bad_row(text: str) -> None:
    with pytest.raises(ValueError, match="box"):
        last_boxed(text)


def test_the_authors_prompts_are_taken_apart() -> None:
    prompt = (
        "Do not train. canary GUID x\n-----\nSort words.\n\n"
        "Q: b a\nA: Let's think step by step.\na first. So the answer is a b.\n\n"
        "Q: d c\nA: Let's think step by step.\nc first.\n\nThen d. So the answer is c d."
    )
    first, second = bbh_worked({"task": "sorting", "prompt": prompt})
    assert (first["input"], first["steps"], first["target"]) == ("b a", "a first.", "a b")
    assert (second["steps"], second["target"]) == ("c first.\n\nThen d.", "c d")
    assert {row["preamble"] for row in (first, second)} == {"Sort words."}
    assert [row["id"] for row in (first, second)] == ["sorting-1", "sorting-2"]
    with pytest.raises(ValueError, match="does not end with"):
        bbh_worked({"task": "x", "prompt": "Do.\n\nQ: a\nA: b"})


def test_types_of_the_leaderboard_become_those_of_json() -> None:
    given_schema = {
        "type": "dict",
        "properties": {
            "type": {"type": "string", "optional": True},
            "any": {"type": "any", "description": "x"},
            "list": {"type": "array", "items": {"type": "dict", "properties": {"n": {"type": "float"}}}},
        },
    }
    assert json_schema(given_schema) == {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "any": {"description": "x"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}},
        },
    }


def test_numbers_of_every_language_are_plain() -> None:
    row = {"lang": "te", "idx": 249, "question": "?", "answer_number": "5,600"}
    assert mgsm(row) == {"id": "te-249", "question": "?", "number": "5600", "language": "te", "group": "249"}
