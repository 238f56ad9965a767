"""`proctor config`: every setting, and no secret."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from commands import Cli
from proctor.settings import PREFIX, VARIABLES

pytestmark = pytest.mark.sqlite


def test_every_setting_is_shown_with_where_it_came_from(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_OFFLINE", "yes")
    found = {one["name"]: one for one in cli("config", "--json").json}
    assert {f"{PREFIX}{name}" for name in VARIABLES} <= set(found)
    assert (found["PROCTOR_OFFLINE"]["value"], found["PROCTOR_OFFLINE"]["source"]) == ("yes", "environment")
    assert found["PROCTOR_BACKUPS_URL"]["value"].endswith("/home/backups")
    assert found["PROCTOR_BACKUPS_URL"]["source"] == "default"
    assert "PROCTOR_RETENTION_DAYS" in cli("config").out


def test_no_secret_is_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = "canary-7f3a"
    for name in (
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "HF_TOKEN",
        "PROCTOR_BACKUP_KEY",
    ):
        monkeypatch.setenv(name, canary)
    monkeypatch.setenv(
        "PROCTOR_DATABASE_URL", f"postgresql://me:{canary}@db.example/x?sslpassword={canary}&pool_size=9"
    )
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:x@y/{canary}@proxy.example")
    for ended in (cli("config"), cli("config", "--json")):
        assert ended.code == 0
        assert canary not in ended.out + ended.err
        assert "postgresql://me:***@db.example/x?sslpassword=***&pool_size=9" in ended.out
        assert "http://me:***@proxy.example" in ended.out


def test_doctor_says_how_old_the_newest_backup_is_and_what_to_do(cli: Cli, tmp_path: Path) -> None:
    def found() -> dict[str, tuple[str, str]]:
        return {one["name"]: (one["state"], one["detail"]) for one in cli("doctor", "--json").json}

    before = found()
    assert before["clock"][0] == "ok"
    assert before["backups"][0] == "note"
    assert "'proctor backup' makes one" in before["backups"][1]
    made = cli("backup", "--json").json["backup"]["id"]
    assert found()["backups"] == ("ok", f"the newest in {tmp_path / 'home' / 'backups'} is 0 h old")
    manifest = tmp_path / "home" / "backups" / "backups" / made / "manifest.json"
    manifest.write_bytes(orjson.dumps({**orjson.loads(manifest.read_bytes()), "created_at": "2026-01-01T00:00:00Z"}))
    state, detail = found()["backups"]
    assert (state, detail.endswith("run 'proctor backup'")) == ("note", True)
