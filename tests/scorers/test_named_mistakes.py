"""Answers that were once marked wrongly, one by one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from proctor.benchmarks.registry import load_benchmark
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.response import Response
from proctor.scorers import choice, exact, f1, includes, json_schema, numeric
from proctor.scorers.refusals import REFUSAL, find_refusal
from proctor.scorers.registry import create_scorers
from scorers.scoring import HERE, rows, score

PLANETS = ("Mars", "Venus", "Jupiter", "Saturn")


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("The capital of Tunisia is Sfax.", 0),
        ("The capital of Tunisia is Tunis.", 1),
        ("tunis", 1),
        ("It is not Tunis, but Sfax.", 0),
    ],
)
def test_a_country_that_contains_the_name_of_its_capital_does_not_answer(said, value):
    benchmark = load_benchmark(BenchmarkSpec(benchmark="capitals"), seed=0, folder=Path())
    sample = next(sample for sample in benchmark.samples if sample.target == "Tunis")
    (scorer,) = create_scorers(benchmark.scorers)
    assert asyncio.run(scorer.score(sample, Response(said))).value == value


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("AではなくBです", "B"),
        ("A가 아니라 B입니다", "B"),
        ("Nicht A, sondern B", "B"),
        ("应该选C，而不是B", "C"),
        ("not A, but B", "B"),
        ("B instead of A", "B"),
        ("No es A, sino B", "B"),
        ("Ce n'est pas A, mais B", "B"),
        ("Not Mars or Venus, but Jupiter", "C"),
    ],
)
def test_what_is_named_to_be_set_aside_is_not_the_choice(said, label):
    assert score(choice.create(), said, "D", PLANETS).answer == label


@pytest.mark.parametrize("is_cut", [True, False])
@pytest.mark.parametrize("said", ["A) Mars B) Venus C", "A) Mars\nB) Venus\nC", "A. Mars\nB. Venus\nC. Jup"])
def test_a_listing_of_the_options_that_was_cut_off_is_no_choice(said, is_cut):
    assert score(choice.create(), said, "A", PLANETS, is_cut=is_cut).is_invalid


def test_a_letter_after_a_whole_listing_is_the_choice():
    assert score(choice.create(), "A) Mars\nB) Venus\nC) Jupiter\nD) Saturn\n\nC", "C", PLANETS).value == 1


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I can't answer that. The text only mentions 18 apples.", 0),
        ("题目里只提到了18，我无法解答。", 0),
        ("I don't know how she did it, but she has 18 apples.", 1),
        ("还剩18元，花了12元", 1),
        ("They sold 12 apples and have 9 left, so they earned $18.", 1),
        ("0.000018 × 10^6", 1),
    ],
)
def test_numbers_are_read_where_they_are_the_answer(said, value):
    assert score(numeric.create(), said, "18").value == value


@pytest.mark.parametrize(("said", "target"), [("a dozen", "12"), ("half a dozen", "6"), ("two dozen eggs", "24")])
def test_dozens_are_numbers(said, target):
    assert score(numeric.create(), said, target).value == 1


def test_a_copula_or_particle_does_not_lower_f1():
    assert score(f1.create(), "서울입니다", "서울").value == 1
    assert score(f1.create(), "東京です。", "東京").value == 1
    assert score(f1.create(), "부산입니다", "서울").value == 0


def test_markup_is_not_part_of_an_exact_answer_unless_it_is_asked_for():
    assert score(exact.create(), "`Paris`", "Paris").value == 1
    assert score(exact.create(), "```sh\nls -l\n```", "ls -l").value == 1
    assert score(exact.create(), "`x`", "`x`").value == 1
    assert score(exact.create(), "x", "`x`").value == 0


def test_a_corrected_json_object_replaces_the_first_and_a_choice_of_two_is_none():
    scorer = json_schema.create(schema={"const": {"age": 31}})
    assert score(scorer, '{"age": 30}\nWait, that is wrong: {"age": 31}', "x").value == 1
    assert score(scorer, 'Either {"age": 30} or {"age": 31}.', "x").is_invalid
    assert score(scorer, '{"age": 31}\nSorry, I meant {"age": 3', "x").is_invalid


@pytest.mark.parametrize(
    "said",
    [
        "Not only A but also B",
        "Not only A but also B is correct.",
        "The answer is not only A but also B.",
        "Not just Mars but also Venus.",
        "不仅A正确，B也正确。",
        "AとBが正解です。",
        "A와 B가 정답입니다.",
        "A和B是正确的。",
        "A is not correct, nor is B.",
        "Neither A nor B is correct.",
        "I'd rule out C and D right away.",
        "Hmm, A or B.",
    ],
)
def test_two_options_that_are_set_side_by_side_are_no_choice(said):
    assert score(choice.create(), said, "A", PLANETS).is_invalid


@pytest.mark.parametrize(
    "said",
    [
        "A is not correct, B is.",
        "A ist nicht richtig, B schon.",
        "Aは正しくありません。Bが正しいです。",
        "Weder A noch C, sondern B.",
        "Neither A nor C, but B.",
        "I can't be sure, but my best guess is option B.",
        "I thought of A, but I was wrong: it's B.",
        "最初はAだと思いましたが、正しくはBです。",
        "The answer is B, not only because of its size but also because of its orbit.",
    ],
)
def test_an_option_set_against_another_is_the_choice(said):
    assert score(choice.create(), said, "B", PLANETS).value == 1


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("The answer is B.", "B"),
        ("I would take C instead of the answer B.", "C"),
    ],
)
def test_a_long_response_is_read_by_its_end_as_a_short_one_is(said, label):
    assert score(choice.create(), said, "A", PLANETS).answer == label
    assert score(choice.create(), f"{'There is much to weigh up here. ' * 20}{said}", "A", PLANETS).answer == label


@pytest.mark.parametrize(
    ("said", "target", "value"),
    [
        ("I use C++.", "C++", 1),
        ("I use C++.", "C", 0),
        ("I use C#.", "C", 0),
        ("It costs $5.", "$5", 1),
        ("It costs $50.", "$5", 0),
        ("It costs $5.50.", "$5", 0),
        ("The result is -5.", "5", 0),
        ("The result is −5.", "5", 0),
        ("The result is -5.", "-5", 1),
        ("10-5 = 5", "5", 1),
        ("in the U.S. Army", "U.S.", 1),
        ("It is _Paris_.", "Paris", 1),
        ("paris_metro", "Paris", 0),
        ("答えは５です。", "5", 1),
        ("東京都です。", "東京", 1),
    ],
)
def test_a_target_with_signs_or_beside_signs_is_found_as_a_word_of_its_own(said, target, value):
    assert score(includes.create(), said, target).value == value


@pytest.mark.parametrize(
    ("said", "target"),
    [
        ("Es sind einundzwanzig Tage.", "21"),
        ("Es waren sechzig Gäste.", "60"),
        ("Il y en a quatre-vingt-dix.", "90"),
        ("Il a soixante et onze ans.", "71"),
        ("Il en reste vingt et un.", "21"),
        ("Son treinta y cinco manzanas.", "35"),
        ("Son once manzanas.", "11"),
        ("two hundred and fifty", "250"),
    ],
)
def test_numbers_up_to_a_hundred_are_read_in_words(said, target):
    assert score(numeric.create(), said, target).value == 1


def test_an_english_word_that_is_a_number_elsewhere_is_none():
    assert score(numeric.create(), "It happened once.", "11").is_invalid


def test_a_json_value_that_is_ruled_out_is_not_the_answer():
    scorer = json_schema.create(schema={"const": {"n": 8}})
    assert score(scorer, 'It should be {"n": 8}, not {"n": 6}.', "x").value == 1
    assert score(scorer, 'Use {"n": 8} instead of {"n": 6}.', "x").value == 1
    assert score(scorer, '应为 {"n": 8}，而不是 {"n": 6}。', "x").value == 1


def test_a_refusal_is_found_with_and_without_the_hints_that_make_the_search_quick():
    said = [row["response"] for file in sorted((HERE / "corpora").rglob("*.jsonl")) for row in rows(file)]
    texts = [
        "Datos insuficientes.",
        "pas suffisamment d'informations",
        *(text for text in said if isinstance(text, str)),
    ]
    refusing = [text for text in texts if REFUSAL.search(text)]
    assert len(refusing) > 50
    assert [text for text in texts if find_refusal(text)] == refusing


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("B scheidet aus. C und D passen ebenfalls nicht. Es bleibt A.", "A"),
        ("Plutôt C que A.", "C"),
        ("A, B, C는 제외됩니다. 남은 것은 D입니다.", "D"),
        ("Option B contradicts the text. Option C fails. Option D is too small. Option A fits best.", "A"),
        ("A Mars is small. The planet you want is Venus.", "B"),
        ("Examinons. A) Mars : petite. B) Venus : un", None),
        ("逐项分析：\nA. Mars 很小\nB. Venus 很", None),
        ("I don't know whether it is A or B.", None),
        ("C'est Jupiter, et pas Saturn.", "C"),
        ("Between C and D, D is larger.", "D"),
        ("A: wrong. B: wrong. C: wrong. D: right.", "D"),
        ("The answer is C. (D would be right if the question asked about rings.)", "C"),
        ("Aです。すみません、間違えました。Bです。", "B"),
    ],
)
def test_the_option_that_remains_is_the_choice_and_a_response_that_breaks_off_has_none(said, label):
    assert score(choice.create(), said, "D", PLANETS).answer == label


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Sydney. Canberra is wrong.", 0),
        ("No está en Canberra sino en Sydney.", 0),
        ("Many people guess Canberra, but the capital is Sydney.", 0),
        ("Many people guess Sydney, but the capital is Canberra.", 1),
        ("Canberra... no, wait, it's Sydney.", 0),
        ("Canberra is often overlooked, but it is the capital.", 1),
        ("I can't tell you whether Canberra is the capital.", 0),
        ("Neither Sydney nor Canberra.", 0),
    ],
)
def test_a_target_that_is_denied_taken_back_or_only_supposed_is_not_included(said, value):
    assert score(includes.create(), said, "Canberra").value == value


@pytest.mark.parametrize(
    ("said", "target"),
    [
        ("三分之二", "2/3"),
        ("百分之二十", "20"),
        ("ciento veinte", "120"),
        ("deux cents", "200"),
        ("zweihundertfünfzig", "250"),
        ("The price rose from $80 to $92.", "92"),
        ("I first got 12, but after checking it is 14.", "14"),
    ],
)
def test_numbers_are_read_in_words_and_where_another_was_thought_of_before(said, target):
    assert score(numeric.create(), said, target).value == 1


@pytest.mark.parametrize("said", ["It is A seed.", "It's A seed of a plant.", "A seed."])
def test_an_option_that_begins_with_an_article_is_no_label(said):
    assert score(choice.create(), said, "C", ("A leaf", "A root", "A seed", "A stem")).value == 1


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Tom has 13 marbles and his friend has 7.", 1),
        ("Tom has 7 marbles and his friend has 13.", 0),
        ("He has 13 left; he gave 7 of his 20 away.", 1),
        ("More than 13.", 0),
    ],
)
def test_the_number_that_is_asked_for_counts(said, value):
    question = "Tom had 20 marbles and gave 7 to his friend. How many marbles does he have left?"
    assert score(numeric.create(), said, "13", question=question).value == value


def test_a_bound_answers_a_question_for_one():
    said = "You must be at least 18."
    assert score(numeric.create(), said, "18", question="What is the minimum age?").value == 1
    assert score(numeric.create(), said, "18", question="What is the number?").value == 0
