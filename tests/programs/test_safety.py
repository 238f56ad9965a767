"""Safety: what it finds counts once, and whatever kept it from looking is never an all-clear."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.domain.scorecard import Evidence
from proctor.programs.security_marks import security_mark
from proctor.programs.tools.running import copied
from proctor.programs.tools.safety import DATABASE_DAYS, safety

PINS = ("Django==2.2", "requests==2.31.0")
REPORT: dict[str, Any] = {
    # As safety 2.3.5 prints it.
    "report_meta": {"scan_target": "files", "safety_version": "2.3.5", "packages_found": 2, "json_version": 1},
    "scanned_packages": {
        "django": {"name": "django", "version": "2.2"},
        "requests": {"name": "requests", "version": "2.31.0"},
    },
    "affected_packages": {},
    "vulnerabilities": [
        {
            "vulnerability_id": "37189",
            "package_name": "django",
            "analyzed_version": "2.2",
            "CVE": "CVE-2019-12308",
            "severity": None,
        }
    ],
}
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """A stand-in on the PATH that prints what it is told: the tool itself asks its publisher before anything else."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("SAFETY_DB_DIR", raising=False)

    def make(report: object, code: int = 0, notice: str = "", complaint: str = "") -> Path:
        said = notice + (report if isinstance(report, str) else json.dumps(report))
        calls, tool = tmp_path / "calls", tmp_path / "safety"
        tool.write_text(
            f'#!/bin/sh\necho "$@" >> {calls}\nenv >> {calls}\nprintf %s {shlex.quote(said)}\n'
            f"printf %s {shlex.quote(complaint)} >&2\nexit {code}\n"
        )
        tool.chmod(0o755)
        return calls

    return make


def audited(pins: tuple[str, ...] = PINS) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        with copied({}) as copy:
            return await safety(copy, pins)

    return asyncio.run(run())


def database(folder: Path, days: float) -> None:
    known = {"$meta": {"timestamp": int(time.time() - days * 86_400)}, "django": ["<2.2.2"]}
    (folder / "insecure.json").write_text(json.dumps(known))


def test_without_packages_it_does_not_apply_and_without_the_tool_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert audited(())["status"] == "not applicable"
    found = audited()
    assert (found["status"], found["reason"]) == ("not run", "safety is not on this machine")


def test_vulnerabilities_are_findings_whatever_else_it_prints(install: Install) -> None:
    install(REPORT, 64, notice="DEPRECATED: this command\n\n")
    found = audited()
    assert (found["status"], found["version"], found["count"]) == ("ran", "2.3.5", 1)
    assert [(one["code"], one["message"]) for one in found["findings"]] == [("CVE-2019-12308", "django 2.2")]


def test_a_report_without_findings_is_a_clean_one(install: Install) -> None:
    install({**REPORT, "vulnerabilities": []})
    found = audited()
    assert (found["status"], found["count"]) == ("ran", 0)


def test_a_package_that_it_did_not_look_up_is_no_all_clear(install: Install) -> None:
    install({**REPORT, "scanned_packages": {"django": {}}, "vulnerabilities": []})
    found = audited()
    assert (found["status"], found["reason"]) == ("not run", "it did not look up requests==2.31.0")


@pytest.mark.parametrize("code", [1, 66, 69])
def test_one_that_cannot_reach_its_publisher_says_so_in_its_own_words(install: Install, code: int) -> None:
    install("", code, complaint="Traceback\nhttpx.ConnectError: [Errno -2] Name or service not known\n")
    found = audited()
    assert found["status"] == "not run"
    assert found["reason"] == (
        f"it ended with exit code {code}: httpx.ConnectError: [Errno -2] Name or service not known"
    )


def test_a_database_of_the_user_s_is_used_while_it_is_fresh(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = install(REPORT, 64)
    monkeypatch.setenv("SAFETY_DB_DIR", str(tmp_path))
    database(tmp_path, DATABASE_DAYS - 0.5)
    assert audited()["status"] == "ran"
    assert f"--db {tmp_path}" in calls.read_text()
    database(tmp_path, DATABASE_DAYS + 1.5)
    stale = audited()
    assert stale["status"] == "not run"
    assert stale["reason"] == f"its database is {DATABASE_DAYS + 1} days old; {DATABASE_DAYS} are the most"
    (tmp_path / "insecure.json").write_text("{}")
    assert "no database" in audited()["reason"]


def test_it_sees_none_of_our_environment_but_its_own_key(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("SAFETY_API_KEY", "its-own")
    calls = install(REPORT, 64)
    audited()
    assert "SAFETY_API_KEY=its-own" in calls.read_text()
    assert "sk-secret" not in calls.read_text()


def test_what_both_auditors_found_takes_its_part_once() -> None:
    def mark(**more: Any) -> float | None:
        found = {
            "bandit": {"status": "ran", "findings": []},
            **{name.replace("_", "-"): one for name, one in more.items()},
        }
        return security_mark(Evidence("p", "d", {}, (), (), {}, {}, found), 0.1).value

    django = {"status": "ran", "count": 1, "findings": [{"message": "Django 2.2"}]}
    both = {"status": "ran", "count": 2, "findings": [{"message": "django 2.2"}, {"message": "requests 2.31.0"}]}
    clean = {"status": "ran", "count": 0, "findings": []}
    assert mark(pip_audit=django, safety=django) == pytest.approx(0.7)
    assert mark(pip_audit=django, safety=both) == pytest.approx(0.4)
    assert mark(pip_audit=clean, safety=django) == pytest.approx(0.7)
    assert mark(pip_audit={"status": "not run", "reason": "x"}, safety=both) == pytest.approx(0.4)
