"""Wrong answers that name the right one in passing, and right answers in like words, in several languages."""

import time

import pytest

from proctor.scorers import choice, includes, numeric
from scorers.scoring import score

COMPOSER = {
    "en": "Who composed the opera The Magic Flute?",
    "de": "Wer komponierte die Oper Die Zauberflöte?",
    "fr": "Qui a composé l'opéra La Flûte enchantée ?",
    "es": "¿Quién compuso la ópera La flauta mágica?",
    "ja": "オペラ『魔笛』を作曲したのは誰ですか。",
    "ko": "오페라 마술피리를 작곡한 사람은 누구입니까?",
    "zh": "歌剧《魔笛》的作曲家是谁？",
}
MOZART = {"ja": "モーツァルト", "ko": "모차르트", "zh": "莫扎特"}
YEAR = "In which year did the Berlin Wall fall?"
YEAR_DE = "In welchem Jahr fiel die Berliner Mauer?"
YEAR_JA = "ベルリンの壁が崩壊したのは何年ですか。"
PLANETS = ("Mars", "Jupiter", "Venus", "Saturn")
LARGEST = "Which planet is the largest?"
FALSE = {
    "en": "Which statement is false?",
    "de": "Welche Aussage ist falsch?",
    "fr": "Quelle affirmation est fausse ?",
    "ja": "誤っているものはどれですか。",
}


@pytest.mark.parametrize(
    ("language", "said", "value"),
    [
        ("en", "Haydn composed it when Mozart was ten.", 0),
        ("en", "The composer is Weber, cousin of Mozart's wife.", 0),
        ("de", "Weber komponierte sie, als Mozart zehn war.", 0),
        ("de", "Weber nach einer Idee von Mozart.", 0),
        ("fr", "Gluck l'a composée quand Mozart avait dix ans.", 0),
        ("fr", "Weber, d'après une idée de Mozart.", 0),
        ("es", "La compuso Gluck cuando Mozart tenía diez años.", 0),
        ("ja", "モーツァルトを尊敬していたベートーヴェンです。", 0),
        ("zh", "贝多芬,他崇拜莫扎特。", 0),
        ("zh", "崇拜莫扎特的贝多芬。", 0),
        ("zh", "与莫扎特不同，韦伯写了这部歌剧。", 0),
        ("ko", "모차르트를 존경한 베토벤입니다.", 0),
        ("ko", "모차르트와 달리 베버가 이 오페라를 썼습니다.", 0),
        ("ko", "모차르트 아내의 사촌 베버입니다.", 0),
        ("en", "Mozart composed it when Salieri was court composer.", 1),
        ("en", "It was Mozart, who was 35 when he wrote it.", 1),
        ("de", "Mozart, nach einer Idee von Schikaneder.", 1),
        ("de", "Bekannt als Mozart.", 1),
        ("es", "La compuso Mozart cuando tenía 35 años.", 1),
        ("ja", "ハイドンを尊敬していたモーツァルトです。", 1),
        ("ja", "私はモーツァルトを選びます。", 1),
        ("zh", "与萨列里不同，莫扎特写了这部歌剧。", 1),
        ("zh", "崇拜海顿的莫扎特。", 1),
        ("ko", "하이든을 존경한 모차르트입니다.", 1),
        ("ko", "살리에리와 달리 모차르트가 썼습니다.", 1),
    ],
)
def test_a_name_that_only_has_to_do_with_the_answer_is_none(language, said, value):
    target = MOZART.get(language, "Mozart")
    assert score(includes.create(), said, target, question=COMPOSER[language]).value == value


@pytest.mark.parametrize(
    ("question", "said", "value"),
    [
        (YEAR, "Not 1989.", 0),
        (YEAR, "Before 1989.", 0),
        (YEAR, "After 1989.", 0),
        (YEAR_DE, "Nicht 1989.", 0),
        (YEAR_DE, "Vor 1989.", 0),
        (YEAR_JA, "1989年ではない。", 0),
        (YEAR_JA, "1989年より後です。", 0),
        (YEAR_JA, "1989年以前です。", 0),
        (YEAR, "It fell in 1989, not before 1989.", 1),
        (YEAR, "Not before 1989.", 1),
        (YEAR, "No, 1989.", 1),
        (YEAR_DE, "Nicht 1990, sondern 1989", 1),
        (YEAR_DE, "Erst 1989.", 1),
        (YEAR_JA, "1989年の後半です。", 1),
        ("Before which year was it built?", "Before 1989.", 1),
    ],
)
def test_a_year_that_is_ruled_out_or_bounds_another_is_no_answer(question, said, value):
    assert score(numeric.create(), said, "1989", question=question).value == value


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Falsch: B.", 0),
        ("Wrong: B.", 0),
        ("Mauvaise réponse : B.", 0),
        ("誤り：B", 0),
        ("Die vierte, nicht die zweite.", 0),
        ("Only Jupiter is smaller than Saturn; so Saturn.", 0),
        ("Die zweite, nicht die vierte.", 1),
        ("Nicht die vierte, sondern die zweite.", 1),
        ("Falsch: A, C, D. Richtig: B.", 1),
        ("Only Jupiter is that large.", 1),
    ],
)
def test_an_option_that_is_called_wrong_is_not_chosen(said, value):
    assert score(choice.create(), said, "B", PLANETS, question=LARGEST).value == value


def test_a_long_answer_of_options_that_are_ruled_out_is_marked_at_once():
    began = time.process_time()
    assert score(choice.create(), "not A " * 100_000, "B", PLANETS, question=LARGEST).value == 0
    assert time.process_time() - began < 60  # runs of blanks were tried from each of their lengths


@pytest.mark.parametrize(
    ("language", "said", "label"),
    [
        ("en", "B is false.", "B"),
        ("en", "Only B is not true.", "B"),
        ("en", "False: B", "B"),
        ("en", "A, C and D are true; B is false.", "B"),
        ("en", "B is false, and so D is false.", None),
        ("de", "Aussage B stimmt nicht.", "B"),
        ("de", "Falsch: B", "B"),
        ("fr", "L'affirmation B est fausse.", "B"),
        ("ja", "Bは間違っています。", "B"),
    ],
)
def test_where_the_wrong_option_is_asked_for_the_one_called_wrong_is_chosen(language, said, label):
    choices = ("Mars is red", "Jupiter is small", "Venus is hot", "Saturn has rings")
    assert score(choice.create(), said, "B", choices, question=FALSE[language]).answer == label
    assert score(choice.create(), "B is false.", "B", choices, question="Which statement is true?").value == 0
