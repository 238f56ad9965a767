"""What a site without a server shows: the leaderboard, completed runs, and comparisons, each as the API gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise

from proctor.domain.documents.accepted import RunPage
from proctor.domain.documents.document import Document
from proctor.domain.documents.leaderboard import Leaderboard
from proctor.domain.documents.listing import ListedRun, ShownStatus
from proctor.domain.documents.site import SiteIndex
from proctor.domain.errors import UserError
from proctor.runs.chunks.served import served_run
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.comparing.leaderboard import read_leaderboard
from proctor.runs.comparing.pairs import PairSelection
from proctor.runs.listing import find_runs
from proctor.stores.database import Database
from proctor.version import __version__

MAX_RUNS = 500
MAX_SIDES = 12
"""More sides make so many pairs that a comparison says little."""
FLIPS = 500


def site_documents(database: Database) -> Iterator[tuple[str, Document]]:
    """Each file's name and what it holds; the index, which the pages read first, is the last."""
    runs = find_runs(database, limit=MAX_RUNS, status=ShownStatus.COMPLETED)[:MAX_RUNS]
    board = read_leaderboard(database)
    yield "leaderboard.json", board
    yield "runs.json", RunPage(runs, None)
    for run in runs:
        yield f"runs/{run.run_id}.json", served_run(database, run.run_id)
    comparisons: dict[str, str] = {}
    for key, references, models in _pairs(runs, board):
        try:
            document = compare_runs(database, references, PairSelection(models=models), flips=FLIPS)
        except UserError:
            continue  # what cannot be compared is no page
        name = f"compare/{blake2b(key.encode('utf-8', 'surrogatepass'), digest_size=10).hexdigest()}.json"
        comparisons[key] = name
        yield name, document
    yield "index.json", SiteIndex(datetime.now(UTC), __version__, len(runs), comparisons)


def _pairs(runs: Sequence[ListedRun], board: Leaderboard) -> Iterator[tuple[str, list[str], tuple[str, ...]]]:
    """Runs of several models, and in each table of the leaderboard the neighbours: as `/compare` is asked for them."""
    for run in runs:
        if 1 < len(run.models) <= MAX_SIDES:
            yield f"a={run.run_id}", [run.run_id], ()
    for table in board.tables:
        for better, worse in pairwise(table.rows):
            sides = [f"{one.run_id}:{one.model}" for one in (worse, better)]
            models = tuple(dict.fromkeys([worse.model, better.model]))
            yield f"a={sides[0]}&b={sides[1]}", [worse.run_id, better.run_id], models
