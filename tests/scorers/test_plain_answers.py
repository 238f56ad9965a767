"""Plain answers to questions that ask for what a name otherwise only stands in relation to."""

from __future__ import annotations

import pytest

from proctor.scorers import choice, includes, numeric
from scorers.scoring import score

CAPITAL = "What is the capital of Australia?"
NO_FISH = "Which of these is not a fish?"
ANIMALS = ("Whale", "Shark", "Carp", "Trout")


@pytest.mark.parametrize(
    ("question", "said", "target", "value"),
    [
        ("Who wrote the novel Jurassic Park?", "The film is based on a novel by Michael Crichton.", "Crichton", 1),
        ("Whose novel is it based on?", "It is based on the novel by Mario Puzo.", "Mario Puzo", 1),
        ("Wer schrieb den Roman?", "Der Film beruht auf dem Roman von Patrick Süskind.", "Süskind", 1),
        ("Who wrote the screenplay?", "Coppola wrote it, based on the novel by Mario Puzo.", "Mario Puzo", 0),
        ("Who designed the Eiffel Tower?", "It was built from a design by Gustave Eiffel.", "Gustave Eiffel", 1),
        ("Wer entwarf das Haus?", "Es wurde nach einem Entwurf von Walter Gropius gebaut.", "Walter Gropius", 1),
        ("Wer malte die Mona Lisa?", "Raffael malte sie nach einem Entwurf von Leonardo.", "Leonardo", 0),
        ("Whom did Donald Trump defeat?", "Donald Trump defeated Hillary Clinton.", "Hillary Clinton", 1),
        ("Whom did Donald Trump succeed?", "He succeeded Barack Obama.", "Barack Obama", 1),
        ("Who was taught by Socrates?", "Socrates taught Plato.", "Plato", 1),
        ("Who lost the final?", "The Lakers defeated the Celtics.", "Celtics", 1),
        ("Who was president in 2010?", "George Bush, who succeeded Barack Obama.", "Barack Obama", 0),
        ("Denmark", "Denmark is a country in Europe, and the capital of Denmark is Copenhagen.", "Copenhagen", 1),
        ("Who was the king of the gods?", "In Greek myth, the king of the gods is Zeus.", "Zeus", 1),
        (CAPITAL, "It is a common myth that it is Canberra.", "Canberra", 0),
        (CAPITAL, "It's a misconception that it was Canberra; it is Sydney.", "Canberra", 0),
        (CAPITAL, "It's Canberra, located between Sydney and Melbourne.", "Canberra", 1),
        (CAPITAL, "Canberra is small, but it is the capital.", "Canberra", 1),
        (CAPITAL, "Sydney is the largest city, but it is Canberra that is the capital.", "Sydney", 0),
    ],
)
def test_a_name_counts_where_its_relation_is_what_is_asked_for(question, said, target, value):
    assert score(includes.create(), said, target, question=question).value == value


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("The shark is a fish, the whale is not.", "A"),
        ("Der Wal ist kein Fisch, sondern ein Säugetier.", "A"),
        ("The shark is not a fish.", "B"),
    ],
)
def test_what_is_denied_in_few_words_is_the_choice_where_the_question_denies(said, label):
    german = not said.isascii()
    choices = ("Wal", "Hai", "Karpfen", "Forelle") if german else ANIMALS
    asked = "Welches dieser Tiere ist kein Fisch?" if german else NO_FISH
    assert score(choice.create(), said, "A", choices, question=asked).answer == label


@pytest.mark.parametrize(
    ("question", "said", "target"),
    [
        ("How many days are in a leap year?", "366 days; a common year has 365.", "366"),
        ("How many days are in a leap year?", "A common year has 365 days; a leap year has 366.", "366"),
        ("몇 년에 시작되었습니까?", "1945년에 해방되고 1950년에 시작되었습니다.", "1950"),
    ],
)
def test_the_number_that_an_answer_opens_with_counts_what_is_asked_for(question, said, target):
    assert score(numeric.create(), said, target, question=question).value == 1
