"""Results that are packed are found as if they were not, by every filter, whatever happens to them meanwhile."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from proctor.domain.chunk import Pool, TrialTally
from proctor.domain.documents.document import json_bytes
from proctor.domain.response import Response, Usage
from proctor.domain.run import RunStatus
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.text_query import TextQuery, fold
from proctor.domain.trial import Answer, Outcome, Result
from proctor.planning.expand import trials_of
from proctor.runs.chunks.finish import finish_run
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.packing import pack_next
from proctor.stores.chunk_rows import lease_of
from proctor.stores.chunks import ChunkStore
from proctor.stores.comparing import evaluations_of
from proctor.stores.connection import Connection
from proctor.stores.copying import copy_database, count_rows
from proctor.stores.database import Database, open_database
from proctor.stores.deleting import delete_rows
from proctor.stores.journal import DatabaseJournal
from proctor.stores.packed.marks import SampleIds, read_marks
from proctor.stores.packed.packing import PackingGoneError, PackingKind, PackingStore
from proctor.stores.packed.selection import select_packed
from proctor.stores.packed.words import find_words
from proctor.stores.result_filters import ResultFilters
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore
from proctor.stores.scores import ScoreStore
from stores.parts import PLAN, ListedSamples, evaluation, new_chunks, new_database, this_month

VERSIONS = {"echo": "1", "more": "1"}
SAMPLES, EPOCHS, SEGMENT = 12, 2, 7
WORDS = ["alpha", "Beta", "beta2", "東京都", "京都", "3.14", "x_y", "the", "The end.", "ＡＢＣ", "größe", "\n"]
PACKED = ("packings", "packed_columns", "packed_words")


@pytest.fixture
def database(tmp_path: Path, database_engine: str) -> Iterator[Database]:
    opened = new_database(tmp_path)
    yield opened
    opened.dispose()


def finished_run(database: Database, folder: Path, seed: int = 1) -> str:
    """Two evaluations of one run whose results differ in everything that filters ask for."""
    rng = random.Random(seed)
    samples = ListedSamples(
        tuple(
            Sample(f"s{n}", f"{text(rng)} {n}", category=rng.choice([None, "a", "b", "größe"])) for n in range(SAMPLES)
        )
    )
    item = replace(evaluation(SAMPLES, EPOCHS), samples=samples, fingerprint=samples.fingerprint())
    store = RunStore(database)
    run_id = store.create(PLAN, [item, replace(item, label="demo/y")], folder)
    ids = [row["id"] for row in store.evaluation_rows(run_id)]
    ScoreStore(database).put_in_force(dict.fromkeys(ids, VERSIONS))
    answer_all(database, run_id, [replace(item, id=one) for one in ids], rng)
    return run_id


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(6)))


def answer_all(database: Database, run_id: str, items: list[Any], rng: random.Random) -> None:
    store = RunStore(database)
    lease = store.lease(run_id)
    trials = [trial for item in items for trial in trials_of(item)]
    rng.shuffle(trials)
    asyncio.run(write(database, [answer_to(trial, rng) for trial in trials], rng))
    again = [replace(trial, attempt=1) for trial in rng.sample(trials, 9)]
    asyncio.run(write(database, [answer_to(trial, rng) for trial in again], rng))
    store.finish(lease, RunStatus.COMPLETED, 1.0)


def answer_to(trial: Any, rng: random.Random) -> Answer:
    if rng.random() < 0.1:
        return Answer(trial, None, error="the server said 503")
    usage = Usage(3, rng.choice([None, 5, 50]))
    cost, seconds = rng.choice([None, Decimal("0.01"), Decimal("0.25")]), rng.choice([None, 0.5, 2.0])
    return Answer(trial, Response(text(rng), usage=usage, cost_usd=cost, latency_seconds=seconds))


async def write(database: Database, answers: list[Answer], rng: random.Random) -> None:
    found = {answer.trial.evaluation_id: VERSIONS for answer in answers}
    journal = DatabaseJournal(database, found, this_month())
    try:
        written = (await journal.write(answers, [])).answers
        marked = [(answer, marks(rng)) for answer in written if answer.response is not None]
        await journal.write([], [Result(answer, scores, Outcome.SCORED) for answer, scores in marked])
    finally:
        await journal.close()


def marks(rng: random.Random) -> tuple[Score, ...]:
    return tuple(
        Score(name, rng.choice([None, 0.0, 0.5, 1.0, 1.0]), reason=rng.choice(["read 7", "nothing read"]))
        if rng.random() < 0.9
        else Score.invalid(name, "unreadable")
        for name in VERSIONS
    )


def pack(database: Database, run_id: str) -> None:
    while pack_next(database, run_id, large=1, segment=SEGMENT):
        pass


def is_packed(database: Database, run_id: str) -> bool:
    rows = RunStore(database).evaluation_rows(run_id)
    return all(set(PackingStore(database).find(row["id"])) == set(PackingKind) for row in rows)


FILTERS: dict[str, list[str]] = {
    "category": ["a", "größe", "none such"],
    "sample": ["s3", "s999"],
    "epoch": ["1"],
    "error": ["SERVER"],
    "latency_from": ["0.5", "1"],
    "cost_from": ["0", "0.02"],
    "tokens_from": ["6"],
    "score_from": ["0.5"],
    "score_to": ["0.5"],
    "below_full": ["1"],
    "disputed": ["1"],
    "reason": ["READ 7"],
    "model": ["demo/y"],
    "text": ["the", "THE END", "al", "東京", "京", "3.14", "y", "abc", "GRÖSSE", "...", "beta 3.14", "zzz"],
    "prompt": ["beta", "alpha the"],
    "answer": ["beta", "1", "x_y", "京都"],
}


def queries(seed: int = 7) -> list[dict[str, Any]]:
    """Each filter alone, and many together."""
    rng = random.Random(seed)
    alone = [{"where": {name: value}} for name, values in FILTERS.items() for value in values]
    alone += [{"outcome": outcome} for outcome in Outcome] + [{}, {"is_wrong": True}]
    together = [
        {
            "where": {name: rng.choice(FILTERS[name]) for name in rng.sample(sorted(FILTERS), rng.randrange(1, 4))},
            "outcome": rng.choice([None, None, *Outcome]),
        }
        for _ in range(25)
    ]
    return alone + together


def answers(database: Database, run_id: str, every: int = 8) -> list[Any]:
    """What one in so many of the queries finds: all rows, a page from within, and where pages begin."""
    store, found = ResultStore(database), []
    for query in queries()[::every]:
        rows = list(store.results(run_id, **query))
        places = {key: value for key, value in query.items() if key != "is_wrong"}
        middle = rows[len(rows) // 2].id if rows else 0
        page = islice(store.results(run_id, **query, after=middle, page_size=4), 4)
        found.append((query, rows, list(page), store.positions(run_id, every=3, **places)))
    return [*found, store.count_wrong(run_id)]


def test_what_is_packed_is_found_by_every_filter_as_if_it_were_not(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    before = answers(database, run_id, 1)
    assert not is_packed(database, run_id)
    pack(database, run_id)
    assert is_packed(database, run_id)
    for packed, plain in zip(answers(database, run_id, 1), before, strict=True):
        assert packed == plain
    assert sum(bool(rows) for _, rows, *_ in before[:-1]) > 40, "most of the queries find something"


def test_texts_are_found_as_the_plain_sentence_says(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path, seed=2)
    store = ResultStore(database)
    rows = list(store.results(run_id))
    pack(database, run_id)
    for typed in FILTERS["text"]:
        query = TextQuery(typed)
        asked = {row.id for row in rows if query.matches(fold(row.input))}
        answered = {row.id for row in rows if row.response is not None and query.matches(fold(row.response))}
        for name, wanted in (("prompt", asked), ("answer", answered), ("text", asked | answered)):
            assert {row.id for row in store.results(run_id, where={name: typed})} == wanted, (name, typed)


def test_every_filter_that_columns_know_is_answered_by_them(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    pack(database, run_id)
    part = RunStore(database).evaluation_rows(run_id)[0]["id"]
    left = {}
    for name, values in FILTERS.items():
        if name != "model":
            selection = select_packed(database, part, ResultFilters.of({name: values[0]}, None))
            assert selection is not None
            left[name] = bool(selection.left)
    assert {name for name, has_more in left.items() if has_more} == {"sample", "error", "reason"}
    phrase = select_packed(database, part, ResultFilters.of({"answer": "the end"}, None))
    assert phrase is not None
    assert phrase.left == {"answer"}, "words alone do not say that one follows the other"


def test_scores_that_come_into_force_are_read_at_once(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    pack(database, run_id)
    store, results = ScoreStore(database), ResultStore(database)
    ids = [row["id"] for row in RunStore(database).evaluation_rows(run_id)]
    wrong = results.count_wrong(run_id)
    store.put_in_force({key: {"more": "1"} for key in ids})
    assert not is_packed(database, run_id)
    changed = answers(database, run_id)
    assert results.count_wrong(run_id) != wrong
    pack(database, run_id)
    assert is_packed(database, run_id)
    assert answers(database, run_id) == changed


def test_a_run_that_is_taken_up_again_is_read_as_it_is(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    pack(database, run_id)
    item = evaluation(2, 1)
    rows = RunStore(database).evaluation_rows(run_id)
    answer_more = [replace(item, id=row["id"]) for row in rows]
    store = RunStore(database)
    lease = store.lease(run_id)
    trials = [replace(trial, attempt=5) for one in answer_more for trial in trials_of(one)]
    given = [Answer(trial, Response("unheard of")) for trial in trials]
    asyncio.run(write(database, given, random.Random(3)))
    assert not is_packed(database, run_id)
    wanted = {"answer": "unheard of"}
    assert len(list(ResultStore(database).results(run_id, where=wanted))) == len(trials)
    assert not pack_next(database, run_id, large=1), "nothing is packed of a run that goes on"
    store.finish(lease, RunStatus.COMPLETED, 1.0)
    pack(database, run_id)
    assert is_packed(database, run_id)
    assert len(list(ResultStore(database).results(run_id, where=wanted))) == len(trials)


def test_what_goes_while_it_is_read_is_read_on_from_the_results(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    where = {"epoch": "1", "model": "demo/x"}
    wanted = [row.id for row in ResultStore(database).results(run_id, where=where)]
    pack(database, run_id)
    reading = ResultStore(database).results(run_id, where=where, page_size=2)
    found = [row.id for row in islice(reading, 3)]
    with database.connection() as connection:
        for table in PACKED:
            connection.execute(f"DELETE FROM {table}")
    assert found + [row.id for row in reading] == wanted
    assert len(wanted) > SEGMENT


def test_one_process_packs_an_evaluation_and_the_next_takes_over_when_it_is_gone(
    database: Database, tmp_path: Path
) -> None:
    run_id = finished_run(database, tmp_path)
    store = PackingStore(database)
    [first, _] = store.unpacked(PackingKind.COLUMNS, 9, run_id, 1)
    claim = store.claim(first, PackingKind.COLUMNS)
    assert claim is not None
    assert store.write(claim, ("segment", "name", "data"), [(0, "ids", b"half")])
    assert store.claim(first, PackingKind.COLUMNS) is None
    assert first not in store.unpacked(PackingKind.COLUMNS, 9, run_id, 1)
    with database.connection() as connection:
        connection.execute("UPDATE packings SET claimed_until = 0")
    pack(database, run_id)
    assert is_packed(database, run_id)
    assert not store.write(claim, ("segment", "name", "data"), [(1, "ids", b"late")])
    assert not store.complete(claim, 1, {})
    with database.connection() as connection:
        rows = connection.execute("SELECT count(*) FROM packed_columns WHERE generation = ?", [claim.generation])
        assert rows.fetchone()[0] == 0


def test_who_is_told_to_stop_leaves_nothing_that_is_read(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    left = iter([True, True])
    while pack_next(database, run_id, large=1, segment=SEGMENT, go_on=lambda: next(left, False)):
        pass
    rows = RunStore(database).evaluation_rows(run_id)
    assert [PackingStore(database).find(row["id"]) for row in rows] == [{}, {}]


def test_small_runs_are_left_as_they_are(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    assert not pack_next(database, run_id)
    assert not pack_next(database, large=2 * SAMPLES * EPOCHS + 1)


def test_what_is_packed_goes_with_its_run(database: Database, tmp_path: Path) -> None:
    run_id, other = finished_run(database, tmp_path), finished_run(database, tmp_path, seed=5)
    for run in (run_id, other):
        pack(database, run)
    delete_rows(database, run_id)
    assert is_packed(database, other)
    delete_rows(database, other)
    counts = {}
    with database.connection() as connection:
        for table in PACKED:
            counts[table] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    assert counts == dict.fromkeys(PACKED, 0)


def test_a_copy_is_packed_anew(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    pack(database, run_id)
    wanted = answers(database, run_id)
    target = open_database(f"sqlite:///{tmp_path / 'copy.db'}")
    copied = {table.table for table in copy_database(database, target)}
    assert "responses" in copied
    assert not copied & set(PACKED)
    assert not set(count_rows(target)) & set(PACKED)
    assert not is_packed(target, run_id)
    assert answers(target, run_id) == wanted
    pack(target, run_id)
    assert answers(target, run_id) == wanted
    target.dispose()


def test_a_text_that_is_too_long_to_be_packed_is_looked_at(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    row = next(row for row in ResultStore(database).results(run_id) if row.response is not None)
    with database.connection() as connection:
        long = "filler " * 200_000 + "needle"
        connection.execute("UPDATE bodies SET text = ? WHERE response_id = ?", [long, row.id])
    pack(database, run_id)
    for typed in ("needle", "filler needle"):
        assert [found.id for found in ResultStore(database).results(run_id, where={"answer": typed})] == [row.id]
        assert ResultStore(database).positions(run_id, every=1, where={"answer": typed}) == (1, [])


def right_or_wrong(
    database: Database, folder: Path, seed: int, change: Callable[[Sample], Sample] = lambda it: it
) -> str:
    """A run of two models on samples of one epoch that are right, wrong or could not be marked."""
    rng = random.Random(seed)
    samples = ListedSamples(tuple(change(Sample(f"s{n:02}", f"s{n}")) for n in range(30)))
    item = replace(evaluation(30), samples=samples, fingerprint=samples.fingerprint())
    store = RunStore(database)
    run_id = store.create(PLAN, [item, replace(item, label="demo/y")], folder)
    lease = store.lease(run_id)
    trials = [trial for row in store.evaluation_rows(run_id) for trial in trials_of(replace(item, id=row["id"]))]
    rng.shuffle(trials)

    async def record() -> None:
        versions = {row["id"]: {"echo": "1"} for row in store.evaluation_rows(run_id)}
        journal = DatabaseJournal(database, versions, this_month())
        try:
            written = (await journal.write([Answer(trial, Response("x")) for trial in trials], [])).answers
            scores = [score_of(rng) for _ in written]
            both = zip(written, scores, strict=True)
            await journal.write([], [Result(answer, (score,), Outcome.SCORED) for answer, score in both])
        finally:
            await journal.close()

    asyncio.run(record())
    store.finish(lease, RunStatus.COMPLETED, 1.0)
    return run_id


def score_of(rng: random.Random) -> Score:
    if rng.random() < 0.2:
        return Score("echo", None, reason="none", details={"verdict": "unreadable"} if rng.random() < 0.5 else {})
    return Score("echo", rng.choice([0.0, 1.0, 1.0]))


def is_compared_at_once(database: Database, run_id: str) -> bool:
    rows = evaluations_of(database, run_id)
    return all(read_marks(database, row.id, "echo", row.scorers["echo"]) is not None for row in rows)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_comparison_of_what_is_packed_is_the_same_document(database: Database, tmp_path: Path, seed: int) -> None:
    runs = [right_or_wrong(database, tmp_path, seed), right_or_wrong(database, tmp_path, seed + 10)]
    wanted = [json_bytes(compare_runs(database, names, flips=3)) for names in ([runs[0]], runs)]
    assert b"s0" in wanted[0], "flips are shown"
    for run_id in runs:
        assert not is_compared_at_once(database, run_id)
        pack(database, run_id)
        assert is_compared_at_once(database, run_id)
        assert json_bytes(compare_runs(database, runs, flips=3)) == wanted[1], "whether one side is packed or both"
    assert [json_bytes(compare_runs(database, names, flips=3)) for names in ([runs[0]], runs)] == wanted
    ids = [row.id for row in evaluations_of(database, runs[0])]
    ScoreStore(database).forget_packed(ids)
    assert not is_compared_at_once(database, runs[0])


def test_samples_of_groups_and_marks_between_right_and_wrong_are_compared_in_turn(
    database: Database, tmp_path: Path
) -> None:
    grouped = right_or_wrong(database, tmp_path, 1, lambda it: replace(it, group=f"g{it.id[-1]}"))
    graded = right_or_wrong(database, tmp_path, 2)
    with database.connection() as connection:
        for row in RunStore(database).evaluation_rows(graded):
            mine = "SELECT min(id) FROM responses WHERE evaluation_id = ?"
            connection.execute(f"UPDATE scores SET value = 0.5 WHERE response_id = ({mine})", [row["id"]])
    repeated = finished_run(database, tmp_path)
    for run_id in (grouped, graded, repeated):
        wanted = json_bytes(compare_runs(database, [run_id], flips=3))
        pack(database, run_id)
        assert is_packed(database, run_id)
        assert not is_compared_at_once(database, run_id)
        assert json_bytes(compare_runs(database, [run_id], flips=3)) == wanted


def test_names_of_samples_are_had_although_they_are_packed_anew_meanwhile(database: Database, tmp_path: Path) -> None:
    run_id = right_or_wrong(database, tmp_path, 1)
    pack(database, run_id)
    row = evaluations_of(database, run_id)[0]
    names = SampleIds(database, row.id)
    assert names.at(29) == "s29"
    with database.connection() as connection:
        connection.execute("DELETE FROM packed_columns")
    assert names.at(3) == "s03"


def test_scores_that_change_after_the_end_are_not_read_from_what_was_packed_before(
    database: Database, tmp_path: Path
) -> None:
    run_id = finished_run(database, tmp_path)
    pack(database, run_id)
    store, results = PackingStore(database), ResultStore(database)
    rows = list(results.results(run_id, where={"model": "demo/x", "score_from": "1"}))
    changed, item = rows[0], evaluation(SAMPLES, EPOCHS)
    [first, second] = RunStore(database).evaluation_rows(run_id)
    trial = next(trial for trial in trials_of(replace(item, id=first["id"])) if trial.sample.id == changed.sample_id)

    async def score_again() -> None:
        """As a rescore that is killed half way: one mark is written, and nothing said of it."""
        journal = DatabaseJournal(database, {first["id"]: VERSIONS}, this_month())
        answer = Answer(trial, Response("x"), response_id=changed.id)
        await journal.write([], [Result(answer, (Score("echo", 0.0),), Outcome.SCORED)])
        await journal.close()

    ScoreStore(database).forget_packed([first["id"]])
    [waiting] = store.unpacked(PackingKind.COLUMNS, 9, run_id, 1)
    claim = store.claim(waiting, PackingKind.COLUMNS)
    assert claim is not None
    asyncio.run(score_again())
    assert not store.complete(claim, 1, {}), "what was read before that is not all of it"
    pack(database, run_id)
    asyncio.run(score_again())
    assert set(store.find(first["id"])) == {PackingKind.WORDS}
    assert set(store.find(second["id"])) == set(PackingKind)
    wanted = [row.id for row in rows if row.id != changed.id]
    assert [row.id for row in results.results(run_id, where={"model": "demo/x", "score_from": "1"})] == wanted


def test_a_run_that_was_cancelled_is_packed_once_its_workers_have_let_go_of_it(database: Database) -> None:
    run_id = new_chunks(database, chunks=1)
    chunk = ChunkStore(database).lease_next([Pool.DEFAULT])
    assert chunk is not None
    assert RunStore(database).request_cancel(run_id)
    assert not pack_next(database, run_id, large=1), "what is in flight is recorded yet"
    assert ChunkStore(database).give_back(lease_of(chunk), TrialTally())
    finish_run(run_id, database)
    pack(database, run_id)
    assert is_packed(database, run_id)


def test_rows_that_cannot_be_packed_keep_no_others_from_being_packed(database: Database, tmp_path: Path) -> None:
    run_id, broken = finished_run(database, tmp_path), finished_run(database, tmp_path, seed=5)
    with database.connection() as connection:
        connection.execute("UPDATE evaluations SET scorers = '[]' WHERE run_id = ?", [broken])
        connection.execute("UPDATE runs SET created_at = '9999-01-01' WHERE id = ?", [broken])
        connection.execute("UPDATE responses SET epoch = -1 WHERE id = (SELECT min(id) FROM responses)")
    while pack_next(database, large=1, segment=SEGMENT):
        pass
    assert is_packed(database, run_id)
    assert not is_packed(database, broken)
    assert [row.epoch for row in ResultStore(database).results(run_id, where={"epoch": "-1"})] == [-1]


def test_a_search_is_told_when_its_words_go_between_two_of_its_readings(database: Database, tmp_path: Path) -> None:
    run_id = finished_run(database, tmp_path)
    pack(database, run_id)
    row = RunStore(database).evaluation_rows(run_id)[0]
    words = PackingStore(database).find(row["id"])[PackingKind.WORDS]
    with database.connection() as connection:
        going = cast("Connection", DeletedAfterOneQuery(connection))
        with pytest.raises(PackingGoneError):
            find_words(going, words, 0, "prompt", TextQuery("alpha beta"))


class DeletedAfterOneQuery:
    """A connection between whose first and second query another process packs anew."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execute(self, *query: Any) -> Any:
        found = self._connection.execute(*query).fetchall()
        self._connection.execute("DELETE FROM packed_words")
        return found
