"""The GitHub Action: the steps of action.yml as a runner executes them, before a stand-in of GitHub's API."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from server.serving import serving

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


class GitHub:
    """Comments of one pull request, as GitHub's REST API gives and takes them."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = [
            {"id": number, "body": f"person {number}", "user": {"type": "User"}} for number in range(1, 131)
        ]
        self.received: list[Any] = []
        self.status = 200
        self.tokens: set[str | None] = set()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                query = dict(part.split("=") for part in self.path.partition("?")[2].split("&"))
                start = (int(query["page"]) - 1) * int(query["per_page"])
                self._answer(owner.comments[start : start + int(query["per_page"])])

            def do_POST(self) -> None:
                body = self._body()
                if self.path == "/hook":
                    owner.received.append(body)
                    self._answer({})
                    return
                assert self.path == "/repos/acme/app/issues/7/comments"
                comment = {"id": 900 + len(owner.comments), "body": body["body"], "user": {"type": "Bot"}}
                if owner.status == 200:
                    owner.comments.append(comment)
                self._answer(comment)

            def do_PATCH(self) -> None:
                [found] = [one for one in owner.comments if self.path.endswith(f"/issues/comments/{one['id']}")]
                found["body"] = self._body()["body"]
                self._answer(found)

            def _body(self) -> Any:
                return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, value: Any) -> None:
                owner.tokens.add(self.headers["Authorization"])
                self.send_response(owner.status)
                self.end_headers()
                self.wfile.write(json.dumps(value).encode())

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def github() -> Iterator[GitHub]:
    found = GitHub()
    yield found
    found.server.shutdown()
    found.server.server_close()


class Runner:
    """Executes a step's script with its environment, as GitHub's runner does."""

    def __init__(self, folder: Path, github: GitHub) -> None:
        self.temp, self._github = folder / "temp", github
        binaries = self.temp / "proctor-venv" / "bin"
        binaries.mkdir(parents=True)
        python = binaries / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')  # what the step Install leaves
        python.chmod(0o755)
        self.work = folder / "work"
        self.work.mkdir()
        self.event = folder / "event.json"
        self.event.write_text(json.dumps({"pull_request": {"number": 7}}))

    def __call__(self, step: str, head: str, base: str | None, **inputs: str) -> subprocess.CompletedProcess[str]:
        known = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        known |= {name if name in known else name.replace("_", "-"): value for name, value in inputs.items()}
        values = {f"inputs.{name}": value for name, value in known.items()} | {"runner.temp": str(self.temp)}
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.temp),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_API_URL": self._github.url,
            "GITHUB_REPOSITORY": "acme/app",
            "GITHUB_EVENT_PATH": str(self.event),
            "GITHUB_STEP_SUMMARY": str(self.temp / "steps.md"),
            "GITHUB_OUTPUT": str(self.temp / "output"),
            "GITHUB_REF_NAME": head,
            **({"GITHUB_HEAD_REF": head, "GITHUB_BASE_REF": base} if base else {}),
        }
        for name, text in STEPS[step].get("env", {}).items():
            environment[name] = EXPRESSION.sub(lambda found: values[found[1]], text)
        command = ["bash", "-e", "-c", STEPS[step]["run"]]
        return subprocess.run(command, env=environment, cwd=self.work, capture_output=True, text=True, check=False)

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.temp / "output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def runner(tmp_path: Path, github: GitHub) -> Runner:
    return Runner(tmp_path, github)


def test_a_pull_request_gets_one_comment_with_the_paired_verdict(runner: Runner, github: GitHub) -> None:
    first = runner("Evaluate", "main", None, plan="puzzles", models="demo/strong", arguments="--limit 40")
    assert first.returncode == 0, first.stderr
    assert runner.outputs["verdict"] == "none"
    given = {
        "benchmarks": "puzzles",
        "model": "demo/strong",
        "arguments": "--limit 40 --seed 0 --no-cache",
        "token": "t0ken",
    }
    second = runner("Evaluate", "feature", "main", webhook_url=f"{github.url}/hook", **given)
    assert second.returncode == 0, second.stderr
    assert runner.outputs["verdict"] == "undecided"
    for _ in range(2):  # a later build writes over the comment
        assert runner("Comment", "feature", "main", **given).returncode == 0
    [comment] = [one for one in github.comments if one["user"]["type"] == "Bot"]
    assert "**demo/strong** on puzzles, accuracy:" in comment["body"]
    assert "points [" in comment["body"]
    assert "answers got worse" in comment["body"]
    assert (runner.temp / "steps.md").read_text().count("## Proctor: completed") == 2
    assert github.tokens == {"Bearer t0ken", None}
    [sent] = github.received
    assert (sent["verdict"], sent["run"]["run_id"]) == ("undecided", runner.outputs["run"])


