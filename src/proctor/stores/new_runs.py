"""The rows that a run begins with, written within a transaction: its own, and those of its evaluations."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.domain.run import RunStatus
from proctor.stores.codec import to_json
from proctor.stores.connection import Connection
from proctor.stores.moments import month_of, now_text, text_of
from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.domain.evaluation import Evaluation
    from proctor.domain.plan import Plan


ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_run_id() -> str:
    """Sorts by time, so that the newest run is last and ids made together share no long prefix by accident."""
    moment, text = int(time.time()), ""
    while moment:
        moment, digit = divmod(moment, 32)
        text = ALPHABET[digit] + text
    return text + "".join(secrets.choice(ALPHABET) for _ in range(5))


def insert_run(
    connection: Connection, run_id: str, plan: Plan, folder: Path, data: Path | None, now: datetime, project: str
) -> None:
    """Write a queued run without evaluations, within a transaction."""
    kept_data = None if data is None else str(data.absolute())
    connection.execute(
        "INSERT INTO runs (id, name, status, plan, folder, data, version, created_at, project) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            run_id,
            plan.name,
            RunStatus.QUEUED,
            plan.model_dump_json(),
            str(folder),
            kept_data,
            __version__,
            text_of(now),
            project,
        ],
    )
    for tag in plan.tags:
        connection.execute("INSERT INTO run_tags (run_id, tag) VALUES (?, ?)", [run_id, tag])


def insert_evaluations(
    connection: Connection, run_id: str, evaluations: Sequence[Evaluation], created_at: datetime
) -> None:
    """Write a run's evaluations, within a transaction; they belong to the run's project."""
    project = connection.execute("SELECT project FROM runs WHERE id = ?", [run_id]).fetchone()[0]
    for position, evaluation in enumerate(evaluations):
        _name_parts(connection, evaluation, now_text())
        row = {**_evaluation_row(run_id, position, evaluation), "month": month_of(created_at), "project": project}
        connection.insert("evaluations", tuple(row), [tuple(row.values())])


def _name_parts(connection: Connection, evaluation: Evaluation, now: str) -> None:
    """The model and the benchmark, each once however many runs use them."""
    benchmark = evaluation.benchmark
    connection.execute(
        "INSERT INTO models (name, provider, first_used_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [evaluation.label, evaluation.label.partition("/")[0], now],
    )
    connection.execute(
        "INSERT INTO benchmarks (name, version, digest, samples, tags, first_used_at) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        [
            benchmark.name,
            benchmark.version,
            evaluation.benchmark_identity,
            evaluation.fingerprint.count,
            to_json(benchmark.tags),
            now,
        ],
    )


def _evaluation_row(run_id: str, position: int, evaluation: Evaluation) -> dict[str, Any]:
    benchmark = evaluation.benchmark
    return {
        "run_id": run_id,
        "position": position,
        "model": evaluation.label,
        "model_spec": evaluation.model_spec.model_dump_json(),
        "benchmark": benchmark.name,
        "benchmark_spec": evaluation.benchmark_spec.model_dump_json(),
        "version": benchmark.version,
        "digest": evaluation.benchmark_identity,
        "samples": evaluation.fingerprint.count,
        "epochs": evaluation.epochs,
        "options": to_json(evaluation.options),
        "scorers": to_json({scorer.name: scorer.version for scorer in evaluation.scorers}),
        "metrics": to_json(benchmark.metrics),
        "tags": to_json(benchmark.tags),
    }
