"""Runs held against one another: comparisons, ranks, and how many samples a difference needs."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.leaderboard import Leaderboard
from proctor.domain.documents.power import PowerAnswer
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.comparing.leaderboard import read_leaderboard
from proctor.runs.comparing.pairs import PairSelection
from proctor.runs.comparing.ranked_tables import TAGS, Filters
from proctor.runs.plans.power import PowerQuestion, answer_power, discordance_of
from proctor.server.access import Store
from proctor.server.documents import answers, cached_answer, json_answer
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.server.service import service_of
from proctor.stores.project_state import results_state

router = resource("comparisons")
Names = Annotated[list[str], Field(max_length=50)]


class CompareQuery(BaseModel):
    """Two runs, or one: then its models are compared with one another."""

    model_config = ConfigDict(extra="forbid")

    a: str = Field(max_length=600, description="RUN or RUN:MODEL.")
    b: Names = Field(default_factory=list, description="RUN or RUN:MODEL; the same run's models if left out.")
    model: Names = Field(default_factory=list, description="Choose the models or sides: A first, then B.")
    on: Names = Field(default_factory=list, description="Only these benchmarks.")
    scorer: str | None = Field(None, max_length=200)
    metric: str | None = Field(None, max_length=200)
    allow_different: bool = Field(False, description="Pair by sample id even if samples or prompts differ.")
    target: float = Field(0.02, gt=0, le=1, description="The difference you want to detect.")
    flips: int = Field(0, ge=0, le=10_000, description="So many samples that only A, and that only B, got right.")


@router.get("/compare", operation_id="compareRuns", responses=answers(Comparisons, problems=(404,)))
def compare(request: Request, database: Store, query: Annotated[CompareQuery, Query()]) -> Response:
    """Difference, interval, paired test and verdict, on the samples that both answered."""
    sides = [side.partition(":") for side in (query.a, *query.b)]
    models = tuple(dict.fromkeys([*(model for _, _, model in sides if model), *query.model]))
    choice = PairSelection(tuple(query.on), models, query.scorer, query.metric, query.allow_different)
    runs = [run for run, _, _ in sides]
    found = compare_runs(database, runs, choice, target=query.target, flips=query.flips)
    return cached_answer(request, found)


class LeaderboardQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    benchmark: Names = Field(default_factory=list)
    version: Names = Field(default_factory=list)
    model: Names = Field(default_factory=list)
    language: str | None = Field(None, max_length=100)
    subject: str | None = Field(None, max_length=100)
    task: str | None = Field(None, max_length=100)
    form: str | None = Field(None, max_length=100)
    metric: str | None = Field(None, max_length=200)
    which: Literal["latest", "best"] = "latest"
    ranks: Literal["auto", "paired", "separate"] = "auto"


@router.get("/leaderboard", operation_id="readLeaderboard", responses=answers(Leaderboard, problems=(404,)))
def leaderboard(request: Request, database: Store, query: Annotated[LeaderboardQuery, Query()]) -> Response:
    """Rank the models of all completed runs, a table for each benchmark as it was used."""
    tags = {name: value for name in TAGS if (value := getattr(query, name)) is not None}
    filters = Filters(tuple(query.benchmark), tuple(query.version), tuple(query.model), tags)
    found = service_of(request).documents.document(
        "leaderboard",
        database,
        query.model_dump(),
        lambda: results_state(database),
        lambda: read_leaderboard(database, filters, which=query.which, ranks=query.ranks, metric=query.metric),
    )
    return cached_answer(request, found)


class PowerQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    run: str | None = Field(None, max_length=64, description="Take the discordance from two models of this run.")
    on: str | None = Field(None, max_length=500)
    model: Names = Field(default_factory=list)
    difference: float = Field(0.02, gt=0, lt=1)
    samples: int | None = Field(None, ge=2, le=10**9)
    accuracy: float | None = Field(None, gt=0, lt=1)
    discordance: float | None = Field(None, gt=0, lt=1)
    correlation: float = Field(0.0, ge=-1, le=1)
    unpaired: bool = False
    power: float = Field(0.8, gt=0, lt=1)
    alpha: float = Field(0.05, gt=0, lt=1)


@router.get("/power", operation_id="computePower", responses=answers(PowerAnswer, problems=(404,)))
def power(database: Store, query: Annotated[PowerQuery, Query()]) -> Response:
    """The samples that a difference needs, or the difference that so many samples can show."""
    measured = None
    if query.run is None and (query.on or query.model):
        raise ProblemError(422, "parameters", "on and model need a run.")
    if query.run is not None:
        if query.discordance is not None or query.accuracy is not None or query.unpaired:
            detail = "With a run the discordance is measured: leave out accuracy, discordance and unpaired."
            raise ProblemError(422, "parameters", detail)
        choice = PairSelection((query.on,) if query.on else (), tuple(query.model))
        measured = discordance_of(compare_runs(database, [query.run], choice))
    question = PowerQuestion(
        query.difference,
        query.samples,
        query.accuracy,
        query.discordance,
        query.correlation,
        query.unpaired,
        query.power,
        query.alpha,
    )
    try:
        return json_answer(answer_power(question, measured))
    except (ValueError, OverflowError) as error:
        raise ProblemError(422, "parameters", f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
