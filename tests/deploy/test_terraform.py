"""The module for AWS: read by an HCL parser, and by terraform itself where it and the provider can be had."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import hcl2
import pytest

from deploy.command_lines import refuse_unknown_command, unknown_settings
from deploy.local_processes import ROOT
from proctor.server.access import PERMISSIONS

FOLDER = ROOT / "deploy" / "terraform"
PLUGINS = "TESTS_TERRAFORM_PLUGINS"
"""May name a folder with the AWS provider, which terraform would fetch."""
QUIET = {**os.environ, "TF_CLI_CONFIG_FILE": os.devnull, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}
TEXT = "\n".join(path.read_text() for path in sorted(FOLDER.glob("*.tf")))
pytestmark = pytest.mark.sqlite


def read(path: Path) -> dict[str, Any]:
    with path.open() as file:
        found: dict[str, Any] = hcl2.load(file)
    return found


def plain(value: Any) -> Any:
    """Newer parsers keep quotes around names."""
    return value.strip('"') if isinstance(value, str) else value


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.tf")), ids=lambda path: path.name)
def test_every_file_is_hcl(path: Path) -> None:
    assert read(path)


def test_every_variable_is_used_and_every_one_that_is_used_is_there() -> None:
    declared = {plain(name) for block in read(FOLDER / "variables.tf")["variable"] for name in block}
    assert declared == set(re.findall(r"\bvar\.(\w+)", TEXT))
    secret = re.findall(r'variable "(\w+)" \{[^}]*?sensitive\s*=\s*true', TEXT)
    assert set(secret) == {"database_password", "broker_password", "server_secret"}
    for name in secret:
        [block] = re.findall(rf'variable "{name}" \{{(.*?)\n\}}', TEXT, re.DOTALL)
        assert not re.search(r"^\s*default\s*=", block, re.MULTILINE), f"{name} has a default"


def test_commands_settings_and_paths_are_those_of_the_program() -> None:
    main = (FOLDER / "main.tf").read_text()
    commands = re.findall(r"command = (\[.*?\]) ?\}", main)
    assert len(commands) == 4
    values = {
        "tostring(local.port)": '"8000"',
        "tostring(var.workers.concurrency)": '"4"',
        "var.origin": '"https://proctor.example"',
        "var.vpc_cidr": '"10.0.0.0/16"',
    }
    written = "\n".join(commands)
    for name, value in values.items():
        written = written.replace(name, value)
    for command in written.splitlines():
        refuse_unknown_command(json.loads(command))
    named = set(re.findall(r"^\s+((?:PROCTOR|AWS)_\w+)\s+=", main, re.MULTILINE))
    assert len(named) == 6
    assert unknown_settings(named) == []
    [path] = re.findall(r'health_check \{\s+path\s+= "(.*?)"', TEXT)
    assert ("GET", path) in PERMISSIONS


def test_nothing_is_open_that_need_not_be() -> None:
    for attribute in (
        "storage_encrypted",
        "multi_az",
        "deletion_protection",
        "transit_encryption_enabled",
        "block_public_policy",
        "readonlyRootFilesystem",
    ):
        assert re.search(rf"{attribute}\s+= true", TEXT), attribute
    assert re.search(r"publicly_accessible\s+= false", TEXT)
    assert re.findall(r'cidr_ipv4\s+= "0\.0\.0\.0/0"\s+from_port\s+= (\d+)', TEXT) == ["443", "443"]
    assert '"*"' not in TEXT.replace("/*", ""), "a right to everything"


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [
        ({"PROCTOR_LOG_LEVEL": "warning", "PROCTOR_BACKUP_KEY_FILE": "/data/key"}, True),
        ({"PROCTOR_SECRET": "x"}, False),
        ({"PROCTOR_OIDC_CLIENT_SECRET": "x"}, False),
        ({"PROCTOR_DATABASE_READ_URL": "postgresql://a:b@c/d"}, False),
        ({"LOG_LEVEL": "warning"}, False),
    ],
)
def test_settings_are_further_ones_and_no_secrets(given: dict[str, str], is_taken: bool, tmp_path: Path) -> None:
    found = shutil.which("terraform")
    if found is None:
        pytest.skip("terraform is not installed")
    text = (FOLDER / "variables.tf").read_text()
    [body] = re.findall(r'variable "settings" {.*?^}$', text, re.MULTILINE | re.DOTALL)
    (tmp_path / "variables.tf").write_text(body)
    subprocess.run([found, "init", "-input=false"], cwd=tmp_path, env=QUIET, capture_output=True, check=True)
    plan = [found, "plan", "-input=false", f"-var=settings={json.dumps(given)}"]
    done = subprocess.run(plan, cwd=tmp_path, env=QUIET, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == is_taken, done.stdout + done.stderr
    assert is_taken or "Settings are called PROCTOR_" in done.stderr


def test_terraform_reads_it_the_same_way(tmp_path: Path) -> None:
    found = shutil.which("terraform")
    if found is None:
        pytest.skip("terraform is not installed")
    done = subprocess.run(
        [found, "fmt", "-check", "-diff"], cwd=FOLDER, env=QUIET, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    plugins = os.environ.get(PLUGINS)
    if plugins is None:
        pytest.skip(f"the provider cannot be fetched: {PLUGINS} names a folder that has it")
    for path in FOLDER.glob("*.tf"):
        shutil.copy(path, tmp_path)
    init = [found, "init", "-backend=false", "-input=false", f"-plugin-dir={plugins}"]
    for command in (init, [found, "validate"]):
        done = subprocess.run(command, cwd=tmp_path, env=QUIET, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "wrong.tf").write_text('resource "aws_s3_bucket" "x" { buckets = "x" }\n')
    assert (
        subprocess.run([found, "validate"], cwd=tmp_path, env=QUIET, capture_output=True, check=False).returncode != 0
    )