def test_a_significant_regression_fails_the_step_and_is_in_junit_and_sarif(runner: Runner) -> None:
    (runner.work / "plan.yaml").write_text("models: [{model: demo/strong, label: mine}]\nbenchmarks: [puzzles]\n")
    assert runner("Evaluate", "main", None, plan="plan.yaml").returncode == 0
    (runner.work / "plan.yaml").write_text("models: [{model: demo/weak, label: mine}]\nbenchmarks: [puzzles]\n")
    failed = runner("Evaluate", "feature", "main", plan="plan.yaml", fail_under="accuracy=0.99")
    assert failed.returncode == 1
    assert runner.outputs["verdict"] == "worse"
    junit = Path(runner.outputs["junit"]).read_text()
    assert 'failures="2"' in junit
    sarif = json.loads(Path(runner.outputs["sarif"]).read_text())["runs"][0]
    rules = {one["id"] for one in sarif["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in sarif["results"]} == {"gate", "worse"} == rules
    place = sarif["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == "plan.yaml"
    assert runner("Evaluate", "other", "main", plan="plan.yaml", fail_on_regression="false").returncode == 0


def test_a_mistake_in_the_inputs_is_said_in_the_summary_and_runs_no_command(runner: Runner, github: GitHub) -> None:
    wrong = runner(
        "Evaluate", "feature", "main", plan="no-such-benchmark", models="demo/strong; touch hacked $(touch hacked)"
    )
    assert wrong.returncode == 2
    assert "models[1]: 'touch' is not a model" in unescape((runner.temp / "steps.md").read_text())
    assert not list(runner.work.glob("hacked"))
    github.status = 403  # the token of a pull request from a fork may not write
    ended = runner("Comment", "feature", "main", token="t")
    assert (ended.returncode, "pull-requests: write" in ended.stderr) == (0, True)
    github.status = 500
    assert runner("Comment", "feature", "main", token="t").returncode == 1


def test_another_build_s_results_are_the_baseline(runner: Runner, tmp_path: Path) -> None:
    (runner.work / "plan.yaml").write_text("models: [{model: demo/strong, label: mine}]\nbenchmarks: [puzzles]\n")
    assert runner("Evaluate", "release", None, plan="plan.yaml").returncode == 0
    artifact = tmp_path / "artifact"
    shutil.move(runner.outputs["home"], artifact)
    (runner.work / "plan.yaml").write_text("models: [{model: demo/weak, label: mine}]\nbenchmarks: [puzzles]\n")
    before = (artifact / "proctor.db").read_bytes()
    worse = runner("Evaluate", "feature", "main", plan="plan.yaml", baseline=str(artifact))
    assert (worse.returncode, runner.outputs["verdict"]) == (1, "worse")
    assert (artifact / "proctor.db").read_bytes() == before  # what was downloaded stays as it is
    missing = runner("Evaluate", "feature", "main", plan="plan.yaml", baseline="no/such/folder")
    assert missing.returncode == 2
    assert "There is no no/such/folder/proctor.db" in missing.stderr


def test_another_branch_is_the_baseline_also_behind_many_runs(runner: Runner) -> None:
    (runner.work / "plan.yaml").write_text("models: [{model: demo/strong, label: mine}]\nbenchmarks: [puzzles]\n")
    assert runner("Evaluate", "release", None, plan="plan.yaml").returncode == 0
    environment = {**os.environ, "PROCTOR_HOME": str(runner.temp / "proctor-home")}
    code = "import proctor\nfor seed in range(25): proctor.evaluate('arithmetic', 'demo/strong', limit=1, seed=seed)"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    (runner.work / "plan.yaml").write_text("models: [{model: demo/weak, label: mine}]\nbenchmarks: [puzzles]\n")
    worse = runner("Evaluate", "feature", "main", plan="plan.yaml", baseline="branch:release")
    assert (worse.returncode, runner.outputs["verdict"]) == (1, "worse")


def test_a_server_executes_the_runs_and_has_the_baseline(runner: Runner, tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    plan = "models: [{{model: demo/{0}, label: mine}}]\nbenchmarks: [{{benchmark: puzzles, limit: 60}}]\n"
    with serving(folder / "home", folder) as server:
        (runner.work / "plan.yaml").write_text(plan.format("strong"))
        first = runner("Evaluate", "main", None, plan="plan.yaml", server=server.address)
        assert (first.returncode, runner.outputs["verdict"]) == (0, "none"), first.stderr
        (runner.work / "plan.yaml").write_text(plan.format("weak"))
        worse = runner("Evaluate", "feature", "main", plan="plan.yaml", server=server.address)
        assert (worse.returncode, runner.outputs["verdict"]) == (1, "worse"), worse.stderr
        shown = server.get(f"/api/v1/runs/{runner.outputs['run']}")
        assert shown["name"] == "proctor:feature"
        quiet = runner("Evaluate", "f2", "main", plan="plan.yaml", server=server.address, fail_on_regression="false")
        assert quiet.returncode == 0
    assert not (runner.temp / "proctor-home").exists()


def test_no_name_or_answer_shows_a_picture_or_calls_anybody_in_a_comment() -> None:
    evaluate = runpy.run_path(str(ROOT / "deploy" / "ci" / "evaluate.py"))
    hostile = "![x](https://e.example/?a) @maintainer <img src=x> a\\|b `c` [l](u) #1\n\n# head"
    pair = {
        "a": {"model": "m"}, "b": {"model": hostile}, "benchmark": hostile, "metric": "accuracy", "n": 1,
        "difference": {"value": None, "ci95": None}, "flips": {"lost": {"count": 0}},
    }  # fmt: skip
    for text in (evaluate["cell"](hostile), evaluate["sentence"](pair)):
        assert not re.search(r"[@<>`|\[\]\\\n]", text), text
        assert "&#64;maintainer" in text


@pytest.mark.parametrize("url", ["https://[::1", "https://a b/", "http://hook.example/", "https://127.0.0.1:1/"])
def test_a_webhook_that_cannot_be_called_fails_no_build(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INPUT_WEBHOOK_URL", url)
    runpy.run_path(str(ROOT / "deploy" / "ci" / "evaluate.py"))["send"]({})
    assert "The webhook" in capsys.readouterr().err


def test_the_action_is_pinned_and_no_input_is_put_into_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert not EXPRESSION.search(step.get("run", "")), step["name"]
        assert "uses" not in step or PINNED.fullmatch(step["uses"])
    used = " ".join(json.dumps(step) for step in ACTION["runs"]["steps"])
    assert [name for name in ACTION["inputs"] if f"inputs.{name}" not in used] == []


def test_the_template_for_gitlab_sets_what_the_script_reads(tmp_path: Path) -> None:
    job = yaml.safe_load((ROOT / "deploy/ci/gitlab.yaml").read_text())["proctor"]
    variables = {name: str(value) for name, value in job["variables"].items()}
    script = (ROOT / "deploy/ci/evaluate.py").read_text()
    for name in variables.keys() - {"PROCTOR_HOME", "SOURCE"}:
        assert name.removeprefix("INPUT_") in script, name
    places = {
        "$CI_PROJECT_DIR": str(tmp_path),
        "$CI_COMMIT_REF_NAME": "main",
        "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "",
    }
    for place, real in places.items():
        variables = {name: value.replace(place, real) for name, value in variables.items()}
    environment = {"PATH": os.environ["PATH"], **variables, "INPUT_ARGUMENTS": "--limit 5"}
    command = [sys.executable, str(ROOT / "deploy/ci/evaluate.py")]
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "proctor-out" / "junit.xml").is_file()


def test_the_pre_commit_hook_refuses_a_file_with_a_mistake(tmp_path: Path) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (tmp_path / "rows.jsonl").write_text('{"id": "1", "input": "a", "target": "b"}\n')
    good = (
        "name: good\nlicence: CC0-1.0\ndataset: {source: rows.jsonl, fields: {id: id, input: input, target: target}}\n"
    )
    good += "scorers: [exact]\n"
    good += "tags: {language: en, subject: geography, task: knowledge, form: short}\n"
    (tmp_path / "good.yaml").write_text(good)
    (tmp_path / "bad.yaml").write_text(good.replace("scorers", "scorrs"))
    assert re.search(hook["files"], "benchmarks/good.yaml")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PROCTOR_HOME": str(tmp_path / "h"),
    }
    for names, code in ((["good.yaml"], 0), (["good.yaml", "bad.yaml"], 1)):
        command = [*shlex.split(hook["entry"]), *names]
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == code, ended.stdout + ended.stderr
