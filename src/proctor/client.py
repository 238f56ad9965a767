"""A client of a Proctor server, with the same objects as the library."""

from __future__ import annotations

import http.client
import os
import secrets
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
import orjson
from msgspec import Struct

from proctor.benchmarks.registry import BenchmarkInfo
from proctor.domain.documents.accepted import AcceptedRun, RunPage, ServedRun
from proctor.domain.documents.annotation import Comment, CommentPage
from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.dry_run import DryRun
from proctor.domain.documents.evaluation import ScorersInForce
from proctor.domain.documents.file import FilePage, FileText, StoredFile
from proctor.domain.documents.leaderboard import Leaderboard
from proctor.domain.documents.listing import ListedRun
from proctor.domain.documents.model import ModelDescription, ProviderDescription
from proctor.domain.documents.own_benchmark import OwnBenchmark, OwnBenchmarkPage, OwnBenchmarkVersions
from proctor.domain.documents.problem import ListedProblem, ProblemDescription
from proctor.domain.documents.problem_details import ProblemDetails
from proctor.domain.documents.report import RunReport
from proctor.domain.documents.result import TrialResult
from proctor.domain.documents.run import RunSummary, ShownRun, StoppingRun
from proctor.domain.documents.served import FoundResults, ResultPage, ServedResult, ShownSample
from proctor.domain.documents.service import ServerVersion
from proctor.domain.documents.submission import ProgramRanking, ServedSubmission, WaitingSubmissions
from proctor.domain.documents.webhook import CreatedWebhook, DeliveryPage, Webhook, WholeDelivery
from proctor.domain.errors import NotFoundError, RunError, StoreError, UserError
from proctor.programs.archive import program_zip
from proctor.programs.submissions import submission_from
from proctor.runs.content import files_of_benchmark

T = TypeVar("T")
Query = Mapping[str, Any]
V1 = "/api/v1"
LAST = frozenset({"finished", "failed", "cancelled"})
TIMEOUT_SECONDS = 120.0
WAITS = (0.2, 0.5, 1.0, 2.0, 5.0)
PAGE = 500
PIECE = 256 * 1024


class RunEvent(Struct, frozen=True):
    """One event of a run's stream."""

    number: int
    kind: str
    data: Mapping[str, Any]


