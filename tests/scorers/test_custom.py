from __future__ import annotations

import pytest

from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.scorers.registry import create_scorer
from scorers.scoring import score

SOURCE = """
from proctor.domain.score import Score

def short(sample, response, longest=5):
    return len(response.text) <= longest

async def later(sample, response):
    return 0.25

def full(sample, response):
    return Score("other", 1.0, answer="x", reason="because")

def nothing(sample, response):
    return None

def broken(sample, response):
    raise KeyError("oops")

def leaves(sample, response):
    exec(response.text)

def too_much(sample, response):
    return 7

number = 3
"""


def _make(folder, name, module="my_scorers_one", **options):
    file = folder / f"{module}.py"
    if not file.exists():
        file.write_text(SOURCE)
    return create_scorer(ScorerSpec(f"python://{module}:{name}", options), folder)


def test_a_function_of_the_given_folder_scores(tmp_path):
    assert score(_make(tmp_path, "short", "mod_a"), "yes", None).value == 1
    assert score(_make(tmp_path, "short", "mod_a"), "much too long", None).value == 0
    assert score(_make(tmp_path, "short", "mod_a", longest=50), "much too long", None).value == 1


def test_async_functions_whole_scores_and_none_are_understood(tmp_path):
    assert score(_make(tmp_path, "later", "mod_b"), "x", None).value == 0.25
    said = score(_make(tmp_path, "full", "mod_b"), "x", None)
    assert (said.name, said.value, said.answer, said.reason) == ("full", 1, "x", "because")
    assert score(_make(tmp_path, "nothing", "mod_b"), "x", None).value is None


def test_an_answer_that_makes_the_function_exit_does_not_end_the_run(tmp_path):
    with pytest.raises(ScorerError, match="raised SystemExit: 3"):
        score(_make(tmp_path, "leaves", "mod_leaves"), "raise SystemExit(3)", None)


@pytest.mark.parametrize(("name", "said"), [("broken", "raised KeyError"), ("too_much", "returned 7")])
def test_a_fault_of_the_function_is_never_a_zero(tmp_path, name, said):
    with pytest.raises(ScorerError, match=said):
        score(_make(tmp_path, name, f"mod_c_{name}"), "x", None)


@pytest.mark.parametrize("name", ["missing", "number", ""])
def test_what_is_no_function_is_refused(tmp_path, name):
    with pytest.raises(BenchmarkError):
        _make(tmp_path, name, "mod_d")


def test_options_the_function_does_not_take_are_refused(tmp_path):
    with pytest.raises(BenchmarkError, match="cannot be called"):
        _make(tmp_path, "short", "mod_e", shortest=1)


def test_a_missing_module_is_named(tmp_path):
    with pytest.raises(BenchmarkError, match="No module 'not_there_at_all'"):
        create_scorer(ScorerSpec("python://not_there_at_all:f"), tmp_path)


def test_a_namesake_from_another_folder_does_not_score_in_its_place(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    _make(tmp_path / "one", "short", "mod_f")
    with pytest.raises(BenchmarkError, match="already in use"):
        _make(tmp_path / "two", "short", "mod_f")


def test_the_version_follows_the_source(tmp_path):
    (tmp_path / "mod_h.py").write_text(SOURCE + "\n# changed\n")
    assert _make(tmp_path, "short", "mod_g").version != _make(tmp_path, "short", "mod_h").version
    assert _make(tmp_path, "short", "mod_g").version != _make(tmp_path, "short", "mod_g", longest=9).version
