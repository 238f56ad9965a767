"""`proctor config`: every setting, and no secret."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

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


def test_what_a_file_holds_is_shown_as_such_and_not_what_it_is(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("canary-9d21\n")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path / "key"))
    ended = cli("config", "--json")
    [found] = [one for one in ended.json if one["name"] == "OPENAI_API_KEY"]
    assert (found["value"], found["source"], found["is_secret"]) == ("***", "file", True)
    assert "canary" not in ended.out


def findings(cli: Cli, *options: str) -> dict[str, tuple[str, str]]:
    return {one["name"]: (one["state"], one["detail"]) for one in cli("doctor", "--json", *options).json}


def test_doctor_says_what_is_wrong_with_the_broker_and_the_workers(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "broker" not in findings(cli)
    monkeypatch.setenv("PROCTOR_BROKER_URL", "redis://127.0.0.1:9/0")
    found = findings(cli)
    assert found["broker"][0] == "problem"
    assert "cannot be reached" in found["broker"][1]
    assert "Start it" in found["broker"][1]
    assert found["workers"] == ("note", "none was seen in the last minute: start one with 'proctor worker'")
    assert cli("doctor").code == 1


def certificate(days: float) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=100))
    return made.not_valid_after(now + timedelta(days=days)).sign(key, SHA256()).public_bytes(Encoding.PEM)


def test_doctor_says_when_certificates_end_and_what_to_do(cli: Cli, tmp_path: Path) -> None:
    for name, days in (("good", 90.5), ("soon", 5.5), ("over", -3.5)):
        (tmp_path / name).write_bytes(certificate(days))
    (tmp_path / "none").write_text("nothing")
    files = {name: str(tmp_path / name) for name in ("good", "soon", "over", "none", "nowhere")}
    found = findings(cli, *(part for file in files.values() for part in ("--certificate", file)))
    said = {name: found[f"certificate {file}"] for name, file in files.items()}
    assert said["good"] == ("ok", "ends in 90 days")
    assert said["soon"][0] == "note"
    assert "renew it, and start the server again" in said["soon"][1]
    assert said["over"][0] == "problem"
    assert "put a new one in its place" in said["over"][1]
    assert said["none"][0] == said["nowhere"][0] == "problem"


def test_doctor_looks_at_the_certificate_of_the_server_it_is_told_of(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_SERVER", "https://localhost:9")
    state, detail = findings(cli)["certificate of localhost"]
    assert state == "problem"
    assert "localhost:9 does not answer" in detail


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
