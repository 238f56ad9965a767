"""Benchmarks of a project's own: checked as the command line does, kept version by version, seen by nobody else."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from proctor import Client
from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.domain.errors import NotFoundError, RunError, UserError
from proctor.stores.database import open_database
from server.serving import Answer, Server, serving

V1 = "/api/v1"
FILE = """\
name: towns
version: "{version}"
licence: CC0-1.0
description: Capitals of countries.
dataset:
  source: {source}
  fields: {{input: question, target: answer, category: region}}
prompt:
  user: "{{{{ input }}}} Answer with one word."
scorers:
  - exact: {{ignore_case: true}}
"""
ROWS = "".join(
    f'{{"id": "{n}", "question": "Town of country {n}?", "answer": "City{n}", "region": "x"}}\n' for n in range(6)
)


def write(folder: Path, version: str = "1", rows: str = ROWS, source: str = "data/towns.jsonl") -> Path:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "towns.jsonl").write_text(rows)
    (folder / "towns.yaml").write_text(FILE.format(version=version, source=source))
    return folder / "towns.yaml"


def form(files: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n{text}\r\n'.encode()
        for name, text in files.items()
    ]
    return b"".join(parts) + b"--x--\r\n", {"Content_Type": "multipart/form-data; boundary=x"}


class Caller:
    """Somebody with a key for a project."""

    def __init__(self, server: Server, key: str) -> None:
        self.server, self.headers = server, {"Authorization": f"Bearer {key}"}
        self.client = Client(server.address, key)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return self.server.ask(method, f"{V1}{path}", body, **self.headers, **headers)

    def upload(self, files: Mapping[str, str], path: str = "/own-benchmarks") -> Answer:
        body, headers = form(files)
        return self.ask("POST", path, body, **headers)

    def run(self, plan: Mapping[str, Any]) -> Any:
        answer = self.ask("POST", "/runs", plan)
        assert answer.status == 202, answer.body
        until = time.monotonic() + 120
        while True:
            run = self.ask("GET", f"/runs/{answer.json['run_id']}").json
            if run["status"] in ("completed", "failed", "cancelled"):
                return run
            assert time.monotonic() < until
            time.sleep(0.1)


SCOPES = ["benchmark:read", "benchmark:write", "run:read", "run:write", "results:read"]


@pytest.fixture(scope="module")
def callers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Caller, Caller]]:
    """Somebody of acme, and somebody of another project."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "secret.jsonl").write_text('{"input": "canary-77", "target": "x"}\n')
    (folder / "theirs.py").write_text("raise SystemExit('ran')")
    with serving(folder / "home", folder, "--accounts") as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        for project in ("acme", "rival"):
            add_project(database, project, by="test")
        yield tuple(  # type: ignore[misc]
            Caller(server, create_key(database, project, SCOPES, by="test").text) for project in ("acme", "rival")
        )
        database.dispose()


