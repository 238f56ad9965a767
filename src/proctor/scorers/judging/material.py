"""What a judge is shown of a sample and a response, part by part."""

from __future__ import annotations

from proctor.domain.message import Part, Text
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.scorers.reading import final_text

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def question_parts(sample: Sample, response: Response) -> dict[str, str]:
    """The question with its text files; of a conversation, every earlier turn with its answer and the last question."""
    parts = {f"file {n}": part.text for n, part in enumerate(sample.files, 1) if isinstance(part, Text)}
    asked = [_with_choices(sample), *sample.follow_ups]
    if len(asked) == 1:
        return {**parts, "question": asked[0]}
    for number, question in enumerate(asked, 1):
        parts[f"question {number}"] = question
        if number <= len(response.turns):
            parts[f"earlier answer {number}"] = final_text(response.turns[number - 1])
    return parts


def seen_files(sample: Sample) -> tuple[Part, ...]:
    """Images and documents, which a judge is given as they are; texts are quoted with the question."""
    return tuple(part for part in sample.files if not isinstance(part, Text))


def _with_choices(sample: Sample) -> str:
    if not sample.choices:
        return sample.input_text
    labelled = zip(LETTERS, sample.choices, strict=False)
    return "\n".join([sample.input_text, *(f"{letter}. {choice}" for letter, choice in labelled)])


def reference_parts(sample: Sample) -> dict[str, str]:
    """The reference answers, numbered where there are several."""
    targets = sample.targets
    if len(targets) == 1:
        return {"reference answer": targets[0]}
    return {f"reference answer {number}": target for number, target in enumerate(targets, 1)}
