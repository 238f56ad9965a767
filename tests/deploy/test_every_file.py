"""Configuration that nobody executed is worthless: every file of deploy/ has a test that reads it, or starts it."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from deploy.local_processes import ROOT
from deploy.test_kubernetes import CHART, VALUES, helm

TESTED_BY = {
    "argocd": ("test_kubernetes.py", "argocd/application.yaml"),
    "ci": ("test_action.py", "deploy/ci"),
    "compose": ("test_compose.py", '"deploy" / "compose"'),
    "gateway": ("test_gateway.py", "GATEWAY"),
    "grafana": ("../server/test_metrics.py", "grafana"),
    "helm": ("test_kubernetes.py", '"deploy" / "helm"'),
    "image": ("test_image.py", '"deploy" / "image"'),
    "istio": ("test_kubernetes.py", "istio/mesh.yaml"),
    "kubernetes": ("test_kubernetes.py", '"deploy" / "kubernetes"'),
    "profiles": ("test_profiles.py", '"profiles"'),
    "logging": ("../server/test_logs.py", "logging"),
    "postgresql": ("test_point_in_time.py", "postgresql"),
    "prometheus": ("../server/test_metrics.py", "prometheus"),
    "systemd": ("test_systemd.py", '"deploy" / "systemd"'),
    "terraform": ("test_terraform.py", '"deploy" / "terraform"'),
}
"""Folder -> the test that goes through its files, and by which words it is seen to."""
NAMED = {
    "compose": (
        "compose.yaml",
        "compose.small.yaml",
        "compose.sandbox.yaml",
        "secrets.sh",
        "database.sh",
        "prometheus.yaml",
        "grafana-sources.yaml",
        "grafana-boards.yaml",
    ),
    "image": ("Dockerfile", "health.py"),
    "postgresql": (
        "wal.conf",
        "archive-wal",
        "base-backup",
        "recover",
        "postgresql-base-backup.service",
        "postgresql-base-backup.timer",
    ),
    "profiles": ("proctor-sandbox.seccomp.json", "proctor-sandbox.apparmor", "proctor_sandbox.te"),
}
"""Folders whose files are named one by one: a new one must be, too."""
pytestmark = pytest.mark.sqlite


AS_A_WHOLE = {
    "helm/proctor/.helmignore": "the chart is packed and linted as a folder",
    "helm/proctor/templates/NOTES.txt": "helm lint reads it",
    "helm/proctor/templates/_helpers.tpl": "every template calls it",
    "ci/comment.py": "a step of action.yml, which test_action.py runs",
    "kubernetes/proctor-sandbox.yaml": "made by scripts/manifests and compared with what is there",
}
"""Files that a test reads without naming them, and how; rendered templates are asked of helm below."""
TEMPLATES = "helm/proctor/templates"


def files() -> list[Path]:
    said = subprocess.run(["git", "ls-files", "deploy"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(line).relative_to("deploy") for line in said.stdout.splitlines()]


def test_every_folder_has_its_test() -> None:
    assert {path.parts[0] for path in files()} == set(TESTED_BY)
    for folder, (test, words) in TESTED_BY.items():
        assert words in (Path(__file__).parent / test).read_text(), f"{test} does not go through deploy/{folder}"


@pytest.mark.parametrize("folder", NAMED)
def test_files_that_are_tested_by_name_are_all_there_are(folder: str) -> None:
    assert {str(path.relative_to(folder)) for path in files() if path.parts[0] == folder} == set(NAMED[folder])
    text = "\n".join(path.read_text() for path in Path(__file__).parent.glob("*.py") if path != Path(__file__))
    for name in NAMED[folder]:
        assert name in text, f"no test names deploy/{folder}/{name}"


def test_no_file_is_without_a_test_that_names_it_or_goes_through_all_of_its_kind() -> None:
    beside = "\n".join(path.read_text() for path in Path(__file__).parent.glob("*.py") if path != Path(__file__))
    for path in files():
        if str(path) in AS_A_WHOLE or str(path).startswith(f"{TEMPLATES}/"):
            continue
        text = (Path(__file__).parent / TESTED_BY[path.parts[0]][0]).read_text()
        patterns = re.findall(r'glob\("([^"]+)"\)', text)
        is_gone_through = any(fnmatch(path.name, pattern.rpartition("/")[2]) for pattern in patterns)
        assert path.name in text + beside or is_gone_through, f"no test reads deploy/{path}"
    assert set(AS_A_WHOLE) <= set(map(str, files()))


def test_every_template_becomes_something() -> None:
    """With the values that come with the chart: what none of them renders, no test of a manifest has seen."""
    seen: set[str] = set()
    for values in VALUES:
        done = helm("template", "proctor", str(CHART), "-f", str(CHART / values))
        seen |= set(re.findall(r"^# Source: proctor/(templates/\S+)$", done.stdout, re.MULTILINE))
    there = {str(path.relative_to("helm/proctor")) for path in files() if str(path).startswith(f"{TEMPLATES}/")}
    assert there - seen - {"templates/NOTES.txt", "templates/_helpers.tpl"} == set()
