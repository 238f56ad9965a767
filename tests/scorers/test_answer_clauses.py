"""Which clause of a response answers the question: the first that does, whatever is remarked on behind it."""

import asyncio

import pytest

from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.scorers import choice, f1, includes, numeric
from scorers.scoring import score

OPERA = "Who composed the opera Fidelio?"
CAPITAL = "What is the capital of New Zealand?"
METALS = ("Lead", "Mercury", "Tin", "Zinc")
LIQUID = "Which of these metals is liquid at room temperature?"
STAMPS = "Kim has 5 times as many stamps as Lou. Together they have 132 stamps. How many stamps does Kim have?"


@pytest.mark.parametrize(
    ("question", "target", "said", "value"),
    [
        (OPERA, "Beethoven", "Weber composed it, and Beethoven only conducted it.", 0),
        (OPERA, "Beethoven", "I believe it was Weber. Beethoven is better known for symphonies.", 0),
        (OPERA, "Beethoven", "The opera is by Weber; Beethoven wrote a review.", 0),
        (OPERA, "Beethoven", "It was Weber, whose rival was Beethoven.", 0),
        (OPERA, "Beethoven", "Beethoven composed nine symphonies, and the opera Fidelio was composed by Weber.", 0),
        (OPERA, "Beethoven", "Beethoven composed it, and Weber only conducted it.", 1),
        (OPERA, "Beethoven", "Weber admired the opera Fidelio, but Beethoven composed it.", 1),
        (OPERA, "Beethoven", "Although Weber is sometimes named, it was Beethoven.", 1),
        (OPERA, "Beethoven", "Weber? No, Beethoven.", 1),
        (CAPITAL, "Wellington", "Auckland, formerly Wellington.", 0),
        (CAPITAL, "Wellington", "Auckland; before that it was Wellington.", 0),
        (CAPITAL, "Wellington", "It is no longer Wellington, it is Auckland.", 0),
        (CAPITAL, "Wellington", "Wellington, formerly Auckland.", 1),
        (CAPITAL, "Wellington", "Auckland is the largest city, and Wellington is the capital.", 1),
        ("Welches Land grenzt an Laos?", "Vietnam", "Von Brunei. Vietnam liegt am Meer.", 0),
        ("《边城》的作者是谁？", "沈从文", "巴金写的，沈从文写了书评。", 0),
        ("《边城》的作者是谁？", "沈从文", "是沈从文吗？我不太确定。", 0),
        ("《边城》的作者是谁？", "沈从文", "不是巴金，是沈从文。", 1),
        ("「羅生門」の作者は誰ですか。", "芥川龍之介", "作者は太宰治で、芥川龍之介は彼の先輩です。", 0),
        ("「羅生門」の作者は誰ですか。", "芥川龍之介", "芥川龍之介が好きだった太宰治です。", 0),
        ("「羅生門」の作者は誰ですか。", "芥川龍之介", "芥川龍之介が書いた小説です。", 1),
        ("'무정'을 쓴 작가는 누구입니까?", "이광수", "염상섭이 썼고 이광수는 추천사만 썼습니다.", 0),
        ("'무정'을 쓴 작가는 누구입니까?", "이광수", "염상섭이 아니라 이광수가 썼습니다.", 1),
    ],
)
def test_the_first_clause_that_answers_is_the_answer(question, target, said, value):
    assert score(includes.create(), said, target, question=question).value == value


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("Everything but mercury is solid.", "B"),
        ("Everything except C can be excluded.", "C"),
        ("Every one of them is liquid except mercury.", None),
        ("Mercury is the usual guess, but I'd rather not guess.", None),
        ("Lead melts easily. The question is about room temperature though, so mercury it is.", "B"),
        ("Options A, C and D are solid there. That leaves mercury.", "B"),
        ("It melts at −39 °C, unlike the others.", None),
    ],
)
def test_exceptions_and_conclusions_choose_an_option_by_its_text(said, label):
    assert score(choice.create(), said, "B", METALS, question=LIQUID).answer == label


def test_a_list_of_all_options_ends_in_the_one_concluded():
    said = "* Bayern: ca. 13 Mio.\n* Hessen: ca. 6 Mio.\n\nDamit hat Bayern die meisten Einwohner."
    question = "Welches Land hat die meisten Einwohner?"
    assert score(choice.create(), said, "A", ("Bayern", "Hessen"), question=question).value == 1


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Lou has 22 and Kim 110.", 1),
        ("Kim has 110 stamps and Lou has 22.", 1),
        ("Kim has 22 stamps and Lou has 110.", 0),
        ("Lou has 110.", 0),
    ],
)
def test_the_number_of_whom_the_question_asks_about_counts(said, value):
    assert score(numeric.create(), said, "110", question=STAMPS).value == value


@pytest.mark.parametrize(
    ("language", "question", "target", "said", "value"),
    [
        ("de", "Ein Auto verbraucht 6,5 l auf 100 km. Wie viel braucht es für 340 km?", "22.1",
         "Antwort: Das Auto braucht für 340 km rund 22,1 Liter.", 1),
        ("en", "Pay for 3 adults at $14 and 8 children at $6?", "90", "$42, and that's my answer; 90 is too much.", 0),
        ("en", "Pay for 3 adults at $14 and 8 children at $6?", "90", "42 and 48 – ninety dollars.", 1),
        ("en", "How many?", "432", "You might be tempted to answer 432, but it is 395.", 0),
        ("fr", "Combien coûtent 2 livres à 15 € et 5 cahiers à 3,20 € ?", "46",
         "2 × 15 = 30 et 5 × 3,20 = 16, soit 46 €.", 1),
        ("zh", "原价280元，打八折后再减20元，现价多少元？", "204", "280 × 0.8 = 224元，再减20元，现价204元。", 1),
        ("zh", "还剩多少本？", "1342", "可能是1342本，也可能是1620本。", 0),
        ("en", "In what year was it finished?", "1889", "It was finished in 1900, not in 1889.", 0),
        ("de", "Wie viele Bundesländer hat Deutschland?", "16", "Sechzehn, seit 1990.", 1),
    ],
)  # fmt: skip
def test_numbers_are_read_from_the_clause_that_answers(language, question, target, said, value):
    assert _mark(numeric.create(), language, question, target, said) == value


@pytest.mark.parametrize(
    ("language", "said", "target"),
    [
        ("en", "six point four", "6.4"),
        ("en", "half a million", "500000"),
        ("de", "eine Million zweihunderttausend", "1200000"),
        ("de", "hundertachtzig Euro und fünfzig Cent", "180.5"),
        ("de", "drei Viertel", "0.75"),
        ("es", "ochocientas veinticuatro", "824"),
        ("es", "un millón doscientos mil", "1200000"),
        ("fr", "dix-sept virgule cinq", "17.5"),
        ("fr", "trois quarts", "0.75"),
    ],
)
def test_numbers_in_words_have_decimals_fractions_millions_and_genders(language, said, target):
    assert _mark(numeric.create(), language, "How many?", target, f"{said[0].upper()}{said[1:]}.") == 1


def test_a_japanese_quotation_before_its_copula_is_the_same_answer():
    assert _mark(f1.create(), "ja", "名称は何ですか。", "光と影の世界展", "「光と影の世界展」です。") == 1


def _mark(scorer, language, question, target, said):
    sample = Sample("1", question, target, tags={"language": language})
    return asyncio.run(scorer.score(sample, Response(said))).value
