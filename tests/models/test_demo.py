"""Demo characters: as strong as they are said to be, and the same every time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from models.asking import ask, make, prompt
from proctor.domain.errors import NotFoundError, PlanError, ProviderFaultError
from proctor.domain.message import Image
from proctor.domain.response import FinishReason
from proctor.models.demo_answers import blunder
from proctor.puzzles import family
from proctor.puzzles.dice import Dice

PUZZLES = [family.make(7, kind, level, n) for kind in family.KINDS for level in (1, 3, 5) for n in range(25)]


def share_right(model: str, options: Mapping[str, Any] | None = None) -> float:
    made = make(model)

    async def go() -> int:
        right = 0
        for puzzle in PUZZLES:
            response = await made.respond(prompt(puzzle.question), options or {}, timeout_seconds=5)
            reading = family.reading_of(puzzle.question)
            assert reading is not None
            found = family.find_answer(response.text, reading)
            right += found is not None and family.check(puzzle.question, found.text)
        return right

    return asyncio.run(go()) / len(PUZZLES)


def test_the_characters_rank_as_they_are_named() -> None:
    shares = [share_right(f"demo/{name}") for name in ("perfect", "strong", "average", "weak", "guesser", "silent")]
    assert shares[0] == 1.0
    assert shares == sorted(shares, reverse=True)
    assert len(set(shares)) == 6
    assert shares[-1] == 0.0
    assert 0.85 < shares[1] < 1
    assert 0.4 < shares[3] < 0.7


@pytest.mark.parametrize("accuracy", [0.0, 0.3, 1.0])
def test_accuracy_can_be_set(accuracy: float) -> None:
    assert abs(share_right(f"demo/perfect?accuracy={accuracy}") - accuracy) < 0.08


def test_mistakes_of_two_characters_fall_on_the_same_questions_more_often_than_chance() -> None:
    strong, weak = make("demo/perfect?accuracy=0.7"), make("demo/strong?accuracy=0.7")

    async def rights(model: Any) -> list[bool]:
        texts = [(await model.respond(prompt(p.question), {}, timeout_seconds=5)).text for p in PUZZLES]
        return [
            family.check(p.question, text.rpartition("ANSWER: ")[2]) for p, text in zip(PUZZLES, texts, strict=True)
        ]

    one, two = asyncio.run(rights(strong)), asyncio.run(rights(weak))
    both_wrong = sum(not a and not b for a, b in zip(one, two, strict=True)) / len(PUZZLES)
    assert both_wrong > 0.3 * 0.3 * 1.2
    assert one != two


def test_the_same_question_gets_the_same_answer_and_a_seed_another() -> None:
    puzzle = PUZZLES[0].question
    first = ask(make("demo/average"), puzzle)
    assert ask(make("demo/average"), puzzle).text == first.text
    shares = {share_right("demo/average", {"seed": seed}) for seed in range(4)}
    assert len(shares) > 1


def test_a_blunder_is_always_wrong_and_still_reads_as_an_answer() -> None:
    for puzzle in PUZZLES:
        for n in range(5):
            wrong = blunder(puzzle.question, puzzle.answer, Dice("t", n))
            reading = family.reading_of(puzzle.question)
            assert reading is not None
            assert reading.read(wrong) is not None, (puzzle.question, wrong)
            assert not family.check(puzzle.question, wrong), (puzzle.question, wrong)


def test_a_question_it_cannot_solve_gets_one_of_the_choices() -> None:
    question = "Which is the capital of Peru?\nA) Lima\nB) Quito\nC) La Paz\nD) Cusco"
    answers = {ask(make("demo/strong"), question.replace("Peru", f"Peru {n}")).text[-1] for n in range(40)}
    assert answers == set("ABCD")


def test_an_open_question_gets_a_number_or_a_word() -> None:
    assert ask(make("demo/guesser"), "Tom has 12 apples. How many?").text.rpartition(" ")[2].isdigit()
    assert ask(make("demo/guesser"), "Why?").text


def test_usage_is_counted_in_words_and_the_limit_cuts() -> None:
    response = ask(make("demo/strong"), "How many is 3 apples", {"max_tokens": 4})
    assert response.usage.input_tokens == 5
    assert response.usage.output_tokens == 4
    assert response.finish_reason is FinishReason.LENGTH
    assert len(response.text.split()) == 4


def test_faults_are_raised_as_often_as_asked_and_trying_again_can_help() -> None:
    model = make("demo/perfect?fail_rate=0.5")

    async def outcomes(question: str) -> list[bool]:
        seen = []
        for _ in range(8):
            try:
                await model.respond(prompt(question), {}, timeout_seconds=5)
                seen.append(True)
            except ProviderFaultError:
                seen.append(False)
        return seen

    seen = [outcome for n in range(50) for outcome in asyncio.run(outcomes(f"q{n}"))]
    assert 0.4 < sum(seen) / len(seen) < 0.6


def test_a_delay_longer_than_the_time_limit_is_a_fault() -> None:
    with pytest.raises(ProviderFaultError, match=r"within 0.01 s"):
        ask(make("demo/strong?delay_ms=60000&jitter=0.5"), timeout=0.01)
    assert ask(make("demo/silent?delay_ms=1&jitter=0.5")).text == ""


def test_settings_that_change_answers_change_the_identity() -> None:
    assert make("demo/weak").identity != make("demo/weak?accuracy=0.5").identity
    assert make("demo/weak").identity == make("demo/weak?delay_ms=5").identity


def test_mistakes_in_the_name_or_a_setting_are_explained() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'strong'"):
        make("demo/stong")
    with pytest.raises(PlanError, match="'accuracy' lies between 0 and 1, not 7"):
        make("demo/strong?accuracy=7")
    with pytest.raises(PlanError, match="'accuracy' must be a number, not 'high'"):
        make("demo/strong?accuracy=high")
    with pytest.raises(PlanError, match="Did you mean 'delay_ms'"):
        make("demo/strong?delay_m=7")
    with pytest.raises(PlanError, match="delay_ms"):
        make("demo/strong?delay_ms=-1")


def test_an_image_is_refused_in_words() -> None:
    png = Image(b"\x89PNG\r\n\x1a\n", "image/png")
    with pytest.raises(Exception, match="demo/strong takes no images"):
        ask(make("demo/strong"), prompt("What is this?", png))


def test_a_character_that_fails_is_another_model_to_the_cache() -> None:
    plain, failing = make("demo/weak"), make("demo/weak?fail_rate=0.5")
    assert plain.identity != failing.identity
    assert plain.identity == make("demo/weak?delay_ms=5").identity, "how long it takes decides no answer"
