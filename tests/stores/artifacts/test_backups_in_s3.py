"""Backups in a bucket of S3, from a real server of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import proctor
from commands import Cli
from fakes.s3_server import S3Server
from proctor.stores.artifacts.folder import FolderArtifacts

pytestmark = pytest.mark.sqlite


def test_a_backup_in_s3_is_restored_verified_and_pruned(
    cli: Cli, s3: S3Server, prefix: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proctor.evaluate("puzzles", models="demo/strong", limit=5)
    artifacts = FolderArtifacts(home / "artifacts")
    large = artifacts.put("large", bytes(9 * 1024 * 1024))  # in parts
    artifacts.put("small", b"small")
    shown = cli("show", "latest", "--json").json
    monkeypatch.setenv("PROCTOR_BACKUPS_URL", s3.url(prefix))
    made = cli("backup", "--json").json
    assert (made["new_artifacts"], made["place"]) == (2, f"s3://kept/{prefix}")
    assert cli("backup", "--json").json["new_artifacts"] == 0
    assert "is whole" in cli("backup", "verify").out
    pruned = cli("backup", "prune", "--keep", "0m", "--yes", "--json").json
    assert (pruned["removed"], len(pruned["kept"])) == ([made["backup"]["id"]], 1)
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "other"))
    assert "every table is the same" in cli("restore").out
    assert cli("show", "latest", "--json").json == shown
    assert FolderArtifacts(tmp_path / "other" / "artifacts").size(large) == 9 * 1024 * 1024
    s3.bucket().delete(f"{prefix}/artifacts/{large[:2]}/{large[2:]}")
    lost = cli("backup", "verify")
    assert (lost.code, "There is no artifact" in lost.out) == (1, True)


def test_a_place_that_cannot_be_used_is_said_in_one_line(
    cli: Cli, s3: S3Server, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = cli("backup", s3.url(prefix, bucket="missing"))
    assert (missing.code, "missing" in missing.error) == (1, True)
    wrong = cli("backup", "s3://me:secret@kept/x")
    assert wrong.code == 2
    assert "The address of the backups holds no keys" in wrong.error
    assert "secret@" not in wrong.error
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert "AWS_SECRET_ACCESS_KEY is not the secret" in cli("backup", s3.url(prefix)).error
