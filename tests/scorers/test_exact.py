from __future__ import annotations

import unicodedata

import pytest

from proctor.scorers import exact, includes
from scorers.scoring import score


def test_the_target_itself_is_right_and_anything_else_is_wrong():
    assert score(exact.create(), " Paris \n", "Paris").value == 1
    assert score(exact.create(), "Paris!", "Paris").value == 0
    assert score(exact.create(), "paris", "Paris").value == 0


@pytest.mark.parametrize(
    "text", ["Paris.", "'Paris'", "„Paris“", "« Paris »", "「Paris」", "**Paris.**", '"Paris".', "Paris。"]
)
def test_a_full_stop_and_quotation_marks_around_it_all_are_no_difference(text):
    assert score(exact.create(), text, "Paris").value == 1


@pytest.mark.parametrize(
    ("text", "target"), [("a", "'a'"), ("Wait...", "Wait"), ("'a' or 'b'", "a"), ("3", "3."), ("''", "")]
)
def test_quotes_and_stops_of_the_target_or_inside_the_answer_count(text, target):
    assert score(exact.create(), text, target).value == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ignore_case": True}, "PARIS, france"),
        ({"ignore_punctuation": True}, "Paris France!"),
        ({"ignore_case": True, "ignore_punctuation": True}, "“paris” France。"),
        ({}, "Paris,   France"),
    ],
)
def test_each_option_ignores_what_it_says(options, text):
    assert score(exact.create(**options), text, "Paris, France").value == 1


def test_white_space_counts_when_asked():
    assert score(exact.create(ignore_space=False), "a  b", "a b").value == 0


def test_composed_and_decomposed_letters_are_the_same():
    assert score(exact.create(), unicodedata.normalize("NFD", "Zürich 서울"), "Zürich 서울").value == 1


def test_any_of_several_targets_will_do():
    assert score(exact.create(), "NYC", ("New York", "NYC")).value == 1


def test_after_reads_what_follows_the_last_marker():
    scorer = exact.create(after="the answer is")
    verdict = score(scorer, "First the answer is No. So The answer is Yes.", "Yes")
    assert (verdict.value, verdict.answer) == (1, "Yes")
    assert score(scorer, "Yes", "Yes").is_invalid


def test_a_thinking_block_is_not_the_answer():
    assert score(exact.create(), "<think>London?</think>\nParis", "Paris").value == 1
    assert score(exact.create(), "<think>Paris, I think", "Paris").is_invalid


def test_includes_finds_the_target_anywhere():
    assert score(includes.create(), "It must be PARIS, of course", "Paris").value == 1
    assert score(includes.create(ignore_case=False), "PARIS", "Paris").value == 0
    assert score(includes.create(), "London", "Paris").value == 0


def test_whole_words_do_not_match_inside_longer_ones():
    assert score(includes.create(whole_words=False), "the cathedral", "cat").value == 1
    assert score(includes.create(), "the cathedral", "cat").value == 0
    assert score(includes.create(), "the cat.", "cat").value == 1
    assert score(includes.create(), "118", "18").value == 0
