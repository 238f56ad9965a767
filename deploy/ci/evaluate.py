"""Runs the evaluation of a build, compares it with the base branch's latest, and leaves files for what comes after.

Reads its inputs from INPUT_… as action.yml sets them, and works without GitHub too: see gitlab.yaml. It needs nothing
but Python and an installed `proctor`. Written to the folder EVALUATION_OUT (or RUNNER_TEMP): summary.md, junit.xml,
proctor.sarif, result.json.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

MAX_WORSE = 10
RUNS = 500
"""How many of the newest runs are looked through for the one to compare with."""
DATABASE = "proctor.db"
WEBHOOK_SECONDS = 10
MARKUP = frozenset("\\|<>&@`[]*~#")
"""What Markdown and GitHub make something of."""
RULES = {"gate": "A gate failed", "worse": "An answer got worse"}


def proctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, its progress shown in the build's log."""
    command = [sys.executable, "-m", "proctor", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)


def given(name: str) -> str:
    return os.environ.get(f"INPUT_{name}", "").strip()


def label(branch: str) -> str:
    """What the runs of a branch are called: the base branch's latest is found by it."""
    return f"{given('NAME') or 'proctor'}:{branch}"


def branches() -> tuple[str, str]:
    """This one, and the one to compare with: itself, where it is no pull request."""
    ref = (
        os.environ.get("GITHUB_HEAD_REF") or os.environ.get("GITHUB_REF_NAME") or os.environ.get("CI_BRANCH") or "local"
    )
    return ref, os.environ.get("GITHUB_BASE_REF") or os.environ.get("CI_BASE_BRANCH") or ref


class BaselineError(Exception):
    """What was named to compare with cannot be had: a build must not pass because nothing was compared."""


def newest(is_wanted: Callable[[str], bool]) -> str | None:
    """The newest completed run with a name that is wanted, of this machine's store or of PROCTOR_SERVER's."""
    arguments = ("--name", f"{given('NAME') or 'proctor'}:", "--status", "completed", "--limit", str(RUNS))
    listed = proctor("runs", *arguments, "--json")
    runs = json.loads(listed.stdout) if listed.returncode == 0 else []
    return next((str(run["run_id"]) for run in runs if is_wanted(run["name"] or "")), None)


def baseline(base: str, out: Path) -> str | None:
    """The run to compare with: of the base branch, or what INPUT_BASELINE names. Read before this build's own run."""
    named = given("BASELINE")
    kind, _, value = named.partition(":")
    if not named or kind == "branch":
        return newest(lambda name: name == label(value or base))
    if kind == "run":
        return value
    home, copy = Path(named), out / "proctor-baseline"
    if not (home / DATABASE).is_file():
        raise BaselineError(f"There is no {home / DATABASE}: baseline is branch:NAME, run:ID, or another build's home.")
    if os.environ.get("PROCTOR_SERVER"):
        raise BaselineError("A run on a server is compared with runs there: name branch:NAME or run:ID as baseline.")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(home, copy)
    os.environ["PROCTOR_HOME"] = str(copy)  # both runs are in one place, and answers of the artifact serve as a cache
    prefix = label("")
    found = newest(lambda name: name.startswith(prefix))
    if found is None:
        raise BaselineError(f"{home} holds no completed run that is called {prefix}….")
    return found


def targets() -> list[str]:
    """What is evaluated: plan files and benchmarks."""
    return [*shlex.split(given("PLAN")), *shlex.split(given("BENCHMARKS"))]


def run_arguments(before: str | None, branch: str, junit: Path) -> list[str]:
    arguments = ["run", *targets(), "--name", label(branch), "--json", "--report", str(junit)]
    for model in f"{given('MODEL')} {given('MODELS')}".split():
        arguments += ["--model", model]
    if given("MAX_COST"):
        arguments += ["--max-cost", given("MAX_COST")]
    for gate in given("FAIL_UNDER").split():
        arguments += ["--fail-under", gate]
    if before is not None and is_gate() and not os.environ.get("PROCTOR_SERVER"):
        arguments += ["--fail-on-regression", before]
    return [*arguments, *shlex.split(given("ARGUMENTS"))]


def is_gate() -> bool:
    """Whether a significant loss fails the build."""
    return given("FAIL_ON_REGRESSION") != "false"


def compared(before: str | None, run: str) -> dict[str, Any]:
    if before is None:
        return {"comparisons": []}
    done = proctor("compare", before, run, "--json", "--flips", str(MAX_WORSE))
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {"comparisons": []}


def verdict_of(pairs: list[dict[str, Any]]) -> str:
    """Worse where any model is; the base branch is the first of each pair."""
    changes = [pair["difference"]["value"] for pair in pairs if pair["better"] is not None]
    if any(change < 0 for change in changes):
        return "worse"
    return ("better" if changes else "undecided") if pairs else "none"


def points(value: float) -> str:
    return f"{100 * value:+.1f}"


def sentence(pair: dict[str, Any]) -> str:
    """`accuracy of B on X: +2.1 points [+0.4, +3.8], n=400; 14 answers got worse.`"""
    difference, lost = pair["difference"], pair["flips"]["lost"]["count"]
    model, benchmark = cell(pair["b"]["model"]), cell(pair["benchmark"])
    if difference["value"] is None or difference["ci95"] is None:
        return f"**{model}** on {benchmark}: the difference could not be measured."
    low, high = difference["ci95"]
    change = f"{points(difference['value'])} points [{points(low)}, {points(high)}]"
    return (
        f"**{model}** on {benchmark}, {cell(pair['metric'])}: {change}, n={pair['n']}: "
        f"{cell(pair['verdict'])}. "
        f"{lost} answer{'' if lost == 1 else 's'} got worse, {pair['flips']['gained']['count']} better."
    )


