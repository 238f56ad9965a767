"""Accounts and sessions, kept in a journal that is written before anything is confirmed."""

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
from pathlib import Path
from typing import Any

NAME = re.compile(r"[a-z][a-z0-9_-]{2,31}")
SHORTEST, LONGEST = 10, 200
SALT_BYTES, TOKEN_BYTES = 16, 32


class TakenError(Exception):
    """The name belongs to somebody."""


def is_name(value: Any) -> bool:
    """Whether a value may be an account's name."""
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def is_password(value: Any) -> bool:
    """Whether a value may be an account's password."""
    return isinstance(value, str) and SHORTEST <= len(value) <= LONGEST


def _digest(password: str, salt: bytes) -> str:
    data = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(data, salt=salt, n=1024, r=8, p=1).hex()


def _fingerprint(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Accounts:
    """Everything the service remembers; safe to use from several threads."""

    def __init__(self, journal: Path) -> None:
        self._mutex = threading.Lock()
        self._accounts: dict[str, tuple[str, str]] = {}
        self._sessions: dict[str, str] = {}
        self._absent = (secrets.token_hex(SALT_BYTES), "")
        if journal.exists():
            self._replay(journal)
        self._file = journal.open("ab")

    def close(self) -> None:
        """Close the journal."""
        self._file.close()

    def register(self, name: str, password: str) -> None:
        """Create an account; raises TakenError."""
        salt = secrets.token_hex(SALT_BYTES)
        entry = {
            "set": name,
            "salt": salt,
            "hash": _digest(password, bytes.fromhex(salt)),
        }
        with self._mutex:
            if name in self._accounts:
                raise TakenError(name)
            self._write(entry)

    def is_right(self, name: str, password: str) -> bool:
        """Whether this is the account's password; takes as long for an unknown name."""
        salt, expected = self._accounts.get(name, self._absent)
        return hmac.compare_digest(_digest(password, bytes.fromhex(salt)), expected)

    def open_session(self, name: str) -> str:
        """A new token for an account."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._mutex:
            self._write({"open": _fingerprint(token), "name": name})
        return token

    def name_of(self, token: str) -> str | None:
        """Whose token it is; None for one that is not valid."""
        return self._sessions.get(_fingerprint(token))

    def end_session(self, token: str) -> None:
        """End one session."""
        with self._mutex:
            self._write({"end": [_fingerprint(token)]})

    def change(self, name: str, password: str, kept: str) -> None:
        """Set a password, and end every session of the account but one."""
        salt = secrets.token_hex(SALT_BYTES)
        entry = {
            "set": name,
            "salt": salt,
            "hash": _digest(password, bytes.fromhex(salt)),
        }
        with self._mutex:
            mine = _fingerprint(kept)
            ended = [
                key
                for key, owner in self._sessions.items()
                if owner == name and key == None
            ]
            self._write({**entry, "end": ended})

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._apply(entry)

    def _apply(self, entry: dict[str, Any]) -> None:
        if "set" in entry:
            self._accounts[entry["set"]] = (entry["salt"], entry["hash"])
        if "open" in entry:
            self._sessions[entry["open"]] = entry["name"]
        for key in entry.get("end", []):
            self._sessions.pop(key, None)

    def _replay(self, journal: Path) -> None:
        """Read what was written; a last line that was cut off was never confirmed, and goes."""
        good = 0
        data = journal.read_bytes()
        for line in data.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            self._apply(json.loads(line))
            good += len(line)
        if good < len(data):
            with journal.open("r+b") as file:
                file.truncate(good)
