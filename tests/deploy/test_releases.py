"""Releases: workflows whose steps are targets of the Makefile, everything pinned, lockfiles that fit the project."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.local_processes import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
NAME = re.compile(r"[A-Za-z0-9._-]+")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TARGETS = set(re.findall(r"^([a-z]+)(?: [a-z ]+)?:", (ROOT / "Makefile").read_text(), re.MULTILINE))
pytestmark = pytest.mark.sqlite


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_is_pinned_or_a_target_that_runs_here(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}, "rights are given job by job"
    for name, job in workflow["jobs"].items():
        assert "permissions" in job, name
        for step in job.get("steps", ()):
            if "uses" in step:
                assert PINNED.fullmatch(step["uses"]), step["uses"]
            elif not step["run"].startswith("mkdir "):
                command, target, *_ = step["run"].split()
                assert command == "make"
                assert target in TARGETS
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
            assert "${{" not in step.get("run", ""), "values come through the environment"


def test_nothing_is_published_before_all_checks_and_nothing_deployed_before_somebody_agreed() -> None:
    jobs = read(ROOT / ".github/workflows/release.yaml")["jobs"]
    before = {
        name: [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        for name, job in jobs.items()
    }

    def all_before(name: str) -> set[str]:
        return set(before[name]).union(*(all_before(one) for one in before[name]))

    assert jobs["check"]["uses"] == "./.github/workflows/check.yaml"
    assert all_before("publish") >= {"check", "sign"}
    assert all_before("deploy") >= {"check", "sign", "publish", "image"}
    for name in ("publish", "image", "deploy"):
        assert jobs[name]["environment"], "an environment has the rule who must agree"
    pythons = read(ROOT / ".github/workflows/check.yaml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    assert str(pythons) in (ROOT / "noxfile.py").read_text().replace('"', "'")


def test_updates_are_asked_for_everything_that_is_pinned() -> None:
    wanted = {row["package-ecosystem"]: row["directory"] for row in read(ROOT / ".github/dependabot.yml")["updates"]}
    assert set(wanted) >= {"pip", "npm", "github-actions", "docker", "docker-compose", "terraform"}
    for folder in wanted.values():
        assert (ROOT / folder.strip("/")).is_dir()


def pins(lock: str) -> set[str]:
    text = (ROOT / "requirements" / lock).read_text()
    return {normal(name) for name in re.findall(r"^([A-Za-z0-9._-]+)==", text, re.MULTILINE)}


def requirements(extra: str | None = None) -> set[str]:
    """Of the project or of an extra, with those of the extras that it names."""
    found = set()
    for line in PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]:
        if inner := re.match(r"proctor\[(.*)\]", line):
            found |= set().union(*(requirements(one.strip()) for one in inner[1].split(",")))
        elif (match := NAME.match(line)) is not None:
            found.add(normal(match[0]))
    return found


def test_lockfiles_have_everything_that_the_project_needs() -> None:
    lines = (ROOT / "requirements" / "image.in").read_text().splitlines()
    extras = [line for line in lines if line and not line.startswith("#")]
    wanted = requirements().union(*(requirements(extra) for extra in extras))
    assert wanted - pins("image.lock") == set(), "run make locks"
    assert (requirements() | requirements("dev")) - pins("dev.lock") == set(), "run make locks"
    build = {
        normal(match[0])
        for line in (ROOT / "requirements/build.in").read_text().splitlines()
        if (match := NAME.match(line))
    }
    assert build - pins("build.lock") == set(), "run make locks"


def test_a_release_whose_tag_is_not_its_version_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "project"
    (place / "src" / "proctor").mkdir(parents=True)
    (place / "scripts").mkdir()
    (place / "dist").mkdir()
    shutil.copy(ROOT / "src/proctor/version.py", place / "src/proctor/version.py")
    shutil.copy(ROOT / "scripts/verify", place / "scripts/verify")
    version = re.findall(r'__version__ = "(.*)"', (ROOT / "src/proctor/version.py").read_text())[0]
    (place / "dist" / "one.whl").write_text("built")
    sums = subprocess.run(
        ["sha256sum", "one.whl"], cwd=place / "dist", capture_output=True, text=True, check=True
    ).stdout
    (place / "dist" / "SHA256SUMS").write_text(sums)

    def verify(tag: str) -> int:
        return subprocess.run([place / "scripts" / "verify", tag], capture_output=True, check=False).returncode

    assert verify(f"v{version}") == 0
    assert verify("v99.0.0") != 0
    (place / "dist" / "one.whl").write_text("changed")
    assert verify(f"v{version}") != 0


@pytest.mark.parametrize("script", ["dist", "verify", "push", "deploy", "locks", "manifests"])
def test_a_script_has_no_mistake_of_form(script: str) -> None:
    assert subprocess.run(["bash", "-n", ROOT / "scripts" / script], capture_output=True, check=False).returncode == 0
