from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proctor.domain.message import DocumentPart, Image, Message, Prompt, Text
from proctor.domain.response import FinishReason, Response, TokenLogprob, ToolCall, Usage
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result, Trial
from proctor.planning.expand import trials_of
from proctor.stores import codec
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database, open_database
from proctor.stores.journal import DatabaseJournal
from proctor.stores.measuring import MeasuringStore
from proctor.stores.results import ResultStore
from stores.parts import evaluation, new_run, this_month

T = TypeVar("T")
WRITTEN = Path("/proc/self/io")


def with_journal(database: Database, evaluation_id: int, work: Callable[[DatabaseJournal], Awaitable[T]]) -> T:
    async def scenario() -> T:
        journal = DatabaseJournal(database, {evaluation_id: {"echo": "1"}}, this_month())
        try:
            return await work(journal)
        finally:
            await journal.close()

    return asyncio.run(scenario())


async def write_answers(journal: DatabaseJournal, *answers: Answer) -> list[int]:
    """Record answers and give their rows."""
    written = await journal.write(answers, [])
    return [answer.response_id for answer in written.answers if answer.response_id is not None]


def scored(answer: Answer, row_id: int, value: float | None = 1.0) -> Result:
    score = Score("echo", value, answer="a", reason="because")
    return Result(replace(answer, response_id=row_id), (score,), Outcome.SCORED)


def test_what_was_written_is_found_as_it_was(database: Database, tmp_path: Path) -> None:
    _, item = new_run(database, evaluation(3), tmp_path)
    trials = list(trials_of(item))
    full = Response(
        "héllo",
        FinishReason.TOOL_CALLS,
        Usage(1, 2, 3, 4),
        tool_calls=(ToolCall("f", {"x": [1]}, "id"),),
        reasoning="hm",
        files={"a.txt": b"\x00\xff"},
        logprobs=(TokenLogprob("t", -0.5, {"t": -0.5, "u": -1.0}),),
        model="m",
        request_id="r",
        latency_seconds=0.25,
        first_token_seconds=0.125,
        cost_usd=Decimal("0.000000012345"),
        cost_basis="computed: a list of 2026-11-01",
        turns=("one",),
        note="the agent exited with 3",
        left_out={"link.py": "it is a link"},
    )

    async def work(journal: DatabaseJournal) -> tuple[object, object, object]:
        answers = [Answer(trials[0], full), Answer(trials[1], None, error="down"), Answer(trials[2], Response("x"))]
        ids = await write_answers(journal, *answers)
        await journal.write([], [scored(answers[2], ids[2])])
        known = await journal.recorded(item.id, [trial.id for trial in trials] + ["nobody"])
        states = [(known[t.id].is_failed, known[t.id].is_scored, known[t.id].attempt) for t in trials]
        cached = await journal.cached([t.cache_key or "" for t in trials])
        return (await journal.responses([ids[0]]))[ids[0]], states, set(cached)

    response, states, cached = with_journal(database, item.id, work)
    assert response == full
    assert states == [(False, False, 0), (True, False, 0), (False, True, 0)]
    assert cached == {trials[0].cache_key, trials[2].cache_key}


def test_truncated_filtered_failed_and_cached_answers_are_not_cached(database: Database, tmp_path: Path) -> None:
    _, item = new_run(database, evaluation(4), tmp_path)
    trials = list(trials_of(item))

    async def work(journal: DatabaseJournal) -> object:
        await journal.write(
            [
                Answer(trials[0], Response("cut", FinishReason.LENGTH)),
                Answer(trials[1], Response("no", FinishReason.FILTERED)),
                Answer(trials[2], None, error="500"),
                Answer(trials[3], Response("from the cache"), is_cached=True),
            ],
            [],
        )
        return await journal.cached([trial.cache_key or "" for trial in trials])

    assert with_journal(database, item.id, work) == {}


@pytest.mark.skipif(not WRITTEN.exists(), reason="only Linux says how much a process has written")
def test_batches_are_written_to_the_log_of_their_database_and_nowhere_else(tmp_path: Path) -> None:
    """What a statement changes is kept until it ends, a long log is copied: either can be as much again."""
    database = open_database(f"sqlite:///{tmp_path / 'proctor.db'}")
    _, item = new_run(database, evaluation(3_600), tmp_path)
    trials, log = list(trials_of(item)), tmp_path / "proctor.db-wal"

    async def work(journal: DatabaseJournal) -> tuple[int, int]:
        await write_answers(journal, *(Answer(trial, Response("x" * 300)) for trial in trials[:1_600]))
        size, written = log.stat().st_size, _bytes_written()
        for start in range(1_600, 3_600, 400):
            await write_answers(
                journal, *(Answer(trial, Response("x" * 2_000)) for trial in trials[start : start + 400])
            )
        return log.stat().st_size - size, _bytes_written() - written

    grown, written = with_journal(database, item.id, work)
    database.dispose()
    assert 0 < grown <= written < 1.2 * grown


