"""The three kinds of judge, alone and as a panel."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.parts import FakeJudge, Request, judged, says, scorer
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import BenchmarkError, JudgeRefusedError, ScorerError
from proctor.domain.response import FinishReason, Response, Usage
from proctor.domain.sample import Sample
from proctor.scorers.judging.judge import NeedsJudges, NeedsOpponents
from proctor.scorers.registry import create_scorer
from proctor.stores.codec import to_json

KINDS = ("judge_rubric", "judge_reference", "judge_pairwise")


@pytest.mark.parametrize("name", KINDS)
def test_a_judge_scorer_can_be_made_before_it_has_judges_and_then_says_so(name: str) -> None:
    made = create_scorer(ScorerSpec(name))
    assert isinstance(made, NeedsJudges)
    assert isinstance(made, NeedsOpponents)
    assert made.name == name
    with pytest.raises(ScorerError, match="--judge"):
        asyncio.run(made.score(Sample("1", "?", "x"), Response("y")))


@pytest.mark.parametrize("name", KINDS)
def test_an_empty_answer_is_invalid_and_no_judge_is_paid_for_it(name: str) -> None:
    judge = FakeJudge(says(5))
    for text in ("", "  \n", "<think>hm</think>", "<think>never finished"):
        score = judged(scorer(name, judge), text)
        assert (score.value, score.is_invalid) == (0.0, True)
    assert judge.seen == []


@pytest.mark.parametrize("name", ["judge_reference", "judge_pairwise"])
def test_a_sample_without_target_is_unscored(name: str) -> None:
    score = judged(scorer(name, FakeJudge(says("A"))), "Paris", Sample("1", "?"))
    assert score.value is None


@pytest.mark.parametrize("name", KINDS)
def test_a_judge_that_cannot_be_reached_is_an_error_and_not_a_zero(name: str) -> None:
    with pytest.raises(ScorerError, match="down"):
        judged(scorer(name, FakeJudge(lambda _: ScorerError("it is down"))), "Paris.")


@pytest.mark.parametrize("name", KINDS)
def test_the_version_changes_with_options_judges_and_their_sampling(name: str) -> None:
    judge = FakeJudge(says(1))
    versions = {
        scorer(name, judge).version,
        scorer(name, judge, criteria="Is it polite?").version,
        scorer(name, judge, combine="median").version,
        scorer(name, FakeJudge(says(1), label="fake/other")).version,
        scorer(name, judge, FakeJudge(says(1), label="fake/other")).version,
        scorer(name, FakeJudge(says(1), options={"temperature": 0})).version,
    }
    assert len(versions) == 6
    assert scorer(name, FakeJudge(says(2))).version in versions


@pytest.mark.parametrize(("mark", "value"), [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0)])
def test_a_rubric_mark_becomes_a_value_and_the_mark_is_kept(mark: int, value: float) -> None:
    score = judged(scorer("judge_rubric", FakeJudge(says(mark, "Nicely put."))), "Paris")
    assert score.value == value
    assert score.details["judges"][0]["verdict"] == mark
    assert score.reason == f"{mark} of 5 by fake/judge: Nicely put."


def test_a_rubric_has_the_scale_the_criteria_and_the_reference_it_was_given() -> None:
    judge = FakeJudge(says("7/10"))
    score = judged(scorer("judge_rubric", judge, scale=10, criteria="Is it polite?"), "Paris, please.")
    assert score.value == pytest.approx(6 / 9)
    [request] = judge.seen
    assert "Is it polite?" in request.text
    assert "from 1 to 10" in request.text
    assert request.parts == {
        "question": "What is the capital of France?", "reference answer": "Paris", "answer": "Paris, please.",
    }  # fmt: skip
    judged(scorer("judge_rubric", judge, use_reference=False), "Paris")
    assert "reference answer" not in judge.seen[-1].parts


def test_several_rubrics_can_have_names_of_their_own() -> None:
    score = judged(scorer("judge_rubric", FakeJudge(says(3)), name="politeness"), "Paris")
    assert score.name == "politeness"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("judge_rubric", {"scale": 1}, "2 to 100"),
        ("judge_rubric", {"scale": "five"}, "whole number"),
        ("judge_rubric", {"criteria": " "}, "empty"),
        ("judge_rubric", {"combine": "max"}, "mean, median, majority"),
        ("judge_rubric", {"critera": "x"}, "Did you mean 'criteria'"),
        ("judge_reference", {"name": ""}, "empty"),
        ("judge_pairwise", {"model": "x"}, "'against'"),
    ],
)
def test_a_wrong_option_is_named(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        create_scorer(ScorerSpec(name, options))


def test_a_reference_judge_says_right_or_wrong() -> None:
    assert judged(scorer("judge_reference", FakeJudge(says("CORRECT"))), "It is Paris.").value == 1.0
    assert judged(scorer("judge_reference", FakeJudge(says("incorrect"))), "It is Lyon.").value == 0.0
    assert judged(scorer("judge_reference", FakeJudge(says("MAYBE"))), "It is Lyon.").value is None


def test_a_reference_judge_sees_every_reference_and_the_choices() -> None:
    judge = FakeJudge(says("CORRECT"))
    sample = Sample("1", "Which?", ("B", "Paris"), choices=("Lyon", "Paris"))
    judged(scorer("judge_reference", judge), "Paris", sample)
    [request] = judge.seen
    assert request.parts["question"] == "Which?\nA. Lyon\nB. Paris"
    assert (request.parts["reference answer 1"], request.parts["reference answer 2"]) == ("B", "Paris")
    assert "any one of them is enough" in request.text


def test_a_conversation_is_shown_turn_by_turn() -> None:
    judge = FakeJudge(says(5))
    sample = Sample("1", "Write a poem.", follow_ups=("Make it rhyme.",))
    made = scorer("judge_rubric", judge)
    asyncio.run(made.score(sample, Response("Moon, soon.", turns=("Moon, sun.",))))
    assert judge.seen[0].parts == {
        "question 1": "Write a poem.", "earlier answer 1": "Moon, sun.", "question 2": "Make it rhyme.",
        "answer": "Moon, soon.",
    }  # fmt: skip


def prefers(text: str, otherwise: str = "TIE"):
    def reply(request: Request) -> str:
        letters = [letter for letter in "AB" if request.parts[f"answer {letter}"] == text]
        return request.verdict(letters[0] if letters else otherwise)

    return reply


def test_a_comparison_is_asked_in_both_orders() -> None:
    judge = FakeJudge(prefers("It is Paris."))
    score = judged(scorer("judge_pairwise", judge), "It is Paris.")
    assert (score.value, score.details["judges"][0]["verdict"]) == (1.0, "win")
    shown = [(request.parts["answer A"], request.parts["answer B"]) for request in judge.seen]
    assert shown == [("It is Paris.", "Paris"), ("Paris", "It is Paris.")]


def test_a_lost_comparison_is_worth_nothing() -> None:
    score = judged(scorer("judge_pairwise", FakeJudge(prefers("Paris"))), "Lyon")
    assert (score.value, score.details["judges"][0]["verdict"]) == (0.0, "loss")


@pytest.mark.parametrize("letter", ["A", "B"])
def test_a_judge_that_prefers_a_place_has_not_decided(letter: str) -> None:
    score = judged(scorer("judge_pairwise", FakeJudge(says(letter))), "It is Paris.")
    assert (score.value, score.details["judges"][0]["verdict"]) == (0.5, "tie")
    place = {"A": "first", "B": "second"}[letter]
    assert score.reason.startswith(f"tie (undecided: it preferred the {place} answer in both orders) by fake/judge")


def test_a_tie_is_a_tie_and_half_a_tie_is_one_too() -> None:
    assert judged(scorer("judge_pairwise", FakeJudge(says("TIE"))), "Paris!").value == 0.5
    assert judged(scorer("judge_pairwise", FakeJudge(says("TIE"))), "Paris!").reason == "tie by fake/judge: Because."
    half = FakeJudge(lambda request: request.verdict("A" if request.parts["answer A"] == "Paris!" else "TIE"))
    score = judged(scorer("judge_pairwise", half), "Paris!")
    assert (score.value, score.reason) == (
        0.5, "tie (undecided: it changed its mind with the order) by fake/judge",
    )  # fmt: skip


def test_one_unreadable_order_makes_the_comparison_unreadable() -> None:
    judge = FakeJudge(lambda request: request.verdict("A") if request.parts["answer A"] == "Lyon" else "Hm.")
    score = judged(scorer("judge_pairwise", judge), "Lyon")
    assert (score.value, score.is_invalid, score.details["verdict"]) == (None, False, "unreadable")


def test_the_same_text_on_both_sides_is_a_tie_for_free() -> None:
    judge = FakeJudge(says("A"))
    assert judged(scorer("judge_pairwise", judge), "Paris").value == 0.5
    assert judge.seen == []


def test_another_runs_answer_is_the_other_side() -> None:
    async def find(sample: Sample) -> str | None:
        return {"1": "It is Lyon."}.get(sample.id)

    judge = FakeJudge(prefers("It is Lyon."))
    made = scorer("judge_pairwise", judge, against="abc")
    with pytest.raises(ScorerError, match="no answers to compare"):
        judged(made, "Paris")
    facing = made.with_opponents(find, "abc/model")
    assert facing.version != made.version
    assert judged(facing, "Paris").value == 0.0
    unknown = judged(facing, "Paris", Sample("2", "?", "x"))
    assert (unknown.value, unknown.reason) == (None, "run abc has no answer to this sample")


def panel(name: str, *verdicts: object, **options: object):
    judges = [FakeJudge(says(verdict), label=f"fake/{index}") for index, verdict in enumerate(verdicts)]
    return judged(scorer(name, *judges, **options), "It is Lyon.")


@pytest.mark.parametrize(
    ("combine", "marks", "value"),
    [
        ("mean", (5, 4, 3), 0.75),
        ("mean", (5, 1), 0.5),
        ("median", (5, 5, 1), 1.0),
        ("median", (5, 1), 0.5),
        ("majority", (2, 2, 5), 0.25),
        ("majority", (4, 4, 2, 2), 0.5),
        ("majority", (1, 3, 5), 0.5),
    ],
)
def test_a_panel_combines_its_marks(combine: str, marks: tuple[int, ...], value: float) -> None:
    score = panel("judge_rubric", *marks, combine=combine)
    assert score.value == pytest.approx(value)
    assert [ruling["verdict"] for ruling in score.details["judges"]] == list(marks)
    assert [ruling["judge"] for ruling in score.details["judges"]] == [f"fake/{i}" for i in range(len(marks))]


def test_a_panel_decides_by_majority_on_right_and_wrong() -> None:
    assert panel("judge_reference", "CORRECT", "CORRECT", "INCORRECT").value == 1.0
    assert panel("judge_reference", "CORRECT", "INCORRECT", "INCORRECT").value == 0.0
    assert panel("judge_reference", "CORRECT", "INCORRECT").value == 0.5


def test_judges_that_cannot_be_read_leave_the_decision_to_the_others() -> None:
    score = panel("judge_rubric", 4, "excellent", 4, combine="median")
    assert (score.value, score.is_invalid) == (0.75, False)
    assert score.details["judges"][1]["verdict"] is None
    assert "unreadable" in score.reason
    nobody = panel("judge_rubric", "good", "excellent")
    assert (nobody.value, nobody.is_invalid, nobody.details["verdict"]) == (None, False, "unreadable")
    assert "fake/0" in nobody.reason
    assert "fake/1" in nobody.reason


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [
        (("CORRECT", "CORRECT", "?"), 1.0),
        (("INCORRECT", "?", "INCORRECT"), 0.0),
        (("CORRECT", "INCORRECT", "?"), None),
        (("CORRECT", "?", "?"), None),
        (("CORRECT", "?"), None),
        (("CORRECT", "CORRECT", "CORRECT", "INCORRECT", "?"), 1.0),
        (("CORRECT", "CORRECT", "INCORRECT", "?", "?"), None),
        (("CORRECT", "CORRECT", "?", "?"), None),
    ],
)
def test_a_vote_is_decided_when_the_unreadable_judges_could_not_have_turned_it(
    verdicts: tuple[str, ...], value: float | None
) -> None:
    score = panel("judge_reference", *verdicts)
    assert score.value == value
    assert ("verdict" in score.details) == (value is None)


@pytest.mark.parametrize(
    ("combine", "marks", "value"),
    [
        ("mean", (5, "?"), None),
        ("mean", (5, 5, "?"), None),
        ("mean", (5, 5, 5, 5, "?"), None),
        ("median", (5, 5, "?"), 1.0),
        ("median", (4, 4, 4, "?", "?"), 0.75),
        ("median", (5, 3, "?"), None),
        ("median", (5, "?", "?"), None),
    ],
)
def test_an_average_is_decided_when_the_unreadable_judges_could_not_have_changed_it(
    combine: str, marks: tuple[object, ...], value: float | None
) -> None:
    assert panel("judge_rubric", *marks, combine=combine).value == value


@given(
    marks=st.lists(st.integers(1, 5), min_size=1, max_size=6),
    combine=st.sampled_from(["mean", "median", "majority"]),
    data=st.data(),
)
def test_an_answer_gains_nothing_by_making_judges_of_a_panel_unreadable(
    marks: list[int], combine: str, data: st.DataObject
) -> None:
    broken = data.draw(st.sets(st.integers(0, len(marks) - 1)))
    honest = panel("judge_rubric", *marks, combine=combine).value
    kept = panel("judge_rubric", *("?" if i in broken else mark for i, mark in enumerate(marks)), combine=combine).value
    assert honest is not None
    assert kept is None or kept == honest


def test_every_reply_is_kept_and_the_last_one_counts() -> None:
    replies = iter(["Hm.", "VERDICT: 5", "good"])

    def reply(request: Request) -> str:
        said = next(replies)
        return said if said != "good" else f"So be it.\n{request.verdict(4)}"

    score = judged(scorer("judge_rubric", FakeJudge(reply, retries=2)), "Paris")
    assert score.value == 0.75
    [ruling] = score.details["judges"]
    assert [reply["verdict"] for reply in ruling["hearings"]] == [None, None, 4]
    assert ruling["problem"] is None
    assert score.reason == "4 of 5 by fake/judge: So be it."


def test_a_request_that_is_refused_counts_as_a_verdict_that_cannot_be_read() -> None:
    """An answer that is too long for its judge, or filtered there, must not leave every count."""
    refusing = FakeJudge(lambda _: JudgeRefusedError("it is too long"), label="b")
    score = judged(scorer("judge_rubric", refusing), "Paris")
    assert (score.value, score.details["verdict"]) == (None, "unreadable")
    assert score.reason.endswith("b: it is too long")
    lenient = [FakeJudge(says("CORRECT"), label=label) for label in ("a", "c")]
    assert judged(scorer("judge_reference", lenient[0], refusing, lenient[1]), "Paris").value == 1.0
    assert judged(scorer("judge_reference", lenient[0], refusing), "Paris").details["verdict"] == "unreadable"
    half = FakeJudge(lambda ask: ask.verdict("A") if ask.parts["answer A"] == "Lyon" else JudgeRefusedError("no"))
    score = judged(scorer("judge_pairwise", half), "Lyon")
    assert (score.value, score.details["judges"][0]["problem"]) == (None, "no")


def test_when_one_judge_is_down_the_others_still_finish_and_nothing_is_scored() -> None:
    first, third = FakeJudge(says(5), label="a"), FakeJudge(says(5), label="c")
    down = FakeJudge(lambda _: ScorerError("b is down"), label="b")
    with pytest.raises(ScorerError, match="b is down"):
        judged(scorer("judge_rubric", first, down, third), "Paris")
    assert (len(first.seen), len(third.seen)) == (1, 1)


def test_the_evidence_is_kept_with_the_score() -> None:
    reply = Response(
        "", FinishReason.STOP, Usage(120, 30), model="judge-2026", latency_seconds=0.5, cost_usd=Decimal("0.00021")
    )

    def say(request: Request) -> Response:
        from msgspec.structs import replace

        return replace(reply, text=f"Half of a pair \ud800.\n{request.verdict(4)}")

    judge = FakeJudge(say, options={"temperature": 0})
    score = judged(scorer("judge_rubric", judge), "Paris")
    [ruling] = score.details["judges"]
    [reply] = ruling["hearings"]
    assert score.details["template"] == "rubric/1"
    assert ruling["identity"] == {"provider": "fake", "name": "fake/judge", "endpoint": None, "adapter_version": "1"}
    assert ruling["options"] == {"temperature": 0}
    assert reply["usage"]["input_tokens"] == 120
    assert reply["cost_usd"] == "0.00021"
    assert reply["model"] == "judge-2026"
    assert judge.seen[0].code in reply["reply"]
    assert len(reply["prompt"]) == 32
    assert to_json(score.details)
    assert score.reason.encode()


def test_the_prompts_digest_changes_with_the_prompt() -> None:
    digests = set()
    for options in ({}, {"criteria": "Is it polite?"}, {"scale": 6}):
        score = judged(scorer("judge_rubric", FakeJudge(says(4)), **options), "Paris")
        digests.add(score.details["judges"][0]["hearings"][0]["prompt"])
    assert len(digests) == 3