class Client:
    """Asks one server; a mistake raises what the library would raise, with the same sentence.

    The key is sent to this server only, and no redirect is followed. Asking again after a lost connection is left to
    the caller, but for `follow`, which goes on where the stream broke off.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise UserError(f"A server is written http://HOST:PORT or https://HOST, not {url!r}.")
        self.url = url.rstrip("/")
        self._parts, self._key, self._timeout = parts, key, timeout_seconds

    # Runs

    def submit(self, plan: Mapping[str, Any], *, idempotency_key: str | None = None) -> AcceptedRun:
        """Hand in a plan, as in a plan file; sent again with the same key, it gives the same run."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return self._convert(self._ask("POST", "/runs", body=plan, headers=headers), AcceptedRun)

    def estimate(self, plan: Mapping[str, Any]) -> DryRun:
        """What a plan would do and cost."""
        return self._convert(self._ask("POST", "/estimate", body=plan), DryRun)

    def run(self, run: str = "latest") -> ServedRun:
        """A run's numbers, and how far it is."""
        return self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}"), ServedRun)

    def summary(self, run: str = "latest") -> RunSummary:
        """A run's numbers alone."""
        served = self.run(run)
        return RunSummary(**{name: getattr(served, name) for name in RunSummary.__struct_fields__})

    def shown(self, run: str = "latest") -> ShownRun:
        """A run's numbers, as `proctor show --json` prints them."""
        served = self.run(run)
        return ShownRun(**{name: getattr(served, name) for name in ShownRun.__struct_fields__})

    def runs(self, *, limit: int = 50, after: str | None = None, **query: Any) -> RunPage:
        """A page of runs, newest first: status, model, benchmark, text, owner, kind, since, until."""
        return self._convert(self._ask("GET", "/runs", {**query, "limit": limit, "after": after}), RunPage)

    def list_runs(self, *, limit: int, after: str | None = None, **query: Any) -> list[ListedRun]:
        """So many runs and one more where there is one, newest first."""
        found: list[ListedRun] = []
        while len(found) <= limit:
            page = self.runs(limit=min(PAGE, limit + 1 - len(found)), after=after, **query)
            found += page.items
            after = page.next
            if after is None:
                break
        return found

    def follow(self, run: str, after: int = 0) -> Iterator[RunEvent]:
        """Events as they happen, until the run has ended; a lost connection is taken up where it broke off."""
        failures = 0
        while True:
            try:
                for event in self._stream(run, after):
                    failures, after = 0, event.number
                    yield event
                    if event.kind in LAST:
                        return
            except StoreError:
                if failures == len(WAITS):
                    raise
            # A stream may also end because the server does: it is opened again.
            time.sleep(WAITS[min(failures, len(WAITS) - 1)])
            failures += 1

    def wait(self, run: str) -> ServedRun:
        """The run, once it has ended."""
        for _ in self.follow(run):
            pass
        return self.run(run)

    def cancel(self, run: str) -> StoppingRun:
        """Stop a run; requests in flight are finished and recorded."""
        return self._convert(self._ask("POST", f"/runs/{quote(self._id(run), safe='')}/cancel"), StoppingRun)

    def resume(self, run: str) -> AcceptedRun:
        """Finish a run: missing trials, failed ones again."""
        return self._convert(self._ask("POST", f"/runs/{quote(self._id(run), safe='')}/resume"), AcceptedRun)

    # Results

    def results(self, run: str = "latest", **query: Any) -> Iterator[ServedResult]:
        """Results that fit (outcome, wrong, model, benchmark, category, sample, text), page after page."""
        after: str | None = None
        while True:
            asked = {"limit": PAGE, **query, "after": after}
            page = self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}/results", asked), ResultPage)
            yield from page.items
            after = page.next
            if after is None:
                return

    def samples(
        self, run: str, where: Query, *, limit: int, outcome: str | None = None, wrong: bool = False
    ) -> FoundResults:  # fmt: skip
        """Trials with their prompts, as `proctor samples` shows them."""
        found: list[ServedResult] = []
        query = {**where, "outcome": outcome, "wrong": wrong or None, "with": "prompt", "limit": min(PAGE, limit + 1)}
        for result in self.results(run, **query):
            found.append(result)
            if len(found) > limit:
                break
        summary = self.run(run)
        fields = TrialResult.__struct_fields__
        shown = [
            ShownSample(TrialResult(**{name: getattr(one, name) for name in fields}), one.worked_examples or 0)
            for one in found[:limit]
        ]
        in_force = [
            ScorersInForce(
                model=one.model, benchmark=one.benchmark, side=one.side, scorers=one.scorers, rescored=one.rescored
            )
            for one in summary.evaluations
        ]
        return FoundResults(summary.run_id, shown, len(found) > limit, in_force)

    def compare(self, *runs: str, **query: Any) -> Comparisons:
        """Runs held against one another: on, model, scorer, metric, allow_different, target, flips."""
        a, *others = runs or ("latest",)
        return self._convert(self._ask("GET", "/compare", {**query, "a": a, "b": others}), Comparisons)

    def leaderboard(self, **query: Any) -> Leaderboard:
        """The models of all completed runs: benchmark, version, model, language, …, metric, which, ranks."""
        return self._convert(self._ask("GET", "/leaderboard", query), Leaderboard)

    def report(self, run: str = "latest", *, samples: int = 200) -> RunReport:
        """A run's report as a document."""
        return self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}/report", {"samples": samples}), RunReport)

    def export(self, run: str = "latest", format: str = "jsonl", **query: Any) -> Iterator[bytes]:  # noqa: A002
        """The file of `proctor export`, piece by piece; `all_attempts` and `with` as there."""
        yield from self._pieces(f"/runs/{quote(run, safe='')}/export", {"format": format, **query})

    # Files

    def upload(self, file: Path | IO[bytes], *, name: str | None = None, run: str | None = None) -> StoredFile:
        """Upload an image, a PDF or a text; it stays as long as the run that it is for, or until it expires."""
        if isinstance(file, Path):
            with file.open("rb") as opened:
                return self.upload(opened, name=name or file.name, run=run)
        query = {"name": name, "run_id": None if run is None else self._id(run)}
        return self._convert(self._ask("POST", "/files", query, file), StoredFile)

    def keep_output(self, run: str, format: str = "csv") -> StoredFile:  # noqa: A002
        """Keep a run's export (jsonl, csv, parquet, junit, inspect) or report (html, md, json) as a file."""
        path = f"/runs/{quote(self._id(run), safe='')}/files"
        return self._convert(self._ask("POST", path, body={"format": format}), StoredFile)

    def files(self, *, limit: int = 50, after: str | None = None, kind: str | None = None) -> FilePage:
        """A page of files, newest first; the kind is image, pdf or text."""
        return self._convert(self._ask("GET", "/files", {"limit": limit, "after": after, "kind": kind}), FilePage)

    def file(self, file: str) -> StoredFile:
        """What is known of a file."""
        return self._convert(self._ask("GET", f"/files/{quote(file, safe='')}"), StoredFile)

    def file_text(self, file: str, page: int | None = None) -> FileText:
        """The text of a PDF page by page, or of one page; of a text, the text."""
        return self._convert(self._ask("GET", f"/files/{quote(file, safe='')}/text", {"page": page}), FileText)

    def download(self, file: str) -> Iterator[bytes]:
        """The content of a file, piece by piece."""
        yield from self._pieces(f"/files/{quote(file, safe='')}/content", {})

    def delete_file(self, file: str) -> None:
        """Delete a file that no run uses."""
        self._ask("DELETE", f"/files/{quote(file, safe='')}")

    # Comments

    def comments(self, run: str = "latest") -> Iterator[Comment]:
        """A run's comments, oldest first, page after page."""
        after: str | None = None
        while True:
            asked = {"limit": PAGE, "after": after}
            page = self._convert(self._ask("GET", f"/runs/{quote(run, safe='')}/comments", asked), CommentPage)
            yield from page.items
            after = page.next
            if after is None:
                return

    def comment(self, run: str, text: str, *, result_id: str | None = None) -> Comment:
        """Comment on a run, or on one of its results, under the name of the key."""
        body = {"text": text} if result_id is None else {"text": text, "result_id": result_id}
        return self._convert(self._ask("POST", f"/runs/{quote(self._id(run), safe='')}/comments", body=body), Comment)

    # Webhooks

    def create_webhook(self, url: str, events: Sequence[str] = ()) -> CreatedWebhook:
        """Tell an address how runs end: run.finished, run.failed, run.cancelled. Its secret is shown once."""
        body = {"url": url, "events": list(events)}
        return self._convert(self._ask("POST", "/webhooks", body=body), CreatedWebhook)

    def webhooks(self) -> list[Webhook]:
        """The project's webhooks, without their secrets."""
        return self._convert(self._ask("GET", "/webhooks"), list[Webhook])

    def rotate_webhook(self, webhook: str) -> CreatedWebhook:
        """Another secret; for a day messages are signed with the former one as well."""
        return self._convert(self._ask("POST", f"/webhooks/{quote(webhook, safe='')}/rotate"), CreatedWebhook)

    def delete_webhook(self, webhook: str) -> None:
        """Delete a webhook with its deliveries."""
        self._ask("DELETE", f"/webhooks/{quote(webhook, safe='')}")

    def deliveries(
        self, webhook: str, *, limit: int = 50, after: str | None = None, state: str | None = None
    ) -> DeliveryPage:
        """A page of what a webhook was told, newest first; the state is waiting, delivered or failed."""
        query = {"limit": limit, "after": after, "state": state}
        return self._convert(self._ask("GET", f"/webhooks/{quote(webhook, safe='')}/deliveries", query), DeliveryPage)

    def delivery(self, webhook: str, delivery: str) -> WholeDelivery:
        """A message with its body and what was answered to it last."""
        path = f"/webhooks/{quote(webhook, safe='')}/deliveries/{quote(delivery, safe='')}"
        return self._convert(self._ask("GET", path), WholeDelivery)

    def resend(self, webhook: str, delivery: str) -> WholeDelivery:
        """Send a message again, with the same id."""
        path = f"/webhooks/{quote(webhook, safe='')}/deliveries/{quote(delivery, safe='')}/resend"
        return self._convert(self._ask("POST", path), WholeDelivery)

    # Benchmarks of the project's own

    def upload_benchmark(self, file: Path) -> OwnBenchmark:
        """Upload a benchmark file with the data files that it names, or a new version of one."""
        body, kind = _form_of(file)
        return self._convert(self._ask("POST", "/own-benchmarks", body=body, headers=kind), OwnBenchmark)

    def check_benchmark(self, file: Path) -> BenchmarkDescription:
        """Check a benchmark with its data on the server; nothing is kept there."""
        body, kind = _form_of(file)
        return self._convert(self._ask("POST", "/own-benchmarks/check", body=body, headers=kind), BenchmarkDescription)

    def own_benchmarks(self, *, limit: int = 50, after: str | None = None, archived: bool = False) -> OwnBenchmarkPage:
        """A page of the versions that the project uploaded, newest first."""
        query = {"limit": limit, "after": after, "archived": archived}
        return self._convert(self._ask("GET", "/own-benchmarks", query), OwnBenchmarkPage)

    def own_benchmark(self, name: str) -> OwnBenchmarkVersions:
        """All versions of one of them, newest first."""
        return self._convert(self._ask("GET", f"/own-benchmarks/{quote(name, safe='')}"), OwnBenchmarkVersions)

    def archive_benchmark(self, name: str, version: str, *, is_archived: bool = True) -> OwnBenchmark:
        """Offer a version no more, or again; plans that name it still get it."""
        body = {"version": version, "is_archived": is_archived}
        return self._convert(
            self._ask("POST", f"/own-benchmarks/{quote(name, safe='')}/archive", body=body), OwnBenchmark
        )

    # Programs

    def problems(self) -> list[ListedProblem]:
        """The programs to build from written requirements."""
        return self._convert(self._ask("GET", "/problems"), list[ListedProblem])

    def problem(self, name: str) -> ProblemDescription:
        """A problem with its requirements, thresholds, weights and visible tests."""
        return self._convert(self._ask("GET", f"/problems/{quote(name, safe='')}"), ProblemDescription)

    def submit_program(
        self, problem: str, program: Path, *, name: str | None = None, load: bool = True, idempotency_key: str = ""
    ) -> ServedSubmission:
        """Hand in the program in a folder or an archive; a worker of the server marks it."""
        found = submission_from(program)
        query = {"problem": problem, "name": name or program.resolve().name, "load": load}
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        body = program_zip(found.files)
        return self._convert(self._ask("POST", "/submissions", query, body, headers), ServedSubmission)

    def submission(self, submission: str) -> ServedSubmission:
        """How far a submission is, and its scorecard once it is marked."""
        return self._convert(self._ask("GET", f"/submissions/{quote(submission, safe='')}"), ServedSubmission)

    def waiting_submissions(self, *, limit: int = 50, after: str | None = None) -> WaitingSubmissions:
        """A page of the programs that are not marked yet, or could not be, newest first."""
        query = {"limit": limit, "after": after}
        return self._convert(self._ask("GET", "/submissions/waiting", query), WaitingSubmissions)

    def wait_for_submission(self, submission: str) -> ServedSubmission:
        """The submission, once it is marked or has failed."""
        pause = WAITS[0]
        while (found := self.submission(submission)).status in ("queued", "running"):
            time.sleep(pause)
            pause = min(2 * pause, WAITS[-2])
        return found

    def ranking(self, problem: str) -> ProgramRanking:
        """The programs that were built for a problem, by their marks."""
        return self._convert(self._ask("GET", f"/problems/{quote(problem, safe='')}/ranking"), ProgramRanking)

    def delete_submission(self, submission: str) -> None:
        """Delete a submission, marked or not."""
        self._ask("DELETE", f"/submissions/{quote(submission, safe='')}")

    # What can be evaluated

    def benchmarks(self, **query: Any) -> list[BenchmarkInfo]:
        """The benchmarks: language, subject, task, form."""
        return self._convert(self._ask("GET", "/benchmarks", query), list[BenchmarkInfo])

    def benchmark(self, name: str) -> BenchmarkDescription:
        """One benchmark: protocol, samples, first prompt, scorers and metrics."""
        return self._convert(self._ask("GET", f"/benchmarks/{quote(name, safe='')}"), BenchmarkDescription)

    def providers(self) -> list[ProviderDescription]:
        """The providers, what they can do, and whether their key is set."""
        return self._convert(self._ask("GET", "/models"), list[ProviderDescription])

    def model(self, name: str) -> ModelDescription:
        """What is known of one model, written `provider/name`."""
        return self._convert(self._ask("GET", f"/models/{quote(name)}"), ModelDescription)

    def version(self) -> str:
        """The server's version."""
        return self._convert(self._ask("GET", "/version"), ServerVersion).version

    # The wire

    def _id(self, run: str) -> str:
        """What changes something names its run in full."""
        return run if len(run) == 12 else self.run(run).run_id

    def _ask(
        self, method: str, path: str, query: Query | None = None, body: Any = None, headers: Query | None = None
    ) -> bytes:  # fmt: skip
        connection, answer = self._open(method, f"{V1}{path}", query, body, headers)
        with closing(connection):
            return self._guard(answer.read)

    def _pieces(self, path: str, query: Query) -> Iterator[bytes]:
        connection, answer = self._open("GET", f"{V1}{path}", query)
        with closing(connection):
            while piece := self._guard(lambda: answer.read(PIECE)):
                yield piece

    def _open(
        self, method: str, path: str, query: Query | None = None, body: Any = None, headers: Query | None = None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        given = {name: _text(value) for name, value in (query or {}).items() if value not in (None, [], ())}
        address = f"{self._parts.path.rstrip('/')}{path}" + (f"?{urlencode(given, doseq=True)}" if given else "")
        sent = {"Accept": "application/json", **(headers or {})}
        if self._key is not None:
            sent["Authorization"] = f"Bearer {self._key}"
        content = body
        if hasattr(body, "read"):
            start = body.tell()
            sent["Content-Length"] = str(body.seek(0, os.SEEK_END) - body.seek(start))
        elif body is not None and not isinstance(body, bytes):
            sent["Content-Type"], content = "application/json", orjson.dumps(body)
        connection = self._connect()
        try:
            self._guard(lambda: _send(connection, method, address, content, sent))
            answer = self._guard(connection.getresponse)
            _refuse_failure(answer.status, lambda: self._guard(answer.read), self.url)
        except BaseException:
            connection.close()
            raise
        return connection, answer

    def _connect(self) -> http.client.HTTPConnection:
        host, port = str(self._parts.hostname), self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=ssl.create_default_context())

    def _guard(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except (OSError, http.client.HTTPException) as error:
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise StoreError(f"The server {self.url} does not answer: {said}.") from error

    def _stream(self, run: str, after: int) -> Iterator[RunEvent]:
        path = f"{V1}/runs/{quote(run, safe='')}/events"
        connection, answer = self._open("GET", path, headers={"Last-Event-ID": str(after)})
        with closing(connection):
            fields: dict[str, str] = {}
            while line := self._guard(answer.readline):
                text = line.decode().rstrip("\n")
                if text:
                    name, _, value = text.partition(": ")
                    fields[name] = value
                    continue
                if "event" in fields:
                    yield RunEvent(int(fields["id"]), fields["event"], orjson.loads(fields["data"]))
                fields = {}

    def _convert(self, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.MsgspecError as error:
            raise StoreError(f"{self.url} did not answer as a Proctor server of this version does: {error}.") from error


def _send(
    connection: http.client.HTTPConnection, method: str, address: str, content: Any, headers: Mapping[str, str]
) -> None:
    try:
        connection.request(method, address, content, headers)
    except (BrokenPipeError, ConnectionResetError):
        if content is None:
            raise
        # A server that has heard enough answers and closes: what it said is there to be read.


def _form_of(file: Path) -> tuple[bytes, dict[str, str]]:
    """A form with a benchmark file and the files beside it that it names."""
    boundary, parts = secrets.token_hex(16), []
    for path in dict.fromkeys(files_of_benchmark(file)):
        name = path.relative_to(file.parent).as_posix().replace('"', "%22")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        parts.append(head.encode() + path.read_bytes() + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), {
        "Content-Type": f"multipart/form-data; boundary={boundary}"
    }


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return [str(item) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _refuse_failure(status: int, read: Callable[[], bytes], url: str) -> None:
    if status >= 300:
        raise _error(status, read(), url)


def _error(status: int, body: bytes, url: str) -> Exception:
    """What the library would have raised."""
    try:
        detail = msgspec.json.decode(body, type=ProblemDetails).detail
    except msgspec.MsgspecError:
        return StoreError(f"{url} answered {status}, and it is not a Proctor server that says so.")
    if status == 404:
        return NotFoundError(detail)
    if status == 409:
        return RunError(detail)
    return StoreError(detail) if status >= 500 else UserError(detail)