def _bytes_written() -> int:
    [line] = [line for line in WRITTEN.read_text().splitlines() if line.startswith("wchar:")]
    return int(line.split()[1])


def test_two_processes_never_share_a_row_id(database: Database, tmp_path: Path) -> None:
    _, item = new_run(database, evaluation(40), tmp_path)
    trials = list(trials_of(item))

    async def scenario() -> list[int]:
        journals = [DatabaseJournal(database, {item.id: {"echo": "1"}}, this_month()) for _ in range(2)]
        ids: list[int] = []
        for number, trial in enumerate(trials):
            ids += await write_answers(journals[number % 2], Answer(trial, Response("x")))
        for journal in journals:
            await journal.close()
        return ids

    ids = asyncio.run(scenario())
    assert len(set(ids)) == 40


def test_a_score_that_could_not_be_measured_is_measured_again(database: Database, tmp_path: Path) -> None:
    _, item = new_run(database, evaluation(1), tmp_path)
    trial = next(trials_of(item))

    async def work(journal: DatabaseJournal) -> tuple[bool, bool]:
        answer = Answer(trial, Response("x"))
        [row_id] = await write_answers(journal, answer)
        await journal.write([], [scored(answer, row_id, None)])
        before = (await journal.recorded(item.id, [trial.id]))[trial.id].is_scored
        await journal.write([], [scored(answer, row_id, 0.5)])
        return before, (await journal.recorded(item.id, [trial.id]))[trial.id].is_scored

    assert with_journal(database, item.id, work) == (False, True)
    [score] = MeasuringStore(database).sample_scores(item.id, "echo", "1")
    assert score.value == 0.5
    database.dispose()


def test_the_latest_attempt_counts_and_the_earlier_one_is_kept(database: Database, tmp_path: Path) -> None:
    run_id, item = new_run(database, evaluation(1), tmp_path)
    trial = next(trials_of(item))

    async def work(journal: DatabaseJournal) -> None:
        await journal.write([Answer(trial, None, error="down")], [])
        answer = Answer(replace(trial, attempt=1), Response("x"))
        [row_id] = await write_answers(journal, answer)
        await journal.write([], [scored(answer, row_id)])

    with_journal(database, item.id, work)
    store = ResultStore(database)
    tally = MeasuringStore(database).tally(item.id)
    assert (tally.scored, tally.failed) == (1, 0)
    assert [row.attempt for row in store.results(run_id)] == [1]
    assert [row.attempt for row in store.results(run_id, all_attempts=True)] == [0, 1]
    database.dispose()


def test_an_unknown_cost_makes_the_sum_unknown_and_known_costs_add_up_exactly(
    database: Database, tmp_path: Path
) -> None:
    _, item = new_run(database, evaluation(3), tmp_path)
    trials = list(trials_of(item))

    def write(*answers: Answer) -> None:
        with_journal(database, item.id, lambda journal: journal.write(answers, []))

    store = MeasuringStore(database)
    assert store.tally(item.id).cost_usd is None
    write(*(Answer(trial, Response("x", cost_usd=Decimal("0.1"))) for trial in trials[:2]))
    assert store.tally(item.id).cost_usd == Decimal("0.2")
    write(Answer(trials[2], Response("x")))
    assert store.tally(item.id).cost_usd is None
    database.dispose()


def test_epochs_are_averaged_within_a_sample(database: Database, tmp_path: Path) -> None:
    _, item = new_run(database, evaluation(2, epochs=2), tmp_path)

    async def work(journal: DatabaseJournal) -> None:
        for number, trial in enumerate(trials_of(item)):
            answer = Answer(trial, Response("x"))
            [row_id] = await write_answers(journal, answer)
            await journal.write([], [scored(answer, row_id, float(number == 0))])

    with_journal(database, item.id, work)
    values = {score.sample_id: score.value for score in MeasuringStore(database).sample_scores(item.id, "echo", "1")}
    assert values == {"s0": 0.5, "s1": 0.0}
    database.dispose()


texts = st.text(st.characters(codec="utf-8"), max_size=50)
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
parts = st.builds(Text, texts) | st.builds(Image, st.binary(max_size=20), st.just("image/png"))
parts |= st.builds(DocumentPart, st.binary(max_size=20), st.just("application/pdf"), texts)
messages = st.builds(
    Message, st.sampled_from(["system", "user", "assistant"]), texts | st.lists(parts, max_size=3).map(tuple)
)


@given(st.lists(messages, max_size=3).map(tuple), st.lists(st.dictionaries(texts, plain_json, max_size=2), max_size=2))
def test_any_prompt_comes_back_as_it_was(said: tuple[Message, ...], tools: list[dict[str, object]]) -> None:
    prompt = Prompt(said, tools=tuple(tools), schema={"type": "object"} if tools else None)
    assert codec.read_prompt(codec.prompt_text(prompt)) == prompt
    assert codec.prompt_text(prompt) == codec.to_json(prompt), "rows of all versions of one prompt are the same"


