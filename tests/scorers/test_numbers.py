from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.scorers import choice, numeric
from proctor.scorers.choice_reading import read_choice
from proctor.scorers.numeric_reading import ends_plainly, read_number, read_thoroughly
from scorers.scoring import score


@given(
    st.integers(-(10**15), 10**15), st.sampled_from(["{}", "{:,}", "The answer is {}.", "#### {:,}", "\\boxed{{{}}}"])
)
def test_a_whole_number_is_read_back_however_it_is_announced(number, layout):
    reading = read_number(layout.format(number))
    assert reading is not None
    assert reading.number.value == number


@given(st.decimals(-(10**9), 10**9, places=3).map(float), st.sampled_from(["{:.3f}", "answer: {:,.3f}", "= {:.3e}"]))
def test_a_decimal_is_read_back(number, layout):
    text = layout.format(number)
    reading = read_number(text)
    assert reading is not None
    written = text.rpartition(" ")[2].replace(",", "")
    assert reading.number.value == pytest.approx(float(written), rel=1e-12)


PIECES = (
    "answer", "Answer", "answer is", "####", "ans:", "\nA:", "A:", ":", ": ", " ", "  ", "\n", ".", "**", "$", "-", "7",
    "18", "20", "30", "3.5", "1,234", "2 euros", "50 cents", "1 hour", "3 m", "and", "and a half", "two", "not", "wait",
    "no,", "because", "=", "is ", "Question:", "\nQuestion 2:", "\nQ:", "Problem", "between ", "I cannot", "half", "%",
    "\\boxed{4}", "\\$", "[/INST]", "<|end|>", "~~9~~", "{,}", "cm", "h", "min", "5 km", "€", "答案",
)  # fmt: skip


@settings(max_examples=2_000)
@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from(PIECES[:8]), st.sampled_from(PIECES)
)
def test_a_plain_end_says_what_a_thorough_reading_says(before, marker, last):
    text = f"{before}{marker} {last}"
    plainly = ends_plainly(text)
    if plainly is not None:
        assert plainly[0].value == read_thoroughly(text, "", comma_decimals=False, is_cut=False)[0].value
        assert plainly[0].value == read_thoroughly(text, "how many cents", comma_decimals=True, is_cut=True)[0].value


def test_an_end_is_not_plain_when_something_before_it_matters():
    assert ends_plainly("All in all, the answer is 18.") is not None
    assert ends_plainly("The answer is 18.\n\nQuestion: another one\nThe answer is 20.") is None
    assert ends_plainly("\\boxed{4} is the answer: 18") is None
    assert ends_plainly("~~The answer is 20~~ answer: 18") is None
    assert ends_plainly("18 apples") is None


@given(st.text(alphabet="0123456789.,/-−%$€ \\frac{}boxedeE×^answer is:\n=()*½⁻²万Aa१٣", max_size=80))
def test_no_text_breaks_the_readers(text):
    reading = read_number(text)
    assert reading is None or reading.number.value == reading.number.value, "a number, or none"
    label, how = read_choice(text, "ABCD", ("1", "a", "½", ""))
    assert label in {None, *"ABCD"}
    assert how


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1" * 5000, math.inf),
        ("1" * 5000 + " 1/2", math.inf),
        (",".join(["1"] + ["111"] * 3000), math.inf),
        ("1 × 10⁻⁻", 1),
        ("5, not 0⁻²", 5),
        ("5, not 0^-2", 5),
        ("1/0", None),
        ("\\frac{1.2.3}{4}", None),
    ],
)
def test_numbers_beyond_reason_are_read_without_a_fault(text, value):
    reading = read_number(text)
    assert (None if reading is None else reading.number.value) == value


def test_tolerances_are_what_they_say():
    assert score(numeric.create(), "18.0", "18").value == 1
    assert score(numeric.create(), "17.6", "18").value == 0
    assert score(numeric.create(tolerance=0.5), "17.6", "18").value == 1
    assert score(numeric.create(relative=0.01), "101", "100").value == 1
    assert score(numeric.create(relative=0.01), "102", "100").value == 0
    assert score(numeric.create(), "1000000000001", "1000000000000").value == 0