def cell(text: object) -> str:
    """One line of a table: what a model or a benchmark says changes no page, shows no picture, and calls nobody."""
    line = " ".join(str(text).split())
    line = line if len(line) <= 160 else f"{line[:159]}…"
    return "".join(f"&#{ord(sign)};" if sign in MARKUP else sign for sign in line)


def summary(document: dict[str, Any], pairs: list[dict[str, Any]], failed: str) -> str:
    lines = [f"## Proctor: {cell(document.get('status', 'no run'))}", ""]
    if failed:
        lines += [f"> {cell(failed)}", ""]
    lines += [f"- {sentence(pair)}" for pair in pairs] or ["- There is no earlier run to compare with."]
    lines += [
        "",
        "| model | benchmark | metric | value | 95 % interval | n | failed | cost |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in document.get("evaluations", []):
        for name, found in one["metrics"].items():
            interval = "–" if found["ci95"] is None else f"[{found['ci95'][0]:.3f}, {found['ci95'][1]:.3f}]"
            value = "–" if found["value"] is None else f"{found['value']:.3f}"
            cost = "unknown" if one["cost_usd"] is None else f"${one['cost_usd']:.4f}"
            cells = [one["model"], one["benchmark"], name, value, interval, found["n"], one["failed"], cost]
            lines.append(f"| {' | '.join(cell(text) for text in cells)} |")
    worse = [(pair, sample) for pair in pairs for sample in pair["flips"]["lost"]["samples"]]
    if worse:
        lines += [
            "",
            "<details><summary>Answers that got worse</summary>",
            "",
            "| sample | before | now |",
            "|---|---|---|",
        ]
        for _, sample in worse[:MAX_WORSE]:
            before, now = (sample[side]["answers"][0] if sample[side]["answers"] else "–" for side in ("a", "b"))
            lines.append(f"| {cell(sample['sample_id'])} | {cell(before)} | {cell(now)} |")
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def sarif(pairs: list[dict[str, Any]], failed: str) -> dict[str, Any]:
    """What code scanning shows: gates that failed, and answers that got worse; at the plan's file, where it is one."""
    place = next((name for name in targets() if Path(name).is_file()), None)
    where = [] if place is None else [{"physicalLocation": {"artifactLocation": {"uri": place}}}]

    def result(rule: str, level: str, text: str) -> dict[str, Any]:
        return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": where}

    results = [result("gate", "error", failed)] if failed else []
    for pair in pairs:
        for sample in pair["flips"]["lost"]["samples"]:
            text = f"{pair['b']['model']} on {pair['benchmark']}: {sample['sample_id']} was right and is not any more."
            results.append(result("worse", "note", text))
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": {"name": "proctor", "rules": rules}}, "results": results}],
    }


def send(document: dict[str, Any]) -> None:
    """To the webhook; a build does not fail for it."""
    url = given("WEBHOOK_URL")
    if not url:
        return
    try:
        parts = urlsplit(url)
    except ValueError as error:
        print(f"The webhook is not called: {error}", file=sys.stderr)
        return
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost"):
        print("The webhook is not called: it is not https.", file=sys.stderr)
        return
    request = urllib.request.Request(url, json.dumps(document).encode(), {"Content-Type": "application/json"})  # noqa: S310
    try:
        urllib.request.urlopen(request, timeout=WEBHOOK_SECONDS).close()  # noqa: S310 - https, or this machine
    except (OSError, HTTPException) as error:
        print(f"The webhook did not take the result: {error}", file=sys.stderr)


def append(variable: str, text: str) -> None:
    if path := os.environ.get(variable):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def main() -> int:
    out = Path(os.environ.get("EVALUATION_OUT") or os.environ.get("RUNNER_TEMP") or ".")
    out.mkdir(parents=True, exist_ok=True)
    branch, base = branches()
    try:
        before = baseline(base, out)
    except BaselineError as error:
        print(f"Error: {error}", file=sys.stderr)
        text = summary({}, [], str(error))
        (out / "summary.md").write_text(text, encoding="utf-8")
        append("GITHUB_STEP_SUMMARY", text)
        return 2
    done = proctor(*run_arguments(before, branch, out / "junit.xml"))
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        document = {}
    run = document.get("run_id")
    pairs = compared(before, run)["comparisons"] if run else []
    if done.returncode == 0 and is_gate() and verdict_of(pairs) == "worse":
        done.returncode = 1  # a server does not compare by itself
    failed = "" if done.returncode == 0 else document.get("error") or "A gate failed: see the log of this step."
    text = summary(document, pairs, failed)
    (out / "summary.md").write_text(text, encoding="utf-8")
    (out / "proctor.sarif").write_text(json.dumps(sarif(pairs, failed)), encoding="utf-8")
    result = {"run": document, "comparisons": pairs, "verdict": verdict_of(pairs), "exit_code": done.returncode}
    (out / "result.json").write_text(json.dumps(result), encoding="utf-8")
    append("GITHUB_STEP_SUMMARY", text)
    append(
        "GITHUB_OUTPUT",
        f"run={run or ''}\nverdict={result['verdict']}\njunit={out / 'junit.xml'}\nsarif={out / 'proctor.sarif'}\n"
        f"home={os.environ.get('PROCTOR_HOME', '')}\n",
    )
    send(result)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
