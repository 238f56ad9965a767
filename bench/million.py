"""Fill a database with many stored results, by direct bulk inserts: what the reading side is measured on.

python bench/million.py /somewhere/empty --results 1000000 --per-evaluation 100000
PROCTOR_HOME=/somewhere/empty proctor leaderboard

With --database-url, a server's database instead of a file; bench/reading.py starts one and measures it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from proctor.domain.plan import Plan
from proctor.stores.connection import Connection
from proctor.stores.database import Database, open_database
from proctor.stores.statements import BODY_COLUMNS, RESPONSE_COLUMNS, SAMPLE_COLUMNS, SCORE_COLUMNS
from proctor.version import __version__

CATEGORIES = [f"subject-{n:02}" for n in range(57)]
DAY = "2026-01-{:02}T00:00:00.000000+00:00"
MONTH = 202601
TAGS = orjson.dumps({"language": "en", "subject": "general", "task": "knowledge", "form": "choice"}).decode()
ROWS_AT_ONCE = 20_000
DIGEST = "bulk@0123456789abcdef0123456789abcdef/fedcba9876543210fedcba9876543210"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, nargs="?", help="a folder for a file of SQLite")
    parser.add_argument("--database-url")
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--per-evaluation", type=int, default=100_000)
    options = parser.parse_args()
    if (options.home is None) == (options.database_url is None):
        parser.error("name a folder, or --database-url")
    database = open_database(options.database_url or f"sqlite:///{options.home / 'proctor.db'}")
    started = time.perf_counter()
    fill(database, options.results, options.per_evaluation)
    print(f"{options.results:,} results in {time.perf_counter() - started:.0f} s")


def fill(database: Database, results: int, size: int) -> None:
    """Runs of one model each; the last run has two models, whose results lie between one another."""
    count = results // size
    models = [[number] for number in range(count - 2)] + [[count - 2, count - 1]]
    next_id = 1
    with database.connection() as connection, connection.transaction():
        database.prepare_month(connection, MONTH)
        _name_parts(connection, count, size)
        _many(connection, "samples", SAMPLE_COLUMNS, [_sample(n) for n in range(size)])
    for run, members in enumerate(models):
        with database.connection() as connection, connection.transaction():
            next_id = _fill_run(connection, run, members, size, next_id)
    with database.connection() as connection:
        connection.execute("INSERT INTO id_blocks (name, next) VALUES ('responses', ?)", [next_id])


def _name_parts(connection: Connection, models: int, size: int) -> None:
    for number in range(models):
        connection.execute("INSERT INTO models (name, provider, first_used_at) VALUES (?, 'demo', ?)",
                           [f"demo/model-{number}", DAY.format(1)])  # fmt: skip
    connection.execute(
        "INSERT INTO benchmarks (name, version, digest, samples, tags, first_used_at) VALUES ('bulk', '1', ?, ?, ?, ?)",
        [DIGEST, size, TAGS, DAY.format(1)],
    )


def _fill_run(connection: Connection, run: int, members: list[int], size: int, next_id: int) -> int:
    """Gives the id after the last response's."""
    evaluations = [_evaluation(connection, f"1bulk{run:03}", place, m, size) for place, m in enumerate(members)]
    rows = [row for n in range(size) for row in _results(evaluations, members, n)]
    responses, bodies, scores = [], [], []
    for number, (response, body, score) in enumerate(rows, next_id):
        responses.append((number, *response, MONTH))
        if body is not None:
            bodies.append((number, *body, MONTH))
            scores.append((number, *score, MONTH))
    _many(connection, "responses", RESPONSE_COLUMNS, responses)
    _many(connection, "bodies", BODY_COLUMNS, bodies)
    _many(connection, "scores", (*SCORE_COLUMNS[:8], "month"), scores)
    return next_id + len(rows)


def _many(connection: Connection, table: str, columns: tuple[str, ...], rows: list[Any]) -> None:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        connection.insert(table, columns, rows[start : start + ROWS_AT_ONCE])


def _sample(n: int) -> tuple[Any, ...]:
    question = f"Question {n}: which of these is the one? " + "word " * 40
    prompt = orjson.dumps({"messages": [{"role": "user", "content": question}], "tools": [], "schema": None}).decode()
    return f"{n:032x}", f"sample-{n:06}", question, "A", prompt, "{}"


def _evaluation(connection: Connection, run_id: str, position: int, model: int, size: int) -> int:
    name = f"demo/model-{model}"
    plan = Plan.model_validate({"models": [name], "benchmarks": ["bulk"]})
    if position == 0:
        connection.execute(
            "INSERT INTO runs (id, status, plan, folder, version, created_at, finished_at, seconds) "
            "VALUES (?, 'completed', ?, '/', ?, ?, ?, 60)",
            [run_id, plan.model_dump_json(), __version__, *[DAY.format(model + 1)] * 2],
        )
    row = connection.execute(
        "INSERT INTO evaluations (run_id, position, model, model_spec, benchmark, benchmark_spec, version, digest, "
        "samples, epochs, options, scorers, metrics, tags, month) VALUES (?,?,?,?,'bulk',?,'1',?,?,1,'{}',?,?,?,?) "
        "RETURNING id",
        [
            run_id, position, name, plan.models[0].model_dump_json(), plan.benchmarks[0].model_dump_json(), DIGEST,
            size, '{"choice":"1"}', '["accuracy"]', TAGS, MONTH,
        ],
    ).fetchone()  # fmt: skip
    return int(row[0])


def _results(evaluations: list[int], models: list[int], n: int) -> Iterator[tuple[Any, Any, Any]]:
    """One trial a model; one in a thousand failed at first, and half of those for good."""
    for evaluation, model in zip(evaluations, models, strict=True):
        rng = random.Random(n * 1_000 + model)
        shared = random.Random(n).random()
        is_right = 0.6 * shared + 0.4 * rng.random() < 0.5 + 0.015 * model
        fate = rng.random()
        head = (evaluation, f"{model:02x}{n:030x}")
        sample = (f"sample-{n:06}", f"{n:032x}", 0, CATEGORIES[n % 57], None)
        attempt = 0
        if fate < 0.001:
            yield (
                (*head, 0, *sample, None, False, "the server said 503", 5, *[None] * 8, float(n), None, None),
                None,
                None,
            )
            attempt = 1
            if fate < 0.0005:
                continue
        seconds = rng.lognormvariate(-1, 0.5)
        told = ("stop", 90, 60, None, None, 1_500_000, seconds, 0.1, n, None, "reported")
        response = (*head, attempt, *sample, None, False, None, 0, *told)
        is_invalid = rng.random() < 0.005
        mark = (float(is_right and not is_invalid), is_invalid, "A", "read 'A' after 'Answer:'", None)
        text = f"Let me think. {_prose(rng)} Answer: A, {rng.randrange(10**9)}"
        yield response, (text, None), ("choice", "1", *mark)


def _prose(rng: random.Random) -> str:
    """Thirty words: a few of them in nearly every answer, most of them in few."""
    return " ".join(f"word{int(rng.paretovariate(0.6)) % 100_000}" for _ in range(30))


if __name__ == "__main__":
    main()