def test_a_benchmark_is_uploaded_used_by_name_and_version_and_never_changes(
    callers: tuple[Caller, Caller], tmp_path: Path
) -> None:
    acme, rival = callers
    first = acme.client.upload_benchmark(write(tmp_path / "a"))
    assert (first.reference, first.files) == ("towns@1", ["data/towns.jsonl", "towns.yaml"])
    assert (first.description.samples, first.description.warnings) == (6, [])
    assert acme.client.upload_benchmark(write(tmp_path / "a")) == first
    with pytest.raises(RunError, match="a version never changes"):
        acme.client.upload_benchmark(write(tmp_path / "b", rows=ROWS.replace("City", "Town")))
    second = acme.client.upload_benchmark(write(tmp_path / "b", version="2", rows=ROWS.replace("City", "Town")))
    assert [one.version for one in acme.client.own_benchmark("towns").versions] == ["2", "1"]

    [listed] = [one for one in acme.client.benchmarks() if one.is_own]
    assert (listed.name, listed.version, listed.scorers, listed.licence) == ("towns", "2", ("exact",), "CC0-1.0")
    assert not any(one.name == "towns" for one in rival.client.benchmarks())
    assert acme.client.benchmarks()[1].name, "and those of the catalogue"

    plan = {"models": ["demo/strong"], "benchmarks": ["towns@1"]}
    run = acme.run(plan)
    assert run["status"] == "completed", run
    [item] = run["evaluations"]
    assert (item["benchmark"], item["version"], item["trials"]) == ("towns", "1", 6)
    [newest] = acme.run({**plan, "benchmarks": [{"benchmark": "towns", "limit": 2}]})["evaluations"]
    assert (newest["version"], newest["trials"]) == ("2", 2)
    row = acme.ask("GET", f"/runs/{run['run_id']}/results?limit=1").json["items"][0]
    assert row["target"].startswith("City")
    assert acme.ask("POST", "/estimate", plan).json["trials"] == 6
    again = acme.run({**plan, "benchmarks": ["own/towns@1/towns.yaml"]})  # as a stored plan names it
    assert again["evaluations"][0]["metrics"] == item["metrics"]

    scored = acme.ask("POST", f"/runs/{run['run_id']}/rescore", {"scorers": ["includes"], "keep": True})
    assert scored.status == 202, scored.body
    until = time.monotonic() + 120
    while (found := acme.ask("GET", scored.headers["location"].removeprefix(V1)).json)["ended_at"] is None:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert found["status"] == "completed", found
    assert acme.ask("GET", f"/runs/{run['run_id']}/report?format=md").status == 200
    resumed = acme.ask("POST", f"/runs/{run['run_id']}/resume")
    assert resumed.status == 202, resumed.body
    saved = acme.ask("POST", "/plans", {"name": "weekly", "plan": plan})
    assert saved.json["plan"]["benchmarks"] == ["towns@1"], saved.body

    acme.client.archive_benchmark("towns", "2")
    assert [one.version for one in acme.client.own_benchmarks().items] == ["1"]
    assert [one.version for one in acme.client.benchmarks() if one.is_own] == ["1"]
    assert {one.version for one in acme.client.own_benchmarks(archived=True).items} == {"1", "2"}
    assert acme.run({**plan, "benchmarks": ["towns@2"]})["status"] == "completed"
    assert acme.run({**plan, "benchmarks": ["towns"]})["evaluations"][0]["version"] == "1"
    old = acme.ask("GET", "/own-benchmarks/towns/file?version=2&path=data/towns.jsonl")
    assert (old.body.decode(), old.headers["x-content-type-options"]) == (ROWS.replace("City", "Town"), "nosniff")
    assert acme.ask("GET", "/benchmarks/towns").json["version"] == "1"
    assert second.archived_at is None

    for method, path, body in (
        ("GET", "/own-benchmarks/towns", None),
        ("GET", "/own-benchmarks/towns/file?version=1&path=towns.yaml", None),
        ("GET", "/benchmarks/towns", None),
        ("POST", "/own-benchmarks/towns/archive", {"version": "1"}),
        ("POST", "/runs", {**plan, "benchmarks": ["towns"]}),
    ):
        foreign = rival.ask(method, path, body)
        unknown = rival.ask(method, path.replace("towns", "nowhere"), orjson.loads(
            orjson.dumps(body).replace(b"towns", b"nowhere")
        ))  # fmt: skip
        assert foreign.status == unknown.status, path
        assert foreign.status in (404, 422)
        assert foreign.json["detail"].replace("towns", "nowhere") == unknown.json["detail"], path
        assert acme.server.ask(method, f"{V1}{path}", body).status == 401
    assert rival.ask("POST", "/runs", plan).status == 403
    assert rival.client.own_benchmarks(archived=True).items == []


def test_a_check_says_what_the_command_line_says_and_keeps_nothing(
    callers: tuple[Caller, Caller], tmp_path: Path
) -> None:
    acme, _ = callers
    broken = FILE.format(version="1", source="rows.jsonl")
    for text, rows in (
        (broken.replace("exact", "exakt"), ROWS),
        (broken.replace("ignore_case", "ignore_kase"), ROWS),
        (broken.replace("licence", "license"), ROWS),
        (broken.replace("input: question", "input: frage"), ROWS),
        (broken.replace("{{ input }}", "{{ input"), ROWS),
        (broken, ROWS + "{no json\n"),
        (broken.replace("dataset:", "dataset: ["), ROWS),
    ):
        (tmp_path / "towns.yaml").write_text(text)
        (tmp_path / "rows.jsonl").write_text(rows)
        answer = acme.upload({"towns.yaml": text, "rows.jsonl": rows}, "/own-benchmarks/check")
        code, _, errors = acme.server.__class__.cli(
            Server(acme.server.address, tmp_path / "home", tmp_path, acme.server.process),
            "benchmarks", "check", "towns.yaml",
        )  # fmt: skip
        assert (answer.status, code) == (422, 2), answer.body
        assert f"Error: {answer.json['detail']}" == errors.strip().splitlines()[-1]
    good = acme.upload({"towns.yaml": broken, "rows.jsonl": ROWS}, "/own-benchmarks/check")
    assert (good.status, good.json["samples"]) == (200, 6)
    with sqlite3.connect(acme.server.home / "proctor.db") as opened:
        kept = opened.execute("SELECT count(*) FROM own_benchmarks WHERE entry = 'rows.jsonl'").fetchone()
    assert kept == (0,)


