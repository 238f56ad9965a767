"""The server's secret, and what is sealed with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.accounts.sealing import SECRET, Sealer, SealingError, ServerSecret, require_secret
from proctor.domain.errors import UserError
from proctor.secret_files import with_secret_files
from proctor.settings import Settings

pytestmark = pytest.mark.sqlite
FIRST, SECOND = "mZ4vR8tQ1xK7wB3nY6cJ9hL2fD5gS0pA", "uE2sX9kV5rT8yN1bM4qW7zC0jH6aG3dP"
BOUND = ("acme", "openai", "https://api.openai.com:443")


def sealer(*texts: str) -> Sealer:
    return Sealer(require_secret({SECRET: " ".join(texts)}, "This"))


def test_what_is_sealed_is_had_by_whom_it_is_meant_for_only() -> None:
    sealed = sealer(FIRST).seal("sk-1", BOUND)
    assert "sk-1" not in sealed
    assert sealer(FIRST).open(sealed, BOUND) == "sk-1"
    for other in (("other", *BOUND[1:]), (*BOUND[:2], "https://attacker.example:443"), BOUND[:2]):
        with pytest.raises(SealingError, match="sealed for something else"):
            sealer(FIRST).open(sealed, other)
    for wrong in (sealer(SECOND), sealer(FIRST + "x")):
        with pytest.raises(SealingError, match="another secret"):
            wrong.open(sealed, BOUND)
    with pytest.raises(SealingError):
        sealer(FIRST).open(sealed[:-6] + "AAAAA=", BOUND)


def test_a_new_secret_takes_over_what_a_former_one_sealed() -> None:
    sealed = sealer(FIRST).seal("sk-1", BOUND)
    both = sealer(SECOND, FIRST)
    assert both.open(sealed, BOUND) == "sk-1"
    renewed = both.renew(sealed)
    assert sealer(SECOND).open(renewed, BOUND) == "sk-1"
    with pytest.raises(SealingError):
        sealer(SECOND).renew(sealed)


def test_keys_are_for_one_purpose_each() -> None:
    secret = require_secret({SECRET: FIRST}, "This")
    assert secret.keys("sealing") != secret.keys("tokens")
    assert FIRST not in repr(secret)


@pytest.mark.parametrize(
    "text",
    ["short", "changeme-changeme-changeme-changeme", "x" * 40, "abababababababababababababababababab",
     "this-is-the-default-secret-0123456789", f"{FIRST} tooshort", "Password1234567890123456789012345678"],
)  # fmt: skip
def test_a_secret_that_can_be_guessed_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="can be guessed") as refused:
        ServerSecret.read({SECRET: text})
    assert text not in str(refused.value)


def test_without_a_secret_whoever_needs_one_says_so() -> None:
    assert ServerSecret.read({}) is None
    with pytest.raises(UserError, match=r"^Keeping keys needs a secret of the server: set PROCTOR_SECRET"):
        require_secret({SECRET: " , "}, "Keeping keys")


def test_secrets_are_read_from_files_and_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "one").write_text(f"{FIRST}\n")
    folder = tmp_path / "mounted"
    folder.mkdir()
    (folder / "PROCTOR_SECRET").write_text(SECOND)
    (folder / "OPENAI_API_KEY").write_text("sk-2\n")
    (folder / "..data").mkdir()
    (folder / "notes.txt").write_text("nothing")
    by_file = with_secret_files({"PROCTOR_SECRET_FILE": str(tmp_path / "one")})
    assert by_file[SECRET] == FIRST
    both = with_secret_files({"PROCTOR_SECRET_FILE": str(tmp_path / "one"), "PROCTOR_SECRETS": str(folder)})
    assert (both[SECRET], both["OPENAI_API_KEY"]) == (FIRST, "sk-2")
    assert "notes.txt" not in both
    mine = with_secret_files({"OPENAI_API_KEY": "sk-mine", "PROCTOR_SECRETS": str(folder)})
    assert mine["OPENAI_API_KEY"] == "sk-mine"
    assert with_secret_files({"ANTHROPIC_API_KEY_FILE": str(folder / "OPENAI_API_KEY")})["ANTHROPIC_API_KEY"] == "sk-2"
    assert with_secret_files({"SSL_CERT_FILE": str(tmp_path / "one")}).keys() == {"SSL_CERT_FILE"}


def test_the_settings_are_read_from_files_too(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://me:secret@db/proctor\n")
    found = Settings.from_environment(
        {"PROCTOR_HOME": str(tmp_path), "PROCTOR_DATABASE_URL_FILE": str(tmp_path / "url")}
    )
    assert found.database_url == "postgresql://me:secret@db/proctor"
    with pytest.raises(UserError, match="PROCTOR_DATABASE_FILE"):
        Settings.from_environment({"PROCTOR_DATABASE_FILE": "x"})
    with pytest.raises(UserError, match=r"missing.*named by PROCTOR_SECRET_FILE.*No such file"):
        Settings.from_environment({"PROCTOR_SECRET_FILE": str(tmp_path / "missing")})
    with pytest.raises(UserError, match="no folder that can be read"):
        Settings.from_environment({"PROCTOR_SECRETS": str(tmp_path / "missing")})
