"""Benchmarks drafted over the API: read, drafted and checked as the command line does, and kept by whom may."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from benchmarks.test_draft_benchmark import NAMES, TEXT, reply
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider
from models.pdfs import pdf
from proctor.accounts.budgets import set_budget
from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.stores.database import open_database
from server.serving import Server, serving

V1 = "/api/v1/benchmark-drafts"
FORM = {"Content_Type": "multipart/form-data; boundary=x"}


def form(name: str, content: bytes) -> bytes:
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    return head + content + b"\r\n--x--\r\n"


def read(server: Server, name: str, content: bytes) -> Any:
    return server.ask("POST", f"{V1}/passages", form(name, content), **FORM)


@pytest.fixture
def models() -> Iterator[dict[str, Any]]:
    with FakeProvider(reply=reply) as provider:
        yield {name: f"openai/{name}?base_url={provider.url}/v1" for name in ("writer", "checker")}


def test_a_document_becomes_a_benchmark_of_what_was_accepted_and_not_dropped(
    server: Server, models: dict[str, Any]
) -> None:
    document = read(server, "keys.md", TEXT.encode()).json
    assert document["name"] == "keys.md"
    passages = [{"number": at, "text": text} for at, text in enumerate(document["passages"])]
    assert len(passages) == len(NAMES)
    samples: list[dict[str, Any]] = []
    requests = 0
    for start in (0, 2, 4):
        questions = [one["question"] for one in samples if one["verdict"] == "accepted"]
        asked = {"passages": passages[start : start + 2], "questions": questions, **models}
        found = server.post(f"{V1}/samples", {**asked, "pilots": [models["checker"]]})
        assert found.status == 200, found.body
        samples += found.json["samples"]
        requests += found.json["requests"]
    assert [one["passage_number"] for one in samples] == list(range(6))
    # As on the command line: one is accepted, and each of the others is refused for a reason of its own.
    [accepted] = [one for one in samples if one["verdict"] == "accepted"]
    assert (accepted["answer"], accepted["difficulty"]) == ("Ada", 0)
    assert len({one["reason"] for one in samples}) == len(samples)
    assert requests == 6 + 2 * 1 + 1 + 2 + 1

    kept = {"name": "keys", "document": "keys.md", "samples": samples}
    made = server.post(V1, kept)
    assert made.status == 201, made.body
    assert made.headers["location"] == "/api/v1/own-benchmarks/keys"
    assert (made.json["reference"], made.json["description"]["samples"]) == ("keys@1", 1)
    dry = server.post("/api/v1/estimate", {"models": ["demo/strong"], "benchmarks": ["keys@1"]})
    assert dry.json["trials"] == 1
    # The same again is the same version; another draft needs another one, and nothing is no benchmark.
    assert server.post(V1, kept).status == 201
    other = [{**accepted, "question": "Who has the key of tower 10, please say?"}]
    assert server.post(V1, {**kept, "samples": other}).status == 409
    assert server.post(V1, {**kept, "samples": other, "version": "2"}).json["reference"] == "keys@2"
    dropped = server.post(V1, {**kept, "samples": [{**accepted, "review": "dropped"}], "version": "3"})
    assert (dropped.status, "No sample is left" in dropped.json["detail"]) == (422, True)


def test_what_cannot_be_read_or_drafted_is_said_and_nothing_is_asked(server: Server, models: dict[str, Any]) -> None:
    assert read(server, "keys.pdf", pdf([TEXT[:200]])).json["passages"]
    for name, content, said in (
        ("keys.docx", b"x", "ends in none of .txt, .md, .pdf"),
        ("keys.txt", b"\xff\xfe\x00", "is not UTF-8"),
        ("keys.txt", b"short", "no passage of 80 characters"),
        ("keys.pdf", b"no pdf", "cannot be read"),
        ("keys." + "x" * 300, b"x", "ends in none of"),
    ):
        answer = read(server, name, content)
        assert (answer.status, said in answer.json["detail"]) == (422, True), answer.body
        assert name in answer.json["detail"]
    passages = [{"number": 0, "text": TEXT[:200]}]
    same = server.post(f"{V1}/samples", {"passages": passages, **models, "checker": models["writer"]})
    assert (same.status, "another one than the writer" in same.json["detail"]) == (422, True)
    dear = server.post(f"{V1}/samples", {"passages": passages, **models, "cost_usd": 1})
    assert (dear.status, "price of" in dear.json["detail"]) == (422, True)
    mixed = {"id": "a", "question": "q", "answer": "a", "passage": "a", "passage_number": 0, "verdict": "accepted",
             "reason": "", "difficulty": None}  # fmt: skip
    refused = server.post(V1, {"name": "x", "document": "d", "samples": [mixed, {**mixed, "kind": "choice"}]})
    assert (refused.status, "several kinds" in refused.json["detail"]) == (422, True)


def test_drafting_is_held_to_permissions_to_foreign_models_and_to_the_projects_budget(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, "--accounts") as server:
        database = open_database(f"sqlite:///{server.home / 'proctor.db'}")
        try:
            add_project(database, "acme", by="test")
            scopes = (["benchmark:read", "run:read"], ["benchmark:write"], ["benchmark:write", "run:write"])
            reader, uploader, writer = (
                {"Authorization": f"Bearer {create_key(database, 'acme', list(scope), by='test').text}"}
                for scope in scopes
            )
            set_budget(database, "project", "acme", cost_usd=1, per="month", by="test")
        finally:
            database.dispose()
        passages = [{"number": 0, "text": TEXT[:400]}]
        body = {"passages": passages, "writer": "demo/strong", "checker": "demo/weak"}
        for caller, allowed in ((reader, (403, 403)), (uploader, (200, 403)), (writer, (200, 402))):
            document = server.ask("POST", f"{V1}/passages", form("a.md", TEXT.encode()), **FORM, **caller)
            asked = server.post(f"{V1}/samples", body, **caller)
            assert (document.status, asked.status) == allowed, asked.body
        assert server.post(f"{V1}/samples", body).status == 401
        assert server.post(f"{V1}/samples", {**body, "cost_usd": 0.5}, **writer).status == 200
        foreign = server.post(f"{V1}/samples", {**body, "writer": "python/os:getcwd", "cost_usd": 0.5}, **writer)
        assert foreign.status == 403


def test_a_draft_of_which_most_was_refused_is_kept_as_well(server: Server) -> None:
    sample = {"id": "a", "question": "Who?", "answer": "Ada", "passage": "Ada does.", "passage_number": 0,
              "verdict": "accepted", "reason": "", "difficulty": None}  # fmt: skip
    refused = [{**sample, "id": f"r{n}", "passage_number": n, "verdict": "refused"} for n in range(1, 2_000)]
    made = server.post(V1, {"name": "many", "document": "d", "samples": [sample, *refused]})
    assert (made.status, made.json["description"]["samples"]) == (201, 1), made.body


def test_models_that_do_not_answer_keep_nobody_else_waiting(server: Server) -> None:
    """As many drafts as the event loop has threads of its own: a document is read meanwhile."""
    many = min(32, (os.cpu_count() or 1) + 4) + 1
    is_asked, may_answer = Event(), Event()

    def wait(ask: Ask) -> Reply:
        is_asked.set()
        may_answer.wait(100)
        return Reply("no")

    with FakeProvider(reply=wait) as provider, ThreadPoolExecutor(many) as callers:
        models = {name: f"openai/{name}?base_url={provider.url}/v1" for name in ("writer", "checker")}
        body = {"passages": [{"number": 0, "text": TEXT[:200]}], **models}
        waiting = [callers.submit(server.post, f"{V1}/samples", body) for _ in range(many)]
        try:
            assert is_asked.wait(60)
            assert read(server, "keys.md", TEXT.encode()).status == 200
            assert not any(one.done() for one in waiting)
        finally:
            may_answer.set()
        assert [one.result().status for one in waiting] == [200] * many
