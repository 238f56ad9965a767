"""Programs that are handed in to a server, which marks them."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import quote

from proctor.client.connection import ServerConnection
from proctor.domain.documents.problem import ListedProblem, ProblemDescription
from proctor.domain.documents.submission import ProgramRanking, ServedSubmission, WaitingSubmissions
from proctor.programs.archive import program_zip
from proctor.programs.submissions import submission_from

POLL_SECONDS = (0.2, 2.0)
"""First, and at most."""


class ServedPrograms(ServerConnection):
    """Problems, and the programs that were built for them."""

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
        pause = POLL_SECONDS[0]
        while (found := self.submission(submission)).status in ("queued", "running"):
            time.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS[1])
        return found

    def ranking(self, problem: str) -> ProgramRanking:
        """The programs that were built for a problem, by their marks."""
        return self._convert(self._ask("GET", f"/problems/{quote(problem, safe='')}/ranking"), ProgramRanking)

    def delete_submission(self, submission: str) -> None:
        """Delete a submission, marked or not."""
        self._ask("DELETE", f"/submissions/{quote(submission, safe='')}")