@given(
    texts,
    texts | st.lists(messages, min_size=1, max_size=2).map(tuple),
    st.none() | texts | st.lists(texts, max_size=3).map(tuple),
    st.lists(texts, max_size=3).map(tuple),
    st.dictionaries(texts, plain_json, max_size=3),
)
def test_any_sample_comes_back_as_it_was(
    name: str,
    asked: str | tuple[Message, ...],
    target: str | tuple[str, ...] | None,
    choices: tuple[str, ...],
    more: dict[str, object],
) -> None:
    sample = Sample(name, asked, target, choices, "c", "g", ("then?",), {"level": "1"}, more)
    row = {
        "sample_id": sample.id, "input": sample.input_text, "target": codec.target_text(sample),
        "body": codec.sample_body(sample), "category": "c", "cluster": "g",
    }  # fmt: skip
    assert codec.read_sample(row) == sample


def test_half_a_surrogate_pair_is_replaced_not_fatal(database: Database, tmp_path: Path) -> None:
    run_id, item = new_run(database, evaluation(1), tmp_path)
    trial: Trial = next(trials_of(item))
    with_journal(database, item.id, lambda journal: journal.write([Answer(trial, Response("a\ud83d"))], []))
    [row] = ResultStore(database).results(run_id)
    assert row.response == "a\ufffd"
    database.dispose()


def test_an_answer_that_cannot_be_stored_is_unusable_alone(database: Database, tmp_path: Path) -> None:
    run_id, item = new_run(database, evaluation(3), tmp_path)
    first, second, third = trials_of(item)
    unstorable = Response("x", usage=Usage(input_tokens=2**70))

    async def work(journal: DatabaseJournal) -> list[str | None]:
        answers = [Answer(first, Response("a")), Answer(second, unstorable), Answer(third, Response("c"))]
        written = await journal.write(answers, [])
        assert [answer.trial.id for answer in written.answers] == [first.id, second.id, third.id]
        assert [answer.error for answer in written.answers] == [None, None, None]
        return [answer.response.note for answer in written.answers if answer.response is not None]

    notes = with_journal(database, item.id, work)
    assert [note is None for note in notes] == [True, False, True]
    assert re.match("the answer could not be stored: (OverflowError|NumericValueOutOfRange): ", str(notes[1]))
    rows = list(ResultStore(database).results(run_id))
    assert [row.response for row in rows] == ["a", "", "c"]
    database.dispose()


def test_a_score_that_cannot_be_stored_leaves_its_trial_unscored_and_the_others_scored(
    database: Database, tmp_path: Path
) -> None:
    run_id, item = new_run(database, evaluation(2), tmp_path)
    trials = list(trials_of(item))

    async def work(journal: DatabaseJournal) -> list[Outcome]:
        written = await journal.write([Answer(trial, Response("a")) for trial in trials], [])
        good, other = written.answers
        stranger = Result(other, (Score("of another name", 1.0),), Outcome.SCORED)
        marked = await journal.write([], [Result(good, (Score("echo", 1.0),), Outcome.SCORED), stranger])
        return [result.outcome for result in marked.results]

    assert with_journal(database, item.id, work) == [Outcome.SCORED, Outcome.FAILED]
    rows = list(ResultStore(database).results(run_id))
    assert [row.outcome for row in rows] == [Outcome.SCORED, Outcome.FAILED]
    database.dispose()


def test_looking_up_what_is_recorded_does_not_wait_for_a_write(database: Database, tmp_path: Path) -> None:
    _, item = new_run(database, evaluation(2), tmp_path)
    first, second = trials_of(item)

    async def work(journal: DatabaseJournal) -> tuple[list[bool], bool, list[bool]]:
        await journal.write([Answer(first, Response("x"))], [])
        ids = [first.id, second.id]
        with closing(database.connect()) as other, other.transaction():
            if database.dialect is POSTGRESQL:  # where writers do not wait for each other otherwise
                other.execute("LOCK TABLE responses IN EXCLUSIVE MODE")
            writing = asyncio.create_task(journal.write([Answer(second, Response("y"))], []))
            await asyncio.sleep(0)  # it is in the writer's hands before anything is looked up
            meanwhile = await journal.recorded(item.id, ids)
            was_waiting = not writing.done()
        await writing
        afterwards = await journal.recorded(item.id, ids)
        return [one in meanwhile for one in ids], was_waiting, [one in afterwards for one in ids]

    assert with_journal(database, item.id, work) == ([True, False], True, [True, True])


def test_closing_a_journal_twice_is_harmless(database: Database, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with_journal(database, 1, lambda journal: journal.close())
    assert set(threading.enumerate()) <= before, "its threads have ended"
