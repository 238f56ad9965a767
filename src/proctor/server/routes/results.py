"""A run's results: in pages, one by one, as a report, as an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated, Literal

from fastapi import Path, Query
from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from proctor import plugins
from proctor.domain.documents.report import RunReport
from proctor.domain.documents.result import EXTRAS
from proctor.domain.documents.served import ResultDetails, ResultPage, ResultPositions, ServedResult
from proctor.domain.errors import did_you_mean
from proctor.domain.trial import Outcome
from proctor.reports.formats import page_text
from proctor.reports.run_page import run_page
from proctor.runs.report import read_report
from proctor.runs.results import (
    count_worked_examples,
    read_attempts,
    read_page,
    read_positions,
    read_rows,
    response_parts,
    trial_result,
)
from proctor.server.access import Store
from proctor.server.documents import JSON, answers, cached_answer, json_answer, reference
from proctor.server.pages import next_link
from proctor.server.problems import ProblemError
from proctor.server.routes.resource import resource
from proctor.stores.result_filters import FILTERS
from proctor.stores.result_rows import ResultRow

router = resource("results")
MAX_ID = 2**63 - 1
SEARCHED = (
    "what was typed, beginning where a word begins, whatever its case, its width and the spaces in it; where a script "
    "puts no spaces between words, any part."
)
CHARACTERS = "At most so many of each response; `response_characters` says how many it has."
CONFINED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report holds what models wrote: a browser that shows it runs nothing of it."""
TYPES = {"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8", "json": JSON}
EXPORTS = {
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "junit": "application/xml",
    "inspect": JSON,
}
PIECE_BYTES = 2**16
ENDINGS = {"junit": "xml", "inspect": "json"}
Cursor = Annotated[int, Path(ge=1, le=MAX_ID)]


class FilterQuery(BaseModel):
    """Which results; each part that is given must hold."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["scored", "invalid", "failed"] | None = None
    wrong: bool = Field(False, description="Only those with a score below 1, invalid ones included.")
    model: str | None = Field(None, max_length=500)
    benchmark: str | None = Field(None, max_length=500)
    category: str | None = Field(None, max_length=500)
    sample: str | None = Field(None, max_length=500)
    epoch: int | None = Field(None, ge=0, le=1_000_000)
    text: str | None = Field(None, max_length=500, description=f"In the input or the response: {SEARCHED}")
    prompt: str | None = Field(None, max_length=500, description="As text, in the input alone.")
    answer: str | None = Field(None, max_length=500, description="As text, in the response alone.")
    reason: str | None = Field(None, max_length=500, description="In what a scorer gave as its reason.")
    error: str | None = Field(None, max_length=500, description="In the error.")
    score_from: float | None = Field(None, ge=0, le=1, description="Of the scorer that counts.")
    score_to: float | None = Field(None, ge=0, le=1)
    latency_from: float | None = Field(None, ge=0, le=1e9, description="Seconds.")
    cost_from: float | None = Field(None, ge=0, le=1e6, description="USD.")
    tokens_from: int | None = Field(None, ge=0, le=MAX_ID, description="Tokens of output.")
    disputed: bool = Field(False, description="Only those of which one scorer says yes and another no.")

    @property
    def where(self) -> dict[str, str]:
        """What the store is asked for."""
        given = self.model_dump(include={*FILTERS, "model", "benchmark"}, exclude_none=True)
        return {name: str(value) for name, value in given.items() if value is not False}

    @property
    def wanted_outcome(self) -> Outcome | None:
        return None if self.outcome is None else Outcome(self.outcome)


class ResultQuery(FilterQuery):
    after: int = Field(0, ge=0, le=MAX_ID, description="The last result of the page before.")
    limit: int = Field(50, ge=1, le=500)
    characters: int | None = Field(None, ge=0, le=10_000_000, description=CHARACTERS)
    extras: str | None = Field(
        None, alias="with", max_length=100, description=f"Further fields, separated by commas: {', '.join(EXTRAS)}."
    )


class PositionQuery(FilterQuery):
    every: int = Field(100, ge=1, le=500, description="Rows on a page.")


@router.get(
    "/runs/{run_id}/results",
    operation_id="listResults",
    responses=answers(
        ResultPage,
        description="In the order they were recorded.",
        headers={"Link": "The next page.", "ETag": "Its state."},
        problems=(404,),
    ),
)
def list_results(
    request: Request, run_id: str, database: Store, query: Annotated[ResultQuery, Query()]
) -> Response:  # fmt: skip
    """List a run's results, with every filter of `proctor samples`; rows are those of `proctor export -f jsonl`."""
    rows, has_more = read_page(
        database,
        run_id,
        query.where,
        limit=query.limit,
        after=query.after,
        outcome=query.wanted_outcome,
        is_wrong=query.wrong,
        characters=query.characters,
    )
    extras, after = _extras(query.extras), str(rows[-1].id) if has_more else None
    page = ResultPage([_served(row, extras) for row in rows], after)
    return cached_answer(request, page, headers=next_link(request, after))


@router.get(
    "/runs/{run_id}/positions",
    operation_id="findPages",
    responses=answers(ResultPositions, description="Where each page of the results begins.", problems=(404,)),
)
def positions(run_id: str, database: Store, query: Annotated[PositionQuery, Query()]) -> Response:
    """How many results fit, and `after` of every page of them: any row is then one request away."""
    found = read_positions(
        database, run_id, query.where, every=query.every, outcome=query.wanted_outcome, is_wrong=query.wrong
    )
    return json_answer(found)


class DetailsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    characters: int | None = Field(None, ge=0, le=10_000_000, description=CHARACTERS)


@router.get(
    "/runs/{run_id}/results/{result_id}",
    operation_id="readResult",
    responses=answers(ResultDetails, problems=(404,), headers={"ETag": "Its state."}),
)
def read_result(
    request: Request, run_id: str, result_id: Cursor, database: Store, query: Annotated[DetailsQuery, Query()]
) -> Response:
    """One result with its prompt as it was sent, what else the sample holds, and every attempt."""
    found, *attempts = read_attempts(database, run_id, result_id, characters=query.characters)
    result = trial_result(found, extras=EXTRAS)
    whole = ResultDetails(
        **asdict(result),
        result_id=str(found.id),
        worked_examples=count_worked_examples(found),
        response_characters=found.response_characters,
        attempts=[_served(row) for row in attempts],
    )
    return cached_answer(request, whole)


@router.get(
    "/runs/{run_id}/results/{result_id}/response",
    operation_id="downloadResponse",
    responses=answers(
        description="The whole response as text, streamed.",
        content={"text/plain": {"schema": {"type": "string"}}},
        problems=(404,),
    ),
)
def download_response(run_id: str, result_id: Cursor, database: Store) -> Response:
    """A response as a file, however long it is."""
    parts = response_parts(database, run_id, result_id)
    content = (part.encode("utf-8", "replace") for part in parts)
    return StreamingResponse(content, media_type="text/plain; charset=utf-8", headers=_attached(f"{result_id}.txt"))


def _served(row: ResultRow, extras: tuple[str, ...] = ()) -> ServedResult:
    examples = count_worked_examples(row) if "prompt" in extras else None
    result = trial_result(row, extras=extras)
    return ServedResult(
        **asdict(result),
        result_id=str(row.id),
        worked_examples=examples,
        response_characters=row.response_characters,
    )


class ReportQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["json", "html", "md"] = "json"
    samples: int = Field(200, ge=0, le=5_000, description="At most so many failed, invalid and wrong trials in full.")
    theme: str | None = Field(None, max_length=100, pattern=r"^[a-z-]+$", description="Colours of the HTML page.")


@router.get(
    "/runs/{run_id}/report",
    operation_id="readReport",
    responses=answers(
        description="The report of `proctor report`, in the format that was asked for.",
        content={
            JSON: {"schema": reference(RunReport)},
            "text/html": {"schema": {"type": "string"}},
            "text/markdown": {"schema": {"type": "string"}},
        },
        problems=(404,),
    ),
)
def get_report(run_id: str, database: Store, query: Annotated[ReportQuery, Query()]) -> Response:
    """A run's report: the numbers are the same in every format."""
    document = read_report(database, run_id, samples=query.samples)
    text = page_text(run_page(document), document, query.format, query.theme)
    return Response(text.encode("utf-8", "replace"), media_type=TYPES[query.format], headers=_attached(
        f"{document.run_id}.{query.format}"
    ))  # fmt: skip


class ExportQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["jsonl", "csv", "parquet", "junit", "inspect"] = "jsonl"
    all_attempts: bool = Field(False, description="Every attempt at a trial, not only the current one.")
    model: str | None = Field(None, max_length=500, description="Only what this model answered.")
    benchmark: str | None = Field(None, max_length=500, description="Only this benchmark.")
    extras: str | None = Field(
        None, alias="with", max_length=100, description=f"Further fields, separated by commas: {', '.join(EXTRAS)}."
    )


@router.get(
    "/runs/{run_id}/export",
    operation_id="exportRun",
    responses=answers(
        description="The file of `proctor export`, streamed.",
        content={kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in EXPORTS.values()},
        problems=(404,),
    ),
)
def export(run_id: str, database: Store, query: Annotated[ExportQuery, Query()]) -> Response:
    """Every result as a file for other programs; a run of any size needs little memory."""
    if query.all_attempts and query.format == "inspect":
        raise ProblemError(422, "parameters", "A log of Inspect has one attempt at each sample and epoch.")
    where = {"model": query.model, "benchmark": query.benchmark}
    extras = _extras(query.extras, query.format)
    rows = read_rows(database, run_id, all_attempts=query.all_attempts, extras=extras, where=where)
    chunks = iter(plugins.create("exports", query.format, rows))
    first = next(chunks, b"")  # what is wrong shows before the answer has begun
    content = _in_pieces(bytes(memoryview(part)) for part in chain([first], chunks))
    headers = _attached(f"{rows.run_id}.{ENDINGS.get(query.format, query.format)}")
    return StreamingResponse(content, media_type=EXPORTS[query.format], headers=headers)


def _in_pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    """What is sent at once: each piece goes from a thread to the connection, which takes longer than a row does."""
    piece = bytearray()
    for part in parts:
        piece += part
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _extras(given: str | None, format_name: str = "jsonl") -> tuple[str, ...]:
    names = () if given is None else tuple(dict.fromkeys(name.strip() for name in given.split(",")))
    for name in names:
        if name not in EXTRAS:
            hint = did_you_mean(name, EXTRAS)
            raise ProblemError(422, "parameters", f"There is no field {name!r}.{hint} There are: {', '.join(EXTRAS)}.")
    if names and format_name == "junit":
        raise ProblemError(422, "parameters", "with adds fields to jsonl, csv and parquet; JUnit XML has no place.")
    return names


def _attached(name: str) -> dict[str, str]:
    """A file to keep, never a page of this origin."""
    return {"Content-Disposition": f'attachment; filename="{name}"', "Content-Security-Policy": CONFINED}
