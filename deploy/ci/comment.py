"""Writes the summary into the pull request: one comment, which later builds write over."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

SECONDS = 30
PAGE = 100
MAX_CHARACTERS = 60_000
"""GitHub takes 65,536."""


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    address = f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}{path}"
    headers = {
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "Content-Type": "application/json",
    }
    sent = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, sent, headers, method=method)  # noqa: S310 - GitHub's own variable
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
        return json.loads(answer.read() or b"null")


def find(comments: str, marker: str) -> int | None:
    """The comment that an earlier build left, by what stands at its beginning."""
    page = 1
    while found := ask("GET", f"{comments}?per_page={PAGE}&page={page}"):
        for one in found:
            if (one["body"] or "").startswith(marker) and (one["user"] or {}).get("type") == "Bot":
                return int(one["id"])
        if len(found) < PAGE:
            return None
        page += 1
    return None


def main() -> int:
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number, repository = event["pull_request"]["number"], os.environ["GITHUB_REPOSITORY"]
    path = Path(os.environ.get("EVALUATION_OUT") or os.environ["RUNNER_TEMP"]) / "summary.md"
    if not path.is_file():
        print("There is no summary: the evaluation did not begin.", file=sys.stderr)
        return 0
    marker = f"<!-- proctor: {os.environ.get('INPUT_NAME') or 'proctor'} -->"
    body = {"body": f"{marker}\n{path.read_text(encoding='utf-8')}"[:MAX_CHARACTERS]}
    issues = f"/repos/{repository}/issues"
    try:
        earlier = find(f"{issues}/{number}/comments", marker)
        if earlier is None:
            ask("POST", f"{issues}/{number}/comments", body)
        else:
            ask("PATCH", f"{issues}/comments/{earlier}", body)
    except urllib.error.HTTPError as error:
        # Pull requests from forks get a token that may not write: the step summary has the same text.
        print(
            f"The comment was not written: GitHub answered {error.code}. Does the job have pull-requests: write?",
            file=sys.stderr,
        )
        return 0 if error.code in (403, 404) else 1
    except OSError as error:
        print(f"The comment was not written: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