def test_a_per_cent_sign_on_one_side_only_may_mean_either():
    assert score(numeric.create(), "25%", "0.25").value == 1
    assert score(numeric.create(), "0.25", "25%").value == 1
    assert score(numeric.create(), "0.25%", "25%").value == 0


def test_the_decimal_option_decides_what_1_234_is():
    assert score(numeric.create(), "1.234", "1234").value == 0
    assert score(numeric.create(decimal="comma"), "1.234", "1234").value == 1
    assert score(numeric.create(decimal="point"), "1.234", "1.234").value == 1


def test_the_target_may_be_a_whole_worked_answer_and_a_word_is_not_scored():
    assert score(numeric.create(), "18", "9 * 2 = 18\n#### 18").value == 1
    assert score(numeric.create(), "18", "eighteen").value is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The farmer has twenty-four sheep left.", 24),
        ("So the total is one hundred and five.", 105),
        ("It takes two and a half hours.", 2.5),
        ("The chance is two-thirds.", 2 / 3),
        ("小红有三百二十五个苹果。", 325),
        ("答えは 1万2千円です。", 12000),
        ("The number is 2^10.", 1024),
        ("The area is 400 m^2.", 400),
        ("Kylar pays $64 for the 16 glasses.", 64),
        ("She drives 180 miles over 3 hours.", 180),
        ("He finishes in 14 days at 20 pages per day.", 14),
        ("There are 40 / 5 = 8 rows of 5 stars.", 8),
        ("She has 5 left because she gave away 7.", 5),
        ("She has 5 left. Check: 5 + 7 = 12.", 5),
        ("Therefore, he has 5 left. He started with 12 and gave away 7.", 5),
        ("28\n\nThere are 4 weeks, and she swims 7 days each week.", 28),
        ("The answer is 11.\n\nQ: And 7 + 7?\nA: 14", 11),
        ("It is 11.<|im_end|>\n<|im_start|>user\nAnd 7 + 7?", 11),
        ("Step 1: Find the price.\nStep 2: Add the tax.", None),
    ],
)
def test_each_rule_of_reading_a_number_holds_by_itself(text, value):
    reading = read_number(text)
    assert (reading and reading.number.value) == value


@pytest.mark.parametrize(
    ("target", "options"), [("B", {}), ("(B)", {}), ("1", {}), ("2", {"index_base": 1}), ("Paris", {})]
)
def test_the_target_of_a_choice_may_be_a_letter_an_index_or_a_text(target, options):
    scorer = choice.create(**options)
    assert score(scorer, "B", target, ("London", "Paris", "Rome")).value == 1
    assert score(scorer, "C", target, ("London", "Paris", "Rome")).value == 0


def test_a_target_that_is_no_choice_is_not_scored():
    assert score(choice.create(), "B", "Oslo", ("London", "Paris")).value is None


def test_digits_may_be_labels():
    assert score(choice.create(labels="1234"), "The answer is 2.", "2", ("a", "b", "c", "d")).value == 1


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is B? Let me verify. So A it is.", "A"),
        ("The answer is not A but B.", "B"),
        ("The answer isn't D; it's C.", "C"),
        ("The answer is A. Correction: B.", "B"),
        ("~~B~~ A", "A"),
        ("After thinking, I change my answer from B to D.", "D"),
        ("The answer is B or C.", None),
        ("A, B, C and D are all possible.", None),
        ("If it is rare, A is right; if it is common, B is right.", None),
        ("A. w\nB. x\nC. y\nD. z", None),
        ("The answer is B. The answer A is a common mistake.", "B"),
        ("The answer is D. Many students choose A.", "D"),
        ("I'd say it's C, though B is also possible.", "C"),
        ("A ✗\nB ✗\nC ✓\nD ✗", "C"),
        ("The answer is option 2.", "B"),
        ("C\n\nQuestion: And what is the next?\nAnswer: B", "C"),
        ("The answer is \\boxed{C}, although the answer to the other question is", "C"),
    ],
)
def test_each_rule_of_choosing_holds_by_itself(text, label):
    """The labelled responses allow a few misses; these rules allow none."""
    assert read_choice(text, "ABCD", ("w", "x", "y", "z"))[0] == label