def test_a_benchmark_runs_no_code_and_reads_nothing_of_the_servers(callers: tuple[Caller, Caller]) -> None:
    acme, _ = callers
    plain = FILE.format(version="9", source="rows.jsonl")

    def source(text: str) -> str:
        return plain.replace("source: rows.jsonl", f"source: {text}")

    for text, status in (
        (source("python://theirs:rows"), 403), (source("package://proctor/plugins.py"), 403),
        (source("hf://openai/gsm8k"), 403), (source("data://secret.jsonl"), 403), (source("http://127.0.0.1/x"), 403),
        (source("file:///etc/passwd"), 403), (source("../secret.jsonl"), 422), (source("/etc/passwd"), 422),
        (source("secret.jsonl"), 422), (source("{source: x}"), 422),
        (source("rows.jsonl\n  format: python"), 403), (source("rows.jsonl\n  format: package"), 403),
        (source("rows.jsonl\n  transform: python://theirs:change"), 403),
        (source("rows.jsonl\n  join: {source: ../secret.jsonl, key: id}"), 422),
        (source("rows.jsonl\n  examples: {source: python://theirs:rows}"), 403),
        (plain.replace("- exact: {ignore_case: true}", "- python://theirs:score"), 403),
        (plain.replace("- exact: {ignore_case: true}", "- lm_eval"), 403),
        (plain + "variants:\n  other:\n    dataset: {source: python://theirs:rows}\n", 403),
        (plain + "variants:\n  other:\n    scorers: [python://theirs:score]\n", 403),
        (plain.replace("name: towns", "name: gsm8k"), 422), (plain.replace("name: towns", "name: a/b"), 422),
        (plain.replace("name: towns", "name: x.yaml"), 422), (plain.replace('"9"', '"../9"'), 422),
        ("a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b]\nd: " + "[" * 100 + "]" * 100, 422),
        ("!!python/object/apply:os.system [id]", 422),
    ):  # fmt: skip
        answer = acme.upload({"towns.yaml": text, "rows.jsonl": ROWS})
        assert answer.status == status, (text, answer.body)
        assert b"canary-77" not in answer.body
    for files in (
        {"../towns.yaml": plain, "rows.jsonl": ROWS}, {"rows.jsonl": ROWS}, {"a.yaml": plain, "b.yaml": plain},
        {"towns.yaml": plain, "rows.jsonl": ROWS, "Rows.jsonl": ROWS},
        {"towns.yaml/x": plain, "towns.yaml": "x"},
    ):  # fmt: skip
        assert acme.upload(files).status == 422, files
    assert not (acme.server.folder / "towns.yaml").exists()
    assert [one.version for one in acme.client.own_benchmarks(archived=True).items if one.version == "9"] == []


def test_templates_patterns_and_schemas_of_strangers_have_limits(callers: tuple[Caller, Caller]) -> None:
    acme, _ = callers
    plain = FILE.format(version="9", source="rows.jsonl")
    slow = orjson.dumps({"question": "a" * 40 + "!", "answer": "a" * 40 + "!", "region": "x"}).decode() + "\n"
    deep: dict[str, Any] = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "http://127.0.0.1:9/schema"}}}
    for text, words in (
        (plain.replace("{{ input }}", "{{ 'a' * 200000000 }}"), "prompt"),
        (plain.replace("{{ input }}", "{% for a in range(99999999) %}{% endfor %}"), "prompt"),
        (plain.replace("{{ input }}", "{{ ''.__class__.__mro__ }}"), "prompt"),
        (plain.replace("target: answer", "target: {field: answer, pattern: '(a+)+$'}"), "pattern"),
        (plain + f"input: {{kind: json, schema: {orjson.dumps(deep).decode()}}}\n", "schema"),
    ):
        began = time.monotonic()
        answer = acme.upload({"towns.yaml": text, "rows.jsonl": slow})
        assert answer.status == 422, (text, answer.body)
        assert words in answer.json["detail"], answer.body
        assert time.monotonic() - began < 60
    assert acme.ask("GET", "/own-benchmarks").status == 200


