from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from engine.parts import EchoScorer, MemoryJournal, ScriptedModel, trials, watched
from proctor.domain.errors import (
    ModelError,
    ModelUnavailableError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
    ScorerError,
    StoreError,
    UnusableAnswerError,
)
from proctor.domain.event import ConcurrencyChanged, Event, FaultSeen, ModelGivenUp, ResultsRecorded, TrialsSkipped
from proctor.domain.response import Response, Usage
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer
from proctor.domain.trial import Outcome, Trial
from proctor.engine.loop import ModelWork, Work, execute
from proctor.engine.model_gate import MAX_ANSWER_CHARACTERS, REJECTIONS_BEFORE_GIVING_UP


def run(
    model: ScriptedModel,
    source: Iterator[Trial],
    journal: MemoryJournal,
    *,
    scorers: Sequence[Scorer] = (EchoScorer(),),
    concurrency: int = 8,
    retries: int = 2,
    timeout_seconds: float = 5,
    stop_after: int | None = None,
) -> tuple[list[Event], dict[str, str]]:
    events: list[Event] = []

    async def scenario() -> dict[str, str]:
        stopping = asyncio.Event()

        def observe(event: Event) -> None:
            events.append(event)
            if stop_after is not None and len(journal.results) >= stop_after:
                stopping.set()

        work = [Work(1, source, tuple(scorers))]
        models = [ModelWork("scripted", model, work, concurrency, retries, timeout_seconds)]
        return await asyncio.wait_for(execute(models, journal, stopping=stopping, observe=observe), 60)

    given_up = asyncio.run(scenario())
    return events, given_up


def outcomes(journal: MemoryJournal) -> list[Outcome]:
    return [result.outcome for result in journal.results]


def test_every_trial_is_asked_recorded_and_scored_once() -> None:
    journal, model = MemoryJournal(), ScriptedModel()
    events, given_up = run(model, trials(1_000), journal)
    assert given_up == {}
    assert len(journal.answers) == len(journal.results) == 1_000
    assert set(model.asked.values()) == {1}
    assert set(outcomes(journal)) == {Outcome.SCORED}
    assert sum(len(event.results) for event in events if isinstance(event, ResultsRecorded)) == 1_000


def test_requests_in_flight_stay_within_the_concurrency() -> None:
    journal, model = MemoryJournal(), ScriptedModel(delay_seconds=0.002)
    run(model, trials(200), journal, concurrency=7)
    assert model.most_in_flight == 7


def test_the_cursor_is_pulled_in_chunks_not_emptied() -> None:
    """Ten thousand trials, a model that answers slowly: only a bounded number may have been pulled when it stops."""
    seen = [0]
    journal, model = MemoryJournal(), ScriptedModel(delay_seconds=0.01)
    run(model, watched(trials(10_000), seen), journal, concurrency=4, stop_after=8)
    assert len(journal.results) < 200
    assert seen[0] < 1_500


def test_answers_are_written_in_batches() -> None:
    journal = MemoryJournal()
    run(ScriptedModel(), trials(3_000), journal, concurrency=64)
    assert journal.writes < 300


def test_a_fault_is_tried_again_and_never_becomes_a_wrong_answer() -> None:
    def act(text: str, before: int) -> Response | Exception:
        return ProviderFaultError("500") if before == 0 and text.endswith("3") else Response(text)

    journal, model = MemoryJournal(), ScriptedModel(act)
    events, _ = run(model, trials(20), journal)
    assert outcomes(journal) == [Outcome.SCORED] * 20
    assert all(result.scores[0].value == 1 for result in journal.results)
    assert sum(isinstance(event, FaultSeen) for event in events) == 2
    assert {answer.retries for answer in journal.answers if answer.trial.sample.id.endswith("3")} == {1}


def test_a_fault_that_outlives_the_retries_ends_as_failed() -> None:
    def act(text: str, before: int) -> Response | Exception:
        return ProviderFaultError("500 for ever") if text == "q5" else Response(text)

    journal = MemoryJournal()
    _, given_up = run(ScriptedModel(act), trials(30), journal, retries=1)
    failed = [result for result in journal.results if result.outcome is Outcome.FAILED]
    assert [result.answer.trial.sample.id for result in failed] == ["q5"]
    assert failed[0].scores == ()
    assert "500 for ever" in (failed[0].answer.error or "")
    assert given_up == {}


