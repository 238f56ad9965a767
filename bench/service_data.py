"""A PostgreSQL database with many runs: one real run, copied inside the database under new ids.

What a run writes is decided by Proctor, not by this file: whatever columns its tables have, they are copied.
"""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

from proctor.stores.database import open_database

STEP = 1_000_000
"""Between the ids of one copy and the next: more than one run has."""
RUN = "'1b' || lpad(copy::text, 10, '0')"


def record_one(url: str, home: str, results: int) -> None:
    """A real run of two models on puzzles, with so many results."""
    command = [
        sys.executable, "-c", "from proctor.cli.main import main; main()", "run", "puzzles", "-m", "demo/strong",
        "-m", "demo/weak", "--limit", str(results // 2), "--no-cache", "--json", "--here",
    ]  # fmt: skip
    environment = {"PROCTOR_HOME": home, "PROCTOR_DATABASE_URL": url, "PATH": "/usr/bin:/bin", "HOME": home}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def fill(url: str, home: str, runs: int, results: int) -> float:
    """So many runs with `results` altogether; gives the seconds that it took."""
    began = time.perf_counter()
    record_one(url, home, results // runs)
    database = open_database(url)
    with database.connection() as connection:
        [run_id] = [row[0] for row in connection.execute("SELECT id FROM runs").fetchall()]
        number = f"id + copy::bigint * {STEP}"
        begin = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        gap = (datetime.now(UTC) - begin).total_seconds() / (runs + 1)
        moment = f"timestamp '{begin:%Y-%m-%d}' + copy * interval '{gap:.6f} seconds'"
        created = f"to_char({moment}, 'YYYY-MM-DD\"T\"HH24:MI:SS.US') || '+00:00'"
        of_evaluation = f"evaluation_id + copy::bigint * {STEP}"
        of_response = f"response_id + copy::bigint * {STEP}"
        changed: dict[str, dict[str, str]] = {
            "runs": {"id": RUN, "created_at": created},
            "evaluations": {"id": number, "run_id": RUN},
            "responses": {"id": number, "evaluation_id": of_evaluation},
            "bodies": {"response_id": of_response},
            "scores": {"response_id": of_response},
        }
        for table, columns in changed.items():
            _copy(connection, table, columns, runs - 1)
        for table in ("evaluations",):
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
        connection.execute(f"UPDATE id_blocks SET next = next + {runs + 1}::bigint * {STEP} WHERE name = 'responses'")
        connection.execute("ANALYZE")
        assert run_id
    database.dispose()
    return time.perf_counter() - began


def _copy(connection: Any, table: str, changed: dict[str, str], copies: int) -> None:
    query = (
        "SELECT column_name FROM information_schema.columns WHERE table_name = ? AND table_schema = current_schema()"
    )
    names = [row[0] for row in connection.execute(query, [table]).fetchall()]
    said = ", ".join(changed.get(name, name) for name in names)
    connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {said} FROM {table}, generate_series(1, {copies}) AS copy"
    )
