from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.scorers import choice, numeric
from proctor.scorers.choice_reading import read_choice
from proctor.scorers.numeric_reading import read_number
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


@given(st.text(alphabet="0123456789.,/-−%$€ \\frac{}boxedeE×^answer is:\n=()*½⁻²万Aa१٣", max_size=80))
def test_no_text_breaks_the_readers(text):
    read_number(text)
    read_choice(text, "ABCD", ("1", "a", "½", ""))


@pytest.mark.parametrize(
    "text", ["1" * 5000, "1" * 5000 + " 1/2", ",".join(["1"] + ["111"] * 3000), "1 × 10⁻⁻", "1/0", "\\frac{1.2.3}{4}"]
)
def test_numbers_beyond_reason_are_read_without_a_fault(text):
    read_number(text)


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
        ("The answer is \\boxed{C}, although the answer to the other question is", "C"),
    ],
)
def test_each_rule_of_choosing_holds_by_itself(text, label):
    """The labelled responses allow a few misses; these rules allow none."""
    assert read_choice(text, "ABCD", ("w", "x", "y", "z"))[0] == label