def test_data_may_be_uploaded_before(callers: tuple[Caller, Caller]) -> None:
    acme, rival = callers
    sent = acme.ask("POST", "/files?name=rows.jsonl", ROWS.encode(), Content_Type="application/octet-stream").json
    text = FILE.format(version="3", source=f"upload://{sent['file_id']}").replace("towns", "by-upload")
    made = acme.upload({"by-upload.yaml": text})
    assert made.status == 201, made.body
    assert made.json["description"]["samples"] == 6
    assert acme.ask("DELETE", f"/files/{sent['file_id']}").status == 204  # the version keeps its own
    [item] = acme.run({"models": ["demo/weak"], "benchmarks": ["by-upload@3"]})["evaluations"]
    assert (item["benchmark"], item["trials"]) == ("by-upload", 6)
    assert rival.upload({"by-upload.yaml": text}).status in (404, 422)
    assert acme.upload({"b.yaml": text.replace(sent["file_id"], "../../secret")}).status in (404, 422)


def test_what_is_asked_for_must_be_there(callers: tuple[Caller, Caller]) -> None:
    acme, _ = callers
    with pytest.raises(NotFoundError):
        acme.client.own_benchmark("nowhere")
    with pytest.raises(UserError):
        acme.client.archive_benchmark("nowhere", "1")
    assert acme.ask("GET", "/own-benchmarks/nowhere/file?version=1&path=x").status == 404
    assert acme.ask("POST", "/runs", {"models": "demo/weak", "benchmarks": "nowhere@1"}).status == 403
    assert acme.ask("POST", "/own-benchmarks", b"", Content_Type="application/octet-stream").status == 422


def test_a_sentence_names_the_benchmarks_of_its_project_and_nobody_elses(
    callers: tuple[Caller, Caller], tmp_path: Path
) -> None:
    acme, rival = callers
    text = FILE.replace("name: towns", "name: refunds").replace(
        "description: Capitals of countries.",
        "description: Which refunds a shop grants.\ntags: {{language: de, subject: commonsense, task: reasoning}}",
    )
    files = {"data/towns.jsonl": ROWS, "refunds.yaml": text.format(version="1.2", source="data/towns.jsonl")}
    assert acme.upload(files).status == 201, acme.upload(files).body

    def draft(caller: Caller, query: str) -> Answer:
        return caller.ask("POST", "/plans/draft", {"query": query})

    plain = draft(acme, "refunds with demo/weak, 4 questions").json
    assert plain["plan"]["benchmarks"] == [{"benchmark": "refunds", "limit": 4}]
    assert plain["not_understood"] == []
    pinned = draft(acme, "demo/weak on refunds@1.2").json["plan"]
    assert pinned["benchmarks"] == ["refunds@1.2"]
    [item] = acme.run(pinned)["evaluations"]
    assert (item["benchmark"], item["version"]) == ("refunds", "1.2")
    assert draft(acme, "German common sense with demo/weak").json["plan"]["benchmarks"] == ["refunds"]
    assert "refunds" in draft(rival, "refunds with demo/weak, 4 questions").json["not_understood"]

    found = acme.ask("GET", "/recommendations?for=mails+about+refunds").json["benchmarks"]
    assert [one["benchmark"] for one in found] == ["refunds"]
    assert found[0]["samples"] == 6
    assert rival.ask("GET", "/recommendations?for=mails+about+refunds").status == 422


def test_a_version_or_all_of_them_are_deleted_and_runs_keep_what_they_used(callers: tuple[Caller, Caller]) -> None:
    acme, rival = callers
    for version in ("7", "8"):
        file = FILE.format(version=version, source="data/towns.jsonl").replace("name: towns", "name: going")
        rows = ROWS.replace("City", f"City{version}")
        made = acme.upload({"going.yaml": file, "data/towns.jsonl": rows})
        assert made.status == 201, made.body
    run = acme.run({"models": ["demo/weak"], "benchmarks": [{"benchmark": "going@8", "limit": 2}]})
    assert run["status"] == "completed", run["error"]
    assert rival.ask("DELETE", "/own-benchmarks/going").status == 404
    assert acme.ask("DELETE", "/own-benchmarks/going?version=6").status == 404
    acme.client.delete_benchmark("going", "7")
    assert [one["version"] for one in acme.ask("GET", "/own-benchmarks/going").json["versions"]] == ["8"]
    acme.client.delete_benchmark("going")
    assert acme.ask("GET", "/own-benchmarks/going").status == 404
    assert acme.ask("POST", "/runs", {"models": ["demo/weak"], "benchmarks": ["going@8"]}).status in (403, 422)
    assert acme.ask("POST", f"/runs/{run['run_id']}/resume").status == 202
    until = time.monotonic() + 120
    while (again := acme.ask("GET", f"/runs/{run['run_id']}").json)["status"] not in ("completed", "failed"):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert again["status"] == "completed", "its files are its own"