def test_a_rejected_request_fails_at_once() -> None:
    def act(text: str, before: int) -> Response | Exception:
        return RequestRejectedError("too long") if text == "q1" else Response(text)

    journal, model = MemoryJournal(), ScriptedModel(act)
    run(model, trials(5), journal)
    assert model.asked["q1"] == 1
    assert outcomes(journal).count(Outcome.FAILED) == 1


def test_an_answer_that_is_too_large_counts_as_invalid_and_is_asked_once() -> None:
    def act(text: str, before: int) -> Response | Exception:
        if text == "q1":
            return Response("q1" * (MAX_ANSWER_CHARACTERS // 2 + 1))
        return UnusableAnswerError("it sent more than 64 MB") if text == "q2" else Response(text)

    journal, model = MemoryJournal(), ScriptedModel(act)
    run(model, trials(4), journal)
    found = {result.answer.trial.sample.id: result.scores[0] for result in journal.results}
    assert {name: score.value for name, score in found.items()} == {"q0": 1.0, "q1": 0.0, "q2": 0.0, "q3": 1.0}
    assert found["q1"].is_invalid
    assert found["q1"].reason == "the answer has 67,108,866 characters, over the limit of 67,108,864"
    assert found["q2"].is_invalid
    assert found["q2"].reason == "it sent more than 64 MB"
    assert set(model.asked.values()) == {1}


def test_nothing_is_asked_after_a_turn_of_which_nothing_could_be_taken() -> None:
    def talk() -> Iterator[Trial]:
        for trial in trials(1):
            yield replace(trial, sample=replace(trial.sample, follow_ups=("and then?",)))

    journal, model = MemoryJournal(), ScriptedModel(lambda *_: UnusableAnswerError("too much"))
    run(model, talk(), journal)
    assert model.asked == {"q0": 1}
    assert journal.results[0].scores[0].is_invalid


def test_a_bad_key_stops_the_model_and_records_nothing_false() -> None:
    journal, model = MemoryJournal(), ScriptedModel(lambda *_: ModelUnavailableError("the key was refused"))
    events, given_up = run(model, trials(500), journal, concurrency=4)
    assert given_up == {"scripted": "the key was refused"}
    assert journal.answers == []
    assert sum(model.asked.values()) <= 4
    assert sum(isinstance(event, ModelGivenUp) for event in events) == 1


def test_a_model_that_rejects_everything_is_given_up() -> None:
    journal, model = MemoryJournal(), ScriptedModel(lambda *_: RequestRejectedError("no such parameter"))
    _, given_up = run(model, trials(1_000), journal, concurrency=4)
    assert "rejected the first" in given_up["scripted"]
    assert sum(model.asked.values()) < 40


def test_too_many_requests_lower_the_concurrency() -> None:
    def act(text: str, before: int) -> Response | Exception:
        return RateLimitedError("slow", retry_after_seconds=0.01) if before == 0 else Response(text)

    journal = MemoryJournal()
    events, _ = run(ScriptedModel(act, delay_seconds=0.001), trials(64), journal, concurrency=16)
    assert outcomes(journal) == [Outcome.SCORED] * 64
    assert any(isinstance(event, FaultSeen) and event.is_rate_limit for event in events)
    limits = [event.limit for event in events if isinstance(event, ConcurrencyChanged)]
    assert min(limits) < 16


def test_the_concurrency_recovers_once_the_provider_lets_it() -> None:
    slow_down = {"left": 12}

    def act(text: str, before: int) -> Response | Exception:
        if slow_down["left"] and before == 0:
            slow_down["left"] -= 1
            return RateLimitedError("slow", retry_after_seconds=0.01)
        return Response(text)

    journal = MemoryJournal()
    events, _ = run(ScriptedModel(act, delay_seconds=0.001), trials(1_500), journal, concurrency=16)
    limits = [event.limit for event in events if isinstance(event, ConcurrencyChanged)]
    lowest = min(limits)
    assert lowest <= 8
    assert limits[-1] > lowest
    assert outcomes(journal) == [Outcome.SCORED] * 1_500


def test_a_model_that_ignores_its_time_limit_is_cut_off() -> None:
    journal, model = MemoryJournal(), ScriptedModel(delay_seconds=30)
    run(model, trials(1), journal, timeout_seconds=0.05, retries=0)
    assert outcomes(journal) == [Outcome.FAILED]
    assert "no answer within" in (journal.answers[0].error or "")


def test_what_is_recorded_is_not_asked_again() -> None:
    journal = MemoryJournal()
    run(ScriptedModel(), trials(40), journal)
    again = ScriptedModel()
    events, _ = run(again, trials(60), journal)
    assert sum(again.asked.values()) == 20
    assert sum(event.count for event in events if isinstance(event, TrialsSkipped)) == 40
    assert len(journal.results) == 60


def test_what_is_recorded_but_not_scored_is_scored_without_asking() -> None:
    journal = MemoryJournal()
    run(ScriptedModel(), trials(10), journal)
    journal.results = journal.results[:4]
    again = ScriptedModel()
    run(again, trials(10), journal)
    assert sum(again.asked.values()) == 0
    assert len(journal.answers) == 10
    assert len({result.answer.response_id for result in journal.results}) == 10


def test_what_failed_is_asked_again_as_another_attempt() -> None:
    journal = MemoryJournal()
    run(ScriptedModel(lambda *_: RequestRejectedError("no")), trials(3), journal)
    run(ScriptedModel(), trials(3), journal)
    assert [answer.trial.attempt for answer in journal.answers] == [0, 0, 0, 1, 1, 1]
    assert outcomes(journal)[3:] == [Outcome.SCORED] * 3


def test_the_cache_answers_without_asking() -> None:
    journal = MemoryJournal(store={"q1": Response("q1")})
    model = ScriptedModel()
    run(model, trials(3), journal)
    assert model.asked["q1"] == 0
    assert [answer.trial.sample.id for answer in journal.answers if answer.is_cached] == ["q1"]


def test_stopping_finishes_what_is_in_flight_and_sends_nothing_new() -> None:
    journal, model = MemoryJournal(), ScriptedModel(delay_seconds=0.005)
    run(model, trials(5_000), journal, concurrency=10, stop_after=20)
    assert 20 <= len(journal.results) < 400
    assert sum(model.asked.values()) == len(journal.answers) == len(journal.results)


def test_a_scorer_that_breaks_is_a_fault_not_a_zero() -> None:
    class Broken(EchoScorer):
        async def score(self, sample: Sample, response: Response) -> Score:
            raise (ScorerError("no judge") if sample.id == "q0" else ZeroDivisionError("bug"))

    journal = MemoryJournal()
    run(ScriptedModel(), trials(2), journal, scorers=[Broken()])
    assert outcomes(journal) == [Outcome.FAILED] * 2
    assert all(result.scores[0].value is None for result in journal.results)
    assert sorted(result.scores[0].reason for result in journal.results) == [
        "no judge",
        "the scorer failed: ZeroDivisionError: bug",
    ]


def test_a_store_that_cannot_be_written_ends_the_run_with_its_error() -> None:
    journal = MemoryJournal(failure=StoreError("the disk is full"))
    with pytest.raises((StoreError, BaseExceptionGroup)) as caught:
        run(ScriptedModel(delay_seconds=0.001), trials(5_000), journal)
    assert "the disk is full" in str(caught.value) or caught.group_contains(StoreError)


def test_a_conversation_asks_every_turn_and_adds_up_the_usage() -> None:
    def act(text: str, before: int) -> Response | Exception:
        return Response(f"to {text}", usage=Usage(10, 2, cached_tokens=3, cache_write_tokens=4))

    def talk() -> Iterator[Trial]:
        for trial in trials(1):
            yield replace(trial, sample=replace(trial.sample, follow_ups=("and then?", "why?")))

    journal, model = MemoryJournal(), ScriptedModel(act)
    run(model, talk(), journal)
    response = journal.answers[0].response
    assert response is not None
    assert list(model.asked) == ["q0", "and then?", "why?"]
    assert response.turns == ("to q0", "to and then?")
    assert response.text == "to why?"
    assert response.usage == Usage(30, 6, None, 9, 12)


def test_a_turn_that_fails_is_asked_again_and_none_that_was_answered() -> None:
    def act(text: str, before: int) -> Response | Exception:
        if text == "and then?" and before == 0:
            return ProviderFaultError("hiccup")
        return Response(f"to {text}", usage=Usage(10, 2))

    def talk() -> Iterator[Trial]:
        for trial in trials(1):
            yield replace(trial, sample=replace(trial.sample, follow_ups=("and then?",)))

    journal, model = MemoryJournal(), ScriptedModel(act)
    run(model, talk(), journal)
    (answer,) = journal.answers
    assert answer.response is not None
    assert model.asked == {"q0": 1, "and then?": 2}
    assert answer.retries == 1
    assert answer.response.turns == ("to q0",)
    assert answer.response.usage == Usage(20, 4)


def rejected(status: int | None, *, is_within_answer: bool = False) -> RequestRejectedError:
    error = RequestRejectedError("the prompt is too long", status=status)
    error.is_within_answer = is_within_answer
    return error


@pytest.mark.parametrize(
    ("fault", "is_scored"),
    [
        (rejected(400), True),
        (rejected(413), True),
        (rejected(400, is_within_answer=True), False),
        (rejected(None), False),
        (RateLimitedError("slower", status=429), False),
        (ProviderFaultError("hiccup", status=500), False),
    ],
)
def test_an_answer_that_makes_the_follow_up_be_refused_is_scored(fault: ModelError, is_scored: bool) -> None:
    def act(text: str, before: int) -> Response | Exception:
        return fault if text == "why?" else Response(f"to {text}", usage=Usage(10, 2))

    talk = (replace(trial, sample=replace(trial.sample, follow_ups=("and then?", "why?"))) for trial in trials(1))
    journal, model = MemoryJournal(), ScriptedModel(act)
    run(model, talk, journal, retries=0)
    (answer,) = journal.answers
    assert (answer.response is not None, answer.error is None) == (is_scored, is_scored)
    if answer.response is not None:
        assert model.asked["why?"] == 1
        assert (answer.response.text, answer.response.turns) == ("to and then?", ("to q0",))
        assert answer.response.usage == Usage(20, 4)
        assert answer.response.note is not None
        assert answer.response.note.startswith("follow-up 2 was refused, so the conversation ended")
        assert not answer.response.is_cacheable
        assert [result.outcome for result in journal.results] == [Outcome.SCORED]


def test_a_model_that_refuses_every_follow_up_is_given_up() -> None:
    def act(text: str, before: int) -> Response | Exception:
        return rejected(400) if text == "and then?" else Response(f"to {text}")

    talk = (replace(trial, sample=replace(trial.sample, follow_ups=("and then?",))) for trial in trials(50))
    journal = MemoryJournal()
    run(ScriptedModel(act), talk, journal)
    assert REJECTIONS_BEFORE_GIVING_UP <= len(journal.answers) < 50


def test_a_slow_model_does_not_hold_up_a_fast_one() -> None:
    journal = MemoryJournal()
    fast, slow = ScriptedModel(), ScriptedModel(delay_seconds=0.3)
    finished: list[str] = []

    async def scenario() -> None:
        def observe(event: Event) -> None:
            if isinstance(event, ResultsRecorded):
                finished.extend(result.answer.trial.sample.id for result in event.results)

        work = [
            ModelWork("slow", slow, [Work(1, trials(2, 1, "slow"), (EchoScorer(),))], 1, 0, 5),
            ModelWork("fast", fast, [Work(2, trials(50, 2, "fast"), (EchoScorer(),))], 1, 0, 5),
        ]
        await execute(work, journal, stopping=asyncio.Event(), observe=observe)

    asyncio.run(scenario())
    assert finished[-1] == "slow1"
    assert all(name.startswith("fast") for name in finished[:50])
